//! What ranks tell each other of the epochs between `MPI_Win_post` and `MPI_Win_wait`.
//!
//! Each origin writes its target a letter once its own epoch is complete. MPI lets the target go on
//! before that: `MPI_Win_complete` tells one target while it waits for the next one to post. So
//! nobody waits for a letter. Those that have come are taken in by later calls on the window, and
//! an epoch is looked at when all of its letters are there; the rest comes in `MPI_Win_free`, in
//! which all ranks of the window meet.
//!
//! Epochs of two ranks with each other have numbers on both sides, which a letter carries. One that
//! is never written, as its epoch has failed, is missed when the next one comes, and changes
//! nothing else: least of all which ranks take part in what they do together.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ffi::c_int;
use std::{mem, ptr};

use catena_abi::{Comm, Request, consts};

use crate::access::{self, Access, Told};
use crate::site::Site;
use crate::tell::Finding;
use crate::{exchange, mpi};

/// The tags of a letter: its head, and the accesses.
const HEAD: c_int = 1;
const REST: c_int = 2;

/// What stands in a head: the bytes of the accesses, and the number of the epoch.
type Head = [u64; 2];

/// Most epochs of a rank that wait for letters: of what is older, what was told by then is looked
/// at.
const MOST: usize = 256;

/// Memory that MPI reads or writes until a request is complete. It stays for good where that is not
/// known.
#[derive(Debug)]
struct Flight {
    request: Request,
    bytes: Vec<u8>,
}

impl Drop for Flight {
    fn drop(&mut self) {
        if self.request != consts::REQUEST_NULL {
            mem::forget(mem::take(&mut self.bytes));
        }
    }
}

/// Nothing comes any more: a process is gone.
struct Broken;

impl Flight {
    fn send(mut bytes: Vec<u8>, to: i32, tag: c_int, comm: Comm) -> Result<Flight, Broken> {
        // The address of nothing may be one that means something.
        bytes.reserve(1);
        let mut flight = Flight {
            request: consts::REQUEST_NULL,
            bytes,
        };
        let (at, len) = (flight.bytes.as_ptr().cast(), flight.len()?);
        let byte = consts::BYTE;
        match mpi::Isend(at, len, byte, to, tag, comm, &mut flight.request) {
            0 => Ok(flight),
            _ => Err(Broken),
        }
    }

    fn receive(len: usize, from: i32, tag: c_int, comm: Comm) -> Result<Flight, Broken> {
        let mut bytes = Vec::with_capacity(len.max(1));
        bytes.resize(len, 0);
        let mut flight = Flight {
            request: consts::REQUEST_NULL,
            bytes,
        };
        let (at, len) = (flight.bytes.as_mut_ptr().cast(), flight.len()?);
        let byte = consts::BYTE;
        match mpi::Irecv(at, len, byte, from, tag, comm, &mut flight.request) {
            0 => Ok(flight),
            _ => Err(Broken),
        }
    }

    fn len(&self) -> Result<c_int, Broken> {
        c_int::try_from(self.bytes.len()).map_err(|_| Broken)
    }

    /// Whether it has arrived; if `waits`, it has.
    fn is_done(&mut self, waits: bool) -> Result<bool, Broken> {
        let mut flag = 1;
        let code = match waits {
            true => mpi::Wait(&mut self.request, ptr::null_mut()),
            false => mpi::Test(&mut self.request, &mut flag, ptr::null_mut()),
        };
        match code {
            0 => Ok(flag != 0),
            _ => Err(Broken),
        }
    }
}

/// What comes from an origin.
#[derive(Debug, Default)]
struct Inbox {
    /// The number of the newest epoch that was posted for it.
    posted: u64,
    /// Letters that were received.
    received: i64,
    /// The head of the letter that is being received.
    head: Option<Flight>,
    /// Its accesses, and the number of its epoch.
    rest: Option<(Flight, u64)>,
    /// Letters of epochs whose end the program has not waited for yet.
    early: VecDeque<(u64, Vec<Told>)>,
    /// Whether nothing comes any more.
    is_broken: bool,
}

impl Inbox {
    /// The next letter, as far as one has come: the number of its epoch, and the accesses.
    fn next(
        &mut self,
        comm: Comm,
        origin: i32,
        waits: bool,
    ) -> Result<Option<(u64, Vec<Told>)>, Broken> {
        if self.rest.is_none() {
            let head = match &mut self.head {
                Some(head) => head,
                none => none.insert(Flight::receive(size_of::<Head>(), origin, HEAD, comm)?),
            };
            if !head.is_done(waits)? {
                return Ok(None);
            }
            let (len, epoch) = read(&head.bytes);
            self.head = None;
            let len = usize::try_from(len).map_err(|_| Broken)?;
            self.rest = Some((Flight::receive(len, origin, REST, comm)?, epoch));
        }
        let Some((rest, epoch)) = &mut self.rest else {
            return Ok(None);
        };
        if !rest.is_done(waits)? {
            return Ok(None);
        }
        let letter = (*epoch, exchange::told(origin, &rest.bytes));
        self.rest = None;
        self.received += 1;
        Ok(Some(letter))
    }

    /// Gives up what has not come.
    fn give_up(&mut self) {
        if let Some(head) = &mut self.head {
            mpi::Cancel(&mut head.request);
            _ = head.is_done(true);
        }
        self.head = None;
    }
}

/// An epoch that this rank has posted, and whose end it has waited for.
#[derive(Debug)]
struct Posted {
    /// Where it has waited.
    site: Site,
    /// The origins whose letters are still to come, and the numbers of the epoch.
    awaited: BTreeMap<i32, u64>,
    told: Vec<Told>,
}

/// The letters of a window.
#[derive(Debug, Default)]
pub struct Letters {
    /// The number of the newest epoch that was started with each target.
    started: BTreeMap<i32, u64>,
    /// How many letters each target was written.
    written: BTreeMap<i32, i64>,
    /// Those that are under way.
    flights: Vec<Flight>,
    inboxes: BTreeMap<i32, Inbox>,
    /// Epochs that wait for letters, the oldest first.
    epochs: VecDeque<Posted>,
}

impl Letters {
    /// This rank has started an epoch with these targets.
    pub fn start(&mut self, targets: &[i32]) {
        for &target in targets {
            *self.started.entry(target).or_default() += 1;
        }
    }

    /// This rank has posted an epoch for these origins.
    pub fn post(&mut self, origins: &[i32]) {
        for &origin in origins {
            self.inboxes.entry(origin).or_default().posted += 1;
        }
    }

    /// Tells the targets of an epoch that is complete the accesses to them.
    pub fn write(&mut self, comm: Comm, targets: &[i32], accesses: &[Access]) {
        self.flights
            .retain_mut(|it| !matches!(it.is_done(false), Ok(true)));
        for &target in targets {
            let its = accesses.iter().filter(|it| it.target == target);
            let bytes = exchange::written(its);
            let epoch = self.started.get(&target).copied().unwrap_or(0);
            let head = [bytes.len() as u64, epoch].map(u64::to_le_bytes).concat();
            let both = [(head, HEAD), (bytes, REST)];
            let sent = both.map(|(bytes, tag)| Flight::send(bytes, target, tag, comm));
            if sent.iter().all(Result::is_ok) {
                *self.written.entry(target).or_default() += 1;
            }
            self.flights.extend(sent.into_iter().flatten());
        }
    }

    /// All origins have completed the epoch that was posted for them, as a call has told. Finds
    /// accesses of several that conflict, in this epoch if all is told of it, and in earlier ones.
    pub fn wait(&mut self, comm: Comm, unit: i64, origins: &[i32], site: Site) -> Vec<Finding> {
        let mut epoch = Posted {
            site,
            awaited: BTreeMap::new(),
            told: Vec::new(),
        };
        for &origin in origins {
            let inbox = self.inboxes.entry(origin).or_default();
            epoch.awaited.insert(origin, inbox.posted);
        }
        self.epochs.push_back(epoch);
        let early: Vec<_> = origins
            .iter()
            .flat_map(|&origin| {
                let inbox = self.inboxes.get_mut(&origin);
                let early = inbox.map(|it| mem::take(&mut it.early));
                early.into_iter().flatten().map(move |it| (origin, it))
            })
            .collect();
        for (origin, letter) in early {
            self.deliver(origin, letter);
        }
        self.take_in(comm, unit)
    }

    /// Takes in letters that have come. Finds accesses that conflict in epochs of which all is
    /// told.
    pub fn take_in(&mut self, comm: Comm, unit: i64) -> Vec<Finding> {
        let awaited = self.epochs.iter().flat_map(|it| it.awaited.keys().copied());
        let awaited: BTreeSet<i32> = awaited.collect();
        for origin in awaited {
            while self.awaits(origin) && self.receive(comm, origin, false) {}
        }
        let most = self.epochs.len().saturating_sub(MOST);
        let mut found = Vec::new();
        let mut nth = 0;
        self.epochs.retain(|epoch| {
            nth += 1;
            let stays = nth > most && !epoch.awaited.is_empty();
            if !stays {
                found.extend(epoch.conflicts(unit));
            }
            stays
        });
        found
    }

    /// Whether an epoch waits for a letter of an origin.
    fn awaits(&self, origin: i32) -> bool {
        let mut epochs = self.epochs.iter();
        epochs.any(|it| it.awaited.contains_key(&origin))
    }

    /// Receives the next letter of an origin; whether there was one.
    fn receive(&mut self, comm: Comm, origin: i32, waits: bool) -> bool {
        let inbox = self.inboxes.entry(origin).or_default();
        if inbox.is_broken {
            return false;
        }
        match inbox.next(comm, origin, waits) {
            Ok(Some(letter)) => {
                self.deliver(origin, letter);
                true
            }
            Ok(None) => false,
            Err(Broken) => {
                inbox.is_broken = true;
                false
            }
        }
    }

    /// Puts what an origin tells of the epoch of that number to it.
    fn deliver(&mut self, origin: i32, (number, told): (u64, Vec<Told>)) {
        for epoch in &mut self.epochs {
            match epoch.awaited.get(&origin) {
                // Its letter was never written.
                Some(&awaited) if awaited < number => _ = epoch.awaited.remove(&origin),
                Some(&awaited) if awaited == number => {
                    epoch.awaited.remove(&origin);
                    epoch.told.extend(told);
                    return;
                }
                _ => {}
            }
        }
        let inbox = self.inboxes.entry(origin).or_default();
        // Its end was not waited for yet, or nobody asks any more.
        if number >= inbox.posted && inbox.early.len() < MOST {
            inbox.early.push_back((number, told));
        }
    }

    /// Takes in all that was written to this rank, and waits until what it has written is read. All
    /// ranks of the communicator call it, so none waits for what comes later than it may go on.
    pub fn settle(mut self, comm: Comm, unit: i64) -> Vec<Finding> {
        let size = mpi::peers(comm) as i32;
        let written = (0..size).map(|it| self.written.get(&it).copied().unwrap_or(0));
        let Ok(theirs) = exchange::all_numbers(comm, &written.collect::<Vec<_>>()) else {
            return Vec::new();
        };
        for (origin, written) in (0..size).zip(theirs) {
            let received = |it: &Letters| it.inboxes.get(&origin).map_or(0, |it| it.received);
            while received(&self) < written && self.receive(comm, origin, true) {}
            if let Some(inbox) = self.inboxes.get_mut(&origin) {
                inbox.give_up();
            }
        }
        for flight in &mut self.flights {
            _ = flight.is_done(true);
        }
        let epochs = self.epochs.iter();
        epochs.flat_map(|it| it.conflicts(unit)).collect()
    }
}

impl Posted {
    fn conflicts(&self, unit: i64) -> Vec<Finding> {
        access::conflicts(&self.told, unit, &|| self.site.clone())
    }
}

/// The numbers of a head.
fn read(head: &[u8]) -> (u64, u64) {
    let (words, _) = head.as_chunks::<8>();
    let word = |at: usize| words.get(at).map_or(0, |it| u64::from_le_bytes(*it));
    (word(0), word(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::{Act, Span};

    fn told(origin: i32) -> Vec<Told> {
        vec![Told {
            origin,
            act: Act::Write,
            displacement: 0,
            runs: vec![(0, 4)],
            span: Span::EPOCH,
            place: format!("MPI_Put of {origin}"),
        }]
    }

    /// No letter has come when the call returns.
    fn wait(letters: &mut Letters, origins: &[i32]) {
        let awaited = origins.iter().map(|it| (*it, letters.inboxes[it].posted));
        letters.epochs.push_back(Posted {
            site: Site::unknown("MPI_Win_wait"),
            awaited: awaited.collect(),
            told: Vec::new(),
        });
    }

    #[test]
    fn letters_go_to_the_epochs_of_their_numbers() {
        let mut letters = Letters::default();
        for _ in 0..3 {
            letters.post(&[0, 1]);
            wait(&mut letters, &[0, 1]);
        }
        letters.deliver(0, (1, told(0)));
        letters.deliver(1, (2, told(1)));
        let awaited: Vec<_> = letters.epochs.iter().map(|it| it.awaited.len()).collect();
        assert_eq!(awaited, [0, 1, 2], "the first letter of rank 1 is missing");
        assert_eq!(letters.epochs[0].conflicts(4).len(), 0);
        letters.deliver(0, (2, told(0)));
        assert_eq!(letters.epochs[1].conflicts(4).len(), 1);
        assert!(letters.awaits(0) && letters.awaits(1));
        letters.deliver(0, (4, told(0)));
        assert!(!letters.awaits(0), "it was never written");
        assert_eq!(letters.inboxes[&0].early.len(), 1, "of the next epoch");
    }

    #[test]
    fn a_head_has_two_numbers() {
        let head = [7_u64, 1 << 40].map(u64::to_le_bytes).concat();
        assert_eq!(read(&head), (7, 1 << 40));
    }
}

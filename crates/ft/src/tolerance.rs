//! The hook: letters that come and go, agreements of all communicators, and deaths.

use catena_core::needs;
use catena_hang::{WaitsFor, What};
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet, VecDeque};
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use catena_core::Process;
use catena_core::comm::Comm;
use catena_core::components::Component;
use catena_core::hooks::Hook;
use catena_fabric::{Peer, Posted, ProcessName};
use catena_link::{ActiveHeader, Cid};
use catena_objects::Result;

use crate::agreement::{Contribution, Decision};
use crate::early::Early;
use crate::letter::{CLASS, Inbox, InboxHandler, Kind, Letter, parts};
use crate::series::{Outgoing, Series};
use crate::wire;

/// A member of a group that agrees.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Participant {
    pub peer: Peer,
    /// Its number for the context that joins it with this process, and this one's.
    pub theirs: Cid,
    pub ours: Cid,
    /// Its rank in the communicator, those of a remote group behind the local ones.
    pub rank: u32,
}

/// The members of a communicator, of both groups, in an order that is the same for all, and their
/// agreements. It outlives the communicator, as others may still have to be told.
#[derive(Debug)]
pub(crate) struct Circle {
    pub participants: Vec<Participant>,
    pub series: RefCell<Series>,
}

/// What progress carries on where processes may die.
#[derive(Debug, Default)]
pub(crate) struct Tolerance {
    inbox: Arc<Inbox>,
    outbox: RefCell<VecDeque<(Peer, ActiveHeader, Vec<u8>)>>,
    serial: Cell<u8>,
    /// By the slot of this process's number for a context.
    circles: RefCell<HashMap<u32, Rc<Circle>>>,
    /// What has come for contexts that are not there yet.
    early: RefCell<Early>,
    /// What has come early for contexts that are there now.
    due: RefCell<Vec<Letter>>,
    /// Questions of leaders about contexts whose communicators are being made.
    asked: RefCell<Vec<Letter>>,
    /// How many losses are known to the circles.
    losses: Cell<usize>,
    /// Peers that are lost, as the launcher was told.
    told: RefCell<HashSet<ProcessName>>,
}

/// What this crate adds to the library: how it goes on where processes may die.
#[derive(Debug)]
pub(crate) struct Failures;

impl Component for Failures {
    fn came_up(&self, process: &Process) {
        let tolerance = process.hook::<Tolerance>();
        let postman = InboxHandler {
            inbox: tolerance.inbox.clone(),
            alarm: tolerance.alarm(),
        };
        process.link(|link| link.set_handler(CLASS, Some(Box::new(postman))));
    }

    fn ask_part(&self, process: &Process, cid: Cid, rank: u32, words: &[u32]) -> bool {
        write_to(process, (cid, rank), Kind::Part, words);
        true
    }

    fn answer_leader(&self, process: &Process, cid: Cid, rank: u32, words: &[u32]) {
        write_to(process, (cid, rank), Kind::NoPart, words);
    }

    /// What has come for those that had its slot before, and their agreements, mean nothing any
    /// more.
    fn number_taken(&self, process: &Process, cid: Cid) {
        let tolerance = process.hook::<Tolerance>();
        tolerance.early.borrow_mut().take(cid);
        tolerance
            .due
            .borrow_mut()
            .retain(|it| it.ours.slot() != cid.slot());
        let mut circles = tolerance.circles.borrow_mut();
        if !circles.is_empty() {
            circles.remove(&cid.slot());
        }
    }

    /// What has come for it is read by the next progress: the call that makes it is under way.
    fn comm_opened(&self, process: &Process, comm: &Comm) {
        let tolerance = process.hook::<Tolerance>();
        let mut early = tolerance.early.borrow_mut();
        if early.is_empty() && tolerance.due.borrow().is_empty() {
            return;
        }
        let mut due = tolerance.due.borrow_mut();
        due.extend(comm.cids().flat_map(|cid| early.take(cid)));
        if !due.is_empty() {
            tolerance.set_work(1);
        }
    }
}

/// Writes to a member of a communicator.
fn write_to(process: &Process, (cid, rank): (Cid, u32), kind: Kind, words: &[u32]) {
    let member = process.link(|link| link.members(cid).nth(rank as usize));
    if let Some((peer, theirs)) = member {
        let to = Participant {
            peer,
            theirs,
            ours: cid,
            rank,
        };
        let tolerance = process.hook::<Tolerance>();
        tolerance.write(process, &to, kind, words);
    }
}

impl Circle {
    fn new(process: &Process, comm: &Comm) -> Self {
        let members = |cid: Cid, first: u32| -> Vec<Participant> {
            let all = process.link(|link| link.members(cid).collect::<Vec<_>>());
            let of = |(rank, (peer, theirs))| Participant {
                peer,
                theirs,
                ours: cid,
                rank,
            };
            (first..).zip(all).map(of).collect()
        };
        let participants = match &comm.remote {
            None => members(comm.cid, 0),
            Some(remote) => {
                let mut halves = [members(remote.local.cid, 0), members(comm.cid, comm.size())];
                // Peers are this process's own numbers; names mean the same to all.
                halves.sort_by_key(|half| half.first().and_then(|it| name(process, it.peer)));
                halves.concat()
            }
        };
        let me = participants.iter().position(|it| it.peer == process.me);
        let size = participants.len() as u32;
        Circle {
            participants,
            series: RefCell::new(Series::new(me.unwrap_or_default() as u32, size)),
        }
    }

    /// Which of them a process is that calls the context so.
    fn find(&self, letter: &Letter) -> Option<u32> {
        let is = |it: &Participant| {
            it.peer == letter.from && it.ours == letter.ours && it.theirs == letter.theirs
        };
        Some(self.participants.iter().position(is)? as u32)
    }

    /// Which of them a rank of the communicator is.
    pub fn place_of(&self, rank: u32) -> Option<u32> {
        Some(self.participants.iter().position(|it| it.rank == rank)? as u32)
    }
}

fn name(process: &Process, peer: Peer) -> Option<(u64, u32)> {
    let name = process.link(|link| link.net().peers().name(peer));
    name.map(|ProcessName { job, rank }| (job, rank))
}

impl Hook<Process> for Tolerance {
    fn progress(&self, process: &Process) -> bool {
        let mut moved = self.post(process);
        let losses = process.link(|link| link.losses());
        if self.losses.replace(losses) != losses {
            self.hear_of_deaths(process);
            moved = true;
        }
        let due = self.due.take();
        let letters = self.inbox.take();
        if !letters.is_empty() || !due.is_empty() {
            moved = true;
            for letter in due.into_iter().chain(letters) {
                self.read(process, letter);
            }
            self.post(process);
        }
        moved |= self.read_asked(process);
        self.rest(process);
        moved
    }

    fn before_sleep(&self, process: &Process) -> bool {
        let losses = process.link(|link| link.losses());
        let has_mail = !self.inbox.is_empty() || !self.due.borrow().is_empty();
        has_mail || !self.outbox.borrow().is_empty() || losses != self.losses.get()
    }

    fn forget(&self, _: &Process, peers: &Range<u32>) {
        let is_gone = |peer: Peer| peers.contains(&peer.0);
        self.outbox.borrow_mut().retain(|it| !is_gone(it.0));
        self.due.borrow_mut().retain(|it| !is_gone(it.from));
        self.asked.borrow_mut().retain(|it| !is_gone(it.from));
        self.early.borrow_mut().forget(peers);
        let has_gone = |circle: &Rc<Circle>| circle.participants.iter().any(|it| is_gone(it.peer));
        self.circles.borrow_mut().retain(|_, it| !has_gone(it));
    }

    fn finalize(&self, process: &Process) -> Result<()> {
        let describe = |_: &Process, waits: &mut WaitsFor| {
            waits.needs.push(needs::open(What::Rest, ""));
        };
        process.block(describe, |process| {
            self.post(process);
            self.outbox.borrow().is_empty()
        });
        Ok(())
    }
}

impl Tolerance {
    /// Has something to do while there is something to send or to read.
    fn rest(&self, process: &Process) {
        let idle = self.outbox.borrow().is_empty()
            && self.due.borrow().is_empty()
            && self.asked.borrow().is_empty();
        let losses = process.link(|link| link.losses());
        let idle = idle && losses == self.losses.get();
        process.hook::<Tolerance>().set_work(usize::from(!idle));
    }

    /// Sends what the ways take; true if something left.
    fn post(&self, process: &Process) -> bool {
        let mut outbox = self.outbox.borrow_mut();
        if outbox.is_empty() {
            return false;
        }
        let before = outbox.len();
        process.link(|link| {
            outbox.retain(|(peer, header, part)| {
                matches!(
                    link.try_post_active(*peer, *header, &part[..]),
                    Ok(Posted::Full)
                )
            });
        });
        outbox.len() != before
    }

    /// Writes a letter to a member.
    fn write(&self, process: &Process, to: &Participant, kind: Kind, words: &[u32]) {
        let longest = process.link(|link| link.max_active(to.peer));
        let serial = self.serial.get().wrapping_add(1);
        self.serial.set(serial);
        let all = parts(kind, (to.ours, to.theirs), serial, words, longest);
        let mut outbox = self.outbox.borrow_mut();
        outbox.extend(
            all.into_iter()
                .map(|(header, part)| (to.peer, header, part)),
        );
        drop(outbox);
        process.hook::<Tolerance>().set_work(1);
    }

    /// The members of a communicator, and their agreements.
    pub fn circle(&self, process: &Process, comm: &Comm) -> Rc<Circle> {
        let known = self.circles.borrow().get(&comm.cid.slot()).cloned();
        // The number may have been that of another one.
        let is_of = |circle: &Rc<Circle>| {
            let members = process.link(|link| link.members(comm.cid).collect::<Vec<_>>());
            let of = circle.participants.iter().filter(|it| it.ours == comm.cid);
            of.map(|it| (it.peer, it.theirs)).eq(members)
        };
        if let Some(circle) = known.filter(is_of) {
            return circle;
        }
        let circle = Rc::new(Circle::new(process, comm));
        for cid in comm.cids() {
            self.circles.borrow_mut().insert(cid.slot(), circle.clone());
        }
        self.bury(process, &circle);
        circle
    }

    /// Reads questions about contexts whose communicators are made now, or come to nothing; true if
    /// there was one.
    fn read_asked(&self, process: &Process) -> bool {
        let asked = self.asked.take();
        let before = asked.len();
        asked.into_iter().for_each(|it| self.read(process, it));
        self.asked.borrow().len() != before
    }

    /// Reads a letter, or keeps it until its context is there. One for a number that another
    /// context has was meant for one that is closed: nobody is told a number before it is taken.
    fn read(&self, process: &Process, letter: Letter) {
        match (letter.kind, &letter.words[..]) {
            (Kind::Part, [_, _, ..]) if process.comms.is_coming(letter.ours) => {
                self.asked.borrow_mut().push(letter);
                return;
            }
            (Kind::Part | Kind::NoPart, [number]) => {
                return self.read_of_part(process, &letter, *number);
            }
            (Kind::Part | Kind::NoPart, [number, key @ ..]) => {
                return self.read_of_leader(process, &letter, (*number, key));
            }
            _ => {}
        }
        let comm = process.comms.at(letter.ours);
        if comm.is_none() && letter.kind == Kind::Revoked && is_from_member(process, &letter) {
            // Its handle is freed.
            process.comms.revoke_freed(process, letter.ours);
            return;
        }
        let circle = match (
            &comm,
            self.circles.borrow().get(&letter.ours.slot()).cloned(),
        ) {
            (_, Some(circle)) if circle.find(&letter).is_some() => Some(circle),
            _ => None,
        };
        let circle = circle.or_else(|| Some(self.circle(process, comm.as_deref()?)));
        let found = circle.and_then(|circle| Some((circle.find(&letter)?, circle)));
        let Some((from, circle)) = found else {
            if comm.is_none() {
                self.early.borrow_mut().keep(letter);
            }
            return;
        };
        match (letter.kind, comm) {
            (Kind::Revoked, Some(comm)) => self.revoke(process, &comm),
            // Read above, or from nobody who is in it.
            (Kind::Revoked, None) | (Kind::Part | Kind::NoPart, _) => {}
            (Kind::Agreement, _) => {
                let size = circle.participants.len() as u32;
                if let Some((number, message)) = wire::decode(size, &letter.words) {
                    let mut sent = Vec::new();
                    let mut series = circle.series.borrow_mut();
                    series.deliver(from, number, message, &mut sent);
                    drop(series);
                    self.send(process, &circle, sent);
                }
            }
        }
    }

    /// Reads a question or an answer about an agreement of all members of a communicator. A member
    /// that has freed it, or has not made it, takes no part.
    fn read_of_part(&self, process: &Process, letter: &Letter, number: u32) {
        let sender = (letter.from, letter.theirs);
        let rank = process.link(|link| link.members(letter.ours).position(|it| it == sender));
        let comm = rank.and_then(|_| process.comms.at(letter.ours));
        match (letter.kind, rank) {
            (Kind::NoPart, Some(rank)) => {
                process
                    .comms
                    .takes_no_part(letter.ours, rank as u32, number)
            }
            (Kind::Part, _) if !comm.is_some_and(|comm| comm.takes_part(number)) => {
                let to = Participant {
                    peer: letter.from,
                    theirs: letter.theirs,
                    ours: letter.ours,
                    rank: 0,
                };
                self.write(process, &to, Kind::NoPart, &[number]);
            }
            _ => {}
        }
    }

    /// Reads a question or an answer of a leader of two groups. A process where the context is
    /// closed that joins them leads none.
    fn read_of_leader(&self, process: &Process, letter: &Letter, (number, key): (u32, &[u32])) {
        let sender = (letter.from, letter.theirs);
        let rank = process.link(|link| link.members(letter.ours).position(|it| it == sender));
        let nothing_comes = match (letter.kind, rank) {
            (Kind::NoPart, Some(rank)) => {
                process
                    .comms
                    .leader_is_absent(letter.ours, rank as u32, number, key);
                false
            }
            (Kind::Part, Some(rank)) => {
                process
                    .comms
                    .leader_asks(letter.ours, rank as u32, number, key)
            }
            (kind, _) => kind == Kind::Part,
        };
        if nothing_comes {
            let to = Participant {
                peer: letter.from,
                theirs: letter.theirs,
                ours: letter.ours,
                rank: 0,
            };
            self.write(process, &to, Kind::NoPart, &letter.words);
        }
    }

    /// Sends messages of agreements.
    fn send(&self, process: &Process, circle: &Circle, sent: Vec<Outgoing>) {
        for (to, number, message) in sent {
            if let Some(to) = circle.participants.get(to as usize) {
                self.write(
                    process,
                    to,
                    Kind::Agreement,
                    &wire::encode(number, &message),
                );
            }
        }
    }

    /// Begins an agreement; gives its number.
    pub fn agree(&self, process: &Process, circle: &Circle, own: Contribution) -> u32 {
        let mut sent = Vec::new();
        let number = circle.series.borrow_mut().begin(own, &mut sent);
        self.send(process, circle, sent);
        self.post(process);
        number
    }

    /// What was decided.
    pub fn decision(circle: &Circle, number: u32) -> Option<Rc<Decision>> {
        circle.series.borrow().decision(number).cloned()
    }

    /// Revokes a communicator here and has all others do so. Each does the same when it first
    /// hears of it: so all that are alive come to know even if this process dies meanwhile.
    pub fn revoke(&self, process: &Process, comm: &Arc<Comm>) {
        let circle = self.circle(process, comm);
        if !comm.revoke_here(process) {
            return;
        }
        for to in circle
            .participants
            .iter()
            .filter(|it| it.peer != process.me)
        {
            self.write(process, to, Kind::Revoked, &[]);
        }
        self.post(process);
    }

    /// Losses have become known.
    #[cold]
    fn hear_of_deaths(&self, process: &Process) {
        let mut all: Vec<Rc<Circle>> = self.circles.borrow().values().cloned().collect();
        all.sort_by_key(|it| Rc::as_ptr(it).addr());
        all.dedup_by(|a, b| Rc::ptr_eq(a, b));
        all.iter().for_each(|circle| self.bury(process, circle));
        process.comms.lose_boards_of_dead(process);
        if !process.tell_losses(&mut self.told.borrow_mut()) {
            // The next look tells it.
            self.losses.set(usize::MAX);
        }
    }

    /// Has the agreements of a circle go on without the dead.
    fn bury(&self, process: &Process, circle: &Circle) {
        let mut sent = Vec::new();
        for (at, participant) in (0..).zip(&circle.participants) {
            if process.link(|link| link.is_lost(participant.peer)) {
                circle.series.borrow_mut().died(at, &mut sent);
            }
        }
        self.send(process, circle, sent);
    }
}

/// Whether a letter comes from a member of the context that it is for.
fn is_from_member(process: &Process, letter: &Letter) -> bool {
    let sender = (letter.from, letter.theirs);
    process.link(|link| link.members(letter.ours).any(|it| it == sender))
}

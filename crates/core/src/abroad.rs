//! What ranks that wait long tell those of other nodes ([`catena_process::abroad`]), as active
//! messages, in as many parts as the way takes.
//!
//! | part of the header | bits     | what                                    |
//! |--------------------|----------|-----------------------------------------|
//! | context            | all      | length of the message, bytes            |
//! | what               | 0 to 7   | [what](catena_process::abroad::What) it says |
//! | argument           | 32 to 63 | which of the sender's messages it is    |
//! | argument           | 0 to 31  | where the part begins                   |

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, VecDeque};
use std::ops::Range;

use catena_base::PeerBytes;
use catena_fabric::{Peer, PeerLost, Posted};
use catena_link::{ActiveHeader, Class, Handler};
use catena_process::abroad::{self, Parcel, What};
use catena_process::{Alarm, Hook, deliver_abroad};

use crate::phase;
use crate::process::Process;

/// The class of these active messages.
const CLASS: Class = Class(5);

/// Longest message, bytes.
const LONGEST: usize = 1 << 20;

/// Sends them.
#[derive(Debug, Default)]
pub(crate) struct Abroad {
    outbox: RefCell<VecDeque<(Peer, ActiveHeader, Vec<u8>)>>,
    serial: Cell<u32>,
}

/// Ranks of this process's job tell it of themselves from now on, if nobody else asks them.
pub(crate) fn listen(process: &Process) {
    if abroad::is_told() {
        let inbox = Inbox {
            parts: Parts {
                jobs_size: process.engine.boot.borrow().job().size,
                coming: HashMap::new(),
            },
            alarm: process.hook::<Abroad>().alarm(),
        };
        process.link(|link| link.set_handler(CLASS, Some(Box::new(inbox))));
    }
}

/// What this process has to tell is sent by the next progress.
#[cold]
pub(crate) fn post(process: &Process) {
    if abroad::has_outgoing() {
        process.hook::<Abroad>().set_work(1);
    }
}

impl Hook<Process> for Abroad {
    fn progress(&self, process: &Process) -> bool {
        let parcels = abroad::take_outgoing();
        for parcel in parcels {
            let peer = Peer(parcel.to);
            if !are_there() && !process.link(|link| link.net().is_in_contact(peer)) {
                abroad::is_out_of_reach(parcel.to);
                continue;
            }
            let longest = process.link(|link| link.max_active(peer));
            self.serial.set(self.serial.get().wrapping_add(1));
            let parts = parts(&parcel, self.serial.get(), longest);
            let parts = parts.map(|(header, part)| (peer, header, part.to_vec()));
            self.outbox.borrow_mut().extend(parts);
        }
        let mut outbox = self.outbox.borrow_mut();
        let before = outbox.len();
        process.link(|link| {
            outbox.retain(|(peer, header, part)| {
                let posted = link.try_post_active(*peer, *header, &part[..]);
                matches!(posted, Ok(Posted::Full))
            });
        });
        process
            .hook::<Abroad>()
            .set_work(usize::from(!outbox.is_empty()));
        outbox.len() != before
    }

    fn forget(&self, _: &Process, peers: &Range<u32>) {
        let mut outbox = self.outbox.borrow_mut();
        outbox.retain(|(peer, ..)| !peers.contains(&peer.0));
    }
}

/// Whether any rank of the job may be called. In the world model all are there until all have come
/// to its end. Without it one may have left, and calling it would show that as a loss.
fn are_there() -> bool {
    phase::is_initialized() && !phase::is_finalized()
}

/// The parts of a message, each with its header.
fn parts(
    parcel: &Parcel,
    serial: u32,
    longest: usize,
) -> impl Iterator<Item = (ActiveHeader, &[u8])> {
    let longest = longest.max(1);
    let chunks = parcel.bytes.chunks(longest).enumerate();
    chunks.map(move |(number, part)| {
        let at = (number * longest) as u64;
        let header = ActiveHeader {
            class: CLASS,
            context: parcel.bytes.len() as u32,
            what: i32::from(parcel.what as u8),
            argument: u64::from(serial) << 32 | at,
        };
        (header, part)
    })
}

/// A message of which parts are missing.
#[derive(Debug)]
struct Coming {
    serial: u32,
    bytes: Vec<u8>,
    have: usize,
}

/// Takes what comes.
#[derive(Debug)]
struct Inbox {
    parts: Parts,
    alarm: Alarm<Process>,
}

/// Messages that have not come wholly.
#[derive(Debug)]
struct Parts {
    jobs_size: u32,
    /// Of each sender the last one.
    coming: HashMap<Peer, Coming>,
}

/// Parts of messages, for fuzzing: each is its sender, its header and its length, and that. Of what
/// comes whole there is as much as was announced.
#[cfg(any(test, fuzzing))]
pub fn fuzz(mut data: &[u8]) {
    let mut parts = Parts {
        jobs_size: 4,
        coming: HashMap::new(),
    };
    while let Some((head, rest)) = data.split_first_chunk::<16>() {
        let word =
            |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let (part, rest) = rest.split_at(rest.len().min(usize::from(head[1])));
        let header = ActiveHeader {
            class: CLASS,
            context: word(4),
            what: i32::from(head[2]),
            argument: u64::from(word(8)) << 32 | u64::from(word(12)),
        };
        if let Some((_, bytes)) = parts.put(Peer(head[0].into()), header, part) {
            assert_eq!(bytes.len(), word(4) as usize);
        }
        data = rest;
    }
    assert!(parts.coming.len() <= 4);
    assert!(parts.coming.values().all(|it| it.have <= it.bytes.len()));
}

impl Parts {
    /// Takes a part of a message; the whole message, if it is the last one.
    fn put(&mut self, from: Peer, header: ActiveHeader, part: &[u8]) -> Option<(What, Vec<u8>)> {
        let what = What::of(u8::try_from(header.what).ok()?)?;
        let (serial, at) = ((header.argument >> 32) as u32, header.argument as u32);
        let (length, at) = (header.context as usize, at as usize);
        if length > LONGEST || at + part.len() > length || from.0 >= self.jobs_size {
            return None;
        }
        let coming = self.coming.entry(from).or_insert_with(|| Coming {
            serial: serial.wrapping_sub(1),
            bytes: Vec::new(),
            have: 0,
        });
        if (coming.serial, coming.bytes.len()) != (serial, length) {
            *coming = Coming {
                serial,
                bytes: vec![0; length],
                have: 0,
            };
        }
        coming.bytes[at..at + part.len()].copy_from_slice(part);
        coming.have += part.len();
        if coming.have < length {
            return None;
        }
        let whole = self.coming.remove(&from)?;
        Some((what, whole.bytes))
    }
}

impl Handler for Inbox {
    fn deliver(&mut self, from: Peer, header: ActiveHeader, payload: PeerBytes<'_>) {
        if let Some((what, bytes)) = self.parts.put(from, header, &payload.to_vec()) {
            deliver_abroad(from.0, what, &bytes, are_there());
            self.alarm.raise();
        }
    }

    fn lost(&mut self, lost: &PeerLost) {
        self.parts.coming.remove(&lost.peer);
    }

    fn forget(&mut self, peers: &Range<u32>) {
        let coming = &mut self.parts.coming;
        coming.retain(|peer, _| !peers.contains(&peer.0));
    }
}

//! What members of a communicator tell each other besides the messages of their calls: why a
//! call failed (`report`), and which call they wait in (`inquiry`).
//!
//! An aside is a short message in the plane of collectives. Its tag is negative and says which
//! call it is about:
//!
//! | bits, from the top | what                                           |
//! |--------------------|------------------------------------------------|
//! | 1                  | one                                            |
//! | 2                  | the [`Kind`]; zero: a letter (`comm`)          |
//! | 1                  | whether the call is persistent                 |
//! | 28                 | number of the call among all on the communicator |
//!
//! Calls on a board have no messages, and no number among those that have: here all count, in
//! the order in which the members make them.

use catena_link::{Cid, Envelope, Mode, Plane, Selector, Sent};

use super::inquiry::Said;
use super::patience::Patience;
use super::tag::Number;
use crate::buffer::{RecvBuf, SendBuf};
use crate::comm::Comm;
use crate::error::{Error, Kind as ErrorKind};
use crate::world::World;

/// Longest text, bytes: a message of one packet.
pub const LONGEST: usize = 480;

const PLACE_BITS: u32 = 28;

/// What an aside says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A member gave the call up; in words, why.
    Report = 1,
    /// A member waits in the call: a [`Said`].
    Inquiry,
    /// That has been read.
    Answer,
}

/// The head of an aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aside {
    pub kind: Kind,
    /// The call among all on the communicator.
    pub place: Number,
}

/// A call that waits here.
#[derive(Clone, Copy, Debug)]
pub struct Waiting<'a> {
    pub comm: &'a Comm,
    pub place: Number,
    /// What it says of itself. `None` on a board that is of no use any more: then whoever failed,
    /// and wherever, tells why.
    pub said: Option<Said>,
}

impl Aside {
    /// As a tag.
    pub fn tag(self) -> i32 {
        let count = self.place.count & ((1 << PLACE_BITS) - 1);
        let persistent = u32::from(self.place.persistent) << PLACE_BITS;
        (1 << 31 | (self.kind as u32) << (PLACE_BITS + 1) | persistent | count) as i32
    }

    /// What a tag says; `None` if it is not that of an aside.
    pub fn read(tag: i32) -> Option<Self> {
        let bits = tag as u32;
        let kind = match bits >> (PLACE_BITS + 1) {
            0b101 => Kind::Report,
            0b110 => Kind::Inquiry,
            0b111 => Kind::Answer,
            _ => return None,
        };
        let place = Number {
            count: bits & ((1 << PLACE_BITS) - 1),
            persistent: bits >> PLACE_BITS & 1 == 1,
        };
        Some(Aside { kind, place })
    }

    /// Whether it is to be read in a call that waits.
    fn concerns(self, call: &Waiting) -> bool {
        match self.kind {
            Kind::Report => call.said.is_none() || self.is_about(call.place),
            Kind::Inquiry | Kind::Answer => true,
        }
    }

    /// Whether it is about the call at `place`.
    fn is_about(self, place: Number) -> bool {
        let aside = Aside { place, ..self };
        self.tag() == aside.tag()
    }
}

/// A member in the words of the program.
pub fn who(comm: &Comm, cid: Cid, rank: u32) -> String {
    if comm.is_inter() && cid == comm.cid {
        format!("rank {rank} of the remote group")
    } else {
        format!("rank {rank}")
    }
}

impl World {
    /// Why a call that waits can never be complete, if a member has said so, or what it says of
    /// its call shows it. Does not progress.
    pub(super) fn heard(&self, call: &Waiting, patience: &mut Patience) -> Option<Error> {
        let comm = call.comm;
        for cid in comm.cids() {
            while let Some((aside, envelope)) = self.find_aside(cid, call, patience) {
                let bytes = self.read_aside(cid, envelope);
                let who = who(comm, cid, envelope.source);
                let error = match aside.kind {
                    Kind::Report => {
                        let text = String::from_utf8_lossy(&bytes);
                        let text = format!("{who} gave the call up: {text}");
                        Some(Error::new(ErrorKind::Other, text))
                    }
                    Kind::Inquiry => {
                        self.answer((cid, envelope.source), aside.place);
                        let theirs = Said::read(&bytes).filter(|_| aside.is_about(call.place));
                        let both = call.said.zip(theirs);
                        both.and_then(|(ours, theirs)| ours.differs(comm, &who, theirs))
                            .inspect(|error| self.report(comm, call.place, error.text()))
                    }
                    Kind::Answer => {
                        self.answered(envelope.source);
                        None
                    }
                };
                if error.is_some() {
                    return error;
                }
            }
        }
        None
    }

    fn find_aside(
        &self,
        cid: Cid,
        call: &Waiting,
        patience: &mut Patience,
    ) -> Option<(Aside, Envelope)> {
        self.link()
            .kept(cid, Plane::Collective)
            .find_map(|envelope| {
                patience.looked(1);
                let aside = Aside::read(envelope.tag).filter(|aside| aside.concerns(call))?;
                Some((aside, envelope))
            })
    }

    fn read_aside(&self, cid: Cid, envelope: Envelope) -> Vec<u8> {
        let link = self.link();
        let selector = Selector {
            source: envelope.source as i32,
            tag: envelope.tag,
        };
        let Some((message, envelope)) = link.mprobe(cid, Plane::Collective, selector) else {
            return Vec::new();
        };
        let mut bytes = vec![0; LONGEST];
        let id = link.mrecv(message, RecvBuf::Bytes(bytes.as_mut_ptr(), LONGEST as u64));
        if !link.is_done(id) {
            // It came in pieces after all. The rest may still be written.
            link.detach(id);
            std::mem::forget(bytes);
            return Vec::new();
        }
        link.take(id);
        bytes.truncate(envelope.len as usize);
        bytes
    }

    /// Messages that came to a communicator before a receive did.
    pub(super) fn unexpected(&self, comm: &Comm) -> u64 {
        let came = |cid| self.link().traffic(Some(cid)).unexpected;
        comm.cids().map(came).sum()
    }

    /// Sends an aside to a rank of a context.
    pub(super) fn tell_aside(&self, (cid, rank): (Cid, u32), aside: Aside, bytes: &[u8]) {
        let (link, tag, bytes) = (self.link(), aside.tag(), SendBuf::Owned(bytes.into()));
        if let Sent::Pending(id) =
            link.send(cid, Plane::Collective, rank, tag, Mode::Standard, bytes)
        {
            link.detach(id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_tells_which_call_it_is_about() {
        for kind in [Kind::Report, Kind::Inquiry, Kind::Answer] {
            for persistent in [false, true] {
                for count in [0, 5, (1 << PLACE_BITS) - 1] {
                    let place = Number { count, persistent };
                    let aside = Aside { kind, place };
                    assert!(aside.tag() < 0);
                    assert_eq!(Aside::read(aside.tag()), Some(aside));
                }
            }
        }
        assert_eq!(Aside::read(i32::MIN), None, "a letter");
        assert_eq!(Aside::read(7), None, "a message of a call");
    }

    #[test]
    fn a_call_knows_what_is_about_it() {
        let number = |count, persistent| Number { count, persistent };
        let about = |of, at| {
            let kind = Kind::Report;
            Aside { kind, place: of }.is_about(at)
        };
        assert!(about(number(7, false), number(7, false)));
        assert!(!about(number(6, false), number(7, false)));
        assert!(about(number(7, true), number(7, true)));
        assert!(!about(number(7, true), number(7, false)));
        assert!(about(number(0, false), number(1 << PLACE_BITS, false)));
    }
}

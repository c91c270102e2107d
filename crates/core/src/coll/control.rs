//! What members of a communicator tell each other besides the messages of their calls: why a
//! call failed (`report`), or has no data (`without_data`), and which call they wait in
//! (`inquiry`); and what processes tell of their ends (`ends`).
//!
//! A control message is a short message in the plane of collectives: a report and a lack in the
//! context of the communicator, the others in that of the job. Its tag is negative and says which
//! call it is about:
//!
//! | bits, from the top | what                                           |
//! |--------------------|------------------------------------------------|
//! | 1                  | one                                            |
//! | 2                  | what kind it is of; zero: of an agreement or a partition (`comm`) |
//! | 1                  | of that kind, which [`Kind`]                    |
//! | 28                 | place of the call among all on the communicator |
//!
//! Calls on a board have no messages, and no number among those that have, and calls that make
//! persistent operations have numbers of their own: here all count, in the order in which the
//! members make them (MPI-5, 6.13). So members that match a persistent operation with another
//! call meet here.

use std::sync::Arc;

use catena_link::{Cid, Envelope, Mode, Plane, Selector, Sent};

use super::backoff::Backoff;
use super::signature::CallSignature;
use super::tag::Label;
use crate::buffer::{RecvBuf, SendBuf};
use crate::comm::{Comm, JOB};
use crate::process::Process;

/// Longest text, bytes: a message of one packet.
pub const LONGEST: usize = 480;

const PLACE_BITS: u32 = 28;

/// What a control message says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A member gave the call up; see `report`.
    Report = 0b010,
    /// A member's next message of the call has no data; see `without_data`.
    Lack = 0b011,
    /// A member waits in the call, and asks how it was made: which communicator it is on.
    Inquiry = 0b100,
    /// A process waits for a message, and asks whether any may come: see `ends`.
    EndInquiry = 0b101,
    /// How, a [`CallSignature`]; empty if nothing is known of it.
    Answer = 0b110,
    /// None that has not left may come; see `ends`.
    End = 0b111,
}

/// The head of a control message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallControl {
    pub kind: Kind,
    /// The call among all on the communicator.
    pub place: u32,
}

/// A call that waits here.
#[derive(Clone, Copy, Debug)]
pub struct Waiting<'a> {
    pub comm: &'a Arc<Comm>,
    pub place: u32,
    /// What it says of itself. `None` on a board that is of no use any more: then whoever failed,
    /// and wherever, tells why.
    pub signature: Option<CallSignature>,
}

impl CallControl {
    /// As a tag.
    pub fn tag(self) -> i32 {
        let place = self.place & ((1 << PLACE_BITS) - 1);
        (1 << 31 | (self.kind as u32) << PLACE_BITS | place) as i32
    }

    /// What a tag says; `None` if it is not that of a control message.
    pub fn read(tag: i32) -> Option<Self> {
        let bits = tag as u32;
        let kind = match bits >> PLACE_BITS {
            0b1010 => Kind::Report,
            0b1011 => Kind::Lack,
            0b1100 => Kind::Inquiry,
            0b1101 => Kind::EndInquiry,
            0b1110 => Kind::Answer,
            0b1111 => Kind::End,
            _ => return None,
        };
        let place = bits & ((1 << PLACE_BITS) - 1);
        Some(CallControl { kind, place })
    }

    /// Whether it is a report that ends a call that waits: of this call or of an earlier one, after
    /// which its sender has made no other.
    pub(super) fn ends(self, call: &Waiting) -> bool {
        // Who has failed in any call makes no board any more.
        let at_any = call.signature.is_none_or(|it| it.label.is(Label::FIRST));
        let is_about = || at_any || is_at_most(self.place, call.place);
        self.kind == Kind::Report && is_about()
    }

    /// Whether it is one of asking and answering, in the context of the job.
    pub fn asks(self) -> bool {
        matches!(
            self.kind,
            Kind::Inquiry | Kind::Answer | Kind::EndInquiry | Kind::End
        )
    }
}

impl Waiting<'_> {
    /// Whether it is the call at `place` in a context.
    pub fn is(&self, cid: Cid, place: u32) -> bool {
        is_call((self.comm, self.place), cid, place)
    }
}

/// Whether two places, of which a control message may have told one, are the same.
pub(super) fn is_same(a: u32, b: u32) -> bool {
    (a ^ b) << (u32::BITS - PLACE_BITS) == 0
}

/// Whether a place, of which a control message may have told one of both, is that of a call or of
/// an earlier one.
pub(super) fn is_at_most(place: u32, call: u32) -> bool {
    (call.wrapping_sub(place) << (u32::BITS - PLACE_BITS)) as i32 >= 0
}

/// Whether a call on a communicator is that at `place` in a context.
pub fn is_call(call: (&Comm, u32), cid: Cid, place: u32) -> bool {
    is_same(call.1, place) && call.0.cids().any(|of| of == cid)
}

/// A member in the words of the program.
pub fn who(comm: &Comm, cid: Cid, rank: u32) -> String {
    if comm.is_inter() && cid == comm.cid {
        format!("rank {rank} of the remote group")
    } else {
        format!("rank {rank}")
    }
}

impl CallControl {
    /// The first aside in a context that is wanted.
    pub(super) fn find(
        process: &Process,
        cid: Cid,
        backoff: &mut Backoff,
        wanted: impl Fn(CallControl) -> bool,
    ) -> Option<(CallControl, Envelope)> {
        process.link(|link| {
            link.kept(cid, Plane::Collective).find_map(|envelope| {
                backoff.looked(1);
                let aside = CallControl::read(envelope.tag).filter(|&aside| wanted(aside))?;
                Some((aside, envelope))
            })
        })
    }

    /// Receives it.
    pub(super) fn receive(process: &Process, cid: Cid, envelope: Envelope) -> Vec<u8> {
        let selector = Selector {
            source: envelope.source as i32,
            tag: envelope.tag,
        };
        process.link(|link| {
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
        })
    }
}

impl Comm {
    /// Messages that came before a receive did, to where control messages come for a communicator.
    pub(super) fn unexpected(&self, process: &Process) -> u64 {
        let came = |cid| process.link(|link| link.traffic(Some(cid)).unexpected);
        self.cids().chain([JOB]).map(came).sum()
    }
}

impl CallControl {
    /// Sends a control message to a rank of a context.
    pub(super) fn send(self, process: &Process, (cid, rank): (Cid, u32), bytes: &[u8]) {
        let (tag, bytes) = (self.tag(), SendBuf::Owned(bytes.into()));
        process.link(|link| {
            if let Sent::Pending(id) =
                link.send(cid, Plane::Collective, rank, tag, Mode::Standard, bytes)
            {
                link.detach(id);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_tells_which_call_it_is_about() {
        for kind in [
            Kind::Report,
            Kind::Lack,
            Kind::Inquiry,
            Kind::EndInquiry,
            Kind::Answer,
            Kind::End,
        ] {
            for place in [0, 5, (1 << PLACE_BITS) - 1] {
                let aside = CallControl { kind, place };
                assert!(aside.tag() < 0);
                assert_eq!(CallControl::read(aside.tag()), Some(aside));
            }
        }
        assert_eq!(CallControl::read(i32::MIN), None, "a letter");
        assert_eq!(CallControl::read(7), None, "a message of a call");
    }

    #[test]
    fn a_call_knows_what_is_about_it() {
        assert!(is_same(7, 7));
        assert!(!is_same(6, 7));
        assert!(is_same(0, 1 << PLACE_BITS));
        let last = (1 << PLACE_BITS) - 1;
        for (place, call, ends) in [
            (7, 7, true),
            (6, 7, true),
            (8, 7, false),
            (last, 1 << PLACE_BITS, true),
            (0, u32::MAX, false),
        ] {
            assert_eq!(is_at_most(place, call), ends, "{place} {call}");
        }
    }
}

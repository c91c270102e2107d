//! Reports: a member whose collective fails tells all others, so that nobody waits for it.
//!
//! A report is a short message: the reason in words. That of a call with messages has the
//! call's number and a label that no call has ([`Label::FAILED`]); whoever waits in vain
//! finds it as it finds the messages of calls that differ. Calls on a board have no numbers:
//! a board that one member gave up is of no use to anybody, and [`BOARD`] says so.

use catena_link::{ANY_SOURCE, Cid, Mode, Plane, Selector, Sent};

use super::run::cut;
use super::tag::{Label, Number};
use super::{Turn, tag};
use crate::buffer::{RecvBuf, SendBuf};
use crate::comm::Comm;
use crate::world::World;

/// Tag of a report about the board of a communicator; see `letters` for the other one that
/// is negative.
const BOARD: i32 = i32::MIN + 1;

/// Longest text, bytes: a message of one packet.
const LONGEST: usize = 480;

/// A context, its number of ranks, and the own one if that is among them.
type Audience = (Cid, u32, Option<u32>);

impl World {
    /// Tells the other members that this one gave a call up, but for `but` in a context,
    /// which knows.
    pub(super) fn report(&self, comm: &Comm, turn: &Turn, text: &str, but: Option<(Cid, u32)>) {
        let me = Some(comm.rank);
        let tell = |audience, number: Number| {
            let tag = cut(comm).tag(Label::FAILED, number);
            self.tell_all(audience, tag, text, but);
        };
        match &comm.remote {
            None => tell((comm.cid, comm.size(), me), turn.comm.number),
            Some(remote) => {
                tell((comm.cid, comm.peers, None), turn.comm.number);
                tell((remote.local.cid, comm.size(), me), turn.local.number);
            }
        }
    }

    /// Tells the other members that this one gave the board up.
    pub(super) fn report_board(&self, comm: &Comm, text: &str) {
        let audience = (comm.cid, comm.size(), Some(comm.rank));
        self.tell_all(audience, BOARD, text, None);
    }

    fn tell_all(&self, (cid, ranks, me): Audience, tag: i32, text: &str, but: Option<(Cid, u32)>) {
        let text = &text.as_bytes()[..text.len().min(LONGEST)];
        let link = self.link();
        for rank in (0..ranks).filter(|&r| Some(r) != me && Some((cid, r)) != but) {
            let text = SendBuf::Owned(text.into());
            if let Sent::Pending(id) =
                link.send(cid, Plane::Collective, rank, tag, Mode::Standard, text)
            {
                link.detach(id);
            }
        }
    }

    /// The report about the board of a communicator, if one has come: the rank that sent it
    /// and its text. Does not progress.
    pub(super) fn board_report(&self, comm: &Comm) -> Option<(u32, String)> {
        self.read_report(comm.cid, ANY_SOURCE, BOARD)
    }

    /// The same about a call.
    pub(super) fn read_report(&self, cid: Cid, source: i32, tag: i32) -> Option<(u32, String)> {
        let (link, selector) = (self.link(), Selector { source, tag });
        let (message, envelope) = link.mprobe(cid, Plane::Collective, selector)?;
        let mut text = vec![0; LONGEST];
        let id = link.mrecv(message, RecvBuf::Bytes(text.as_mut_ptr(), LONGEST as u64));
        if !link.is_done(id) {
            // It came in pieces after all. The rest may still be written.
            link.detach(id);
            std::mem::forget(text);
            return Some((envelope.source, "it gave the call up".to_owned()));
        }
        link.take(id);
        text.truncate(envelope.len as usize);
        let text = String::from_utf8_lossy(&text).into_owned();
        Some((envelope.source, text))
    }
}

impl Label {
    /// A call that its sender gave up: a barrier has no detail.
    pub(super) const FAILED: Label = Label {
        what: Some(catena_coll::Collective::Barrier),
        detail: u32::MAX,
    };

    /// Whether a label that was read is [`Label::FAILED`].
    pub(super) fn is_failed(self, cut: tag::Cut) -> bool {
        self == cut.label(Label::FAILED)
    }
}

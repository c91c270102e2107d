//! Reports: a member whose collective fails tells all others, so that nobody waits for it.

use std::sync::Arc;

use catena_link::{Cid, Envelope, Plane};

use super::backoff::Backoff;
use super::control::{CallControl, Kind, LONGEST, Waiting, is_same, who};
use super::mismatch::{different, is_of_all};
use super::turn::cut;
use crate::comm::Comm;
use crate::process::Process;
use catena_objects::error::{Error, Kind as ErrorKind};

/// What members that are told fail with, too, so that it does not matter who noticed first: what
/// is no matter of one member. Otherwise with the first.
const COMMON: [ErrorKind; 6] = [
    ErrorKind::Other,
    ErrorKind::Truncate,
    ErrorKind::ProcAborted,
    ErrorKind::ProcFailed,
    ErrorKind::Revoked,
    ErrorKind::Type,
];

/// A report: which of [`COMMON`] it is, and why, in words.
pub(super) fn to_bytes(error: &Error) -> Vec<u8> {
    let common = COMMON.iter().position(|&kind| kind == error.kind());
    let mut bytes = vec![common.unwrap_or_default() as u8];
    bytes.extend(error.text().bytes().take(LONGEST - 1));
    bytes
}

/// The error of a member that is told by `who`. What is wrong with the call of all is told as it
/// is.
pub fn read(who: &str, bytes: &[u8]) -> Error {
    if let Some((_, text)) = bytes.split_first()
        && is_of_all(&String::from_utf8_lossy(text))
    {
        return read_text(bytes, str::to_owned);
    }
    read_as(&format!("{who} gave the call up"), bytes)
}

/// The error of a member that is told by `who` that there are no data for it.
pub fn read_lack(who: &str, bytes: &[u8]) -> Error {
    read_as(&format!("{who} has no data for this call"), bytes)
}

fn read_as(what: &str, bytes: &[u8]) -> Error {
    read_text(bytes, |text| format!("{what}: {text}"))
}

fn read_text(bytes: &[u8], words: impl Fn(&str) -> String) -> Error {
    let (common, text) = bytes.split_first().unwrap_or((&0, &[]));
    let kind = COMMON.get(usize::from(*common)).unwrap_or(&COMMON[0]);
    Error::new(*kind, words(&String::from_utf8_lossy(text)))
}

/// Why a call that waits can never be complete.
#[derive(Debug)]
pub enum Heard {
    /// A member has said so, to all.
    ProgressTarget(Error),
    /// What a member says of its call shows it; nobody else knows it yet.
    Differs(Error),
}

/// Whether what another member has told is the last word on a call: all that have called it were
/// asked.
pub fn is_final(error: &Error) -> bool {
    is_of_all(error.text())
}

impl Waiting<'_> {
    /// Why a call that waits can never be complete, if a member has said so, or what it says of
    /// its call shows it. Does not progress.
    pub(super) fn heard(&self, process: &Process, backoff: &mut Backoff) -> Option<Heard> {
        let told = self.reported(process, backoff).map(Heard::ProgressTarget);
        told.or_else(|| process.ask_around(self, backoff).map(Heard::Differs))
    }

    /// Why it can never be complete, if a member has said so.
    pub(super) fn reported(&self, process: &Process, backoff: &mut Backoff) -> Option<Error> {
        let comm = self.comm;
        comm.cids().find_map(|cid| {
            let ends = |aside: CallControl| aside.ends(self);
            let (_, envelope) = CallControl::find(process, cid, backoff, ends)?;
            Some(comm.read_report(process, cid, envelope))
        })
    }
}

impl Comm {
    /// Why that rank of a context gave the call at `place` up, if it has said so.
    pub(super) fn reported_by(
        &self,
        process: &Process,
        (cid, rank): (Cid, u32),
        place: u32,
    ) -> Option<Error> {
        let envelope = CallControl::first_from(process, (cid, rank), Kind::Report, place)?;
        Some(self.read_report(process, cid, envelope))
    }
}

impl CallControl {
    /// The first control message of that kind that has come from a rank of a context, of the call
    /// at `place`.
    pub(super) fn first_from(
        process: &Process,
        (cid, rank): (Cid, u32),
        kind: Kind,
        place: u32,
    ) -> Option<Envelope> {
        let is = |aside: CallControl| aside.kind == kind && is_same(aside.place, place);
        process.link(|link| {
            let mut kept = link.kept(cid, Plane::Collective);
            kept.find(|it| it.source == rank && CallControl::read(it.tag).is_some_and(is))
        })
    }
}

impl Comm {
    /// At the end: what a member of a communicator has sent that this one has not received, in
    /// calls that it never made, or why one gave a call up that this one has completed. Then
    /// members have called different things, and this one would never hear of it.
    pub(crate) fn find_unheard(process: &Process) -> Option<Error> {
        let comms = &process.comms;
        comms
            .made()
            .chain([comms.world.clone()])
            .find_map(|comm| comm.unheard(process))
    }

    fn unheard(&self, process: &Process) -> Option<Error> {
        // One of a session may be used on, and an operation under way may yet receive what is
        // there.
        if self.group.session().is_some()
            || self.failed.ended.borrow().is_some()
            || !self.coll.is_idle()
        {
            return None;
        }
        self.cids().find_map(|cid| {
            let is_wrong = |it: &Envelope| {
                it.tag >= 0
                    || CallControl::read(it.tag).is_some_and(|aside| aside.kind == Kind::Report)
            };
            let envelope = process.link(|link| link.kept(cid, Plane::Collective).find(is_wrong))?;
            if envelope.tag < 0 {
                return Some(self.read_report(process, cid, envelope));
            }
            let (who, label) = (
                who(self, cid, envelope.source),
                cut(self).label_of(envelope.tag),
            );
            let error = different(&format!(
                "{who} called {label}, and rank {} has not received what it sent there",
                self.rank
            ));
            Some(error.on(self.handle.get()))
        })
    }

    fn read_report(&self, process: &Process, cid: Cid, envelope: Envelope) -> Error {
        let bytes = CallControl::receive(process, cid, envelope);
        let who = who(self, cid, envelope.source);
        read(&who, &bytes)
    }

    /// Tells all other members that this one gave a call up, and makes no other one.
    pub(super) fn report(&self, process: &Process, place: u32, error: &Error) {
        self.note_end(process, error);
        match &self.remote {
            None => tell_all(
                process,
                self.cid,
                self.size(),
                Some(self.rank),
                place,
                error,
            ),
            Some(remote) => {
                tell_all(process, self.cid, self.peers, None, place, error);
                let local = remote.local.cid;
                tell_all(process, local, self.size(), Some(self.rank), place, error);
            }
        }
    }
}

/// Tells the ranks of a context, but for this process.
fn tell_all(process: &Process, cid: Cid, ranks: u32, me: Option<u32>, place: u32, error: &Error) {
    for rank in (0..ranks).filter(|&rank| Some(rank) != me) {
        CallControl::report_to(process, (cid, rank), place, error);
    }
}

impl CallControl {
    /// Tells one rank of a context.
    pub(super) fn report_to(process: &Process, whom: (Cid, u32), place: u32, error: &Error) {
        let aside = CallControl {
            kind: Kind::Report,
            place,
        };
        aside.send(process, whom, &to_bytes(error));
    }
}

impl Comm {
    /// A member has died: the board is of no more use, and its place there is vacant.
    #[cold]
    pub(crate) fn lose_member(self: &Arc<Self>, process: &Process, rank: u32, error: &Error) {
        self.lose_board(process, error);
        if let Ok(membership) = self.coll.node.try_borrow() {
            membership.lose(rank);
        }
    }

    /// This member skips calls from now on that others may count. It meets them on the board no
    /// more, where one of its calls would be taken for another one of theirs; unless it is in one
    /// there, which ends.
    #[cold]
    pub(crate) fn quit_board(&self, process: &Process, error: &Error) {
        if let Ok(mut membership) = self.coll.node.try_borrow_mut()
            && self.coll.queued.get() == 0
            && self.can_meet(process)
        {
            membership.fail(error);
        }
    }

    /// A collective failed here, which the others know: who waits on the board for this member
    /// would do so for ever, so it is of no more use.
    #[cold]
    pub(crate) fn lose_board(self: &Arc<Self>, process: &Process, error: &Error) {
        self.note_end(process, error);
        match self.coll.node.try_borrow_mut() {
            Ok(_) if !self.can_meet(process) => {}
            Ok(mut membership) if self.coll.queued.get() == 0 => membership.fail(error),
            // Who waits there now sees to it.
            _ => *self.coll.lost.borrow_mut() = Some(error.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_told_fails_alike() {
        for (kind, told) in [
            (ErrorKind::Truncate, ErrorKind::Truncate),
            (ErrorKind::ProcAborted, ErrorKind::ProcAborted),
            (ErrorKind::Other, ErrorKind::Other),
            (ErrorKind::Type, ErrorKind::Type),
            (ErrorKind::Count, ErrorKind::Other),
        ] {
            let error = read("rank 3", &to_bytes(&Error::new(kind, "because")));
            assert_eq!(error.kind(), told);
            assert_eq!(error.text(), "rank 3 gave the call up: because");
        }
        let long = to_bytes(&Error::new(ErrorKind::Other, "x".repeat(LONGEST)));
        assert_eq!(long.len(), LONGEST);
        assert_eq!(read("rank 3", &[]).kind(), ErrorKind::Other);
    }
}

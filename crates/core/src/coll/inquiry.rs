//! Inquiries: a member that has waited long in a collective asks one that it waits for which call
//! that one is in. If that one is in the same call, or has lately been, it says how it made it. So
//! members with different roots, operations or counts, of whom nobody sends, are told instead of
//! waiting for ever.
//!
//! Of members that wait for each other without end, some form a circle, and somewhere in it two
//! neighbours have called different things: else the circle were in the algorithm. A member asks
//! one after the other of those that it waits for.
//!
//! Who is asked may have freed the communicator, and use its number for another one: so inquiries
//! travel in the context of the job, which outlives all calls, and name it by the numbers of both
//! processes. The one of who asks is not given to another one while it waits, so if the pair of
//! them joins the two processes there, it is that communicator, and not a later one.
//!
//! Nobody is asked again who has not answered: whoever is only late keeps one inquiry of each
//! process, however often they wait.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

use catena_base::clock;
use catena_fabric::Peer;
use catena_link::{Cid, Envelope};

use super::backoff::{Backoff, LONG};
use super::control::{CallControl, Kind, Waiting, is_at_most, is_call, who};
use super::signature::CallSignature;
use super::tag::Label;
use crate::comm::{Comm, JOB};
use crate::process::Process;
use catena_objects::error::Error;

/// The inquiries of this process.
#[derive(Debug, Default)]
pub struct Asked {
    /// Who was asked last, and at which tick.
    last: Cell<Option<(Peer, u64)>>,
    /// By whom was asked.
    questions: RefCell<BTreeMap<Peer, Question>>,
}

/// What a process was asked.
#[derive(Debug)]
struct Question {
    comm: Weak<Comm>,
    place: u32,
    /// Who it is on the communicator.
    cid: Cid,
    rank: u32,
    answer: Option<CallSignature>,
}

impl Question {
    fn is_of(&self, call: &Waiting) -> bool {
        self.place == call.place && std::ptr::eq(self.comm.as_ptr(), Arc::as_ptr(call.comm))
    }
}

/// The communicator that an inquiry is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Context {
    /// As who asks calls it.
    theirs: Cid,
    /// As who is asked does.
    ours: Cid,
}

impl Context {
    /// A communicator that this process calls `theirs`, and the one that is asked `ours`.
    pub(super) fn of(theirs: Cid, ours: Cid) -> Self {
        Context { theirs, ours }
    }

    pub(super) fn theirs(self) -> Cid {
        self.theirs
    }

    pub(super) fn ours(self) -> Cid {
        self.ours
    }

    pub(super) fn to_bytes(self) -> [u8; 8] {
        let both = u64::from(self.ours.0) << 32 | u64::from(self.theirs.0);
        both.to_ne_bytes()
    }

    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let both = bytes.try_into().map(u64::from_ne_bytes).ok()?;
        Some(Context {
            theirs: Cid(both as u32),
            ours: Cid((both >> 32) as u32),
        })
    }
}

impl Process {
    /// Asks the next of those ranks of contexts for whom a call waits.
    #[cold]
    pub(super) fn inquire(&self, call: &Waiting, awaited: impl Iterator<Item = (Cid, u32)>) {
        let (now, last) = (clock::ticks(), self.collectives().asked.last.get());
        let early = last.is_some_and(|(_, at)| now.wrapping_sub(at) < clock::ticks_in(LONG));
        if early || call.signature.is_none() {
            return;
        }
        let last = last.map(|(peer, _)| peer);
        let free = awaited.filter_map(|(cid, rank)| {
            let (peer, _) = self.link(|link| link.members(cid).nth(rank as usize))?;
            self.may_ask(peer).then_some((peer, cid, rank))
        });
        // Around the circle of all.
        if let Some((peer, cid, rank)) = free.min_by_key(|it| (Some(it.0) <= last, it.0)) {
            self.ask(call, (cid, rank));
            self.collectives().asked.last.set(Some((peer, now)));
        }
    }

    /// Whether a process can be asked, and does not owe an answer.
    fn may_ask(&self, peer: Peer) -> bool {
        let collectives = self.collectives();
        let questions = collectives.asked.questions.borrow();
        let waits = |question: &Question| question.answer.is_none();
        // The context of the job does not lead to others.
        self.is_of_own_job(peer) && !questions.get(&peer).is_some_and(waits)
    }

    /// Asks a rank of a context how it has made the call that waits, unless it owes an answer.
    #[cold]
    pub(super) fn ask(&self, call: &Waiting, (cid, rank): (Cid, u32)) {
        let found = self.link(|link| link.members(cid).nth(rank as usize));
        let Some((peer, ours)) = found.filter(|(peer, _)| self.may_ask(*peer)) else {
            return;
        };
        let aside = CallControl {
            kind: Kind::Inquiry,
            place: call.place,
        };
        let context = Context { theirs: cid, ours };
        aside.send(self, (JOB, peer.0), &context.to_bytes());
        let question = Question {
            comm: Arc::downgrade(call.comm),
            place: call.place,
            cid,
            rank,
            answer: None,
        };
        let collectives = self.collectives();
        collectives
            .asked
            .questions
            .borrow_mut()
            .insert(peer, question);
    }

    /// Answers what others ask, and hears what they answer: what is wrong if one of them has made
    /// the call otherwise. Does not progress.
    pub(super) fn ask_around(&self, call: &Waiting, backoff: &mut Backoff) -> Option<Error> {
        self.serve(call, backoff);
        let answers = self.take_answers(call);
        answers.into_iter().find_map(|(cid, rank, theirs)| {
            let who = who(call.comm, cid, rank);
            call.signature?.differs(call.comm, &who, theirs)
        })
    }

    /// Answers what others ask, and notes what they answer. Does not progress.
    pub(super) fn serve(&self, call: &Waiting, backoff: &mut Backoff) {
        while let Some((aside, envelope)) = CallControl::find(self, JOB, backoff, CallControl::asks)
        {
            if matches!(aside.kind, Kind::EndInquiry | Kind::End) {
                self.hear_of_end(aside.kind, envelope);
                continue;
            }
            let bytes = CallControl::receive(self, JOB, envelope);
            match aside.kind {
                Kind::Inquiry => self.answer(call, aside.place, envelope, &bytes),
                _ => self.note_answer(Peer(envelope.source), CallSignature::read(&bytes)),
            }
        }
    }

    /// Takes what ranks of contexts have answered of a call.
    pub(super) fn take_answers(&self, call: &Waiting) -> Vec<(Cid, u32, CallSignature)> {
        let mut answers = Vec::new();
        let collectives = self.collectives();
        collectives
            .asked
            .questions
            .borrow_mut()
            .retain(|_, question| {
                let Some(theirs) = question.answer.filter(|_| question.is_of(call)) else {
                    return true;
                };
                answers.push((question.cid, question.rank, theirs));
                false
            });
        answers
    }

    /// Says how the call was made here that another process asks for, if it is under way or was
    /// among the last; and on the board that it is over, if it is.
    fn answer(&self, call: &Waiting, place: u32, envelope: Envelope, inquiry: &[u8]) {
        let signature = Context::read(inquiry).and_then(|context| {
            let asks = (Peer(envelope.source), context.theirs);
            let joined = self.link(|link| link.members(context.ours).any(|it| it == asks));
            let signature = || self.say(call, context.ours, place);
            joined.then(signature).flatten()
        });
        let kind = Kind::Answer;
        let bytes = signature.map(CallSignature::to_bytes);
        let bytes = bytes.as_ref().map_or(&[][..], |bytes| bytes);
        (CallControl { kind, place }).send(self, (JOB, envelope.source), bytes);
    }

    /// What there is to say of the call with that place in a context: `call`, another one under
    /// way, or one of the last of its communicator.
    fn say(&self, call: &Waiting, cid: Cid, place: u32) -> Option<CallSignature> {
        if call.is(cid, place) {
            return call.signature;
        }
        // The call that looks is one of them.
        let under_way = self
            .collectives()
            .find(|request| request.run.try_borrow().ok()?.signature(cid, place));
        under_way.or_else(|| {
            let comm = self.comm_of(cid)?;
            comm.coll.tell_board();
            let mut last = comm.coll.last.iter().filter_map(Cell::get);
            let found = last.find(|(at, _)| is_call((&comm, *at), cid, place));
            let next = comm.coll.place(comm.coll.on_board());
            // It will never be made.
            let end = || CallSignature {
                is_idle: false,
                ..CallSignature::void(Label::FINALIZE)
            };
            // A session may go on.
            let has_session = comm.group.session().is_some();
            let is_over = self.has_come_to_end() && !has_session && is_at_most(next, place);
            found
                .map(|(_, signature)| signature)
                .or_else(|| is_over.then(end))
        })
    }

    /// The communicator of a context, if the program still has it.
    pub(super) fn comm_of(&self, cid: Cid) -> Option<Arc<Comm>> {
        let has = |comm: &Arc<Comm>| comm.cids().any(|of| of == cid);
        if has(&self.comms.world) {
            return Some(self.comms.world.clone());
        }
        self.comms.made().find(has)
    }

    /// That process has answered.
    fn note_answer(&self, peer: Peer, signature: Option<CallSignature>) {
        let collectives = self.collectives();
        let mut questions = collectives.asked.questions.borrow_mut();
        match (questions.get_mut(&peer), signature) {
            (Some(question), Some(signature)) => question.answer = Some(signature),
            _ => drop(questions.remove(&peer)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_inquiry_names_the_communicator() {
        let context = Context {
            theirs: Cid(7),
            ours: Cid(1 << 27),
        };
        assert_eq!(Context::read(&context.to_bytes()), Some(context));
        assert_eq!(Context::read(b"no inquiry"), None);
    }
}

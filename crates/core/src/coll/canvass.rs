//! Who differs from most. Where two members are found to have called different things, all others
//! are asked what they have called before that is told: of three or more the one that is wrong is
//! rarely one of the two that meet. So is the other one of two: a collective may be a part of a
//! call that only its caller knows, such as one of a file.
//!
//! What is known is told after [`PATIENCE`] at the latest: a member that does not come does not
//! answer.

use std::collections::BTreeMap;
use std::time::Duration;

use catena_base::clock;
use catena_hang::{Member, Names};
use catena_objects::error::Error;

use super::backoff::Backoff;
use super::control::Waiting;
use super::mismatch::{calls_differ, different, kinds_differ, lengths_differ};
use super::report::is_final;
use super::signature::CallSignature;
use super::tag::Label;
use crate::comm::Comm;
use crate::process::Process;

/// How long answers are awaited.
const PATIENCE: Duration = Duration::from_millis(300);

/// Most members that are asked.
const MOST: u32 = 128;

/// What members say, by their ranks.
type Known = BTreeMap<u32, Said>;

/// What a member says.
#[derive(Clone, Copy, Debug)]
struct Said {
    call: CallSignature,
    /// It stands in a record of a board, whose lengths are those of payloads, and not those of
    /// calls: they can be compared with each other alone.
    is_recorded: bool,
    /// The member itself has said so, and what it is a part of.
    is_answered: bool,
}

/// What members have called in one place among the calls of their communicator.
#[derive(Debug)]
pub struct Canvass {
    /// What is told if no more is found.
    error: Error,
    known: Known,
    /// When it ends, tick.
    until: u64,
    asked: bool,
    backoff: Backoff,
}

impl Canvass {
    /// Begins to ask, as two members have called different things; `None` between two groups.
    pub fn begin(comm: &Comm, error: &Error) -> Option<Box<Canvass>> {
        (!comm.is_inter()).then(|| {
            Box::new(Canvass {
                error: error.clone(),
                known: BTreeMap::new(),
                until: clock::ticks().wrapping_add(clock::ticks_in(PATIENCE)),
                asked: false,
                backoff: Backoff::default(),
            })
        })
    }

    /// What a member's record on the board of the communicator says; in it are the lengths of calls
    /// if they are `whole`.
    pub fn know(&mut self, rank: u32, call: CallSignature, whole: bool) {
        self.known.entry(rank).or_insert(Said {
            call,
            is_recorded: !whole,
            is_answered: false,
        });
    }

    /// What a member has answered; in its record stands what others compare, but not what it is a
    /// part of.
    fn answered(&mut self, rank: u32, call: CallSignature) {
        let said = self.known.entry(rank).or_insert(Said {
            call,
            is_recorded: false,
            is_answered: true,
        });
        (said.call.function, said.is_answered) = (call.function, true);
    }

    /// Asks, and hears; what is to be told once it is known. `call` is that of this member.
    pub fn go_on(&mut self, process: &Process, call: &Waiting) -> Option<Error> {
        let comm = call.comm;
        if !self.asked {
            self.asked = true;
            if let Some(mine) = call.signature {
                self.answered(comm.rank, mine);
            }
            let others = (0..comm.size()).filter(|rank| *rank != comm.rank);
            for rank in others.take(MOST as usize) {
                process.ask(call, (comm.cid, rank));
            }
        }
        if let Some(error) = call.reported(process, &mut self.backoff).filter(is_final) {
            return Some(error);
        }
        process.serve(call, &mut self.backoff);
        for (cid, rank, said) in process.take_answers(call) {
            if cid == comm.cid {
                self.answered(rank, said);
            }
        }
        let is_over = (clock::ticks().wrapping_sub(self.until) as i64) >= 0;
        let said = self.known.values().filter(|it| it.is_answered);
        let all = said.count() as u64 >= u64::from(comm.size().min(MOST));
        let lengths_count = call.signature.is_some_and(|it| it.bytes != 0);
        (all || is_over).then(|| {
            let found = verdict(&self.known, lengths_count);
            found.unwrap_or_else(|| self.error.clone())
        })
    }
}

/// Members that have called the same.
struct Party {
    said: CallSignature,
    ranks: Vec<u32>,
}

impl Party {
    fn who(&self) -> String {
        let members = self.ranks.iter().map(|&rank| Member { job: 0, rank });
        Names::of_job(0).all(members)
    }
}

/// Members by what they say, the fewest first; of as many those that are at their end.
fn parties<'k, T: PartialEq>(
    known: impl Iterator<Item = (&'k u32, &'k Said)>,
    what: impl Fn(&CallSignature) -> T,
) -> Vec<Party> {
    let mut parties: Vec<Party> = Vec::new();
    for (&rank, Said { call, .. }) in known {
        match parties.iter_mut().find(|it| what(&it.said) == what(call)) {
            Some(party) => party.ranks.push(rank),
            None => parties.push(Party {
                said: *call,
                ranks: vec![rank],
            }),
        }
    }
    parties.sort_by_key(|party| {
        let is_end = party.said.label.is(Label::FINALIZE);
        (party.ranks.len(), !is_end, party.ranks[0])
    });
    parties
}

/// What is wrong by what members say; `None` if that says nothing: nobody differs, or there are no
/// three that say it. Lengths and kinds of elements count if all members must have the same.
fn verdict(known: &Known, lengths_count: bool) -> Option<Error> {
    // Of calls that are parts of others only those are compared of which that is known.
    let are_parts = known.values().any(|it| it.call.words().is_some());
    let told = known.iter();
    let told = told.filter(|(_, it)| !are_parts || it.is_answered);
    let calls = parties(told, |said| match said.words() {
        Some(words) => (None, 0, false, words),
        None => (said.label.what, said.label.detail, said.is_persistent, ""),
    });
    if known.len() < 3 && !are_parts {
        return None;
    }
    let idle = known.iter().find(|(_, it)| it.call.is_idle);
    if let Some((rank, idle)) = idle
        && let [_, most] = &calls[..]
        && most.said.label.is(Label::FIRST)
    {
        let idle = (format!("rank {rank}"), idle.call);
        return Some(calls_differ(idle, (most.who(), most.said)));
    }
    if calls.len() > 1 {
        let each = calls.iter().take(3);
        let each = each.map(|party| format!("{} called {}", party.who(), party.said));
        return Some(different(&each.collect::<Vec<_>>().join(", and ")));
    }
    let are_recorded = known.values().any(|it| it.is_recorded);
    let alike = || {
        known
            .iter()
            .filter(|(_, it)| it.is_recorded == are_recorded)
    };
    if !lengths_count || alike().count() < 3 {
        return None;
    }
    let lengths = parties(alike(), |said| said.bytes);
    if let [few, .., most] = &lengths[..] {
        let (few, most) = ((few.who(), few.said.bytes), (most.who(), most.said.bytes));
        return Some(lengths_differ(&calls[0].said, few, most));
    }
    let kinds = parties(alike(), |said| said.label.kinds);
    let [few, .., most] = &kinds[..] else {
        return None;
    };
    let (mine, theirs) = (most.said.label, few.said.label);
    mine.clashes(theirs)
        .then(|| kinds_differ((&few.who(), theirs), (&most.who(), mine)))
}

#[cfg(test)]
mod tests {
    use catena_coll::Collective;
    use catena_datatype::Kinds;

    use super::*;

    fn said(what: Collective, detail: u32, bytes: u64) -> CallSignature {
        CallSignature {
            bytes,
            is_idle: false,
            ..CallSignature::void(Label::of(what as u32, detail))
        }
    }

    fn told(all: &[CallSignature]) -> Option<String> {
        let said = all.iter().map(|&call| Said {
            call,
            is_recorded: false,
            is_answered: true,
        });
        let known = (0..).zip(said).collect();
        Some(verdict(&known, true)?.text().to_string())
    }

    #[test]
    fn who_differs_from_most_comes_first() {
        let (bcast, barrier) = (
            said(Collective::Bcast, 0, 4),
            said(Collective::Barrier, 0, 0),
        );
        let text = told(&[bcast, bcast, barrier, bcast]).expect("one differs");
        assert!(
            text.ends_with(
                "rank 2 called MPI_Barrier, and ranks 0, 1 and 3 called MPI_Bcast with root 0"
            ),
            "{text}"
        );
        let text = told(&[barrier, bcast, bcast]).expect("one differs");
        assert!(
            text.contains("rank 0 called MPI_Barrier, and ranks 1 and 2"),
            "{text}"
        );
        assert_eq!(told(&[bcast, bcast, bcast]), None);
        // Kinds of elements are those that the one who looks expects.
        let kinds = Kinds::of_class(3);
        let end = CallSignature {
            label: Label {
                kinds,
                ..Label::FINALIZE
            },
            ..barrier
        };
        let text = told(&[bcast, bcast, end, end]).expect("two differ");
        assert!(
            text.contains("ranks 2 and 3 called MPI_Finalize, and ranks 0 and 1 called MPI_Bcast"),
            "{text}"
        );
        assert_eq!(told(&[bcast, barrier]), None, "two say it already");
    }

    #[test]
    fn lengths_and_kinds_are_told_where_calls_are_alike() {
        let few = said(Collective::Allreduce, 1, 4);
        let more = CallSignature { bytes: 8, ..few };
        let text = told(&[more, few, few]).expect("one differs");
        assert!(
            text.contains("MPI_Allreduce differ: rank 0 passed 8 bytes, and ranks 1 and 2 4"),
            "{text}"
        );
        let of = |class| CallSignature {
            label: Label {
                kinds: Kinds::of_class(class),
                ..few.label
            },
            ..few
        };
        let text = told(&[of(3), of(3), of(7)]).expect("one differs");
        assert!(
            text.contains(
                "rank 2 passed 4-byte floating-point numbers, and ranks 0 and 1 4-byte integers"
            ),
            "{text}"
        );
    }
}

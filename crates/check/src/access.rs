//! Accesses to the memory of windows, and which of them conflict.

use catena_abi::Datatype;

use crate::site::Site;
use crate::tell::{Finding, Kind};
use crate::types::{self, Run, layout};

/// Most runs of an access that are told to others; of more it is not known where they are.
pub const RUNS: usize = 64;

/// What an access does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Act {
    Read,
    Write,
    /// A read or write that is atomic for each element, such as an accumulation.
    Atomic,
}

/// What the function of that name does with the memory of a target.
pub fn act(name: &str) -> Option<Act> {
    let bare = name.trim_start_matches("MPIX_").trim_start_matches("MPI_");
    let bare = bare.trim_end_matches("_c").trim_end_matches("_notify");
    Some(match bare {
        "Put" | "Rput" => Act::Write,
        "Get" | "Rget" => Act::Read,
        "Accumulate" | "Raccumulate" | "Get_accumulate" | "Rget_accumulate" | "Fetch_and_op"
        | "Compare_and_swap" => Act::Atomic,
        _ => return None,
    })
}

/// When an access is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Which clock that is told by; 0 for the whole of an epoch that all have in common.
    pub clock: u64,
    /// It had begun by then.
    pub from: u64,
    /// It was not complete by then.
    pub to: u64,
}

impl Span {
    /// All of an epoch.
    pub const EPOCH: Span = Span {
        clock: 0,
        from: 0,
        to: u64::MAX,
    };

    /// Whether nothing can order two: either had begun before the other one was complete. Of what
    /// different clocks tell that is not known.
    fn meets(&self, other: &Span) -> bool {
        self.clock == other.clock && self.from < other.to && other.from < self.to
    }
}

/// An access.
#[derive(Clone, Debug)]
pub struct Access {
    pub target: i32,
    pub act: Act,
    /// In units of the target's.
    pub displacement: i64,
    /// Bytes from there on; empty if that is not known.
    pub runs: Vec<Run>,
    pub span: Span,
    pub site: Site,
}

impl Access {
    /// One to `count` elements of a type; `None` if it reaches no byte.
    pub fn new(
        target: i32,
        act: Act,
        displacement: i64,
        (ty, count): (Datatype, i64),
        site: Site,
    ) -> Option<Access> {
        let shape = types::shape(ty)?;
        if count <= 0 || shape.size <= 0 {
            return None;
        }
        let runs = match shape.is_solid() {
            true => vec![shape.hull(count)],
            false => layout(ty, count).map_or(Vec::new(), |it| it.to_vec()),
        };
        Some(Access {
            target,
            act,
            displacement,
            runs,
            span: Span::EPOCH,
            site,
        })
    }

    /// Whether two accesses of one rank to the same target conflict, if nothing orders them.
    pub fn conflicts(&self, other: &Access, unit: i64) -> bool {
        self.target == other.target
            && clash(self.act, other.act)
            && common(
                (&self.runs, self.displacement),
                (&other.runs, other.displacement),
                unit,
            ) > 0
    }
}

/// Whether accesses to the same memory may not happen at the same time.
pub fn clash(one: Act, other: Act) -> bool {
    !matches!(
        (one, other),
        (Act::Read, Act::Read) | (Act::Atomic, Act::Atomic)
    )
}

/// How many bytes two accesses have in common.
pub fn common(one: (&[Run], i64), other: (&[Run], i64), unit: i64) -> i64 {
    let by = (other.1 - one.1).saturating_mul(unit);
    let (mut i, mut j, mut sum) = (0, 0, 0);
    while let (Some(a), Some(b)) = (one.0.get(i), other.0.get(j)) {
        let b = (b.0 + by, b.1 + by);
        sum += (a.1.min(b.1) - a.0.max(b.0)).max(0);
        match a.1 < b.1 {
            true => i += 1,
            false => j += 1,
        }
    }
    sum
}

/// Two accesses of this rank that conflict.
pub fn conflict(access: &Access, other: &Access, site: &impl Fn() -> Site) -> Finding {
    let text = format!(
        "it accesses memory of rank {} that {} of this rank accesses in the same epoch",
        access.target, other.site.call
    );
    let finding = Finding::error(Kind::Conflict, site(), text);
    let finding = finding.besides("the other access", &other.site);
    finding.remedy(
        "synchronize between the two, as by MPI_Win_flush or MPI_Win_fence, or use accumulations",
    )
}

/// An access of any rank to this rank's memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    pub origin: i32,
    pub act: Act,
    pub displacement: i64,
    pub runs: Vec<Run>,
    pub span: Span,
    /// The call, and where it stands in the program.
    pub place: String,
}

/// Accesses of different ranks to this rank's memory that conflict: the first for each pair of
/// places.
pub fn conflicts(told: &[Told], unit: i64, site: &impl Fn() -> Site) -> Vec<Finding> {
    let mut told: Vec<&Told> = told.iter().collect();
    told.sort_by_key(|it| it.span.from);
    let mut pairs: Vec<(&str, &str)> = Vec::new();
    let mut found = Vec::new();
    for (i, &one) in told.iter().enumerate() {
        for &other in &told[i + 1..] {
            if other.span.from >= one.span.to {
                break;
            }
            let (first, second) = match one.origin < other.origin {
                true => (one, other),
                false => (other, one),
            };
            let pair = (first.place.as_str(), second.place.as_str());
            if one.origin == other.origin
                || !clash(one.act, other.act)
                || !one.span.meets(&other.span)
                || pairs.contains(&pair)
            {
                continue;
            }
            let bytes = common(
                (&one.runs, one.displacement),
                (&other.runs, other.displacement),
                unit,
            );
            if bytes == 0 {
                continue;
            }
            pairs.push(pair);
            let (when, remedy) = match one.span.clock {
                0 => (
                    "in one epoch",
                    "let the end of an epoch stand between the two, access different memory, or \
                     use accumulations",
                ),
                _ => (
                    "at the same time, with shared locks",
                    "lock with MPI_LOCK_EXCLUSIVE, use accumulations, or let the one be complete \
                     (MPI_Win_flush) and tell so, by a message or a barrier, before the other one \
                     begins",
                ),
            };
            let text = format!(
                "{} of rank {} and {} of rank {} access the same {bytes} bytes of this rank's \
                 window {when}",
                first.place, first.origin, second.place, second.origin
            );
            found.push(Finding::error(Kind::Conflict, site(), text).remedy(remedy));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(origin: i32, act: Act, displacement: i64, len: i64) -> Told {
        Told {
            origin,
            act,
            displacement,
            runs: vec![(0, len)],
            span: Span::EPOCH,
            place: format!("{act:?} of {origin}"),
        }
    }

    fn count(told: &[Told], unit: i64) -> usize {
        conflicts(told, unit, &|| Site::in_full("MPI_Win_fence")).len()
    }

    #[test]
    fn accesses_of_two_ranks_to_the_same_bytes_conflict() {
        use Act::{Atomic, Read, Write};
        assert_eq!(count(&[told(0, Write, 0, 8), told(1, Write, 1, 8)], 4), 1);
        assert_eq!(count(&[told(0, Write, 0, 8), told(1, Write, 2, 8)], 4), 0);
        assert_eq!(count(&[told(0, Read, 0, 8), told(1, Read, 0, 8)], 4), 0);
        assert_eq!(count(&[told(0, Atomic, 0, 8), told(1, Atomic, 0, 8)], 4), 0);
        assert_eq!(count(&[told(0, Atomic, 0, 8), told(1, Read, 0, 8)], 4), 1);
        assert_eq!(count(&[told(0, Write, 0, 8), told(0, Write, 0, 8)], 4), 0);
    }

    #[test]
    fn what_is_complete_before_another_begins_does_not_conflict() {
        let at = |origin, clock, from, to| Told {
            span: Span { clock, from, to },
            ..told(origin, Act::Write, 0, 8)
        };
        assert_eq!(count(&[at(0, 1, 10, 20), at(1, 1, 15, 30)], 1), 1);
        assert_eq!(count(&[at(0, 1, 10, 20), at(1, 1, 20, 30)], 1), 0);
        assert_eq!(count(&[at(0, 1, 20, 30), at(1, 1, 10, 20)], 1), 0);
        assert_eq!(count(&[at(0, 1, 10, 20), at(1, 2, 15, 30)], 1), 0);
        assert_eq!(count(&[at(0, 1, 10, 20), told(1, Act::Write, 0, 8)], 1), 0);
        let many = (0..9).map(|i| at(i, 1, 10 * u64::from(i as u32), 1000));
        assert_eq!(count(&many.collect::<Vec<_>>(), 1), 36);
    }

    #[test]
    fn names_say_what_is_done() {
        assert_eq!(act("MPI_Rput_c"), Some(Act::Write));
        assert_eq!(act("MPIX_Get_notify"), Some(Act::Read));
        assert_eq!(act("MPI_Fetch_and_op"), Some(Act::Atomic));
        assert_eq!(act("MPI_Win_get_info"), None);
    }
}

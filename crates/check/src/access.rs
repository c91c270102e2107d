//! Accesses to the memory of windows, and which of them conflict.

use std::collections::BTreeMap;

use catena_abi::Datatype;

use crate::site::Site;
use crate::tell::{Finding, Kind};
use crate::types::{self, Run, layout};

/// Most runs of an access that are told to others; of more it is not known where they are.
pub const RUNS: usize = 64;

/// What an access does.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
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

    /// Whether nothing has completed it yet, as far as is known.
    pub fn is_open(&self) -> bool {
        self.span.to == u64::MAX
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

/// The bytes of a window's memory from the first to the last one of an access; `None` if that is
/// not known.
fn reach(runs: &[Run], displacement: i64, unit: i64) -> Option<(i64, i64)> {
    let at = displacement.saturating_mul(unit);
    let first = runs.iter().map(|it| it.0).min()?;
    let end = runs.iter().map(|it| it.1).max()?;
    Some((at.saturating_add(first), at.saturating_add(end)))
}

/// Accesses to one memory by what they do, and by the bytes that they reach.
#[derive(Debug)]
struct ByPlace<T> {
    all: BTreeMap<(Act, i64, i64, u64), T>,
    /// Bytes of the longest one.
    longest: i64,
}

impl<T> Default for ByPlace<T> {
    fn default() -> Self {
        ByPlace {
            all: BTreeMap::new(),
            longest: 0,
        }
    }
}

impl<T> ByPlace<T> {
    fn add(&mut self, act: Act, (first, end): (i64, i64), one: T) {
        self.longest = self.longest.max(end.saturating_sub(first));
        let number = self.all.len() as u64;
        self.all.insert((act, first, end, number), one);
    }

    /// Those that do so and reach just these bytes.
    fn at(&self, act: Act, (first, end): (i64, i64)) -> impl Iterator<Item = &T> {
        let range = (act, first, end, 0)..=(act, first, end, u64::MAX);
        self.all.range(range).map(|(_, it)| it)
    }

    /// Those that an access may not meet which does so and reaches these bytes.
    fn clashing(&self, act: Act, (first, end): (i64, i64)) -> impl Iterator<Item = &T> {
        let from = first.saturating_sub(self.longest);
        let others = [Act::Read, Act::Write, Act::Atomic].into_iter();
        let near = others
            .filter(move |other| clash(act, *other))
            .flat_map(move |other| {
                let range = (other, from, i64::MIN, 0)..(other, end, i64::MIN, 0);
                self.all.range(range)
            });
        near.filter(move |((_, _, its_end, _), _)| *its_end > first)
            .map(|(_, it)| it)
    }
}

/// What this rank has done with a window since it has synchronized with each target. Cost: that of
/// a search, however much that is.
#[derive(Debug, Default)]
pub struct Own(BTreeMap<i32, ByPlace<Access>>);

impl Own {
    /// Notes one, at a target with that unit; whether it is not the same as another one.
    pub fn add(&mut self, access: &Access, unit: i64) -> bool {
        let Some(bytes) = reach(&access.runs, access.displacement, unit) else {
            return true;
        };
        let its = self.0.entry(access.target).or_default();
        let is_same = |it: &Access| (&it.runs, it.site.key()) == (&access.runs, access.site.key());
        let is_new = !its.at(access.act, bytes).any(is_same);
        if is_new {
            its.add(access.act, bytes, access.clone());
        }
        is_new
    }

    /// One that conflicts with an access.
    pub fn conflict(&self, access: &Access, unit: i64) -> Option<&Access> {
        let bytes = reach(&access.runs, access.displacement, unit)?;
        let its = self.0.get(&access.target)?;
        let mut clashing = its.clashing(access.act, bytes);
        clashing.find(|it| it.conflicts(access, unit))
    }

    /// Forgets those to a target, or to all if none is named.
    pub fn forget(&mut self, target: Option<i32>) {
        match target {
            Some(target) => drop(self.0.remove(&target)),
            None => self.0.clear(),
        }
    }

    /// Forgets what was read of a target, or of all.
    pub fn forget_reads(&mut self, target: Option<i32>) {
        let its = self.0.iter_mut();
        let its = its.filter(|(it, _)| target.is_none_or(|target| target == **it));
        its.for_each(|(_, its)| {
            // Those that only read come first.
            its.all = its.all.split_off(&(Act::Write, i64::MIN, i64::MIN, 0));
        });
    }
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
    let mut before: ByPlace<&Told> = ByPlace::default();
    for other in told {
        let Some(bytes) = reach(&other.runs, other.displacement, unit) else {
            continue;
        };
        for &one in before.clashing(other.act, bytes) {
            let (first, second) = match one.origin < other.origin {
                true => (one, other),
                false => (other, one),
            };
            let pair = (first.place.as_str(), second.place.as_str());
            if one.origin == other.origin || !one.span.meets(&other.span) || pairs.contains(&pair) {
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
        before.add(other.act, bytes, other);
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

    /// A sieve, or a histogram: each access is compared with those only that are near.
    #[test]
    fn many_accesses_take_no_time() {
        let access = |act, displacement| Access {
            target: 3,
            act,
            displacement,
            runs: vec![(0, 8)],
            span: Span::EPOCH,
            site: Site::in_full("MPI_Accumulate"),
        };
        let mut own = Own::default();
        assert!(own.add(&access(Act::Atomic, 0), 8));
        for number in 0..200_000 {
            assert!(!own.add(&access(Act::Atomic, 0), 8), "it is the same");
            let another = access(Act::Write, number + 1);
            assert!(own.conflict(&another, 8).is_none());
            assert!(own.add(&another, 8));
        }
        assert!(own.conflict(&access(Act::Read, 0), 8).is_some());
        assert!(own.conflict(&access(Act::Read, 200_001), 8).is_none());
        own.add(&access(Act::Read, 300_000), 8);
        own.forget_reads(None);
        assert!(own.conflict(&access(Act::Write, 300_000), 8).is_none());
        assert!(own.conflict(&access(Act::Read, 7), 8).is_some());
        own.forget(Some(2));
        assert!(own.conflict(&access(Act::Read, 7), 8).is_some());
        own.forget(Some(3));
        assert!(own.conflict(&access(Act::Read, 7), 8).is_none());
        let mut all: Vec<_> = (0..200_000)
            .map(|at| told(at as i32 % 2, Act::Write, at, 8))
            .collect();
        assert_eq!(count(&all, 8), 0);
        all.push(told(2, Act::Read, 700, 8));
        assert_eq!(count(&all, 8), 1);
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

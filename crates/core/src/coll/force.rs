//! Settings that choose how collectives run. They are for people who measure:
//! left alone, the board and the model of the machine decide.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::tag::COLL_NUMBER_BITS;
use catena_board::{COLL_DIRECT, COLL_WEIGH};
use catena_coll::{Collective, algorithms};
use catena_settings::{Origin, Setting, Value, changes, nearest, setting};

/// An algorithm of the collective with number `C` in [`Collective::ALL`], or
/// `auto`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Forced<const C: usize>(u8);

impl<const C: usize> Forced<C> {
    /// The cheapest one.
    pub const AUTO: Self = Forced(0);

    /// Name of the algorithm; `None` for `auto`.
    pub fn name(self) -> Option<&'static str> {
        (self != Forced::AUTO).then(|| names(C)[usize::from(self.0)])
    }
}

/// What the setting of a collective can say.
fn names(collective: usize) -> &'static [&'static str] {
    static NAMES: LazyLock<Vec<Vec<&'static str>>> = LazyLock::new(|| {
        let of = |c: &Collective| algorithms(*c).iter().map(|a| a.name);
        let all = Collective::ALL.iter();
        all.map(|c| std::iter::once("auto").chain(of(c)).collect())
            .collect()
    });
    &NAMES[collective]
}

impl<const C: usize> Value for Forced<C> {
    const KIND: &'static str = "choice";

    fn choices() -> &'static [&'static str] {
        names(C)
    }

    fn parse(text: &str) -> Result<Self, String> {
        let names = names(C);
        if let Some(at) = names.iter().position(|n| n.eq_ignore_ascii_case(text)) {
            return Ok(Forced(at as u8));
        }
        let hint = match nearest(text, names.iter().copied()) {
            Some(near) => format!(" (did you mean {near}?)"),
            None => String::new(),
        };
        Err(format!("it must be one of: {}{hint}", names.join(", ")))
    }

    fn show(self) -> String {
        names(C)[usize::from(self.0)].to_owned()
    }

    fn to_bits(self) -> u64 {
        self.0.into()
    }

    fn from_bits(bits: u64) -> Self {
        Forced(bits as u8)
    }
}

setting! {
    /// Whether reductions give the same bits wherever ranks are: on one node or several, on
    /// whichever of them, with or without cores of their own.
    ///
    /// They go by messages then, by algorithms that are chosen by the number of ranks and the
    /// length alone. Results of another number of ranks may differ all the same, and so may sums
    /// that are made by `MPI_Accumulate` or from messages of any source.
    pub static COLL_DETERMINISTIC: bool = false;
    scope: AllEqual,
    level: User,
    change: Anytime,

    /// Whether collectives of ranks on one node go through a board in shared
    /// memory instead of messages. Persistent ones are asked when they are made.
    ///
    /// A collective whose algorithm is forced always uses messages.
    pub static COLL_NODE: bool = true;
    scope: AllEqual,
    level: Tuner,
    change: Anytime,

    /// Whether collectives that are only started, such as `MPI_Ibcast`, or persistent go
    /// through boards, too.
    ///
    /// Those of a communicator take place one after the other, and blocking
    /// calls on it after them. Persistent ones have a board each, or messages if there
    /// are very many.
    pub static COLL_NODE_STARTED: bool = true;
    scope: AllEqual,
    level: Tuner,
    change: Anytime,
}

macro_rules! forced {
    ($($name:ident $what:ident $tuned:ident $doc:literal;)*) => {
        setting! {$(
            #[doc = $doc]
            ///
            /// It is used wherever it can serve the call. `auto` takes the
            /// cheapest by a model of the machine.
            pub static $name: Forced<{ Collective::$what as usize }> = Forced::AUTO;
            scope: AllEqual,
            level: Tuner,
            change: Anytime,
            tuned: $tuned,
        )*}

        /// All settings of collectives.
        pub static SETTINGS: &[&dyn Setting] = &[&COLL_DETERMINISTIC, &COLL_NODE,
            &COLL_NODE_STARTED, &COLL_NUMBER_BITS, &COLL_DIRECT, &COLL_WEIGH, $(&$name),*];

        /// The algorithm that the user wants.
        pub fn forced(what: Collective) -> Option<&'static str> {
            match what {
                $(Collective::$what => $name.untuned().name(),)*
            }
        }

        /// The algorithm that a profile names for messages between processes of one job, all of
        /// which have the same profile. It keeps nothing off a board.
        pub(super) fn tuned(what: Collective) -> Option<&'static str> {
            match what {
                $(Collective::$what => {
                    let is_tuned = $name.origin() == Origin::Tuned;
                    $name.get().name().filter(|_| is_tuned)
                })*
            }
        }
    };
}

forced! {
    COLL_BARRIER Barrier Together "Algorithm of MPI_Barrier.";
    COLL_BCAST Bcast Together "Algorithm of MPI_Bcast.";
    COLL_GATHER Gather Together "Algorithm of MPI_Gather.";
    COLL_GATHERV Gatherv Together "Algorithm of MPI_Gatherv.";
    COLL_SCATTER Scatter Together "Algorithm of MPI_Scatter.";
    COLL_SCATTERV Scatterv Together "Algorithm of MPI_Scatterv.";
    COLL_ALLGATHER Allgather Together "Algorithm of MPI_Allgather.";
    COLL_ALLGATHERV Allgatherv Together "Algorithm of MPI_Allgatherv.";
    COLL_ALLTOALL Alltoall Together "Algorithm of MPI_Alltoall.";
    COLL_ALLTOALLV Alltoallv Together "Algorithm of MPI_Alltoallv and MPI_Alltoallw.";
    COLL_REDUCE Reduce Never "Algorithm of MPI_Reduce.";
    COLL_ALLREDUCE Allreduce Never "Algorithm of MPI_Allreduce.";
    COLL_REDUCE_SCATTER ReduceScatter Never "Algorithm of MPI_Reduce_scatter and MPI_Reduce_scatter_block.";
    COLL_SCAN Scan Never "Algorithm of MPI_Scan.";
    COLL_EXSCAN Exscan Never "Algorithm of MPI_Exscan.";
}

/// Whether the algorithm of a collective may depend on nothing but the call.
pub(super) fn is_fixed(what: Collective) -> bool {
    what.combines() && COLL_DETERMINISTIC.get()
}

/// Whether calls of this kind may run on a board; alike on all ranks.
#[inline]
pub fn allows_board(what: Collective) -> bool {
    let known = MAY.load(Relaxed);
    let known = if known >> 32 == u64::from(changes()) {
        known
    } else {
        look_again()
    };
    known & (1 << what as u32) != 0
}

/// A bit for each collective that may, and above them the number of changes of
/// settings at which that was true.
static MAY: AtomicU64 = AtomicU64::new(u64::MAX);

#[cold]
fn look_again() -> u64 {
    let now = u64::from(changes());
    let may = |c: &&Collective| COLL_NODE.get() && forced(**c).is_none() && !is_fixed(**c);
    let may = Collective::ALL.iter().filter(may);
    let known = may.fold(now << 32, |bits, &c| bits | 1 << c as u32);
    MAY.store(known, Relaxed);
    known
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_collective_has_its_setting() {
        for (at, what) in Collective::ALL.into_iter().enumerate() {
            assert_eq!(at, what as usize, "the numbers are places in the list");
            let name = format!("COLL_{}", what.name().to_uppercase());
            let found = SETTINGS.iter().find(|s| s.name() == name);
            let found = found.unwrap_or_else(|| panic!("there is no {name}"));
            let known = algorithms(what).iter().map(|a| a.name);
            assert!(
                found.choices()[1..].iter().copied().eq(known),
                "choices of {name}"
            );
        }
    }

    #[test]
    fn a_change_is_noticed() {
        assert!(allows_board(Collective::Scan));
        COLL_SCAN.set_text("auto").unwrap();
        assert!(allows_board(Collective::Scan));
        let other = COLL_SCAN.choices()[1];
        COLL_SCAN.set_text(other).unwrap();
        assert!(!allows_board(Collective::Scan));
        assert!(allows_board(Collective::Exscan));
        COLL_SCAN.set_text("auto").unwrap();
        assert!(allows_board(Collective::Scan));
    }

    #[test]
    fn names_are_read_and_misspelt_ones_explained() {
        type Allreduce = Forced<{ Collective::Allreduce as usize }>;
        assert_eq!(Allreduce::parse("auto"), Ok(Forced::AUTO));
        assert_eq!(Allreduce::parse("Ring").unwrap().name(), Some("ring"));
        let complaint = Allreduce::parse("rnig").unwrap_err();
        assert!(complaint.contains("did you mean ring?"), "{complaint}");
    }
}

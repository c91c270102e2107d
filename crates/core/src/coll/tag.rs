//! What the tag of a collective's messages says (31 bits):
//!
//! | bits, from the top | what                                                |
//! |--------------------|-----------------------------------------------------|
//! | 4                  | the [`Collective`]; ones: one among neighbours      |
//! | 5 to 10            | its root, or its operation; more for more ranks     |
//! |                    | (MPI_Reduce, 6 to 12: its operation, and its root)  |
//! | 1                  | whether the operation is persistent                 |
//! | the rest           | number of the call on its communicator              |
//!
//! All members number their calls alike. Those that make persistent operations
//! have numbers of their own, which their operations keep: members may start
//! several of these in different orders (MPI-5, 6.13). So a message with the number of a call
//! here whose other bits differ comes from a member that called something else.
//! Matching is by the whole tag: such a message is never taken for another, and
//! whoever waits in vain finds it.
//!
//! Negative tags are control messages, of agreements (`comm`) and of calls (`control`).

use std::cell::Cell;
use std::fmt;

use catena_abi as abi;
use catena_coll::Collective;
use catena_coll::inter::Root;

const TAG_BITS: u32 = 31;
const KIND_BITS: u32 = 4;
/// In place of the number of a [`Collective`].
const NEIGHBOR: u32 = (1 << KIND_BITS) - 1;

/// What all members must call alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label {
    /// The collective; `None` is one among neighbours.
    pub what: Option<Collective>,
    /// Rank of the root, and from bit [`ROOT_BITS`] on the [`operation`] of a rooted reduction; else
    /// the operation. Where there is less room its lowest bits count.
    pub detail: u32,
}

/// Room for the rank of a root: with an operation it takes all but one bit of what a board has.
const ROOT_BITS: u32 = 16;
/// Room for an operation.
const OPERATION_BITS: u32 = 5;
/// Room for the rank of a root, or some of its bits, beside an operation in a tag.
const BESIDE: u32 = 7;

impl Label {
    /// What members tell each other before their first collective on a board.
    pub const FIRST: Label = Label::own(1);
    /// Before their first one among neighbours there.
    pub const EDGES: Label = Label::own(2);

    /// In `MPI_Comm_shrink`, on a board.
    pub const SHRINK: Label = Label::own(3);

    /// A call of the library itself, in which all tell all: an allgather of the program has no
    /// detail.
    const fn own(detail: u32) -> Self {
        let what = Some(Collective::Allgather);
        Label { what, detail }
    }

    /// The number of what was called.
    pub fn number(self) -> u32 {
        self.what.map_or(NEIGHBOR, |what| what as u32)
    }

    /// That of such a number.
    pub fn of(number: u32, detail: u32) -> Self {
        let what = Collective::ALL.get(number as usize).copied();
        Label { what, detail }
    }
}

/// Number of a reduction operation; 0 for a function of the program.
pub fn operation(op: abi::Op) -> u32 {
    let number = op.0.wrapping_sub(abi::consts::OP_NULL.0) as u32;
    if number >> OPERATION_BITS == 0 {
        number
    } else {
        0
    }
}

/// Detail of a rooted collective at rank `me`, with the operation of a reduction.
#[inline]
pub fn rooted(me: u32, root: Root, operation: u32) -> u32 {
    let rank = match root {
        Root::There(rank) => rank,
        Root::Here => me,
        Root::Near => 0,
    };
    operation << ROOT_BITS | rank & low(ROOT_BITS)
}

/// Which call it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Number {
    /// Among those of its kind on the communicator.
    pub count: u32,
    /// It made a persistent operation.
    pub persistent: bool,
}

/// How many bits are for what; alike for all members.
#[derive(Clone, Copy, Debug)]
pub struct Cut {
    /// Bits of a rank.
    rank: u32,
}

impl Cut {
    /// For groups of at most so many ranks.
    #[inline]
    pub fn new(ranks: u32) -> Self {
        Cut {
            rank: u32::BITS - (ranks - 1).leading_zeros(),
        }
    }

    /// Bits of the operation beside a root, and of the rest of the detail.
    #[inline]
    fn room(self, what: Option<Collective>) -> (u32, u32) {
        match what {
            Some(Collective::Reduce) => (OPERATION_BITS, self.rank.clamp(1, BESIDE)),
            _ => (0, self.rank.clamp(OPERATION_BITS, 10)),
        }
    }

    /// Bits of the number.
    #[inline]
    fn number(self, what: Option<Collective>) -> u32 {
        let (operation, rest) = self.room(what);
        TAG_BITS - KIND_BITS - operation - rest - 1
    }

    /// Calls in a row, the last of that kind, that can be told apart.
    #[inline]
    fn window(self, what: Option<Collective>) -> u32 {
        1 << self.number(what)
    }

    /// The bits that say which call it is.
    #[inline]
    fn bits(self, what: Option<Collective>, number: Number) -> u32 {
        let bits = self.number(what);
        u32::from(number.persistent) << bits | number.count & low(bits)
    }

    /// The tag of a call.
    #[inline]
    pub fn tag(self, label: Label, number: Number) -> i32 {
        let (operation, rest) = self.room(label.what);
        let beside = label.detail >> ROOT_BITS & low(operation);
        let detail = beside << rest | label.detail & low(rest);
        let bits = label.number() << (operation + rest) | detail;
        (bits << (self.number(label.what) + 1) | self.bits(label.what, number)) as i32
    }

    /// What a tag was made of, as far as there is room.
    pub fn label_of(self, tag: i32) -> Label {
        let what = kind_of(tag);
        let (operation, rest) = self.room(what);
        let detail = tag as u32 >> (self.number(what) + 1) & low(operation + rest);
        Label {
            what,
            detail: detail >> rest << ROOT_BITS | detail & low(rest),
        }
    }

    /// What a message says of the call with that number; `None` if it belongs
    /// to another one, or to none.
    pub fn read(self, tag: i32, number: Number) -> Option<Label> {
        let what = kind_of(tag);
        let same = (tag as u32 ^ self.bits(what, number)) & low(self.number(what) + 1) == 0;
        (tag >= 0 && same).then(|| self.label_of(tag))
    }
}

/// So many bits, all ones.
const fn low(bits: u32) -> u32 {
    (1 << bits) - 1
}

/// The collective whose call a tag is of.
fn kind_of(tag: i32) -> Option<Collective> {
    Label::of(tag as u32 >> (TAG_BITS - KIND_BITS), 0).what
}

/// Numbers the calls of one kind on a communicator.
#[derive(Debug, Default)]
pub struct Numbers {
    next: Cell<u32>,
    /// No call before this one needs its number any more.
    floor: Cell<u32>,
}

impl Numbers {
    /// Calls so far.
    pub fn begun(&self) -> u32 {
        self.next.get()
    }

    /// The next number, for a call of that kind; `None` if its tags would be those of a call that
    /// still needs them. `oldest`, of the number that it gets and the calls that do, is the first.
    #[inline]
    pub fn next(
        &self,
        cut: Cut,
        what: Option<Collective>,
        oldest: impl FnOnce(u32) -> u32,
    ) -> Option<u32> {
        let (number, window) = (self.next.get(), cut.window(what));
        let is_free = || number.wrapping_sub(self.floor.get()) < window;
        if !is_free() {
            self.floor.set(oldest(number));
        }
        is_free().then(|| {
            self.next.set(number.wrapping_add(1));
            number
        })
    }
}

/// As in "MPI_Bcast with root 3".
impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Label::FIRST => return f.write_str("its first collective through shared memory"),
            Label::EDGES => return f.write_str(&function(None)),
            Label::SHRINK => return f.write_str("MPI_Comm_shrink"),
            _ => f.write_str(&function(self.what))?,
        }
        let is = |test: fn(Collective) -> bool| self.what.is_some_and(test);
        let (rooted, reduces) = (is(Collective::is_rooted), is(Collective::reduces));
        let mut operation = self.detail;
        if rooted {
            write!(f, " with root {}", self.detail & low(ROOT_BITS))?;
            operation >>= ROOT_BITS;
        }
        if reduces {
            let op = abi::Op(abi::consts::OP_NULL.0 + operation as usize);
            let name = op.name().filter(|_| operation != 0);
            let and = if rooted { "and" } else { "with" };
            write!(
                f,
                " {and} {}",
                name.unwrap_or("an operation of the program")
            )?;
        }
        Ok(())
    }
}

/// Name of the blocking function, or of the two that have the same schedules.
pub fn function(what: Option<Collective>) -> String {
    let what = match what {
        None => return "a neighborhood collective".to_owned(),
        Some(Collective::Alltoallv) => return "MPI_Alltoallv or MPI_Alltoallw".to_owned(),
        Some(Collective::ReduceScatter) => {
            return "MPI_Reduce_scatter or MPI_Reduce_scatter_block".to_owned();
        }
        Some(what) => what,
    };
    let (first, rest) = what.name().split_at(1);
    format!("MPI_{}{rest}", first.to_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_tells_what_was_called() {
        for ranks in [1, 2, 33, 1000, 1 << 20] {
            let cut = Cut::new(ranks);
            for what in Collective::ALL.map(Some).into_iter().chain([None]) {
                for count in [0, 1, 77, cut.window(what) - 1, u32::MAX] {
                    let number = Number {
                        count,
                        persistent: count == 77,
                    };
                    let next = Number {
                        count: count.wrapping_add(1),
                        ..number
                    };
                    let other = Number {
                        persistent: count != 77,
                        ..number
                    };
                    let (root, op) = match what {
                        Some(Collective::Reduce) => ((ranks - 1) & 127, 31 << ROOT_BITS),
                        _ => ((ranks - 1) & 1023, 0),
                    };
                    let detail = (ranks - 1) | op;
                    let tag = cut.tag(Label { what, detail }, number);
                    let detail = root | op;
                    assert!(tag >= 0);
                    assert_eq!(cut.read(tag, number), Some(Label { what, detail }));
                    assert_eq!(cut.read(tag, next), None);
                    assert_eq!(cut.read(tag, other), None);
                }
            }
            assert_eq!(cut.read(i32::MIN, Number::default()), None, "a letter");
        }
    }

    #[test]
    fn numbers_do_not_come_again_while_they_are_in_use() {
        let (cut, numbers) = (Cut::new(1 << 20), Numbers::default());
        let next = |what, oldest| numbers.next(cut, Some(what), |_| oldest);
        let window = cut.window(Some(Collective::Reduce));
        for n in 0..window {
            assert_eq!(next(Collective::Reduce, 0), Some(n));
        }
        assert_eq!(next(Collective::Reduce, 0), None, "the first is under way");
        assert_eq!(next(Collective::Reduce, 1), Some(window));
        assert_eq!(next(Collective::Reduce, 1), None);
        for n in window + 1..=cut.window(Some(Collective::Bcast)) {
            assert_eq!(next(Collective::Bcast, 1), Some(n));
        }
        assert_eq!(next(Collective::Bcast, 1), None);
    }

    #[test]
    fn calls_are_told_as_the_program_made_them() {
        let told = |what, detail| {
            let what = Some(what);
            Label { what, detail }.to_string()
        };
        assert_eq!(
            told(Collective::ReduceScatter, 1),
            "MPI_Reduce_scatter or MPI_Reduce_scatter_block with MPI_SUM"
        );
        assert_eq!(told(Collective::Bcast, 3), "MPI_Bcast with root 3");
        assert_eq!(
            told(Collective::Reduce, 1 << ROOT_BITS | 3),
            "MPI_Reduce with root 3 and MPI_SUM"
        );
        assert_eq!(
            told(Collective::Reduce, 3),
            "MPI_Reduce with root 3 and an operation of the program"
        );
        assert_eq!(
            told(Collective::Scan, 0),
            "MPI_Scan with an operation of the program"
        );
        assert_eq!(told(Collective::Barrier, 0), "MPI_Barrier");
        let cut = Cut::new(7);
        let sent = |label| cut.label_of(cut.tag(label, Number::default())).to_string();
        assert_eq!(
            sent(Label::FIRST),
            "its first collective through shared memory"
        );
        assert_eq!(sent(Label::EDGES), "a neighborhood collective");
    }
}

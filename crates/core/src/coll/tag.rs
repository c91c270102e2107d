//! What the tag of a collective's messages says (31 bits):
//!
//! | bits, from the top | what                                                |
//! |--------------------|-----------------------------------------------------|
//! | 4                  | the [`Collective`]; ones: one among neighbours      |
//! | 5 to 10            | its root, or its operation; more for more ranks     |
//! |                    | (MPI_Reduce, 6 to 12: its operation, and its root)  |
//! | 1                  | whether the operation is persistent                 |
//! | 4                  | of a reduction that is not: the class of its        |
//! |                    | elements ([`Kinds`])                                |
//! | the rest           | number of the call on its communicator              |
//!
//! All members number their calls alike. Those that make persistent operations
//! have slots instead, which their operations keep: members may start
//! several of these in different orders (MPI-5, 6.13).
//!
//! The number has few bits, and members may be apart by more calls than it can tell apart. Two
//! rules make that harmless ([decision
//! 37](../../../../docs/decisions/0037-numbers-of-collectives-may-wrap.md)):
//!
//! * At one member no two operations with the same tag are under way at once
//!   ([`Numbers::is_alone`], [`Slots`]): the later one waits until the earlier one is over. What
//!   members send to each other keeps its order, so the messages of the earlier one are received
//!   first.
//! * A message with the number of a call here whose other bits differ tells that a member called
//!   something else only if this call waits for that very member: it would have sent what is waited
//!   for before anything of a later call. Otherwise it may be one of a call that is whole windows
//!   ahead.
//!
//! Matching is by the whole tag: a message of another call is never taken for one of this.
//!
//! Negative tags are control messages, of agreements (`comm`) and of calls (`control`).

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::fmt;

use catena_abi as abi;
use catena_board::Called;
use catena_coll::Collective;
use catena_coll::inter::Root;
use catena_datatype::Kinds;
use catena_settings::setting;

setting! {
    /// The most bits of a collective's number that its messages tell.
    ///
    /// Few of them make the numbers wrap soon, which is for tests.
    pub static COLL_NUMBER_BITS: u32 = TAG_BITS;
    range: 1..=TAG_BITS,
    scope: AllEqual,
    level: Developer,
}

const TAG_BITS: u32 = 31;
const KIND_BITS: u32 = 4;
/// In place of the number of a [`Collective`].
const NEIGHBOR: u32 = (1 << KIND_BITS) - 1;

/// Details of calls of the library itself from here on: a persistent operation is made.
const KEEPING: u32 = 4;

/// What all members must call alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label {
    /// The collective; `None` is one among neighbours.
    pub what: Option<Collective>,
    /// Rank of the root, and from bit [`ROOT_BITS`] on the [`operation`] of a rooted reduction;
    /// else the operation. Where there is less room its lowest bits count.
    pub detail: u32,
    /// Kinds of the elements that this member gives, or wants where it gives none, as far as they
    /// are known; of what comes with messages the class alone, of a reduction.
    pub kinds: Kinds,
}

/// Room for the rank of a root: with an operation it takes all but one bit of what a board has.
const ROOT_BITS: u32 = 16;
/// Room for an operation.
const OPERATION_BITS: u32 = 5;
/// Room for the rank of a root, or some of its bits, beside an operation in a tag.
const BESIDE: u32 = 7;
/// Room for a class of elements in the tag of a reduction.
const CLASS_BITS: u32 = 4;

impl Label {
    /// What members tell each other before their first collective on a board.
    pub const FIRST: Label = Label::own(1);
    /// Before their first one among neighbours there.
    pub const EDGES: Label = Label::own(2);

    /// In `MPI_Comm_shrink`, on a board.
    pub const SHRINK: Label = Label::own(3);

    /// The barrier of `MPI_Finalize`: one of the program has no detail.
    pub const FINALIZE: Label = Label {
        what: Some(Collective::Barrier),
        detail: 1,
        kinds: Kinds::ANY,
    };

    /// A call of the library itself, in which all tell all: an allgather of the program has no
    /// detail.
    const fn own(detail: u32) -> Self {
        let what = Some(Collective::Allgather);
        let kinds = Kinds::ANY;
        Label {
            what,
            detail,
            kinds,
        }
    }

    /// When they make a persistent operation that may get a board of its own.
    pub fn keeping(self) -> Label {
        Label::own(KEEPING + self.number())
    }

    /// Of which persistent operation a label says that.
    fn kept(self) -> Option<Label> {
        let is_own = self.what == Some(Collective::Allgather);
        let number = self.detail.checked_sub(KEEPING).filter(|_| is_own)?;
        (number <= NEIGHBOR).then_some(Label::of(number, 0))
    }

    /// Whether it is that call, whatever is known of the kinds of its elements.
    pub fn is(self, call: Label) -> bool {
        (self.what, self.detail) == (call.what, call.detail)
    }

    /// The number of what was called.
    pub fn number(self) -> u32 {
        self.what.map_or(NEIGHBOR, |what| what as u32)
    }

    /// That of such a number, of elements of any kind.
    pub fn of(number: u32, detail: u32) -> Self {
        let what = Collective::ALL.get(number as usize).copied();
        let kinds = Kinds::ANY;
        Label {
            what,
            detail,
            kinds,
        }
    }

    /// What a record of a board says.
    #[inline(always)]
    pub fn called(self) -> Called {
        let Label { detail, kinds, .. } = self;
        Called { detail, kinds }
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
    /// The most bits of a number.
    most: u32,
}

impl Cut {
    /// For groups of at most so many ranks.
    #[inline]
    pub fn new(ranks: u32) -> Self {
        Cut::narrow(ranks, COLL_NUMBER_BITS.get())
    }

    /// How tags are cut for groups of at most `ranks` ranks, with numbers of at most `most` bits.
    #[inline]
    fn narrow(ranks: u32, most: u32) -> Self {
        Cut {
            rank: u32::BITS - (ranks - 1).leading_zeros(),
            most,
        }
    }

    fn room(self, what: Option<Collective>) -> TagRoom {
        let (operation, rest, class) = match what {
            Some(Collective::Reduce) => (OPERATION_BITS, self.rank.clamp(1, BESIDE), CLASS_BITS),
            Some(what) if what.reduces() => (0, OPERATION_BITS, CLASS_BITS),
            _ => (0, self.rank.clamp(OPERATION_BITS, 10), 0),
        };
        TagRoom {
            operation,
            rest,
            class,
            below: TAG_BITS - KIND_BITS - operation - rest - 1,
        }
    }

    /// Bits of the number.
    #[inline]
    fn number(self, what: Option<Collective>, persistent: bool) -> u32 {
        let room = self.room(what);
        let class = if persistent { 0 } else { room.class };
        (room.below - class).min(self.most)
    }

    /// How many persistent operations can be told apart, of whatever kind.
    fn slots(self) -> u32 {
        1 << self.number(Some(Collective::Reduce), true)
    }

    /// Calls in a row, the last of that kind, that can be told apart.
    #[inline]
    fn window(self, what: Option<Collective>) -> u32 {
        1 << self.number(what, false)
    }

    /// The bits that say which call it is.
    #[inline]
    fn bits(self, what: Option<Collective>, number: Number) -> u32 {
        let bits = self.number(what, number.persistent);
        u32::from(number.persistent) << self.room(what).below | number.count & low(bits)
    }

    /// The tag of a call.
    #[inline]
    pub fn tag(self, label: Label, number: Number) -> i32 {
        let room = self.room(label.what);
        let beside = label.detail >> ROOT_BITS & low(room.operation);
        let detail = beside << room.rest | label.detail & low(room.rest);
        let head = label.number() << (room.operation + room.rest) | detail;
        let class = match number.persistent {
            false if room.class > 0 => label.kinds.class() << (room.below - room.class),
            _ => 0,
        };
        (head << (room.below + 1) | class | self.bits(label.what, number)) as i32
    }

    /// What a tag was made of, as far as there is room.
    pub fn label_of(self, tag: i32) -> Label {
        let (what, tag) = (kind_of(tag), tag as u32);
        let room = self.room(what);
        let detail = tag >> (room.below + 1) & low(room.operation + room.rest);
        let class = match tag >> room.below & 1 {
            0 => tag >> (room.below - room.class) & low(room.class),
            _ => 0,
        };
        Label {
            what,
            detail: detail >> room.rest << ROOT_BITS | detail & low(room.rest),
            kinds: Kinds::of_class(class),
        }
    }

    /// What a message says of the call with that number; `None` if it belongs
    /// to another one, or to none.
    pub fn read(self, tag: i32, number: Number) -> Option<Label> {
        let (what, room) = (kind_of(tag), self.room(kind_of(tag)));
        let class = if number.persistent { 0 } else { room.class };
        let is_number = 1 << room.below | low(room.below - class);
        let same = (tag as u32 ^ self.bits(what, number)) & is_number == 0;
        (tag >= 0 && same).then(|| self.label_of(tag))
    }
}

/// Bits of the parts of a tag.
#[derive(Clone, Copy, Debug)]
struct TagRoom {
    /// The operation beside a root.
    operation: u32,
    /// The rest of the detail.
    rest: u32,
    /// The class of the elements, unless the operation is persistent.
    class: u32,
    /// All that is below the bit that tells whether it is.
    below: u32,
}

/// So many bits, all ones.
const fn low(bits: u32) -> u32 {
    (1 << bits) - 1
}

/// The collective whose call a tag is of.
fn kind_of(tag: i32) -> Option<Collective> {
    Label::of(tag as u32 >> (TAG_BITS - KIND_BITS), 0).what
}

/// Numbers the calls on a communicator that make no persistent operation, and knows which of them
/// are over at this member.
#[derive(Debug, Default)]
pub struct Numbers {
    next: Cell<u32>,
    /// Whether each of the last ones before `next` is over; the first is not.
    over: RefCell<VecDeque<bool>>,
}

impl Numbers {
    /// Calls so far.
    pub fn begun(&self) -> u32 {
        self.next.get()
    }

    /// The number of a call, which keeps it until [`Numbers::end`].
    #[inline]
    pub fn take(&self) -> u32 {
        self.over.borrow_mut().push_back(false);
        self.next.replace(self.next.get().wrapping_add(1))
    }

    /// The call with that number is over. Cost: constant, over all calls.
    #[inline]
    pub fn end(&self, number: u32) {
        let mut over = self.over.borrow_mut();
        let at = number.wrapping_sub(self.oldest(over.len()));
        if let Some(it) = over.get_mut(at as usize) {
            *it = true;
        }
        while let Some(true) = over.front() {
            over.pop_front();
        }
    }

    /// Whether all calls are over.
    pub fn are_over(&self) -> bool {
        self.over.borrow().is_empty()
    }

    /// Whether a call of that kind, with that number, is the only one that may have messages with
    /// its tags: all that are older by a window or more are over.
    #[inline]
    pub fn is_alone(&self, cut: Cut, what: Option<Collective>, number: u32) -> bool {
        let oldest = self.oldest(self.over.borrow().len());
        number.wrapping_sub(oldest) < cut.window(what)
    }

    #[inline]
    fn oldest(&self, kept: usize) -> u32 {
        self.next.get().wrapping_sub(kept as u32)
    }
}

/// Numbers the persistent operations of a communicator. Each has a slot as long as this member
/// keeps it. All members use the slots in the same order; when none is left that all know to be
/// free, they [agree](Slots::agree) on those that none of them keeps any more.
#[derive(Debug, Default)]
pub struct Slots {
    /// Operations so far.
    begun: Cell<u32>,
    /// Slots that were never used: this one and all above.
    fresh: Cell<u32>,
    /// Others that no member kept when they agreed last, the next one last; the same at all
    /// members.
    free: RefCell<Vec<u32>>,
    /// Those that this member keeps, a bit for each.
    kept: RefCell<Vec<u8>>,
}

impl Slots {
    /// Operations so far.
    pub fn begun(&self) -> u32 {
        self.begun.get()
    }

    /// A slot for the next operation; `None` if the members have to agree first. All members get
    /// the same.
    pub fn take(&self, cut: Cut) -> Option<u32> {
        let fresh = self.fresh.get();
        let slot = if fresh < cut.slots() {
            self.fresh.set(fresh + 1);
            fresh
        } else {
            self.free.borrow_mut().pop()?
        };
        let mut kept = self.kept.borrow_mut();
        let at = slot as usize / 8;
        if at >= kept.len() {
            kept.resize(at + 1, 0);
        }
        kept[at] |= 1 << (slot % 8);
        self.begun.set(self.begun.get().wrapping_add(1));
        Some(slot)
    }

    /// The operation with that slot is gone here.
    pub fn give_back(&self, slot: u32) {
        if let Some(byte) = self.kept.borrow_mut().get_mut(slot as usize / 8) {
            *byte &= !(1 << (slot % 8));
        }
    }

    /// Whether this member keeps none.
    pub fn are_free(&self) -> bool {
        self.kept.borrow().iter().all(|&bits| bits == 0)
    }

    /// What this member keeps, a bit for each slot: the members combine these by a bitwise or.
    pub fn kept(&self, cut: Cut) -> Vec<u8> {
        let mut kept = self.kept.borrow().clone();
        kept.resize((cut.slots() as usize).div_ceil(8), 0);
        kept
    }

    /// The slots that any member keeps are these; the others are free.
    pub fn agree(&self, cut: Cut, kept: &[u8]) {
        let is_free = |slot: &u32| kept[*slot as usize / 8] & 1 << (slot % 8) == 0;
        *self.free.borrow_mut() = (0..cut.slots()).rev().filter(is_free).collect();
    }
}

/// As in "MPI_Bcast with root 3".
impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (own, name) in [
            (Label::FIRST, "its first collective through shared memory"),
            (Label::EDGES, &function(None)),
            (Label::SHRINK, "MPI_Comm_shrink"),
            (Label::FINALIZE, "MPI_Finalize"),
        ] {
            if self.is(own) {
                return f.write_str(name);
            }
        }
        match self.kept() {
            Some(kept) => return write!(f, "the persistent form of {}", function(kept.what)),
            None => f.write_str(&function(self.what))?,
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
                    let reduces = what.is_some_and(Collective::reduces);
                    let (sent, told) = match what {
                        Some(Collective::Reduce) => ((ranks - 1) | op, root | op),
                        _ if reduces => (17, 17),
                        _ => (ranks - 1, root),
                    };
                    let kinds = Kinds::of_class(7);
                    let label = Label {
                        what,
                        detail: sent,
                        kinds,
                    };
                    let tag = cut.tag(label, number);
                    assert!(tag >= 0);
                    let kinds = match reduces && !number.persistent {
                        true => kinds,
                        false => Kinds::ANY,
                    };
                    let label = Label {
                        what,
                        detail: told,
                        kinds,
                    };
                    assert_eq!(cut.read(tag, number), Some(label));
                    assert_eq!(cut.read(tag, next), None);
                    assert_eq!(cut.read(tag, other), None);
                }
            }
            assert_eq!(cut.read(i32::MIN, Number::default()), None, "a letter");
        }
    }

    #[test]
    fn a_tag_tells_the_class_of_what_is_reduced() {
        let cut = Cut::narrow(1 << 20, 4);
        for what in [Collective::Reduce, Collective::Allreduce, Collective::Scan] {
            let tag = |class, persistent| {
                let label = Label {
                    kinds: Kinds::of_class(class),
                    ..Label::of(what as u32, 3)
                };
                let count = 5;
                cut.tag(label, Number { count, persistent })
            };
            for class in 0..16 {
                assert_eq!(cut.label_of(tag(class, false)).kinds.class(), class);
                assert_eq!(tag(class, true), tag(0, true), "slots need the room");
            }
        }
        assert!(Cut::new(1 << 20).slots() >= 1 << 14);
        assert!(Cut::new(1 << 20).window(Some(Collective::Reduce)) >= 1 << 10);
    }

    #[test]
    fn a_call_waits_for_those_that_have_its_tag() {
        let (cut, numbers) = (Cut::narrow(1 << 20, 4), Numbers::default());
        let what = Some(Collective::Reduce);
        // Near the end of all numbers.
        numbers.next.set(u32::MAX - 20);
        let first = numbers.take();
        for n in 1..100_u32 {
            let number = numbers.take();
            assert_eq!(number, first.wrapping_add(n));
            assert_eq!(numbers.is_alone(cut, what, number), n < 16);
            if n != 50 {
                numbers.end(number);
            }
        }
        let next = numbers.take();
        assert!(!numbers.is_alone(cut, what, next));
        numbers.end(first);
        assert!(
            !numbers.is_alone(cut, what, next),
            "one of those between is under way"
        );
        numbers.end(first.wrapping_add(50));
        assert!(numbers.is_alone(cut, what, next));
        numbers.end(next);
        assert!(numbers.over.borrow().is_empty());
    }

    #[test]
    fn slots_come_again_when_no_member_keeps_them() {
        let cut = Cut::narrow(3, 4);
        let members = [Slots::default(), Slots::default()];
        let take = || {
            let [a, b] = members.each_ref().map(|it| it.take(cut));
            assert_eq!(a, b);
            a
        };
        let agree = || {
            let [a, b] = members.each_ref().map(|it| it.kept(cut));
            let both: Vec<u8> = a.iter().zip(&b).map(|(a, b)| a | b).collect();
            members.iter().for_each(|it| it.agree(cut, &both));
        };
        for slot in 0..16 {
            assert_eq!(take(), Some(slot));
        }
        assert_eq!(take(), None);
        agree();
        assert_eq!(take(), None, "all are kept");
        members[0].give_back(3);
        members[1].give_back(5);
        agree();
        assert_eq!(take(), None, "the other one keeps them");
        members[1].give_back(3);
        members[0].give_back(5);
        agree();
        assert_eq!([take(), take(), take()], [Some(3), Some(5), None]);
        assert_eq!(members[0].begun(), 18);
    }

    #[test]
    fn calls_are_told_as_the_program_made_them() {
        let told = |what, detail| Label::of(what as u32, detail).to_string();
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

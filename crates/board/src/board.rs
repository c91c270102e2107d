//! What the members of a board share, and how it is reached.

use catena_schedule::{Order, Region};

use crate::kind::OpKind;
use crate::payload::{Payload, PayloadPlace};
use crate::trouble::{Refused, Trouble};

/// What a member says in place of the operations that it has completed when it has
/// left the board for good.
pub const GONE: u64 = u64::MAX;

/// When it had given up before.
pub const LOST: u64 = u64::MAX - 1;

/// When it gives up: it uses nobody's memory any more, but looks if others use its own.
pub const FAILED: u64 = u64::MAX - 2;

/// A long operation that begins.
#[derive(Clone, Copy, Debug)]
pub struct LongOp {
    /// What it does.
    pub kind: OpKind,
    /// Bytes of the longest block of each other member together.
    pub bytes: usize,
    /// Whether its payloads pass through the ring, or do as things are.
    pub in_ring: bool,
    /// For what this member's preference counts.
    pub asked: Asked,
}

/// For what counts which way a member prefers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// Nothing: others do not hear of it.
    Nothing,
    /// Its own payload in this operation.
    Now,
    /// The next operation of the same kind.
    Next,
    /// The next operation of the same kind. The others have not heard this member for the number of
    /// operations that is given.
    InTurn(u32),
}

/// Memory shared by the members of a communicator on one node, as one of them
/// sees it, and that member's buffers.
///
/// Each member owns `Limits::lines` records of one cache line, a ring of
/// bytes or two, and one counter in a line of its own. Operation `seq` uses record
/// `seq % lines`. Only the owner writes; everybody reads. At the start
/// everything is zero.
///
/// What a peer wrote is not trusted: whatever it contains, implementations
/// stay within the ring and the buffers.
pub trait Board {
    /// Whether this member has data for the operation; see [`WithoutData`](crate::WithoutData).
    const HAS_DATA: bool = true;

    /// The stamp of `rank`'s record for operation `seq` (Acquire); equals `seq`
    /// once that is published. May look more than once before it says another.
    fn stamp(&self, rank: u32, seq: u64) -> u64;

    /// The meta word of `rank`'s record for operation `seq`.
    fn meta(&self, rank: u32, seq: u64) -> u64;

    /// What `rank` published for operation `seq`.
    fn payload(&self, rank: u32, seq: u64, place: PayloadPlace) -> Payload;

    /// Copies `from` to byte `at` of this member's payload, which is not direct.
    fn put(&mut self, to: &Payload, at: usize, from: Region);

    /// Writes a number to byte `at` of this member's payload, which is not direct.
    fn put_word(&mut self, to: &Payload, at: usize, word: u32);

    /// Publishes this member's record of an operation, which one `reader` wants or
    /// several do: meta, where the payload is unless in the record, then the
    /// stamp (Release).
    fn publish(&mut self, own: &Payload, meta: u64, reader: Option<u32>);

    /// This member has no data for operation `seq` any more, for which it has published: its record
    /// says so from now on, at the latest when [`Board::set_done`] says that it is complete.
    fn withdraw(&mut self, seq: u64);

    /// Says for good that this member has no data for operation `seq`, before it publishes or is
    /// complete there.
    fn lack(&mut self, seq: u64);

    /// The operations for which `rank` [had no data](Board::lack), as a word of `lacks`. It has one
    /// as soon as [`Board::done`] says that it is complete there, also when the record says
    /// something else by then.
    fn lacks(&self, rank: u32) -> u64;

    /// Copies bytes from `at` on of a payload. If it is to be taken, they may be written as they
    /// are, so that the owner need not take their lines away before it writes there again.
    ///
    /// # Errors
    /// If the kernel lets nobody reach it.
    fn get(&mut self, from: &Payload, at: usize, into: Region) -> Result<(), Refused>;

    /// Copies `from` to byte `at` of another member's direct payload.
    ///
    /// # Errors
    /// As [`Board::get`].
    fn give(&mut self, to: &Payload, at: usize, from: Region) -> Result<(), Refused>;

    /// A number from a payload that is not direct.
    fn word(&self, from: &Payload, at: usize) -> u32;

    /// Combines bytes from `at` on of a payload with `into`; see
    /// [`catena_schedule::Step::Reduce`].
    ///
    /// # Errors
    /// As [`Board::get`], and `NoMemory`.
    fn combine(
        &mut self,
        from: &Payload,
        at: usize,
        into: Region,
        order: Order,
    ) -> Result<(), Trouble>;

    /// Combines bytes from `at` on of a payload with `own`, as [`Board::combine`]
    /// does, but puts the result elsewhere: the two do not overlap.
    ///
    /// # Errors
    /// As [`Board::combine`].
    fn join(
        &mut self,
        from: &Payload,
        at: usize,
        own: Region,
        into: Region,
        order: Order,
    ) -> Result<(), Trouble>;

    /// Combines bytes from `at` on of two payloads, which got here the same way, and puts the
    /// result elsewhere: the first of them is the left operand.
    ///
    /// # Errors
    /// As [`Board::combine`].
    fn pair(&mut self, of: (&Payload, &Payload), at: usize, into: Region) -> Result<(), Trouble> {
        get_and_combine(self, of, at, into)
    }

    /// Makes sure that scratch memory has `len` bytes. What it held is lost.
    ///
    /// # Errors
    /// `NoMemory`.
    fn reserve(&mut self, len: usize) -> Result<(), Trouble>;

    /// Copies between this member's buffers; the two do not overlap.
    fn copy(&mut self, from: Region, into: Region);

    /// [`Board::copy`] of a part of this member's own block, which has `whole` bytes.
    fn keep(&mut self, from: Region, into: Region, _whole: usize) {
        self.copy(from, into);
    }

    /// Combines own buffers; the two do not overlap.
    ///
    /// # Errors
    /// `NoMemory`.
    fn fold(&mut self, from: Region, into: Region, order: Order) -> Result<(), Trouble>;

    /// Where the others find a part of this member's buffers.
    fn address(&mut self, of: Region) -> u64;

    /// Says that this member has completed all operations below `seq`
    /// (Release).
    fn set_done(&mut self, seq: u64);

    /// What `rank` said last with [`Board::set_done`] (Acquire), or [`FAILED`],
    /// [`LOST`] or [`GONE`].
    fn done(&self, rank: u32) -> u64;

    /// This member waits for `rank`, and has for some time; for none in particular if that is
    /// `None`.
    fn awaits(&mut self, _rank: Option<u32>) {}

    /// Operation `seq` will be published soon: a good time to fetch the record
    /// for writing.
    fn warm(&mut self, _seq: u64) {}

    /// A long operation begins: whether long payloads had better pass through the ring, as far as
    /// this member sees, in it or from the next one of its kind on.
    fn prefers_ring(&mut self, _op: LongOp) -> bool {
        false
    }

    /// Another member, which chooses its own way, has gone that one.
    fn came(&mut self, _rank: u32, _in_ring: bool) {}

    /// The next `len` bytes at `at` of this member's ring will be written soon: a good
    /// time to fetch the first of them.
    fn warm_ring(&mut self, _at: u64, _len: usize) {}

    /// Whether those who read this member's payload in the long ring had better leave its lines
    /// where they are, instead of taking them.
    fn leaves(&mut self) -> bool {
        false
    }

    /// `rank` has probably published operation `seq` already: a good time to
    /// fetch the record for reading.
    fn expect(&self, _rank: u32, _seq: u64) {}
}

/// [`Board::pair`] for boards that have nothing quicker: takes the left operand, and combines the
/// other one with it.
pub fn get_and_combine<B: Board + ?Sized>(
    board: &mut B,
    (left, right): (&Payload, &Payload),
    at: usize,
    into: Region,
) -> Result<(), Trouble> {
    board.get(left, at, into)?;
    board.combine(right, at, into, Order::FromRight)
}

//! How a member takes part in an operation for which it has no memory.
//!
//! It does all that the others wait for: it publishes its records, of the same call and length as
//! with data, and says how far it is. So operations keep their numbers at all members, and the
//! board can be used by the next one. Its records say that there is [nothing behind
//! them](Meta::is_without_data): whoever needs that has no data from there on either, and so what
//! follows from it never looks like a result. It touches nobody's memory, its own neither, and
//! nobody touches its own.

use catena_schedule::{Order, Region};

use crate::board::{Board, LongOp};
use crate::meta::Meta;
use crate::payload::{Payload, PayloadPlace};
use crate::trouble::{Refused, Trouble};

/// The board of a member that has no data for an operation; none of its buffers are used.
#[derive(Debug)]
pub struct WithoutData<'b, B>(pub &'b mut B);

impl<B: Board> Board for WithoutData<'_, B> {
    const HAS_DATA: bool = false;

    fn stamp(&self, rank: u32, seq: u64) -> u64 {
        self.0.stamp(rank, seq)
    }

    fn meta(&self, rank: u32, seq: u64) -> u64 {
        self.0.meta(rank, seq)
    }

    fn payload(&self, rank: u32, seq: u64, place: PayloadPlace) -> Payload {
        self.0.payload(rank, seq, place)
    }

    fn put(&mut self, _: &Payload, _: usize, _: Region) {}

    fn put_word(&mut self, _: &Payload, _: usize, _: u32) {}

    fn publish(&mut self, own: &Payload, meta: u64, reader: Option<u32>) {
        self.0.lack(own.seq);
        self.0.publish(own, meta | Meta::PLACE, reader);
    }

    fn withdraw(&mut self, seq: u64) {
        self.0.withdraw(seq);
    }

    fn lack(&mut self, seq: u64) {
        self.0.lack(seq);
    }

    fn lacks(&self, rank: u32) -> u64 {
        self.0.lacks(rank)
    }

    fn get(&mut self, _: &Payload, _: usize, _: Region) -> Result<(), Refused> {
        Ok(())
    }

    fn give(&mut self, _: &Payload, _: usize, _: Region) -> Result<(), Refused> {
        Ok(())
    }

    /// How long the payloads of others are counts without data, too.
    fn word(&self, from: &Payload, at: usize) -> u32 {
        self.0.word(from, at)
    }

    fn combine(&mut self, _: &Payload, _: usize, _: Region, _: Order) -> Result<(), Trouble> {
        Ok(())
    }

    fn join(
        &mut self,
        _: &Payload,
        _: usize,
        _: Region,
        _: Region,
        _: Order,
    ) -> Result<(), Trouble> {
        Ok(())
    }

    fn pair(&mut self, _: (&Payload, &Payload), _: usize, _: Region) -> Result<(), Trouble> {
        Ok(())
    }

    fn reserve(&mut self, _: usize) -> Result<(), Trouble> {
        Ok(())
    }

    fn copy(&mut self, _: Region, _: Region) {}

    fn keep(&mut self, _: Region, _: Region, _: usize) {}

    fn fold(&mut self, _: Region, _: Region, _: Order) -> Result<(), Trouble> {
        Ok(())
    }

    fn address(&mut self, _: Region) -> u64 {
        0
    }

    fn set_done(&mut self, seq: u64) {
        self.0.set_done(seq);
    }

    fn done(&self, rank: u32) -> u64 {
        self.0.done(rank)
    }

    fn awaits(&mut self, rank: Option<u32>) {
        self.0.awaits(rank);
    }

    fn prefers_ring(&mut self, op: LongOp) -> bool {
        self.0.prefers_ring(op)
    }
}

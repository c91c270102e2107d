//! Parts of a partitioned message: their memory, which of them are ready, and which have arrived.

use super::Request;
use crate::buffers::{Access, Piece};
use crate::{maps, sums};

impl Request {
    /// The memory of a partition; `None` if others lie between its bytes.
    fn partition(&self, number: i64) -> Option<Piece> {
        let used = self.uses.first()?;
        let whole = used.pieces.first()?;
        if !whole.is_solid || used.access != Access::Read {
            return None;
        }
        let len = whole.len() / usize::try_from(self.partitions).ok().filter(|&it| it > 0)?;
        let number = usize::try_from(number).ok()?;
        Piece::of_bytes(whole.first + number * len, len)
    }

    fn partition_sum(&self, number: i64) -> Option<u64> {
        let piece = self.partition(number)?;
        match maps::is_readable(piece.first, piece.end) {
            // SAFETY: memory that can be read.
            true => unsafe { sums::sum(&piece) },
            false => None,
        }
    }

    /// Whether all partitions have arrived that memory of it between two addresses is of.
    pub(super) fn has_arrived(&self, first: usize, end: usize) -> bool {
        let whole = self.uses.first().and_then(|it| it.pieces.first());
        let Some(whole) = whole.filter(|it| it.is_solid && !self.arrived.is_empty()) else {
            return false;
        };
        let len = whole.len() / usize::try_from(self.partitions).unwrap_or(0).max(1);
        let number = |at: usize| (at.saturating_sub(whole.first) / len.max(1)) as i64;
        (number(first)..=number(end - 1)).all(|it| self.arrived.contains(&it))
    }

    /// Notes that a partition is ready.
    pub(super) fn ready(&mut self, number: i64) {
        if let Some(sum) = self.partition_sum(number) {
            self.ready.insert(number, sum);
        }
    }

    /// One that was changed since.
    pub(super) fn changed_partition(&self) -> Option<i64> {
        let mut ready = self.ready.iter();
        let changed = ready.find(|(number, sum)| self.partition_sum(**number) != Some(**sum));
        changed.map(|(number, _)| *number)
    }
}

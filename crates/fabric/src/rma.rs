//! Operations on a peer's registered memory: put, get, atomics and flush.
//!
//! The process that starts an operation is its *origin*, the process whose memory it works on its
//! *target* (MPI 5.0, chapter 12). The origin names each operation by an [`OpId`] and is told once
//! that it has completed: by [`Started::Complete`], or by
//! [`Deliver::completed`](crate::Deliver::completed) in a later poll.
//!
//! | operation        | complete at the origin means          | complete at the target after |
//! |------------------|---------------------------------------|------------------------------|
//! | put              | the origin's buffer may be reused     | a flush                      |
//! | get              | the origin's buffer has the data      | the same moment              |
//! | fetching atomic  | the origin has the former value       | the same moment              |
//! | other atomic     | the route has taken the operand       | a flush                      |
//! | flush            | operations before it are complete at the target | the same moment    |
//!
//! Operations are not ordered among each other, whichever the target: a program that needs order
//! flushes. Atomics on one word are atomic towards each other if all of them use the same route; an
//! owner that wants its own accesses to be atomic, too, sends them through that route.

use std::fmt;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicU32, AtomicU64};

use crate::buf::Buf;
use crate::operation::{OpId, RmaError};
use crate::peer::{Peer, RemoteKey};
use crate::transport::Transport;

/// What an atomic does with the word at the target and its operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtomicOp {
    /// Adds the operand; the sum wraps.
    Sum,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// The lesser of the two.
    Min,
    /// The greater of the two.
    Max,
    /// Replaces the word by the operand.
    Swap,
    /// Replaces the word by the operand if it equals [`Atomic::compare`].
    CompareSwap,
}

impl AtomicOp {
    /// All of them.
    pub const ALL: [AtomicOp; 8] = [
        AtomicOp::Sum,
        AtomicOp::And,
        AtomicOp::Or,
        AtomicOp::Xor,
        AtomicOp::Min,
        AtomicOp::Max,
        AtomicOp::Swap,
        AtomicOp::CompareSwap,
    ];
}

/// Type of the word that an atomic works on. Its address is a multiple of its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtomicType {
    /// Signed, 4 bytes.
    I32,
    /// Unsigned, 4 bytes.
    U32,
    /// Signed, 8 bytes.
    I64,
    /// Unsigned, 8 bytes.
    U64,
}

impl AtomicType {
    /// All of them.
    pub const ALL: [AtomicType; 4] = [
        AtomicType::I32,
        AtomicType::U32,
        AtomicType::I64,
        AtomicType::U64,
    ];

    /// Bytes of a word.
    #[inline]
    pub const fn size(self) -> usize {
        match self {
            AtomicType::I32 | AtomicType::U32 => 4,
            AtomicType::I64 | AtomicType::U64 => 8,
        }
    }

    /// The bits of a word, extended to 64 by zeros.
    #[inline]
    pub const fn truncate(self, bits: u64) -> u64 {
        match self.size() {
            4 => bits & 0xffff_ffff,
            _ => bits,
        }
    }
}

/// An atomic operation on one word. Words of 4 bytes are in the low half of its fields; the high
/// half does not count.
///
/// # Examples
/// ```
/// use catena_fabric::{Atomic, AtomicOp, AtomicType};
///
/// let add = Atomic { op: AtomicOp::Sum, ty: AtomicType::U32, operand: 3, compare: 0, fetches: true };
/// assert_eq!(add.apply(5), 8);
/// assert_eq!(add.apply(u32::MAX.into()), 2, "it wraps");
/// let swap = Atomic { op: AtomicOp::CompareSwap, compare: 5, ..add };
/// assert_eq!((swap.apply(5), swap.apply(6)), (3, 6));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Atomic {
    /// What it does.
    pub op: AtomicOp,
    /// What it works on.
    pub ty: AtomicType,
    /// Its operand.
    pub operand: u64,
    /// What [`AtomicOp::CompareSwap`] compares the word with.
    pub compare: u64,
    /// Whether the origin gets the word as it was before.
    pub fetches: bool,
}

impl Atomic {
    /// What the word is afterwards if it was `old` before.
    pub fn apply(&self, old: u64) -> u64 {
        let (ty, old, operand) = (
            self.ty,
            self.ty.truncate(old),
            self.ty.truncate(self.operand),
        );
        let is_less = match ty {
            AtomicType::I32 => (operand as i32) < old as i32,
            AtomicType::I64 => (operand as i64) < old as i64,
            AtomicType::U32 | AtomicType::U64 => operand < old,
        };
        ty.truncate(match self.op {
            AtomicOp::Sum => old.wrapping_add(operand),
            AtomicOp::And => old & operand,
            AtomicOp::Or => old | operand,
            AtomicOp::Xor => old ^ operand,
            AtomicOp::Min if is_less => operand,
            AtomicOp::Min => old,
            AtomicOp::Max if is_less => old,
            AtomicOp::Max => operand,
            AtomicOp::Swap => operand,
            AtomicOp::CompareSwap if old == ty.truncate(self.compare) => operand,
            AtomicOp::CompareSwap => old,
        })
    }

    /// Carries it out by instructions of the processor; the former word. Atomic towards all
    /// processes that map the word and change it likewise.
    ///
    /// # Safety
    /// `at` is a multiple of the word's size, valid, and used by atomics or raw copies alone.
    pub unsafe fn update(&self, at: *mut u8) -> u64 {
        /// Carries out the atomic on a word of one width.
        macro_rules! update {
            ($word:expr, $bits:ty) => {{
                let word = $word;
                let operand = self.operand as $bits;
                let is_signed = matches!(self.ty, AtomicType::I32 | AtomicType::I64);
                let old = match self.op {
                    AtomicOp::Sum => word.fetch_add(operand, SeqCst),
                    AtomicOp::And => word.fetch_and(operand, SeqCst),
                    AtomicOp::Or => word.fetch_or(operand, SeqCst),
                    AtomicOp::Xor => word.fetch_xor(operand, SeqCst),
                    AtomicOp::Swap => word.swap(operand, SeqCst),
                    AtomicOp::CompareSwap => word
                        .compare_exchange(self.compare as $bits, operand, SeqCst, SeqCst)
                        .unwrap_or_else(|old| old),
                    AtomicOp::Min | AtomicOp::Max if is_signed => {
                        let new = |old| Some(self.apply(u64::from(old)) as $bits);
                        word.fetch_update(SeqCst, SeqCst, new)
                            .unwrap_or_else(|old| old)
                    }
                    AtomicOp::Min => word.fetch_min(operand, SeqCst),
                    AtomicOp::Max => word.fetch_max(operand, SeqCst),
                };
                u64::from(old)
            }};
        }
        // SAFETY: as promised, for both widths.
        unsafe {
            match self.ty.size() {
                4 => update!(AtomicU32::from_ptr(at.cast()), u32),
                _ => update!(AtomicU64::from_ptr(at.cast()), u64),
            }
        }
    }
}

/// A set of kinds of atomics: operation, type, and whether the former value is fetched.
///
/// # Examples
/// ```
/// use catena_fabric::{Atomic, AtomicOp, AtomicSet, AtomicType};
///
/// let counters = AtomicSet::NONE.with(AtomicOp::Sum, AtomicType::U64, true);
/// let add = Atomic { op: AtomicOp::Sum, ty: AtomicType::U64, operand: 1, compare: 0, fetches: true };
/// assert!(counters.contains(&add) && AtomicSet::ALL.contains(&add));
/// assert!(!counters.contains(&Atomic { fetches: false, ..add }));
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct AtomicSet(u64);

impl AtomicSet {
    /// No atomics.
    pub const NONE: AtomicSet = AtomicSet(0);
    /// All atomics.
    pub const ALL: AtomicSet = AtomicSet(u64::MAX);

    fn bit(op: AtomicOp, ty: AtomicType, fetches: bool) -> u64 {
        1 << (op as u32 * 8 + ty as u32 * 2 + u32::from(fetches))
    }

    /// This set and one kind more.
    #[must_use]
    pub fn with(self, op: AtomicOp, ty: AtomicType, fetches: bool) -> AtomicSet {
        AtomicSet(self.0 | AtomicSet::bit(op, ty, fetches))
    }

    /// Whether an atomic is of a kind in this set.
    #[inline]
    pub fn contains(self, atomic: &Atomic) -> bool {
        self.0 & AtomicSet::bit(atomic.op, atomic.ty, atomic.fetches) != 0
    }

    /// Whether the set has no kind.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl fmt::Debug for AtomicSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut set = f.debug_set();
        for op in AtomicOp::ALL {
            for ty in AtomicType::ALL {
                for fetches in [false, true] {
                    if self.0 & AtomicSet::bit(op, ty, fetches) != 0 {
                        set.entry(&(op, ty, fetches));
                    }
                }
            }
        }
        set.finish()
    }
}

/// Which operations a route to a peer has. Constant from the first contact on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RmaCaps {
    /// Puts.
    pub put: bool,
    /// Gets.
    pub get: bool,
    /// Kinds of atomics.
    pub atomics: AtomicSet,
    /// Longest put or get, bytes.
    pub max_len: usize,
    /// Bytes of the pieces in which longer puts and gets go best, several of them at once.
    pub piece: usize,
}

impl RmaCaps {
    /// No operations.
    pub const NONE: RmaCaps = RmaCaps {
        put: false,
        get: false,
        atomics: AtomicSet::NONE,
        max_len: 0,
        piece: 0,
    };
}

/// What became of an operation that was to be started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Started {
    /// It is complete at the origin; nothing more is told of it. The value is the former word of a
    /// fetching atomic, else 0.
    Complete(u64),
    /// It is under way; [`Deliver::completed`](crate::Deliver::completed) will tell.
    UnderWay,
    /// Nothing was started. Call `poll`, then start it again.
    Full,
}

/// Operations on peers' memory, which a route may have: [`Rma::rma_caps`] says which.
///
/// Memory is registered by [`Transport::register`]. A call that starts an operation never blocks;
/// it fails at once where it is known that the operation cannot succeed, and else the failure is
/// delivered. When a peer is lost, all operations under way to it are completed with
/// [`RmaError::Lost`] or another error.
///
/// # Examples
/// Whoever starts an operation polls until it is told of its end:
/// ```
/// use catena_fabric::{Buf, Deliver, OpId, Peer, RemoteKey, Rma, RmaError, Started};
///
/// /// Begins to write `bytes` to a peer's memory; whether the end of that is still to be told.
/// ///
/// /// # Safety
/// /// `bytes` stay as they are until the end.
/// unsafe fn write<T: Rma, D: Deliver>(
///     way: &mut T, to: Peer, bytes: &[u8], target: RemoteKey, deliver: &mut D,
/// ) -> Result<bool, RmaError> {
///     assert!(way.rma_caps(to).put && bytes.len() <= way.rma_caps(to).max_len);
///     loop {
///         // SAFETY: as the caller promised.
///         match unsafe { way.put(OpId::new(0, 1), to, Buf::from(bytes), target)? } {
///             Started::Complete(_) => return Ok(false),
///             Started::UnderWay => return Ok(true),
///             Started::Full => _ = way.poll(deliver),
///         }
///     }
/// }
/// ```
pub trait Rma: Transport {
    /// The operations of the route to `peer`. Cost: a few loads.
    fn rma_caps(&self, _peer: Peer) -> RmaCaps {
        RmaCaps::NONE
    }

    /// Starts to write the bytes of `from` to `target` of `peer`. Memory of a kind that
    /// [the route does not take](crate::Caps::kinds) is refused.
    ///
    /// # Safety
    /// `from` must be valid, and nobody changes its bytes until the operation is complete at the
    /// origin.
    ///
    /// # Errors
    /// See [`RmaError`]; nothing was started then.
    unsafe fn put(
        &mut self,
        _op: OpId,
        _peer: Peer,
        _from: Buf,
        _target: RemoteKey,
    ) -> Result<Started, RmaError> {
        Err(RmaError::Unsupported)
    }

    /// Starts to read bytes at `target` of `peer` into `into`, as many as it has. Memory of a
    /// kind that [the route does not take](crate::Caps::kinds) is refused.
    ///
    /// # Safety
    /// `into` must be valid, and nobody else uses it until the operation is complete.
    ///
    /// # Errors
    /// See [`RmaError`]; nothing was started then.
    unsafe fn get(
        &mut self,
        _op: OpId,
        _peer: Peer,
        _into: Buf,
        _target: RemoteKey,
    ) -> Result<Started, RmaError> {
        Err(RmaError::Unsupported)
    }

    /// Starts an atomic on the word at `target` of `peer`.
    ///
    /// # Errors
    /// See [`RmaError`]; nothing was started then.
    fn atomic(
        &mut self,
        _op: OpId,
        _peer: Peer,
        _atomic: Atomic,
        _target: RemoteKey,
    ) -> Result<Started, RmaError> {
        Err(RmaError::Unsupported)
    }

    /// Starts to wait until all operations that this process started to `peer` before are complete
    /// at the target. Their own completions are told before that of the flush.
    ///
    /// # Errors
    /// See [`RmaError`]; nothing was started then.
    fn flush(&mut self, _op: OpId, _peer: Peer) -> Result<Started, RmaError> {
        Err(RmaError::Unsupported)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation::Access;

    #[test]
    fn atomics_compute_in_the_width_and_sign_of_their_type() {
        let atomic = |op, ty, operand: i64| Atomic {
            op,
            ty,
            operand: operand as u64,
            compare: 7,
            fetches: false,
        };
        let (i32, u32, i64) = (AtomicType::I32, AtomicType::U32, AtomicType::I64);
        assert_eq!(atomic(AtomicOp::Sum, u32, 1).apply(0xffff_ffff), 0);
        assert_eq!(atomic(AtomicOp::Sum, i64, -1).apply(0), u64::MAX);
        assert_eq!(atomic(AtomicOp::Min, i32, -1).apply(5), 0xffff_ffff);
        assert_eq!(atomic(AtomicOp::Min, u32, -1).apply(5), 5);
        assert_eq!(atomic(AtomicOp::Max, i64, -1).apply(5), 5);
        assert_eq!(atomic(AtomicOp::Max, u32, -1).apply(5), 0xffff_ffff);
        assert_eq!(atomic(AtomicOp::CompareSwap, u32, 9).apply(7), 9);
        assert_eq!(atomic(AtomicOp::CompareSwap, u32, 9).apply(8), 8);
        assert_eq!(atomic(AtomicOp::Xor, u32, -1).apply(1), 0xffff_fffe);
    }

    #[test]
    fn updates_do_what_atomics_compute() {
        for op in AtomicOp::ALL {
            for ty in AtomicType::ALL {
                for old in [0, 7, 0x8000_0000_ffff_ffff, u64::MAX] {
                    let atomic = Atomic {
                        op,
                        ty,
                        operand: 0x7fff_ffff_8000_0001,
                        compare: 7,
                        fetches: true,
                    };
                    let mut word = old;
                    // SAFETY: a word of our own.
                    let before = unsafe { atomic.update((&raw mut word).cast()) };
                    assert_eq!(before, ty.truncate(old));
                    let rest = old & !ty.truncate(u64::MAX);
                    assert_eq!(word, rest | atomic.apply(old), "{atomic:?} on {old:#x}");
                }
            }
        }
    }

    #[test]
    fn ids_say_whose_they_are() {
        let id = OpId::new(OpId::MESSAGES, OpId::LAST);
        assert_eq!((id.owner(), id.number()), (OpId::MESSAGES, OpId::LAST));
        assert_eq!(OpId::new(0, 9), OpId(9));
    }

    #[test]
    fn sets_tell_kinds_of_atomics_apart() {
        let atomic = |op, fetches| Atomic {
            op,
            ty: AtomicType::U64,
            operand: 0,
            compare: 0,
            fetches,
        };
        let set = AtomicSet::NONE.with(AtomicOp::Swap, AtomicType::U64, true);
        assert!(set.contains(&atomic(AtomicOp::Swap, true)));
        assert!(!set.contains(&atomic(AtomicOp::Swap, false)));
        assert!(!set.contains(&atomic(AtomicOp::Sum, true)));
        assert_eq!(format!("{set:?}"), "{(Swap, U64, true)}");
        assert!(AtomicSet::NONE.is_empty() && !set.is_empty());
    }

    #[test]
    fn accesses_are_allowed_one_by_one() {
        let both = Access::READ | Access::ATOMIC;
        assert!(both.allows(Access::READ) && both.allows(both));
        assert!(!both.allows(Access::WRITE) && !Access::READ.allows(both));
    }
}

//! How an operation on registered memory is named, what it may do, and why it fails.

use std::fmt;
use std::ops::BitOr;

use catena_memory::Kind;

use crate::peer::PeerLost;

/// The name that the origin of an operation gives it.
///
/// The transport only hands it back; ids of operations under way may be alike if the origin does
/// not tell them apart. Where several parts of a process start operations, the highest byte says
/// whose one is: see [`OpId::new`].
///
/// # Examples
/// ```
/// use catena_fabric::OpId;
///
/// let id = OpId::new(3, 77);
/// assert_eq!((id.owner(), id.number()), (3, 77));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(transparent)]
pub struct OpId(pub u64);

impl OpId {
    /// Owner of the operations that a network cuts longer ones into.
    pub const PIECES: u8 = 0xff;
    /// Owner of the operations by which long messages move.
    pub const MESSAGES: u8 = 0xfe;
    /// The highest number.
    pub const LAST: u64 = (1 << 56) - 1;

    /// Operation `number`, at most [`OpId::LAST`], of an owner.
    #[inline]
    pub const fn new(owner: u8, number: u64) -> OpId {
        debug_assert!(number <= OpId::LAST);
        OpId((owner as u64) << 56 | number)
    }

    /// Whose it is.
    #[inline]
    pub const fn owner(self) -> u8 {
        (self.0 >> 56) as u8
    }

    /// Its number among those of its owner.
    #[inline]
    pub const fn number(self) -> u64 {
        self.0 & OpId::LAST
    }
}

/// What peers may do with registered memory.
///
/// # Examples
/// ```
/// use catena_fabric::Access;
///
/// let plain = Access::READ | Access::WRITE;
/// assert!(plain.allows(Access::READ) && !plain.allows(Access::ATOMIC));
/// assert_eq!(plain.without(Access::READ), Access::WRITE);
/// assert_eq!(Access::from_bits(plain.bits()), plain);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Access(u8);

impl Access {
    /// Gets.
    pub const READ: Access = Access(1);
    /// Puts.
    pub const WRITE: Access = Access(2);
    /// Atomics.
    pub const ATOMIC: Access = Access(4);

    /// Whether all that `other` allows is allowed.
    #[inline]
    pub const fn allows(self, other: Access) -> bool {
        self.0 & other.0 == other.0
    }

    /// All of them but those in `other`.
    #[inline]
    #[must_use]
    pub const fn without(self, other: Access) -> Access {
        Access(self.0 & !other.0)
    }

    /// Those of them that `other` has, too.
    #[inline]
    #[must_use]
    pub const fn and(self, other: Access) -> Access {
        Access(self.0 & other.0)
    }

    /// As a number, which [`Access::from_bits`] reads.
    #[inline]
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// The accesses of a number; bits that mean nothing are dropped.
    #[inline]
    pub const fn from_bits(bits: u8) -> Access {
        Access(bits & 7)
    }
}

impl BitOr for Access {
    type Output = Access;

    fn bitor(self, other: Access) -> Access {
        Access(self.0 | other.0)
    }
}

/// Why an operation failed.
///
/// # Examples
/// ```
/// use catena_fabric::{Peer, PeerLost, RmaError};
///
/// let cause = "its host is down".to_string();
/// let error = RmaError::from(PeerLost { peer: Peer(3), cause });
/// assert_eq!(error.to_string(), "process 3 is lost: its host is down");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RmaError {
    /// The target is gone.
    Lost(PeerLost),
    /// No memory of the target is registered under that key.
    NoRegion,
    /// Some of the memory lies outside of the registered region.
    OutOfBounds,
    /// The region is not registered for that kind of access.
    Forbidden,
    /// The route does not have that operation.
    Unsupported,
    /// The route does not take memory of that kind.
    Memory(Kind),
    /// The network refused it, for this reason.
    Refused(String),
}

impl From<PeerLost> for RmaError {
    fn from(lost: PeerLost) -> RmaError {
        RmaError::Lost(lost)
    }
}

impl fmt::Display for RmaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RmaError::Lost(PeerLost { peer, cause }) => {
                write!(f, "process {} is lost: {cause}", peer.0)
            }
            RmaError::NoRegion => write!(f, "no memory is registered under that key"),
            RmaError::OutOfBounds => write!(f, "the memory lies outside of the registered region"),
            RmaError::Forbidden => write!(f, "the memory is not registered for such accesses"),
            RmaError::Unsupported => write!(f, "the route does not have that operation"),
            RmaError::Memory(kind) => write!(f, "the route does not take {kind} memory"),
            RmaError::Refused(cause) => write!(f, "the network refused the operation: {cause}"),
        }
    }
}

impl std::error::Error for RmaError {}

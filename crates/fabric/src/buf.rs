//! Memory of this process, as registrations and operations are told of it.

use catena_memory::Kind;

use crate::operation::RmaError;

/// By which an end of a network knows memory that was registered for its own operations:
/// [`Transport::register_local`](crate::Transport::register_local).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct LocalKey(
    /// The end's own number for it; 0 for none.
    pub u64,
);

impl LocalKey {
    /// None: what needs one is registered for each operation.
    pub const NONE: LocalKey = LocalKey(0);
}

/// Memory of this process: where it lies, how long it is, of which kind it is, and by which key an
/// end of a network knows it, if by any.
///
/// It is an address and no loan: what may be done with the bytes, and how long they are lent, is
/// said where it is handed over.
///
/// # Examples
/// ```
/// use catena_fabric::Buf;
///
/// let bytes = *b"hello";
/// let all = Buf::host(bytes.as_ptr(), bytes.len());
/// let rest = all.slice(3, 2);
/// assert_eq!((rest.at.cast_const(), rest.len), (bytes[3..].as_ptr(), 2));
/// assert!(rest.kind.is_host());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buf {
    /// Its first byte. An operation that only reads may be given memory that must not be written.
    pub at: *mut u8,
    /// Bytes.
    pub len: usize,
    /// What kind of memory it is, all of it.
    pub kind: Kind,
    /// The key for the operations of one end of a network.
    pub local: LocalKey,
}

// SAFETY: an address, which is read or written only by whoever is lent the memory.
unsafe impl Send for Buf {}

impl Buf {
    /// Host memory.
    #[inline]
    pub const fn host(at: *const u8, len: usize) -> Buf {
        Buf::of(Kind::Host, at, len)
    }

    /// Memory of a kind.
    #[inline]
    pub const fn of(kind: Kind, at: *const u8, len: usize) -> Buf {
        Buf {
            at: at.cast_mut(),
            len,
            kind,
            local: LocalKey::NONE,
        }
    }

    /// `len` bytes of it from byte `from` on, under the same key.
    #[inline]
    #[must_use]
    pub fn slice(self, from: usize, len: usize) -> Buf {
        debug_assert!(from.checked_add(len).is_some_and(|end| end <= self.len));
        Buf {
            at: self.at.wrapping_add(from),
            len,
            ..self
        }
    }

    /// This memory, for a route that takes the host's alone.
    ///
    /// # Errors
    /// [`RmaError::Memory`] if it is of another kind: a processor must not read or write it.
    #[inline]
    pub fn in_host(self) -> Result<Buf, RmaError> {
        match self.kind.is_host() {
            true => Ok(self),
            false => Err(RmaError::Memory(self.kind)),
        }
    }

    /// This memory, which an end of a network knows by that key.
    #[inline]
    #[must_use]
    pub fn with(self, local: LocalKey) -> Buf {
        Buf { local, ..self }
    }
}

impl From<&[u8]> for Buf {
    #[inline]
    fn from(bytes: &[u8]) -> Buf {
        Buf::host(bytes.as_ptr(), bytes.len())
    }
}

impl From<&mut [u8]> for Buf {
    #[inline]
    fn from(bytes: &mut [u8]) -> Buf {
        Buf::host(bytes.as_mut_ptr(), bytes.len())
    }
}

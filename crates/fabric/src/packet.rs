//! What a transport moves: headers and payloads.

use catena_base::PayloadRoom;

/// What stands in front of every payload: 24 bytes.
///
/// The transport carries all fields but `stamp` unchanged. Their meaning
/// belongs to `link`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C, align(8))]
pub struct Header {
    /// Free for the transport's own use (a lap counter, say); whatever the
    /// sender wrote here is lost.
    pub stamp: u8,
    /// Kind of packet.
    pub kind: u8,
    /// Sequence number within (peer, context).
    pub seq: u16,
    /// The receiver's local context id.
    pub context: u32,
    /// Rank of the sender within the context.
    pub source: u32,
    /// Tag, or a number that the kind defines.
    pub tag: i32,
    /// Length of the whole message in bytes, or a number that the kind defines.
    pub len: u64,
}

const _: () = assert!(size_of::<Header>() == 24);

/// Kinds of packets from here on are words of those who carry packets, not of `link`. Their sender
/// may end once they have left: a transport knows when that is.
pub const WORDS: u8 = 0xf0;

/// A payload on its way out.
///
/// # Examples
/// Two runs of bytes, one behind the other:
/// ```
/// use catena_base::PayloadRoom;
/// use catena_fabric::Payload;
///
/// struct Pair<'a>(&'a [u8], &'a [u8]);
///
/// impl Payload for Pair<'_> {
///     fn len(&self) -> usize {
///         self.0.len() + self.1.len()
///     }
///     fn contiguous(&self) -> Option<*const u8> {
///         None
///     }
///     fn write(&self, mut room: PayloadRoom<'_>) {
///         room.write(0, self.0);
///         room.write(self.0.len(), self.1);
///     }
/// }
///
/// let (pair, mut bytes) = (Pair(b"head", b"body"), [0; 8]);
/// // SAFETY: an array of that length, ours alone.
/// pair.write(unsafe { PayloadRoom::new(bytes.as_mut_ptr(), pair.len()) });
/// assert_eq!(&bytes, b"headbody");
/// ```
pub trait Payload {
    /// Number of bytes.
    fn len(&self) -> usize;

    /// Whether there are none.
    #[inline]
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes' address if they are contiguous, so that a transport may
    /// choose how to copy them.
    fn contiguous(&self) -> Option<*const u8>;

    /// Writes all bytes into `room`, whose length is `self.len()`.
    fn write(&self, room: PayloadRoom<'_>);

    /// Its bytes as three runs, one behind the other, if they lie so: a transport may hand them
    /// over where they are.
    fn runs(&self) -> Option<[&[u8]; 3]> {
        None
    }
}

impl Payload for &[u8] {
    #[inline]
    fn len(&self) -> usize {
        <[u8]>::len(self)
    }

    #[inline]
    fn contiguous(&self) -> Option<*const u8> {
        Some(self.as_ptr())
    }

    #[inline]
    fn write(&self, mut room: PayloadRoom<'_>) {
        room.write(0, self);
    }
}

/// What became of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Posted {
    /// The payload is copied out. It may not have been delivered yet.
    Done,
    /// Nothing was sent. Call `poll`, then post again.
    Full,
}

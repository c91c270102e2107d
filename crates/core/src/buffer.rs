//! The user's buffers, as `link` sees them: streams of packed bytes.
//!
//! A buffer belongs to a request from the call that starts it to the one that
//! completes it (MPI-5, chapter 3.7): until then the program promises not to
//! free it. That promise is what every `SAFETY` line here rests on.

use std::ptr;

use catena_base::{PeerBytes, Room, copy};
use catena_datatype::TypeRef;
use catena_fabric::Payload;
use catena_link::{Sink, Source};

use catena_objects::error::{Result, no_memory};

/// `count` elements of a type that are not one run of bytes.
#[derive(Debug)]
pub struct Typed<P> {
    base: P,
    count: u64,
    len: u64,
    ty: TypeRef,
}

/// A message to send.
#[derive(Debug)]
pub enum SendBuf {
    /// One run of bytes in the program's memory.
    Bytes(*const u8, u64),
    /// Elements to be packed on the way.
    Typed(Box<Typed<*const u8>>),
    /// A copy that the library owns (buffered sends, its own messages).
    Owned(Box<[u8]>),
}

/// Room for a message.
#[derive(Debug)]
pub enum RecvBuf {
    /// One run of bytes in the program's memory.
    Bytes(*mut u8, u64),
    /// Elements to be unpacked on the way.
    Typed(Box<Typed<*mut u8>>),
}

impl SendBuf {
    /// No bytes.
    pub const EMPTY: SendBuf = SendBuf::Bytes(ptr::null(), 0);

    /// `count` elements of `ty` at `base`.
    #[inline]
    pub fn new(base: *const u8, count: u64, ty: &TypeRef) -> Self {
        if ty.is_contiguous() {
            SendBuf::Bytes(base, count * ty.size())
        } else {
            SendBuf::typed(base, count, ty)
        }
    }

    #[cold]
    fn typed(base: *const u8, count: u64, ty: &TypeRef) -> Self {
        SendBuf::Typed(Box::new(Typed {
            base,
            count,
            len: count * ty.size(),
            ty: ty.clone(),
        }))
    }

    /// All bytes, packed into memory of their own.
    ///
    /// # Errors
    /// `NoMem` if there is not enough.
    pub fn to_owned_bytes(&self) -> Result<Box<[u8]>> {
        let len = self.len() as usize;
        let mut out = Vec::new();
        out.try_reserve_exact(len).map_err(|_| no_memory(len))?;
        // SAFETY: capacity was reserved, and the copy initialises all of it.
        unsafe {
            self.copy(0, out.as_mut_ptr(), len);
            out.set_len(len);
        }
        Ok(out.into_boxed_slice())
    }

    /// Copies packed bytes `[from, from + len)` to `out`.
    ///
    /// # Safety
    /// `out` must be valid for `len` bytes, and the range within the message.
    #[inline]
    unsafe fn copy(&self, from: u64, out: *mut u8, len: usize) {
        match self {
            SendBuf::Bytes(..) | SendBuf::Owned(_) => {
                let base = self.contiguous().expect("not typed");
                // SAFETY: the program lends the buffer, the caller `out`.
                unsafe { copy::plain(out, base.add(from as usize), len) }
            }
            SendBuf::Typed(t) => {
                // SAFETY: as above, with the layout that the type describes.
                unsafe { t.ty.pack(t.base, t.count, from, out, len) }
            }
        }
    }
}

/// Part of a message on its way out.
#[derive(Debug)]
pub struct Part<'a> {
    buf: &'a SendBuf,
    from: u64,
    len: usize,
}

impl Payload for Part<'_> {
    #[inline]
    fn len(&self) -> usize {
        self.len
    }

    #[inline]
    fn contiguous(&self) -> Option<*const u8> {
        self.buf
            .contiguous()
            .map(|at| at.wrapping_add(self.from as usize))
    }

    #[inline]
    fn write(&self, mut room: Room<'_>) {
        debug_assert_eq!(room.len(), self.len);
        // SAFETY: the room is as long as the part, which is within the message.
        unsafe { self.buf.copy(self.from, room.as_mut_ptr(), self.len) }
    }
}

impl Source for SendBuf {
    type Part<'a> = Part<'a>;

    #[inline]
    fn len(&self) -> u64 {
        match self {
            SendBuf::Bytes(_, len) => *len,
            SendBuf::Owned(bytes) => bytes.len() as u64,
            SendBuf::Typed(t) => t.len,
        }
    }

    #[inline]
    fn part(&self, from: u64, len: usize) -> Part<'_> {
        debug_assert!(
            from + len as u64 <= Source::len(self),
            "part beyond the message"
        );
        Part {
            buf: self,
            from,
            len,
        }
    }

    #[inline]
    fn contiguous(&self) -> Option<*const u8> {
        match self {
            SendBuf::Bytes(at, _) => Some(*at),
            SendBuf::Owned(bytes) => Some(bytes.as_ptr()),
            SendBuf::Typed(_) => None,
        }
    }
}

impl RecvBuf {
    /// No room.
    pub const EMPTY: RecvBuf = RecvBuf::Bytes(ptr::null_mut(), 0);

    /// `count` elements of `ty` at `base`.
    #[inline]
    pub fn new(base: *mut u8, count: u64, ty: &TypeRef) -> Self {
        if ty.is_contiguous() {
            RecvBuf::Bytes(base, count * ty.size())
        } else {
            RecvBuf::typed(base, count, ty)
        }
    }

    #[cold]
    fn typed(base: *mut u8, count: u64, ty: &TypeRef) -> Self {
        RecvBuf::Typed(Box::new(Typed {
            base,
            count,
            len: count * ty.size(),
            ty: ty.clone(),
        }))
    }
}

impl Sink for RecvBuf {
    #[inline]
    fn room(&self) -> u64 {
        match self {
            RecvBuf::Bytes(_, len) => *len,
            RecvBuf::Typed(t) => t.len,
        }
    }

    #[inline(always)]
    fn place(&mut self, at: u64, bytes: PeerBytes<'_>) {
        let room = self.room();
        if at >= room {
            return;
        }
        let bytes = bytes.part(0, (room - at).min(bytes.len() as u64) as usize);
        match self {
            // SAFETY: within the buffer that the program lends.
            RecvBuf::Bytes(base, _) => unsafe { bytes.copy_to(base.add(at as usize)) },
            // SAFETY: as above, with the layout that the type describes.
            RecvBuf::Typed(t) => unsafe {
                t.ty.unpack(t.base, t.count, at, bytes.as_ptr(), bytes.len());
            },
        }
    }

    #[inline]
    fn contiguous(&mut self) -> Option<*mut u8> {
        match self {
            RecvBuf::Bytes(at, _) => Some(*at),
            RecvBuf::Typed(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use catena_datatype::Datatype;

    #[test]
    fn a_strided_message_streams_in_parts() {
        let int = Datatype::predefined(0x209).expect("MPI_INT");
        let column = Datatype::vector(4, 1, 3, int).unwrap();
        let grid: Vec<i32> = (0..12).collect();
        let out = SendBuf::new(grid.as_ptr().cast(), 1, &column);
        assert_eq!(Source::len(&out), 16);
        assert!(out.contiguous().is_none());
        let mut back = vec![-1i32; 12];
        let mut sink = RecvBuf::new(back.as_mut_ptr().cast(), 1, &column);
        for (from, len) in [(0, 5), (5, 7), (12, 4)] {
            let mut bytes = vec![0u8; len];
            // SAFETY: a vector of that length.
            out.part(from, len)
                .write(unsafe { Room::new(bytes.as_mut_ptr(), len) });
            sink.place(from, PeerBytes::from(&bytes[..]));
        }
        assert_eq!(back, [0, -1, -1, 3, -1, -1, 6, -1, -1, 9, -1, -1]);
        assert_eq!(
            &*out.to_owned_bytes().unwrap(),
            &[0, 0, 0, 0, 3, 0, 0, 0, 6, 0, 0, 0, 9, 0, 0, 0]
        );
    }

    #[test]
    fn what_does_not_fit_is_dropped() {
        let mut room = [0u8; 4];
        let mut sink = RecvBuf::Bytes(room.as_mut_ptr(), 4);
        sink.place(2, PeerBytes::from(&[1u8, 2, 3, 4][..]));
        sink.place(9, PeerBytes::from(&[9u8][..]));
        assert_eq!(room, [0, 0, 1, 2]);
    }
}

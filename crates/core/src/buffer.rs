//! The user's buffers, as `link` sees them: streams of packed bytes.
//!
//! A buffer belongs to a request from the call that starts it to the one that
//! completes it (MPI-5, chapter 3.7): until then the program promises not to
//! free it. That promise is what every `SAFETY` line here rests on.
//!
//! A buffer that is a run of bytes lies in host memory, and transports may read and
//! write it where it lies. Any other buffer says in which kind of memory it lies, and
//! its bytes are packed and unpacked part by part, as packets take and bring them.

use std::ptr;

use catena_base::{PeerBytes, Room, copy};
use catena_datatype::TypeRef;
use catena_fabric::Payload;
use catena_link::{Sink, Source};
use catena_memory::{self as memory, Kind};

use catena_objects::error::{Result, no_memory};

/// `count` elements of a type that are not one run of bytes in host memory.
#[derive(Clone, Debug)]
pub struct Typed {
    base: *mut u8,
    count: u64,
    len: u64,
    ty: TypeRef,
    kind: Kind,
}

impl Typed {
    /// `count` elements of `ty` at `base`, in the kind of memory that their first
    /// byte lies in.
    pub(crate) fn new(base: *mut u8, count: u64, ty: &TypeRef) -> Self {
        Typed {
            base,
            count,
            len: count.saturating_mul(ty.size()),
            ty: ty.clone(),
            kind: kind(base, count, ty),
        }
    }

    /// Bytes of the packed elements.
    #[inline]
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// Copies packed bytes `[from, from + len)` to `out`.
    ///
    /// # Safety
    /// The elements and `out` are valid, and the range is within the elements.
    #[inline]
    pub(crate) unsafe fn pack(&self, from: u64, out: *mut u8, len: usize) {
        if self.kind.is_host() {
            // SAFETY: the caller's promise.
            unsafe { self.ty.pack(self.base, self.count, from, out, len) }
        } else {
            // SAFETY: as above.
            unsafe { self.read_runs(from, out, len) }
        }
    }

    /// Copies `len` bytes at `bytes` to where packed bytes `[from, from + len)`
    /// belong.
    ///
    /// # Safety
    /// The elements may be written, `bytes` is valid, and the range is within the
    /// elements.
    #[inline]
    pub(crate) unsafe fn unpack(&self, from: u64, bytes: *const u8, len: usize) {
        if self.kind.is_host() {
            // SAFETY: the caller's promise.
            unsafe { self.ty.unpack(self.base, self.count, from, bytes, len) }
        } else {
            // SAFETY: as above.
            unsafe { self.write_runs(from, bytes, len) }
        }
    }

    /// Packs memory that is not the host's, run by run.
    ///
    /// # Safety
    /// As [`Typed::pack`].
    #[cold]
    unsafe fn read_runs(&self, from: u64, mut out: *mut u8, len: usize) {
        self.ty.each_run(self.count, from, len, |at, len| {
            let run = (self.kind, self.base.cast_const().wrapping_offset(at));
            // SAFETY: the caller's promise.
            unsafe { memory::read(out, run, len) }.expect("a device has told its kind");
            out = out.wrapping_add(len);
        });
    }

    /// Unpacks to memory that is not the host's, run by run.
    ///
    /// # Safety
    /// As [`Typed::unpack`].
    #[cold]
    unsafe fn write_runs(&self, from: u64, mut bytes: *const u8, len: usize) {
        self.ty.each_run(self.count, from, len, |at, len| {
            let run = (self.kind, self.base.wrapping_offset(at));
            // SAFETY: the caller's promise.
            unsafe { memory::write(run, bytes, len) }.expect("a device has told its kind");
            bytes = bytes.wrapping_add(len);
        });
    }
}

/// The kind of memory that `count` elements at `base` lie in, by their first byte.
fn kind(base: *const u8, count: u64, ty: &TypeRef) -> Kind {
    if memory::is_host_only() || count == 0 || ty.size() == 0 {
        return Kind::Host;
    }
    memory::kind(base.wrapping_offset(ty.true_lb() as isize))
}

/// Whether `count` elements at `base` lie in host memory.
pub(crate) fn is_host(base: *const u8, count: u64, ty: &TypeRef) -> bool {
    kind(base, count, ty).is_host()
}

/// Whether the elements are one run of bytes in host memory, so that they may be read
/// and written where they lie.
#[inline]
pub fn is_run(base: *const u8, count: u64, ty: &TypeRef) -> bool {
    let host_only = memory::is_host_only();
    (ty.is_contiguous() & host_only) || (!host_only && is_run_among_devices(base, count, ty))
}

/// What [`is_run`] says where there is other memory, too.
#[cold]
fn is_run_among_devices(base: *const u8, count: u64, ty: &TypeRef) -> bool {
    ty.is_contiguous() && is_host(base, count, ty)
}

/// A message to send.
#[derive(Debug)]
pub enum SendBuf {
    /// One run of bytes in the program's host memory.
    Bytes(*const u8, u64),
    /// Elements to be packed on the way.
    Typed(Box<Typed>),
    /// A copy that the library owns (buffered sends, its own messages).
    Owned(Box<[u8]>),
}

/// Room for a message.
#[derive(Debug)]
pub enum RecvBuf {
    /// One run of bytes in the program's host memory.
    Bytes(*mut u8, u64),
    /// Elements to be unpacked on the way.
    Typed(Box<Typed>),
}

impl SendBuf {
    /// No bytes.
    pub const EMPTY: SendBuf = SendBuf::Bytes(ptr::null(), 0);

    /// `count` elements of `ty` at `base`.
    #[inline]
    pub fn new(base: *const u8, count: u64, ty: &TypeRef) -> Self {
        if is_run(base, count, ty) {
            SendBuf::Bytes(base, count * ty.size())
        } else {
            SendBuf::typed(base, count, ty)
        }
    }

    #[cold]
    fn typed(base: *const u8, count: u64, ty: &TypeRef) -> Self {
        SendBuf::Typed(Box::new(Typed::new(base.cast_mut(), count, ty)))
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
                unsafe { t.pack(from, out, len) }
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
            SendBuf::Typed(t) => t.len(),
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
        if is_run(base, count, ty) {
            RecvBuf::Bytes(base, count * ty.size())
        } else {
            RecvBuf::typed(base, count, ty)
        }
    }

    #[cold]
    fn typed(base: *mut u8, count: u64, ty: &TypeRef) -> Self {
        RecvBuf::Typed(Box::new(Typed::new(base, count, ty)))
    }
}

impl Sink for RecvBuf {
    #[inline]
    fn capacity(&self) -> u64 {
        match self {
            RecvBuf::Bytes(_, len) => *len,
            RecvBuf::Typed(t) => t.len(),
        }
    }

    #[inline(always)]
    fn place(&mut self, at: u64, bytes: PeerBytes<'_>) {
        let room = self.capacity();
        if at >= room {
            return;
        }
        let bytes = bytes.part(0, (room - at).min(bytes.len() as u64) as usize);
        match self {
            // SAFETY: within the buffer that the program lends.
            RecvBuf::Bytes(base, _) => unsafe { bytes.copy_to(base.add(at as usize)) },
            // SAFETY: as above, with the layout that the type describes.
            RecvBuf::Typed(t) => unsafe { t.unpack(at, bytes.as_ptr(), bytes.len()) },
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
    use crate::device;
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
    fn a_message_on_a_device_is_staged_and_never_read_by_address() {
        let int = Datatype::predefined(0x209).expect("MPI_INT");
        let column = Datatype::vector(4, 1, 3, int).unwrap();
        for (ty, count, expected) in [(int, 4, [0, 1, 2, 3]), (&column, 1, [0, 3, 6, 9])] {
            let mut grid: Vec<i32> = (0..12).collect();
            let out = SendBuf::new(device::lend(&mut grid), count, ty);
            assert!(out.contiguous().is_none() && out.part(0, 16).contiguous().is_none());
            let mut back = vec![-1i32; 12];
            let mut sink = RecvBuf::new(device::lend(&mut back), count, ty);
            assert!(sink.contiguous().is_none());
            for (from, len) in [(0, 5), (5, 7), (12, 4)] {
                let mut bytes = vec![0u8; len];
                // SAFETY: a vector of that length.
                out.part(from, len)
                    .write(unsafe { Room::new(bytes.as_mut_ptr(), len) });
                sink.place(from, PeerBytes::from(&bytes[..]));
            }
            let came = SendBuf::new(back.as_ptr().cast(), count, ty);
            let bytes: Vec<u8> = expected.iter().flat_map(|i| i32::to_ne_bytes(*i)).collect();
            assert_eq!(*came.to_owned_bytes().unwrap(), *bytes);
            assert_eq!(*out.to_owned_bytes().unwrap(), *bytes);
            assert_eq!(back.iter().filter(|&&i| i == -1).count(), 8, "gaps stay");
        }
    }

    #[test]
    fn host_memory_is_read_by_address_next_to_a_device() {
        let int = Datatype::predefined(0x209).expect("MPI_INT");
        let mut ints = [1i32, 2];
        let _far = device::lend(&mut [0u8]);
        let out = SendBuf::new(ints.as_ptr().cast(), 2, int);
        assert_eq!(out.contiguous(), Some(ints.as_ptr().cast()));
        let mut sink = RecvBuf::new(ints.as_mut_ptr().cast(), 2, int);
        assert_eq!(sink.contiguous(), Some(ints.as_mut_ptr().cast()));
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

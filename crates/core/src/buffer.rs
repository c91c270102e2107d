//! The user's buffers, as `link` sees them: streams of packed bytes.
//!
//! A buffer belongs to a request from the call that starts it to the one that
//! completes it (MPI-5, chapter 3.7): until then the program promises not to
//! free it. That promise is what every `SAFETY` line here rests on.
//!
//! A buffer that is a run of bytes lies in host memory, and transports may read and
//! write it where it lies. Any other buffer says in which kind of memory it lies, and
//! its bytes are packed and unpacked part by part, as packets take and bring them. What
//! lies on a device goes through a window in host memory, which many parts share.

use std::cell::RefCell;
use std::ptr;

use catena_base::{PayloadRoom, PeerBytes, copy};
use catena_datatype::{Datatype, TypeRef};
use catena_fabric::{Buf, Payload};
use catena_link::{Numbers, Sink, Source};
use catena_memory::{self as memory, Copies, Copy, CopyError, Direction, Kind, Rows};

use catena_objects::error::{Result, no_memory};

use crate::check::{self, CHECK};
use crate::compress::LEAST;
use crate::window::{MOST, Window};

/// `count` elements of a type, wherever they lie, such as those that are not one run of bytes in
/// host memory.
#[derive(Clone, Debug)]
pub struct Typed {
    base: *mut u8,
    count: u64,
    len: u64,
    ty: TypeRef,
    kind: Kind,
    /// What the elements are, if the message may be compressed.
    numbers: Option<Numbers>,
    /// Of a buffer on a device: what was read ahead of a message to send, or is still to be written
    /// of one that comes.
    window: RefCell<Window>,
}

impl Typed {
    /// `count` elements of `ty` at `base`, in the kind of memory that their first
    /// byte lies in.
    pub fn new(base: *mut u8, count: u64, ty: &TypeRef) -> Self {
        Typed {
            base,
            count,
            len: count.saturating_mul(ty.size()),
            ty: ty.clone(),
            kind: kind(base, count, ty),
            numbers: None,
            window: RefCell::default(),
        }
    }

    /// Part `i` of `n` that have equally many elements.
    pub(crate) fn part(&self, i: usize, n: usize) -> Typed {
        let count = self.count / n as u64;
        let at = (count as isize).wrapping_mul(self.ty.extent() as isize);
        let base = self.base.wrapping_offset(at.wrapping_mul(i as isize));
        Typed::new(base, count, &self.ty)
    }

    /// What a message of its first `len` bytes says of its elements in checked mode; 0 if nothing,
    /// or if they do not end with an element.
    fn seal(&self, len: u64) -> u32 {
        self.ty.fingerprint(len).map_or(0, check::seal)
    }

    /// Compares what has come in checked mode with what is expected, and tells the tool if it does
    /// not fit.
    #[cold]
    fn compare(&self, sent: u32, source: u32, len: u64) {
        // A message that is too long is told as such.
        if sent == 0 || len > self.len {
            return;
        }
        let expected = self.ty.fingerprint(len).map(check::seal);
        if expected.is_some_and(|expected| [0, sent].contains(&expected)) {
            return;
        }
        let expected = match expected {
            Some(seal) => check::words(seal),
            None => format!("a part of an element ({len} bytes do not end with one)"),
        };
        check::tell(self.base, source, len, &check::words(sent), &expected);
    }

    /// Where they lie, if it is one run of bytes of a device. Those that lie in the host's memory
    /// are packed: what is one run there is no [`Typed`], but where messages have seals.
    #[cold]
    fn run(&self) -> Option<Buf> {
        let at = self.base.wrapping_offset(self.ty.true_lb() as isize);
        let is_run = !self.kind.is_host() && self.ty.is_contiguous();
        is_run.then(|| Buf::of(self.kind, at, self.len as usize))
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
    pub unsafe fn pack(&self, from: u64, out: *mut u8, len: usize) {
        if self.kind.is_host() {
            // SAFETY: the caller's promise.
            unsafe { self.ty.pack(self.base, self.count, from, out, len) }
        } else {
            // SAFETY: as above.
            unsafe { self.read_ahead(from, out, len) }
        }
    }

    /// Copies `len` bytes at `bytes` to where packed bytes `[from, from + len)`
    /// belong.
    ///
    /// # Safety
    /// The elements may be written, `bytes` is valid, and the range is within the
    /// elements.
    #[inline]
    pub unsafe fn unpack(&self, from: u64, bytes: *const u8, len: usize) {
        if self.kind.is_host() {
            // SAFETY: the caller's promise.
            unsafe { self.ty.unpack(self.base, self.count, from, bytes, len) }
        } else {
            // SAFETY: as above.
            unsafe { self.write_runs(from, bytes, len) }
        }
    }

    /// Packs memory that is not the host's, and as much of what follows as a window holds.
    ///
    /// # Safety
    /// As [`Typed::pack`].
    #[cold]
    unsafe fn read_ahead(&self, from: u64, out: *mut u8, len: usize) {
        let mut window = self.window.borrow_mut();
        if window.part(from, len).is_none() {
            let ahead = (self.len - from).min(MOST as u64) as usize;
            match (ahead > len).then(|| window.open(from, ahead)).flatten() {
                // SAFETY: within the elements, and the window is as long.
                Some(room) => unsafe { self.read_runs(from, room.as_mut_ptr(), ahead) },
                // SAFETY: the caller's promise.
                None => return unsafe { self.read_runs(from, out, len) },
            }
        }
        let part = window.part(from, len).expect("it was read");
        // SAFETY: as above.
        unsafe { out.copy_from_nonoverlapping(part.as_ptr(), len) };
    }

    /// Unpacks a part of a message, at the latest with the last one.
    ///
    /// # Safety
    /// As [`Typed::unpack`].
    #[cold]
    unsafe fn gather(&self, at: u64, bytes: PeerBytes<'_>, is_last: bool) {
        let mut window = self.window.borrow_mut();
        let flush = |window: &mut Window| {
            if !window.bytes.is_empty() {
                // SAFETY: what was given before, to the same elements.
                unsafe { self.write_runs(window.from, window.bytes.as_ptr(), window.bytes.len()) };
                window.bytes.clear();
            }
        };
        if !window.takes(at, bytes.len()) {
            flush(&mut window);
            window.from = at;
        }
        let before = window.bytes.len();
        if bytes.len() > MOST || window.bytes.try_reserve(bytes.len()).is_err() {
            flush(&mut window);
            // SAFETY: the caller's promise.
            unsafe { self.write_runs(at, bytes.as_ptr(), bytes.len()) };
            window.from = at + bytes.len() as u64;
        } else {
            window.bytes.resize(before + bytes.len(), 0);
            bytes.read(&mut window.bytes[before..]);
        }
        if is_last {
            flush(&mut window);
        }
    }

    /// Packs memory that is not the host's, by as few copies as its rows allow.
    ///
    /// # Safety
    /// As [`Typed::pack`].
    #[cold]
    unsafe fn read_runs(&self, from: u64, mut out: *mut u8, len: usize) {
        let mut copies = Batch::of(self.kind);
        self.each_rows(from, len, |at, rows| {
            let copy = Copy {
                to: out,
                from: self.base.cast_const().wrapping_offset(at),
                rows,
                direction: Direction::ToHost,
            };
            // SAFETY: the caller's promise.
            unsafe { copies.begin(copy) };
            out = out.wrapping_add(rows.bytes());
        });
        copies.wait();
    }

    /// Unpacks to memory that is not the host's, likewise.
    ///
    /// # Safety
    /// As [`Typed::unpack`].
    #[cold]
    unsafe fn write_runs(&self, from: u64, mut bytes: *const u8, len: usize) {
        let mut copies = Batch::of(self.kind);
        self.each_rows(from, len, |at, rows| {
            let copy = Copy {
                to: self.base.wrapping_offset(at),
                from: bytes,
                rows,
                direction: Direction::ToDevice,
            };
            // SAFETY: the caller's promise.
            unsafe { copies.begin(copy) };
            bytes = bytes.wrapping_add(rows.bytes());
        });
        copies.wait();
    }

    /// Calls `f` with where packed bytes `[from, from + len)` lie, relative to `base`: runs that
    /// are as long and as far apart as each other together.
    fn each_rows(&self, from: u64, len: usize, mut f: impl FnMut(isize, Rows)) {
        let mut open: Option<(isize, Rows)> = None;
        self.ty.each_run(self.count, from, len, |at, len| {
            let joins = |(first, rows): &mut (isize, Rows)| rows.join(at - *first, len);
            if !open.as_mut().is_some_and(joins)
                && let Some((first, rows)) = open.replace((at, Rows::one(len)))
            {
                f(first, rows);
            }
        });
        if let Some((first, rows)) = open {
            f(first, rows);
        }
    }
}

/// Copies to or from a device that are waited for together. One that the device fails to make ends
/// the process, as an address that is not mapped does in host memory.
pub(crate) struct Batch {
    copies: Copies,
    /// The last one.
    last: Option<Copy>,
}

impl Batch {
    pub(crate) fn of(kind: Kind) -> Batch {
        let copies = Copies::of(kind).expect("a device has told its kind");
        Batch { copies, last: None }
    }

    /// Begins one.
    ///
    /// # Safety
    /// Both sides are valid until [`Batch::wait`].
    pub(crate) unsafe fn begin(&mut self, copy: Copy) {
        // SAFETY: the caller's promise.
        let begun = unsafe { self.copies.begin(&copy) };
        begun.unwrap_or_else(|error| give_up(&copy, &error));
        self.last = Some(copy);
    }

    pub(crate) fn wait(self) {
        if let (Err(error), Some(last)) = (self.copies.wait(), &self.last) {
            give_up(last, &error);
        }
    }
}

/// Ends the process, and says which copy was not made and why.
#[cold]
fn give_up(copy: &Copy, error: &CopyError) -> ! {
    let (bytes, at) = (copy.rows.bytes(), copy.on_device());
    catena_base::tell!(
        "catena: {bytes} bytes of device memory at {at:p} cannot be copied: {error}; is the buffer \
         that was passed to MPI still there, and has no kernel failed before?"
    );
    std::process::abort();
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

/// Whether the address lies in host memory.
#[inline]
pub fn is_on_host(at: *const u8) -> bool {
    memory::is_host_only() || memory::kind(at).is_host()
}

/// Whether the elements are one run of bytes in host memory, so that they may be read
/// and written where they lie.
#[inline]
pub fn is_run(base: *const u8, count: u64, ty: &TypeRef) -> bool {
    let host_only = memory::is_host_only();
    (ty.is_contiguous() & host_only) || (!host_only && is_run_among_devices(base, count, ty))
}

/// What [`is_run`] says where there is other memory, too.
#[inline(never)]
fn is_run_among_devices(base: *const u8, count: u64, ty: &TypeRef) -> bool {
    ty.is_contiguous() && is_host(base, count, ty)
}

/// Whether elements and their packed bytes both lie in host memory.
#[inline]
pub fn are_on_host(base: *const u8, count: u64, ty: &TypeRef, packed: *const u8) -> bool {
    memory::is_host_only() || (is_host(base, count, ty) && is_on_host(packed))
}

/// Packs all of `count` elements to `out`, in whichever memory both lie.
///
/// # Errors
/// As [`fetch`].
///
/// # Safety
/// Both are valid.
#[cold]
pub unsafe fn pack_across(base: *const u8, count: u64, ty: &TypeRef, out: *mut u8) -> Result<()> {
    let packed = SendBuf::new(base, count, ty).to_owned_bytes()?;
    // SAFETY: the caller's promise.
    unsafe { store(out, &packed) };
    Ok(())
}

/// Unpacks the bytes at `from` to all of `count` elements, in whichever memory both lie.
///
/// # Errors
/// As [`fetch`].
///
/// # Safety
/// Both are valid.
#[cold]
pub unsafe fn unpack_across(
    base: *mut u8,
    count: u64,
    ty: &TypeRef,
    from: *const u8,
) -> Result<()> {
    // SAFETY: the caller's promise.
    let packed = unsafe { fetch(from, (count * ty.size()) as usize)? };
    RecvBuf::new(base, count, ty).place(0, PeerBytes::from(&*packed));
    Ok(())
}

/// Copies bytes to `at`, in whichever memory that lies.
///
/// # Safety
/// `at` is valid for as many bytes.
pub unsafe fn store(at: *mut u8, bytes: &[u8]) {
    RecvBuf::new(at, bytes.len() as u64, byte()).place(0, PeerBytes::from(bytes));
}

/// The `len` bytes at `at`, in whichever memory they lie, as a copy.
///
/// # Errors
/// `NoMem` if there is not enough memory for it.
///
/// # Safety
/// `at` is valid for `len` bytes.
pub unsafe fn fetch(at: *const u8, len: usize) -> Result<Box<[u8]>> {
    SendBuf::new(at, len as u64, byte()).to_owned_bytes()
}

/// `MPI_BYTE`.
fn byte() -> &'static TypeRef {
    Datatype::predefined(catena_abi::consts::BYTE.0 as u16).expect("predefined")
}

/// A message to send.
#[derive(Debug)]
pub enum SendBuf {
    /// One run of bytes in the program's host memory.
    Bytes(*const u8, u64),
    /// Elements to be packed on the way.
    Typed(Box<Typed>),
    /// One run of bytes in the program's host memory, which may be compressed on the way.
    Numbers(Box<(*const u8, u64, Numbers)>),
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
        if ty.is_contiguous() & memory::is_host_only() {
            SendBuf::Bytes(base, count * ty.size())
        } else {
            SendBuf::closely(base, count, ty)
        }
    }

    /// `count` elements of `ty` at `base`, which may be compressed on the way.
    pub(crate) fn compressible(
        base: *const u8,
        count: u64,
        ty: &TypeRef,
        numbers: Numbers,
    ) -> Self {
        match is_run(base, count, ty) && !CHECK.get() {
            true => SendBuf::run_of(base, count * ty.size(), numbers),
            false => SendBuf::Typed(Box::new(Typed {
                numbers: Some(numbers),
                ..Typed::new(base.cast_mut(), count, ty)
            })),
        }
    }

    /// A run of bytes in host memory that may be compressed, if it is long enough.
    pub(crate) fn run_of(at: *const u8, len: u64, numbers: Numbers) -> Self {
        match len >= LEAST {
            true => SendBuf::Numbers(Box::new((at, len, numbers))),
            false => SendBuf::Bytes(at, len),
        }
    }

    /// Elements that may be on a device, or are compared with those that are received.
    #[cold]
    fn closely(base: *const u8, count: u64, ty: &TypeRef) -> Self {
        match is_run(base, count, ty) && !CHECK.get() {
            true => SendBuf::Bytes(base, count * ty.size()),
            false => SendBuf::Typed(Box::new(Typed::new(base.cast_mut(), count, ty))),
        }
    }

    /// Where the message lies in the host's memory, if it is one run there.
    #[inline]
    pub fn contiguous(&self) -> Option<*const u8> {
        match self {
            SendBuf::Bytes(at, _) => Some(*at),
            SendBuf::Numbers(run) => Some(run.0),
            SendBuf::Owned(bytes) => Some(bytes.as_ptr()),
            SendBuf::Typed(_) => None,
        }
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
            SendBuf::Bytes(..) | SendBuf::Numbers(_) | SendBuf::Owned(_) => {
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
    fn write(&self, mut room: PayloadRoom<'_>) {
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
            SendBuf::Numbers(run) => run.1,
            SendBuf::Owned(bytes) => bytes.len() as u64,
            SendBuf::Typed(t) => t.len(),
        }
    }

    fn seal(&self) -> u32 {
        match self {
            SendBuf::Typed(t) => t.seal(t.len),
            _ => 0,
        }
    }

    fn numbers(&self) -> Option<Numbers> {
        match self {
            SendBuf::Typed(t) => t.numbers,
            SendBuf::Numbers(run) => Some(run.2),
            _ => None,
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
    fn run(&self) -> Option<Buf> {
        match self {
            SendBuf::Bytes(at, len) => Some(Buf::host(*at, *len as usize)),
            SendBuf::Numbers(run) => Some(Buf::host(run.0, run.1 as usize)),
            SendBuf::Owned(bytes) => Some(Buf::from(&**bytes)),
            SendBuf::Typed(t) => t.run(),
        }
    }
}

impl RecvBuf {
    /// No room.
    pub const EMPTY: RecvBuf = RecvBuf::Bytes(ptr::null_mut(), 0);

    /// Where the room lies in the host's memory, if it is one run there.
    #[inline]
    pub fn contiguous(&self) -> Option<*mut u8> {
        match self {
            RecvBuf::Bytes(at, _) => Some(*at),
            RecvBuf::Typed(_) => None,
        }
    }

    /// `count` elements of `ty` at `base`.
    #[inline]
    pub fn new(base: *mut u8, count: u64, ty: &TypeRef) -> Self {
        if ty.is_contiguous() & memory::is_host_only() {
            RecvBuf::Bytes(base, count * ty.size())
        } else {
            RecvBuf::closely(base, count, ty)
        }
    }

    #[cold]
    fn closely(base: *mut u8, count: u64, ty: &TypeRef) -> Self {
        match is_run(base, count, ty) && !CHECK.get() {
            true => RecvBuf::Bytes(base, count * ty.size()),
            false => RecvBuf::Typed(Box::new(Typed::new(base, count, ty))),
        }
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

    fn check_seal(&self, seal: u32, source: u32, len: u64) {
        if let RecvBuf::Typed(t) = self {
            t.compare(seal, source, len);
        }
    }

    fn place_part(&mut self, at: u64, bytes: PeerBytes<'_>, is_last: bool) {
        match self {
            RecvBuf::Typed(t) if !t.kind.is_host() => {
                let (at, fits) = (at.min(t.len), t.len.saturating_sub(at));
                let bytes = bytes.part(0, fits.min(bytes.len() as u64) as usize);
                // SAFETY: within the buffer that the program lends.
                unsafe { t.gather(at, bytes, is_last) }
            }
            _ => self.place(at, bytes),
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
    fn run(&mut self) -> Option<Buf> {
        match self {
            RecvBuf::Bytes(at, len) => Some(Buf::host(*at, *len as usize)),
            RecvBuf::Typed(t) => t.run(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use catena_memory::stand_in;

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
                .write(unsafe { PayloadRoom::new(bytes.as_mut_ptr(), len) });
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
            let out = SendBuf::new(stand_in::lend(Kind::Cuda, &mut grid), count, ty);
            assert!(out.contiguous().is_none() && out.part(0, 16).contiguous().is_none());
            let mut back = vec![-1i32; 12];
            let mut sink = RecvBuf::new(stand_in::lend(Kind::Cuda, &mut back), count, ty);
            assert!(sink.contiguous().is_none());
            for (from, len) in [(0, 5), (5, 7), (12, 4)] {
                let mut bytes = vec![0u8; len];
                // SAFETY: a vector of that length.
                out.part(from, len)
                    .write(unsafe { PayloadRoom::new(bytes.as_mut_ptr(), len) });
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
    fn parts_on_a_device_are_read_ahead_and_written_together() {
        let byte = byte();
        let len = 2 * MOST + 100;
        let mut source: Vec<u8> = (0..len).map(|i| (i % 251) as u8).collect();
        let mut target = vec![0u8; len + 1];
        let out = SendBuf::new(stand_in::lend(Kind::Cuda, &mut source), len as u64, byte);
        let mut sink = RecvBuf::new(stand_in::lend(Kind::Cuda, &mut target), len as u64, byte);
        let size = 1000;
        let mut from = 0;
        while from < len {
            let now = size.min(len - from);
            let mut bytes = vec![0u8; now];
            // SAFETY: a vector of that length.
            out.part(from as u64, now)
                .write(unsafe { PayloadRoom::new(bytes.as_mut_ptr(), now) });
            let is_last = from + now == len;
            sink.place_part(from as u64, PeerBytes::from(&bytes[..]), is_last);
            from += now;
        }
        assert!(target[..len] == source[..] && target[len] == 0);
        // In any order, and more than there is room for.
        target.fill(0);
        for (at, part, is_last) in [
            (7, 3, false),
            (2, 5, false),
            (len - 1, 9, false),
            (0, 2, true),
        ] {
            let bytes = vec![at as u8 + 1; part];
            sink.place_part(at as u64, PeerBytes::from(&bytes[..]), is_last);
        }
        assert_eq!(target[..10], [1, 1, 3, 3, 3, 3, 3, 8, 8, 8]);
        assert_eq!(target[len - 2..], [0, len as u8, 0]);
    }

    #[test]
    fn host_memory_is_read_by_address_next_to_a_device() {
        let int = Datatype::predefined(0x209).expect("MPI_INT");
        let mut ints = [1i32, 2];
        let _far = stand_in::lend(Kind::Cuda, &mut [0u8]);
        let out = SendBuf::new(ints.as_ptr().cast(), 2, int);
        assert_eq!(out.contiguous(), Some(ints.as_ptr().cast()));
        let sink = RecvBuf::new(ints.as_mut_ptr().cast(), 2, int);
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

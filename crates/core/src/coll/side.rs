//! The buffers of a collective as the plans see them: packed bytes.
//!
//! A buffer whose elements are one run of bytes is used where it lies. Any
//! other is packed into memory of the library before the plan runs, and
//! unpacked after it.

use std::alloc;
use std::ffi::c_int;
use std::ptr;

use catena_abi::{self as abi, Datatype, consts};
use catena_datatype::TypeRef;

use super::ranges::Ranges;
use crate::error::{Error, Kind, Result, no_memory};
use crate::world::World;

/// A buffer argument: `count` elements of a type.
#[derive(Clone, Copy, Debug)]
pub struct Data {
    /// Address, or `MPI_IN_PLACE`.
    pub buf: *mut u8,
    /// Number of elements.
    pub count: abi::Count,
    /// Type of an element.
    pub ty: Datatype,
}

/// Counts or displacements as the program has them.
#[derive(Clone, Copy, Debug)]
pub enum Numbers<'a> {
    /// Of `int`.
    Int(&'a [c_int]),
    /// Of `MPI_Count`.
    Count(&'a [abi::Count]),
    /// Of `MPI_Aint`.
    Aint(&'a [abi::Aint]),
    /// The same number so many times.
    Same(abi::Count, usize),
}

impl Numbers<'_> {
    /// How many there are.
    #[inline]
    pub fn len(&self) -> usize {
        match self {
            Numbers::Int(all) => all.len(),
            Numbers::Count(all) => all.len(),
            Numbers::Aint(all) => all.len(),
            Numbers::Same(_, n) => *n,
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number `i`.
    #[inline]
    pub fn at(&self, i: usize) -> i64 {
        match self {
            Numbers::Int(all) => all[i].into(),
            Numbers::Count(all) => all[i],
            Numbers::Aint(all) => all[i] as i64,
            Numbers::Same(number, _) => *number,
        }
    }
}

/// A buffer argument with one block per peer, of one type.
#[derive(Clone, Copy, Debug)]
pub struct VData<'a> {
    /// Address, or `MPI_IN_PLACE`.
    pub buf: *mut u8,
    /// Elements in each block.
    pub counts: Numbers<'a>,
    /// Where each block starts, in extents of the type.
    pub displs: Numbers<'a>,
    /// Type of an element.
    pub ty: Datatype,
}

/// A buffer argument with one block per peer, each of its own type.
#[derive(Clone, Copy, Debug)]
pub struct WData<'a> {
    /// Address, or `MPI_IN_PLACE`.
    pub buf: *mut u8,
    /// Elements in each block.
    pub counts: Numbers<'a>,
    /// Where each block starts, in bytes.
    pub displs: Numbers<'a>,
    /// Type of the elements of each block.
    pub types: &'a [Datatype],
}

impl WData<'_> {
    /// A send side that is not there.
    pub fn in_place() -> Self {
        let buf = consts::IN_PLACE as *mut u8;
        WData {
            buf,
            counts: Numbers::Int(&[]),
            displs: Numbers::Int(&[]),
            types: &[],
        }
    }
}

/// Elements at an address.
#[derive(Clone, Debug)]
struct Block {
    base: *mut u8,
    count: u64,
    ty: TypeRef,
    /// Where its packed bytes start.
    at: usize,
}

/// One side of a collective.
#[derive(Clone, Debug)]
pub struct Side {
    /// Where offset 0 of the plan's buffer is, if it is used where it lies.
    direct: *mut u8,
    /// What has to be packed or unpacked, if it is not.
    packed: Option<Box<Packed>>,
    /// The program only lends it to be read.
    constant: bool,
}

#[derive(Clone, Debug)]
struct Packed {
    blocks: Vec<Block>,
    /// Bytes in all.
    len: usize,
}

impl Side {
    /// A side that no step touches.
    pub const NONE: Side = Side {
        direct: std::ptr::null_mut(),
        packed: None,
        constant: false,
    };

    /// A buffer of the library's own.
    #[inline]
    pub fn bytes(at: *mut u8) -> Self {
        Side {
            direct: at,
            ..Side::NONE
        }
    }

    fn packed(direct: *mut u8, blocks: Vec<Block>, len: usize) -> Self {
        Side {
            direct,
            packed: Some(Box::new(Packed { blocks, len })),
            constant: false,
        }
    }

    /// A side that was none becomes `count` elements of `ty`.
    #[inline]
    pub fn set(&mut self, buf: *mut u8, count: u64, ty: &TypeRef) {
        self.direct = buf;
        if !ty.is_contiguous() {
            *self = Side::with_gaps(buf, count, ty);
        }
    }

    #[cold]
    fn with_gaps(buf: *mut u8, count: u64, ty: &TypeRef) -> Side {
        let block = Block {
            base: buf,
            count,
            ty: ty.clone(),
            at: 0,
        };
        Side::packed(buf, vec![block], (count * ty.size()) as usize)
    }

    /// `n` blocks at `buf`: `part` checks one and gives its displacement in
    /// bytes, its elements and their type. A side that was none becomes theirs,
    /// and `ranges` tells where they lie in it.
    fn scattered<'t>(
        buf: *mut u8,
        n: usize,
        part: impl Fn(usize) -> Result<(i64, u64, &'t TypeRef)>,
        ranges: &mut Ranges,
        side: &mut Side,
    ) -> Result<()> {
        let (mut low, mut direct) = (0, true);
        let (lengths, offsets) = ranges.reset(n);
        for (i, (len, offset)) in lengths.iter_mut().zip(&mut *offsets).enumerate() {
            let (displ, count, ty) = part(i)?;
            (*len, *offset) = ((count * ty.size()) as usize, displ as usize);
            low = low.min(displ);
            direct &= ty.is_contiguous();
        }
        if direct {
            // Offsets of a plan are not negative.
            let begin = low as usize;
            offsets
                .iter_mut()
                .for_each(|at| *at = at.wrapping_sub(begin));
            side.direct = buf.wrapping_offset(low as isize);
            return Ok(());
        }
        let mut at = 0;
        let mut blocks = Vec::with_capacity(n);
        for (i, (len, offset)) in lengths.iter().zip(offsets).enumerate() {
            let (displ, count, ty) = part(i)?;
            blocks.push(Block {
                base: buf.wrapping_offset(displ as isize),
                count,
                ty: ty.clone(),
                at,
            });
            *offset = at;
            at += len;
        }
        *side = Side::packed(buf, blocks, at);
        Ok(())
    }

    /// Makes the memory that the plan works on, with what the program's buffer
    /// holds.
    ///
    /// # Errors
    /// `NoMem` if there is not enough.
    #[inline]
    pub fn load(&self) -> Result<Loaded> {
        let bytes = match &self.packed {
            None => Box::default(),
            Some(packed) => packed.pack()?,
        };
        Ok(Loaded {
            direct: self.direct,
            bytes,
        })
    }

    /// It will never be stored to.
    pub fn set_constant(&mut self) {
        self.constant = true;
    }

    /// Writes what the plan left in `loaded` to the program's buffer.
    #[inline]
    pub fn store(&self, loaded: &Loaded) {
        if let Some(packed) = &self.packed
            && !self.constant
        {
            packed.unpack(&loaded.bytes);
        }
    }

    /// Where the bytes are, if they are used where they lie.
    #[inline]
    pub fn direct(&self) -> *mut u8 {
        self.direct
    }

    /// Whether a plan's result has to be stored.
    #[inline]
    pub fn is_packed(&self) -> bool {
        self.packed.is_some()
    }
}

impl Packed {
    #[cold]
    fn pack(&self) -> Result<Box<[u8]>> {
        let mut bytes = zeroed(self.len)?;
        for b in &self.blocks {
            let len = (b.count * b.ty.size()) as usize;
            // SAFETY: the program lends the buffer, and `len` is the sum of the
            // blocks' lengths.
            unsafe {
                b.ty.pack(b.base, b.count, 0, bytes.as_mut_ptr().add(b.at), len)
            };
        }
        Ok(bytes)
    }

    #[cold]
    fn unpack(&self, bytes: &[u8]) {
        for b in &self.blocks {
            let len = (b.count * b.ty.size()) as usize;
            // SAFETY: as in `pack`.
            unsafe {
                b.ty.unpack(b.base, b.count, 0, bytes.as_ptr().add(b.at), len)
            };
        }
    }
}

/// So many zeroes.
pub(super) fn zeroed(len: usize) -> Result<Box<[u8]>> {
    let layout = alloc::Layout::array::<u8>(len).map_err(|_| no_memory(len))?;
    if len == 0 {
        return Ok(Box::default());
    }
    // SAFETY: the size is not zero.
    let at = unsafe { alloc::alloc_zeroed(layout) };
    if at.is_null() {
        return Err(no_memory(len));
    }
    // SAFETY: allocated with the layout of such a slice, and initialised.
    Ok(unsafe { Box::from_raw(ptr::slice_from_raw_parts_mut(at, len)) })
}

/// Memory that a plan works on.
#[derive(Debug, Default)]
pub struct Loaded {
    direct: *mut u8,
    bytes: Box<[u8]>,
}

impl Loaded {
    /// Keeps the memory for ever: messages that nobody waits for may use it.
    pub fn leak(&mut self) {
        std::mem::forget(std::mem::take(&mut self.bytes));
    }

    /// Its address.
    pub fn base(&mut self) -> *mut u8 {
        if self.bytes.is_empty() {
            self.direct
        } else {
            self.bytes.as_mut_ptr()
        }
    }
}

/// `true` if the program passed `MPI_IN_PLACE`.
#[inline(always)]
pub fn is_in_place(buf: *const u8) -> bool {
    buf as usize == consts::IN_PLACE
}

#[inline(always)]
pub(super) fn check_count(count: abi::Count, what: &str) -> Result<u64> {
    u64::try_from(count).map_err(|_| negative(count, what))
}

#[cold]
fn negative(count: abi::Count, what: &str) -> Error {
    let text = format!("the {what} count is {count}: it must not be negative");
    Error::new(Kind::Count, text)
}

impl Data {
    /// A send side that is not there.
    pub fn in_place() -> Self {
        Data {
            buf: consts::IN_PLACE as *mut u8,
            count: 0,
            ty: consts::DATATYPE_NULL,
        }
    }

    /// Whether the program passed `MPI_IN_PLACE`.
    pub fn is_in_place(&self) -> bool {
        is_in_place(self.buf)
    }

    /// Checks the arguments; returns the elements in one block and its type.
    #[inline(always)]
    pub(super) fn check<'w>(&self, w: &'w World, what: &str) -> Result<(u64, &'w TypeRef)> {
        let count = check_count(self.count, what)?;
        let ty = w.objects.committed(self.ty)?;
        check_buffer(self.buf, count, ty, what)?;
        Ok((count, ty))
    }
}

#[inline(always)]
pub(super) fn check_place(buf: *const u8, what: &str) -> Result<()> {
    if is_in_place(buf) {
        return Err(misplaced(what));
    }
    Ok(())
}

#[cold]
fn misplaced(what: &str) -> Error {
    let text = format!("the {what} buffer is MPI_IN_PLACE, which is not allowed here");
    Error::new(Kind::Buffer, text)
}

#[inline(always)]
pub(super) fn check_buffer(buf: *const u8, count: u64, ty: &TypeRef, what: &str) -> Result<()> {
    check_place(buf, what)?;
    if buf.is_null() && count * ty.size() != 0 && ty.is_contiguous() {
        return Err(nowhere(count, what));
    }
    Ok(())
}

#[cold]
fn nowhere(count: u64, what: &str) -> Error {
    let text = format!("the {what} buffer is a null pointer, but the count is {count}");
    Error::new(Kind::Buffer, text)
}

impl VData<'_> {
    /// Whether the program passed `MPI_IN_PLACE`.
    pub fn is_in_place(&self) -> bool {
        is_in_place(self.buf)
    }

    /// Checks the blocks; `side`, which was none, and `ranges` become theirs.
    #[inline(always)]
    pub(super) fn side(
        &self,
        w: &World,
        what: &str,
        ranges: &mut Ranges,
        side: &mut Side,
    ) -> Result<()> {
        let ty = w.objects.committed(self.ty)?;
        // The usual form: runs of bytes behind `buf`.
        if let (Numbers::Int(counts), Numbers::Int(displs)) = (self.counts, self.displs)
            && ty.is_contiguous()
        {
            let mut low = 0;
            let (lengths, offsets) = ranges.reset(counts.len());
            let numbers = counts.iter().zip(displs);
            for ((len, offset), (&count, &displ)) in lengths.iter_mut().zip(offsets).zip(numbers) {
                let (displ, count) = self.block(count.into(), displ.into(), ty, what)?;
                (*len, *offset) = ((count * ty.size()) as usize, displ as usize);
                low = low.min(displ);
            }
            if low == 0 {
                side.direct = self.buf;
                return Ok(());
            }
        }
        self.any_side(ty, what, ranges, side)
    }

    /// Checks a block; gives its displacement in bytes and its elements.
    #[inline(always)]
    fn block(&self, count: i64, displ: i64, ty: &TypeRef, what: &str) -> Result<(i64, u64)> {
        let count = check_count(count, what)?;
        check_buffer(self.buf, count, ty, what)?;
        // The displacement of an empty block means nothing.
        let displ = if count == 0 { 0 } else { displ };
        Ok((displ.wrapping_mul(ty.extent()), count))
    }

    #[inline(never)]
    fn any_side(
        &self,
        ty: &TypeRef,
        what: &str,
        ranges: &mut Ranges,
        side: &mut Side,
    ) -> Result<()> {
        let part = |i| {
            let (displ, count) = self.block(self.counts.at(i), self.displs.at(i), ty, what)?;
            Ok((displ, count, ty))
        };
        Side::scattered(self.buf, self.counts.len(), part, ranges, side)
    }
}

impl WData<'_> {
    /// Whether the program passed `MPI_IN_PLACE`.
    pub fn is_in_place(&self) -> bool {
        is_in_place(self.buf)
    }

    /// As [`VData::side`].
    pub(super) fn side(
        &self,
        w: &World,
        what: &str,
        ranges: &mut Ranges,
        side: &mut Side,
    ) -> Result<()> {
        let part = |i| {
            let count = check_count(self.counts.at(i), what)?;
            let ty = w.objects.committed(self.types[i])?;
            check_place(self.buf, what)?;
            let displ = if count == 0 { 0 } else { self.displs.at(i) };
            Ok((displ, count, ty))
        };
        Side::scattered(self.buf, self.counts.len(), part, ranges, side)
    }
}

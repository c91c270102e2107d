//! The buffer arguments of collectives, as the program passes them, and their checks.

use std::cell::Cell;
use std::ffi::c_int;
use std::ptr;

use catena_abi::{self as abi, Datatype, consts};
use catena_datatype::{Kinds, TypeRef};
use catena_memory as memory;

use super::ranges::Ranges;
use super::side::Side;
use crate::buffer::is_run;
use crate::process::Process;
use catena_objects::error::{Error, Kind, Result};

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
    /// One number for each of this many members.
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

/// A member's block for itself, where it has no others.
#[derive(Clone, Copy, Debug)]
pub struct OwnBlock {
    /// The whole buffer, and the elements of the block.
    pub data: Data,
    /// Where the block starts, in extents of the type.
    pub displ: abi::Count,
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
    pub(super) fn check<'w>(&self, process: &'w Process, what: &str) -> Result<(u64, &'w TypeRef)> {
        let count = check_count(self.count, what)?;
        let ty = process.objects.types.committed(self.ty)?;
        check_buffer(self.buf, count, ty, what)?;
        Ok((count, ty))
    }

    /// [`Data::check`] of what nothing is read from or written to: its address, which may be that
    /// of an empty vector, may be null.
    fn check_unused<'w>(&self, process: &'w Process, what: &str) -> Result<(u64, &'w TypeRef)> {
        let count = check_count(self.count, what)?;
        let ty = process.objects.types.committed(self.ty)?;
        check_place(self.buf, what)?;
        Ok((count, ty))
    }
}

/// The type of blocks that may all be empty: then it may be `MPI_DATATYPE_NULL`, as programs pass
/// it for members with which they exchange nothing.
#[inline(always)]
fn type_of(process: &Process, ty: Datatype, is_empty: impl FnOnce() -> bool) -> Result<&TypeRef> {
    let types = &process.objects.types;
    match types.committed(ty) {
        Err(_) if ty == consts::DATATYPE_NULL && is_empty() => types.committed(consts::BYTE),
        found => found,
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

    /// Where block `i` begins; null if it is empty.
    #[inline(always)]
    pub(super) fn start(&self, process: &Process, i: usize) -> Result<*const u8> {
        if self.counts.at(i) <= 0 {
            return Ok(ptr::null());
        }
        let displ = self
            .displs
            .at(i)
            .wrapping_mul(process.objects.types.committed(self.ty)?.extent());
        Ok(self.buf.wrapping_offset(displ as isize))
    }

    /// Checks the blocks; `side`, which was none, and `ranges` become theirs. The kinds of their
    /// elements.
    #[inline(always)]
    pub(super) fn side(
        &self,
        process: &Process,
        what: &str,
        ranges: &mut Ranges,
        side: &mut Side,
    ) -> Result<Kinds> {
        let nothing = || (0..self.counts.len()).all(|i| self.counts.at(i) == 0);
        let ty = type_of(process, self.ty, nothing)?;
        // The usual form: runs of bytes in host memory behind `buf`.
        if let (Numbers::Int(counts), Numbers::Int(displs)) = (self.counts, self.displs)
            && (ty.is_contiguous() & memory::is_host_only())
        {
            let mut low = 0;
            let (lengths, offsets) = ranges.reset(counts.len());
            for (i, &count) in counts.iter().enumerate() {
                let (displ, count) = self.block(count.into(), displs[i].into(), ty, what)?;
                (lengths[i], offsets[i]) = ((count * ty.size()) as usize, displ as usize);
                low = low.min(displ);
            }
            if low == 0 {
                side.direct = self.buf;
                return Ok(ty.kinds());
            }
        }
        self.any_side(ty, what, ranges, side)?;
        Ok(ty.kinds())
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

    /// As [`VData::start`].
    pub(super) fn start(&self, i: usize) -> *const u8 {
        match self.counts.at(i) {
            ..=0 => ptr::null(),
            _ => self.buf.wrapping_offset(self.displs.at(i) as isize),
        }
    }

    /// As [`VData::side`].
    pub(super) fn side(
        &self,
        process: &Process,
        what: &str,
        ranges: &mut Ranges,
        side: &mut Side,
    ) -> Result<Kinds> {
        let kinds = Cell::new(Ok(Kinds::ANY));
        let part = |i| {
            let count = check_count(self.counts.at(i), what)?;
            let ty = type_of(process, self.types[i], || count == 0)?;
            if count != 0 {
                // Of several nothing is said.
                kinds.set(match kinds.get() {
                    Ok(kinds) if kinds == Kinds::ANY || kinds == ty.kinds() => Ok(ty.kinds()),
                    _ => Err(()),
                });
            }
            check_place(self.buf, what)?;
            let displ = if count == 0 { 0 } else { self.displs.at(i) };
            Ok((displ, count, ty))
        };
        Side::scattered(self.buf, self.counts.len(), part, ranges, side)?;
        Ok(kinds.get().unwrap_or_default())
    }
}

impl OwnBlock {
    /// Checks the block, whose elements are of type `ty`; where it begins and its packed length, in
    /// bytes, if it can be used where it lies.
    #[inline(always)]
    pub(super) fn run(&self, ty: &TypeRef, what: &str) -> Result<Option<(*mut u8, usize)>> {
        let count = check_count(self.data.count, what)?;
        check_buffer(self.data.buf, count, ty, what)?;
        let displ = match count {
            0 => 0,
            _ => self.displ.wrapping_mul(ty.extent()),
        };
        let at = self.data.buf.wrapping_offset(displ as isize);
        let bytes = (count * ty.size()) as usize;
        Ok(is_run(at, count, ty).then_some((at, bytes)))
    }
}

/// Packed length of a plain side, in bytes.
#[inline(always)]
pub(super) fn packed(count: u64, size: u64) -> Result<usize> {
    match count
        .checked_mul(size)
        .and_then(|n| usize::try_from(n).ok())
    {
        Some(n) if n <= isize::MAX as usize => Ok(n),
        _ => Err(too_much(count, size)),
    }
}

#[cold]
fn too_much(count: u64, size: u64) -> Error {
    let text = format!("{count} elements of {size} bytes are more than memory can hold");
    Error::new(Kind::Count, text)
}

/// Checks a side of `n` blocks that are alike; gives the bytes of one, and the kinds of its
/// elements.
#[inline(always)]
pub(super) fn blocks(
    process: &Process,
    data: &Data,
    n: u32,
    what: &str,
    side: &mut Side,
) -> Result<(usize, Kinds)> {
    let (count, ty) = match n {
        0 => data.check_unused(process, what)?,
        _ => data.check(process, what)?,
    };
    let block = packed(count, ty.size())?;
    let mut all = count;
    if n != 1 {
        all = count.saturating_mul(u64::from(n));
        packed(all, ty.size())?;
    }
    side.set(data.buf, all, ty);
    Ok((block, ty.kinds()))
}

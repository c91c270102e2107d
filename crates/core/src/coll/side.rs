//! The buffers of a collective as the plans see them: packed bytes.
//!
//! A buffer whose elements are one run of bytes is used where it lies. Any
//! other is packed into memory of the library before the plan runs, and
//! unpacked after it.

use catena_abi::{self as abi, Datatype, consts};
use catena_datatype::TypeRef;

use crate::error::Result;
use crate::fail;
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

/// A buffer argument with one block per peer, of one type.
#[derive(Clone, Debug)]
pub struct VData {
    /// Address, or `MPI_IN_PLACE`.
    pub buf: *mut u8,
    /// Elements in each block.
    pub counts: Vec<abi::Count>,
    /// Where each block starts, in extents of the type.
    pub displs: Vec<i64>,
    /// Type of an element.
    pub ty: Datatype,
}

/// A buffer argument with one block per peer, each of its own type.
#[derive(Clone, Debug)]
pub struct WData {
    /// Address, or `MPI_IN_PLACE`.
    pub buf: *mut u8,
    /// Elements in each block.
    pub counts: Vec<abi::Count>,
    /// Where each block starts, in bytes.
    pub displs: Vec<i64>,
    /// Type of the elements of each block.
    pub types: Vec<Datatype>,
}

impl WData {
    /// A send side that is not there.
    pub fn in_place() -> Self {
        let buf = consts::IN_PLACE as *mut u8;
        WData {
            buf,
            counts: Vec::new(),
            displs: Vec::new(),
            types: Vec::new(),
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

/// Byte ranges of the blocks of a [`Side`] in the plan's buffer.
#[derive(Clone, Debug, Default)]
pub struct Ranges {
    /// First bytes.
    pub offsets: Vec<usize>,
    /// Lengths.
    pub lens: Vec<usize>,
}

impl Side {
    /// A side that no step touches.
    pub const NONE: Side = Side {
        direct: std::ptr::null_mut(),
        packed: None,
        constant: false,
    };

    /// A buffer of the library's own.
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

    /// `count` elements of `ty`; also their packed length.
    pub fn plain(buf: *mut u8, count: u64, ty: &TypeRef) -> Side {
        if ty.is_contiguous() {
            return Side::bytes(buf);
        }
        let block = Block {
            base: buf,
            count,
            ty: ty.clone(),
            at: 0,
        };
        Side::packed(buf, vec![block], (count * ty.size()) as usize)
    }

    /// Blocks at byte displacements from `buf`.
    fn scattered(buf: *mut u8, parts: &[(i64, u64, &TypeRef)]) -> (Side, Ranges) {
        let lens: Vec<usize> = parts
            .iter()
            .map(|(_, n, t)| (n * t.size()) as usize)
            .collect();
        if parts.iter().all(|(_, _, t)| t.is_contiguous()) {
            // Offsets of a plan are not negative.
            let low = parts.iter().map(|p| p.0).min().unwrap_or(0).min(0);
            let offsets = parts.iter().map(|p| (p.0 - low) as usize).collect();
            return (
                Side::bytes(buf.wrapping_offset(low as isize)),
                Ranges { offsets, lens },
            );
        }
        let mut at = 0;
        let mut blocks = Vec::with_capacity(parts.len());
        for (&(displ, count, ty), len) in parts.iter().zip(&lens) {
            let base = buf.wrapping_offset(displ as isize);
            blocks.push(Block {
                base,
                count,
                ty: ty.clone(),
                at,
            });
            at += len;
        }
        let offsets = blocks.iter().map(|b| b.at).collect();
        (Side::packed(buf, blocks, at), Ranges { offsets, lens })
    }

    /// Makes the memory that the plan works on, with what the program's buffer
    /// holds.
    #[inline]
    pub fn load(&self) -> Loaded {
        Loaded {
            direct: self.direct,
            bytes: self.packed.as_deref().map(Packed::pack).unwrap_or_default(),
        }
    }

    /// The same, but never stored to.
    pub fn constant(self) -> Side {
        Side {
            constant: true,
            ..self
        }
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
    pub fn direct(&self) -> *mut u8 {
        self.direct
    }

    /// Whether a plan's result has to be stored.
    pub fn is_packed(&self) -> bool {
        self.packed.is_some()
    }
}

impl Packed {
    #[cold]
    fn pack(&self) -> Box<[u8]> {
        let mut bytes = vec![0u8; self.len].into_boxed_slice();
        for b in &self.blocks {
            let len = (b.count * b.ty.size()) as usize;
            // SAFETY: the program lends the buffer, and `len` is the sum of the
            // blocks' lengths.
            unsafe {
                b.ty.pack(b.base, b.count, 0, bytes.as_mut_ptr().add(b.at), len)
            };
        }
        bytes
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
pub fn is_in_place(buf: *const u8) -> bool {
    buf as usize == consts::IN_PLACE
}

pub(super) fn check_count(count: abi::Count, what: &str) -> Result<u64> {
    match u64::try_from(count) {
        Ok(n) => Ok(n),
        Err(_) => fail!(
            Count,
            "the {what} count is {count}: it must not be negative"
        ),
    }
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
    pub(super) fn check<'w>(&self, w: &'w World, what: &str) -> Result<(u64, &'w TypeRef)> {
        let count = check_count(self.count, what)?;
        let ty = w.objects.committed(self.ty)?;
        check_buffer(self.buf, count, ty, what)?;
        Ok((count, ty))
    }
}

pub(super) fn check_place(buf: *const u8, what: &str) -> Result<()> {
    if is_in_place(buf) {
        fail!(
            Buffer,
            "the {what} buffer is MPI_IN_PLACE, which is not allowed here"
        );
    }
    Ok(())
}

fn check_buffer(buf: *const u8, count: u64, ty: &TypeRef, what: &str) -> Result<()> {
    check_place(buf, what)?;
    if buf.is_null() && count * ty.size() != 0 && ty.is_contiguous() {
        fail!(
            Buffer,
            "the {what} buffer is a null pointer, but the count is {count}"
        );
    }
    Ok(())
}

impl VData {
    /// Whether the program passed `MPI_IN_PLACE`.
    pub fn is_in_place(&self) -> bool {
        is_in_place(self.buf)
    }

    pub(super) fn side(&self, w: &World, what: &str) -> Result<(Side, Ranges)> {
        let ty = w.objects.committed(self.ty)?;
        let extent = ty.extent();
        let mut parts = Vec::with_capacity(self.counts.len());
        for (&count, &displ) in self.counts.iter().zip(&self.displs) {
            let count = check_count(count, what)?;
            check_buffer(self.buf, count, ty, what)?;
            // The displacement of an empty block means nothing.
            let displ = if count == 0 { 0 } else { displ };
            parts.push((displ.wrapping_mul(extent), count, ty));
        }
        Ok(Side::scattered(self.buf, &parts))
    }
}

impl WData {
    /// Whether the program passed `MPI_IN_PLACE`.
    pub fn is_in_place(&self) -> bool {
        is_in_place(self.buf)
    }

    pub(super) fn side(&self, w: &World, what: &str) -> Result<(Side, Ranges)> {
        let mut parts = Vec::with_capacity(self.counts.len());
        for ((&count, &displ), &ty) in self.counts.iter().zip(&self.displs).zip(&self.types) {
            let count = check_count(count, what)?;
            let ty = w.objects.committed(ty)?;
            check_place(self.buf, what)?;
            parts.push((if count == 0 { 0 } else { displ }, count, ty));
        }
        Ok(Side::scattered(self.buf, &parts))
    }
}

//! The buffers of a collective as the plans see them: packed bytes.
//!
//! A buffer whose elements are one run of bytes is used where it lies. Any
//! other is packed into memory of the library before the plan runs, and
//! unpacked after it.

use std::alloc;
use std::ptr;

use catena_datatype::TypeRef;

use super::ranges::Ranges;
use catena_objects::error::{Result, no_memory};

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
    pub(super) direct: *mut u8,
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
    pub(super) fn scattered<'t>(
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
            // What is more than there can be is refused when it is packed.
            (*len, *offset) = (count.saturating_mul(ty.size()) as usize, displ as usize);
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
            at = at.saturating_add(*len);
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

/// The memory of both sides of a call.
///
/// # Errors
/// As [`Side::load`].
pub fn load(input: &Side, output: &Side) -> Result<(Loaded, Loaded)> {
    Ok((input.load()?, output.load()?))
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

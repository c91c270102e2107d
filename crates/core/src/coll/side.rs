//! The buffers of a collective as the schedules see them: packed bytes.
//!
//! A buffer whose elements are one run of bytes in host memory is used where it
//! lies. Any other is packed into host memory of the library before the schedule runs,
//! and unpacked after it. So boards, copies between processes and reduction kernels
//! only ever meet host memory.

use std::alloc;
use std::ptr;

use catena_datatype::TypeRef;

use catena_objects::error::{Result, no_memory};

use super::ranges::Ranges;
use crate::buffer::{Typed, is_run};

/// Elements, and where their packed bytes start.
#[derive(Clone, Debug)]
struct Block {
    elements: Typed,
    at: usize,
}

/// One side of a collective.
#[derive(Clone, Debug)]
pub struct Side {
    /// Where offset 0 of the schedule's buffer is, if it is used where it lies.
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
        if !is_run(buf, count, ty) {
            *self = Side::of_block(buf, count, ty);
        }
    }

    #[cold]
    fn of_block(buf: *mut u8, count: u64, ty: &TypeRef) -> Side {
        let block = Block {
            elements: Typed::new(buf, count, ty),
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
            direct &= is_run(buf.wrapping_offset(displ as isize), count, ty);
        }
        if direct {
            // Offsets of a schedule are not negative.
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
            let elements = Typed::new(buf.wrapping_offset(displ as isize), count, ty);
            blocks.push(Block { elements, at });
            *offset = at;
            at = at.saturating_add(*len);
        }
        *side = Side::packed(buf, blocks, at);
        Ok(())
    }

    /// Of the `n` blocks of a side, which are all alike or those that [`Side::scattered`] was
    /// given, only those are packed and unpacked that are there: of the others no memory is
    /// touched, for there may be none.
    #[cold]
    pub(super) fn leave_out(&mut self, n: usize, is_there: impl Fn(usize) -> bool) {
        let Some(packed) = &mut self.packed else {
            return;
        };
        if let [whole] = &packed.blocks[..] {
            let block = |i| {
                let elements = whole.elements.part(i, n);
                let at = i * elements.len() as usize;
                Block { elements, at }
            };
            packed.blocks = (0..n).map(block).collect();
        }
        let mut entries = 0..;
        packed
            .blocks
            .retain(|_| entries.next().is_some_and(&is_there));
    }

    /// Makes the memory that the schedule works on, with what the program's buffer
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

    /// Writes what the schedule left in `loaded` to the program's buffer.
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

    /// Whether a schedule's result has to be stored.
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
            let len = b.elements.len() as usize;
            // SAFETY: the program lends the buffer, and `self.len` is the sum of
            // the blocks' lengths.
            unsafe { b.elements.pack(0, bytes.as_mut_ptr().add(b.at), len) };
        }
        Ok(bytes)
    }

    #[cold]
    fn unpack(&self, bytes: &[u8]) {
        for b in &self.blocks {
            let len = b.elements.len() as usize;
            // SAFETY: as in `pack`.
            unsafe { b.elements.unpack(0, bytes.as_ptr().add(b.at), len) };
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

/// Memory that a schedule works on.
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

#[cfg(test)]
mod tests {
    use super::*;
    use catena_datatype::Datatype;
    use catena_memory::{Kind, stand_in};

    #[test]
    fn a_schedule_works_on_a_copy_of_what_lies_on_a_device() {
        let int = Datatype::predefined(0x209).expect("MPI_INT");
        let mut memory = [1i32, 2, 3];
        let mut side = Side::NONE;
        side.set(stand_in::lend(Kind::Cuda, &mut memory), 3, int);
        assert!(side.is_packed());
        let mut loaded = side.load().unwrap();
        // SAFETY: the copy has three numbers, with no alignment.
        let copy = unsafe { &mut *loaded.base().cast::<[[u8; 4]; 3]>() };
        assert_eq!(copy.map(i32::from_ne_bytes), [1, 2, 3]);
        copy[1] = 7i32.to_ne_bytes();
        side.store(&loaded);
        assert_eq!(memory, [1, 7, 3]);
    }

    #[test]
    fn host_memory_is_used_where_it_lies_next_to_a_device() {
        let int = Datatype::predefined(0x209).expect("MPI_INT");
        let mut far = [1i32, 2];
        stand_in::lend(Kind::Cuda, &mut far);
        let mut near = [3i32, 4];
        let mut side = Side::NONE;
        side.set(near.as_mut_ptr().cast(), 2, int);
        assert!(!side.is_packed());
        assert_eq!(side.load().unwrap().base(), near.as_mut_ptr().cast());
    }

    #[test]
    fn blocks_that_are_not_there_are_not_touched() {
        let int = Datatype::predefined(0x209).expect("MPI_INT");
        let gap = Datatype::resized(0, 8, int).unwrap();
        // Two blocks of two elements; the memory ends behind the first, or begins with the second.
        for there in [0, 1] {
            let mut memory = [1i32, -1, 2, -1];
            let begin = memory.as_mut_ptr().cast::<u8>().wrapping_sub(16 * there);
            let mut even = Side::NONE;
            even.set(begin, 4, &gap);
            let (mut uneven, mut ranges) = (Side::NONE, Ranges::new());
            let part = |i: usize| Ok((16 * i as i64, 2, &gap));
            Side::scattered(begin, 2, part, &mut ranges, &mut uneven).unwrap();
            for side in [&mut even, &mut uneven] {
                side.leave_out(2, |i| i == there);
                let mut loaded = side.load().unwrap();
                // SAFETY: the copy has four numbers, with no alignment.
                let copy = unsafe { &mut *loaded.base().cast::<[[[u8; 4]; 2]; 2]>() };
                assert_eq!(copy[there].map(i32::from_ne_bytes), [1, 2]);
                assert_eq!(copy[1 - there], [[0; 4]; 2]);
                *copy = [[[7; 4]; 2]; 2];
                side.store(&loaded);
                let seven = i32::from_ne_bytes([7; 4]);
                assert_eq!(memory, [seven, -1, seven, -1]);
                (memory[0], memory[2]) = (1, 2);
            }
        }
    }

    #[test]
    fn blocks_of_which_one_lies_on_a_device_are_packed() {
        let int = Datatype::predefined(0x209).expect("MPI_INT");
        let (mut far, near) = ([5i32, 6], [7i32]);
        let at = stand_in::lend(Kind::Cuda, &mut far);
        let blocks = [(near.as_ptr().cast::<u8>(), 1), (at.cast_const(), 2)];
        let part = |i: usize| {
            let (at, count): (*const u8, u64) = blocks[i];
            Ok((at.addr() as i64, count, int))
        };
        let (mut side, mut ranges) = (Side::NONE, Ranges::new());
        Side::scattered(ptr::null_mut(), 2, part, &mut ranges, &mut side).unwrap();
        assert!(side.is_packed());
        let mut loaded = side.load().unwrap();
        // SAFETY: the copy has three numbers, with no alignment.
        let copy = unsafe { *loaded.base().cast::<[[u8; 4]; 3]>() };
        assert_eq!(copy.map(i32::from_ne_bytes), [7, 5, 6]);
    }
}

//! The memory that a plan works on.

use std::mem::MaybeUninit;

use catena_plan::{Buf, Region};

use crate::op::{NoRoom, Reducer, Room};

/// The three buffers of a plan and what combines them.
#[derive(Debug, Default)]
pub struct Memory {
    /// Send buffer.
    pub input: *const u8,
    /// Receive buffer.
    pub output: *mut u8,
    /// Scratch memory, 64-byte aligned.
    pub scratch: Scratch,
    /// Combines elements, if the plan reduces.
    pub reducer: Option<Reducer>,
}

/// Memory aligned to cache lines, with anything in it.
#[derive(Debug, Default)]
pub struct Scratch(Box<[MaybeUninit<Line>]>);

#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Line(#[allow(dead_code, reason = "only its address is used")] [u8; 64]);

/// Scratch memory that is kept for the next execution.
const KEPT: usize = 256 << 10;

impl Scratch {
    /// Memory of at least `len` bytes.
    ///
    /// # Errors
    /// If there is not enough.
    pub fn new(len: usize) -> Room<Self> {
        let (lines, mut memory) = (len.div_ceil(64), Vec::new());
        memory.try_reserve_exact(lines).map_err(|_| NoRoom(len))?;
        memory.resize_with(lines, MaybeUninit::uninit);
        Ok(Scratch(memory.into()))
    }

    /// Its address.
    #[inline]
    pub fn base(&mut self) -> *mut u8 {
        self.0.as_mut_ptr().cast()
    }

    /// Makes it hold `len` bytes; what it held may be lost.
    ///
    /// # Errors
    /// If there is not enough.
    #[inline]
    pub fn reserve(&mut self, len: usize) -> Room<()> {
        if self.0.len() * 64 < len {
            *self = Scratch::new(len)?;
        }
        Ok(())
    }

    /// Gives it back if it is much.
    #[inline]
    pub(super) fn trim(&mut self) {
        if self.0.len() * 64 > KEPT {
            *self = Scratch::default();
        }
    }
}

impl Memory {
    #[inline]
    pub(super) fn address(&mut self, r: Region) -> *mut u8 {
        match r.buf {
            Buf::Input => self.input.cast_mut().wrapping_add(r.offset),
            Buf::Output => self.output.wrapping_add(r.offset),
            Buf::Scratch => self.scratch.base().wrapping_add(r.offset),
        }
    }
}

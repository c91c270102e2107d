//! A one-sided operation as its origin starts it: what it does, and with which buffers.

use catena_core::buffer::{RecvBuf, SendBuf};
use catena_datatype::{OpKind, TypeRef};
use catena_link::{Sink, Source};
use catena_objects::error::Result;

use crate::transfer::unequal;

/// Elements of a target, as the program names them.
#[derive(Clone, Copy, Debug)]
pub struct At<'a> {
    /// The target.
    pub rank: u32,
    /// In units of its displacement.
    pub disp: i64,
    /// How many.
    pub count: u64,
    /// Of which type.
    pub ty: &'a TypeRef,
}

impl At<'_> {
    /// Packed bytes.
    pub(crate) fn len(&self) -> u64 {
        self.count.saturating_mul(self.ty.size())
    }
}

/// What an operation does, and the buffers of the origin, which the program lends until the epoch
/// ends.
#[derive(Debug)]
pub(crate) enum Operation<'a> {
    /// `MPI_Put`.
    Put(&'a SendBuf),
    /// `MPI_Get`.
    Get(&'a mut RecvBuf),
    /// `MPI_Accumulate`.
    Combine(OpKind, &'a SendBuf),
    /// `MPI_Get_accumulate` and `MPI_Fetch_and_op`: the former elements go to the second buffer.
    Fetch(OpKind, &'a SendBuf, &'a mut RecvBuf),
    /// `MPI_Compare_and_swap` of one element.
    Swap {
        /// Begins with what replaces the element.
        new: &'a [u8],
        /// Begins with what it is compared with.
        compare: &'a [u8],
        /// Where the former one goes.
        result: &'a mut RecvBuf,
    },
}

impl Operation<'_> {
    /// Carries it out on no bytes: the other side must have none either.
    ///
    /// # Errors
    /// `Type` if it has some.
    pub fn on_nothing(&self) -> Result<()> {
        let len = match self {
            Operation::Put(origin) | Operation::Combine(_, origin) => origin.len(),
            Operation::Get(into) | Operation::Fetch(_, _, into) => into.capacity(),
            Operation::Swap { .. } => 0,
        };
        match len {
            0 => Ok(()),
            len => Err(unequal(len, 0)),
        }
    }
}

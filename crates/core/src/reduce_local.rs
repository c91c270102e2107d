//! `MPI_Reduce_local`, which needs no other process.

use catena_abi as abi;
use catena_base::PeerBytes;
use catena_datatype::TypeRef;
use catena_link::Sink;
use catena_objects::Result;
use catena_objects::op::Op;

use crate::buffer::{RecvBuf, SendBuf, is_host};

/// Combines `count` elements of `ty`, whose handle is `handle`, at `input` with those at
/// `inout`. Elements that do not lie in host memory are combined as copies.
///
/// # Safety
/// Both hold as many elements, which nobody else uses.
///
/// # Errors
/// If the operation cannot combine such elements, or fails.
pub unsafe fn reduce_local(
    op: &Op,
    input: *const u8,
    inout: *mut u8,
    count: u64,
    handle: abi::Datatype,
    ty: &TypeRef,
) -> Result<()> {
    // A function of the program may make and free types.
    let ty = &ty.clone();
    if is_host(input, count, ty) && is_host(inout, count, ty) {
        // SAFETY: the caller's promise.
        return unsafe { op.apply_in_memory(input, inout, count, handle, ty) };
    }
    let reducer = op.bind(handle, ty)?;
    let left = SendBuf::new(input, count, ty).to_owned_bytes()?;
    let mut right = SendBuf::new(inout, count, ty).to_owned_bytes()?;
    // SAFETY: both hold the packed bytes of as many elements.
    unsafe { reducer.apply(left.as_ptr(), right.as_mut_ptr(), right.len())? };
    RecvBuf::new(inout, count, ty).place(0, PeerBytes::from(&*right));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use catena_datatype::{Datatype, OpKind};
    use catena_memory::{Kind, stand_in};

    #[test]
    fn what_lies_on_a_device_is_combined_as_copies() {
        let handle = abi::consts::INT;
        let int = Datatype::predefined(handle.0 as u16).expect("MPI_INT");
        let (mut left, mut right) = ([1i32, 2, 3], [10i32, 20, 30]);
        let input = stand_in::lend(Kind::Cuda, &mut left);
        let inout = stand_in::lend(Kind::Cuda, &mut right);
        let op = Op::Builtin(OpKind::Sum);
        // SAFETY: both hold three numbers.
        unsafe { reduce_local(&op, input, inout, 3, handle, int) }.unwrap();
        assert_eq!(right, [11, 22, 33]);
        // SAFETY: as above; one is in host memory.
        unsafe { reduce_local(&op, left.as_ptr().cast(), inout, 3, handle, int) }.unwrap();
        assert_eq!(right, [12, 24, 36]);
    }
}

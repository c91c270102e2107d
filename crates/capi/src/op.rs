//! Reduction operations (MPI-5, chapters 6.9.5 to 6.9.7).

use std::ffi::{c_int, c_void};

use catena_abi::{Datatype, Op, UserFunction, UserFunctionC, consts};
use catena_core::buffer::is_run;
use catena_core::{enter_any, reduce_local};
use catena_objects::op::{Op as OpObj, UserFn};
use catena_objects::{Result, fail};

use crate::args::{self, get, null_argument, put};
use crate::entry::mpi_fn;

fn create(function: UserFn, commute: c_int, op: *mut Op) -> Result<()> {
    let objects = enter_any();
    let obj = OpObj::User {
        function,
        commutative: commute != 0,
    };
    put(op, Op(objects.ops.table.insert(obj.into())), "op")
}

mpi_fn! {
    fn MPI_Op_create(user_fn: UserFunction, commute: c_int, op: *mut Op) {
        match user_fn {
            Some(f) => create(UserFn::Int(f.into()), commute, op),
            None => Err(null_argument("user_fn")),
        }
    }

    fn MPI_Op_create_c(user_fn: UserFunctionC, commute: c_int, op: *mut Op) {
        match user_fn {
            Some(f) => create(UserFn::Count(f.into()), commute, op),
            None => Err(null_argument("user_fn")),
        }
    }

    fn MPI_Op_free(op: *mut Op) {
        let objects = enter_any();
        let handle = get(op, "op")?;
        objects.ops.find(handle)?;
        if objects.ops.table.remove(handle.0).is_none() {
            fail!(Op, "{} is predefined and cannot be freed", handle.name().unwrap_or("it"));
        }
        put(op, consts::OP_NULL, "op")
    }

    fn MPI_Op_commutative(op: Op, commute: *mut c_int) {
        let op = enter_any().ops.find(op)?;
        put(commute, op.commutative().into(), "commute")
    }

    fn MPI_Reduce_local | MPI_Reduce_local_c(inbuf: *const c_void, inoutbuf: *mut c_void,
        count: Num,
        datatype: Datatype, op: Op)
    {
        let objects = enter_any();
        let count = args::count(count.into())?;
        let ty = objects.types.committed(datatype)?;
        args::buffer(inbuf, count, ty)?;
        args::buffer(inoutbuf, count, ty)?;
        if inbuf == inoutbuf.cast_const() && count > 0 {
            fail!(Buffer, "the two buffers are the same");
        }
        let (input, inout) = (inbuf.cast::<u8>(), inoutbuf.cast::<u8>());
        let are_runs = is_run(input, count, ty) && is_run(inout, count, ty);
        if are_runs && let Some(kernel) = objects.ops.kernel(op, datatype, ty)? {
            // SAFETY: the program passes two buffers of `count` elements.
            unsafe { (kernel.run)(input, inout, count as usize) };
        } else {
            let op = objects.ops.find(op)?;
            let _hold = objects.types.hold(datatype);
            // SAFETY: as above.
            unsafe { reduce_local(&op, input, inout, count, datatype, ty)? };
        }
        Ok(())
    }
}

//! Failures of processes: what the field calls ULFM, under its names (`MPIX_`), and under those that
//! the next version of the standard gives them.

use std::ffi::c_int;

use catena_abi::{Comm, Group, Request, consts};
use catena_core::enter;
use catena_ft::calls;
use catena_objects::{Result, fail};

use crate::args::put;
use crate::comm::put_comm;
use crate::extension::extension;

/// What a pointer leads to.
fn read<T: Copy>(from: *mut T, name: &str) -> Result<T> {
    // SAFETY: a pointer argument of the program, null or good.
    match unsafe { from.as_ref() } {
        Some(value) => Ok(*value),
        None => fail!(Arg, "the argument {name} is a null pointer"),
    }
}

/// Takes a result to where the program wants it.
fn to_place<T: 'static>(place: *mut T) -> calls::Put<T> {
    // SAFETY: checked not to be null; the program lends the place until the request is complete.
    Box::new(move |value| unsafe { place.write(value) })
}

extension! {
    fn Comm_revoke[standard](comm: Comm) on comm {
        let process = enter()?;
        calls::revoke(&process, &process.comm(comm)?);
        Ok(())
    }

    fn Comm_is_revoked[standard](comm: Comm, flag: *mut c_int) on comm {
        let process = enter()?;
        // What has come is heard.
        process.progress();
        put(flag, process.comm_ref(comm)?.failed.is_revoked().into(), "flag")
    }

    fn Comm_get_failed[standard](comm: Comm, failedgrp: *mut Group) on comm {
        let process = enter()?;
        process.progress();
        let failed = (*process.comm(comm)?).get_failed(&process);
        put(failedgrp, process.objects.groups.add(failed), "failedgrp")
    }

    fn Comm_ack_failed[standard](comm: Comm, num_to_ack: c_int, num_acked: *mut c_int) on comm {
        let process = enter()?;
        let Ok(most) = usize::try_from(num_to_ack) else {
            fail!(Arg, "num_to_ack is {num_to_ack}: it must not be negative");
        };
        process.progress();
        let acked = (*process.comm(comm)?).acknowledge(&process, most);
        put(num_acked, acked as c_int, "num_acked")
    }

    fn Comm_failure_ack(comm: Comm) on comm {
        let process = enter()?;
        process.progress();
        (*process.comm(comm)?).acknowledge(&process, usize::MAX);
        Ok(())
    }

    fn Comm_failure_get_acked(comm: Comm, failedgrp: *mut Group) on comm {
        let process = enter()?;
        let acknowledged = (*process.comm(comm)?).acknowledged(&process);
        put(failedgrp, process.objects.groups.add(acknowledged), "failedgrp")
    }

    fn Comm_agree[standard](comm: Comm, flag: *mut c_int) on comm {
        let process = enter()?;
        let own = read(flag, "flag")?;
        let (agreed, result) = calls::agree(&process, &process.comm(comm)?, own);
        put(flag, agreed, "flag")?;
        result
    }

    fn Comm_iagree[standard](comm: Comm, flag: *mut c_int, request: *mut Request) on comm {
        let process = enter()?;
        put(request, consts::REQUEST_NULL, "request")?;
        let own = read(flag, "flag")?;
        let started = calls::iagree(&process, &process.comm(comm)?, own, to_place(flag));
        put(request, started, "request")
    }

    fn Comm_shrink[standard](comm: Comm, newcomm: *mut Comm) on comm {
        let process = enter()?;
        put_comm(newcomm, || calls::shrink(&process, &process.comm(comm)?))
    }

    fn Comm_ishrink[standard](comm: Comm, newcomm: *mut Comm, request: *mut Request) on comm {
        let process = enter()?;
        put(newcomm, consts::COMM_NULL, "newcomm")?;
        put(request, consts::REQUEST_NULL, "request")?;
        let started = calls::ishrink(&process, &process.comm(comm)?, to_place(newcomm));
        put(request, started, "request")
    }
}

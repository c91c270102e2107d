//! Failures of processes: what the field calls ULFM, under its names (`MPIX_`), and under those
//! that the next version of the standard gives them.

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
    fn MPIX_Comm_revoke[MPI_Comm_revoke](comm: Comm) on comm {
        let process = enter()?;
        calls::revoke(&process, &process.comm(comm)?);
        Ok(())
    }

    fn MPIX_Comm_is_revoked[MPI_Comm_is_revoked](comm: Comm, flag: *mut c_int) on comm {
        let process = enter()?;
        // What has come is heard.
        process.progress();
        put(flag, process.comm_ref(comm)?.failed.is_revoked().into(), "flag")
    }

    fn MPIX_Comm_get_failed[MPI_Comm_get_failed](comm: Comm, failedgrp: *mut Group) on comm {
        let process = enter()?;
        process.progress();
        let failed = (*process.comm(comm)?).get_failed(&process);
        put(failedgrp, process.objects.groups.add(failed), "failedgrp")
    }

    fn MPIX_Comm_ack_failed[MPI_Comm_ack_failed](comm: Comm, num_to_ack: c_int,
        num_acked: *mut c_int) on comm {
        let process = enter()?;
        let Ok(most) = usize::try_from(num_to_ack) else {
            fail!(Arg, "num_to_ack is {num_to_ack}: it must not be negative");
        };
        process.progress();
        let acked = (*process.comm(comm)?).acknowledge(&process, most);
        put(num_acked, acked as c_int, "num_acked")
    }

    fn MPIX_Comm_failure_ack(comm: Comm) on comm {
        let process = enter()?;
        process.progress();
        (*process.comm(comm)?).acknowledge(&process, usize::MAX);
        Ok(())
    }

    fn MPIX_Comm_failure_get_acked(comm: Comm, failedgrp: *mut Group) on comm {
        let process = enter()?;
        let acknowledged = (*process.comm(comm)?).acknowledged(&process);
        put(failedgrp, process.objects.groups.add(acknowledged), "failedgrp")
    }

    fn MPIX_Comm_agree[MPI_Comm_agree](comm: Comm, flag: *mut c_int) on comm {
        let process = enter()?;
        let own = read(flag, "flag")?;
        let (agreed, result) = calls::agree(&process, &process.comm(comm)?, own);
        put(flag, agreed, "flag")?;
        result
    }

    fn MPIX_Comm_iagree[MPI_Comm_iagree](comm: Comm, flag: *mut c_int,
        request: *mut Request) on comm {
        let process = enter()?;
        put(request, consts::REQUEST_NULL, "request")?;
        let own = read(flag, "flag")?;
        let started = calls::iagree(&process, &process.comm(comm)?, own, to_place(flag));
        put(request, started, "request")
    }

    fn MPIX_Comm_shrink[MPI_Comm_shrink](comm: Comm, newcomm: *mut Comm) on comm {
        let process = enter()?;
        put_comm(newcomm, || calls::shrink(&process, &process.comm(comm)?))
    }

    fn MPIX_Comm_ishrink[MPI_Comm_ishrink](comm: Comm, newcomm: *mut Comm,
        request: *mut Request) on comm {
        let process = enter()?;
        put(newcomm, consts::COMM_NULL, "newcomm")?;
        put(request, consts::REQUEST_NULL, "request")?;
        let started = calls::ishrink(&process, &process.comm(comm)?, to_place(newcomm));
        put(request, started, "request")
    }
}

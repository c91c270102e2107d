//! One-sided operations that notify their target, an extension: see `notify` of `catena_rma`.

use std::ffi::{c_int, c_void};

use catena_abi::{Aint, Count, Datatype, Info, Op, Request, Win};
use catena_core::enter;
use catena_objects::{Result, fail};

use crate::args::put;
use crate::extension::extension;
use crate::rma::{
    Origin, Target, accumulate, get_accumulate, get_data, put_data, requested, window,
};
use crate::window::kept;

/// Starts an operation and has a counter of the target count it.
fn notified(
    win: Win,
    (rank, index): (c_int, c_int),
    operation: impl FnOnce() -> Result<()>,
) -> Result<()> {
    let named = {
        let process = enter()?;
        let window = window(&process, win)?;
        match window.target_rank(rank)? {
            None => None,
            Some(rank) => {
                let index = window.check_notice(rank, index)?;
                window.announce_notice(true);
                Some((rank, index))
            }
        }
    };
    let Some((rank, index)) = named else {
        return operation();
    };
    let started = operation();
    let process = enter()?;
    let window = window(&process, win)?;
    window.announce_notice(false);
    started?;
    window.notify(&process, rank, index)
}

/// What a counter is to come to.
fn threshold(value: Count) -> Result<u64> {
    match u64::try_from(value) {
        Ok(value) => Ok(value),
        Err(_) => fail!(Arg, "the threshold is {value}: it must not be negative"),
    }
}

extension! {
    fn MPIX_Win_set_num_notify(win: Win, hints: Info, num: c_int) on win {
        let process = enter()?;
        let window = kept(&process, win)?;
        // No hint changes anything.
        process.objects.infos.find(hints)?;
        window.set_num_notify(&process, num)
    }

    fn MPIX_Win_get_num_notify(win: Win, rank: c_int, num: *mut c_int) on win {
        let process = enter()?;
        let window = kept(&process, win)?;
        let count = match window.target_rank(rank)? {
            Some(rank) => window.num_notify(&process, rank)?,
            None => 0,
        };
        put(num, count as c_int, "num")
    }

    fn MPIX_Win_get_notify_value(win: Win, notification_idx: c_int, value: *mut Count) on win {
        let process = enter()?;
        let is = window(&process, win)?.notify_value(&process, notification_idx)?;
        put(value, is as Count, "value")
    }

    fn MPIX_Win_reset_notify_value(win: Win, notification_idx: c_int, value: *mut Count) on win {
        let process = enter()?;
        let was = window(&process, win)?.reset_notify_value(notification_idx)?;
        put(value, was as Count, "value")
    }

    fn MPIX_Win_test_notify(win: Win, notification_idx: c_int, value: Count,
        flag: *mut c_int) on win {
        let process = enter()?;
        let window = kept(&process, win)?;
        let has_come = window.test_notify(&process, notification_idx, threshold(value)?)?;
        put(flag, has_come.into(), "flag")
    }

    fn MPIX_Win_wait_notify(win: Win, notification_idx: c_int, value: Count) on win {
        let process = enter()?;
        kept(&process, win)?.wait_notify(&process, notification_idx, threshold(value)?)
    }

    fn MPIX_Put_notify | MPIX_Put_notify_c(origin_addr: *const c_void, origin_count: Num,
        origin_datatype: Datatype, target_rank: c_int, target_disp: Aint, target_count: Num,
        target_datatype: Datatype, notification_idx: c_int, win: Win) on win
    {
        let origin = Origin::new(origin_addr, origin_count.into(), origin_datatype);
        notified(win, (target_rank, notification_idx), || put_data(win, origin, Target {
            rank: target_rank, disp: target_disp, count: target_count.into(), ty: target_datatype,
        }))
    }

    fn MPIX_Get_notify | MPIX_Get_notify_c(origin_addr: *mut c_void, origin_count: Num,
        origin_datatype: Datatype, target_rank: c_int, target_disp: Aint, target_count: Num,
        target_datatype: Datatype, notification_idx: c_int, win: Win) on win
    {
        let origin = Origin::new(origin_addr, origin_count.into(), origin_datatype);
        notified(win, (target_rank, notification_idx), || get_data(win, origin, Target {
            rank: target_rank, disp: target_disp, count: target_count.into(), ty: target_datatype,
        }))
    }

    fn MPIX_Accumulate_notify | MPIX_Accumulate_notify_c(origin_addr: *const c_void,
        origin_count: Num,
        origin_datatype: Datatype, target_rank: c_int, target_disp: Aint, target_count: Num,
        target_datatype: Datatype, op: Op, notification_idx: c_int, win: Win) on win
    {
        let origin = Origin::new(origin_addr, origin_count.into(), origin_datatype);
        notified(win, (target_rank, notification_idx), || accumulate(win, op, origin, Target {
            rank: target_rank, disp: target_disp, count: target_count.into(), ty: target_datatype,
        }))
    }

    fn MPIX_Get_accumulate_notify | MPIX_Get_accumulate_notify_c(origin_addr: *const c_void,
        origin_count: Num,
        origin_datatype: Datatype, result_addr: *mut c_void, result_count: Num,
        result_datatype: Datatype, target_rank: c_int, target_disp: Aint, target_count: Num,
        target_datatype: Datatype, op: Op, notification_idx: c_int, win: Win) on win
    {
        let origin = Origin::new(origin_addr, origin_count.into(), origin_datatype);
        let result = Origin::new(result_addr, result_count.into(), result_datatype);
        notified(win, (target_rank, notification_idx), || get_accumulate(win, op, origin, result,
            Target {
            rank: target_rank, disp: target_disp, count: target_count.into(), ty: target_datatype,
        }))
    }

    fn MPIX_Rput_notify | MPIX_Rput_notify_c(origin_addr: *const c_void, origin_count: Num,
        origin_datatype: Datatype, target_rank: c_int, target_disp: Aint, target_count: Num,
        target_datatype: Datatype, notification_idx: c_int, win: Win, request: *mut Request) on win
    {
        let origin = Origin::new(origin_addr, origin_count.into(), origin_datatype);
        notified(win, (target_rank, notification_idx), || {
            requested(win, request, || put_data(win, origin, Target {
                rank: target_rank, disp: target_disp, count: target_count.into(),
                    ty: target_datatype,
            }))
        })
    }

    fn MPIX_Rget_notify | MPIX_Rget_notify_c(origin_addr: *mut c_void, origin_count: Num,
        origin_datatype: Datatype, target_rank: c_int, target_disp: Aint, target_count: Num,
        target_datatype: Datatype, notification_idx: c_int, win: Win, request: *mut Request) on win
    {
        let origin = Origin::new(origin_addr, origin_count.into(), origin_datatype);
        notified(win, (target_rank, notification_idx), || {
            requested(win, request, || get_data(win, origin, Target {
                rank: target_rank, disp: target_disp, count: target_count.into(),
                    ty: target_datatype,
            }))
        })
    }
}

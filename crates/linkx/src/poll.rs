//! Poll sets: several queues and counters that are asked together whether something has happened.

use std::ffi::{c_int, c_void};
use std::ptr::NonNull;
use std::sync::Mutex;

use crate::counter::CntrObject;
use crate::object::{free, no_bind, no_control, no_ops_open, of};
use crate::queue::{CqObject, lock};
use crate::sys::{Fid, FidOps, FidPoll, PollAttr, PollOps, class, err};

/// A poll set as an object.
#[repr(C)]
struct PollObject {
    fid: FidPoll,
    members: Mutex<Vec<NonNull<Fid>>>,
}

static FID_OPS: FidOps = FidOps {
    size: size_of::<FidOps>(),
    close,
    bind: no_bind,
    control: no_control,
    ops_open: no_ops_open,
};

static OPS: PollOps = PollOps {
    size: size_of::<PollOps>(),
    poll,
    add,
    del,
};

/// Opens a poll set; an error number, negative, if it cannot be had.
///
/// # Safety
/// Null, or attributes.
pub unsafe fn open(attr: *const PollAttr) -> Result<*mut FidPoll, c_int> {
    // SAFETY: as promised.
    if unsafe { attr.as_ref() }.is_some_and(|it| it.flags != 0) {
        return Err(err::INVAL);
    }
    let object = Box::new(PollObject {
        fid: FidPoll {
            fid: Fid {
                class: class::POLL,
                context: std::ptr::null_mut(),
                ops: &FID_OPS,
            },
            ops: &OPS,
        },
        members: Mutex::default(),
    });
    Ok(Box::into_raw(object).cast())
}

unsafe extern "C" fn close(fid: *mut Fid) -> c_int {
    // SAFETY: an open set.
    unsafe { free::<PollObject, _>(fid) };
    0
}

/// Whether something has happened to a queue or a counter, and what its user calls it.
///
/// # Safety
/// It is open.
unsafe fn happened(member: NonNull<Fid>) -> Option<*mut c_void> {
    let fid = member.as_ptr();
    // SAFETY: as promised; its class says what it is.
    unsafe {
        let has = match (*fid).class {
            class::CQ => {
                let queue = &of::<CqObject, _>(fid).queue;
                queue.movers.progress();
                !queue.is_empty()
            }
            _ => of::<CntrObject, _>(fid).counter.has_changed(),
        };
        has.then_some((*fid).context)
    }
}

unsafe extern "C" fn poll(set: *mut FidPoll, to: *mut *mut c_void, count: c_int) -> c_int {
    // SAFETY: an open set whose members are open, and room for as many contexts.
    unsafe {
        let members = lock(&of::<PollObject, _>(set).members);
        // All of them make progress, whatever room there is.
        let happened: Vec<_> = members.iter().filter_map(|it| happened(*it)).collect();
        let count = happened.len().min(usize::try_from(count).unwrap_or(0));
        for (at, context) in happened.into_iter().take(count).enumerate() {
            *to.add(at) = context;
        }
        count as c_int
    }
}

unsafe extern "C" fn add(set: *mut FidPoll, member: *mut Fid, flags: u64) -> c_int {
    // SAFETY: an open set, and an open object.
    unsafe {
        match NonNull::new(member) {
            Some(it) if flags == 0 && matches!(it.as_ref().class, class::CQ | class::CNTR) => {
                lock(&of::<PollObject, _>(set).members).push(it);
                0
            }
            _ => err::INVAL,
        }
    }
}

unsafe extern "C" fn del(set: *mut FidPoll, member: *mut Fid, flags: u64) -> c_int {
    // SAFETY: an open set.
    let mut members = lock(unsafe { &of::<PollObject, _>(set).members });
    let at = members.iter().position(|it| it.as_ptr() == member);
    match at {
        Some(at) if flags == 0 => {
            members.swap_remove(at);
            0
        }
        _ => err::INVAL,
    }
}

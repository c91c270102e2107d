//! Poll sets: several queues and counters that are asked together whether something has happened.

use std::ffi::{c_int, c_void};
use std::sync::{Arc, Mutex};

use crate::counter::CntrObject;
use crate::object::{NOTHING, begun, close, made, of};
use crate::queue::{CqObject, lock};
use crate::sys::{Fid, FidOps, FidPoll, PollAttr, PollOps, class, err};

/// A poll set as an object.
#[repr(C)]
struct PollObject {
    fid: FidPoll,
    members: Mutex<Vec<Member>>,
}

static FID_OPS: FidOps = FidOps {
    close: close::<PollObject>,
    ..NOTHING
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
    Ok(made(PollObject {
        fid: FidPoll {
            fid: begun(class::POLL, std::ptr::null_mut(), &FID_OPS),
            ops: &OPS,
        },
        members: Mutex::default(),
    }))
}

/// A queue or a counter of a set, which may be closed before the set.
struct Member {
    /// The object, and what its user calls it.
    fid: *mut Fid,
    context: *mut c_void,
    has_changed: Box<dyn Fn() -> bool>,
}

impl Member {
    /// One that is an open object; `None` if those of its class are in no sets.
    unsafe fn new(fid: *mut Fid) -> Option<Member> {
        // SAFETY: an open object, whose class says what it is.
        unsafe {
            let has_changed: Box<dyn Fn() -> bool> = match (*fid).class {
                class::CQ => {
                    let queue = Arc::clone(&of::<CqObject, _>(fid).queue);
                    Box::new(move || {
                        queue.progress();
                        !queue.is_empty()
                    })
                }
                class::CNTR => {
                    let counter = Arc::clone(&of::<CntrObject, _>(fid).counter);
                    Box::new(move || counter.has_changed())
                }
                _ => return None,
            };
            Some(Member {
                fid,
                context: (*fid).context,
                has_changed,
            })
        }
    }
}

unsafe extern "C" fn poll(set: *mut FidPoll, to: *mut *mut c_void, count: c_int) -> c_int {
    // SAFETY: an open set, and room for as many contexts.
    unsafe {
        let members = lock(&of::<PollObject, _>(set).members);
        // All of them make progress, whatever room there is.
        let happened = members.iter().filter(|it| (it.has_changed)());
        let happened: Vec<_> = happened.map(|it| it.context).collect();
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
        let is_good = flags == 0 && !member.is_null();
        match is_good.then(|| Member::new(member)).flatten() {
            Some(member) => {
                lock(&of::<PollObject, _>(set).members).push(member);
                0
            }
            None => err::INVAL,
        }
    }
}

unsafe extern "C" fn del(set: *mut FidPoll, member: *mut Fid, flags: u64) -> c_int {
    // SAFETY: an open set.
    let mut members = lock(unsafe { &of::<PollObject, _>(set).members });
    let at = members.iter().position(|it| it.fid == member);
    match at {
        Some(at) if flags == 0 => {
            members.swap_remove(at);
            0
        }
        _ => err::INVAL,
    }
}

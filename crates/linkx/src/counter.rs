//! Counters.

use std::ffi::{c_int, c_void};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::AcqRel, Ordering::Acquire, Ordering::Release};

use crate::object::{free, no_bind, no_control, no_ops_open, of};
use crate::queue::Movers;
use crate::sys::{CntrAttr, CntrOps, Fid, FidCntr, FidOps, class, err, num};

/// A counter itself.
#[derive(Default)]
pub struct Counter {
    good: AtomicU64,
    bad: AtomicU64,
    pub movers: Movers,
}

impl Counter {
    /// An operation has ended.
    pub fn count(&self, is_good: bool) {
        let of = if is_good { &self.good } else { &self.bad };
        of.fetch_add(1, AcqRel);
    }
}

/// A counter as an object.
#[repr(C)]
pub struct CntrObject {
    fid: FidCntr,
    pub counter: Arc<Counter>,
}

static FID_OPS: FidOps = FidOps {
    size: size_of::<FidOps>(),
    close,
    bind: no_bind,
    control: no_control,
    ops_open: no_ops_open,
};

static OPS: CntrOps = CntrOps {
    size: size_of::<CntrOps>(),
    read,
    readerr,
    add,
    set,
    wait,
    adderr,
    seterr,
};

/// Opens a counter; an error number, negative, if it cannot be had.
///
/// # Safety
/// Null, or attributes.
pub unsafe fn open(attr: *const CntrAttr, context: *mut c_void) -> Result<*mut FidCntr, c_int> {
    // SAFETY: as promised.
    if let Some(attr) = unsafe { attr.as_ref() } {
        let known = [num::WAIT_NONE, num::WAIT_UNSPEC, num::WAIT_YIELD];
        if attr.events != 0 || !known.contains(&attr.wait_obj) {
            return Err(err::NOSYS);
        }
    }
    let object = Box::new(CntrObject {
        fid: FidCntr {
            fid: Fid {
                class: class::CNTR,
                context,
                ops: &FID_OPS,
            },
            ops: &OPS,
        },
        counter: Arc::default(),
    });
    Ok(Box::into_raw(object).cast())
}

unsafe extern "C" fn close(fid: *mut Fid) -> c_int {
    // SAFETY: an open counter.
    unsafe {
        if !of::<CntrObject, _>(fid).counter.movers.is_empty() {
            return err::BUSY;
        }
        free::<CntrObject, _>(fid);
    }
    0
}

unsafe extern "C" fn read(cntr: *mut FidCntr) -> u64 {
    // SAFETY: an open counter; likewise below.
    let counter = &unsafe { of::<CntrObject, _>(cntr) }.counter;
    counter.movers.progress();
    counter.good.load(Acquire)
}

unsafe extern "C" fn readerr(cntr: *mut FidCntr) -> u64 {
    // SAFETY: as above.
    let counter = &unsafe { of::<CntrObject, _>(cntr) }.counter;
    counter.movers.progress();
    counter.bad.load(Acquire)
}

unsafe extern "C" fn add(cntr: *mut FidCntr, value: u64) -> c_int {
    // SAFETY: as above.
    let counter = &unsafe { of::<CntrObject, _>(cntr) }.counter;
    counter.good.fetch_add(value, AcqRel);
    0
}

unsafe extern "C" fn set(cntr: *mut FidCntr, value: u64) -> c_int {
    // SAFETY: as above.
    let counter = &unsafe { of::<CntrObject, _>(cntr) }.counter;
    counter.good.store(value, Release);
    0
}

unsafe extern "C" fn adderr(cntr: *mut FidCntr, value: u64) -> c_int {
    // SAFETY: as above.
    let counter = &unsafe { of::<CntrObject, _>(cntr) }.counter;
    counter.bad.fetch_add(value, AcqRel);
    0
}

unsafe extern "C" fn seterr(cntr: *mut FidCntr, value: u64) -> c_int {
    // SAFETY: as above.
    let counter = &unsafe { of::<CntrObject, _>(cntr) }.counter;
    counter.bad.store(value, Release);
    0
}

unsafe extern "C" fn wait(cntr: *mut FidCntr, threshold: u64, timeout: c_int) -> c_int {
    // SAFETY: as above.
    let counter = &unsafe { of::<CntrObject, _>(cntr) }.counter;
    let bad = counter.bad.load(Acquire);
    let is_over = || counter.good.load(Acquire) >= threshold || counter.bad.load(Acquire) != bad;
    if !counter.movers.until(timeout, is_over) {
        return err::TIMEDOUT;
    }
    match counter.good.load(Acquire) >= threshold {
        true => 0,
        false => err::AVAIL,
    }
}

//! Counters.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicU64, Ordering::AcqRel, Ordering::Acquire, Ordering::Release};
use std::sync::{Arc, OnceLock};

use crate::object::{NOTHING, begun, free, made, of};
use crate::queue::{Movers, until};
use crate::signal::Signal;
use crate::sys::{CntrAttr, CntrOps, Fid, FidCntr, FidOps, class, err};

/// A counter itself.
#[derive(Default)]
pub struct Counter {
    good: AtomicU64,
    bad: AtomicU64,
    /// Both of them, when they were last read.
    seen: AtomicU64,
    /// The endpoints that it is bound to.
    pub movers: Movers,
    /// Those of the domain, where it counts writes to a region.
    pub domain: OnceLock<Arc<Movers>>,
    pub signal: Signal,
}

impl Counter {
    /// An operation has ended.
    pub fn count(&self, is_good: bool) {
        let of = if is_good { &self.good } else { &self.bad };
        of.fetch_add(1, AcqRel);
        self.signal.raise();
    }

    /// What a change of either changes.
    fn both(&self) -> u64 {
        let [good, bad] = [&self.good, &self.bad].map(|it| it.load(Acquire));
        good.wrapping_add(bad)
    }

    fn progress(&self) -> bool {
        let domain = self.domain.get().is_some_and(|it| it.progress());
        self.movers.progress() | domain
    }

    /// Makes progress, and notes that the counter is read.
    fn read(&self) {
        self.progress();
        self.seen.store(self.both(), Release);
    }

    /// Whether it has changed since it was last read.
    pub fn has_changed(&self) -> bool {
        self.progress();
        self.both() != self.seen.load(Acquire)
    }

    /// Whether the program may wait for the descriptor: what comes raises it.
    pub fn may_wait(&self) -> bool {
        self.signal.clear();
        let may = !self.has_changed();
        if may {
            self.movers.stand_in();
            if let Some(domain) = self.domain.get() {
                domain.stand_in();
            }
        }
        may
    }
}

/// A counter as an object.
#[repr(C)]
pub struct CntrObject {
    fid: FidCntr,
    pub counter: Arc<Counter>,
}

static FID_OPS: FidOps = FidOps {
    close,
    control,
    ..NOTHING
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
    let mut signal = Signal::default();
    // SAFETY: as promised.
    if let Some(attr) = unsafe { attr.as_ref() } {
        if attr.events != 0 {
            return Err(err::NOSYS);
        }
        signal = Signal::of(attr.wait_obj)?;
    }
    Ok(made(CntrObject {
        fid: FidCntr {
            fid: begun(class::CNTR, context, &FID_OPS),
            ops: &OPS,
        },
        counter: Arc::new(Counter {
            signal,
            ..Counter::default()
        }),
    }))
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

unsafe extern "C" fn control(fid: *mut Fid, command: c_int, arg: *mut c_void) -> c_int {
    // SAFETY: an open counter, and an argument as the command says.
    unsafe {
        of::<CntrObject, _>(fid)
            .counter
            .signal
            .control(command, arg)
    }
}

unsafe extern "C" fn read(cntr: *mut FidCntr) -> u64 {
    // SAFETY: an open counter; likewise below.
    let counter = &unsafe { of::<CntrObject, _>(cntr) }.counter;
    counter.read();
    counter.good.load(Acquire)
}

unsafe extern "C" fn readerr(cntr: *mut FidCntr) -> u64 {
    // SAFETY: as above.
    let counter = &unsafe { of::<CntrObject, _>(cntr) }.counter;
    counter.read();
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
    if !until(timeout, || counter.progress(), is_over) {
        return err::TIMEDOUT;
    }
    match counter.good.load(Acquire) >= threshold {
        true => 0,
        false => err::AVAIL,
    }
}

//! Memory regions: what peers may read and write of this process's memory.

use std::collections::HashMap;
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard};

use libc::iovec;

use crate::counter::{CntrObject, Counter};
use crate::host;
use crate::object::{NOTHING, begun, free, made, of};
use crate::queue::{EVERYWHERE, Movers, lock, until};
use crate::sys::{Fid, FidMr, FidOps, MrAttr, class, err, flag, mr, num};

/// Has the memory of a region stay while it is used: a region that is closed waits for it.
pub type Hold = Arc<()>;

/// How long a region that is closed waits for those who use it, milliseconds.
const PATIENCE: c_int = 5000;

/// A region.
struct Region {
    hold: Hold,
    /// Its memory, run after run.
    runs: Vec<(u64, usize)>,
    /// What peers call its first byte.
    base: u64,
    access: u64,
    /// What counts writes of peers.
    counter: Option<Arc<Counter>>,
}

/// The key of memory that no peer is to touch (`FI_KEY_NOTAVAIL`).
const NO_KEY: u64 = u64::MAX;

/// The regions of a domain.
pub struct Regions {
    /// Keys are the program's, or numbers.
    by_key: Mutex<HashMap<u64, Region>>,
    /// Modes of registration that the program has chosen.
    mode: c_int,
    next: AtomicU64,
    /// Whose turn it is to carry out atomics.
    turn: Mutex<()>,
    /// The endpoints of the domain that are enabled.
    pub endpoints: Arc<Movers>,
}

impl Regions {
    /// None yet.
    pub fn new(mode: c_int) -> Regions {
        Regions {
            by_key: Mutex::default(),
            mode,
            next: AtomicU64::new(1),
            turn: Mutex::default(),
            endpoints: Arc::default(),
        }
    }

    /// The memory of `len` bytes from `addr` on, as peers call it, of the region with that key, run
    /// after run, if all of these accesses are allowed there; it may be used as long as it is held.
    ///
    /// # Errors
    /// An error number, positive.
    pub fn find(
        &self,
        key: u64,
        addr: u64,
        len: usize,
        access: u64,
    ) -> Result<(Vec<iovec>, Hold), c_int> {
        let regions = lock(&self.by_key);
        let region = regions.get(&key).ok_or(-err::NOKEY)?;
        if region.access & access != access {
            return Err(libc::EACCES);
        }
        let from = addr
            .checked_sub(region.base)
            .and_then(|it| it.try_into().ok());
        let from: usize = from.ok_or(libc::EFAULT)?;
        let end = from.checked_add(len).ok_or(libc::EFAULT)?;
        let (mut found, mut before) = (Vec::new(), 0);
        for &(at, run) in &region.runs {
            let (first, last) = (from.max(before), end.min(before + run));
            if first < last {
                found.push(iovec {
                    iov_base: (at as usize + first - before) as *mut c_void,
                    iov_len: last - first,
                });
            }
            before += run;
        }
        match end <= before {
            true => Ok((found, Hold::clone(&region.hold))),
            false => Err(libc::EFAULT),
        }
    }

    /// Atomics of all endpoints of the domain are carried out one after another.
    pub fn turn(&self) -> MutexGuard<'_, ()> {
        lock(&self.turn)
    }

    /// A peer has written to the region with that key.
    pub fn written(&self, key: u64) {
        let counter = lock(&self.by_key)
            .get(&key)
            .and_then(|it| it.counter.clone());
        if let Some(counter) = counter {
            counter.count(true);
        }
    }
}

/// A region as an object.
#[repr(C)]
struct MrObject {
    fid: FidMr,
    regions: Arc<Regions>,
}

static FID_OPS: FidOps = FidOps {
    close,
    bind,
    control,
    ..NOTHING
};

/// Registers memory; an error number, negative, if that cannot be.
///
/// # Safety
/// The attributes are those of `fi_mr_regattr`.
pub unsafe fn register(
    regions: &Arc<Regions>,
    attr: &MrAttr,
    flags: u64,
) -> Result<*mut FidMr, c_int> {
    if attr.iface != 0 && flags & flag::RMA != 0 || attr.iov_count == 0 || attr.iov.is_null() {
        return Err(err::INVAL);
    }
    if attr.iface != 0 {
        host::warn(
            host::DOMAIN,
            "memory of devices cannot be registered yet: FI_HMEM is not offered",
        );
        return Err(err::NOSYS);
    }
    // SAFETY: as promised.
    let iov: &[iovec] = unsafe { std::slice::from_raw_parts(attr.iov, attr.iov_count) };
    let runs: Vec<(u64, usize)> = iov
        .iter()
        .map(|it| (it.iov_base as u64, it.iov_len))
        .collect();
    let base = match regions.mode & (mr::VIRT_ADDR | mr::BASIC) != 0 {
        true => runs[0].0,
        false => attr.offset,
    };
    let region = Region {
        hold: Hold::default(),
        runs,
        base,
        access: attr.access,
        counter: None,
    };
    let mut all = lock(&regions.by_key);
    let key = match regions.mode & (mr::PROV_KEY | mr::BASIC) != 0 {
        true => regions.next.fetch_add(1, Relaxed),
        false => attr.requested_key,
    };
    // Memory that no peer is to touch needs no key of its own.
    let remote = flag::REMOTE_READ | flag::REMOTE_WRITE;
    let is_local = attr.access & remote == 0;
    let key = if is_local { NO_KEY } else { key };
    if !is_local {
        if key == NO_KEY || all.contains_key(&key) {
            return Err(err::NOKEY);
        }
        all.insert(key, region);
    }
    drop(all);
    let object: *mut FidMr = made(MrObject {
        fid: FidMr {
            fid: begun(class::MR, attr.context, &FID_OPS),
            desc: std::ptr::null_mut(),
            key,
        },
        regions: Arc::clone(regions),
    });
    // Its address says which one it is.
    // SAFETY: just made.
    unsafe { (*object).desc = object.cast() };
    Ok(object)
}

/// Nobody finds the region any more, and what is under way to it or from it comes to its end: the
/// memory is the program's alone afterwards. A peer that does not let go of it keeps it open.
unsafe extern "C" fn close(fid: *mut Fid) -> c_int {
    // SAFETY: an open region.
    unsafe {
        let object = of::<MrObject, _>(fid);
        let (key, regions) = (object.fid.key, &object.regions);
        let region = lock(&regions.by_key).remove(&key);
        if let Some(region) = region {
            let is_free = || Arc::strong_count(&region.hold) == 1;
            if !is_free() && !until(PATIENCE, || EVERYWHERE.visit(), is_free) {
                lock(&regions.by_key).entry(key).or_insert(region);
                return err::BUSY;
            }
        }
        free::<MrObject, _>(fid);
    }
    0
}

unsafe extern "C" fn bind(fid: *mut Fid, to: *mut Fid, flags: u64) -> c_int {
    // SAFETY: an open region, and an open object.
    unsafe {
        let object = of::<MrObject, _>(fid);
        match (*to).class {
            class::CNTR if flags & flag::REMOTE_WRITE != 0 => {
                let counter = &of::<CntrObject, _>(to).counter;
                if let Some(region) = lock(&object.regions.by_key).get_mut(&object.fid.key) {
                    region.counter = Some(Arc::clone(counter));
                    let endpoints = Arc::clone(&object.regions.endpoints);
                    // A counter has one domain.
                    let _ = counter.domain.set(endpoints);
                }
                0
            }
            class::EP => 0,
            _ => err::NOSYS,
        }
    }
}

unsafe extern "C" fn control(_: *mut Fid, command: c_int, _: *mut c_void) -> c_int {
    match command {
        num::ENABLE => 0,
        _ => err::NOSYS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_leaves_a_region() {
        let bytes = [0u8; 64];
        let regions = Arc::new(Regions::new(0));
        let iov = iovec {
            iov_base: bytes.as_ptr().cast_mut().cast(),
            iov_len: 64,
        };
        let attr = MrAttr {
            iov: &iov,
            iov_count: 1,
            access: flag::REMOTE_READ,
            offset: 0,
            requested_key: 9,
            context: std::ptr::null_mut(),
            auth_key_size: 0,
            auth_key: std::ptr::null_mut(),
            iface: 0,
            device: 0,
        };
        // SAFETY: one run.
        let open = unsafe { register(&regions, &attr, 0) }.expect("a new key");
        // SAFETY: as above.
        let again = unsafe { register(&regions, &attr, 0) };
        assert_eq!(again.err(), Some(err::NOKEY));
        let find = |key, addr, len, access| regions.find(key, addr, len, access);
        let error = |key, addr, len, access| find(key, addr, len, access).err();
        assert_eq!(error(9, 0, 64, flag::REMOTE_READ), None);
        assert_eq!(error(9, 63, 1, 0), None);
        assert_eq!(error(9, 64, 0, 0), None);
        assert_eq!(error(9, 64, 1, 0), Some(libc::EFAULT));
        assert_eq!(error(9, 1, 64, 0), Some(libc::EFAULT));
        assert_eq!(error(9, 65, 0, 0), Some(libc::EFAULT));
        assert_eq!(error(9, u64::MAX, 2, 0), Some(libc::EFAULT));
        assert_eq!(error(9, 0, usize::MAX, 0), Some(libc::EFAULT));
        assert_eq!(error(8, 0, 1, 0), Some(-err::NOKEY));
        assert_eq!(error(9, 0, 1, flag::REMOTE_WRITE), Some(libc::EACCES));
        // Memory of this process alone has no key, and takes none from others when it goes.
        let attr = MrAttr {
            access: 0,
            requested_key: 9,
            ..attr
        };
        // SAFETY: as above.
        let local = unsafe { register(&regions, &attr, 0) }.expect("it needs no key");
        // SAFETY: open.
        assert_eq!(unsafe { close(local.cast()) }, 0);
        assert_eq!(error(9, 0, 1, 0), None);
        let attr = MrAttr {
            access: flag::REMOTE_READ,
            requested_key: NO_KEY,
            ..attr
        };
        // SAFETY: as above.
        let none = unsafe { register(&regions, &attr, 0) };
        assert_eq!(none.err(), Some(err::NOKEY));
        // SAFETY: open.
        assert_eq!(unsafe { close(open.cast()) }, 0);
        assert_eq!(error(9, 0, 1, 0), Some(-err::NOKEY));
    }

    #[test]
    fn regions_go_on_in_the_next_run() {
        let regions = Arc::new(Regions::new(0));
        let runs = vec![(1000, 10), (5000, 5), (9000, 20)];
        let region = Region {
            hold: Hold::default(),
            runs,
            base: 100,
            access: 0,
            counter: None,
        };
        lock(&regions.by_key).insert(1, region);
        let find = |addr, len| {
            let found = regions.find(1, addr, len, 0).ok()?;
            let found = found.0.iter().map(|it| (it.iov_base as usize, it.iov_len));
            Some(found.collect::<Vec<_>>())
        };
        assert_eq!(find(100, 10), Some(vec![(1000, 10)]));
        assert_eq!(find(110, 1), Some(vec![(5000, 1)]));
        assert_eq!(find(109, 7), Some(vec![(1009, 1), (5000, 5), (9000, 1)]));
        assert_eq!(find(100, 35).map(|it| it.len()), Some(3));
        assert_eq!(find(134, 1), Some(vec![(9019, 1)]));
        assert_eq!((find(100, 36), find(99, 1)), (None, None));
    }
}

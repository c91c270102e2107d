//! Memory regions: what peers may read and write of this process's memory.

use std::collections::HashMap;
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard};

use catena_fabric::Buf;
use libc::iovec;

use crate::counter::{CntrObject, Counter};
use crate::host;
use crate::object::{free, no_ops_open, of};
use crate::queue::{Movers, lock};
use crate::sys::{Fid, FidMr, FidOps, MrAttr, class, err, flag, mr, num};

/// A region.
#[derive(Clone)]
struct Region {
    /// Its memory, run after run.
    runs: Vec<(u64, usize)>,
    /// What peers call its first byte.
    base: u64,
    access: u64,
    /// What counts writes of peers.
    counter: Option<Arc<Counter>>,
}

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

    /// The memory of `len` bytes from `addr` on, as peers call it, of the region with that key, if
    /// all of these accesses are allowed there.
    ///
    /// # Errors
    /// An error number, positive.
    pub fn find(&self, key: u64, addr: u64, len: usize, access: u64) -> Result<Buf, c_int> {
        let regions = lock(&self.by_key);
        let region = regions.get(&key).ok_or(-err::NOKEY)?;
        if region.access & access != access {
            return Err(libc::EACCES);
        }
        let mut skip = addr.checked_sub(region.base).ok_or(libc::EFAULT)?;
        for &(at, run) in &region.runs {
            if skip > run as u64 {
                skip -= run as u64;
                continue;
            }
            if len as u64 > run as u64 - skip {
                break;
            }
            return Ok(Buf::host((at + skip) as *const u8, len));
        }
        Err(libc::EFAULT)
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
    size: size_of::<FidOps>(),
    close,
    bind,
    control,
    ops_open: no_ops_open,
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
    if attr.iface != 0 && flags & flag::RMA != 0 || attr.iov_count == 0 {
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
    if all.contains_key(&key) && !is_local {
        return Err(err::NOKEY);
    }
    if !is_local {
        all.insert(key, region);
    }
    drop(all);
    let object = Box::new(MrObject {
        fid: FidMr {
            fid: Fid {
                class: class::MR,
                context: attr.context,
                ops: &FID_OPS,
            },
            desc: std::ptr::null_mut(),
            key: if is_local { num::ADDR_NONE } else { key },
        },
        regions: Arc::clone(regions),
    });
    let object = Box::into_raw(object);
    // Its address says which one it is.
    // SAFETY: just made.
    unsafe { (*object).fid.desc = object.cast() };
    Ok(object.cast())
}

unsafe extern "C" fn close(fid: *mut Fid) -> c_int {
    // SAFETY: an open region.
    unsafe {
        let object = of::<MrObject, _>(fid);
        lock(&object.regions.by_key).remove(&object.fid.key);
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
        assert!(find(9, 0, 64, flag::REMOTE_READ).is_ok() && find(9, 63, 1, 0).is_ok());
        assert_eq!(find(9, 64, 1, 0), Err(libc::EFAULT));
        assert_eq!(find(9, 1, 64, 0), Err(libc::EFAULT));
        assert_eq!(find(9, u64::MAX, 2, 0), Err(libc::EFAULT));
        assert_eq!(find(9, 0, usize::MAX, 0), Err(libc::EFAULT));
        assert_eq!(find(8, 0, 1, 0), Err(-err::NOKEY));
        assert_eq!(find(9, 0, 1, flag::REMOTE_WRITE), Err(libc::EACCES));
        // SAFETY: open.
        assert_eq!(unsafe { close(open.cast()) }, 0);
        assert_eq!(find(9, 0, 1, 0), Err(-err::NOKEY));
    }
}

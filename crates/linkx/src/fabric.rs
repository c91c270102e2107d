//! Fabrics and domains, and what is opened in them.

use std::ffi::{c_int, c_void};
use std::ptr::{addr_of_mut, null_mut};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::AcqRel, Ordering::Acquire};

use crate::atomics::{self, ATOMIC};
use crate::counter::{self, CntrObject};
use crate::endpoint::{self, Tables};
use crate::events::{self, EqObject};
use crate::host;
use crate::info;
use crate::links;
use crate::memory::{self, Regions};
use crate::messages::{MSG, TAG};
use crate::object::{NOTHING, begun, free, made, of};
use crate::poll;
use crate::queue::{self, CqObject};
use crate::remote::RMA;
use crate::sys::{
    AvAttr, CntrAttr, CqAttr, DomainOps, EqAttr, FabricAttr, FabricOps, Fid, FidAv, FidCntr, FidCq,
    FidDomain, FidEp, FidEq, FidFabric, FidMr, FidOps, FidPoll, Info, MrAttr, MrOps, PollAttr,
    Provider, class, err,
};
use crate::vector;

/// What libfabric is told of this provider.
static mut PROVIDER: Provider = Provider {
    version: 1 << 16,
    fi_version: 0,
    context: [null_mut(); 4],
    name: c"linkx".as_ptr(),
    getinfo: info::getinfo,
    fabric: open_fabric,
    cleanup,
};

/// The provider, for a libfabric of that version.
pub fn provider(version: u32) -> *const Provider {
    // SAFETY: libfabric calls this once, before anything else, and changes `context` itself.
    unsafe {
        let provider = addr_of_mut!(PROVIDER);
        (*provider).fi_version = version;
        host::set_provider(provider);
        provider
    }
}

unsafe extern "C" fn cleanup() {}

/// A fabric as an object.
#[repr(C)]
struct FabricObject {
    fid: FidFabric,
    domains: Arc<AtomicUsize>,
}

static FABRIC_FID: FidOps = FidOps {
    close: close_fabric,
    ..NOTHING
};

static FABRIC_OPS: FabricOps = FabricOps {
    size: size_of::<FabricOps>(),
    domain: open_domain,
    passive_ep,
    eq_open,
    wait_open,
    trywait,
};

unsafe extern "C" fn open_fabric(
    attr: *mut FabricAttr,
    to: *mut *mut FidFabric,
    context: *mut c_void,
) -> c_int {
    // SAFETY: attributes of an offer, and room for the object.
    unsafe {
        if host::text((*attr).name) != "linkx" {
            return err::INVAL;
        }
        *to = made(FabricObject {
            fid: FidFabric {
                fid: begun(class::FABRIC, context, &FABRIC_FID),
                ops: &FABRIC_OPS,
                api_version: (*attr).api_version,
            },
            domains: Arc::default(),
        });
    }
    0
}

unsafe extern "C" fn close_fabric(fid: *mut Fid) -> c_int {
    // SAFETY: an open fabric.
    unsafe {
        if of::<FabricObject, _>(fid).domains.load(Acquire) > 0 {
            return err::BUSY;
        }
        free::<FabricObject, _>(fid);
    }
    0
}

unsafe extern "C" fn passive_ep(
    _: *mut FidFabric,
    _: *mut Info,
    _: *mut *mut c_void,
    _: *mut c_void,
) -> c_int {
    err::NOSYS
}

unsafe extern "C" fn eq_open(
    _: *mut FidFabric,
    attr: *mut EqAttr,
    to: *mut *mut FidEq,
    context: *mut c_void,
) -> c_int {
    // SAFETY: as the manual page says.
    unsafe { hand(events::open(attr, context), to) }
}

unsafe extern "C" fn wait_open(_: *mut FidFabric, _: *mut c_void, _: *mut *mut c_void) -> c_int {
    err::NOSYS
}

/// Whether the program may wait for the descriptors of all of these.
unsafe extern "C" fn trywait(_: *mut FidFabric, fids: *mut *mut Fid, count: c_int) -> c_int {
    for at in 0..usize::try_from(count).unwrap_or(0) {
        // SAFETY: open objects, as many as `count` says; their classes say what they are.
        let may = unsafe {
            let fid = *fids.add(at);
            match (*fid).class {
                class::CQ => of::<CqObject, _>(fid).queue.may_wait(),
                class::CNTR => of::<CntrObject, _>(fid).counter.may_wait(),
                class::EQ => of::<EqObject, _>(fid).events.may_wait(),
                _ => return err::INVAL,
            }
        };
        if !may {
            return err::AGAIN;
        }
    }
    0
}

/// A domain as an object.
#[repr(C)]
struct DomainObject {
    fid: FidDomain,
    link: String,
    regions: Arc<Regions>,
    /// Of the interface, as the fabric was asked for.
    api: u32,
    /// Domains of its fabric.
    domains: Arc<AtomicUsize>,
}

static DOMAIN_FID: FidOps = FidOps {
    close: close_domain,
    bind: bind_domain,
    ..NOTHING
};

static DOMAIN_OPS: DomainOps = DomainOps {
    size: size_of::<DomainOps>(),
    av_open,
    cq_open,
    endpoint: endpoint_open,
    scalable_ep: open_nothing,
    cntr_open,
    poll_open,
    stx_ctx: open_nothing,
    srx_ctx: open_nothing,
    query_atomic: atomics::query,
    query_collective,
};

static MR_OPS: MrOps = MrOps {
    size: size_of::<MrOps>(),
    reg,
    regv,
    regattr,
};

unsafe extern "C" fn open_domain(
    fabric: *mut FidFabric,
    info: *mut Info,
    to: *mut *mut FidDomain,
    context: *mut c_void,
) -> c_int {
    // SAFETY: an open fabric, an offer, and room for the object.
    unsafe {
        let fabric = of::<FabricObject, _>(fabric);
        let Some(attr) = (*info).domain_attr.as_ref() else {
            return err::INVAL;
        };
        let link = host::text(attr.name);
        if let Err(why) = links::chain(&link) {
            host::warn(host::DOMAIN, &format!("no domain {link}: {why}"));
            return err::INVAL;
        }
        fabric.domains.fetch_add(1, AcqRel);
        *to = made(DomainObject {
            fid: FidDomain {
                fid: begun(class::DOMAIN, context, &DOMAIN_FID),
                ops: &DOMAIN_OPS,
                mr: &MR_OPS,
            },
            link,
            regions: Arc::new(Regions::new(attr.mr_mode)),
            api: fabric.fid.api_version,
            domains: Arc::clone(&fabric.domains),
        });
    }
    0
}

unsafe extern "C" fn close_domain(fid: *mut Fid) -> c_int {
    // SAFETY: an open domain.
    unsafe {
        let object = of::<DomainObject, _>(fid);
        // Endpoints and regions have it, too.
        if Arc::strong_count(&object.regions) > 1 {
            return err::BUSY;
        }
        object.domains.fetch_sub(1, AcqRel);
        free::<DomainObject, _>(fid);
    }
    0
}

unsafe extern "C" fn bind_domain(_: *mut Fid, to: *mut Fid, _: u64) -> c_int {
    // SAFETY: an open object.
    match unsafe { (*to).class } {
        class::EQ => 0,
        _ => err::INVAL,
    }
}

/// Hands out what was opened, or the error.
unsafe fn hand<T>(opened: Result<*mut T, c_int>, to: *mut *mut T) -> c_int {
    match opened {
        Ok(object) => {
            // SAFETY: room for the object.
            unsafe { *to = object };
            0
        }
        Err(error) => error,
    }
}

unsafe extern "C" fn av_open(
    _: *mut FidDomain,
    attr: *mut AvAttr,
    to: *mut *mut FidAv,
    context: *mut c_void,
) -> c_int {
    // SAFETY: as the manual page says; likewise below.
    unsafe { hand(vector::open(attr, context), to) }
}

unsafe extern "C" fn cq_open(
    domain: *mut FidDomain,
    attr: *mut CqAttr,
    to: *mut *mut FidCq,
    context: *mut c_void,
) -> c_int {
    // SAFETY: as above.
    unsafe {
        let api = of::<DomainObject, _>(domain).api;
        hand(queue::open(attr, api, context), to)
    }
}

unsafe extern "C" fn cntr_open(
    _: *mut FidDomain,
    attr: *mut CntrAttr,
    to: *mut *mut FidCntr,
    context: *mut c_void,
) -> c_int {
    // SAFETY: as above.
    unsafe { hand(counter::open(attr, context), to) }
}

unsafe extern "C" fn endpoint_open(
    domain: *mut FidDomain,
    info: *mut Info,
    to: *mut *mut FidEp,
    context: *mut c_void,
) -> c_int {
    let tables = Tables {
        msg: &MSG,
        tagged: &TAG,
        rma: &RMA,
        atomic: &ATOMIC,
    };
    // SAFETY: as above.
    unsafe {
        let domain = of::<DomainObject, _>(domain);
        let place = (&*domain.link, &domain.regions);
        hand(endpoint::open(&*info, place, &tables, context), to)
    }
}

unsafe extern "C" fn open_nothing(
    _: *mut FidDomain,
    _: *mut c_void,
    _: *mut *mut c_void,
    _: *mut c_void,
) -> c_int {
    err::NOSYS
}

unsafe extern "C" fn poll_open(
    _: *mut FidDomain,
    attr: *mut PollAttr,
    to: *mut *mut FidPoll,
) -> c_int {
    // SAFETY: as above.
    unsafe { hand(poll::open(attr), to) }
}

unsafe extern "C" fn query_collective(
    _: *mut FidDomain,
    _: c_int,
    _: *mut c_void,
    _: u64,
) -> c_int {
    err::NOSYS
}

unsafe extern "C" fn reg(
    fid: *mut Fid,
    at: *const c_void,
    len: usize,
    access: u64,
    offset: u64,
    key: u64,
    flags: u64,
    to: *mut *mut FidMr,
    context: *mut c_void,
) -> c_int {
    let iov = libc::iovec {
        iov_base: at.cast_mut(),
        iov_len: len,
    };
    // SAFETY: as above.
    unsafe { regv(fid, &iov, 1, access, offset, key, flags, to, context) }
}

unsafe extern "C" fn regv(
    fid: *mut Fid,
    iov: *const libc::iovec,
    iov_count: usize,
    access: u64,
    offset: u64,
    requested_key: u64,
    flags: u64,
    to: *mut *mut FidMr,
    context: *mut c_void,
) -> c_int {
    let attr = MrAttr {
        iov,
        iov_count,
        access,
        offset,
        requested_key,
        context,
        auth_key_size: 0,
        auth_key: null_mut(),
        iface: 0,
        device: 0,
    };
    // SAFETY: as above.
    unsafe { regattr(fid, &attr, flags, to) }
}

unsafe extern "C" fn regattr(
    fid: *mut Fid,
    attr: *const MrAttr,
    flags: u64,
    to: *mut *mut FidMr,
) -> c_int {
    // SAFETY: as above.
    unsafe {
        let regions = &of::<DomainObject, _>(fid).regions;
        hand(memory::register(regions, &*attr, flags), to)
    }
}

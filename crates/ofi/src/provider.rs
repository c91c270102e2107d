//! Choosing what libfabric offers.

use std::ffi::{CStr, CString, c_char};
use std::ptr;

use catena_ofi_sys::consts::{self, version_parts};
use catena_ofi_sys::{Info, Library};

use crate::error::OfiError;

/// Providers that reach only processes on the same node.
const LOCAL: [&str; 2] = ["shm", "sm2"];

/// The domain of a node's own messages.
const LOOPBACK: &str = "lo";

/// What the user asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Name of a provider, for example `tcp` or `tcp;ofi_rxm`. Without one it
    /// is the first that leads to other nodes.
    pub provider: Option<String>,
    /// Name of a domain, for example an interface.
    pub domain: Option<String>,
}

impl Wanted {
    /// As in `CATENA_LINK`.
    fn show(&self) -> String {
        let parts = ["ofi"].into_iter();
        let parts = parts.chain(self.provider.as_deref());
        parts
            .chain(self.domain.as_deref())
            .collect::<Vec<_>>()
            .join(":")
    }
}

/// One thing that a provider offers.
#[derive(Debug)]
pub(crate) struct Offer {
    pub library: Library,
    /// Ours, and the only one in its list.
    pub info: *mut Info,
}

/// The offers for one question.
struct Offers {
    library: Library,
    first: *mut Info,
}

impl Drop for Offers {
    fn drop(&mut self) {
        // SAFETY: ours, and used no more.
        unsafe { self.library.freeinfo(self.first) }
    }
}

impl Drop for Offer {
    fn drop(&mut self) {
        // SAFETY: ours, and used no more.
        unsafe { self.library.freeinfo(self.info) }
    }
}

/// A text of libfabric's; empty for null.
///
/// # Safety
/// Null, or a text that ends in 0 and outlives `'a`.
unsafe fn name<'a>(at: *const c_char) -> &'a str {
    if at.is_null() {
        return "";
    }
    // SAFETY: as promised.
    unsafe { CStr::from_ptr(at) }.to_str().unwrap_or_default()
}

impl Offer {
    /// Name of the provider.
    pub fn provider(&self) -> &str {
        // SAFETY: libfabric fills these in.
        unsafe { name((*(*self.info).fabric_attr).prov_name) }
    }

    /// Name of the domain.
    pub fn domain(&self) -> &str {
        // SAFETY: libfabric fills these in.
        unsafe { name((*(*self.info).domain_attr).name) }
    }

    /// Whether what is under way to a peer that is lost ends: the provider is told by its hardware,
    /// or by the kernel that a connection has ended (`connections`). If not it may have the
    /// program's memory for good.
    fn ends_operations(&self) -> bool {
        let name = self.provider();
        !LOCAL.contains(&name) && !name.ends_with(RXD)
    }

    /// Whether it reads and is read.
    pub fn has_reads(&self) -> bool {
        // SAFETY: ours.
        let caps = unsafe { (*self.info).caps };
        self.ends_operations()
            && caps & consts::RMA != 0
            && caps & consts::READ != 0
            && caps & consts::REMOTE_READ != 0
    }

    /// Whether it writes and is written.
    pub fn has_writes(&self) -> bool {
        // SAFETY: ours.
        let caps = unsafe { (*self.info).caps };
        self.ends_operations()
            && caps & consts::RMA != 0
            && caps & consts::WRITE != 0
            && caps & consts::REMOTE_WRITE != 0
    }

    /// Whether it changes remote words atomically.
    pub fn has_atomics(&self) -> bool {
        // SAFETY: ours.
        self.has_reads() && self.has_writes() && unsafe { (*self.info).caps } & consts::ATOMIC != 0
    }

    /// This offer with atomics beside the rest, if the provider has them and all else stays as it
    /// is.
    fn with_atomics(self) -> Offer {
        let wanted = Wanted {
            provider: Some(self.provider().to_string()),
            domain: Some(self.domain().to_string()),
        };
        let operations = READS | WRITES | consts::ATOMIC;
        let offers = ask(self.library, &wanted, operations).map_or_else(Vec::new, |it| it.each());
        let same = |offer: &Offer| offer.has_atomics() && offer.terms() == self.terms();
        match offers.into_iter().find(same) {
            Some(offer) => offer,
            None => self,
        }
    }

    /// What atomics must not change: protocol, form of addresses, inject size, mode of memory.
    fn terms(&self) -> (u32, u32, u32, usize, i32) {
        // SAFETY: libfabric fills these in.
        unsafe {
            let info = &*self.info;
            let (ep, domain) = (&*info.ep_attr, &*info.domain_attr);
            (
                ep.protocol,
                ep.protocol_version,
                info.addr_format,
                (*info.tx_attr).inject_size,
                domain.mr_mode,
            )
        }
    }

    /// Whether a bit of the memory mode is set.
    pub fn needs(&self, mode: i32) -> bool {
        // SAFETY: libfabric fills these in.
        unsafe { (*(*self.info).domain_attr).mr_mode & mode != 0 }
    }
}

/// A copy for `fi_freeinfo`, which frees it.
fn duplicate(text: Option<&str>) -> *mut c_char {
    match text.and_then(|text| CString::new(text).ok()) {
        // SAFETY: a text that ends in 0.
        Some(text) => unsafe { libc::strdup(text.as_ptr()) },
        None => ptr::null_mut(),
    }
}

/// Asks for reliable datagrams with these operations on remote memory.
fn ask(library: Library, wanted: &Wanted, operations: u64) -> Option<Offers> {
    let hints = library.allocinfo();
    if hints.is_null() {
        return None;
    }
    let hints = Offers {
        library,
        first: hints,
    };
    // SAFETY: `fi_dupinfo` makes all parts; the names belong to the hints.
    unsafe {
        let info = &mut *hints.first;
        info.caps = consts::MSG | consts::MULTI_RECV | consts::SEND | consts::RECV;
        info.caps |= operations;
        info.mode = consts::CONTEXT | consts::CONTEXT2;
        (*info.ep_attr).kind = consts::EP_RDM;
        let domain = &mut *info.domain_attr;
        domain.threading = consts::THREAD_DOMAIN;
        domain.control_progress = consts::PROGRESS_MANUAL;
        domain.data_progress = consts::PROGRESS_MANUAL;
        domain.resource_mgmt = consts::RM_ENABLED;
        domain.av_type = consts::AV_UNSPEC;
        domain.mr_mode = consts::MR_LOCAL
            | consts::MR_VIRT_ADDR
            | consts::MR_ALLOCATED
            | consts::MR_PROV_KEY
            | consts::MR_ENDPOINT;
        domain.name = duplicate(wanted.domain.as_deref());
        (*info.fabric_attr).prov_name = duplicate(wanted.provider.as_deref());
        let first = library.getinfo(hints.first).ok()?;
        Some(Offers { library, first })
    }
}

impl Offers {
    /// Copies of all.
    fn each(&self) -> Vec<Offer> {
        let mut all = Vec::new();
        let mut at = self.first;
        while !at.is_null() {
            // SAFETY: a member of the list, which is not freed yet.
            let (info, next) = unsafe { (self.library.dupinfo(at), (*at).next) };
            if !info.is_null() {
                let library = self.library;
                all.push(Offer { library, info });
            }
            at = next;
        }
        all
    }
}

/// It makes datagrams reliable, and never ends what is under way to a peer that is silent.
const RXD: &str = "ofi_rxd";

/// Capabilities of remote reads, and of remote writes beside them.
const READS: u64 = consts::RMA | consts::READ | consts::REMOTE_READ;
const WRITES: u64 = consts::WRITE | consts::REMOTE_WRITE;

/// The best offer for what is wanted: with remote writes and reads if there is one, else with
/// reads, of those the first that leads to other nodes unless the name says otherwise. Of the
/// domains of one provider it is the one of the index that `order` gives first.
pub(crate) fn choose(
    library: Library,
    wanted: &Wanted,
    order: impl Fn(&[&str]) -> Vec<usize>,
) -> Result<Offer, OfiError> {
    for operations in [READS | WRITES, READS, 0] {
        let offers = ask(library, wanted, operations).map_or_else(Vec::new, |offers| offers.each());
        let near = |offer: &Offer| {
            let local = wanted.provider.is_none() && LOCAL.contains(&offer.provider());
            local || wanted.domain.is_none() && offer.domain() == LOOPBACK
        };
        let (near, mut far): (Vec<_>, Vec<_>) = offers.into_iter().partition(near);
        // Of each domain the first offer: others are for other kinds of addresses.
        let mut seen: Vec<(String, String)> = Vec::new();
        far.retain(|offer| {
            let this = (offer.provider().to_string(), offer.domain().to_string());
            let new = seen.first().is_none_or(|first| first.0 == this.0) && !seen.contains(&this);
            if new {
                seen.push(this);
            }
            new
        });
        let names: Vec<&str> = far.iter().map(Offer::domain).collect();
        if let Some(&best) = order(&names).first() {
            far.swap(0, best);
        }
        // A machine without a network has but the loopback.
        let named = near
            .into_iter()
            .filter(|offer| !LOCAL.contains(&offer.provider()));
        if let Some(offer) = far.into_iter().chain(named).next() {
            return Ok(match offer.has_reads() && offer.has_writes() {
                true => offer.with_atomics(),
                false => offer,
            });
        }
    }
    let (major, minor) = version_parts(library.version());
    let mut offered = Vec::new();
    let any = ask(library, &Wanted::default(), 0);
    for offer in any.map_or_else(Vec::new, |offers| offers.each()) {
        let name = offer.provider().to_string();
        if !offered.contains(&name) {
            offered.push(name);
        }
    }
    Err(OfiError::NoProvider {
        wanted: wanted.show(),
        version: format!("{major}.{minor}"),
        offered,
    })
}

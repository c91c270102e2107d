//! libfabric's objects, opened together and closed in the right order.

use std::os::fd::RawFd;
use std::ptr::null_mut;

use catena_ofi_sys::consts::{self, AV_UNSPEC};
use catena_ofi_sys::{Av, AvAttr, Cq, CqAttr, Domain, Ep, Fabric, Fid, Mr, calls};

use crate::error::OfiError;
use crate::provider::Offer;

/// An endpoint and what it needs.
#[derive(Debug)]
pub(crate) struct Objects {
    pub offer: Offer,
    pub fabric: *mut Fabric,
    pub domain: *mut Domain,
    pub av: *mut Av,
    pub cq: *mut Cq,
    pub ep: *mut Ep,
    /// What one can sleep on, if the provider has it.
    pub wait: Option<RawFd>,
}

// SAFETY: libfabric's objects belong to no thread; that one thread at a time
// uses them is what `Objects`, owned by one transport, sees to.
unsafe impl Send for Objects {}

impl Objects {
    /// Opens and enables an endpoint for messages among `peers` processes; of
    /// each message at least `least` bytes of a buffer must be left. With
    /// `sleep` it can be slept on, if the provider has that.
    pub fn open(
        offer: Offer,
        peers: usize,
        least: usize,
        sleep: bool,
    ) -> Result<Objects, OfiError> {
        let mut this = Objects {
            offer,
            fabric: null_mut(),
            domain: null_mut(),
            av: null_mut(),
            cq: null_mut(),
            ep: null_mut(),
            wait: None,
        };
        let (library, info) = (this.offer.library, this.offer.info);
        let provider = this.offer.provider().to_string();
        let failed = |what| {
            let provider = provider.clone();
            move |error| OfiError::Call {
                what,
                provider,
                words: library.strerror(error),
            }
        };
        let mut vector = AvAttr {
            kind: AV_UNSPEC,
            rx_ctx_bits: 0,
            count: peers,
            ep_per_node: 0,
            name: std::ptr::null(),
            map_addr: null_mut(),
            flags: 0,
        };
        // SAFETY: all objects are of this library and open; what is opened is
        // kept at once, so that it is closed if the next step fails.
        unsafe {
            let attr = (*info).fabric_attr;
            this.fabric = library.fabric(attr).map_err(failed("fi_fabric"))?;
            this.domain = calls::domain(this.fabric, info).map_err(failed("fi_domain"))?;
            this.av = calls::av_open(this.domain, &mut vector).map_err(failed("fi_av_open"))?;
            this.open_queue(sleep).map_err(failed("fi_cq_open"))?;
            this.ep = calls::endpoint(this.domain, info).map_err(failed("fi_endpoint"))?;
            let ep = &raw mut (*this.ep).fid;
            calls::bind(ep, &raw mut (*this.av).fid, 0).map_err(failed("fi_ep_bind"))?;
            let both = consts::TRANSMIT | consts::RECV;
            calls::bind(ep, &raw mut (*this.cq).fid, both).map_err(failed("fi_ep_bind"))?;
            calls::enable(ep).map_err(failed("fi_enable"))?;
            // After enabling: before it, the shm provider of 1.17 crashes.
            calls::setopt_size(this.ep, consts::OPT_MIN_MULTI_RECV, least)
                .map_err(failed("fi_setopt"))?;
        }
        Ok(this)
    }

    /// Opens the completion queue, to be slept on if that is possible.
    fn open_queue(&mut self, sleep: bool) -> Result<(), i32> {
        // SAFETY: libfabric fills these in.
        let size = unsafe {
            let info = &*self.offer.info;
            (*info.tx_attr).size + (*info.rx_attr).size
        };
        let open = |wait_obj| {
            let mut attr = CqAttr {
                size,
                flags: 0,
                format: consts::CQ_FORMAT_DATA,
                wait_obj,
                signaling_vector: 0,
                wait_cond: 0,
                wait_set: null_mut(),
            };
            // SAFETY: the domain is open.
            unsafe { calls::cq_open(self.domain, &mut attr) }
        };
        if sleep && let Ok(cq) = open(consts::WAIT_FD) {
            self.cq = cq;
            // SAFETY: opened so that it has a descriptor.
            self.wait = unsafe { calls::wait_fd(cq) }.ok();
            return Ok(());
        }
        self.cq = open(consts::WAIT_NONE)?;
        Ok(())
    }

    /// The address under which others reach the endpoint.
    pub fn address(&self) -> Result<Vec<u8>, OfiError> {
        // SAFETY: it is open and enabled.
        unsafe { calls::getname(self.ep) }.map_err(|error| self.failure("fi_getname", error))
    }

    /// What to say if a call fails.
    pub fn failure(&self, what: &'static str, error: i32) -> OfiError {
        OfiError::Call {
            what,
            provider: self.offer.provider().to_string(),
            words: self.offer.library.strerror(error),
        }
    }

    /// Registers memory, for the endpoint if the provider binds it.
    ///
    /// # Errors
    /// libfabric's number, positive.
    pub fn register(
        &self,
        at: *const u8,
        len: usize,
        access: u64,
        key: u64,
    ) -> Result<Region, i32> {
        // SAFETY: the domain is open; what the memory is used for is the
        // caller's business.
        let region = unsafe { Region(calls::mr_reg(self.domain, at, len, access, key)?) };
        if self.offer.needs(consts::MR_ENDPOINT) {
            // SAFETY: both are open.
            unsafe {
                let fid = &raw mut (*region.0).fid;
                calls::bind(fid, &raw mut (*self.ep).fid, 0)?;
                calls::enable(fid)?;
            }
        }
        Ok(region)
    }
}

impl Drop for Objects {
    fn drop(&mut self) {
        let fid = |fid: *mut Fid| {
            if !fid.is_null() {
                // SAFETY: open, and closed once; users before what they use. A
                // failure leaves it open, which harms nobody.
                let _ = unsafe { calls::close(fid) };
            }
        };
        fid(self.ep.cast());
        fid(self.cq.cast());
        fid(self.av.cast());
        fid(self.domain.cast());
        fid(self.fabric.cast());
    }
}

/// Registered memory; ends its registration when dropped, before the objects.
#[derive(Debug)]
pub(crate) struct Region(*mut Mr);

// SAFETY: as for `Objects`.
unsafe impl Send for Region {}

impl Region {
    /// For operations on this memory.
    pub fn desc(&self) -> *mut std::ffi::c_void {
        // SAFETY: open.
        unsafe { (*self.0).desc }
    }

    /// For operations of others on this memory.
    pub fn key(&self) -> u64 {
        // SAFETY: open.
        unsafe { (*self.0).key }
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: open, and closed once. A failure leaves it registered.
        let _ = unsafe { calls::close(self.0.cast()) };
    }
}

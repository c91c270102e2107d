//! The functions that C programs get inline from the headers: each looks into
//! the table of its object. Errors are libfabric's numbers, positive.
//!
//! All are unsafe alike: objects must be open, of the library that is in use,
//! and used by one thread at a time; memory that an operation is given must
//! stay valid until the operation completes.
#![allow(
    clippy::missing_safety_doc,
    reason = "the module's head says it for all"
)]

use std::ffi::{c_char, c_int, c_void};
use std::ptr::{null, null_mut};

use catena_loader::text;

use crate::consts;
use crate::types::{
    Av, AvAttr, Context2, Cq, CqAttr, CqEntry, CqErrEntry, Domain, Ep, Fabric, Fid, Info, Mr, Msg,
    MsgRma, RmaIov,
};

fn check(status: c_int) -> Result<(), c_int> {
    if status == 0 { Ok(()) } else { Err(-status) }
}

fn check_long(status: isize) -> Result<(), isize> {
    if status == 0 { Ok(()) } else { Err(-status) }
}

/// `fi_close`.
pub unsafe fn close(fid: *mut Fid) -> Result<(), c_int> {
    // SAFETY: see the module's head; likewise below.
    check(unsafe { ((*(*fid).ops).close)(fid) })
}

/// `fi_ep_bind`, `fi_mr_bind`.
pub unsafe fn bind(fid: *mut Fid, to: *mut Fid, flags: u64) -> Result<(), c_int> {
    // SAFETY: as above.
    check(unsafe { ((*(*fid).ops).bind)(fid, to, flags) })
}

/// `fi_enable`, `fi_mr_enable`.
pub unsafe fn enable(fid: *mut Fid) -> Result<(), c_int> {
    // SAFETY: as above.
    check(unsafe { ((*(*fid).ops).control)(fid, consts::ENABLE, null_mut()) })
}

/// The file descriptor that a queue opened with [`consts::WAIT_FD`] has.
pub unsafe fn wait_fd(cq: *mut Cq) -> Result<c_int, c_int> {
    let mut fd: c_int = -1;
    // SAFETY: as above; the command writes one descriptor.
    check(unsafe {
        let fid = &raw mut (*cq).fid;
        ((*(*fid).ops).control)(fid, consts::GETWAIT, (&raw mut fd).cast())
    })?;
    Ok(fd)
}

/// `fi_trywait`, for one queue: whether one may sleep on its descriptor now.
pub unsafe fn trywait(fabric: *mut Fabric, cq: *mut Cq) -> bool {
    // SAFETY: as above.
    unsafe {
        let mut fid = &raw mut (*cq).fid;
        ((*(*fabric).ops).trywait)(fabric, &mut fid, 1) == 0
    }
}

/// `fi_domain`.
pub unsafe fn domain(fabric: *mut Fabric, info: *mut Info) -> Result<*mut Domain, c_int> {
    let mut domain = null_mut();
    // SAFETY: as above.
    check(unsafe { ((*(*fabric).ops).domain)(fabric, info, &mut domain, null_mut()) })?;
    Ok(domain)
}

/// `fi_av_open`.
pub unsafe fn av_open(domain: *mut Domain, attr: &mut AvAttr) -> Result<*mut Av, c_int> {
    let mut av = null_mut();
    // SAFETY: as above.
    check(unsafe { ((*(*domain).ops).av_open)(domain, attr, &mut av, null_mut()) })?;
    Ok(av)
}

/// `fi_cq_open`.
pub unsafe fn cq_open(domain: *mut Domain, attr: &mut CqAttr) -> Result<*mut Cq, c_int> {
    let mut cq = null_mut();
    // SAFETY: as above.
    check(unsafe { ((*(*domain).ops).cq_open)(domain, attr, &mut cq, null_mut()) })?;
    Ok(cq)
}

/// `fi_endpoint`.
pub unsafe fn endpoint(domain: *mut Domain, info: *mut Info) -> Result<*mut Ep, c_int> {
    let mut ep = null_mut();
    // SAFETY: as above.
    check(unsafe { ((*(*domain).ops).endpoint)(domain, info, &mut ep, null_mut()) })?;
    Ok(ep)
}

/// `fi_setopt` for a size at the level of the endpoint.
pub unsafe fn setopt_size(ep: *mut Ep, name: c_int, value: usize) -> Result<(), c_int> {
    // SAFETY: as above; the value is read during the call.
    check(unsafe {
        ((*(*ep).ops).setopt)(
            &raw mut (*ep).fid,
            consts::OPT_ENDPOINT,
            name,
            (&raw const value).cast(),
            size_of::<usize>(),
        )
    })
}

/// `fi_getname`: the address under which others reach an endpoint.
pub unsafe fn getname(ep: *mut Ep) -> Result<Vec<u8>, c_int> {
    let mut address = vec![0u8; 512];
    let mut len = address.len();
    // SAFETY: as above; the room is as long as told.
    check(unsafe {
        ((*(*ep).cm).getname)(&raw mut (*ep).fid, address.as_mut_ptr().cast(), &mut len)
    })?;
    address.truncate(len);
    Ok(address)
}

/// `fi_av_insert` for one address; `None` if the provider does not take it.
pub unsafe fn av_insert(av: *mut Av, address: &[u8]) -> Option<u64> {
    let mut found = consts::ADDR_NOTAVAIL;
    // SAFETY: as above; the address is copied.
    let taken =
        unsafe { ((*(*av).ops).insert)(av, address.as_ptr().cast(), 1, &mut found, 0, null_mut()) };
    (taken == 1 && found != consts::ADDR_NOTAVAIL).then_some(found)
}

/// `fi_av_remove` of one address. A failure leaves it there.
pub unsafe fn av_remove(av: *mut Av, mut address: u64) {
    // SAFETY: as above.
    unsafe { ((*(*av).ops).remove)(av, &mut address, 1, 0) };
}

/// `fi_mr_reg`.
pub unsafe fn mr_reg(
    domain: *mut Domain,
    at: *const u8,
    len: usize,
    access: u64,
    key: u64,
) -> Result<*mut Mr, c_int> {
    let mut mr = null_mut();
    // SAFETY: as above.
    check(unsafe {
        let fid = &raw mut (*domain).fid;
        ((*(*domain).mr).reg)(fid, at.cast(), len, access, 0, key, 0, &mut mr, null_mut())
    })?;
    Ok(mr)
}

/// `fi_inject`.
#[inline]
pub unsafe fn inject(ep: *mut Ep, at: *const u8, len: usize, to: u64) -> Result<(), isize> {
    // SAFETY: as above.
    check_long(unsafe { ((*(*ep).msg).inject)(ep, at.cast(), len, to) })
}

/// `fi_send`.
#[inline(always)]
pub unsafe fn send(
    ep: *mut Ep,
    at: *const u8,
    len: usize,
    desc: *mut c_void,
    to: u64,
    context: *mut Context2,
) -> Result<(), isize> {
    // SAFETY: as above.
    check_long(unsafe { ((*(*ep).msg).send)(ep, at.cast(), len, desc, to, context.cast()) })
}

/// `fi_recvmsg` of one buffer from anybody, for one message or, with [`consts::MULTI_RECV`], for
/// many.
pub unsafe fn recv(
    ep: *mut Ep,
    at: *mut u8,
    len: usize,
    desc: *mut c_void,
    context: *mut Context2,
    flags: u64,
) -> Result<(), isize> {
    let iov = libc::iovec {
        iov_base: at.cast(),
        iov_len: len,
    };
    let mut desc = desc;
    let msg = Msg {
        iov: &iov,
        desc: &mut desc,
        iov_count: 1,
        addr: consts::ADDR_UNSPEC,
        context: context.cast(),
        data: 0,
    };
    // SAFETY: as above; the description is read during the call.
    check_long(unsafe { ((*(*ep).msg).recvmsg)(ep, &msg, flags) })
}

/// Where the data of a remote read or write are at both ends.
#[derive(Clone, Copy, Debug)]
pub struct Transfer {
    /// Local memory.
    pub local: *mut u8,
    /// Bytes.
    pub len: usize,
    /// Descriptor of the local memory.
    pub desc: *mut c_void,
    /// Whose memory it is at the other end.
    pub peer: u64,
    /// Address or offset there.
    pub addr: u64,
    /// Key of the region.
    pub key: u64,
}

/// `fi_read`.
pub unsafe fn read(ep: *mut Ep, read: &Transfer, context: *mut Context2) -> Result<(), isize> {
    // SAFETY: as above.
    check_long(unsafe {
        ((*(*ep).rma).read)(
            ep,
            read.local.cast(),
            read.len,
            read.desc,
            read.peer,
            read.addr,
            read.key,
            context.cast(),
        )
    })
}

/// `fi_writemsg`, complete when the data are at the target.
pub unsafe fn write(ep: *mut Ep, write: &Transfer, context: *mut Context2) -> Result<(), isize> {
    let iov = libc::iovec {
        iov_base: write.local.cast(),
        iov_len: write.len,
    };
    let target = RmaIov {
        addr: write.addr,
        len: write.len,
        key: write.key,
    };
    let mut desc = write.desc;
    let msg = MsgRma {
        iov: &iov,
        desc: &mut desc,
        iov_count: 1,
        addr: write.peer,
        rma_iov: &target,
        rma_iov_count: 1,
        context: context.cast(),
        data: 0,
    };
    // SAFETY: as above; the description is read during the call.
    check_long(unsafe { ((*(*ep).rma).writemsg)(ep, &msg, consts::DELIVERY_COMPLETE) })
}

/// An atomic on one word, which fetches what it was.
#[derive(Clone, Copy, Debug)]
pub struct WordAtomic {
    /// One of [`consts::op`].
    pub op: c_int,
    /// One of [`consts::datatype`].
    pub datatype: c_int,
    /// Where the operand is.
    pub operand: *const u8,
    /// Where is what [`consts::op::CSWAP`] compares with.
    pub compare: *const u8,
    /// Where the former word goes to.
    pub result: *mut u8,
    /// Descriptor of these three.
    pub desc: *mut c_void,
    /// Whose memory it is at the other end.
    pub peer: u64,
    /// Address or offset there.
    pub addr: u64,
    /// Key of the region.
    pub key: u64,
}

/// `fi_fetch_atomicvalid` or, for [`consts::op::CSWAP`], `fi_compare_atomicvalid`.
pub unsafe fn atomic_valid(ep: *mut Ep, op: c_int, datatype: c_int) -> bool {
    let mut most = 0;
    // SAFETY: as above; an endpoint with that capability has the table.
    let status = unsafe {
        let atomic = (*ep).atomic;
        if atomic.is_null() {
            return false;
        }
        match op {
            consts::op::CSWAP => ((*atomic).compwritevalid)(ep, datatype, op, &mut most),
            _ => ((*atomic).readwritevalid)(ep, datatype, op, &mut most),
        }
    };
    status == 0 && most > 0
}

/// `fi_fetch_atomic` or, for [`consts::op::CSWAP`], `fi_compare_atomic`.
pub unsafe fn atomic(ep: *mut Ep, word: &WordAtomic, context: *mut Context2) -> Result<(), isize> {
    // SAFETY: as above.
    check_long(unsafe {
        let atomic = &*(*ep).atomic;
        match word.op {
            consts::op::CSWAP => (atomic.compwrite)(
                ep,
                word.operand.cast(),
                1,
                word.desc,
                word.compare.cast(),
                word.desc,
                word.result.cast(),
                word.desc,
                word.peer,
                word.addr,
                word.key,
                word.datatype,
                word.op,
                context.cast(),
            ),
            _ => (atomic.readwrite)(
                ep,
                word.operand.cast(),
                1,
                word.desc,
                word.result.cast(),
                word.desc,
                word.peer,
                word.addr,
                word.key,
                word.datatype,
                word.op,
                context.cast(),
            ),
        }
    })
}

/// `fi_cq_read`: how many entries it filled; [`consts::EAGAIN`] for none.
#[inline]
pub unsafe fn cq_read(cq: *mut Cq, entries: &mut [CqEntry]) -> Result<usize, isize> {
    // SAFETY: as above; as many entries as told.
    let n = unsafe { ((*(*cq).ops).read)(cq, entries.as_mut_ptr().cast(), entries.len()) };
    usize::try_from(n).map_err(|_| -n)
}

/// `fi_cq_readerr`: the error that is next, if one is.
pub unsafe fn cq_readerr(cq: *mut Cq) -> Option<CqErrEntry> {
    let mut entry = CqErrEntry {
        op_context: null_mut(),
        flags: 0,
        len: 0,
        buf: null_mut(),
        data: 0,
        tag: 0,
        olen: 0,
        err: 0,
        prov_errno: 0,
        err_data: null_mut(),
        err_data_size: 0,
        src_addr: consts::ADDR_NOTAVAIL,
        reserved: [0; 7],
    };
    // SAFETY: as above; at least as long as any version's.
    (unsafe { ((*(*cq).ops).readerr)(cq, &mut entry, 0) } > 0).then_some(entry)
}

/// `fi_cq_strerror`: the provider's words for an error; may be empty.
pub unsafe fn cq_strerror(cq: *mut Cq, entry: &CqErrEntry) -> String {
    let mut room = [0 as c_char; 256];
    let data: *const c_void = if entry.err_data_size == 0 {
        null()
    } else {
        entry.err_data
    };
    // SAFETY: as above; the answer is the room or a text of the provider's.
    unsafe {
        text(((*(*cq).ops).strerror)(
            cq,
            entry.prov_errno,
            data,
            room.as_mut_ptr(),
            room.len(),
        ))
    }
}

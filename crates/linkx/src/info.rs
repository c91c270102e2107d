//! What is offered: `fi_getinfo`.

use std::ffi::{c_char, c_int};
use std::ptr::null_mut;

use crate::arithmetic;
use crate::endpoint::{INJECT, MOST, RX_FLAGS, TX_FLAGS};
use crate::host;
use crate::links;
use crate::networks;
use crate::sys::{Info, err, flag, mr, num};
use crate::vector::{ADDRESS, Address, record_of};

/// What an endpoint can do.
const PRIMARY: u64 = flag::MSG | flag::TAGGED | flag::RMA | flag::ATOMIC;
/// In which directions.
const DIRECTIONS: u64 =
    flag::SEND | flag::RECV | flag::READ | flag::WRITE | flag::REMOTE_READ | flag::REMOTE_WRITE;
/// What it can do besides.
const SECONDARY: u64 = flag::MULTI_RECV
    | flag::DIRECTED_RECV
    | flag::SOURCE
    | flag::LOCAL_COMM
    | flag::REMOTE_COMM
    | flag::RMA_EVENT;
const ALL: u64 = PRIMARY | DIRECTIONS | SECONDARY;
/// What is there for those who ask for it.
const ASKED: u64 = flag::AV_USER_ID;

/// Which operations are in order, and which completions.
const ORDER: u64 = flag::ORDER_SAS | flag::ORDER_ATOMIC;
const COMPLETION_ORDER: u64 = 0;

/// Version 1.5 changed how modes of registration are asked for.
const NEW_MODES: u32 = 1 << 16 | 5;
/// Operations that are under way at once.
const SIZE: usize = 65_536;
/// Runs of memory of one operation.
const RUNS: usize = 8;

/// The capabilities of an endpoint for one who asks for these; `None` if it cannot be had.
fn caps_for(asked: u64) -> Option<u64> {
    if asked == 0 {
        return Some(ALL);
    }
    if asked & !(ALL | ASKED) != 0 {
        return None;
    }
    let mut caps = asked & (PRIMARY | SECONDARY | ASKED);
    let messages = asked & (flag::MSG | flag::TAGGED) != 0;
    let memory = asked & (flag::RMA | flag::ATOMIC) != 0;
    let either = |of: u64| match asked & of {
        0 => of,
        some => some,
    };
    if messages {
        caps |= either(flag::SEND | flag::RECV);
    }
    if memory {
        let of = flag::READ | flag::WRITE | flag::REMOTE_READ | flag::REMOTE_WRITE;
        caps |= either(of);
    }
    // Where one asks for neither, the link has both.
    if asked & (flag::LOCAL_COMM | flag::REMOTE_COMM) == 0 {
        caps |= flag::LOCAL_COMM | flag::REMOTE_COMM;
    }
    Some(caps)
}

/// Why an offer does not do for one who asks.
///
/// # Safety
/// Hints as `fi_getinfo` has them; likewise below.
unsafe fn refuses(hints: &Info) -> Option<String> {
    // SAFETY: as promised.
    unsafe { refuses_order(hints).or_else(|| refuses_sizes(hints).map(str::to_owned)) }
}

unsafe fn refuses_order(hints: &Info) -> Option<String> {
    // SAFETY: as promised.
    let (tx, rx) = unsafe { (hints.tx_attr.as_ref(), hints.rx_attr.as_ref()) };
    let tx = tx.map_or((0, 0), |it| (it.msg_order, it.comp_order));
    let rx = rx.map_or((0, 0), |it| (it.msg_order, it.comp_order));
    let (order, completions) = ((tx.0 | rx.0) & !ORDER, tx.1 | rx.1);
    if order != 0 {
        return Some(format!("operations are in no such order: {order:#x}"));
    }
    (completions & !COMPLETION_ORDER != 0)
        .then(|| format!("completions are in no such order: {completions:#x}"))
}

unsafe fn refuses_sizes(hints: &Info) -> Option<&'static str> {
    // SAFETY: as promised.
    unsafe {
        if let Some(ep) = hints.ep_attr.as_ref() {
            if ep.kind != 0 && ep.kind != num::EP_RDM {
                return Some("endpoints are FI_EP_RDM");
            }
            if ep.protocol != 0 && ep.protocol != PROTOCOL {
                return Some("the protocol is its own");
            }
            if ep.max_msg_size > MOST {
                return Some("messages have less than 4 GiB");
            }
            if ep.tx_ctx_cnt > 1 || ep.rx_ctx_cnt > 1 {
                return Some("an endpoint has one context of each kind");
            }
            let sizes = [
                ep.max_order_raw_size,
                ep.max_order_war_size,
                ep.max_order_waw_size,
            ];
            if sizes.iter().any(|it| *it > arithmetic::MOST) {
                return Some("data of atomics alone are in order");
            }
        }
        if let Some(tx) = hints.tx_attr.as_ref() {
            if tx.inject_size > INJECT || tx.size > SIZE || tx.iov_limit > RUNS {
                return Some("its sizes are smaller");
            }
            if tx.rma_iov_limit > 1 || tx.op_flags & !TX_FLAGS != 0 || tx.caps & !ALL != 0 {
                return Some("it has no such operations");
            }
        }
        if let Some(rx) = hints.rx_attr.as_ref() {
            if rx.size > SIZE || rx.iov_limit > RUNS || rx.op_flags & !RX_FLAGS != 0 {
                return Some("its sizes are smaller");
            }
            if rx.caps & !ALL != 0 {
                return Some("it has no such operations");
            }
        }
        if let Some(domain) = hints.domain_attr.as_ref() {
            if domain.mr_key_size > 8 || domain.cq_data_size > 8 {
                return Some("keys and remote CQ data have 8 bytes");
            }
            if domain.caps & !(ALL | ASKED) != 0 || domain.mr_iov_limit > RUNS {
                return Some("a domain can do no such things");
            }
            let choices = [
                (domain.threading, num::THREAD_ENDPOINT),
                (domain.control_progress, num::PROGRESS_UNIFIED),
                (domain.data_progress, num::PROGRESS_UNIFIED),
                (domain.av_type, num::AV_TABLE),
                (domain.resource_mgmt, num::RM_ENABLED),
            ];
            if choices.iter().any(|(it, last)| !(0..=*last).contains(it)) {
                return Some("there is no such threading, progress, vector or management");
            }
        }
        if hints.addr_format != 0 {
            return Some("its addresses are of no other format");
        }
        if !hints.dest_addr.is_null() && destination(hints).is_none() {
            return Some("what is to be reached is not an address of linkx");
        }
    }
    None
}

/// The address that is to be reached, if the hints have one that is good.
unsafe fn destination(hints: &Info) -> Option<Address> {
    if hints.dest_addr.is_null() || hints.dest_addrlen != ADDRESS {
        return None;
    }
    // SAFETY: as promised, it is as long as is said.
    let address = unsafe { hints.dest_addr.cast::<Address>().read_unaligned() };
    (!record_of(&address).is_empty()).then_some(address)
}

/// A copy of bytes on C's heap, which libfabric frees; null without memory.
fn copied(bytes: &[u8]) -> *mut u8 {
    // SAFETY: room for the bytes, or null.
    unsafe {
        let copy = libc::malloc(bytes.len()).cast::<u8>();
        if !copy.is_null() {
            copy.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
        }
        copy
    }
}

/// One offer, or null without memory.
unsafe fn offer(version: u32, link: &str, hints: Option<&Info>, caps: u64) -> *mut Info {
    let info = host::allocinfo();
    // SAFETY: structures of this libfabric's, or null; texts are freed by it.
    unsafe {
        let Some(it) = info.as_mut() else {
            return null_mut();
        };
        it.caps = caps;
        it.addr_format = 0;
        let tx_caps = flag::SEND | flag::READ | flag::WRITE | PRIMARY;
        let tx = &mut *it.tx_attr;
        tx.caps = caps & (tx_caps | flag::LOCAL_COMM | flag::REMOTE_COMM);
        (tx.msg_order, tx.comp_order) = (ORDER, COMPLETION_ORDER);
        (tx.inject_size, tx.size) = (INJECT, SIZE);
        (tx.iov_limit, tx.rma_iov_limit) = (RUNS, 1);
        let rx = &mut *it.rx_attr;
        rx.caps = caps & !(flag::SEND | flag::READ | flag::WRITE | ASKED);
        (rx.msg_order, rx.comp_order) = (ORDER, COMPLETION_ORDER);
        (rx.total_buffered_recv, rx.size, rx.iov_limit) = (0, SIZE, RUNS);
        let ep = &mut *it.ep_attr;
        ep.kind = num::EP_RDM;
        (ep.protocol, ep.protocol_version) = (PROTOCOL, 1);
        ep.max_msg_size = MOST;
        ep.max_order_raw_size = arithmetic::MOST;
        ep.max_order_war_size = arithmetic::MOST;
        ep.max_order_waw_size = arithmetic::MOST;
        ep.mem_tag_format = u64::MAX >> 1 & 0xaaaa_aaaa_aaaa_aaaa | 1 << 63;
        (ep.tx_ctx_cnt, ep.rx_ctx_cnt) = (1, 1);
        let domain = &mut *it.domain_attr;
        domain.name = host::strdup(link);
        domain.threading = num::THREAD_SAFE;
        domain.control_progress = num::PROGRESS_MANUAL;
        domain.data_progress = num::PROGRESS_MANUAL;
        domain.resource_mgmt = num::RM_ENABLED;
        domain.av_type = 0;
        (domain.mr_key_size, domain.cq_data_size) = (8, 8);
        (domain.cq_cnt, domain.ep_cnt, domain.cntr_cnt) = (1 << 16, 1 << 15, 1 << 16);
        (domain.tx_ctx_cnt, domain.rx_ctx_cnt) = (1 << 15, 1 << 15);
        (domain.max_ep_tx_ctx, domain.max_ep_rx_ctx) = (1, 1);
        (domain.max_ep_stx_ctx, domain.max_ep_srx_ctx) = (0, 0);
        (domain.mr_iov_limit, domain.mr_cnt) = (RUNS, 1 << 20);
        domain.caps = flag::LOCAL_COMM | flag::REMOTE_COMM | caps & ASKED;
        domain.max_err_data = 0;
        domain.mr_mode = 0;
        if version < NEW_MODES {
            domain.mr_mode = mr::SCALABLE;
        }
        let fabric = &mut *it.fabric_attr;
        fabric.name = host::strdup("linkx");
        fabric.prov_version = 1 << 16;
        fabric.api_version = version;
        it.nic = networks::card(link);
        if let Some(hints) = hints {
            prefer(it, hints, version);
        }
    }
    info
}

/// A number that no other provider has: protocols of vendors have the highest bit.
const PROTOCOL: u32 = 1 << 31 | 0x11_4e_4b;

/// Where an offer leaves a choice, what the caller prefers.
unsafe fn prefer(info: &mut Info, hints: &Info, version: u32) {
    // SAFETY: structures of libfabric's.
    unsafe {
        if let Some(tx) = hints.tx_attr.as_ref() {
            (*info.tx_attr).op_flags = tx.op_flags;
        }
        if let Some(rx) = hints.rx_attr.as_ref() {
            (*info.rx_attr).op_flags = rx.op_flags;
        }
        let domain = &mut *info.domain_attr;
        if let Some(wanted) = hints.domain_attr.as_ref() {
            if wanted.threading != 0 {
                domain.threading = wanted.threading;
            }
            if wanted.av_type != 0 {
                domain.av_type = wanted.av_type;
            }
            if wanted.control_progress != 0 {
                domain.control_progress = wanted.control_progress;
            }
            if wanted.data_progress != 0 {
                domain.data_progress = wanted.data_progress;
            }
            if wanted.resource_mgmt != 0 {
                domain.resource_mgmt = wanted.resource_mgmt;
            }
            let old = wanted.mr_mode & (mr::BASIC | mr::SCALABLE);
            domain.mr_mode = match (version < NEW_MODES, old) {
                (_, mr::BASIC) => mr::BASIC,
                (_, mr::SCALABLE) => mr::SCALABLE,
                (true, _) => mr::SCALABLE,
                // None of them is needed. Who wants some sets them in the offer.
                (false, _) => 0,
            };
        }
        if let Some(wanted) = hints.ep_attr.as_ref() {
            let ep = &mut *info.ep_attr;
            if wanted.auth_key_size > 0 && !wanted.auth_key.is_null() {
                let (at, len) = (wanted.auth_key, wanted.auth_key_size);
                let key = copied(std::slice::from_raw_parts(at, len));
                if !key.is_null() {
                    (ep.auth_key, ep.auth_key_size) = (key, len);
                }
            }
        }
        if let Some(address) = destination(hints) {
            let copy = copied(&address);
            if !copy.is_null() {
                (info.dest_addr, info.dest_addrlen) = (copy.cast(), ADDRESS);
            }
        }
        info.handle = hints.handle;
    }
}

/// What libfabric calls for a list of offers.
pub unsafe extern "C" fn getinfo(
    version: u32,
    _node: *const c_char,
    _service: *const c_char,
    flags: u64,
    hints: *const Info,
    to: *mut *mut Info,
) -> c_int {
    if flags & flag::ASKED_BY_LAYERS != 0 || networks::are_asked() {
        return err::NODATA;
    }
    // SAFETY: hints as the manual page has them, or null.
    let hints = unsafe { hints.as_ref() };
    let asked = hints.map_or(0, |it| it.caps);
    let Some(caps) = caps_for(asked) else {
        let lacking = asked & !(ALL | ASKED);
        let text = format!("not offered: it has not the capabilities {lacking:#x}");
        host::inform(host::CORE, &text);
        return err::NODATA;
    };
    // SAFETY: as above.
    if let Some(why) = hints.and_then(|hints| unsafe { refuses(hints) }) {
        host::inform(host::CORE, &format!("not offered: {why}"));
        return err::NODATA;
    }
    let links = match links::offered(networks::links) {
        Ok(links) => links,
        Err(why) => {
            host::warn(host::CORE, &why);
            return err::NODATA;
        }
    };
    let links = links.into_iter().filter(|link| {
        let lacking = networks::lacking(link);
        lacking.iter().for_each(|why| host::warn(host::CORE, why));
        lacking.is_none()
    });
    // SAFETY: as above; texts of the hints end in 0.
    let (domain, fabric) = unsafe {
        let domain = hints.and_then(|it| it.domain_attr.as_ref());
        let fabric = hints.and_then(|it| it.fabric_attr.as_ref());
        (
            domain.map(|it| host::text(it.name)).unwrap_or_default(),
            fabric.map(|it| host::text(it.name)).unwrap_or_default(),
        )
    };
    if !fabric.is_empty() && fabric != "linkx" {
        return err::NODATA;
    }
    let (mut first, mut last) = (null_mut::<Info>(), null_mut::<Info>());
    for link in links {
        if !domain.is_empty() && domain != link {
            continue;
        }
        // SAFETY: as above.
        unsafe {
            let info = offer(version, &link, hints, caps);
            if info.is_null() {
                host::freeinfo(first);
                return -libc::ENOMEM;
            }
            match last.as_mut() {
                Some(last) => last.next = info,
                None => first = info,
            }
            last = info;
        }
    }
    if first.is_null() {
        return err::NODATA;
    }
    // SAFETY: room for the list.
    unsafe { *to = first };
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn caps_are_those_that_were_asked_for() {
        assert_eq!(caps_for(0), Some(ALL));
        let both = flag::LOCAL_COMM | flag::REMOTE_COMM;
        let tagged = flag::TAGGED | flag::SEND | flag::RECV | both;
        assert_eq!(caps_for(flag::TAGGED), Some(tagged));
        let sends = flag::TAGGED | flag::SEND | flag::LOCAL_COMM;
        assert_eq!(caps_for(sends), Some(sends));
        assert_eq!(caps_for(flag::TAGGED | 1 << 5), None);
        assert_eq!(caps_for(ALL), Some(ALL));
    }
}

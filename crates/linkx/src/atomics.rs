//! The calls of atomics. Whoever has the memory carries them out, one after another: all that come
//! over linkx are atomic towards each other.

use std::ffi::{c_int, c_void};
use std::ptr::null_mut;

use libc::iovec;

use crate::arithmetic::{self, Form, MOST, is_valid};
use crate::core::State;
use crate::endpoint::{self, state};
use crate::object::many;
use crate::op::Kind;
use crate::remote::Target;
use crate::serve::{COMPARES, FETCHES, Request, What};
use crate::sys::{Addr, AtomicAttr, AtomicOps, FidDomain, FidEp, Ioc, MsgAtomic, err, flag};

pub static ATOMIC: AtomicOps = AtomicOps {
    size: size_of::<AtomicOps>(),
    write,
    writev,
    writemsg,
    inject,
    readwrite,
    readwritev,
    readwritemsg,
    compwrite,
    compwritev,
    compwritemsg,
    writevalid,
    readwritevalid,
    compwritevalid,
};

/// An atomic that is asked for. Counts are elements.
struct Asked<'a> {
    operands: &'a [Ioc],
    compare: Option<&'a [Ioc]>,
    results: Option<&'a [Ioc]>,
    at: Target,
    /// Type and operation.
    atomic: (c_int, c_int),
    /// What the caller says how much memory there is, or as much as there are operands.
    count: Option<usize>,
    is_injected: bool,
    context: *mut c_void,
}

impl<'a> Asked<'a> {
    /// One that neither compares nor fetches, at a place of a peer's: its address, that of the
    /// memory, a key.
    fn new(
        (peer, addr, key): (Addr, u64, u64),
        atomic: (c_int, c_int),
        operands: &'a [Ioc],
        context: *mut c_void,
    ) -> Asked<'a> {
        Asked {
            operands,
            compare: None,
            results: None,
            at: Target { peer, addr, key },
            atomic,
            count: None,
            is_injected: false,
            context,
        }
    }
}

/// The bytes of elements that lie in several runs.
fn bytes_of(all: &[Ioc], size: usize) -> impl Iterator<Item = &[u8]> {
    let runs = all.iter().filter(|it| it.count > 0);
    // SAFETY: memory that the program lends for the call.
    runs.map(move |it| unsafe { std::slice::from_raw_parts(it.addr.cast(), it.count * size) })
}

fn elements(all: &[Ioc]) -> usize {
    all.iter().fold(0, |sum, it| sum.saturating_add(it.count))
}

impl State {
    fn atomic(&mut self, asked: &Asked<'_>, flags: u64) -> isize {
        let peer = match self.peer(asked.at.peer) {
            Ok(peer) => peer,
            Err(error) => return error,
        };
        let form = match (asked.compare, asked.results) {
            (Some(_), _) => Form::Comparing,
            (None, Some(_)) => Form::Fetching,
            (None, None) => Form::Plain,
        };
        let (ty, operation) = asked.atomic;
        let Some(size) = arithmetic::size(ty).filter(|_| is_valid(ty, operation, form)) else {
            return err::NOTSUP as isize;
        };
        let count = asked.count.unwrap_or_else(|| elements(asked.operands));
        if count > MOST / size {
            return err::MSGSIZE as isize;
        }
        let len = count * size;
        let fits = |all: &[Ioc]| {
            elements(all) == count && all.iter().all(|it| it.count == 0 || !it.addr.is_null())
        };
        // What only reads has no operands; where it names some they are not looked at.
        let operands = match arithmetic::only_reads(operation) {
            true => &[],
            false => asked.operands,
        };
        if len == 0
            || !arithmetic::only_reads(operation) && !fits(operands)
            || !asked.compare.is_none_or(fits)
            || !asked.results.is_none_or(fits)
        {
            return err::INVAL as isize;
        }
        let mut op = self.pool.take();
        let number = self.enter_asked(op);
        // SAFETY: just taken.
        let it = unsafe { op.as_mut() };
        (it.kind, it.context, it.peer) = (Kind::Write, asked.context, peer.0);
        let fetches = asked.results.is_some();
        it.flags = flag::ATOMIC | if fetches { flag::READ } else { flag::WRITE };
        if fetches {
            it.kind = Kind::Read;
            let runs: Vec<iovec> = asked
                .results
                .into_iter()
                .flatten()
                .map(|it| iovec {
                    iov_base: it.addr,
                    iov_len: it.count * size,
                })
                .collect();
            it.lend(&runs);
        }
        (it.len, it.number, it.parts) = (len, number, 1);
        it.tells = flags & flag::COMPLETION != 0 && !asked.is_injected;
        let compares = if asked.compare.is_some() { COMPARES } else { 0 };
        let request = Request {
            what: What::Atomic,
            flags: compares | if fetches { FETCHES } else { 0 },
            atomic: (ty as u8, operation as u8),
            error: 0,
            number,
            key: asked.at.key,
            addr: asked.at.addr,
            len: len as u64,
            data: 0,
        };
        let operands = bytes_of(operands, size);
        let compare = bytes_of(asked.compare.unwrap_or_default(), size);
        let parts: Vec<&[u8]> = operands.chain(compare).collect();
        self.ask(peer, &request, &parts);
        0
    }
}

/// Starts an atomic of an endpoint.
///
/// # Safety
/// An open endpoint, and memory as the manual page says.
unsafe fn start(ep: *mut FidEp, flags: Option<u64>, asked: &Asked<'_>) -> isize {
    // SAFETY: as promised.
    let mut state = match unsafe { state(ep) } {
        Ok(state) => state,
        Err(error) => return error,
    };
    if state.caps & flag::ATOMIC == 0 {
        return err::NOTSUP as isize;
    }
    let default = (state.tx_flags, state.tx.is_selective);
    match endpoint::flags_of(flags, endpoint::TX_FLAGS, default) {
        Ok(flags) => state.atomic(asked, flags),
        Err(error) => error,
    }
}

fn one(addr: *const c_void, count: usize) -> [Ioc; 1] {
    [Ioc {
        addr: addr.cast_mut(),
        count,
    }]
}

unsafe extern "C" fn write(
    ep: *mut FidEp,
    at: *const c_void,
    count: usize,
    _desc: *mut c_void,
    peer: Addr,
    addr: u64,
    key: u64,
    ty: c_int,
    op: c_int,
    context: *mut c_void,
) -> isize {
    let operands = &one(at, count);
    let asked = Asked::new((peer, addr, key), (ty, op), operands, context);
    // SAFETY: as the manual page says; likewise below.
    unsafe { start(ep, None, &asked) }
}

unsafe extern "C" fn writev(
    ep: *mut FidEp,
    iov: *const Ioc,
    _desc: *mut *mut c_void,
    count: usize,
    peer: Addr,
    addr: u64,
    key: u64,
    ty: c_int,
    op: c_int,
    context: *mut c_void,
) -> isize {
    // SAFETY: as above.
    unsafe {
        let asked = Asked::new((peer, addr, key), (ty, op), many(iov, count), context);
        start(ep, None, &asked)
    }
}

/// What a structure of the caller's asks for; `None` if it names several places.
unsafe fn of_msg<'a>(msg: *const MsgAtomic, flags: u64) -> Option<Asked<'a>> {
    // SAFETY: as above.
    unsafe {
        let msg = &*msg;
        if msg.rma_iov_count != 1 {
            return None;
        }
        let place = *msg.rma_iov;
        Some(Asked {
            count: Some(place.count),
            is_injected: flags & flag::INJECT != 0 && flags & flag::COMPLETION == 0,
            ..Asked::new(
                (msg.addr, place.addr, place.key),
                (msg.datatype, msg.op),
                many(msg.iov, msg.iov_count),
                msg.context,
            )
        })
    }
}

unsafe extern "C" fn writemsg(ep: *mut FidEp, msg: *const MsgAtomic, flags: u64) -> isize {
    // SAFETY: as above.
    unsafe {
        match of_msg(msg, flags) {
            Some(asked) => start(ep, Some(flags), &asked),
            None => err::INVAL as isize,
        }
    }
}

unsafe extern "C" fn inject(
    ep: *mut FidEp,
    at: *const c_void,
    count: usize,
    peer: Addr,
    addr: u64,
    key: u64,
    ty: c_int,
    op: c_int,
) -> isize {
    let operands = &one(at, count);
    let asked = Asked {
        is_injected: true,
        ..Asked::new((peer, addr, key), (ty, op), operands, null_mut())
    };
    // SAFETY: as above.
    unsafe { start(ep, None, &asked) }
}

unsafe extern "C" fn readwrite(
    ep: *mut FidEp,
    at: *const c_void,
    count: usize,
    _desc: *mut c_void,
    result: *mut c_void,
    _result_desc: *mut c_void,
    peer: Addr,
    addr: u64,
    key: u64,
    ty: c_int,
    op: c_int,
    context: *mut c_void,
) -> isize {
    let operands = &one(at, count);
    let asked = Asked {
        results: Some(&one(result, count)),
        count: Some(count),
        ..Asked::new((peer, addr, key), (ty, op), operands, context)
    };
    // SAFETY: as above.
    unsafe { start(ep, None, &asked) }
}

unsafe extern "C" fn readwritev(
    ep: *mut FidEp,
    iov: *const Ioc,
    _desc: *mut *mut c_void,
    count: usize,
    results: *mut Ioc,
    _result_desc: *mut *mut c_void,
    result_count: usize,
    peer: Addr,
    addr: u64,
    key: u64,
    ty: c_int,
    op: c_int,
    context: *mut c_void,
) -> isize {
    // SAFETY: as above.
    unsafe {
        let results = many(results, result_count);
        let asked = Asked {
            results: Some(results),
            count: Some(elements(results)),
            ..Asked::new((peer, addr, key), (ty, op), many(iov, count), context)
        };
        start(ep, None, &asked)
    }
}

unsafe extern "C" fn readwritemsg(
    ep: *mut FidEp,
    msg: *const MsgAtomic,
    results: *mut Ioc,
    _result_desc: *mut *mut c_void,
    result_count: usize,
    flags: u64,
) -> isize {
    // SAFETY: as above.
    unsafe {
        let Some(asked) = of_msg(msg, 0) else {
            return err::INVAL as isize;
        };
        let results = Some(many(results, result_count));
        start(ep, Some(flags), &Asked { results, ..asked })
    }
}

unsafe extern "C" fn compwrite(
    ep: *mut FidEp,
    at: *const c_void,
    count: usize,
    _desc: *mut c_void,
    compare: *const c_void,
    _compare_desc: *mut c_void,
    result: *mut c_void,
    _result_desc: *mut c_void,
    peer: Addr,
    addr: u64,
    key: u64,
    ty: c_int,
    op: c_int,
    context: *mut c_void,
) -> isize {
    let operands = &one(at, count);
    let asked = Asked {
        compare: Some(&one(compare, count)),
        results: Some(&one(result, count)),
        count: Some(count),
        ..Asked::new((peer, addr, key), (ty, op), operands, context)
    };
    // SAFETY: as above.
    unsafe { start(ep, None, &asked) }
}

unsafe extern "C" fn compwritev(
    ep: *mut FidEp,
    iov: *const Ioc,
    _desc: *mut *mut c_void,
    count: usize,
    compare: *const Ioc,
    _compare_desc: *mut *mut c_void,
    compare_count: usize,
    results: *mut Ioc,
    _result_desc: *mut *mut c_void,
    result_count: usize,
    peer: Addr,
    addr: u64,
    key: u64,
    ty: c_int,
    op: c_int,
    context: *mut c_void,
) -> isize {
    // SAFETY: as above.
    unsafe {
        let asked = Asked {
            compare: Some(many(compare, compare_count)),
            results: Some(many(results, result_count)),
            ..Asked::new((peer, addr, key), (ty, op), many(iov, count), context)
        };
        start(ep, None, &asked)
    }
}

unsafe extern "C" fn compwritemsg(
    ep: *mut FidEp,
    msg: *const MsgAtomic,
    compare: *const Ioc,
    _compare_desc: *mut *mut c_void,
    compare_count: usize,
    results: *mut Ioc,
    _result_desc: *mut *mut c_void,
    result_count: usize,
    flags: u64,
) -> isize {
    // SAFETY: as above.
    unsafe {
        let Some(asked) = of_msg(msg, 0) else {
            return err::INVAL as isize;
        };
        let compare = Some(many(compare, compare_count));
        let results = Some(many(results, result_count));
        let asked = Asked {
            compare,
            results,
            ..asked
        };
        start(ep, Some(flags), &asked)
    }
}

/// Whether there is such an atomic, and of how many elements at once.
fn most(ty: c_int, op: c_int, form: Form) -> Result<usize, c_int> {
    let size = arithmetic::size(ty).filter(|_| is_valid(ty, op, form));
    size.map(|size| MOST / size).ok_or(err::NOTSUP)
}

unsafe fn valid(ty: c_int, op: c_int, form: Form, count: *mut usize) -> c_int {
    match most(ty, op, form) {
        Ok(most) => {
            // SAFETY: room for a number.
            unsafe { *count = most };
            0
        }
        Err(error) => error,
    }
}

unsafe extern "C" fn writevalid(_: *mut FidEp, ty: c_int, op: c_int, count: *mut usize) -> c_int {
    // SAFETY: as above.
    unsafe { valid(ty, op, Form::Plain, count) }
}

unsafe extern "C" fn readwritevalid(
    _: *mut FidEp,
    ty: c_int,
    op: c_int,
    count: *mut usize,
) -> c_int {
    // SAFETY: as above.
    unsafe { valid(ty, op, Form::Fetching, count) }
}

unsafe extern "C" fn compwritevalid(
    _: *mut FidEp,
    ty: c_int,
    op: c_int,
    count: *mut usize,
) -> c_int {
    // SAFETY: as above.
    unsafe { valid(ty, op, Form::Comparing, count) }
}

/// What a domain says of an atomic.
pub unsafe extern "C" fn query(
    _domain: *mut FidDomain,
    ty: c_int,
    op: c_int,
    attr: *mut AtomicAttr,
    flags: u64,
) -> c_int {
    let form = match flags {
        0 => Form::Plain,
        flag::FETCH_ATOMIC => Form::Fetching,
        flag::COMPARE_ATOMIC => Form::Comparing,
        _ => return err::INVAL,
    };
    match most(ty, op, form) {
        Ok(count) => {
            // SAFETY: room for the attributes.
            unsafe {
                (*attr).count = count;
                (*attr).size = arithmetic::size(ty).unwrap_or(0);
            }
            0
        }
        Err(error) => error,
    }
}

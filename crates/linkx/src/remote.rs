//! The calls of remote memory.

use std::ffi::c_void;
use std::ptr::null_mut;

use catena_link::TagSelector;
use libc::iovec;

use crate::core::{DATA, State};
use crate::endpoint::{self, state};
use crate::object::{many, one};
use crate::op::{Kind, total};
use crate::serve::{ALONG, HAS_DATA, Request, WRITES, What};
use crate::sys::{Addr, FidEp, MsgRma, RmaOps, err, flag};

pub static RMA: RmaOps = RmaOps {
    size: size_of::<RmaOps>(),
    read,
    readv,
    readmsg,
    write,
    writev,
    writemsg,
    inject,
    writedata,
    injectdata,
};

/// Where an operation leads.
#[derive(Clone, Copy)]
pub struct Target {
    pub peer: Addr,
    pub addr: u64,
    pub key: u64,
}

/// An operation that is asked for.
struct Asked<'a> {
    iov: &'a [iovec],
    at: Target,
    data: Option<u64>,
    /// Nothing is told of its end, and its memory may be used again at once.
    is_injected: bool,
    context: *mut c_void,
}

impl<'a> Asked<'a> {
    /// One without remote CQ data, at a place of a peer's: its address, that of the memory, a key.
    fn new(
        (peer, addr, key): (Addr, u64, u64),
        iov: &'a [iovec],
        context: *mut c_void,
    ) -> Asked<'a> {
        Asked {
            iov,
            at: Target { peer, addr, key },
            data: None,
            is_injected: false,
            context,
        }
    }
}

impl State {
    fn new_number(&mut self) -> u64 {
        let number = self.next_number;
        self.next_number = (number + 1) & !WRITES;
        number
    }

    /// Enters an operation that waits for an answer; its number.
    pub fn enter_asked(&mut self, op: std::ptr::NonNull<crate::op::Op>) -> u64 {
        let number = self.new_number();
        self.asked.insert(number, op);
        self.tally.remote += 1;
        number
    }

    fn write(&mut self, asked: &Asked<'_>, flags: u64) -> isize {
        let peer = match self.peer(asked.at.peer) {
            Ok(peer) => peer,
            Err(error) => return error,
        };
        let len = total(asked.iov);
        let is_long = len > ALONG;
        let mut op = self.pool.take();
        let number = self.enter_asked(op);
        // SAFETY: just taken.
        let it = unsafe { op.as_mut() };
        (it.kind, it.context, it.peer) = (Kind::Write, asked.context, peer.0);
        (it.flags, it.len) = (flag::RMA | flag::WRITE, len);
        it.number = number;
        it.tells = flags & flag::COMPLETION != 0 && !asked.is_injected;
        it.parts = 1 + u32::from(is_long);
        let request = Request {
            what: if is_long {
                What::WriteLong
            } else {
                What::Write
            },
            flags: if asked.data.is_some() { HAS_DATA } else { 0 },
            atomic: (0, 0),
            error: 0,
            number,
            key: asked.at.key,
            addr: asked.at.addr,
            len: len as u64,
            data: asked.data.unwrap_or(0),
        };
        if !is_long {
            let part = |it: &iovec| match it.iov_len {
                0 => &[][..],
                len => {
                    let at = it.iov_base.cast::<u8>();
                    // SAFETY: memory that the program lends for the call.
                    unsafe { std::slice::from_raw_parts(at, len) }
                }
            };
            let parts: Vec<&[u8]> = asked.iov.iter().map(part).collect();
            self.ask(peer, &request, &parts);
            return 0;
        }
        self.ask(peer, &request, &[]);
        let mut sent = self.pool.take();
        // SAFETY: just taken.
        let it = unsafe { sent.as_mut() };
        (it.kind, it.number, it.peer) = (Kind::Sent, number, peer.0);
        it.lend(asked.iov);
        self.send_quietly(sent, DATA, peer, number | WRITES);
        0
    }

    fn read(&mut self, asked: &Asked<'_>, flags: u64) -> isize {
        let peer = match self.peer(asked.at.peer) {
            Ok(peer) => peer,
            Err(error) => return error,
        };
        let mut op = self.pool.take();
        let number = self.enter_asked(op);
        // SAFETY: just taken.
        let it = unsafe { op.as_mut() };
        (it.kind, it.context, it.peer) = (Kind::Read, asked.context, peer.0);
        (it.flags, it.number, it.parts) = (flag::RMA | flag::READ, number, 1);
        it.tells = flags & flag::COMPLETION != 0;
        it.lend(asked.iov);
        let is_long = it.len > ALONG;
        let request = Request {
            what: if is_long { What::ReadLong } else { What::Read },
            flags: 0,
            atomic: (0, 0),
            error: 0,
            number,
            key: asked.at.key,
            addr: asked.at.addr,
            len: it.len as u64,
            data: 0,
        };
        if is_long {
            it.space = DATA.0;
            let selector = TagSelector {
                source: Some(peer),
                tag: number,
                ignore: 0,
            };
            self.post(op, DATA, selector);
        }
        self.ask(peer, &request, &[]);
        0
    }
}

/// Starts an operation of an endpoint.
///
/// # Safety
/// An open endpoint, and memory as the manual page says.
unsafe fn start(ep: *mut FidEp, flags: Option<u64>, writes: bool, asked: Asked<'_>) -> isize {
    // SAFETY: as promised.
    let mut state = match unsafe { state(ep) } {
        Ok(state) => state,
        Err(error) => return error,
    };
    if state.caps & flag::RMA == 0 {
        return err::NOTSUP as isize;
    }
    let default = (state.tx_flags, state.tx.is_selective);
    let flags = match endpoint::flags_of(flags, endpoint::TX_FLAGS, default) {
        Ok(flags) => flags,
        Err(error) => return error,
    };
    let len = total(asked.iov);
    let is_short = asked.is_injected || flags & flag::INJECT != 0;
    // What is short is copied at once.
    if is_short && len > endpoint::INJECT || len > endpoint::MOST {
        return err::MSGSIZE as isize;
    }
    if !writes {
        return state.read(&asked, flags);
    }
    state.write(&asked, flags)
}

unsafe extern "C" fn read(
    ep: *mut FidEp,
    at: *mut c_void,
    len: usize,
    _desc: *mut c_void,
    peer: Addr,
    addr: u64,
    key: u64,
    context: *mut c_void,
) -> isize {
    let iov = &one(at, len);
    let asked = Asked::new((peer, addr, key), iov, context);
    // SAFETY: as the manual page says; likewise below.
    unsafe { start(ep, None, false, asked) }
}

unsafe extern "C" fn readv(
    ep: *mut FidEp,
    iov: *const iovec,
    _desc: *mut *mut c_void,
    count: usize,
    peer: Addr,
    addr: u64,
    key: u64,
    context: *mut c_void,
) -> isize {
    // SAFETY: as above.
    unsafe {
        let asked = Asked::new((peer, addr, key), many(iov, count), context);
        start(ep, None, false, asked)
    }
}

/// What a structure of the caller's asks for; `None` if it names several places.
unsafe fn of_msg<'a>(msg: *const MsgRma, flags: u64) -> Option<Asked<'a>> {
    // SAFETY: as the manual page says.
    unsafe {
        let msg = &*msg;
        if msg.rma_iov_count != 1 {
            return None;
        }
        let place = *msg.rma_iov;
        let iov = many(msg.iov, msg.iov_count);
        Some(Asked {
            data: (flags & flag::REMOTE_CQ_DATA != 0).then_some(msg.data),
            ..Asked::new((msg.addr, place.addr, place.key), iov, msg.context)
        })
    }
}

unsafe extern "C" fn readmsg(ep: *mut FidEp, msg: *const MsgRma, flags: u64) -> isize {
    // SAFETY: as above.
    unsafe {
        match of_msg(msg, 0) {
            Some(asked) => start(ep, Some(flags), false, asked),
            None => err::INVAL as isize,
        }
    }
}

unsafe extern "C" fn write(
    ep: *mut FidEp,
    at: *const c_void,
    len: usize,
    _desc: *mut c_void,
    peer: Addr,
    addr: u64,
    key: u64,
    context: *mut c_void,
) -> isize {
    let iov = &one(at, len);
    let asked = Asked::new((peer, addr, key), iov, context);
    // SAFETY: as above.
    unsafe { start(ep, None, true, asked) }
}

unsafe extern "C" fn writev(
    ep: *mut FidEp,
    iov: *const iovec,
    _desc: *mut *mut c_void,
    count: usize,
    peer: Addr,
    addr: u64,
    key: u64,
    context: *mut c_void,
) -> isize {
    // SAFETY: as above.
    unsafe {
        let asked = Asked::new((peer, addr, key), many(iov, count), context);
        start(ep, None, true, asked)
    }
}

unsafe extern "C" fn writemsg(ep: *mut FidEp, msg: *const MsgRma, flags: u64) -> isize {
    // SAFETY: as above.
    unsafe {
        match of_msg(msg, flags) {
            Some(asked) => start(ep, Some(flags), true, asked),
            None => err::INVAL as isize,
        }
    }
}

unsafe extern "C" fn inject(
    ep: *mut FidEp,
    at: *const c_void,
    len: usize,
    peer: Addr,
    addr: u64,
    key: u64,
) -> isize {
    let iov = &one(at, len);
    let asked = Asked {
        is_injected: true,
        ..Asked::new((peer, addr, key), iov, null_mut())
    };
    // SAFETY: as above.
    unsafe { start(ep, None, true, asked) }
}

unsafe extern "C" fn writedata(
    ep: *mut FidEp,
    at: *const c_void,
    len: usize,
    _desc: *mut c_void,
    data: u64,
    peer: Addr,
    addr: u64,
    key: u64,
    context: *mut c_void,
) -> isize {
    let iov = &one(at, len);
    let asked = Asked {
        data: Some(data),
        ..Asked::new((peer, addr, key), iov, context)
    };
    // SAFETY: as above.
    unsafe { start(ep, None, true, asked) }
}

unsafe extern "C" fn injectdata(
    ep: *mut FidEp,
    at: *const c_void,
    len: usize,
    data: u64,
    peer: Addr,
    addr: u64,
    key: u64,
) -> isize {
    let iov = &one(at, len);
    let asked = Asked {
        data: Some(data),
        is_injected: true,
        ..Asked::new((peer, addr, key), iov, null_mut())
    };
    // SAFETY: as above.
    unsafe { start(ep, None, true, asked) }
}

//! The calls of messages and tagged messages.

use std::ffi::c_void;

use catena_fabric::Peer;
use catena_link::{Cid, Completion, Mode, Plane, Sent, TagSelector};
use libc::iovec;

use crate::core::{PLAIN, State, TAGGED};
use crate::endpoint::{self, state};
use crate::object::many;
use crate::op::{AHEAD, Kind, Message, SEAL_AHEAD, data_of, seal_of, total};
use crate::queue::{Entry, Fault};
use crate::sys::{Addr, FidEp, Msg, MsgOps, MsgTagged, TaggedOps, err, flag, num};

pub static MSG: MsgOps = MsgOps {
    size: size_of::<MsgOps>(),
    recv,
    recvv,
    recvmsg,
    send,
    sendv,
    sendmsg,
    inject,
    senddata,
    injectdata,
};

pub static TAG: TaggedOps = TaggedOps {
    size: size_of::<TaggedOps>(),
    recv: trecv,
    recvv: trecvv,
    recvmsg: trecvmsg,
    send: tsend,
    sendv: tsendv,
    sendmsg: tsendmsg,
    inject: tinject,
    senddata: tsenddata,
    injectdata: tinjectdata,
};

/// Memory that a call names.
#[derive(Clone, Copy)]
enum Runs<'a> {
    /// One run: its first byte, and its length.
    One(*mut c_void, usize),
    /// As many as there are.
    Many(&'a [iovec]),
}

impl Runs<'_> {
    /// Bytes of all of them.
    #[inline(always)]
    fn total(self) -> usize {
        match self {
            Runs::One(_, len) => len,
            Runs::Many(iov) => total(iov),
        }
    }

    /// Shows them as libfabric has them.
    #[inline(always)]
    fn with<T>(self, what: impl FnOnce(&[iovec]) -> T) -> T {
        match self {
            Runs::One(iov_base, iov_len) => what(&[iovec { iov_base, iov_len }]),
            Runs::Many(iov) => what(iov),
        }
    }
}

/// A message that is to be sent.
#[derive(Clone, Copy)]
struct Out<'a> {
    runs: Runs<'a>,
    to: Addr,
    /// Tagged messages have one.
    tag: Option<u64>,
    data: Option<u64>,
    flags: u64,
    context: *mut c_void,
}

/// A message that is to be received.
#[derive(Clone, Copy)]
struct In<'a> {
    runs: Runs<'a>,
    from: Addr,
    /// Tag and bits that are ignored, of tagged messages.
    tag: Option<(u64, u64)>,
    flags: u64,
    context: *mut c_void,
}

impl Out<'_> {
    /// Its space, its tag, and the flag of its kind.
    #[inline(always)]
    fn place(&self) -> (Cid, u64, u64) {
        match self.tag {
            Some(tag) => (TAGGED, tag, flag::TAGGED),
            None => (PLAIN, 0, flag::MSG),
        }
    }

    /// Whether its completion waits for its receiver.
    #[inline(always)]
    fn is_late(&self) -> bool {
        self.flags & (flag::DELIVERY_COMPLETE | flag::MATCH_COMPLETE) != 0
    }

    /// It as one run of memory, if it is no more than that and its seal.
    #[inline(always)]
    fn run(&self) -> Option<Message> {
        let seal = self.data.map_or(0, seal_of);
        let (at, len) = match self.runs {
            Runs::One(at, len) => (at, len),
            Runs::Many([run]) => (run.iov_base, run.iov_len),
            Runs::Many(_) => return None,
        };
        let at = at.cast_const().cast();
        (seal != SEAL_AHEAD).then_some(Message::Run { at, len, seal })
    }
}

impl State {
    /// Sends a message.
    ///
    /// A part of each call for messages, so that what a call is given stays in registers: where
    /// it is written to memory and read as a whole, the processor waits until all that was stored
    /// before is in the cache, and with it the last message, whose line another core has.
    #[inline(always)]
    fn send(&mut self, out: Out<'_>) -> isize {
        let peer = match self.peer(out.to) {
            Ok(peer) => peer,
            Err(error) => return error,
        };
        self.tally.sent += 1;
        self.sends_to(peer);
        // What leaves at once needs neither an operation nor a copy.
        if let (Some(run), false) = (out.run(), out.is_late()) {
            let (space, tag, of) = out.place();
            if self.link.send_now(space, Plane::User, peer.0, tag, &run) {
                let tells = out.flags & flag::COMPLETION != 0;
                self.sent_at_once(out.context, flag::SEND | of, tells);
                return 0;
            }
        }
        self.send_slow(peer, out)
    }

    /// Sends what does not leave at once.
    #[inline(never)]
    fn send_slow(&mut self, peer: Peer, out: Out<'_>) -> isize {
        let (space, tag, of) = out.place();
        let mode = if out.is_late() {
            Mode::Synchronous
        } else {
            Mode::Standard
        };
        let is_injected = out.flags & flag::INJECT != 0;
        let tells = out.flags & flag::COMPLETION != 0;
        let seal = out.data.map_or(0, seal_of);
        let mut op = None;
        let message = match out.run() {
            Some(run) if !is_injected => run,
            _ => {
                let mut new = self.pool.take();
                // SAFETY: just taken.
                let it = unsafe { new.as_mut() };
                if seal == SEAL_AHEAD {
                    it.head.extend(out.data.unwrap_or(0).to_le_bytes());
                }
                out.runs.with(|iov| match is_injected {
                    // SAFETY: the caller lends it for the call.
                    true => unsafe { it.copy(iov) },
                    false => it.lend(iov),
                });
                it.seal.set(seal);
                op = Some(new);
                Message::Op(new)
            }
        };
        let sent = self
            .link
            .send(space, Plane::User, peer.0, tag, mode, message);
        if matches!(sent, Sent::Done) && op.is_none() {
            self.sent_at_once(out.context, flag::SEND | of, tells);
            return 0;
        }
        let mut op = op.unwrap_or_else(|| self.pool.take());
        // SAFETY: it is there; the engine reads its memory alone.
        let it = unsafe { op.as_mut() };
        (it.kind, it.context, it.tells) = (Kind::Send, out.context, tells);
        (it.flags, it.peer) = (flag::SEND | of, peer.0);
        match sent {
            Sent::Done => self.end_send(op, &GOOD),
            Sent::Pending(request) => self.begin(op, request),
        }
        0
    }

    /// A message has left that needed no operation.
    #[inline(always)]
    fn sent_at_once(&mut self, context: *mut c_void, flags: u64, tells: bool) {
        if let Some(counter) = &self.counters.send {
            counter.count(true);
        }
        if tells && let Some(told) = self.told(self.tx) {
            told.push(empty(context, flags, 0));
        }
    }

    /// Posts a receive, or looks for a message.
    #[inline(always)]
    fn recv(&mut self, asked: In<'_>) -> isize {
        let source = match self.named(asked.from) {
            Ok(source) => source,
            Err(error) => return error,
        };
        let (space, (tag, ignore), of) = match asked.tag {
            Some(tag) => (TAGGED, tag, flag::TAGGED),
            None => (PLAIN, (0, u64::MAX), flag::MSG),
        };
        let selector = TagSelector {
            source,
            tag,
            ignore,
        };
        if asked.flags & (flag::PEEK | flag::CLAIM | flag::DISCARD) != 0 {
            return match asked.flags & (flag::PEEK | flag::CLAIM) {
                0 => err::INVAL as isize,
                flag::CLAIM => self.take_claimed(asked),
                _ => self.peek(asked, selector),
            };
        }
        let is_multi = asked.flags & flag::MULTI_RECV != 0;
        let mut op = self.pool.take();
        // SAFETY: just taken.
        let it = unsafe { op.as_mut() };
        it.kind = if is_multi {
            Kind::MultiRecv
        } else {
            Kind::Recv
        };
        (it.context, it.flags) = (asked.context, flag::RECV | of);
        it.tells = asked.flags & flag::COMPLETION != 0;
        it.peer = source.map_or(u32::MAX, |it| it.0);
        asked.runs.with(|iov| it.lend(iov));
        match asked.tag {
            Some(_) => self.post(op, space, selector),
            None => self.post_plain(op),
        }
        0
    }

    /// Looks whether a message is there.
    #[inline(never)]
    fn peek(&mut self, asked: In<'_>, selector: TagSelector) -> isize {
        self.progress();
        let plane = Plane::User;
        let seal = self.link.probe_seal(TAGGED, plane, selector);
        let takes = asked.flags & (flag::CLAIM | flag::DISCARD) != 0;
        let (message, found) = match takes {
            true => self.link.mprobe(TAGGED, plane, selector).unzip(),
            false => (None, self.link.probe(TAGGED, plane, selector)),
        };
        let flags = flag::RECV | flag::TAGGED;
        let Some(envelope) = found else {
            if let Some(told) = self.told(self.rx) {
                let entry = empty(asked.context, flags, selector.tag);
                let fault = Fault {
                    error: -err::NOMSG,
                    left: 0,
                    cause: "no such message has come".to_owned(),
                };
                told.push_fault(entry, fault);
            }
            return 0;
        };
        let ahead = if seal == SEAL_AHEAD { AHEAD } else { 0 };
        let data = data_of(seal);
        let entry = Entry {
            flags: flags | data.map_or(0, |_| flag::REMOTE_CQ_DATA),
            len: (envelope.len as usize).saturating_sub(ahead),
            data: data.unwrap_or(0),
            source: self.addr(envelope.source),
            ..empty(asked.context, flags, envelope.tag)
        };
        if let Some(message) = message {
            match asked.flags & flag::DISCARD {
                0 => _ = self.claimed.insert(asked.context, (message, entry)),
                _ => self.discard(message),
            }
        }
        if let Some(told) = self.told(self.rx) {
            told.push(entry);
        }
        0
    }

    /// Throws a message away that was taken out of the queues.
    fn discard(&mut self, message: catena_link::MessageId) {
        let mut op = self.pool.take();
        // SAFETY: just taken.
        unsafe { op.as_mut() }.kind = Kind::Sent;
        let request = self.link.mrecv(message, crate::op::Room(op));
        self.begin(op, request);
    }

    /// Receives the message that the same context has claimed.
    #[inline(never)]
    fn take_claimed(&mut self, asked: In<'_>) -> isize {
        let Some((message, entry)) = self.claimed.remove(&asked.context) else {
            return err::INVAL as isize;
        };
        let flags = flag::RECV | flag::TAGGED;
        if asked.flags & flag::DISCARD != 0 {
            self.discard(message);
            if let Some(told) = self.told(self.rx) {
                told.push(entry);
            }
            return 0;
        }
        let mut op = self.pool.take();
        // SAFETY: just taken.
        let it = unsafe { op.as_mut() };
        (it.kind, it.context, it.flags) = (Kind::Recv, asked.context, flags);
        it.tells = asked.flags & flag::COMPLETION != 0;
        asked.runs.with(|iov| it.lend(iov));
        self.receive(op, message);
        0
    }
}

/// A send that ended well.
const GOOD: Completion<u64> = Completion {
    source: 0,
    tag: 0,
    len: 0,
    cancelled: false,
    error: None,
};

/// A completion that tells of no bytes.
fn empty(context: *mut c_void, flags: u64, tag: u64) -> Entry {
    Entry {
        context,
        flags,
        len: 0,
        at: std::ptr::null_mut(),
        data: 0,
        tag,
        source: num::ADDR_NONE,
        is_fault: false,
    }
}

/// Whom a message is for, its tag if it is a tagged one, and its remote CQ data.
type Label = (Addr, Option<u64>, Option<u64>);

/// Sends, with the flags that the endpoint has for calls without flags, or those given.
///
/// # Safety
/// An open endpoint, and memory as the manual page says; likewise below.
#[inline(always)]
unsafe fn out(
    ep: *mut FidEp,
    flags: Option<u64>,
    runs: Runs<'_>,
    label: Label,
    context: *mut c_void,
) -> isize {
    // SAFETY: as promised.
    unsafe {
        send_with(ep, runs, label, context, |state| {
            let default = (state.tx_flags, state.tx.is_selective);
            endpoint::flags_of(flags, endpoint::TX_FLAGS, default)
        })
    }
}

/// Sends what may be used again at once, without a completion.
#[inline(always)]
unsafe fn out_injected(ep: *mut FidEp, runs: Runs<'_>, label: Label) -> isize {
    // SAFETY: as promised.
    unsafe { send_with(ep, runs, label, std::ptr::null_mut(), |_| Ok(flag::INJECT)) }
}

#[inline(always)]
unsafe fn send_with(
    ep: *mut FidEp,
    runs: Runs<'_>,
    (to, tag, data): Label,
    context: *mut c_void,
    flags: impl FnOnce(&State) -> Result<u64, isize>,
) -> isize {
    // SAFETY: as promised.
    let mut state = match unsafe { state(ep) } {
        Ok(state) => state,
        Err(error) => return error,
    };
    let flags = match flags(&state) {
        Ok(flags) => flags,
        Err(error) => return error,
    };
    let len = runs.total();
    let most = match flags & flag::INJECT {
        0 => endpoint::MOST,
        _ => endpoint::INJECT,
    };
    if len > most {
        return err::MSGSIZE as isize;
    }
    state.send(Out {
        runs,
        to,
        tag,
        data,
        flags,
        context,
    })
}

#[inline(always)]
unsafe fn take(
    ep: *mut FidEp,
    flags: Option<u64>,
    runs: Runs<'_>,
    (from, tag): (Addr, Option<(u64, u64)>),
    context: *mut c_void,
) -> isize {
    // SAFETY: as promised.
    let mut state = match unsafe { state(ep) } {
        Ok(state) => state,
        Err(error) => return error,
    };
    // Only plain messages share a buffer, and only in one run; only tagged ones are looked at.
    let (known, default) = match (tag, runs) {
        (None, Runs::One(..) | Runs::Many([_])) => (endpoint::RX_FLAGS, state.rx_flags),
        (None, _) => (flag::COMPLETION, state.rx_flags & !flag::MULTI_RECV),
        (Some(_), _) => (
            flag::COMPLETION | flag::PEEK | flag::CLAIM | flag::DISCARD,
            state.rx_flags & !flag::MULTI_RECV,
        ),
    };
    let flags = match endpoint::flags_of(flags, known, (default, state.rx.is_selective)) {
        Ok(flags) => flags,
        Err(error) => return error,
    };
    state.recv(In {
        runs,
        from,
        tag,
        flags,
        context,
    })
}

unsafe extern "C" fn send(
    ep: *mut FidEp,
    at: *const c_void,
    len: usize,
    _desc: *mut c_void,
    to: Addr,
    context: *mut c_void,
) -> isize {
    let (runs, tag, data) = (Runs::One(at.cast_mut(), len), None, None);
    // SAFETY: as the manual page says; likewise below.
    unsafe { out(ep, None, runs, (to, tag, data), context) }
}

unsafe extern "C" fn sendv(
    ep: *mut FidEp,
    iov: *const iovec,
    _desc: *mut *mut c_void,
    count: usize,
    to: Addr,
    context: *mut c_void,
) -> isize {
    // SAFETY: as above.
    unsafe {
        let (runs, tag, data) = (Runs::Many(many(iov, count)), None, None);
        out(ep, None, runs, (to, tag, data), context)
    }
}

unsafe extern "C" fn sendmsg(ep: *mut FidEp, msg: *const Msg, flags: u64) -> isize {
    // SAFETY: as above.
    unsafe {
        let msg = &*msg;
        let (runs, to, tag) = (Runs::Many(many(msg.iov, msg.iov_count)), msg.addr, None);
        let data = (flags & flag::REMOTE_CQ_DATA != 0).then_some(msg.data);
        let context = msg.context;
        out(ep, Some(flags), runs, (to, tag, data), context)
    }
}

unsafe extern "C" fn inject(ep: *mut FidEp, at: *const c_void, len: usize, to: Addr) -> isize {
    let (runs, tag, data) = (Runs::One(at.cast_mut(), len), None, None);
    // SAFETY: as above.
    unsafe { out_injected(ep, runs, (to, tag, data)) }
}

unsafe extern "C" fn senddata(
    ep: *mut FidEp,
    at: *const c_void,
    len: usize,
    _desc: *mut c_void,
    data: u64,
    to: Addr,
    context: *mut c_void,
) -> isize {
    let (runs, tag, data) = (Runs::One(at.cast_mut(), len), None, Some(data));
    // SAFETY: as above.
    unsafe { out(ep, None, runs, (to, tag, data), context) }
}

unsafe extern "C" fn injectdata(
    ep: *mut FidEp,
    at: *const c_void,
    len: usize,
    data: u64,
    to: Addr,
) -> isize {
    let (runs, tag, data) = (Runs::One(at.cast_mut(), len), None, Some(data));
    // SAFETY: as above.
    unsafe { out_injected(ep, runs, (to, tag, data)) }
}

unsafe extern "C" fn recv(
    ep: *mut FidEp,
    at: *mut c_void,
    len: usize,
    _desc: *mut c_void,
    from: Addr,
    context: *mut c_void,
) -> isize {
    let (runs, tag) = (Runs::One(at, len), None);
    // SAFETY: as above.
    unsafe { take(ep, None, runs, (from, tag), context) }
}

unsafe extern "C" fn recvv(
    ep: *mut FidEp,
    iov: *const iovec,
    _desc: *mut *mut c_void,
    count: usize,
    from: Addr,
    context: *mut c_void,
) -> isize {
    // SAFETY: as above.
    unsafe {
        let (runs, tag) = (Runs::Many(many(iov, count)), None);
        take(ep, None, runs, (from, tag), context)
    }
}

unsafe extern "C" fn recvmsg(ep: *mut FidEp, msg: *const Msg, flags: u64) -> isize {
    // SAFETY: as above.
    unsafe {
        let msg = &*msg;
        let (runs, from, tag) = (Runs::Many(many(msg.iov, msg.iov_count)), msg.addr, None);
        let context = msg.context;
        take(ep, Some(flags), runs, (from, tag), context)
    }
}

unsafe extern "C" fn tsend(
    ep: *mut FidEp,
    at: *const c_void,
    len: usize,
    _desc: *mut c_void,
    to: Addr,
    tag: u64,
    context: *mut c_void,
) -> isize {
    let (runs, tag, data) = (Runs::One(at.cast_mut(), len), Some(tag), None);
    // SAFETY: as above.
    unsafe { out(ep, None, runs, (to, tag, data), context) }
}

unsafe extern "C" fn tsendv(
    ep: *mut FidEp,
    iov: *const iovec,
    _desc: *mut *mut c_void,
    count: usize,
    to: Addr,
    tag: u64,
    context: *mut c_void,
) -> isize {
    // SAFETY: as above.
    unsafe {
        let (runs, tag, data) = (Runs::Many(many(iov, count)), Some(tag), None);
        out(ep, None, runs, (to, tag, data), context)
    }
}

unsafe extern "C" fn tsendmsg(ep: *mut FidEp, msg: *const MsgTagged, flags: u64) -> isize {
    // SAFETY: as above.
    unsafe {
        let msg = &*msg;
        let (runs, to, tag) = (
            Runs::Many(many(msg.iov, msg.iov_count)),
            msg.addr,
            Some(msg.tag),
        );
        let data = (flags & flag::REMOTE_CQ_DATA != 0).then_some(msg.data);
        let context = msg.context;
        out(ep, Some(flags), runs, (to, tag, data), context)
    }
}

unsafe extern "C" fn tinject(
    ep: *mut FidEp,
    at: *const c_void,
    len: usize,
    to: Addr,
    tag: u64,
) -> isize {
    let (runs, tag, data) = (Runs::One(at.cast_mut(), len), Some(tag), None);
    // SAFETY: as above.
    unsafe { out_injected(ep, runs, (to, tag, data)) }
}

unsafe extern "C" fn tsenddata(
    ep: *mut FidEp,
    at: *const c_void,
    len: usize,
    _desc: *mut c_void,
    data: u64,
    to: Addr,
    tag: u64,
    context: *mut c_void,
) -> isize {
    let (runs, tag, data) = (Runs::One(at.cast_mut(), len), Some(tag), Some(data));
    // SAFETY: as above.
    unsafe { out(ep, None, runs, (to, tag, data), context) }
}

unsafe extern "C" fn tinjectdata(
    ep: *mut FidEp,
    at: *const c_void,
    len: usize,
    data: u64,
    to: Addr,
    tag: u64,
) -> isize {
    let (runs, tag, data) = (Runs::One(at.cast_mut(), len), Some(tag), Some(data));
    // SAFETY: as above.
    unsafe { out_injected(ep, runs, (to, tag, data)) }
}

unsafe extern "C" fn trecv(
    ep: *mut FidEp,
    at: *mut c_void,
    len: usize,
    _desc: *mut c_void,
    from: Addr,
    tag: u64,
    ignore: u64,
    context: *mut c_void,
) -> isize {
    let (runs, tag) = (Runs::One(at, len), Some((tag, ignore)));
    // SAFETY: as above.
    unsafe { take(ep, None, runs, (from, tag), context) }
}

unsafe extern "C" fn trecvv(
    ep: *mut FidEp,
    iov: *const iovec,
    _desc: *mut *mut c_void,
    count: usize,
    from: Addr,
    tag: u64,
    ignore: u64,
    context: *mut c_void,
) -> isize {
    // SAFETY: as above.
    unsafe {
        let (runs, tag) = (Runs::Many(many(iov, count)), Some((tag, ignore)));
        take(ep, None, runs, (from, tag), context)
    }
}

unsafe extern "C" fn trecvmsg(ep: *mut FidEp, msg: *const MsgTagged, flags: u64) -> isize {
    // SAFETY: as above.
    unsafe {
        let msg = &*msg;
        let (runs, from) = (Runs::Many(many(msg.iov, msg.iov_count)), msg.addr);
        let (tag, context) = (Some((msg.tag, msg.ignore)), msg.context);
        take(ep, Some(flags), runs, (from, tag), context)
    }
}

//! Endpoints as objects.

use std::cell::RefCell;
use std::ffi::{c_int, c_void};
use std::sync::Arc;

use catena_net::Routes;

use crate::core::held::{Core, Held};
use crate::core::{Bound, State};
use crate::counter::{CntrObject, Counter};
use crate::host;
use crate::links;
use crate::memory::Regions;
use crate::mover::Mover;
use crate::networks;
use crate::object::{NOTHING, begun, free, made, of};
use crate::queue::{CqObject, EVERYWHERE, Progress, Queue, lock};
use crate::sys::{CmOps, EpOps, Fid, FidEp, FidOps, Info, class, err, flag, num};
use crate::vector::{AvObject, address_of, tell};

/// Most bytes that are injected.
pub const INJECT: usize = 4096;
/// Longest message, bytes.
pub const MOST: usize = (u32::MAX - 64) as usize;

/// Flags that an endpoint may have for its operations.
pub const TX_FLAGS: u64 = flag::COMPLETION
    | flag::INJECT
    | flag::INJECT_COMPLETE
    | flag::TRANSMIT_COMPLETE
    | flag::DELIVERY_COMPLETE
    | flag::MATCH_COMPLETE
    | flag::REMOTE_CQ_DATA;
pub const RX_FLAGS: u64 = flag::COMPLETION | flag::MULTI_RECV;

/// Flags of a call that change nothing: that others follow it, and what it is.
const IDLE_FLAGS: u64 = flag::MORE
    | flag::MSG
    | flag::TAGGED
    | flag::RMA
    | flag::ATOMIC
    | flag::SEND
    | flag::RECV
    | flag::READ
    | flag::WRITE;

/// An endpoint as an object.
#[repr(C)]
pub struct EpObject {
    fid: FidEp,
    core: Arc<Core>,
    /// What its queues and counters have of it.
    mover: Arc<dyn Progress>,
    queues: RefCell<Vec<Arc<Queue>>>,
    counters: RefCell<Vec<Arc<Counter>>>,
    address: crate::vector::Address,
    link: String,
    /// Whether progress is automatic.
    is_auto: bool,
    /// Whether the program keeps its calls on objects of the domain apart.
    is_apart: bool,
}

static FID_OPS: FidOps = FidOps {
    close,
    bind,
    control,
    ..NOTHING
};

static EP_OPS: EpOps = EpOps {
    size: size_of::<EpOps>(),
    cancel,
    getopt,
    setopt,
    tx_ctx: no_context,
    rx_ctx: no_context,
    rx_size_left: size_left,
    tx_size_left: size_left,
};

static CM_OPS: CmOps = CmOps {
    size: size_of::<CmOps>(),
    setname,
    getname,
    getpeer,
    connect,
    listen,
    accept,
    reject,
    shutdown,
    join,
};

/// The tables of the operations on peers.
pub struct Tables {
    pub msg: &'static crate::sys::MsgOps,
    pub tagged: &'static crate::sys::TaggedOps,
    pub rma: &'static crate::sys::RmaOps,
    pub atomic: &'static crate::sys::AtomicOps,
}

/// What an endpoint is changed by, under its lock.
///
/// # Errors
/// If it is not enabled; an error number, negative.
///
/// # Safety
/// An open endpoint.
#[inline(always)]
pub unsafe fn state<'a>(ep: *mut FidEp) -> Result<Held<'a>, isize> {
    // SAFETY: as promised.
    let state = unsafe { of::<EpObject, _>(ep) }.held();
    match state.is_enabled {
        true => Ok(state),
        false => Err(err::OPBADSTATE as isize),
    }
}

/// The flags of an operation: those of the call, which may be `known` ones, or else those of the
/// endpoint; and whether it has a completion.
///
/// # Errors
/// If the call has others: what they ask for is not there.
#[inline]
pub fn flags_of(
    flags: Option<u64>,
    known: u64,
    (default, is_selective): (u64, bool),
) -> Result<u64, isize> {
    if flags.is_some_and(|it| it & !(known | IDLE_FLAGS) != 0) {
        return Err(err::BADFLAGS as isize);
    }
    let flags = flags.unwrap_or(default);
    Ok(match is_selective {
        true => flags,
        false => flags | flag::COMPLETION,
    })
}

/// Opens an endpoint over a link; an error number, negative, if it cannot be had.
///
/// # Safety
/// An offer of this provider.
pub unsafe fn open(
    info: &Info,
    (link, regions): (&str, &Arc<Regions>),
    tables: &Tables,
    context: *mut c_void,
) -> Result<*mut FidEp, c_int> {
    // SAFETY: as promised.
    let (key, tx, rx) = unsafe {
        let Some(ep) = info.ep_attr.as_ref() else {
            return Err(err::INVAL);
        };
        let many = ep.tx_ctx_cnt > 1 || ep.rx_ctx_cnt > 1;
        if ep.kind != num::EP_RDM || many {
            return Err(err::NOSYS);
        }
        let key = match ep.auth_key.is_null() {
            true => &[],
            false => std::slice::from_raw_parts(ep.auth_key, ep.auth_key_size),
        };
        (key, info.tx_attr.as_ref(), info.rx_attr.as_ref())
    };
    // SAFETY: as promised.
    let domain = unsafe { info.domain_attr.as_ref() };
    let is_auto = domain.is_some_and(|it| {
        it.data_progress == num::PROGRESS_AUTO || it.control_progress == num::PROGRESS_AUTO
    });
    let is_apart = domain.is_some_and(|it| it.threading == num::THREAD_DOMAIN);
    let opened = links::chain(link).and_then(|chain| {
        let secret = links::secret(key)?;
        Routes::alone(&chain, Some(&secret))
    });
    let routes = opened.map_err(|why| {
        let hidden = match std::env::var("FI_PROVIDER") {
            Ok(set) if networks::are_in(link) => {
                format!("; FI_PROVIDER={set} may hide it: name its provider there, too")
            }
            _ => String::new(),
        };
        let text = format!("no endpoint over {link}: {why}{hidden}");
        host::warn(host::EP, &text);
        -libc::ENODEV
    })?;
    let record = routes.short_address().ok_or(err::INVAL)?;
    let Some(address) = address_of(&record) else {
        host::warn(
            host::EP,
            &format!(
                "the address of an endpoint over {link} has {} bytes, more than 63: name fewer \
                 interfaces, as FI_LINKX_LINKS=shm+tcp:eth0 does",
                record.len()
            ),
        );
        return Err(err::INVAL);
    };
    let mut state = State::new(routes, Arc::clone(regions));
    state.caps = info.caps;
    state.tx_flags = tx.map_or(0, |it| it.op_flags);
    state.rx_flags = rx.map_or(0, |it| it.op_flags);
    let core = Arc::new(Core::new(state));
    Ok(made(EpObject {
        fid: FidEp {
            fid: begun(class::EP, context, &FID_OPS),
            ops: &EP_OPS,
            cm: &CM_OPS,
            msg: tables.msg,
            rma: tables.rma,
            tagged: tables.tagged,
            atomic: tables.atomic,
            collective: std::ptr::null(),
        },
        mover: Arc::<Core>::clone(&core),
        core,
        queues: RefCell::default(),
        counters: RefCell::default(),
        address,
        link: link.to_owned(),
        is_auto,
        is_apart,
    }))
}

unsafe extern "C" fn close(fid: *mut Fid) -> c_int {
    // SAFETY: an open endpoint, used no more.
    unsafe {
        let object = of::<EpObject, _>(fid);
        let mover = lock(&object.core.mover).take();
        drop(mover);
        let (queues, counters) = (object.queues.take(), object.counters.take());
        queues.iter().for_each(|it| it.remove(&object.mover));
        counters
            .iter()
            .for_each(|it| it.movers.remove(&object.mover));
        {
            EVERYWHERE.remove(&object.mover);
            let endpoints = Arc::clone(&object.held().regions.endpoints);
            endpoints.remove(&object.mover);
            let mut state = object.held();
            if state.is_enabled {
                state.drain();
                state.is_enabled = false;
            }
            if let Some(vector) = state.vector.take() {
                vector.use_it(false);
            }
            if std::env::var_os("FI_LINKX_REPORT").is_some() {
                report(&object.link, &mut state);
            }
            state.close();
        }
        free::<EpObject, _>(fid);
    }
    0
}

impl EpObject {
    /// What it is changed by, under its lock.
    #[inline(always)]
    fn held(&self) -> Held<'_> {
        self.core.held().expect("it is open")
    }

    /// Starts the thread that makes progress; an error number, negative, if there can be none.
    fn start_mover(&self) -> c_int {
        match Mover::start(Arc::<Core>::clone(&self.core)) {
            Ok(mover) => {
                *lock(&self.core.mover) = Some(mover);
                0
            }
            Err(why) => {
                host::warn(host::EP, &format!("no thread for progress: {why}"));
                err::AGAIN
            }
        }
    }
}

/// Says what an endpoint has done.
fn report(link: &str, state: &mut State) {
    let over_network = state.link.net().over_network().messages;
    let crate::core::Tally {
        sent,
        received,
        remote,
        served,
    } = state.tally;
    let text = format!(
        "linkx: process {}: endpoint over {link}: {sent} messages sent, {over_network} packets over \
         networks, {received} messages received, {remote} operations on memory of others, {served} \
         of others on its own\n",
        std::process::id()
    );
    // At once, as other processes write there, too.
    let _ = std::io::Write::write_all(&mut std::io::stderr(), text.as_bytes());
}

unsafe extern "C" fn bind(fid: *mut Fid, to: *mut Fid, flags: u64) -> c_int {
    // SAFETY: an open endpoint and an open object.
    unsafe {
        let object = of::<EpObject, _>(fid);
        let mut state = object.held();
        if state.is_enabled {
            return err::OPBADSTATE;
        }
        match (*to).class {
            class::CQ => {
                let queue = &of::<CqObject, _>(to).queue;
                let both = flag::SEND | flag::RECV;
                let is_taken = flags & flag::SEND != 0 && state.tx.to.is_some()
                    || flags & flag::RECV != 0 && state.rx.to.is_some();
                let is_known = flags & !(both | flag::SELECTIVE_COMPLETION) == 0;
                if flags & both == 0 || !is_known || is_taken {
                    return err::INVAL;
                }
                let bound = Bound {
                    to: Some(state.bind(queue)),
                    is_selective: flags & flag::SELECTIVE_COMPLETION != 0,
                };
                if flags & flag::SEND != 0 {
                    state.tx = bound;
                }
                if flags & flag::RECV != 0 {
                    state.rx = bound;
                }
                object.queues.borrow_mut().push(Arc::clone(queue));
                0
            }
            class::CNTR => {
                let counter = &of::<CntrObject, _>(to).counter;
                let all = &mut state.counters;
                for (on, place) in [
                    (flag::SEND, &mut all.send),
                    (flag::RECV, &mut all.recv),
                    (flag::READ, &mut all.read),
                    (flag::WRITE, &mut all.write),
                    (flag::REMOTE_READ, &mut all.remote_read),
                    (flag::REMOTE_WRITE, &mut all.remote_write),
                ] {
                    if flags & on != 0 {
                        *place = Some(Arc::clone(counter));
                    }
                }
                object.counters.borrow_mut().push(Arc::clone(counter));
                0
            }
            class::AV => {
                let vector = &of::<AvObject, _>(to).vector;
                if state.vector.is_some() {
                    return err::INVAL;
                }
                vector.use_it(true);
                state.vector = Some(Arc::clone(vector));
                0
            }
            class::EQ => 0,
            _ => err::INVAL,
        }
    }
}

unsafe extern "C" fn control(fid: *mut Fid, command: c_int, arg: *mut c_void) -> c_int {
    // SAFETY: an open endpoint; the argument is what the command says.
    unsafe {
        let object = of::<EpObject, _>(fid);
        let mut state = object.held();
        match command {
            num::ENABLE if state.is_enabled => 0,
            num::ENABLE => {
                if state.vector.is_none() {
                    return err::NOAV;
                }
                let (sends, receives) = (state.tx.to.is_some(), state.rx.to.is_some());
                let counts = state.counters.send.is_some() || state.counters.recv.is_some();
                if !sends && !receives && !counts {
                    return err::NOCQ;
                }
                state.is_enabled = true;
                let regions = Arc::clone(&state.regions);
                drop(state);
                let queues = object.queues.borrow();
                let counters = object.counters.borrow();
                let moves = object.is_auto
                    || queues.iter().any(|it| it.signal.is_there())
                    || counters.iter().any(|it| it.signal.is_there());
                if object.is_apart && !moves {
                    object.core.keep_apart();
                }
                regions.endpoints.add(&object.mover);
                EVERYWHERE.add(&object.mover);
                queues.iter().for_each(|it| it.add(&object.mover));
                counters.iter().for_each(|it| it.movers.add(&object.mover));
                match moves {
                    true => object.start_mover(),
                    false => 0,
                }
            }
            num::GETOPSFLAG => {
                let flags = &mut *arg.cast::<u64>();
                *flags = match *flags & flag::SEND {
                    0 => state.rx_flags,
                    _ => state.tx_flags,
                };
                0
            }
            num::SETOPSFLAG => {
                let flags = *arg.cast::<u64>();
                if flags & flag::SEND != 0 {
                    state.tx_flags = flags & !flag::SEND;
                }
                if flags & flag::RECV != 0 {
                    state.rx_flags = flags & !flag::RECV;
                }
                0
            }
            _ => err::NOSYS,
        }
    }
}

unsafe extern "C" fn cancel(fid: *mut Fid, context: *mut c_void) -> isize {
    // SAFETY: an open endpoint.
    let object = unsafe { of::<EpObject, _>(fid) };
    match object.held().cancel(context) {
        true => 0,
        false => err::NOENT as isize,
    }
}

unsafe extern "C" fn getopt(
    fid: *mut Fid,
    level: c_int,
    name: c_int,
    value: *mut c_void,
    len: *mut usize,
) -> c_int {
    if level != num::OPT_ENDPOINT || name != num::OPT_MIN_MULTI_RECV {
        return -libc::ENOPROTOOPT;
    }
    // SAFETY: an open endpoint, and as much room as `len` says.
    unsafe {
        let room = std::mem::replace(&mut *len, size_of::<usize>());
        if room < size_of::<usize>() {
            return err::TOOSMALL;
        }
        *value.cast::<usize>() = of::<EpObject, _>(fid).held().least_room;
    }
    0
}

unsafe extern "C" fn setopt(
    fid: *mut Fid,
    level: c_int,
    name: c_int,
    value: *const c_void,
    len: usize,
) -> c_int {
    if level != num::OPT_ENDPOINT || name != num::OPT_MIN_MULTI_RECV {
        return -libc::ENOPROTOOPT;
    }
    if len != size_of::<usize>() {
        return err::INVAL;
    }
    // SAFETY: an open endpoint, and a number.
    unsafe { of::<EpObject, _>(fid).held().least_room = *value.cast::<usize>() };
    0
}

unsafe extern "C" fn no_context(
    _: *mut FidEp,
    _: c_int,
    _: *mut c_void,
    _: *mut *mut c_void,
    _: *mut c_void,
) -> c_int {
    err::NOSYS
}

unsafe extern "C" fn size_left(_: *mut FidEp) -> isize {
    err::NOSYS as isize
}

unsafe extern "C" fn setname(_: *mut Fid, _: *mut c_void, _: usize) -> c_int {
    err::NOSYS
}

unsafe extern "C" fn getname(fid: *mut Fid, to: *mut c_void, len: *mut usize) -> c_int {
    // SAFETY: an open endpoint, and as much room as `len` says.
    unsafe { tell(&of::<EpObject, _>(fid).address, to, &mut *len) }
}

unsafe extern "C" fn getpeer(_: *mut FidEp, _: *mut c_void, _: *mut usize) -> c_int {
    err::NOSYS
}

unsafe extern "C" fn connect(_: *mut FidEp, _: *const c_void, _: *const c_void, _: usize) -> c_int {
    err::NOSYS
}

unsafe extern "C" fn listen(_: *mut c_void) -> c_int {
    err::NOSYS
}

unsafe extern "C" fn accept(_: *mut FidEp, _: *const c_void, _: usize) -> c_int {
    err::NOSYS
}

unsafe extern "C" fn reject(_: *mut c_void, _: *mut Fid, _: *const c_void, _: usize) -> c_int {
    err::NOSYS
}

unsafe extern "C" fn shutdown(_: *mut FidEp, _: u64) -> c_int {
    err::NOSYS
}

unsafe extern "C" fn join(
    _: *mut FidEp,
    _: *const c_void,
    _: u64,
    _: *mut *mut c_void,
    _: *mut c_void,
) -> c_int {
    err::NOSYS
}

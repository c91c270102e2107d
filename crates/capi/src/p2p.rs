//! Point-to-point communication (MPI-5, chapter 3).

use std::ffi::{c_int, c_void};

use catena_abi::{Comm, Count, Datatype, Message, Request, Status, consts};
use catena_core::buffer::{RecvBuf, SendBuf};
use catena_core::request::{self, Done, Operation};
use catena_core::{Process, enter, p2p};
use catena_link::{Envelope, Mode};
use catena_objects::Result;

use crate::args::{self, put, put_status};
use crate::entry::mpi_fn;

/// The checked arguments of a send.
struct SendArgs<'a> {
    comm: &'a catena_core::comm::Comm,
    buf: SendBuf,
    /// `None` for `MPI_PROC_NULL`.
    dest: Option<u32>,
    tag: i32,
}

#[inline(always)]
fn send_args(
    process: &Process,
    buf: *const c_void,
    count: Count,
    ty: Datatype,
    dest: c_int,
    tag: c_int,
    comm: Comm,
) -> Result<SendArgs<'_>> {
    let comm = process.comm_ref(comm)?;
    let buf = match run(process, buf, count, ty) {
        Some(len) => SendBuf::Bytes(buf.cast(), len),
        None if is_nothing(ty, dest) => SendBuf::Bytes(buf.cast(), 0),
        None => send_buf(process, comm, buf, count, ty)?,
    };
    let dest = p2p::destination(comm, dest)?;
    let tag = p2p::send_tag(tag)?;
    Ok(SendArgs {
        comm,
        buf,
        dest,
        tag,
    })
}

/// Length in bytes of the usual message: elements of a predefined type that
/// need neither packing nor further checks.
#[inline(always)]
fn run(process: &Process, buf: *const c_void, count: Count, ty: Datatype) -> Option<u64> {
    let unit = process.unit_at(ty, buf.cast());
    // No overflow: a unit has at most 32 bytes.
    let has_buffer = buf.addr() > consts::IN_PLACE;
    (unit != 0 && (count as u64) < 1 << 48 && has_buffer).then(|| count as u64 * unit)
}

/// No type is needed where nothing moves: there are programs without.
fn is_nothing(ty: Datatype, peer: c_int) -> bool {
    ty == consts::DATATYPE_NULL && peer == consts::PROC_NULL
}

#[inline(never)]
fn send_buf(
    process: &Process,
    comm: &catena_core::comm::Comm,
    buf: *const c_void,
    count: Count,
    ty: Datatype,
) -> Result<SendBuf> {
    let count = args::count(count)?;
    let ty = process.objects.types.committed(ty)?;
    args::buffer(buf, count, ty)?;
    Ok(comm.message(buf.cast(), count, ty))
}

/// The checked arguments of a receive.
struct RecvArgs<'a> {
    comm: &'a catena_core::comm::Comm,
    buf: RecvBuf,
    /// `None` for `MPI_PROC_NULL`.
    source: Option<i32>,
    tag: i32,
}

#[inline(always)]
fn recv_args(
    process: &Process,
    buf: *mut c_void,
    count: Count,
    ty: Datatype,
    source: c_int,
    tag: c_int,
    comm: Comm,
) -> Result<RecvArgs<'_>> {
    let comm = process.comm_ref(comm)?;
    let buf = match run(process, buf, count, ty) {
        Some(len) => RecvBuf::Bytes(buf.cast(), len),
        None if is_nothing(ty, source) => RecvBuf::Bytes(buf.cast(), 0),
        None => recv_buf(process, buf, count, ty)?,
    };
    let source = p2p::source(comm, source)?;
    let tag = p2p::recv_tag(tag)?;
    Ok(RecvArgs {
        comm,
        buf,
        source,
        tag,
    })
}

#[inline(never)]
fn recv_buf(process: &Process, buf: *mut c_void, count: Count, ty: Datatype) -> Result<RecvBuf> {
    let count = args::count(count)?;
    let ty = process.objects.types.committed(ty)?;
    args::buffer(buf, count, ty)?;
    Ok(RecvBuf::new(buf.cast(), count, ty))
}

#[inline]
fn isend(process: &Process, a: SendArgs<'_>, mode: Mode) -> Request {
    match a.dest {
        Some(dest) => a.comm.isend(process, a.buf, dest, a.tag, mode),
        None => request::SENT,
    }
}

#[inline]
fn irecv(process: &Process, a: RecvArgs<'_>) -> Request {
    match a.source {
        Some(source) => a.comm.irecv(process, a.buf, source, a.tag),
        None => request::NOWHERE,
    }
}

/// Blocking and non-blocking sends of one mode.
macro_rules! sends {
    ($($send:ident | $send_c:ident, $isend:ident | $isend_c:ident, $mode:ident;)*) => {
        mpi_fn! {$(
            fn $send | $send_c(buf: *const c_void, count: Num, datatype: Datatype, dest: c_int,
                tag: c_int, comm: Comm) on comm
            {
                let process = enter()?;
                let a = send_args(&process, buf, count.into(), datatype, dest, tag, comm)?;
                match a.dest {
                    Some(dest) => a.comm.send(&process, a.buf, dest, a.tag, Mode::$mode),
                    None => Ok(()),
                }
            }

            fn $isend | $isend_c(buf: *const c_void, count: Num, datatype: Datatype, dest: c_int,
                tag: c_int, comm: Comm, request: *mut Request) on comm
            {
                let process = enter()?;
                let a = send_args(&process, buf, count.into(), datatype, dest, tag, comm)?;
                put(request, isend(&process, a, Mode::$mode), "request")
            }
        )*}
    };
}

// A ready send is a standard one that may rely on more.
sends! {
    MPI_Send | MPI_Send_c, MPI_Isend | MPI_Isend_c, Standard;
    MPI_Ssend | MPI_Ssend_c, MPI_Issend | MPI_Issend_c, Synchronous;
    MPI_Rsend | MPI_Rsend_c, MPI_Irsend | MPI_Irsend_c, Standard;
}

/// Persistent sends of one mode.
macro_rules! send_inits {
    ($($init:ident | $init_c:ident, $mode:ident;)*) => {
        mpi_fn! {$(
            fn $init | $init_c(buf: *const c_void, count: Num, datatype: Datatype, dest: c_int,
                tag: c_int, comm: Comm, request: *mut Request) on comm
            {
                let process = enter()?;
                let a = send_args(&process, buf, count.into(), datatype, dest, tag, comm)?;
                let what = match a.dest {
                    None => Operation::Nowhere,
                    Some(dest) => Operation::Send {
                        comm: process.comm(comm)?,
                        buf: buf.cast(),
                        count: args::count(count.into())?,
                        ty: process.objects.types.layout(datatype)?.clone(),
                        dest,
                        tag,
                        mode: Mode::$mode,
                    },
                };
                put(request, what.init(&process), "request")
            }
        )*}
    };
}

send_inits! {
    MPI_Send_init | MPI_Send_init_c, Standard;
    MPI_Ssend_init | MPI_Ssend_init_c, Synchronous;
    MPI_Rsend_init | MPI_Rsend_init_c, Standard;
}

mpi_fn! {
    fn MPI_Bsend | MPI_Bsend_c(buf: *const c_void, count: Num, datatype: Datatype, dest: c_int,
        tag: c_int,
        comm: Comm) on comm
    {
        let process = enter()?;
        let a = send_args(&process, buf, count.into(), datatype, dest, tag, comm)?;
        match a.dest {
            Some(dest) => a.comm.bsend(&process, &a.buf, dest, a.tag),
            None => Ok(()),
        }
    }

    fn MPI_Ibsend | MPI_Ibsend_c(buf: *const c_void, count: Num, datatype: Datatype, dest: c_int,
        tag: c_int, comm: Comm, request: *mut Request) on comm
    {
        let process = enter()?;
        let a = send_args(&process, buf, count.into(), datatype, dest, tag, comm)?;
        if let Some(dest) = a.dest {
            a.comm.bsend(&process, &a.buf, dest, a.tag)?;
        }
        put(request, request::SENT, "request")
    }

    fn MPI_Bsend_init | MPI_Bsend_init_c(buf: *const c_void, count: Num, datatype: Datatype,
        dest: c_int,
        tag: c_int, comm: Comm, request: *mut Request) on comm
    {
        let process = enter()?;
        let a = send_args(&process, buf, count.into(), datatype, dest, tag, comm)?;
        let what = match a.dest {
            None => Operation::Nowhere,
            Some(dest) => Operation::Buffered {
                comm: process.comm(comm)?,
                buf: buf.cast(),
                count: args::count(count.into())?,
                ty: process.objects.types.layout(datatype)?.clone(),
                dest,
                tag,
            },
        };
        put(request, what.init(&process), "request")
    }

    fn MPI_Recv | MPI_Recv_c(buf: *mut c_void, count: Num, datatype: Datatype, source: c_int,
        tag: c_int,
        comm: Comm, status: *mut Status) on comm
    {
        let process = enter()?;
        let a = recv_args(&process, buf, count.into(), datatype, source, tag, comm)?;
        let done = match a.source {
            Some(source) => Done::from(a.comm.recv(&process, a.buf, source, a.tag)),
            None => Done { status: request::NOWHERE_STATUS, error: None },
        };
        finish(done, status)
    }

    fn MPI_Irecv | MPI_Irecv_c(buf: *mut c_void, count: Num, datatype: Datatype, source: c_int,
        tag: c_int,
        comm: Comm, request: *mut Request) on comm
    {
        let process = enter()?;
        let a = recv_args(&process, buf, count.into(), datatype, source, tag, comm)?;
        put(request, irecv(&process, a), "request")
    }

    fn MPI_Recv_init | MPI_Recv_init_c(buf: *mut c_void, count: Num, datatype: Datatype,
        source: c_int,
        tag: c_int, comm: Comm, request: *mut Request) on comm
    {
        let process = enter()?;
        let a = recv_args(&process, buf, count.into(), datatype, source, tag, comm)?;
        let what = match a.source {
            None => Operation::Nowhere,
            Some(source) => Operation::Recv {
                comm: process.comm(comm)?,
                buf: buf.cast(),
                count: args::count(count.into())?,
                ty: process.objects.types.layout(datatype)?.clone(),
                source,
                tag,
            },
        };
        put(request, what.init(&process), "request")
    }

    fn MPI_Sendrecv | MPI_Sendrecv_c(sendbuf: *const c_void, sendcount: Num, sendtype: Datatype,
        dest: c_int, sendtag: c_int, recvbuf: *mut c_void, recvcount: Num, recvtype: Datatype,
        source: c_int, recvtag: c_int, comm: Comm, status: *mut Status) on comm
    {
        let process = enter()?;
        let s = send_args(&process, sendbuf, sendcount.into(), sendtype, dest, sendtag, comm)?;
        let r = recv_args(&process, recvbuf, recvcount.into(), recvtype, source, recvtag, comm)?;
        let (mut recv, mut send) = (irecv(&process, r), isend(&process, s, Mode::Standard));
        both(&process, &mut send, &mut recv, status)
    }

    fn MPI_Sendrecv_replace | MPI_Sendrecv_replace_c(buf: *mut c_void, count: Num,
        datatype: Datatype,
        dest: c_int, sendtag: c_int, source: c_int, recvtag: c_int, comm: Comm,
        status: *mut Status) on comm
    {
        let process = enter()?;
        let (mut send, mut recv) =
            replace(&process, buf, count.into(), datatype, [dest, sendtag, source, recvtag], comm)?;
        both(&process, &mut send, &mut recv, status)
    }

    fn MPI_Isendrecv | MPI_Isendrecv_c(sendbuf: *const c_void, sendcount: Num, sendtype: Datatype,
        dest: c_int, sendtag: c_int, recvbuf: *mut c_void, recvcount: Num, recvtype: Datatype,
        source: c_int, recvtag: c_int, comm: Comm, request: *mut Request) on comm
    {
        let process = enter()?;
        let s = send_args(&process, sendbuf, sendcount.into(), sendtype, dest, sendtag, comm)?;
        let r = recv_args(&process, recvbuf, recvcount.into(), recvtype, source, recvtag, comm)?;
        let (recv, send) = (irecv(&process, r), isend(&process, s, Mode::Standard));
        put(request, request::pair(&process, send, recv), "request")
    }

    fn MPI_Isendrecv_replace | MPI_Isendrecv_replace_c(buf: *mut c_void, count: Num,
        datatype: Datatype,
        dest: c_int, sendtag: c_int, source: c_int, recvtag: c_int, comm: Comm,
        request: *mut Request) on comm
    {
        let process = enter()?;
        let (send, recv) =
            replace(&process, buf, count.into(), datatype, [dest, sendtag, source, recvtag], comm)?;
        put(request, request::pair(&process, send, recv), "request")
    }

    fn MPI_Probe(source: c_int, tag: c_int, comm: Comm, status: *mut Status) on comm {
        let process = enter()?;
        let c = process.comm_ref(comm)?;
        let tag = p2p::recv_tag(tag)?;
        let found = match p2p::source(c, source)? {
            Some(source) => found(c.probe(&process, source, tag)?),
            None => request::NOWHERE_STATUS,
        };
        put_status(status, &found);
        Ok(())
    }

    fn MPI_Iprobe(source: c_int, tag: c_int, comm: Comm, flag: *mut c_int,
        status: *mut Status) on comm {
        let process = enter()?;
        let c = process.comm_ref(comm)?;
        let tag = p2p::recv_tag(tag)?;
        let found = match p2p::source(c, source)? {
            Some(source) => c.iprobe(&process, source, tag)?.map(found),
            None => Some(request::NOWHERE_STATUS),
        };
        if let Some(found) = &found {
            put_status(status, found);
        }
        put(flag, found.is_some().into(), "flag")
    }

    fn MPI_Mprobe(source: c_int, tag: c_int, comm: Comm, message: *mut Message,
        status: *mut Status) on comm {
        let process = enter()?;
        let c = process.comm_ref(comm)?;
        let tag = p2p::recv_tag(tag)?;
        let (handle, found) = match p2p::source(c, source)? {
            Some(source) => {
                let (handle, envelope) = c.mprobe(&process, source, tag)?;
                (handle, found(envelope))
            }
            None => (consts::MESSAGE_NO_PROC, request::NOWHERE_STATUS),
        };
        put_status(status, &found);
        put(message, handle, "message")
    }

    fn MPI_Improbe(source: c_int, tag: c_int, comm: Comm, flag: *mut c_int, message: *mut Message,
        status: *mut Status) on comm
    {
        let process = enter()?;
        let c = process.comm_ref(comm)?;
        let tag = p2p::recv_tag(tag)?;
        let found = match p2p::source(c, source)? {
            Some(source) => c.improbe(&process, source, tag)?.map(|(m, e)| (m, found(e))),
            None => Some((consts::MESSAGE_NO_PROC, request::NOWHERE_STATUS)),
        };
        put(flag, found.is_some().into(), "flag")?;
        let (handle, found) = found.map_or((consts::MESSAGE_NULL, None), |(m, s)| (m, Some(s)));
        if let Some(found) = &found {
            put_status(status, found);
        }
        put(message, handle, "message")
    }

    fn MPI_Mrecv | MPI_Mrecv_c(buf: *mut c_void, count: Num, datatype: Datatype,
        message: *mut Message,
        status: *mut Status)
    {
        let process = enter()?;
        let (handle, buf) = matched(&process, buf, count.into(), datatype, message)?;
        let done = p2p::mrecv(&process, handle, buf)?;
        put(message, consts::MESSAGE_NULL, "message")?;
        finish(done, status)
    }

    fn MPI_Imrecv | MPI_Imrecv_c(buf: *mut c_void, count: Num, datatype: Datatype,
        message: *mut Message,
        request: *mut Request)
    {
        let process = enter()?;
        let (handle, buf) = matched(&process, buf, count.into(), datatype, message)?;
        let started = p2p::imrecv(&process, handle, buf)?;
        put(message, consts::MESSAGE_NULL, "message")?;
        put(request, started, "request")
    }
}

fn found(e: Envelope) -> Status {
    Status::new(e.source as i32, e.tag, e.len)
}

#[inline]
fn finish(done: Done, status: *mut Status) -> Result<()> {
    put_status(status, &done.status);
    match done.error {
        None => Ok(()),
        Some(e) => Err(e),
    }
}

/// Waits for both halves of a send-receive; the status is the receive's.
fn both(
    process: &Process,
    send: &mut Request,
    recv: &mut Request,
    status: *mut Status,
) -> Result<()> {
    request::block_on(process, *recv)?;
    let received = request::complete_whole(process, recv);
    let sent = request::wait(process, send)?;
    finish(received, status)?;
    sent.into_result().map(drop)
}

/// Starts both halves of a send-receive that uses one buffer; what leaves is
/// copied first. `ends` are destination, send tag, source, receive tag.
fn replace(
    process: &Process,
    buf: *mut c_void,
    count: Count,
    ty: Datatype,
    ends: [c_int; 4],
    comm: Comm,
) -> Result<(Request, Request)> {
    let [dest, sendtag, source, recvtag] = ends;
    let mut s = send_args(process, buf, count, ty, dest, sendtag, comm)?;
    s.buf = SendBuf::Owned(s.buf.to_owned_bytes()?);
    let r = recv_args(process, buf, count, ty, source, recvtag, comm)?;
    let recv = irecv(process, r);
    Ok((isend(process, s, Mode::Standard), recv))
}

fn matched(
    process: &Process,
    buf: *mut c_void,
    count: Count,
    ty: Datatype,
    message: *mut Message,
) -> Result<(Message, RecvBuf)> {
    let count = args::count(count)?;
    let ty = process.objects.types.committed(ty)?;
    args::buffer(buf, count, ty)?;
    // SAFETY: the program passes the address of a handle; that it is no null pointer is checked.
    Ok((unsafe { *message }, RecvBuf::new(buf.cast(), count, ty)))
}

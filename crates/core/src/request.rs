//! Requests (MPI-5, chapters 3.7, 3.9 and 13.2).
//!
//! A plain transfer's handle names its slot in `link`, so that starting and
//! completing one touches no other table. Every other request is an object.
//! Completion is in `complete`.

use std::cell::{Cell, RefCell};
use std::ffi::{c_int, c_void};
use std::sync::Arc;

use catena_abi::{self as abi, Status, consts};
use catena_base::slab::Key;
use catena_link::{Completion, Mode, ReqId};

use crate::bsend::{Holder, Mark};
use crate::buffer::{RecvBuf, SendBuf};
use crate::coll::CollRun;
use crate::comm::{Comm, Making};
use crate::p2p;
use crate::process::Process;
use catena_datatype::TypeRef;
use catena_objects::error::{Error, Kind, Result};
use catena_objects::fail;
use catena_objects::table::{ObjectKind, decode, encode};

const NO_SLOT: u32 = (1 << 27) - 1;

/// A send that was complete when it returned; never freed.
pub const SENT: abi::Request = abi::Request(encode(
    ObjectKind::Transfer,
    Key {
        index: NO_SLOT,
        generation: 0,
    },
));
/// A transfer with `MPI_PROC_NULL`; never freed.
pub const NOWHERE: abi::Request = abi::Request(encode(
    ObjectKind::Transfer,
    Key {
        index: NO_SLOT - 1,
        generation: 0,
    },
));

/// The handle of a transfer.
#[inline]
pub const fn transfer(id: ReqId) -> abi::Request {
    let key = Key {
        index: id.index,
        generation: id.generation,
    };
    abi::Request(encode(ObjectKind::Transfer, key))
}

#[inline]
pub(crate) fn as_transfer(r: abi::Request) -> Option<ReqId> {
    let key = decode(ObjectKind::Transfer, r.0)?;
    Some(ReqId {
        index: key.index,
        generation: key.generation,
    })
}

/// The status of a receive from `MPI_PROC_NULL` (MPI-5, 3.10).
pub const NOWHERE_STATUS: Status = Status::new(consts::PROC_NULL, consts::ANY_TAG, 0);

/// A request that is not a plain transfer.
#[derive(Debug)]
pub enum RequestObj {
    /// Made by `MPI_*_init`.
    Persistent(Persistent),
    /// A collective operation under way.
    Collective(RefCell<Box<CollRun>>),
    /// `MPI_Comm_idup` under way.
    Making(RefCell<Box<Making>>),
    /// `MPI_Grequest_start`.
    Generalized(Generalized),
    /// The two halves of `MPI_Isendrecv`.
    Pair(Pair),
    /// `MPI_Comm_iflush_buffer` and its relatives.
    Flush {
        /// Whose buffer.
        holder: Holder,
        /// What has to leave.
        until: Mark,
    },
}

impl RequestObj {
    /// That of a collective.
    ///
    /// # Panics
    /// If it is something else.
    #[inline]
    pub(crate) fn run(&self) -> &RefCell<Box<CollRun>> {
        match self {
            RequestObj::Collective(run) => run,
            _ => unreachable!("only collectives have runs"),
        }
    }

    /// Whether it is a collective or a duplicate that is complete.
    pub(crate) fn is_over(&self) -> bool {
        match self {
            RequestObj::Collective(run) => run.borrow().is_done(),
            RequestObj::Making(making) => making.borrow().is_done(),
            _ => false,
        }
    }
}

/// A send and a receive that complete as one, with the receive's status.
#[derive(Debug)]
pub struct Pair {
    pub(crate) send: Cell<abi::Request>,
    pub(crate) recv: Cell<abi::Request>,
}

/// A request that is started again and again.
#[derive(Debug)]
pub struct Persistent {
    /// What each start does.
    pub what: Operation,
    /// The operation that the last start made, while it is active; a collective
    /// stays in `what`, and this is [`SENT`].
    pub active: Cell<Option<abi::Request>>,
}

/// What a persistent request does when started.
#[derive(Debug)]
#[allow(missing_docs, reason = "the fields are the arguments of the call")]
pub enum Operation {
    Send {
        comm: Arc<Comm>,
        buf: *const u8,
        count: u64,
        ty: TypeRef,
        dest: u32,
        tag: i32,
        mode: Mode,
    },
    Buffered {
        comm: Arc<Comm>,
        buf: *const u8,
        count: u64,
        ty: TypeRef,
        dest: u32,
        tag: i32,
    },
    Recv {
        comm: Arc<Comm>,
        buf: *mut u8,
        count: u64,
        ty: TypeRef,
        source: i32,
        tag: i32,
    },
    Nowhere,
    /// A [`RequestObj::Collective`].
    Collective(Arc<RequestObj>),
}

/// A request that the program completes (MPI-5, chapter 13.2).
#[derive(Debug)]
pub struct Generalized {
    /// Fills the status.
    pub query: abi::GrequestQueryFunction,
    /// Frees the state.
    pub free: abi::GrequestFreeFunction,
    /// Is told of a cancel.
    pub cancel: abi::GrequestCancelFunction,
    /// Passed to the three.
    pub extra_state: *mut c_void,
    /// `MPI_Grequest_complete` was called.
    pub done: Cell<bool>,
    /// `MPI_Request_free` was called.
    pub freed: Cell<bool>,
}

/// How a request stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// `MPI_REQUEST_NULL`, or persistent and not started.
    Inactive,
    /// Under way.
    Pending,
    /// Ready to be completed.
    Complete,
}

/// A completed operation.
#[derive(Debug)]
pub struct Done {
    /// Status without its error field.
    pub status: Status,
    /// What went wrong.
    pub error: Option<Error>,
}

impl Done {
    /// Done, with nothing to tell.
    pub const EMPTY: Done = Done {
        status: Status::empty(),
        error: None,
    };

    /// The status, or the error.
    ///
    /// # Errors
    /// That of the operation.
    pub fn into_result(self) -> Result<Status> {
        match self.error {
            None => Ok(self.status),
            Some(e) => Err(e),
        }
    }
}

impl From<Completion> for Done {
    #[inline]
    fn from(c: Completion) -> Self {
        let mut status = Status::new(c.source, c.tag, c.len);
        if c.cancelled {
            status.set_cancelled(true);
        }
        Done {
            status,
            error: c.error.map(|f| p2p::failure(&f)),
        }
    }
}

#[cold]
pub(crate) fn bad_request(r: abi::Request) -> Error {
    Error::new(
        Kind::Request,
        format!("{:#x} is not a request, or was completed or freed", r.0),
    )
}

impl Process {
    pub(crate) fn request_obj(&self, r: abi::Request) -> Result<Arc<RequestObj>> {
        self.objects.requests.get(r.0).ok_or_else(|| bad_request(r))
    }

    /// The handle of the live transfer whose low 31 bits are `low`.
    pub fn widen_transfer(&self, low: i32) -> Option<usize> {
        let short = as_transfer(abi::Request(low as u32 as usize))?;
        if short.index >= NO_SLOT - 1 {
            return Some(low as u32 as usize);
        }
        self.link(|link| link.live(short.index))
            .map(|id| transfer(id).0)
    }

    /// `MPI_Request_free`: the operation goes on unnamed.
    ///
    /// # Errors
    /// `Request` for `MPI_REQUEST_NULL`, freed and made-up handles.
    pub fn request_free(&self, r: &mut abi::Request) -> Result<()> {
        if *r == consts::REQUEST_NULL {
            fail!(Request, "the request is MPI_REQUEST_NULL");
        }
        if self.state(*r)? == State::Complete && as_transfer(*r).is_some() {
            self.complete(r);
            return Ok(());
        }
        let was = std::mem::replace(r, consts::REQUEST_NULL);
        if let Some(id) = as_transfer(was) {
            self.link(|link| link.detach(id));
            return Ok(());
        }
        let obj = self.request_obj(was)?;
        // `MPI_Grequest_complete` still needs the handle of one under way.
        if !matches!(&*obj, RequestObj::Generalized(g) if !g.done.get()) {
            self.objects.requests.remove(was.0);
        }
        match &*obj {
            RequestObj::Persistent(p) => {
                if let Some(mut inner) = p.active.take() {
                    self.request_free(&mut inner)?;
                }
            }
            // `active` keeps it until it is done.
            RequestObj::Collective(_) | RequestObj::Making(_) | RequestObj::Flush { .. } => {}
            RequestObj::Generalized(g) => {
                g.freed.set(true);
                if g.done.get() {
                    g.call_free();
                }
            }
            RequestObj::Pair(p) => {
                self.request_free(&mut p.send.get())?;
                self.request_free(&mut p.recv.get())?;
            }
        }
        Ok(())
    }

    /// `MPI_Cancel`.
    ///
    /// # Errors
    /// `Request` if the operation cannot be cancelled.
    pub fn cancel(&self, r: abi::Request) -> Result<()> {
        if r == SENT || r == NOWHERE {
            return Ok(());
        }
        if let Some(id) = as_transfer(r) {
            if !self.link(|link| link.valid(id)) {
                return Err(bad_request(r));
            }
            self.link(|link| link.cancel(id));
            // The request and its answer; to itself a process answers at once.
            for _ in 0..2 {
                self.progress();
            }
            return Ok(());
        }
        if r == consts::REQUEST_NULL {
            fail!(Request, "the request is MPI_REQUEST_NULL");
        }
        match &*self.request_obj(r)? {
            RequestObj::Persistent(p) => match (p.active.get(), &p.what) {
                (Some(_), Operation::Collective(_)) => {
                    fail!(Request, "a collective operation cannot be cancelled")
                }
                (Some(inner), _) => self.cancel(inner),
                (None, _) => fail!(Request, "the persistent request is not active"),
            },
            RequestObj::Collective(_) | RequestObj::Making(_) => {
                fail!(Request, "a collective operation cannot be cancelled")
            }
            RequestObj::Generalized(g) => match g.call_cancel() {
                0 => Ok(()),
                code => Err(callback_failed("cancel", code)),
            },
            RequestObj::Pair(p) => {
                self.cancel(p.recv.get())?;
                self.cancel(p.send.get())
            }
            RequestObj::Flush { .. } => fail!(Request, "flushing a buffer cannot be cancelled"),
        }
    }

    /// Joins the two halves of `MPI_Isendrecv`.
    pub fn pair(&self, send: abi::Request, recv: abi::Request) -> abi::Request {
        let pair = Pair {
            send: Cell::new(send),
            recv: Cell::new(recv),
        };
        abi::Request(self.objects.requests.insert(RequestObj::Pair(pair).into()))
    }

    /// A request that is complete when everything that is in the buffer now has
    /// left.
    pub fn iflush(&self, holder: Holder) -> abi::Request {
        let obj = RequestObj::Flush {
            holder,
            until: Mark::now(),
        };
        abi::Request(self.objects.requests.insert(obj.into()))
    }

    /// Makes an inactive persistent request.
    pub fn persistent(&self, what: Operation) -> abi::Request {
        let obj = RequestObj::Persistent(Persistent {
            what,
            active: Cell::new(None),
        });
        abi::Request(self.objects.requests.insert(obj.into()))
    }

    /// `MPI_Start`.
    ///
    /// # Errors
    /// `Request` if it is not persistent or active already.
    pub fn start(&self, r: abi::Request) -> Result<()> {
        let obj = match self.objects.requests.get(r.0) {
            Some(obj) => obj,
            None if as_transfer(r).is_some() => fail!(Request, "the request is not persistent"),
            None => return Err(bad_request(r)),
        };
        let RequestObj::Persistent(p) = &*obj else {
            fail!(Request, "the request is not persistent");
        };
        self.start_again(p).map_err(|e| match p.what.comm() {
            Some(comm) => e.on(comm.handle.get()),
            None => e,
        })
    }

    fn start_again(&self, p: &Persistent) -> Result<()> {
        if p.active.get().is_some() {
            fail!(
                Request,
                "the persistent request is active already: complete it first"
            );
        }
        let inner = match &p.what {
            Operation::Send {
                comm,
                buf,
                count,
                ty,
                dest,
                tag,
                mode,
            } => self.isend(comm, SendBuf::new(*buf, *count, ty), *dest, *tag, *mode),
            Operation::Buffered {
                comm,
                buf,
                count,
                ty,
                dest,
                tag,
            } => {
                self.bsend(comm, &SendBuf::new(*buf, *count, ty), *dest, *tag)?;
                SENT
            }
            Operation::Recv {
                comm,
                buf,
                count,
                ty,
                source,
                tag,
            } => self.irecv(comm, RecvBuf::new(*buf, *count, ty), *source, *tag),
            Operation::Nowhere => NOWHERE,
            Operation::Collective(obj) => {
                self.restart_collective(obj)?;
                SENT
            }
        };
        p.active.set(Some(inner));
        Ok(())
    }

    /// `MPI_Grequest_start`.
    pub fn generalized(&self, g: Generalized) -> abi::Request {
        abi::Request(
            self.objects
                .requests
                .insert(RequestObj::Generalized(g).into()),
        )
    }

    /// `MPI_Grequest_complete`.
    ///
    /// # Errors
    /// `Request` if it is not a generalized request.
    pub fn grequest_complete(&self, r: abi::Request) -> Result<()> {
        match &*self.request_obj(r)? {
            RequestObj::Generalized(g) => {
                g.done.set(true);
                // Nobody will complete a request that was freed before.
                if g.freed.get() {
                    g.call_free();
                    self.objects.requests.remove(r.0);
                }
                Ok(())
            }
            _ => fail!(Request, "the request is not a generalized one"),
        }
    }
}

impl Operation {
    /// The communicator that it works on; `None` if it does nothing.
    pub fn comm(&self) -> Option<Arc<Comm>> {
        match self {
            Operation::Send { comm, .. }
            | Operation::Buffered { comm, .. }
            | Operation::Recv { comm, .. } => Some(comm.clone()),
            Operation::Collective(obj) => {
                let run = obj.run().borrow();
                run.job().map(|(prepared, _)| prepared.comm().clone())
            }
            Operation::Nowhere => None,
        }
    }
}

impl Generalized {
    pub(crate) fn call_free(&self) -> c_int {
        // SAFETY: the program registered the function for this state.
        self.free.map_or(0, |f| unsafe { f(self.extra_state) })
    }

    fn call_cancel(&self) -> c_int {
        let done = c_int::from(self.done.get());
        // SAFETY: as in `call_free`.
        self.cancel
            .map_or(0, |f| unsafe { f(self.extra_state, done) })
    }
}

pub(crate) fn query(g: &Generalized) -> Done {
    let mut status = Status::empty();
    // SAFETY: as in `call_free`; the status outlives the call.
    let code = g
        .query
        .map_or(0, |f| unsafe { f(g.extra_state, &raw mut status) });
    Done {
        status,
        error: (code != 0).then(|| callback_failed("query", code)),
    }
}

pub(crate) fn callback_failed(what: &str, code: c_int) -> Error {
    Error::new(
        Kind::Code(code),
        format!(
            "the {what} callback of the generalized request returned \
        {code}"
        ),
    )
}

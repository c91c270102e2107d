//! The objects of a process and their handles: everything that exists with or
//! without `MPI_Init`.

use std::ops::Deref;
use std::sync::Arc;

use catena_abi::{self as abi, consts};
use catena_objects::attr::Keyvals;
use catena_objects::datatype::Datatypes;
use catena_objects::errhandler::Errhandlers;
use catena_objects::error::Result;
use catena_objects::fail;
use catena_objects::group::Groups;
use catena_objects::info::{Info, Infos};
use catena_objects::op::Ops;
use catena_objects::table::{Guarded, ObjectKind, Table};

use crate::comm::Comm;
use crate::message::Message;
use crate::request::RequestObject;
use crate::session_object::Session;

/// What any thread may use at any time, also beside one that is in the library (MPI-5, 11.4.1):
/// nothing of it is behind the library's lock.
#[derive(Debug)]
pub struct AnyTime {
    /// Error handlers.
    pub errhandlers: Errhandlers,
    /// Info objects.
    pub infos: Infos,
}

const _: fn() = || {
    fn is_sync<T: Sync>() {}
    is_sync::<AnyTime>();
};

/// All tables, of a process that is a `P`: those of [`AnyTime`], too.
#[derive(Debug)]
pub struct Objects<P> {
    any_time: AnyTime,
    /// Communicators but the predefined ones.
    pub comms: Table<Arc<Comm>>,
    /// Groups.
    pub groups: Groups,
    /// Datatypes.
    pub types: Datatypes,
    /// Operations.
    pub ops: Ops,
    /// Sessions.
    pub sessions: Guarded<Arc<Session>>,
    /// Requests that are not plain transfers.
    pub requests: Table<Arc<dyn RequestObject<P>>>,
    /// Messages between a matched probe and their receive.
    pub messages: Table<Arc<Message>>,
    /// Attribute keys.
    pub keyvals: Keyvals,
}

impl<P> Deref for Objects<P> {
    type Target = AnyTime;

    #[inline]
    fn deref(&self) -> &AnyTime {
        &self.any_time
    }
}

impl<P> Objects<P> {
    /// Empty tables; `env` makes `MPI_INFO_ENV` when it is first asked for.
    pub fn new(env: fn() -> Arc<Info>) -> Self {
        Objects {
            any_time: AnyTime {
                errhandlers: Errhandlers::default(),
                infos: Infos::new(env),
            },
            comms: Table::new(ObjectKind::Comm),
            groups: Groups::default(),
            types: Datatypes::default(),
            ops: Ops::default(),
            sessions: Guarded::new(ObjectKind::Session),
            requests: Table::new(ObjectKind::Request),
            messages: Table::new(ObjectKind::Message),
            keyvals: Keyvals::default(),
        }
    }

    /// The session behind a handle.
    ///
    /// # Errors
    /// `Session` for `MPI_SESSION_NULL`, finalized and made-up handles.
    pub fn session(&self, h: abi::Session) -> Result<Arc<Session>> {
        match self.sessions.get(h.0) {
            Some(session) => Ok(session),
            None if h == consts::SESSION_NULL => fail!(Session, "the session is MPI_SESSION_NULL"),
            None => fail!(Session, "{:#x} is not a session, or was finalized", h.0),
        }
    }
}

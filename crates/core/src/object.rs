//! The objects of a process and their handles: everything that exists with or
//! without `MPI_Init`.

use std::os::unix::ffi::OsStringExt;
use std::sync::{Arc, OnceLock};

use catena_abi::{self as abi, consts};
use catena_objects::attr::Keyvals;
use catena_objects::datatype::Datatypes;
use catena_objects::errhandler::{Errhandlers, INITIAL_ERRHANDLER};
use catena_objects::error::Result;
use catena_objects::error_place::Target;
use catena_objects::fail;
use catena_objects::group::Groups;
use catena_objects::info::{Info, Infos, Pair};
use catena_objects::op::Ops;
use catena_objects::table::{Guarded, ObjectKind, Table};
use catena_settings::Value;

use crate::comm::Comm;
use crate::memory_kinds::{MEMORY_ALLOC_KINDS, MEMORY_KINDS};
use crate::message::Message;
use crate::process::{enter, enter_any};
use crate::request::RequestObject;
use crate::session_object::Session;

/// All tables.
#[derive(Debug)]
pub struct Objects {
    /// Communicators but the predefined ones.
    pub comms: Table<Arc<Comm>>,
    /// Groups.
    pub groups: Groups,
    /// Datatypes.
    pub types: Datatypes,
    /// Operations.
    pub ops: Ops,
    /// Error handlers.
    pub errhandlers: Errhandlers,
    /// Info objects.
    pub infos: Infos,
    /// Sessions.
    pub sessions: Guarded<Arc<Session>>,
    /// Requests that are not plain transfers.
    pub requests: Table<Arc<dyn RequestObject>>,
    /// Messages between a matched probe and their receive.
    pub messages: Table<Arc<Message>>,
    /// Attribute keys.
    pub keyvals: Keyvals,
}

impl Default for Objects {
    fn default() -> Self {
        let errhandlers = Errhandlers::default();
        errhandlers.register(Target::Comm, |h| Ok(enter()?.comm(abi::Comm(h))?));
        errhandlers.register(Target::Session, |h| {
            Ok(enter_any().session(abi::Session(h))?)
        });
        Objects {
            comms: Table::new(ObjectKind::Comm),
            groups: Groups::default(),
            types: Datatypes::default(),
            ops: Ops::default(),
            errhandlers,
            infos: Infos::new(info_env),
            sessions: Guarded::new(ObjectKind::Session),
            requests: Table::new(ObjectKind::Request),
            messages: Table::new(ObjectKind::Message),
            keyvals: Keyvals::default(),
        }
    }
}

impl Objects {
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

/// `MPI_INFO_ENV` (MPI-5, 11.2.2): what is known of how the program was
/// started.
pub fn info_env() -> Arc<Info> {
    static ENV: OnceLock<Vec<Pair>> = OnceLock::new();
    let pairs = ENV.get_or_init(|| {
        let mut args = std::env::args_os().map(OsStringExt::into_vec);
        let mut pairs = Vec::new();
        let mut push = |key: &str, value: Vec<u8>| pairs.push((key.into(), clip(value)));
        if let Some(command) = args.next() {
            push("command", command);
        }
        push("argv", args.collect::<Vec<_>>().join(&b' '));
        if let Ok(process) = enter() {
            let boot = process.engine.boot.borrow();
            push("maxprocs", boot.job().size.to_string().into());
        }
        if let Ok(dir) = std::env::current_dir() {
            push("wdir", dir.into_os_string().into_vec());
        }
        push("arch", std::env::consts::ARCH.into());
        push("thread_level", "MPI_THREAD_MULTIPLE".into());
        push(
            "mpi_initial_errhandler",
            INITIAL_ERRHANDLER.get().show().into(),
        );
        let kinds = MEMORY_ALLOC_KINDS.get();
        if !kinds.is_empty() {
            push(MEMORY_KINDS, kinds.as_bytes().into());
        }
        pairs
    });

    Info::from_pairs(pairs.clone())
}

/// Shortens a string to what an info value may have.
pub fn clip(mut s: Vec<u8>) -> Vec<u8> {
    s.truncate(catena_objects::info::fitting(
        &s,
        catena_objects::info::MAX_VALUE,
    ));
    s
}

//! Error handlers (MPI-5, chapter 9.3).

use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use catena_abi::{self as abi, consts};
use catena_settings::{Setting, choice, setting};

/// What to do with an error.
///
/// The function of a user's handler takes a pointer to the object's handle and
/// one to the error code, for every kind of object alike.
#[derive(Debug, PartialEq, Eq)]
pub enum Errhandler {
    /// `MPI_ERRORS_ARE_FATAL`: end the job.
    Fatal,
    /// `MPI_ERRORS_ABORT`: end the processes of the communicator, which here
    /// is the job as well.
    Abort,
    /// `MPI_ERRORS_RETURN`: return the code.
    Return,
    /// A function of the program.
    User {
        /// What it may be attached to.
        on: Target,
        /// Its address.
        function: usize,
    },
}

/// Kinds of object that have an error handler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Target {
    Comm,
    Win,
    File,
    Session,
}

impl Errhandler {
    /// Whether it may be attached to objects of this kind.
    pub fn fits(&self, target: Target) -> bool {
        !matches!(self, Errhandler::User { on, .. } if *on != target)
    }
}

/// What a handle stands for.
#[derive(Debug)]
pub struct Named {
    /// The handler.
    pub handler: ErrhandlerRef,
    /// How often the program has got the handle and must free it.
    pub holders: AtomicU32,
}

/// A shared error handler: objects keep it after its handle is freed.
pub type ErrhandlerRef = Arc<Errhandler>;

choice! {
    /// The error handlers that a job can start with.
    pub enum Initial {
        /// `MPI_ERRORS_ARE_FATAL`.
        Fatal = "mpi_errors_are_fatal",
        /// `MPI_ERRORS_ABORT`.
        Abort = "mpi_errors_abort",
        /// `MPI_ERRORS_RETURN`.
        Return = "mpi_errors_return",
    }
}

setting! {
    /// Error handler that MPI_COMM_WORLD and MPI_COMM_SELF have at first.
    ///
    /// Errors before MPI_Init and after MPI_Finalize go to it as well (MPI-5,
    /// 11.3.2).
    pub static INITIAL_ERRHANDLER: Initial = Initial::Fatal;
    scope: Local,
    level: User,
}

/// All settings of this module.
pub static SETTINGS: &[&dyn Setting] = &[&INITIAL_ERRHANDLER];

/// The error handler that everything has at first.
pub fn initial() -> abi::Errhandler {
    match INITIAL_ERRHANDLER.get() {
        Initial::Fatal => consts::ERRORS_ARE_FATAL,
        Initial::Abort => consts::ERRORS_ABORT,
        Initial::Return => consts::ERRORS_RETURN,
    }
}

//! Error handlers (MPI-5, chapter 9.3).

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::AcqRel};

use catena_abi::{self as abi, consts};
use catena_settings::{Setting, choice, setting};

use crate::error::Result;
use crate::fail;
use crate::table::{Guarded, ObjectKind};

/// What to do with an error.
///
/// The function of a user's handler takes a pointer to the object's handle and
/// one to the error code, for every kind of object alike.
///
/// # Examples
/// ```
/// use catena_objects::errhandler::{Errhandler, Target};
///
/// let mine = Errhandler::User { on: Target::Win, function: 0x1234 };
/// assert!(mine.fits(Target::Win) && !mine.fits(Target::Comm));
/// assert!(Errhandler::Return.fits(Target::Comm));
/// ```
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

/// The error handlers of a process.
#[derive(Debug)]
pub struct Errhandlers {
    /// All but the predefined ones.
    pub table: Guarded<Arc<Named>>,
    fatal: ErrhandlerRef,
    abort: ErrhandlerRef,
    returning: ErrhandlerRef,
}

impl Default for Errhandlers {
    fn default() -> Self {
        Errhandlers {
            table: Guarded::new(ObjectKind::Errhandler),
            fatal: Arc::new(Errhandler::Fatal),
            abort: Arc::new(Errhandler::Abort),
            returning: Arc::new(Errhandler::Return),
        }
    }
}

impl Errhandlers {
    /// The error handler behind a handle.
    ///
    /// # Errors
    /// `Errhandler` for `MPI_ERRHANDLER_NULL`, freed and made-up handles.
    pub fn find(&self, h: abi::Errhandler) -> Result<ErrhandlerRef> {
        match h {
            consts::ERRORS_ARE_FATAL => Ok(self.fatal.clone()),
            consts::ERRORS_ABORT => Ok(self.abort.clone()),
            consts::ERRORS_RETURN => Ok(self.returning.clone()),
            consts::ERRHANDLER_NULL => {
                fail!(Errhandler, "the error handler is MPI_ERRHANDLER_NULL")
            }
            _ => match self.table.get(h.0) {
                Some(named) => Ok(named.handler.clone()),
                None => fail!(
                    Errhandler,
                    "{:#x} is not an error handler, or was freed",
                    h.0
                ),
            },
        }
    }

    /// Stores a new error handler.
    pub fn add(&self, handler: ErrhandlerRef) -> abi::Errhandler {
        let named = Named {
            handler,
            holders: AtomicU32::new(1),
        };
        abi::Errhandler(self.table.insert(named.into()))
    }

    /// Lets go of a handle once. Predefined ones are what `MPI_Comm_get_errhandler`
    /// gives, and a program frees what it got.
    ///
    /// # Errors
    /// As [`Errhandlers::find`].
    pub fn free(&self, h: abi::Errhandler) -> Result<()> {
        self.find(h)?;
        if let Some(named) = self.table.get(h.0)
            && named.holders.fetch_sub(1, AcqRel) == 1
        {
            self.table.remove(h.0);
        }
        Ok(())
    }

    /// A handle for an error handler that some object has: the one that it is
    /// known by, if the program has not freed that.
    pub fn handle(&self, handler: &ErrhandlerRef) -> abi::Errhandler {
        match **handler {
            Errhandler::Fatal => consts::ERRORS_ARE_FATAL,
            Errhandler::Abort => consts::ERRORS_ABORT,
            Errhandler::Return => consts::ERRORS_RETURN,
            Errhandler::User { .. } => {
                let mut all = self.table.all().into_iter();
                match all.find(|(_, named)| Arc::ptr_eq(&named.handler, handler)) {
                    Some((handle, named)) => {
                        named.holders.fetch_add(1, AcqRel);
                        abi::Errhandler(handle)
                    }
                    None => self.add(handler.clone()),
                }
            }
        }
    }
}

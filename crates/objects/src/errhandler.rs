//! Error handlers (MPI-5, chapter 9.3).

use std::cell::RefCell;
use std::sync::atomic::{AtomicU32, Ordering::AcqRel};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use catena_abi::{self as abi, consts};
use catena_settings::{Setting, choice, setting};

use crate::callback::{Foreign, HandlerFn, LayerHandler};
use crate::error::{Error, Kind, Result};
use crate::error_place::{ErrorPlace, Target};
use crate::fail;
use crate::state::State;
use crate::table::{Guarded, ObjectKind};

/// The handle of `MPI::ERRORS_THROW_EXCEPTIONS`, which only interfaces with C++ have: no constant
/// of the standard's.
pub const ERRORS_THROW: abi::Errhandler = abi::Errhandler(0x144);

/// What to do with an error.
///
/// The function of a user's handler takes a pointer to the object's handle and
/// one to the error code, for every kind of object alike.
///
/// # Examples
/// ```
/// use std::ffi::c_int;
///
/// use catena_objects::callback::{Foreign, HandlerFn};
/// use catena_objects::errhandler::Errhandler;
/// use catena_objects::error_place::Target;
///
/// extern "C" fn note(_window: *mut usize, _code: *mut c_int) {}
///
/// let mine = Errhandler::User { on: Target::Win, function: Foreign::new(note as HandlerFn) };
/// assert!(mine.fits(Target::Win) && !mine.fits(Target::Comm));
/// assert!(Errhandler::Return.fits(Target::Comm));
/// ```
#[derive(Debug)]
pub enum Errhandler {
    /// `MPI_ERRORS_ARE_FATAL`: end the job.
    Fatal,
    /// `MPI_ERRORS_ABORT`: end the processes of the communicator, which here
    /// is the job as well.
    Abort,
    /// `MPI_ERRORS_RETURN`: return the code.
    Return,
    /// [`ERRORS_THROW`]: return the code, of which the program's own C++ makes an exception.
    Throw,
    /// A function of the program.
    User {
        /// What it may be attached to.
        on: Target,
        /// What it is.
        function: Foreign<HandlerFn>,
    },
    /// A function of a layer above the C interface.
    Layer {
        /// What it may be attached to.
        on: Target,
        /// What it is.
        function: Foreign<LayerHandler>,
        /// What it is given besides.
        state: State,
    },
}

impl Errhandler {
    /// Whether it may be attached to objects of this kind.
    pub fn fits(&self, target: Target) -> bool {
        !matches!(self, Errhandler::User { on, .. } | Errhandler::Layer { on, .. } if *on != target)
    }
}

/// An object that has an error handler.
pub trait HasErrhandler {
    /// Its error handler.
    fn errhandler(&self) -> &RefCell<ErrhandlerRef>;

    /// What people call it, after the word "on".
    fn called(&self) -> String;
}

/// Finds the object behind a handle of one kind.
pub type Find = fn(usize) -> Result<Arc<dyn HasErrhandler>>;

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

/// The error handlers of a process, and how the objects are found that have one. Any thread may use
/// it at any time.
///
/// # Examples
/// ```
/// use std::cell::RefCell;
/// use std::sync::Arc;
///
/// use catena_abi::{Win, consts};
/// use catena_objects::errhandler::{ErrhandlerRef, Errhandlers, HasErrhandler};
/// use catena_objects::error_place::Target;
///
/// struct Window(RefCell<ErrhandlerRef>);
///
/// impl HasErrhandler for Window {
///     fn errhandler(&self) -> &RefCell<ErrhandlerRef> {
///         &self.0
///     }
///     fn called(&self) -> String {
///         "a window".to_owned()
///     }
/// }
///
/// let errhandlers = Errhandlers::default();
/// assert!(errhandlers.holder(Win(0x5000).into()).is_err());
///
/// errhandlers.register(Target::Win, |_| {
///     let handler = Errhandlers::default().find(consts::ERRORS_RETURN)?;
///     Ok(Arc::new(Window(RefCell::new(handler))))
/// });
/// assert_eq!(errhandlers.holder(Win(0x5000).into())?.called(), "a window");
/// # Ok::<(), catena_objects::Error>(())
/// ```
#[derive(Debug)]
pub struct Errhandlers {
    /// All but the predefined ones.
    pub table: Guarded<Arc<Named>>,
    fatal: ErrhandlerRef,
    abort: ErrhandlerRef,
    returning: ErrhandlerRef,
    throwing: ErrhandlerRef,
    finds: [OnceLock<Find>; Target::COUNT],
    /// Of objects whose handles were freed while something was under way on them.
    kept: Mutex<Vec<FreedObject>>,
}

/// What is left of an object whose handle was freed.
#[derive(Clone, Debug)]
struct FreedObject {
    place: ErrorPlace,
    errhandler: RefCell<ErrhandlerRef>,
    /// What people call it, if it had a name.
    name: Option<String>,
}

impl HasErrhandler for FreedObject {
    fn errhandler(&self) -> &RefCell<ErrhandlerRef> {
        &self.errhandler
    }

    fn called(&self) -> String {
        match &self.name {
            Some(name) => format!("{name}, which was freed"),
            None => format!("object {:#x}, which was freed", self.place.handle),
        }
    }
}

impl Default for Errhandlers {
    fn default() -> Self {
        Errhandlers {
            table: Guarded::new(ObjectKind::Errhandler),
            fatal: Arc::new(Errhandler::Fatal),
            abort: Arc::new(Errhandler::Abort),
            returning: Arc::new(Errhandler::Return),
            throwing: Arc::new(Errhandler::Throw),
            finds: Default::default(),
            kept: Mutex::default(),
        }
    }
}

impl Errhandlers {
    /// Has the objects of this kind found by `find`; the first one stays.
    pub fn register(&self, target: Target, find: Find) {
        self.finds[target as usize].get_or_init(|| find);
    }

    fn kept(&self) -> MutexGuard<'_, Vec<FreedObject>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The object that an error belongs to.
    ///
    /// # Errors
    /// Those of the kind's `find`: there is no such object.
    pub fn holder(&self, place: ErrorPlace) -> Result<Arc<dyn HasErrhandler>> {
        let found = match self.finds[place.target as usize].get() {
            Some(find) => find(place.handle),
            None => Err(no_such(place)),
        };
        found.or_else(|error| {
            let kept = self.kept();
            let it = kept.iter().rev().find(|it| it.place == place);
            it.map_or(Err(error), |it| Ok(Arc::new(it.clone()) as _))
        })
    }

    /// Keeps the error handler of an object whose handle is freed while something is under way on
    /// it.
    pub fn keep(&self, place: ErrorPlace, errhandler: ErrhandlerRef, name: Option<String>) {
        self.kept().push(FreedObject {
            place,
            errhandler: RefCell::new(errhandler),
            name,
        });
    }

    /// Lets go of what was kept of all but these objects.
    pub fn keep_only(&self, is_wanted: impl Fn(ErrorPlace) -> bool) {
        self.kept().retain(|it| is_wanted(it.place));
    }

    /// The error handler behind a handle.
    ///
    /// # Errors
    /// `Errhandler` for `MPI_ERRHANDLER_NULL`, freed and made-up handles.
    pub fn find(&self, h: abi::Errhandler) -> Result<ErrhandlerRef> {
        match h {
            consts::ERRORS_ARE_FATAL => Ok(self.fatal.clone()),
            consts::ERRORS_ABORT => Ok(self.abort.clone()),
            consts::ERRORS_RETURN => Ok(self.returning.clone()),
            ERRORS_THROW => Ok(self.throwing.clone()),
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
            Errhandler::Throw => ERRORS_THROW,
            Errhandler::User { .. } | Errhandler::Layer { .. } => {
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

/// No part of the library that has such objects is in use.
#[cold]
fn no_such(place: ErrorPlace) -> Error {
    let (kind, what) = match place.target {
        Target::Comm => (Kind::Comm, "communicator"),
        Target::Win => (Kind::Win, "window"),
        Target::File => (Kind::File, "file"),
        Target::Session => (Kind::Session, "session"),
    };
    Error::new(kind, format!("{:#x} is not a {what}", place.handle))
}

#[cfg(test)]
mod tests {
    use super::*;

    struct It(RefCell<ErrhandlerRef>, usize);

    impl HasErrhandler for It {
        fn errhandler(&self) -> &RefCell<ErrhandlerRef> {
            &self.0
        }

        fn called(&self) -> String {
            format!("number {}", self.1)
        }
    }

    #[test]
    fn each_kind_finds_its_own() {
        let all = Errhandlers::default();
        let places = [
            ErrorPlace::from(abi::Comm(0x1000)),
            abi::Win(0x1000).into(),
            abi::File(0x1000).into(),
            abi::Session(0x1000).into(),
        ];
        let kinds = [Kind::Comm, Kind::Win, Kind::File, Kind::Session];
        for (at, place) in places.into_iter().enumerate() {
            assert_eq!(place.target as usize, at);
            assert_eq!(all.holder(place).err().unwrap().kind(), kinds[at]);
            all.register(place.target, |handle| {
                Ok(Arc::new(It(
                    RefCell::new(Arc::new(Errhandler::Abort)),
                    handle,
                )))
            });
            let found = all.holder(place).unwrap();
            assert_eq!(found.called(), "number 4096");
            assert!(matches!(**found.errhandler().borrow(), Errhandler::Abort));
        }
    }

    #[test]
    fn the_one_that_throws_is_known_by_its_own_handle() {
        let all = Errhandlers::default();
        for handle in [ERRORS_THROW, consts::ERRORS_RETURN] {
            assert_eq!(all.handle(&all.find(handle).unwrap()), handle);
            all.free(handle).unwrap();
        }
    }

    #[test]
    fn what_is_reworded_stays_where_it_was() {
        let error = Error::new(Kind::Truncate, "cut").on(abi::Win(7));
        let other = error.reworded(Kind::InStatus, "one of many was cut");
        assert_eq!(other.kind(), Kind::InStatus);
        assert_eq!(other.place(), Some(abi::Win(7).into()));
    }
}

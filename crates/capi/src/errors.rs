//! From an error of the library to what the program sees: an error code, and
//! a call of the right error handler (MPI-5, chapter 9).
//!
//! Codes of errors that tell more than their class are `64 * n + class`, where
//! `n` counts round 1 to [`ROUND`]; the newest texts are kept for
//! `MPI_Error_string`. Those that the program adds are in `added`.

use std::collections::BTreeMap;
use std::ffi::c_int;
use std::sync::Mutex;

use catena_abi::{self as abi, consts, names};
use catena_core::process::{Entered, look_at_process};
use catena_core::{Objects, any_time, enter, enter_any, init, look, needs};
use catena_io::unseen;
use catena_objects::errhandler::{self, Errhandler, ErrhandlerRef, HasErrhandler};
use catena_objects::error_place::{ErrorPlace, Target};
use catena_objects::{Error, Kind};

use crate::{added, checked};

/// The object that a call was made on.
#[derive(Clone, Copy, Debug)]
pub(crate) enum On {
    /// None with an error handler.
    Nothing,
    /// One with an error handler, if the handle is good.
    Object(ErrorPlace),
    /// An object that is to be made with this error handler, if the handle is
    /// good.
    New(abi::Errhandler),
}

macro_rules! places {
    ($($handle:ident)*) => {$(
        impl From<abi::$handle> for On {
            fn from(handle: abi::$handle) -> Self {
                On::Object(handle.into())
            }
        }

        impl From<*mut abi::$handle> for On {
            fn from(handle: *mut abi::$handle) -> Self {
                // SAFETY: a pointer argument of the program, null or good.
                unsafe { handle.as_ref() }.map_or(On::Nothing, |&handle| handle.into())
            }
        }
    )*};
}

places! { Comm File Session Win }

impl From<abi::Errhandler> for On {
    fn from(errhandler: abi::Errhandler) -> Self {
        On::New(errhandler)
    }
}

/// Numbers in turn that a detailed code may carry.
const ROUND: i32 = 254;
/// The number that would give the return codes of the tool interface, which
/// nothing else may be (MPI-5, 15.3.10).
const TOOL_ROUND: i32 = consts::T_ERR_CANNOT_INIT / CLASSES;
/// Classes fit below this.
const CLASSES: i32 = 64;

#[derive(Default)]
struct Texts {
    last: i32,
    texts: BTreeMap<i32, String>,
}

static TEXTS: Mutex<Texts> = Mutex::new(Texts {
    last: 0,
    texts: BTreeMap::new(),
});

fn texts() -> std::sync::MutexGuard<'static, Texts> {
    TEXTS
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// The error class of an error.
pub(crate) fn class(kind: Kind) -> c_int {
    match kind {
        Kind::Buffer => consts::ERR_BUFFER,
        Kind::Count => consts::ERR_COUNT,
        Kind::Type => consts::ERR_TYPE,
        Kind::Tag => consts::ERR_TAG,
        Kind::Comm => consts::ERR_COMM,
        Kind::Rank => consts::ERR_RANK,
        Kind::Request => consts::ERR_REQUEST,
        Kind::Root => consts::ERR_ROOT,
        Kind::Group => consts::ERR_GROUP,
        Kind::Op => consts::ERR_OP,
        Kind::Topology => consts::ERR_TOPOLOGY,
        Kind::Dims => consts::ERR_DIMS,
        Kind::Arg => consts::ERR_ARG,
        Kind::Truncate => consts::ERR_TRUNCATE,
        Kind::Other => consts::ERR_OTHER,
        Kind::Intern => consts::ERR_INTERN,
        Kind::Pending => consts::ERR_PENDING,
        Kind::InStatus => consts::ERR_IN_STATUS,
        Kind::InfoKey => consts::ERR_INFO_KEY,
        Kind::InfoNoKey => consts::ERR_INFO_NOKEY,
        Kind::InfoValue => consts::ERR_INFO_VALUE,
        Kind::Info => consts::ERR_INFO,
        Kind::Keyval => consts::ERR_KEYVAL,
        Kind::NoMem => consts::ERR_NO_MEM,
        Kind::NotSame => consts::ERR_NOT_SAME,
        Kind::Name => consts::ERR_NAME,
        Kind::Session => consts::ERR_SESSION,
        Kind::Errhandler => consts::ERR_ERRHANDLER,
        Kind::ProcAborted => consts::ERR_PROC_ABORTED,
        Kind::ProcFailed => consts::ERR_PROC_FAILED,
        Kind::ProcFailedPending => consts::ERR_PROC_FAILED_PENDING,
        Kind::Revoked => consts::ERR_REVOKED,
        Kind::Port => consts::ERR_PORT,
        // No class of the standard means these; the text does.
        Kind::Settings => consts::ERR_OTHER,
        Kind::Service => consts::ERR_SERVICE,
        Kind::Spawn => consts::ERR_SPAWN,
        Kind::ValueTooLarge => consts::ERR_VALUE_TOO_LARGE,
        Kind::Unsupported => consts::ERR_UNSUPPORTED_OPERATION,
        Kind::Win => consts::ERR_WIN,
        Kind::Base => consts::ERR_BASE,
        Kind::Size => consts::ERR_SIZE,
        Kind::Disp => consts::ERR_DISP,
        Kind::LockType => consts::ERR_LOCKTYPE,
        Kind::Assert => consts::ERR_ASSERT,
        Kind::RmaConflict => consts::ERR_RMA_CONFLICT,
        Kind::RmaSync => consts::ERR_RMA_SYNC,
        Kind::RmaRange => consts::ERR_RMA_RANGE,
        Kind::RmaAttach => consts::ERR_RMA_ATTACH,
        Kind::RmaShared => consts::ERR_RMA_SHARED,
        Kind::RmaFlavor => consts::ERR_RMA_FLAVOR,
        Kind::File => consts::ERR_FILE,
        Kind::Access => consts::ERR_ACCESS,
        Kind::Amode => consts::ERR_AMODE,
        Kind::BadFile => consts::ERR_BAD_FILE,
        Kind::Conversion => consts::ERR_CONVERSION,
        Kind::DupDatarep => consts::ERR_DUP_DATAREP,
        Kind::FileExists => consts::ERR_FILE_EXISTS,
        Kind::FileInUse => consts::ERR_FILE_IN_USE,
        Kind::Io => consts::ERR_IO,
        Kind::NoSpace => consts::ERR_NO_SPACE,
        Kind::NoSuchFile => consts::ERR_NO_SUCH_FILE,
        Kind::Quota => consts::ERR_QUOTA,
        Kind::ReadOnly => consts::ERR_READ_ONLY,
        Kind::UnsupportedDatarep => consts::ERR_UNSUPPORTED_DATAREP,
        Kind::Abi => consts::ERR_ABI,
        Kind::Code(code) => class_of(code).unwrap_or(consts::ERR_OTHER),
    }
}

/// A code for an error that a status carries.
pub(crate) fn code_of(error: &Error) -> c_int {
    code_for(error, error.text())
}

/// A code for an error of the library, under which its text is kept.
fn code_for(error: &Error, text: &str) -> c_int {
    let class = match error.kind() {
        Kind::Code(code) => return code,
        // Programs compare these with the code itself.
        Kind::InStatus | Kind::Pending => return class(error.kind()),
        Kind::ProcFailed | Kind::ProcFailedPending | Kind::Revoked => return class(error.kind()),
        kind => class(kind),
    };
    let mut t = texts();
    t.last = t.last % ROUND + 1;
    if t.last == TOOL_ROUND {
        t.last += 1;
    }
    let code = CLASSES * t.last + class;
    t.texts.retain(|&c, _| c / CLASSES != code / CLASSES);
    t.texts.insert(code, text.to_owned());
    code
}

/// The class of a code; `None` if it is not one.
pub(crate) fn class_of(code: c_int) -> Option<c_int> {
    if let Some(class) = added::class_of(code) {
        return Some(class);
    }
    if names::class_name(code).is_some() {
        return Some(code);
    }
    let class = code % CLASSES;
    (CLASSES..=consts::ERR_LASTCODE)
        .contains(&code)
        .then_some(class)
        .filter(|c| names::class_name(*c).is_some())
}

/// The program has asked what a code means.
pub(crate) fn looked_at(code: c_int) {
    if unseen::has(code) && !checked::asks() {
        unseen::looked_at(code);
    }
}

/// The text of a code.
pub(crate) fn text_of(code: c_int) -> Option<Vec<u8>> {
    if let Some(text) = added::text_of(code) {
        return Some(text);
    }
    if names::class_name(code).is_some() {
        return Some(describe(code).into());
    }
    let text = texts().texts.get(&code).cloned();
    let class = class_of(code)?;
    let class = describe(class);
    Some(
        text.map_or(class.clone(), |text| format!("{class}: {text}"))
            .into(),
    )
}

/// The text of a code for a message; what is not UTF-8 is replaced.
pub(crate) fn shown(code: c_int) -> String {
    match text_of(code) {
        Some(text) => String::from_utf8_lossy(&text).into_owned(),
        None => format!("error {code}"),
    }
}

fn describe(class: c_int) -> String {
    let name = names::class_name(class).unwrap_or("unknown error class");
    format!("{name}: {}", names::class_text(class).unwrap_or("unknown"))
}

/// The class of an error, as a code that has no text of its own.
fn class_alone(error: &Error) -> c_int {
    match error.kind() {
        Kind::Code(code) => code,
        kind => class(kind),
    }
}

/// Reports an error of `function` to the handler of `on`, and returns the code
/// that the function returns, if the handler lets it. The handler may jump out of the call
/// (`longjmp`), so nobody above may have anything left to drop.
#[cold]
#[inline(never)]
pub(crate) fn raise(function: &'static str, on: On, error: Error) -> c_int {
    if checked::asks() {
        // What a tool asks in vain is nothing that a handler of the program may hear of.
        return class_alone(&error);
    }
    let on = error.place().map_or(on, On::Object);
    let text = format!("{function}: {}", error.text());
    let code = code_for(&error, &format!("{text}{}", which_window(on)));
    if error.kind() == Kind::ProcFailed
        && let Ok(process) = enter()
    {
        // A call that a dead process makes fail waits for nothing, so a program that repeats it
        // until the communicator is revoked would never hear of that.
        process.progress();
    }
    drop(error);
    call_handler(on, code, text)
}

/// The window that an error belongs to, as the end of a sentence: a program has many, and the code
/// alone does not tell which.
fn which_window(on: On) -> String {
    let On::Object(place) = on else {
        return String::new();
    };
    match handler_at(place) {
        Some(raised) if place.target == Target::Win => raised.place,
        _ => String::new(),
    }
}

/// Calls the handler of `on` with `code`, as `MPI_Comm_call_errhandler` does.
pub(crate) fn call_handler(on: On, code: c_int, text: String) -> c_int {
    let Raised {
        handler,
        handle,
        place,
    } = handler_of(on);
    let class = class_of(code)
        .and_then(names::class_name)
        .unwrap_or("error of the program");
    checked::raised(code);
    match *handler {
        Errhandler::Return | Errhandler::Throw => {
            if let On::Object(place) = on
                && place.target == Target::File
            {
                unseen::note(abi::File(handle), code, &text);
            }
        }
        Errhandler::User { function, .. } => {
            let (mut handle, mut code) = (handle, code);
            // What it jumps over would never be dropped.
            drop((handler, place, text));
            function.call_at_end(|f| f(&raw mut handle, &raw mut code));
            // It is the code that the call returns (MPI-5, 9.3.1).
            return code;
        }
        Errhandler::Layer {
            function,
            ref state,
            ..
        } => {
            drop((place, text));
            let state = state.value();
            return function.call_at_end(|f| f(handle, code, state));
        }
        Errhandler::Fatal | Errhandler::Abort => {
            let from = checked::place();
            init::abort(
                code_for_exit(code),
                &format!("{class}: {text}{place}{from}"),
            );
        }
    }
    code
}

/// Exit status for an error that ends the job.
fn code_for_exit(code: c_int) -> c_int {
    class_of(code).unwrap_or(1).clamp(1, 125)
}

/// An error handler and what it is called for.
struct Raised {
    handler: ErrhandlerRef,
    /// The handle that it is given.
    handle: usize,
    /// What people call it, as the end of a sentence.
    place: String,
}

fn handler_of(on: On) -> Raised {
    let found = match on {
        On::Object(place) => handler_at(place),
        On::New(handler) => {
            let found = any_time().errhandlers.find(handler);
            found.ok().map(Raised::on_new)
        }
        On::Nothing => None,
    };
    found.unwrap_or_else(default_handler)
}

/// Enters the library for a call about the error handler of an object: any thread may ask for that
/// of a session at any time.
pub(crate) fn enter_for(place: ErrorPlace) -> Entered<Objects> {
    match place.target {
        Target::Session => look(),
        Target::Comm | Target::File | Target::Win => enter_any(),
    }
}

fn handler_at(place: ErrorPlace) -> Option<Raised> {
    let objects = enter_for(place);
    let object = objects.errhandlers.holder(place).ok()?;
    let handler = object.errhandler().borrow().clone();
    Some(Raised {
        handler,
        handle: place.handle,
        place: format!(" (on {}{})", object.called(), members(place)),
    })
}

/// Which ranks of the job a communicator has, where it counts them otherwise: errors tell of its
/// own.
fn members(place: ErrorPlace) -> String {
    let told = || {
        let process = enter().ok()?;
        let comm = process.comms.find(abi::Comm(place.handle)).ok()?;
        needs::members_in_words(&process, comm)
    };
    let told = (place.target == Target::Comm).then(told).flatten();
    told.map_or(String::new(), |it| format!(", which has {it} of the job"))
}

/// That of errors that belong to nothing, which any thread may cause at any time: the one of
/// `MPI_COMM_SELF`.
fn default_handler() -> Raised {
    let process = look_at_process().filter(|process| process.world_model().is_ok());
    let Some(process) = process else {
        return initial_handler();
    };
    // Programs older than MPI-4 set the handler of the world only, which was
    // the right one for these errors then.
    let own = &process.comms.own;
    let (handle, comm) = match **own.errhandler.borrow() {
        Errhandler::Fatal => (consts::COMM_WORLD, &process.comms.world),
        _ => (consts::COMM_SELF, own),
    };
    let handler = comm.errhandler.borrow().clone();
    Raised {
        handler,
        handle: handle.0,
        place: format!(" (on {})", comm.called()),
    }
}

/// Outside of the world model the initial handler rules (MPI-5, 11.3.2).
fn initial_handler() -> Raised {
    let handler = any_time().errhandlers.find(errhandler::initial());
    Raised {
        handler: handler.expect("predefined"),
        handle: consts::COMM_SELF.0,
        place: String::new(),
    }
}

impl Raised {
    /// For an object that was to have this handler and could not be made.
    fn on_new(handler: ErrhandlerRef) -> Self {
        let target = match *handler {
            Errhandler::User { on, .. } | Errhandler::Layer { on, .. } => on,
            _ => Target::Comm,
        };
        Raised {
            handler,
            handle: target.null(),
            place: String::new(),
        }
    }
}

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
use catena_core::errhandler::{self, Errhandler};
use catena_core::{Error, Kind, enter, enter_any, init};

use crate::added;

/// The object that a call was made on.
#[derive(Clone, Copy, Debug)]
pub(crate) enum On {
    /// None with an error handler.
    Nothing,
    /// A communicator, if the handle is good.
    Comm(abi::Comm),
}

impl From<abi::Comm> for On {
    fn from(comm: abi::Comm) -> Self {
        On::Comm(comm)
    }
}

impl From<*mut abi::Comm> for On {
    fn from(comm: *mut abi::Comm) -> Self {
        // SAFETY: a pointer argument of the program, null or good.
        unsafe { comm.as_ref() }.map_or(On::Nothing, |&comm| On::Comm(comm))
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
        Kind::ValueTooLarge => consts::ERR_VALUE_TOO_LARGE,
        Kind::Unsupported => consts::ERR_UNSUPPORTED_OPERATION,
        Kind::Win => consts::ERR_WIN,
        Kind::File => consts::ERR_FILE,
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
        // Programs compare these two with the code itself.
        Kind::InStatus | Kind::Pending => return class(error.kind()),
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

/// The text of a code.
pub(crate) fn text_of(code: c_int) -> Option<String> {
    if let Some(text) = added::text_of(code) {
        return Some(text);
    }
    if names::class_name(code).is_some() {
        return Some(describe(code));
    }
    let text = texts().texts.get(&code).cloned();
    let class = class_of(code)?;
    Some(match text {
        Some(text) => format!("{}: {text}", describe(class)),
        None => describe(class),
    })
}

fn describe(class: c_int) -> String {
    let name = names::class_name(class).unwrap_or("unknown error class");
    format!("{name}: {}", names::class_text(class).unwrap_or("unknown"))
}

/// Reports an error of `function` to the handler of `on`, and returns the code
/// that the function returns, if the handler lets it.
#[cold]
#[inline(never)]
pub(crate) fn raise(function: &'static str, on: On, error: &Error) -> c_int {
    let on = error.comm().map_or(on, On::Comm);
    let text = format!("{function}: {}", error.text());
    let code = code_for(error, &text);
    call_handler(on, code, &text)
}

/// Calls the handler of `on` with `code`, as `MPI_Comm_call_errhandler` does.
pub(crate) fn call_handler(on: On, code: c_int, text: &str) -> c_int {
    let (handler, comm) = handler_of(on);
    let class = class_of(code)
        .and_then(names::class_name)
        .unwrap_or("error of the program");
    match handler.as_deref() {
        Some(Errhandler::Return) => {}
        Some(&Errhandler::User { function, .. }) => {
            let (mut comm, mut code) = (comm, code);
            // SAFETY: the program registered this address as such a function;
            // what it may take beyond the two arguments is never passed.
            let function: extern "C" fn(*mut abi::Comm, *mut c_int) =
                unsafe { std::mem::transmute(function) };
            function(&raw mut comm, &raw mut code);
        }
        Some(Errhandler::Fatal | Errhandler::Abort) => {
            let place = name_of(comm)
                .map(|name| format!(" (on {name})"))
                .unwrap_or_default();
            init::abort(code_for_exit(code), &format!("{class}: {text}{place}"));
        }
        // Before MPI_Init and after MPI_Finalize there is no communicator.
        None => init::abort(code_for_exit(code), &format!("{class}: {text}")),
    }
    code
}

/// Exit status for an error that ends the job.
fn code_for_exit(code: c_int) -> c_int {
    class_of(code).unwrap_or(1).clamp(1, 125)
}

fn handler_of(on: On) -> (Option<catena_core::errhandler::ErrhandlerRef>, abi::Comm) {
    let Ok(world) = enter() else {
        return (initial_handler(), consts::COMM_SELF);
    };
    let comm = match on {
        On::Comm(comm) if world.comm_ref(comm).is_ok() => comm,
        // Programs older than MPI-4 set the handler of the world only, which
        // was the right one for these errors then.
        _ if **world.own.errhandler.borrow() == Errhandler::Fatal => consts::COMM_WORLD,
        _ => consts::COMM_SELF,
    };
    let handler = world
        .comm_ref(comm)
        .ok()
        .map(|c| c.errhandler.borrow().clone());
    (handler, comm)
}

/// Outside of the world model the initial handler rules (MPI-5, 11.3.2).
fn initial_handler() -> Option<catena_core::errhandler::ErrhandlerRef> {
    enter_any().errhandler(errhandler::initial()).ok()
}

/// What people call a communicator; `None` outside of the world model.
fn name_of(comm: abi::Comm) -> Option<String> {
    let w = enter().ok()?;
    let name = w.comm_ref(comm).ok()?.name.borrow().clone();
    Some(if name.is_empty() {
        format!("communicator {:#x}", comm.0)
    } else {
        name
    })
}

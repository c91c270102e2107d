//! Objects of the program: what was made, what was given back, and what is left at the end.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use catena_abi::{Comm, Datatype, consts};

use crate::call::{Args, Class, Direction, Means, number};
use crate::contents::PREDEFINED;
use crate::leaves;
use crate::site::Site;
use crate::tell::{Finding, Kind};
use crate::threads;
use crate::types;

/// Most handles of objects that are gone that are remembered.
const GONE: usize = 4096;

/// Functions that tell a handle which nobody has to give back.
const LENT: [u16; 17] = [
    number::Comm_get_parent,
    number::Type_create_f90_complex,
    number::Type_create_f90_integer,
    number::Type_create_f90_real,
    number::Type_match_size,
    number::Type_get_value_index,
    number::Type_get_contents,
    number::Type_get_contents_c,
    number::File_get_view,
    number::Comm_get_errhandler,
    number::Errhandler_get,
    number::Win_get_errhandler,
    number::File_get_errhandler,
    number::Session_get_errhandler,
    // They tell the handle when their request is complete.
    number::Comm_idup,
    number::Comm_idup_with_info,
    number::MPIX_Comm_ishrink,
];

#[derive(Default)]
struct Objects {
    /// Where each was made; several where a handle was told more than once.
    live: HashMap<(Class, usize), Vec<Site>>,
    /// How many more handles than were made are told of each, which may be given back or not.
    lent: HashMap<(Class, usize), usize>,
    /// Where each was made and given back.
    gone: HashMap<(Class, usize), (Site, Site)>,
    /// The session that each comes from, if it comes from one.
    from: HashMap<(Class, usize), usize>,
}

static OBJECTS: Mutex<Option<Objects>> = Mutex::new(None);

fn with<T>(f: impl FnOnce(&mut Objects) -> T) -> T {
    let mut objects = OBJECTS.lock().unwrap_or_else(PoisonError::into_inner);
    f(objects.get_or_insert_default())
}

/// Whether a handle is one that the library knows for sure: a predefined one, or one that a call
/// has told and that was not given back.
pub fn is_good(class: Class, handle: usize) -> bool {
    if handle < PREDEFINED {
        return match class {
            Class::Comm => [consts::COMM_WORLD, consts::COMM_SELF].contains(&Comm(handle)),
            Class::Type => {
                Datatype(handle) != consts::DATATYPE_NULL && Datatype(handle).name().is_some()
            }
            _ => false,
        };
    }
    with(|objects| objects.live.contains_key(&(class, handle)))
}

/// Whether there are objects of a class.
pub fn has(class: Class) -> bool {
    with(|objects| objects.live.keys().any(|(it, _)| *it == class))
}

/// Where an object was made, of those that live.
pub fn made(class: Class, handle: usize) -> Option<Site> {
    with(|objects| objects.live.get(&(class, handle))?.last().cloned())
}

/// Handles that a call is given of objects that are gone: a finding for each.
pub fn before(args: &Args, site: impl Fn() -> Site) -> Vec<Finding> {
    let mut found = Vec::new();
    for (at, arg) in args.call.args.iter().enumerate() {
        let Means::Handle(class) = arg.means else {
            continue;
        };
        if class == Class::Request || arg.length != crate::call::Length::One {
            continue;
        }
        let handle = match (arg.direction, arg.is_pointer) {
            (Direction::Out, _) => continue,
            (_, false) => args.word(at),
            // SAFETY: a place of a handle, or null.
            (_, true) => unsafe { args.at::<usize>(at) }.unwrap_or(0),
        };
        // A reduction that is pending has its type, which it gives to the function of its
        // operation.
        let is_lent = class == Class::Type && threads::is_in_callback();
        if handle < PREDEFINED || is_lent {
            continue;
        }
        let gone = with(|objects| {
            let key = (class, handle);
            match objects.live.contains_key(&key) {
                true => None,
                false => objects.gone.get(&key).cloned(),
            }
        });
        if let Some((made, freed)) = gone {
            let text = format!(
                "the argument {} is the handle of {} that is gone",
                arg.name,
                words(class)
            );
            let finding = Finding::error(Kind::Handle, site(), text);
            let finding = finding.besides("it was given back by", &freed);
            found.push(finding.besides("it was made by", &made).remedy(
                "give the object back after its last use; a copy of the handle is of no use then",
            ));
        }
    }
    found
}

/// What a call was given, for [`after`].
#[derive(Debug, Default)]
pub struct Before {
    given: Vec<(Class, usize, usize)>,
}

/// Handles that a call may give back.
pub fn given(args: &Args) -> Before {
    let mut before = Before::default();
    for (at, arg) in args.call.args.iter().enumerate() {
        if let Means::Handle(class) = arg.means
            && class != Class::Request
            && arg.direction == Direction::InOut
            && arg.length == crate::call::Length::One
        {
            // SAFETY: a place of a handle, or null.
            let handle = unsafe { args.at::<usize>(at) };
            before.given.push((class, at, handle.unwrap_or(0)));
        }
    }
    before
}

/// Notes what a call has given back; one that fails may have done that, as `MPI_Mrecv` of a message
/// that is too long.
pub fn given_back(args: &Args, before: &Before, site: &impl Fn() -> Site) {
    for &(class, at, was) in &before.given {
        // SAFETY: a place of a handle, or null: it was read there before.
        let is = unsafe { args.at::<usize>(at) }.unwrap_or(was);
        if was >= PREDEFINED && is < PREDEFINED {
            gone(class, was, site);
            if class == Class::Session {
                end_session(was, site);
            }
        }
    }
}

/// Notes what a call that has succeeded has made and given back.
pub fn after(args: &Args, before: &Before, site: impl Fn() -> Site) {
    given_back(args, before, &site);
    if LENT.contains(&args.number) {
        lend(args);
        return;
    }
    let session = session_of(args);
    for (at, arg) in args.call.args.iter().enumerate() {
        if let Means::Handle(class) = arg.means
            && class != Class::Request
            && arg.direction == Direction::Out
            && arg.length == crate::call::Length::One
        {
            // SAFETY: a place of a handle, as the call has succeeded.
            let handle = unsafe { args.at::<usize>(at) }.unwrap_or(0);
            if handle >= PREDEFINED {
                new(class, handle, site());
                if let Some(session) = session.filter(|_| BY_SESSION.contains(&class)) {
                    with(|objects| objects.from.insert((class, handle), session));
                }
            }
        }
    }
}

/// Classes of objects that `MPI_Session_finalize` gives back (MPI-5, 11.3.1).
const BY_SESSION: [Class; 4] = [Class::Comm, Class::Group, Class::Win, Class::File];

/// The session that what a call makes comes from: that which it is given, or that of what it is
/// given.
fn session_of(args: &Args) -> Option<usize> {
    let given = args.call.args.iter().enumerate().filter_map(|(at, arg)| {
        let Means::Handle(class) = arg.means else {
            return None;
        };
        let is_given = arg.direction != Direction::Out && !arg.is_pointer;
        is_given.then(|| (class, args.word(at)))
    });
    let given: Vec<_> = given.collect();
    with(|objects| {
        let mut sessions = given.iter().filter_map(|key| match key {
            (Class::Session, session) => Some(*session),
            key => objects.from.get(key).copied(),
        });
        sessions.next()
    })
}

/// A session has ended, which has given back what it has left.
fn end_session(session: usize, site: &impl Fn() -> Site) {
    let left: Vec<_> = with(|objects| {
        let left = objects.from.iter().filter(|(_, of)| **of == session);
        left.map(|(&key, _)| key).collect()
    });
    for (class, handle) in left {
        gone(class, handle, site);
    }
}

/// Notes an error handler of which a call has told one more handle: each may be given back, the one
/// that it was made with, too, and the object lives on as long as it is attached.
fn lend(args: &Args) {
    for (at, arg) in args.call.args.iter().enumerate() {
        if let Means::Handle(class @ Class::Errhandler) = arg.means
            && arg.direction == Direction::Out
        {
            // SAFETY: a place of a handle, as the call has succeeded.
            let handle = unsafe { args.at::<usize>(at) }.unwrap_or(0);
            if handle >= PREDEFINED {
                with(|objects| {
                    objects.gone.remove(&(class, handle));
                    *objects.lent.entry((class, handle)).or_default() += 1;
                });
            }
        }
    }
}

/// Notes an object that a call has made.
pub fn new(class: Class, handle: usize, site: Site) {
    if class == Class::Type {
        forget(Datatype(handle));
    }
    with(|objects| {
        objects.gone.remove(&(class, handle));
        objects.lent.remove(&(class, handle));
        objects.from.remove(&(class, handle));
        objects.live.entry((class, handle)).or_default().push(site);
    });
}

fn gone(class: Class, handle: usize, site: &impl Fn() -> Site) {
    with(|objects| {
        let key = (class, handle);
        if let Some(lent) = objects.lent.get_mut(&key).filter(|lent| **lent > 0) {
            *lent -= 1;
            return;
        }
        let Some(sites) = objects.live.get_mut(&key) else {
            return;
        };
        let made = sites.pop();
        if sites.is_empty() {
            objects.live.remove(&key);
            objects.from.remove(&key);
            if objects.gone.len() >= GONE {
                objects.gone.clear();
            }
            if let Some(made) = made {
                objects.gone.insert(key, (made, site()));
            }
        }
    });
    if class == Class::Type {
        forget(Datatype(handle));
    }
}

/// Notes that a call has succeeded which is not looked at: what it has made may have the handle of
/// something that is gone, and a type of its own bytes.
pub fn passed(args: &Args) {
    for (at, arg) in args.call.args.iter().enumerate() {
        if let Means::Handle(class) = arg.means
            && arg.direction == Direction::Out
            && arg.length == crate::call::Length::One
        {
            // SAFETY: a place of a handle, as the call has succeeded.
            let handle = unsafe { args.at::<usize>(at) }.unwrap_or(0);
            with(|objects| objects.gone.remove(&(class, handle)));
            if class == Class::Type {
                forget(Datatype(handle));
            }
        }
    }
}

fn forget(ty: Datatype) {
    types::forget(ty);
    leaves::forget(ty);
}

/// Whether objects of a class may be given back when MPI has ended (MPI-5, 11.4.1).
pub fn outlives(class: Class) -> bool {
    matches!(class, Class::Info | Class::Errhandler)
}

/// What is left of these classes at their end: a finding for each place of the program.
pub fn left(of: impl Fn(Class) -> bool) -> Vec<Finding> {
    let live = with(|objects| {
        let live = objects.live.extract_if(|(class, _), _| of(*class));
        live.collect::<Vec<_>>()
    });
    let mut places: HashMap<_, (Class, Site, usize)> = HashMap::new();
    for ((class, _), sites) in live {
        for site in sites {
            let place = places.entry((class, site.key()));
            place.or_insert((class, site, 0)).2 += 1;
        }
    }
    let mut found: Vec<_> = places.into_values().collect();
    found.sort_by_key(|(class, site, _)| (*class as u32, site.key()));
    found
        .into_iter()
        .map(|(class, site, count)| {
            let text = match count {
                1 => format!("{} that was made here is never given back", words(class)),
                n => format!(
                    "{n} {} that were made here are never given back",
                    plural(class)
                ),
            };
            Finding::warning(Kind::Leak, site, text).remedy(remedy(class))
        })
        .collect()
}

fn words(class: Class) -> &'static str {
    match class {
        Class::Comm => "a communicator",
        Class::Type => "a datatype",
        Class::Op => "an operation",
        Class::Group => "a group",
        Class::Info => "an info object",
        Class::Win => "a window",
        Class::File => "a file",
        Class::Request => "a request",
        Class::Errhandler => "an error handler",
        Class::Session => "a session",
        Class::Message => "a matched message",
    }
}

fn plural(class: Class) -> &'static str {
    match class {
        Class::Comm => "communicators",
        Class::Type => "datatypes",
        Class::Op => "operations",
        Class::Group => "groups",
        Class::Info => "info objects",
        Class::Win => "windows",
        Class::File => "files",
        Class::Request => "requests",
        Class::Errhandler => "error handlers",
        Class::Session => "sessions",
        Class::Message => "matched messages",
    }
}

fn remedy(class: Class) -> &'static str {
    match class {
        Class::Comm => "call MPI_Comm_free, or MPI_Comm_disconnect, before MPI_Finalize",
        Class::Type => "call MPI_Type_free when it is not needed any more",
        Class::Op => "call MPI_Op_free when it is not needed any more",
        Class::Group => "call MPI_Group_free when it is not needed any more",
        Class::Info => "call MPI_Info_free when it is not needed any more",
        Class::Win => "call MPI_Win_free on all its ranks before MPI_Finalize",
        Class::File => {
            "call MPI_File_close on all its ranks: what was written may be lost otherwise"
        }
        Class::Request => "complete it, as by MPI_Wait",
        Class::Errhandler => "call MPI_Errhandler_free when it is attached where it is needed",
        Class::Session => "call MPI_Session_finalize",
        Class::Message => "receive it by MPI_Mrecv or MPI_Imrecv",
    }
}

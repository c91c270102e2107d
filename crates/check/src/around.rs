//! A call of a function: what is looked at before the library's own function, and after it.

use std::ffi::c_int;

use catena_abi::consts;

use crate::buffers::Trust;
use crate::call::{Args, Class, Direction, Length, Means, is_quick};
use crate::collectives::Collective;
use crate::guard::{Inside, is_inside};
use crate::jumped::{self, UnderWay};
use crate::next::{From, Next};
use crate::site::{self, Site};
use crate::{
    bounds, buffers, differ, life, objects, overlaps, profiled, refused, requests, returned, tell,
    threads, variables, windows,
};

/// A call of a function that only asks: of it the thread and the handles are looked at.
fn ask(args: Args, next: &Next, caller: usize, top: usize) -> c_int {
    let here = || Site::in_full(args.call.name);
    let inside = Inside::enter();
    end_left(top);
    let (calling, finding) = threads::Calling::enter(args.number, here);
    let mut found = objects::before(&args, here);
    found.extend(finding);
    if !found.is_empty() {
        tell::tell(found);
    }
    jumped::enter(UnderWay {
        top,
        caller,
        args: args.clone(),
        code: 0,
        waited: requests::Before::default(),
        _calling: calling,
        _collective: None,
    });
    drop(inside);
    let code = next.call(&args);
    let inside = Inside::enter();
    drop(jumped::leave(top));
    if code != 0 && life::is_going_on() {
        tell::tell(refused::find(code, here).into_iter().collect());
    }
    drop(inside);
    code
}

/// Ends what this thread has left without a return: such a call has failed, and has completed the
/// requests that it was given, as far as can be known. Others may still be in an exchange that
/// belongs to it, so this rank takes part in that now.
fn end_left(top: usize) {
    for call in jumped::left(top) {
        let args = &call.args;
        let here = || Site::new(args.call, call.caller);
        let code = if call.code == 0 {
            consts::ERR_OTHER
        } else {
            call.code
        };
        let mut found = requests::after(args, code, &call.waited, here);
        if life::is_going_on() {
            found.extend(windows::failed(args, code, call.waited.last, here));
        }
        tell::tell(found);
    }
}

/// The library is about to call the error handler of the program.
// SAFETY: no other library has names that begin with catena_.
#[unsafe(no_mangle)]
extern "C" fn catena_check_raised(code: c_int) {
    if !is_inside() {
        jumped::failed(code);
    }
}

/// A call of a function: looks at it before and after the library's own. It returns to `caller`,
/// and the caller's part of the stack begins at `top`.
pub fn around(mut args: Args, from: From, caller: usize, top: usize) -> c_int {
    // The loader may allocate when it is asked the first time.
    let inside = Inside::enter();
    let next = Next::of(args.number, from);
    drop(inside);
    let Some(next) = next else {
        return consts::ERR_UNSUPPORTED_OPERATION;
    };
    if !next.is_standard || is_inside() {
        return next.call(&args);
    }
    if from == From::Profiled && profiled::is_part_of_another(&args, caller, top) {
        let code = next.call(&args);
        if code == 0 {
            let _inside = Inside::enter();
            objects::passed(&args);
        }
        return code;
    }
    if is_quick(args.number) {
        return ask(args, &next, caller, top);
    }
    let call = args.call;
    let site = || Site::new(call, caller);
    let here = || Site::in_full(site::name(call, caller));

    let inside = Inside::enter();
    end_left(top);
    // What the call has allocated is dropped first, while the thread is known to be in it.
    let under_way;
    let (calling, finding) = threads::Calling::enter(args.number, here);
    let mut found: Vec<_> = finding.into_iter().collect();
    let collective = threads::are_many().then(|| Collective::enter(&args, site));
    let (collective, finding) = collective.flatten().unzip();
    found.extend(finding.flatten());
    let is_going_on = life::is_going_on();
    let uses = match is_going_on {
        true => buffers::of(&args, Trust::Known),
        false => Vec::new(),
    };
    found.extend(objects::before(&args, here));
    let mut memory = bounds::find(&uses, here);
    if memory.is_empty() && is_going_on {
        memory = variables::find(&uses, caller, here);
    }
    // What is too long overlaps with something else as well.
    if memory.is_empty() {
        memory = overlaps::find(&args, &uses, caller, here);
    }
    found.extend(memory);
    found.extend(returned::find(top, here));
    let given = objects::given(&args);
    let waited = requests::before(&args);
    life::begin(&args);
    let states = requests::wrong(&args, &waited, here);
    // What the library itself refuses, it tells.
    let mut allowed = windows::before(&args, here);
    found.extend(windows::free(&args, here));
    let shadow = windows::shadow(&mut args, &uses);
    tell::tell(found);
    jumped::enter(UnderWay {
        top,
        caller,
        args: args.clone(),
        code: 0,
        waited,
        _collective: collective,
        _calling: calling,
    });
    drop(inside);

    let code = next.call(&args);

    let _inside = Inside::enter();
    under_way = jumped::leave(top);
    let waited = under_way.as_ref().map(|it| &it.waited);
    let nothing = requests::Before::default();
    let waited = waited.unwrap_or(&nothing);
    let mut found = differ::find(here);
    found.extend(requests::after(&args, code, waited, here));
    // Of a request, more is known here than the library says.
    let has_states = !states.is_empty();
    found.extend(states);
    if code == 0 {
        found.append(&mut allowed);
        objects::after(&args, &given, site);
        found.extend(windows::after(&args, (&uses, shadow), waited.last, site));
        if let Some(place) = request(&args) {
            // A library between the program and MPI may have made the datatype.
            let uses = match uses.is_empty() {
                true => buffers::of(&args, Trust::All),
                false => uses,
            };
            requests::made(&args, place, uses, (windows::owner(&args), site()));
        }
        found.extend(life::after(&args));
    } else if is_going_on && life::is_going_on() {
        objects::given_back(&args, &given, &site);
        found.extend(windows::failed(&args, code, waited.last, site));
        if !has_states {
            found.extend(refused::find(code, here));
        }
    }
    tell::tell(found);
    code
}

/// Where in the program the call stands that the library is about to raise an error of: writes it,
/// at most `room` bytes, and tells how many it has written.
// SAFETY: no other library has names that begin with catena_.
#[unsafe(no_mangle)]
unsafe extern "C" fn catena_check_place(to: *mut u8, room: usize) -> usize {
    let _inside = Inside::enter();
    let place = tell::place_in_full();
    let len = place.len().min(room);
    // SAFETY: the caller's promise.
    unsafe { std::ptr::copy_nonoverlapping(place.as_ptr(), to, len) };
    len
}

/// The place to which a call writes the handle of a request that it makes.
fn request(args: &Args) -> Option<usize> {
    let made = args.call.args.iter().position(|arg| {
        matches!(arg.means, Means::Handle(Class::Request))
            && arg.direction == Direction::Out
            && arg.length == Length::One
    });
    made.map(|at| args.word(at)).filter(|&place| place != 0)
}

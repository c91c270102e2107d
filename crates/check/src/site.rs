//! Where in the program a call stands.
//!
//! Most calls come straight from the program: then the address that the call returns to is all that
//! is kept of them. Others come through a library: that of Fortran, one with another MPI's ABI, or
//! what connects Python to MPI. There the addresses above are kept as well, and the line of Python.

use std::sync::Once;

use catena_tool::object::{is_direct, own};

use crate::call::Call;

/// Most addresses that are kept of a call through a library.
const KEPT: usize = 8;

/// Most addresses of the call that something is told of.
const TOLD: usize = 32;

/// A call that something may be told of later.
#[derive(Clone, Debug)]
pub struct Site {
    pub call: &'static str,
    frames: Frames,
}

#[derive(Clone, Debug)]
enum Frames {
    One(u64),
    Many(Box<(Vec<u64>, String)>),
}

impl Site {
    /// That of a call which is under way, and returns to `caller`. Cost: some nanoseconds, or some
    /// microseconds if it comes through a library.
    pub fn new(call: &'static Call, caller: usize) -> Site {
        let frames = match is_direct(caller) {
            true => Frames::One(caller as u64),
            false => Frames::many(KEPT),
        };
        Site {
            call: name(call, caller),
            frames,
        }
    }

    /// That of a call which is under way, with all that is above it.
    pub fn in_full(call: &'static str) -> Site {
        Site {
            call,
            frames: Frames::many(TOLD),
        }
    }

    /// That of a call of which nothing is told.
    pub fn unknown(call: &'static str) -> Site {
        Site {
            call,
            frames: Frames::One(0),
        }
    }

    /// The addresses that its calls return to, the innermost first.
    pub fn frames(&self) -> &[u64] {
        match &self.frames {
            Frames::One(caller) => std::slice::from_ref(caller),
            Frames::Many(many) => &many.0,
        }
    }

    /// The line of Python, in words, or nothing.
    pub fn python(&self) -> &str {
        match &self.frames {
            Frames::One(_) => "",
            Frames::Many(many) => &many.1,
        }
    }

    /// What tells it apart from others: the function and the nearest addresses.
    pub fn key(&self) -> (&'static str, u64, u64) {
        let sum = |frames: &[u64]| {
            let add = |sum: u64, &at: &u64| sum.rotate_left(7).wrapping_add(at);
            frames.iter().take(KEPT).fold(0, add)
        };
        let python = self.python().bytes().fold(0, |sum: u64, byte| {
            sum.rotate_left(5).wrapping_add(byte.into())
        });
        (self.call, sum(self.frames()), python)
    }
}

impl Frames {
    fn many(most: usize) -> Frames {
        // An interpreter is there before it calls MPI.
        static LOOK: Once = Once::new();
        LOOK.call_once(catena_trace::find_python);
        let own = own();
        let mut frames = catena_trace::frames(most + 8);
        frames.retain(|&at| !own.contains(&(at as usize)));
        frames.truncate(most);
        Frames::Many(Box::new((frames, catena_trace::python())))
    }
}

/// What the program calls a function that returns to `caller`: a library for another language has
/// one name for the function with counts of any size.
pub fn name(call: &'static Call, caller: usize) -> &'static str {
    let short = call.name.strip_suffix("_c");
    match short.filter(|_| !is_direct(caller)) {
        Some(short) => short,
        None => call.name,
    }
}

//! Where in the program a call stands.
//!
//! Most calls come straight from the program: then the address that the call returns to is the
//! place. Others come through a library, as that of Fortran or one with another MPI's ABI. There
//! the stack is unwound the first time, and it is noted how far up the address lies that returns
//! to the program: the functions between always take the same room, so later it is read there. A
//! program of Python is asked each time whether it is in a place that is known, which takes some
//! microseconds.

use std::ops::Range;

use catena_tool::{object, stack};

/// Most addresses of a call through a library.
const KEPT: usize = 10;

/// Most words of the stack between a call and the program.
const FAR: usize = 2048;

/// How the place is found of calls that return to one address of a library.
#[derive(Clone, Copy, Default)]
enum Way {
    /// It is not known.
    #[default]
    New,
    /// The address lies so many words above the caller's part of the stack.
    Above(u32),
    /// The line of Python.
    Python,
    /// By unwinding, each time.
    Unwound,
}

/// What a thread knows of places.
#[derive(Default)]
pub struct Sites {
    /// Ways by the address of the library, the last ones of those that share a place.
    ways: Box<[(usize, Way)]>,
    /// Places of a Python program and what tells their lines apart, the last ones of those that
    /// share a place here.
    lines: Box<[(u64, u64)]>,
    /// Numbers of places that were noted, by what tells them apart.
    places: Vec<(u64, u32)>,
    /// Where code lies.
    code: Vec<Range<u64>>,
}

/// A place.
pub struct Found {
    /// What tells it apart.
    pub site: u64,
    /// What is told of it: the addresses that the call returns to, and the line of Python.
    pub told: Option<(Vec<u64>, String)>,
}

impl Found {
    fn plain(site: u64) -> Found {
        Found { site, told: None }
    }
}

/// How many lines of Python are kept.
const LINES: usize = 1024;

/// How many ways are kept.
const WAYS: usize = 256;

impl Sites {
    /// The place of a call that returns to `caller`; the caller's part of the stack begins at
    /// `top`.
    #[inline]
    pub fn find(&mut self, caller: usize, top: usize) -> Found {
        match object::is_direct(caller) {
            true => Found::plain(caller as u64),
            false => self.find_behind(caller, top),
        }
    }

    /// The place of a call through a library.
    fn find_behind(&mut self, caller: usize, top: usize) -> Found {
        if self.ways.is_empty() {
            self.ways = vec![(0, Way::New); WAYS].into();
        }
        let known = &mut self.ways[(caller ^ caller >> 8) % WAYS];
        if known.0 != caller {
            *known = (caller, Way::New);
        }
        match known.1 {
            Way::Above(words) => {
                let at = top + words as usize * size_of::<usize>();
                if !is_on_stack(at, top, &stack::own()) {
                    // The functions between have taken more room than now.
                    known.1 = Way::Unwound;
                    return unwound(caller, top).1;
                }
                // SAFETY: of the stack of this thread.
                let address = unsafe { *(at as *const usize) };
                Found::plain(address as u64)
            }
            Way::Python => self.find_line(),
            Way::New | Way::Unwound => {
                let (way, found) = unwound(caller, top);
                if let Way::New = known.1 {
                    known.1 = way;
                }
                found
            }
        }
    }

    /// The place of a call of a Python program.
    fn find_line(&mut self) -> Found {
        let Some(place) = catena_trace::python_place() else {
            return by_line(Vec::new());
        };
        if self.lines.is_empty() {
            self.lines = vec![(0, 0); LINES].into();
        }
        let known = &mut self.lines[place as usize % LINES];
        if known.0 == place {
            return Found::plain(known.1);
        }
        let found = by_line(Vec::new());
        *known = (place, found.site);
        found
    }

    /// What is told of a place that is new, as it was found. A library whose functions take
    /// different room is unwound from now on.
    pub fn tell(&mut self, found: Found, caller: usize, top: usize) -> (u64, Vec<u64>, String) {
        if let Some((addresses, python)) = found.told {
            let addresses = match addresses.is_empty() && !python.is_empty() {
                true => addresses_above(),
                false => addresses,
            };
            return (found.site, addresses, python);
        }
        if object::is_direct(caller) {
            return (found.site, vec![found.site], String::new());
        }
        let addresses = addresses_above();
        let known = self.ways[(caller ^ caller >> 8) % WAYS];
        if let (true, Way::Python) = (known.0 == caller, known.1) {
            return (found.site, addresses, catena_trace::python());
        }
        if addresses.contains(&found.site) {
            return (found.site, addresses, String::new());
        }
        self.ways[(caller ^ caller >> 8) % WAYS] = (caller, Way::Unwound);
        let (_, found) = unwound(caller, top);
        let (addresses, python) = found.told.unwrap_or_default();
        (found.site, addresses, python)
    }

    /// The number of a place that was noted before.
    pub fn number(&self, site: u64) -> Option<u32> {
        let known = self.places.iter().find(|(of, _)| *of == site);
        known.map(|(_, number)| *number)
    }

    /// Notes the number of a place.
    pub fn set_number(&mut self, site: u64, number: u32) {
        self.places.push((site, number));
    }

    /// Whether one of the addresses lies in code that was not there before.
    pub fn is_unknown_code(&self, addresses: &[u64]) -> bool {
        let is_known = |at: &u64| self.code.iter().any(|it| it.contains(at));
        !addresses.iter().all(is_known)
    }

    /// Reads which code lies where: the lines of the process's map that name files.
    pub fn read_maps(&mut self) -> String {
        let text = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
        let is_code = |line: &&str| {
            let access = line.split(' ').nth(1).unwrap_or_default();
            access.contains('x') && (line.contains('/') || line.contains("[vdso]"))
        };
        let lines: Vec<_> = text.lines().filter(is_code).collect();
        let range = |line: &&str| {
            let (begin, end) = line.split(' ').next()?.split_once('-')?;
            let number = |digits| u64::from_str_radix(digits, 16).ok();
            Some(number(begin)?..number(end)?)
        };
        self.code = lines.iter().filter_map(range).collect();
        lines.join("\n") + "\n"
    }
}

/// Unwinds the stack of a call through a library: how its place is found from now on, and where it
/// is.
fn unwound(caller: usize, top: usize) -> (Way, Found) {
    let addresses = addresses_above();
    let own = addresses.iter().find(|&&at| object::is_direct(at as usize));
    let Some(&own) = own else {
        let told = Some((addresses, String::new()));
        let site = caller as u64;
        return (Way::Unwound, Found { site, told });
    };
    if is_python(own) {
        return (Way::Python, by_line(addresses));
    }
    let end = stack::own().end;
    let words = (end.saturating_sub(top) / size_of::<usize>()).min(FAR);
    // SAFETY: of the stack of this thread, where it lies on that.
    let at = |i: usize| unsafe { *(top as *const usize).add(i) } as u64;
    let is_on_stack = stack::own().contains(&top);
    let found = (0..words).filter(|_| is_on_stack).find(|&i| at(i) == own);
    let way = found.map_or(Way::Unwound, |words| Way::Above(words as u32));
    let told = Some((addresses, String::new()));
    (way, Found { site: own, told })
}

/// The place of a call of a Python program.
fn by_line(addresses: Vec<u64>) -> Found {
    let line = catena_trace::python();
    let add = |sum: u64, byte: u8| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    Found {
        site: line.bytes().fold(0xcbf2_9ce4_8422_2325, add),
        told: Some((addresses, line)),
    }
}

/// Whether the word at an address is of a stack, above a part of that.
fn is_on_stack(at: usize, top: usize, own: &Range<usize>) -> bool {
    own.contains(&top) && at >= top && at + size_of::<usize>() <= own.end
}

fn is_python(at: u64) -> bool {
    let name = object::object(at as usize);
    let file = name.rsplit('/').next().unwrap_or_default();
    file.starts_with("python") || file.starts_with("libpython")
}

/// The addresses that the call which is under way returns to, without those of this library. Cost:
/// some ten microseconds.
fn addresses_above() -> Vec<u64> {
    let own = object::own();
    let mut addresses = catena_trace::frames(KEPT + 8);
    addresses.retain(|&at| !own.contains(&(at as usize)));
    addresses.truncate(KEPT);
    addresses
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_read_beyond_the_stack() {
        let own = 1000..2000;
        assert!(is_on_stack(1992, 1500, &own) && is_on_stack(1500, 1500, &own));
        assert!(!is_on_stack(1993, 1500, &own) && !is_on_stack(5000, 1500, &own));
        assert!(!is_on_stack(1500, 500, &own), "another stack");
        assert!(!is_on_stack(1500, 1400, &(0..0)));
    }
}

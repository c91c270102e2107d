//! Which memory the process has, and whether it may be written.
//!
//! The kernel's list is read when an address is not found in the copy, or after memory was given
//! back; what is protected otherwise meanwhile is not noticed.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

/// Why memory cannot be used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Trouble {
    /// From this address on there is none, or none that may be read.
    Missing(usize),
    /// From this address on it may only be read.
    ReadOnly(usize),
}

#[derive(Clone, Copy, Debug)]
struct Part {
    begin: usize,
    end: usize,
    reads: bool,
    writes: bool,
}

#[derive(Default)]
struct Copy {
    parts: Vec<Part>,
    /// Whether addresses may be those of a device.
    has_device: bool,
}

static COPY: Mutex<Option<Copy>> = Mutex::new(None);
static STALE: AtomicBool = AtomicBool::new(true);

/// Notes that memory was given back.
pub fn changed() {
    STALE.store(true, Relaxed);
}

/// Why memory cannot be read, or written, if so. Cost: some ten nanoseconds, and some hundred
/// microseconds where the list has to be read.
pub fn trouble(first: usize, end: usize, writes: bool) -> Option<Trouble> {
    let mut copy = COPY.lock().unwrap_or_else(PoisonError::into_inner);
    let is_stale = STALE.swap(false, Relaxed);
    let copy = copy.get_or_insert_default();
    if is_stale {
        *copy = read();
    }
    let found = copy.look(first, end, writes);
    if found.is_none() || is_stale {
        return found.filter(|_| !copy.has_device);
    }
    *copy = read();
    let found = copy.look(first, end, writes);
    found.filter(|_| !copy.has_device)
}

/// Whether memory is there that the processor can read: not that of a device, as far as is known.
pub fn is_readable(first: usize, end: usize) -> bool {
    let trouble = trouble(first, end, false);
    let copy = COPY.lock().unwrap_or_else(PoisonError::into_inner);
    trouble.is_none() && !copy.as_ref().is_none_or(|it| it.has_device)
}

impl Copy {
    fn look(&self, first: usize, end: usize, writes: bool) -> Option<Trouble> {
        let mut at = first;
        let mut i = self.parts.partition_point(|it| it.end <= at);
        while at < end {
            let part = self.parts.get(i).filter(|it| it.begin <= at && it.reads);
            let Some(part) = part else {
                return Some(Trouble::Missing(at));
            };
            if writes && !part.writes {
                return Some(Trouble::ReadOnly(at));
            }
            at = part.end;
            i += 1;
        }
        None
    }
}

fn read() -> Copy {
    let text = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let mut copy = parse(&text);
    copy.has_device |= has_driver();
    copy
}

/// Whether the driver of CUDA is there, by the name by which the library looks for it.
fn has_driver() -> bool {
    // SAFETY: a name that ends; nothing is loaded, and what was opened is closed.
    unsafe {
        let found = libc::dlopen(
            c"libcuda.so.1".as_ptr(),
            libc::RTLD_LAZY | libc::RTLD_NOLOAD,
        );
        !found.is_null() && libc::dlclose(found) == 0
    }
}

/// Where the heap begins that grows as a whole; `None` if there is none.
pub fn heap() -> Option<usize> {
    let text = std::fs::read_to_string("/proc/self/maps").ok()?;
    let line = text.lines().find(|it| it.ends_with("[heap]"))?;
    usize::from_str_radix(line.split('-').next()?, 16).ok()
}

/// Parts of memory from lines such as `begin-end access offset device number path`. The stack may
/// grow, so it reaches down as far as it may.
fn parse(text: &str) -> Copy {
    let mut copy = Copy::default();
    for line in text.lines() {
        let part = || {
            let (begin, rest) = line.split_once('-')?;
            let (end, rest) = rest.split_once(' ')?;
            let number = |it| usize::from_str_radix(it, 16).ok();
            Some(Part {
                begin: number(begin)?,
                end: number(end)?,
                reads: rest.starts_with('r'),
                writes: rest[1..].starts_with('w'),
            })
        };
        copy.parts.extend(part());
        copy.has_device |= line.contains("libcuda.so") || line.contains("libamdhip64.so");
    }
    copy
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_or_protected_is_found() {
        let copy =
            parse("1000-2000 rw-p 0 00:00 0\n2000-3000 r--p 0 00:00 0\n4000-5000 ---p 0 00:00 0\n");
        assert_eq!(copy.look(0x1000, 0x3000, false), None);
        let found = copy.look(0x1800, 0x2800, true);
        assert_eq!(found, Some(Trouble::ReadOnly(0x2000)));
        assert_eq!(
            copy.look(0x2800, 0x3800, false),
            Some(Trouble::Missing(0x3000))
        );
        assert_eq!(
            copy.look(0x4000, 0x4001, false),
            Some(Trouble::Missing(0x4000))
        );
        assert_eq!(copy.look(0, 1, false), Some(Trouble::Missing(0)));
    }

    #[test]
    fn memory_of_this_process_is_there() {
        let local = [0_u8; 64];
        let at = local.as_ptr().addr();
        assert_eq!(trouble(at, at + 64, true), None);
        assert!(matches!(trouble(8, 16, false), Some(Trouble::Missing(8))));
        assert!(is_readable(at, at + 64) && !is_readable(8, 16));
    }
}

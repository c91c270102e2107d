//! Which line of a Python program the calling thread is in, if it runs one.
//!
//! A thread that waits in MPI has given up the interpreter's lock, and must not ask for it again:
//! who has it may wait for this thread. So the interpreter is not asked, but its memory is read:
//! the frames of this thread, which stay as they are until it goes on. What is read comes through
//! the kernel, which says so where there is no memory, and each object has to have the type that it
//! should have. So a layout that is not what it should be gives no line, and no fault.
//!
//! It works for CPython 3.9 to 3.14 as an executable or a shared library, on machines of 64 bits.
//! It gives nothing for builds without the interpreter's lock, for debug builds up to 3.12, for
//! PyPy and other interpreters, where the library was opened so that its names are not known to all
//! (`RTLD_LOCAL`), and where a filter forbids `process_vm_readv`. Functions that Cython has
//! compiled have no frames.

use std::ffi::{c_char, c_int, c_void};
use std::sync::atomic::{AtomicPtr, Ordering::Acquire, Ordering::Release};

mod layout;
mod memory;

use layout::{Begin, Layout};
use memory::{number, read, word};

/// Most bytes of a line in words.
pub const PYTHON_LINE: usize = 160;

/// Most frames that are looked at.
const FRAMES: usize = 64;

/// Most characters of a text, from its end.
const TEXT: usize = 128;

/// What of the interpreter is called: functions that only compute.
#[derive(Clone, Copy, Debug)]
struct Interpreter {
    thread: unsafe extern "C" fn() -> *mut c_void,
    line: unsafe extern "C" fn(*mut c_void, c_int) -> c_int,
    code_type: usize,
    text_type: usize,
    layout: Layout,
}

/// The interpreter, once it was found.
static FOUND: AtomicPtr<Interpreter> = AtomicPtr::new(std::ptr::null_mut());

/// Looks for a Python interpreter in this process, if none was found. For when the process begins:
/// it asks the loader, which may have to wait for a thread that loads something.
pub fn find_python() {
    if FOUND.load(Acquire).is_null()
        && let Some(found) = find()
    {
        FOUND.store(Box::into_raw(Box::new(found)), Release);
    }
}

/// Whether one was found.
pub(crate) fn is_there() -> bool {
    !FOUND.load(Acquire).is_null()
}

fn symbol(name: &std::ffi::CStr) -> Option<*mut c_void> {
    // SAFETY: a name that ends.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    (!found.is_null()).then_some(found)
}

fn find() -> Option<Interpreter> {
    let thread = symbol(c"PyGILState_GetThisThreadState")?;
    let line = symbol(c"PyCode_Addr2Line")?;
    let version = symbol(c"Py_GetVersion")?;
    // SAFETY: the interpreter's own declaration; a text that stays.
    let version = unsafe {
        let version: unsafe extern "C" fn() -> *const c_char = std::mem::transmute(version);
        std::ffi::CStr::from_ptr(version())
    };
    let layout = layout::of(version.to_str().ok()?, symbol(c"_PyRuntime"))?;
    Some(Interpreter {
        // SAFETY: the interpreter's own declarations.
        thread: unsafe {
            std::mem::transmute::<*mut c_void, unsafe extern "C" fn() -> *mut c_void>(thread)
        },
        // SAFETY: as above.
        line: unsafe {
            std::mem::transmute::<*mut c_void, unsafe extern "C" fn(*mut c_void, c_int) -> c_int>(
                line,
            )
        },
        code_type: symbol(c"PyCode_Type")?.addr(),
        text_type: symbol(c"PyUnicode_Type")?.addr(),
        layout,
    })
}

/// The line of a Python program that the calling thread is in: `script.py:12 in solve`. Lines of
/// mpi4py do not count, and those of other packages only where there is nothing else. Empty if the
/// thread runs no Python, or it cannot be told. An interpreter is known if it was there when
/// it was looked for ([`find_python`]). Cost: some ten microseconds.
pub fn python() -> String {
    let mut line = Text::<PYTHON_LINE>::default();
    write(&mut line);
    String::from_utf8_lossy(line.bytes()).into_owned()
}

/// A number that tells apart where in a Python program the calling thread is: two calls of this
/// with the same number are in the same line, called from the same line. `None` if the thread runs
/// no Python, or it cannot be told. Cost: a call of the system for each of four reads, some two
/// microseconds.
pub fn python_place() -> Option<u64> {
    // SAFETY: null, or what `find_python` leaked.
    unsafe { FOUND.load(Acquire).as_ref() }?.place()
}

/// Writes that line. Safe in a handler of a signal.
pub(crate) fn write(to: &mut Text<PYTHON_LINE>) {
    // SAFETY: null, or what `find_python` leaked.
    if let Some(interpreter) = unsafe { FOUND.load(Acquire).as_ref() } {
        interpreter.write(to);
    }
}

impl Interpreter {
    /// The innermost frame of the calling thread.
    fn innermost(&self) -> Option<usize> {
        // SAFETY: without arguments; it reads a value of the calling thread.
        let thread = unsafe { (self.thread)() }.addr();
        let holder = match self.layout.holder {
            _ if thread == 0 => return None,
            Some(at) => word(thread, at)?,
            None => thread,
        };
        word(holder, self.layout.frame)
    }

    fn place(&self) -> Option<u64> {
        const LOOKED_AT: usize = 2;
        const LARGEST: usize = 128;
        let layout = &self.layout;
        let offsets = [layout.code, layout.instruction, layout.previous];
        let bytes = offsets.into_iter().max()? + size_of::<usize>();
        let mut place = 0_u64;
        let mut frame = self.innermost()?;
        for _ in 0..LOOKED_AT {
            // At once: each read is a call of the system.
            let mut copy = [0; LARGEST];
            read(frame, 0, copy.get_mut(..bytes)?)?;
            let word = |at: usize| {
                let word = copy[at..at + size_of::<usize>()].try_into();
                usize::from_ne_bytes(word.unwrap_or_default())
            };
            let instruction = match layout.begin {
                // It has 32 bits.
                Begin::Number(_) => word(layout.instruction) as u32 as usize,
                Begin::Code(_) => word(layout.instruction),
            };
            for part in [word(layout.code) & !3, instruction] {
                place = (place ^ part as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                place ^= place >> 29;
            }
            frame = word(layout.previous);
            if frame == 0 {
                break;
            }
        }
        Some(place)
    }

    fn write(&self, to: &mut Text<PYTHON_LINE>) {
        let layout = &self.layout;
        let mut frame = self.innermost();
        for _ in 0..FRAMES {
            let Some(at) = frame.filter(|&at| at != 0) else {
                return;
            };
            let is_done = self.write_frame(at, to);
            if is_done == Some(true) {
                return;
            }
            frame = word(at, layout.previous);
        }
    }

    /// Writes the line of a frame: whether it is the program's own; `None` if it has no line.
    fn write_frame(&self, frame: usize, to: &mut Text<PYTHON_LINE>) -> Option<bool> {
        let layout = &self.layout;
        if let Some(owner) = layout.owner {
            let mut kind = [0];
            read(frame, owner, &mut kind)?;
            // What stands for a call of C.
            if kind[0] >= 3 {
                return None;
            }
        }
        // The lowest bits of some versions tell who keeps it alive.
        let code = word(frame, layout.code)? & !3;
        self.is_a(code, self.code_type)?;
        let instruction = match layout.begin {
            Begin::Number(scale) => number(frame, layout.instruction)?.checked_mul(scale)?,
            Begin::Code(begin) => {
                let at = word(frame, layout.instruction)?;
                c_int::try_from(at.checked_sub(code)?.checked_sub(begin)?).ok()?
            }
        };
        let mut file = Text::<{ 4 * TEXT }>::default();
        self.text(word(code, layout.file)?, &mut file)?;
        let has = |part: &[u8]| file.bytes().windows(part.len()).any(|it| it == part);
        if has(b"/mpi4py/") {
            return None;
        }
        let foreign: [&[u8]; 5] = [
            b"/site-packages/",
            b"/dist-packages/",
            b"/lib/python3",
            b"/lib64/python3",
            b"<frozen ",
        ];
        let is_own = !foreign.iter().any(|part| has(part));
        if !is_own && !to.bytes().is_empty() {
            return Some(false);
        }
        // SAFETY: a code object, which the frame keeps alive as long as this thread is in it.
        let line = unsafe { (self.line)(code as *mut c_void, instruction) };
        to.clear();
        let name = file.bytes().rsplit(|&it| it == b'/').next();
        name.unwrap_or_default().iter().for_each(|&it| to.push(it));
        to.push(b':');
        to.number(line.max(0) as u32);
        let mut function = Text::<{ 4 * TEXT }>::default();
        let told = self.text(word(code, layout.name)?, &mut function);
        if told.is_some() && function.bytes() != b"<module>" {
            b" in ".iter().for_each(|&it| to.push(it));
            function.bytes().iter().for_each(|&it| to.push(it));
        }
        Some(is_own)
    }

    fn is_a(&self, object: usize, kind: usize) -> Option<()> {
        (word(object, 8)? == kind).then_some(())
    }

    /// The last characters of a text of the interpreter, in UTF-8.
    fn text(&self, text: usize, to: &mut Text<{ 4 * TEXT }>) -> Option<()> {
        self.is_a(text, self.text_type)?;
        // Length, and behind a number that does not matter its form.
        let (len, form) = (word(text, 16)?, word(text, 32)?);
        let (kind, is_compact, is_ascii) = (form >> 2 & 7, form >> 5 & 1, form >> 6 & 1);
        if is_compact == 0 || !matches!(kind, 1 | 2 | 4) {
            return None;
        }
        let begin = match is_ascii {
            1 => self.layout.ascii,
            _ => self.layout.ascii + self.layout.more,
        };
        let skipped = len.saturating_sub(TEXT);
        let at = begin.wrapping_add(kind.wrapping_mul(skipped));
        // At once: each read is a call of the system.
        let mut characters = [0; 4 * TEXT];
        let characters = &mut characters[..kind * (len - skipped)];
        read(text, at, characters)?;
        for character in characters.chunks(kind) {
            let mut number = [0; 4];
            number[..kind].copy_from_slice(character);
            let character = char::from_u32(u32::from_le_bytes(number));
            let mut bytes = [0; 4];
            let bytes = character.unwrap_or('?').encode_utf8(&mut bytes);
            bytes.bytes().for_each(|it| to.push(it));
        }
        Some(())
    }
}

/// A text of bounded length that needs no memory but its own.
#[derive(Debug)]
pub(crate) struct Text<const MOST: usize> {
    bytes: [u8; MOST],
    len: usize,
}

impl<const MOST: usize> Default for Text<MOST> {
    fn default() -> Self {
        let bytes = [0; MOST];
        Text { bytes, len: 0 }
    }
}

impl<const MOST: usize> Text<MOST> {
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    fn clear(&mut self) {
        self.len = 0;
    }

    /// Adds a byte; what does not fit is left out.
    fn push(&mut self, byte: u8) {
        if let Some(to) = self.bytes.get_mut(self.len) {
            *to = byte;
            self.len += 1;
        }
    }

    fn number(&mut self, number: u32) {
        let mut power = 1_000_000_000;
        while power > 1 && number / power == 0 {
            power /= 10;
        }
        while power > 0 {
            self.push(b'0' + (number / power % 10) as u8);
            power /= 10;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_without_python_has_no_line() {
        assert_eq!(python(), "");
        assert_eq!(python_place(), None);
    }

    #[test]
    fn texts_end_where_their_room_does() {
        let mut text = Text::<6>::default();
        text.number(0);
        text.push(b' ');
        text.number(1_234_567);
        assert_eq!(text.bytes(), b"0 1234");
    }

    #[test]
    fn memory_that_is_not_there_is_not_read() {
        assert_eq!(word(8, 0), None);
        assert_eq!(word(usize::MAX, 3), None);
        let here = [0, 7_usize];
        assert_eq!(word((&raw const here).addr(), 8), Some(7));
    }
}

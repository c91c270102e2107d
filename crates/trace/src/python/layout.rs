//! Where CPython keeps what a frame is about: bytes from the beginning of each structure, on
//! machines of 64 bits.
//!
//! Until 3.12 that is fixed for a version, and is listed here. Later versions tell it in
//! `_PyRuntime`, for tools like this: only where they tell it is listed.

use std::ffi::{c_int, c_void};

use super::memory::word;

/// What an instruction's place is counted from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Begin {
    /// It is a number of pieces of that many bytes.
    Number(c_int),
    /// It is an address; the code begins there in its object.
    Code(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    /// Where a thread has the address of what has its frame, if not in itself.
    pub holder: Option<usize>,
    /// The innermost frame.
    pub frame: usize,
    pub previous: usize,
    pub code: usize,
    /// What has made the frame, if there are several that can.
    pub owner: Option<usize>,
    /// The instruction that a frame is at.
    pub instruction: usize,
    pub begin: Begin,
    /// Names of a code object.
    pub file: usize,
    pub name: usize,
    /// Bytes before a text of ASCII, and how many more there are before another one.
    pub ascii: usize,
    pub more: usize,
}

/// That of a version as the interpreter says it, `3.11.7 (main, ...` say, and of the structure that
/// tells of later ones.
pub(super) fn of(version: &str, runtime: Option<*mut c_void>) -> Option<Layout> {
    let (major, rest) = version.split_once('.')?;
    let digits = rest.split(|it: char| !it.is_ascii_digit()).next()?;
    // What it would mean for other interpreters nobody knows.
    if major != "3" || version.contains("PyPy") || version.contains("free-threading") {
        return None;
    }
    match digits.parse().ok()? {
        9 => Some(Layout {
            instruction: 104,
            begin: Begin::Number(1),
            ..OLD
        }),
        10 => Some(OLD),
        11 => Some(Layout {
            frame: 8,
            previous: 48,
            code: 32,
            owner: Some(69),
            begin: Begin::Code(184),
            ascii: 48,
            more: 24,
            ..NEW
        }),
        12 => Some(NEW),
        13 => told(runtime?, 13, &TOLD_13),
        14 => told(runtime?, 14, &TOLD_14),
        _ => None,
    }
}

/// 3.10.
const OLD: Layout = Layout {
    holder: None,
    frame: 24,
    previous: 24,
    code: 32,
    owner: None,
    instruction: 96,
    begin: Begin::Number(2),
    file: 104,
    name: 112,
    ascii: 48,
    more: 24,
};

/// 3.12.
const NEW: Layout = Layout {
    holder: Some(56),
    frame: 0,
    previous: 8,
    code: 0,
    owner: Some(70),
    instruction: 56,
    begin: Begin::Code(192),
    file: 112,
    name: 128,
    ascii: 40,
    more: 16,
};

/// Where `_PyRuntime` tells these.
struct FrameOffsets {
    frame: usize,
    previous: usize,
    code: usize,
    instruction: usize,
    owner: usize,
    file: usize,
    name: usize,
    begin: usize,
    object_type: usize,
    text_form: usize,
    text_len: usize,
    ascii: usize,
}

const TOLD_13: FrameOffsets = FrameOffsets {
    frame: 184,
    previous: 232,
    code: 240,
    instruction: 248,
    owner: 264,
    file: 280,
    name: 296,
    begin: 344,
    object_type: 360,
    text_form: 544,
    text_len: 552,
    ascii: 560,
};

const TOLD_14: FrameOffsets = FrameOffsets {
    frame: 208,
    previous: 256,
    code: 264,
    instruction: 272,
    owner: 288,
    file: 320,
    name: 336,
    begin: 384,
    object_type: 408,
    text_form: 624,
    text_len: 632,
    ascii: 640,
};

fn told(runtime: *mut c_void, minor: usize, at: &FrameOffsets) -> Option<Layout> {
    let tell = |offset: usize| word(runtime.addr(), offset);
    let mark = usize::from_ne_bytes(*b"xdebugpy");
    // Version, and whether it does without the lock.
    let is_known = tell(0)? == mark && tell(8)? >> 16 == 3 << 8 | minor && tell(16)? == 0;
    let text = (
        tell(at.object_type)?,
        tell(at.text_form)?,
        tell(at.text_len)?,
    );
    // No structure is larger.
    let small = |offset: usize| tell(offset).filter(|&it| it < 4096);
    let layout = Layout {
        holder: None,
        frame: small(at.frame)?,
        previous: small(at.previous)?,
        code: small(at.code)?,
        owner: Some(small(at.owner)?),
        instruction: small(at.instruction)?,
        begin: Begin::Code(small(at.begin)?),
        file: small(at.file)?,
        name: small(at.name)?,
        ascii: small(at.ascii)?,
        more: 16,
    };
    (is_known && text == (8, 32, 16)).then_some(layout)
}

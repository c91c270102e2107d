//! Structures and constants of `libpmix.so.2`.

use std::ffi::{CStr, c_char, c_int, c_void};

/// What a function returns.
pub(crate) type RawStatus = c_int;

pub(crate) const SUCCESS: RawStatus = 0;
/// Done at once: no callback follows.
pub(crate) const OPERATION_SUCCEEDED: RawStatus = -157;
pub(crate) const NOT_FOUND: RawStatus = -46;

/// To all processes of the namespace.
pub(crate) const GLOBAL: u8 = 3;
/// What belongs to no rank.
pub(crate) const RANK_WILDCARD: u32 = u32::MAX - 1;

/// A process.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Proc {
    /// Its job, a text that ends in 0.
    pub nspace: [c_char; 256],
    pub rank: u32,
}

#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct ByteObject {
    pub bytes: *mut c_char,
    pub size: usize,
}

/// The members that Catena reads and writes; the largest of all, of three
/// words, gives the size.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) union Data {
    pub flag: bool,
    pub string: *mut c_char,
    pub size: usize,
    pub uint16: u16,
    pub int32: i32,
    pub uint32: u32,
    pub uint64: u64,
    pub bytes: ByteObject,
    pub words: [u64; 3],
}

/// A value, owned by whoever made it.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct RawValue {
    pub kind: u16,
    pub data: Data,
}

/// A value with a name: an argument.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Info {
    pub key: [c_char; 512],
    pub flags: u32,
    pub value: RawValue,
}

const _: () = assert!(size_of::<Proc>() == 260);
const _: () = assert!(size_of::<RawValue>() == 32 && size_of::<Info>() == 552);

/// Called by a thread of the library when an operation is over.
pub(crate) type OpCallback = unsafe extern "C" fn(RawStatus, *mut c_void);

/// Kinds of values.
pub(crate) mod kind {
    pub const BOOL: u16 = 1;
    pub const STRING: u16 = 3;
    pub const SIZE: u16 = 4;
    pub const INT: u16 = 6;
    pub const INT32: u16 = 9;
    pub const UINT: u16 = 11;
    pub const UINT16: u16 = 13;
    pub const UINT32: u16 = 14;
    pub const UINT64: u16 = 15;
    pub const BYTE_OBJECT: u16 = 27;
    pub const PROC_RANK: u16 = 40;
}

/// What a server knows of a job.
pub mod keys {
    use std::ffi::CStr;

    /// Number of ranks.
    pub const JOB_SIZE: &CStr = c"pmix.job.size";
    /// Number of slots.
    pub const UNIVERSE_SIZE: &CStr = c"pmix.univ.size";
    /// Number of a rank's program.
    pub const APP_NUMBER: &CStr = c"pmix.appnum";
    /// Number of a rank's node.
    pub const NODE_ID: &CStr = c"pmix.nodeid";
    /// The nodes of all ranks, as PMI has it.
    pub const MAPPING: &CStr = c"pmix.anlmap";
    /// Version of the server's library.
    pub const VERSION: &CStr = c"pmix.version";
    /// Name of the resource manager.
    pub const MANAGER: &CStr = c"pmix.rm.name";
    /// Its version.
    pub const MANAGER_VERSION: &CStr = c"pmix.rm.version";
}

/// An argument that says yes.
pub(crate) fn yes(key: &CStr) -> Info {
    let mut info = Info {
        key: [0; 512],
        flags: 0,
        value: RawValue {
            kind: kind::BOOL,
            data: Data { words: [0; 3] },
        },
    };
    for (to, from) in info.key[..511].iter_mut().zip(key.to_bytes()) {
        *to = *from as c_char;
    }
    info.value.data.flag = true;
    info
}

/// A value, of the kinds that Catena reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A number that is not negative.
    Number(u64),
    /// A text.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
}

impl Value {
    /// A copy; `None` if it is of another kind.
    ///
    /// # Safety
    /// `raw` is what its kind says.
    pub(crate) unsafe fn read(raw: &RawValue) -> Option<Value> {
        let data = &raw.data;
        // SAFETY: the kind tells which member is set; texts end in 0, and
        // objects have their size.
        unsafe {
            match raw.kind {
                kind::SIZE => Some(Value::Number(data.size as u64)),
                kind::INT | kind::INT32 => u64::try_from(data.int32).ok().map(Value::Number),
                kind::UINT16 => Some(Value::Number(data.uint16.into())),
                kind::UINT | kind::UINT32 | kind::PROC_RANK => {
                    Some(Value::Number(data.uint32.into()))
                }
                kind::UINT64 => Some(Value::Number(data.uint64)),
                kind::STRING if !data.string.is_null() => {
                    let text = CStr::from_ptr(data.string).to_string_lossy();
                    Some(Value::Text(text.into_owned()))
                }
                kind::BYTE_OBJECT if data.bytes.bytes.is_null() => Some(Value::Bytes(Vec::new())),
                kind::BYTE_OBJECT => {
                    let ByteObject { bytes, size } = data.bytes;
                    let bytes = std::slice::from_raw_parts(bytes.cast_const().cast(), size);
                    Some(Value::Bytes(bytes.to_vec()))
                }
                _ => None,
            }
        }
    }

    /// The number, if it is one.
    pub fn number(self) -> Option<u64> {
        match self {
            Value::Number(number) => Some(number),
            _ => None,
        }
    }

    /// The text, if it is one.
    pub fn text(self) -> Option<String> {
        match self {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// Frees a value that the library gave away, and what it points to.
///
/// # Safety
/// `raw` came from the library's allocator, which is that of C, and is used no
/// more.
pub(crate) unsafe fn free(raw: *mut RawValue) {
    // SAFETY: as promised; other kinds that Catena asks for point to nothing.
    unsafe {
        match (*raw).kind {
            kind::STRING => libc::free((*raw).data.string.cast()),
            kind::BYTE_OBJECT => libc::free((*raw).data.bytes.bytes.cast()),
            _ => {}
        }
        libc::free(raw.cast());
    }
}

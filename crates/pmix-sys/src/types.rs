//! Structures and constants of `libpmix.so.2`.

use std::ffi::{CStr, c_char, c_int, c_void};

/// What a function returns.
pub(crate) type RawStatus = c_int;

pub(crate) const SUCCESS: RawStatus = 0;
/// Done at once: no callback follows.
pub(crate) const OPERATION_SUCCEEDED: RawStatus = -157;
pub(crate) const NOT_FOUND: RawStatus = -46;
pub(crate) const NOT_SUPPORTED: RawStatus = -47;
pub(crate) const ERROR: RawStatus = -1;
/// The server is gone, as a client is told; and the number that old libraries have for it.
pub(crate) const LOST_CONNECTION: RawStatus = -61;
pub(crate) const LOST_CONNECTION_BEFORE: RawStatus = -101;

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

impl Proc {
    /// A process of the job `nspace`, whose name is cut after 255 bytes.
    pub fn new(nspace: &CStr, rank: u32) -> Proc {
        let mut proc = Proc {
            nspace: [0; 256],
            rank,
        };
        copy(&mut proc.nspace, nspace);
        proc
    }
}

/// Copies a text into a field that it may fill but for a 0 at the end.
fn copy(to: &mut [c_char], from: &CStr) {
    let room = to.len() - 1;
    for (to, from) in to[..room].iter_mut().zip(from.to_bytes()) {
        *to = *from as c_char;
    }
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
    pub array: *mut DataArray,
    pub words: [u64; 3],
}

/// Elements of one kind.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct DataArray {
    pub kind: u16,
    pub size: usize,
    pub elements: *mut c_void,
}

// SAFETY: the code that makes one sees to it that its elements may go along.
unsafe impl Send for DataArray {}

/// A value, owned by the code that made it.
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

/// A question.
#[repr(C)]
pub(crate) struct Query {
    /// A list that ends with a null.
    pub keys: *const *const c_char,
    pub qualifiers: *const Info,
    pub qualifier_count: usize,
}

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
    pub const PROC: u16 = 22;
    pub const INFO: u16 = 24;
    pub const BYTE_OBJECT: u16 = 27;
    pub const DATA_ARRAY: u16 = 39;
    pub const PROC_RANK: u16 = 40;
    pub const REGEX: u16 = 49;
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
    /// A process set, as a qualifier.
    pub const PSET_NAME: &CStr = c"pmix.pset.nm";
    /// How many process sets there are.
    pub const PSET_COUNT: &CStr = c"pmix.qry.psetnum";
    /// Their names, separated by commas.
    pub const PSET_NAMES: &CStr = c"pmix.qry.psets";
    /// The processes of one.
    pub const PSET_MEMBERS: &CStr = c"pmix.qry.pmems";
    /// Number of a group.
    pub const GROUP_NUMBER: &CStr = c"pmix.grp.ctxid";
    /// Its processes.
    pub const GROUP_MEMBERS: &CStr = c"pmix.grp.mbrs";
    /// Whether all of them are on one node.
    pub const GROUP_HERE: &CStr = c"pmix.grp.lcl";
    /// What they have brought.
    pub const GROUP_DATA: &CStr = c"pmix.grp.endpt";
    /// Version of the server's library.
    pub const VERSION: &CStr = c"pmix.version";
    /// Name of the resource manager.
    pub const MANAGER: &CStr = c"pmix.rm.name";
    /// Its version.
    pub const MANAGER_VERSION: &CStr = c"pmix.rm.version";
}

/// An argument that says yes.
pub(crate) fn yes(key: &CStr) -> Info {
    let mut data = Data { words: [0; 3] };
    data.flag = true;
    info(key, kind::BOOL, data)
}

/// An argument.
pub(crate) fn info(key: &CStr, kind: u16, data: Data) -> Info {
    let mut info = Info {
        key: [0; 512],
        flags: 0,
        value: RawValue { kind, data },
    };
    copy(&mut info.key, key);
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
                kind::BOOL => Some(Value::Number(data.flag.into())),
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

/// The processes that a value lists; none if it is of another kind.
///
/// # Safety
/// `raw` is what its kind says.
pub(crate) unsafe fn procs(raw: &RawValue) -> &[Proc] {
    // SAFETY: as promised; the same holds for the array.
    unsafe {
        match raw.kind {
            kind::DATA_ARRAY if !raw.data.array.is_null() => {
                let array = &*raw.data.array;
                match array.kind == kind::PROC && !array.elements.is_null() {
                    true => std::slice::from_raw_parts(array.elements.cast(), array.size),
                    false => &[],
                }
            }
            _ => &[],
        }
    }
}

/// Frees a value that the library gave away, and what it points to.
///
/// # Safety
/// `raw` came from the library's allocator, which is that of C, and is used no
/// more.
pub(crate) unsafe fn free(raw: *mut RawValue) {
    // SAFETY: as promised.
    unsafe {
        clear(&*raw);
        libc::free(raw.cast());
    }
}

/// Frees arguments that the library gave away, and what they point to.
///
/// # Safety
/// As [`free`], for `count` of them.
pub(crate) unsafe fn free_infos(infos: *mut Info, count: usize) {
    // SAFETY: as promised.
    unsafe {
        (0..count).for_each(|at| clear(&(*infos.add(at)).value));
        libc::free(infos.cast());
    }
}

/// Frees what a value points to.
///
/// # Safety
/// As [`free`].
unsafe fn clear(raw: &RawValue) {
    // SAFETY: as promised; other kinds that Catena asks for point to nothing.
    unsafe {
        match raw.kind {
            kind::STRING => libc::free(raw.data.string.cast()),
            kind::BYTE_OBJECT => libc::free(raw.data.bytes.bytes.cast()),
            kind::DATA_ARRAY if !raw.data.array.is_null() => {
                libc::free((*raw.data.array).elements);
                libc::free(raw.data.array.cast());
            }
            _ => {}
        }
    }
}

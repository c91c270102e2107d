//! Arguments for the library, with all that they point to.

use std::any::Any;
use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr;

use crate::types::{ByteObject, Data, DataArray, Info, Proc, info, kind};

/// A list of arguments.
#[derive(Default)]
pub(crate) struct Infos {
    list: Vec<Info>,
    /// What they point to.
    kept: Vec<Box<dyn Any + Send>>,
}

// SAFETY: all that the pointers lead to is owned, and nobody changes it.
unsafe impl Send for Infos {}

impl Infos {
    /// The list, valid until more is added.
    pub fn as_slice(&self) -> &[Info] {
        &self.list
    }

    /// The array for a caller that may take bytes out of it, which are of C's allocator,
    /// and leaves null in their place.
    pub fn as_mut_ptr(&mut self) -> *mut Info {
        self.list.as_mut_ptr()
    }

    fn add(&mut self, key: &CStr, kind: u16, set: impl FnOnce(&mut Data)) {
        let mut data = Data { words: [0; 3] };
        set(&mut data);
        self.list.push(info(key, kind, data));
    }

    /// A fact that holds.
    pub fn yes(&mut self, key: &CStr) {
        self.add(key, kind::BOOL, |data| data.flag = true);
    }

    /// A number of two bytes.
    pub fn u16(&mut self, key: &CStr, value: u16) {
        self.add(key, kind::UINT16, |data| data.uint16 = value);
    }

    /// A number of four bytes.
    pub fn u32(&mut self, key: &CStr, value: u32) {
        self.add(key, kind::UINT32, |data| data.uint32 = value);
    }

    /// A number of the size of an address.
    pub fn size(&mut self, key: &CStr, value: usize) {
        self.add(key, kind::SIZE, |data| data.size = value);
    }

    /// A rank.
    pub fn rank(&mut self, key: &CStr, value: u32) {
        self.add(key, kind::PROC_RANK, |data| data.uint32 = value);
    }

    /// A text; cut at a zero.
    pub fn text(&mut self, key: &CStr, value: &str) {
        let value = c_string(value);
        let string = value.as_ptr().cast_mut();
        self.kept.push(Box::new(value));
        self.add(key, kind::STRING, |data| data.string = string);
    }

    /// A list in the library's short form.
    ///
    /// # Safety
    /// `regex` is a text that outlives this list.
    pub unsafe fn regex(&mut self, key: &CStr, regex: *mut c_char) {
        // SAFETY: as promised.
        let size = unsafe { CStr::from_ptr(regex) }.count_bytes() + 1;
        let bytes = ByteObject { bytes: regex, size };
        self.add(key, kind::REGEX, |data| data.bytes = bytes);
    }

    /// Bytes.
    pub fn bytes(&mut self, key: &CStr, value: &[u8]) {
        let size = value.len();
        // SAFETY: plain memory of that size, which is then filled.
        let bytes = unsafe {
            let bytes = libc::malloc(size.max(1)).cast::<c_char>();
            if bytes.is_null() {
                return;
            }
            ptr::copy_nonoverlapping(value.as_ptr().cast(), bytes, size);
            bytes
        };
        let bytes = ByteObject { bytes, size };
        self.add(key, kind::BYTE_OBJECT, |data| data.bytes = bytes);
    }

    /// Arguments in an argument.
    pub fn infos(&mut self, key: &CStr, mut value: Infos) {
        let elements: *mut Info = value.list.as_mut_ptr();
        let size = value.list.len();
        self.array(key, kind::INFO, elements.cast(), size, value);
    }

    /// Processes.
    pub fn procs(&mut self, key: &CStr, mut value: Vec<Proc>) {
        let elements: *mut Proc = value.as_mut_ptr();
        let size = value.len();
        self.array(key, kind::PROC, elements.cast(), size, value);
    }

    /// Elements that `owner` has.
    fn array(
        &mut self,
        key: &CStr,
        of: u16,
        elements: *mut c_void,
        size: usize,
        owner: impl Send + 'static,
    ) {
        let mut array = Box::new(DataArray {
            kind: of,
            size,
            elements,
        });
        let at: *mut DataArray = &mut *array;
        self.kept.push(array);
        self.kept.push(Box::new(owner));
        self.add(key, kind::DATA_ARRAY, |data| data.array = at);
    }
}

impl Drop for Infos {
    fn drop(&mut self) {
        for info in &self.list {
            if info.value.kind == kind::BYTE_OBJECT {
                // SAFETY: made by `bytes`, and null if somebody has taken it.
                unsafe { libc::free(info.value.data.bytes.bytes.cast()) };
            }
        }
    }
}

/// As the library takes it; cut at a zero.
pub(crate) fn c_string(text: &str) -> CString {
    let end = text.find('\0').unwrap_or(text.len());
    CString::new(&text[..end]).unwrap_or_default()
}

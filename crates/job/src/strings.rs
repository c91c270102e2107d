//! Strings and variables in messages.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use catena_boot::wire::{Malformed, Reader, Writer};

/// Variables of an environment.
pub type Vars = Vec<(OsString, OsString)>;

pub(crate) fn write_texts(w: &mut Writer, texts: &[String]) {
    w.u32(texts.len() as u32);
    texts.iter().for_each(|text| w.bytes(text.as_bytes()));
}

pub(crate) fn read_texts(r: &mut Reader<'_>) -> Result<Vec<String>, Malformed> {
    (0..r.count(4)?).map(|_| r.text()).collect()
}

/// As [`read_strings`] reads them.
pub fn write_strings(w: &mut Writer, strings: &[OsString]) {
    w.u32(strings.len() as u32);
    for string in strings {
        w.bytes(string.as_bytes());
    }
}

pub(crate) fn read_string(r: &mut Reader<'_>) -> Result<OsString, Malformed> {
    r.bytes().map(|bytes| OsString::from_vec(bytes.to_vec()))
}

/// Strings of any bytes.
///
/// # Errors
/// If the message is too short.
pub fn read_strings(r: &mut Reader<'_>) -> Result<Vec<OsString>, Malformed> {
    (0..r.count(4)?).map(|_| read_string(r)).collect()
}

/// As [`read_vars`] reads them.
pub fn write_vars(w: &mut Writer, vars: &[(OsString, OsString)]) {
    w.u32(vars.len() as u32);
    for (name, value) in vars {
        w.bytes(name.as_bytes());
        w.bytes(value.as_bytes());
    }
}

/// Variables of an environment.
///
/// # Errors
/// If the message is too short.
pub fn read_vars(r: &mut Reader<'_>) -> Result<Vec<(OsString, OsString)>, Malformed> {
    (0..r.count(8)?)
        .map(|_| Ok((read_string(r)?, read_string(r)?)))
        .collect()
}

//! Checked mode: what the library itself compares for the tool behind `mpirun --check`.
//!
//! With [`CHECK`] each message of the program carries a seal, 32 bits of the [`Fingerprint`] of
//! what was sent, and a receive compares it with that of its own type as far as the message goes.
//! What does not fit is told to the tool, by a function that it may define, or else on standard
//! error:
//!
//! ```c
//! void catena_check_types_differ(const void *buf, int source, uint64_t bytes, const char *sent, const char *expected);
//! ```
//!
//! `buf` is that of the receive, `source` the rank of the sender on the communicator, and both
//! texts are kinds of elements in words. It is called when a message meets its receive, under the
//! library's lock, so it must call nothing of MPI.
//!
//! Where the mode is off nothing of this costs anything: buffers take a way of their own where
//! memory [may be looked at closely](catena_memory::look_closely), and so do messages that have a
//! seal.

use std::ffi::c_int;

use catena_datatype::Fingerprint;
use catena_settings::{Setting, setting};

setting! {
    /// Whether the types of both ends of each message are compared: checked mode, which
    /// mpirun --check turns on.
    pub static CHECK: bool = false;
    scope: AllEqual,
    level: Developer,
}

/// The setting of this module.
pub static SETTINGS: &[&dyn Setting] = &[&CHECK];

/// 32 bits of a fingerprint, which have its element as well; 0 fits all.
pub(crate) fn seal(print: Fingerprint) -> u32 {
    match print.bits() {
        0 => 0,
        bits => (bits >> 32) as u32 & 0xff00_0000 | (bits as u32 & 0x00ff_ffff).max(1),
    }
}

/// A seal in words.
pub(crate) fn words(seal: u32) -> String {
    Fingerprint::from_bits(u64::from(seal >> 24) << 56 | u64::from(seal & 0x00ff_ffff)).to_string()
}

/// Tells the tool, or on standard error if there is none, that a message of `len` bytes has
/// something else than the receive at `buf` expects.
#[cold]
pub(crate) fn tell(buf: *const u8, source: u32, len: u64, sent: &str, expected: &str) {
    let told = catena_loader::tell_tool(buf.cast(), source as c_int, len, sent, expected);
    if !told {
        catena_base::tell!(
            "catena: a message of {len} bytes from rank {source} has {sent}, and its receive \
             expects {expected}: the types of both must have the same elements"
        );
    }
}

#[cfg(test)]
mod tests {
    use catena_datatype::{Datatype, TypeRef};

    use super::*;

    #[test]
    fn a_seal_has_the_element_in_words() {
        let [int, float] = [0x209, 0x210].map(|code| Datatype::predefined(code).unwrap());
        let of = |ty: &TypeRef, bytes| seal(ty.fingerprint(bytes).unwrap());
        assert_eq!(words(of(int, 8)), "Int32");
        assert_ne!(of(int, 8), of(int, 4));
        assert_ne!(of(int, 4), of(float, 4));
        let both = Datatype::structure(&[1, 1], &[0, 4], &[int.clone(), float.clone()]).unwrap();
        assert_eq!(words(of(&both, 8)), "elements of several kinds");
        assert_eq!(of(&both, 4), of(int, 4));
        assert_eq!(of(int, 0), 0, "nothing fits all");
    }
}

//! Checked mode: what the library itself compares for the tool behind `mpirun --check`.
//!
//! With [`CHECK`] each message of the program carries a seal, 32 bits of the [`Fingerprint`] of what was sent, and a
//! receive compares it with that of its own type as far as the message goes. What does not fit is told to the tool, by a
//! function that it may define, or else on standard error:
//!
//! ```c
//! void catena_check_types_differ(const void *buf, int source, uint64_t bytes, const char *sent, const char *expected);
//! ```
//!
//! `buf` is that of the receive, `source` the rank of the sender on the communicator, and both texts are kinds of elements in
//! words. It is called when a message meets its receive, under the library's lock, so it must call nothing of MPI.
//!
//! Where the mode is off nothing of this costs anything: buffers take a way of their own where memory
//! [may be looked at closely](catena_memory::look_closely), and so do messages that have a seal.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::sync::OnceLock;

use catena_base::PeerBytes;
use catena_datatype::{Fingerprint, TypeRef};
use catena_link::Sink;
use catena_settings::{Setting, setting};

use crate::buffer::{RecvBuf, SendBuf};

setting! {
    /// Whether the types of both ends of each message are compared: checked mode, which
    /// mpirun --check turns on.
    pub static CHECK: bool = false;
    scope: AllEqual,
    level: Developer,
}

/// The setting of this module.
pub static SETTINGS: &[&dyn Setting] = &[&CHECK];

/// A message to send, and what it is of.
#[derive(Debug)]
pub struct Sealed {
    pub(crate) buf: SendBuf,
    pub(crate) seal: u32,
}

/// Room for a message, and what it is for.
#[derive(Debug)]
pub struct Expecting {
    pub(crate) buf: RecvBuf,
    base: *const u8,
    ty: TypeRef,
}

/// 32 bits of a fingerprint, which have its element as well; 0 fits all.
fn seal(print: Fingerprint) -> u32 {
    match print.bits() {
        0 => 0,
        bits => (bits >> 32) as u32 & 0xff00_0000 | (bits as u32 & 0x00ff_ffff).max(1),
    }
}

/// A seal in words.
fn words(seal: u32) -> String {
    Fingerprint::from_bits(u64::from(seal >> 24) << 56 | u64::from(seal & 0x00ff_ffff)).to_string()
}

impl Sealed {
    /// `count` elements of `ty`, which are what `buf` sends.
    #[cold]
    pub(crate) fn new(buf: SendBuf, count: u64, ty: &TypeRef) -> Box<Self> {
        let print = ty.fingerprint(count.saturating_mul(ty.size()));
        let seal = print.map_or(0, seal);
        Box::new(Sealed { buf, seal })
    }
}

impl Expecting {
    /// Room for elements of `ty` at `base`, which is what `buf` is.
    #[cold]
    pub(crate) fn new(buf: RecvBuf, base: *const u8, ty: &TypeRef) -> Box<Self> {
        let ty = ty.clone();
        Box::new(Expecting { buf, base, ty })
    }

    /// Places bytes of the message. Out of line, as other buffers are placed where this is called.
    #[cold]
    #[inline(never)]
    pub(crate) fn place(&mut self, at: u64, bytes: PeerBytes<'_>) {
        self.buf.place(at, bytes);
    }

    /// Compares what has come with what is expected, and tells the tool if it does not fit.
    #[cold]
    pub(crate) fn compare(&self, sent: u32, source: u32, len: u64) {
        let room = self.buf.capacity();
        // A message that is too long is told as such.
        if sent == 0 || len > room {
            return;
        }
        let expected = self.ty.fingerprint(len);
        let fits = expected.is_some_and(|print| seal(print) == sent || seal(print) == 0);
        if !fits {
            let expected = match expected {
                Some(print) => words(seal(print)),
                None => format!("a part of an element ({} bytes do not end with one)", len),
            };
            tell(self.base, source, len, &words(sent), &expected);
        }
    }
}

/// What the tool defines.
type TypesDiffer = extern "C" fn(*const c_void, c_int, u64, *const c_char, *const c_char);

fn tool() -> Option<TypesDiffer> {
    static TOOL: OnceLock<Option<TypesDiffer>> = OnceLock::new();
    const NAME: &CStr = c"catena_check_types_differ";
    *TOOL.get_or_init(|| {
        // SAFETY: a name that ends with a zero.
        let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, NAME.as_ptr()) };
        // SAFETY: whoever defines a function of this name gives it this type.
        (!found.is_null())
            .then(|| unsafe { std::mem::transmute::<*mut c_void, TypesDiffer>(found) })
    })
}

#[cold]
fn tell(buf: *const u8, source: u32, len: u64, sent: &str, expected: &str) {
    let Some(tool) = tool() else {
        catena_base::tell!(
            "catena: a message of {len} bytes from rank {source} has {sent}, and its receive expects {expected}: \
             the types of both must have the same elements"
        );
        return;
    };
    if let (Ok(sent), Ok(expected)) = (CString::new(sent), CString::new(expected)) {
        tool(
            buf.cast(),
            source as c_int,
            len,
            sent.as_ptr(),
            expected.as_ptr(),
        );
    }
}

#[cfg(test)]
mod tests {
    use catena_datatype::Datatype;

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

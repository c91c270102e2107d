//! The function that a tool for checking programs may define. It is called within the library,
//! whose lock may be held: it belongs to the tool of `mpirun --check`, which calls nothing of MPI
//! there.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::sync::OnceLock;

/// Its name.
const NAME: &CStr = c"catena_check_types_differ";

type TypesDiffer = extern "C" fn(*const c_void, c_int, u64, *const c_char, *const c_char);

fn tool() -> Option<TypesDiffer> {
    static TOOL: OnceLock<Option<TypesDiffer>> = OnceLock::new();
    *TOOL.get_or_init(|| {
        // SAFETY: a name that ends with a zero.
        let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, NAME.as_ptr()) };
        let is_there = !found.is_null();
        // SAFETY: whoever defines a function of this name gives it this type.
        is_there.then(|| unsafe { std::mem::transmute::<*mut c_void, TypesDiffer>(found) })
    })
}

/// Tells the tool of a message whose elements are not those that its receive expects: the address
/// of the receive's buffer, the rank of the sender, the bytes that have come, and both in words.
/// Whether there is a tool.
pub fn tell_tool(
    buf: *const c_void,
    source: c_int,
    bytes: u64,
    sent: &str,
    expected: &str,
) -> bool {
    let texts = CString::new(sent).ok().zip(CString::new(expected).ok());
    let (Some(tool), Some((sent, expected))) = (tool(), texts) else {
        return false;
    };
    tool(buf, source, bytes, sent.as_ptr(), expected.as_ptr());
    true
}

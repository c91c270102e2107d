//! A library that a Python program calls, and that writes which line it is in.

/// Writes at most `most` bytes; how many that were.
///
/// # Safety
/// There is room for that many.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn catena_python_line(to: *mut u8, most: usize) -> usize {
    catena_trace::find_python();
    let line = catena_trace::python();
    let len = line.len().min(most);
    // SAFETY: as the caller promises.
    unsafe { to.copy_from(line.as_ptr(), len) };
    len
}

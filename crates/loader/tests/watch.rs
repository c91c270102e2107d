//! What one word of the dynamic loader tells. Alone in its process, as others may load something.

use std::ffi::CStr;
use std::sync::atomic::Ordering;

use catena_loader::Watch;

#[test]
fn what_is_loaded_is_seen_in_one_word() {
    let watch = Watch::start().expect("a loader with a list");
    assert!(watch.is_last() && watch.word().load(Ordering::Relaxed).is_null());
    // SAFETY: libraries of the C library, whose initialisers may run in any process.
    let open = |name: &CStr| unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW) };
    let names = [c"libutil.so.1", c"libanl.so.1", c"libthread_db.so.1"];
    let handle = names.into_iter().map(open).find(|it| !it.is_null());
    let handle = handle.expect("the C library has more libraries than a test needs");
    assert!(!watch.is_last(), "something was loaded");
    // It is the program's to close: nobody keeps it.
    assert!(Watch::start().is_none());
    // SAFETY: it was opened above.
    unsafe { libc::dlclose(handle) };
    assert!(watch.is_last());
    // As often as one likes.
    let again = (0..100).filter_map(|_| Watch::start());
    assert_eq!(again.filter(|watch| watch.is_last()).count(), 100);
}

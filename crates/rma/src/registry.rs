//! The windows of this process by their handles. A window has the same number at all members, which
//! they agree on when they make it; a number is not used again.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ops::Deref;
use std::ptr;
use std::sync::{Arc, LazyLock, Weak};

use catena_abi::{Win, consts};
use catena_base::slab::Key;
use catena_objects::error::{Error, Kind, Result};
use catena_objects::table::{ObjectKind, decode, encode};

use crate::window::{Node, Window};

/// All windows. Under the library's lock.
#[derive(Debug, Default)]
struct Registry {
    windows: RefCell<HashMap<u32, Arc<Window>>>,
    /// Those that the program has freed, and that are kept as others may use them.
    retired: RefCell<HashMap<u32, Arc<Window>>>,
    /// The one that was named last, and its handle.
    recent: Cell<(usize, *const Window)>,
    /// The members of windows, one for all windows over the same ones.
    nodes: RefCell<Vec<Weak<Node>>>,
    /// The next number that this process has not used.
    next: Cell<u32>,
}

/// Makes the registry a static.
struct Shared(Registry);
// SAFETY: whoever comes here holds the library's lock, or is the one thread that calls MPI.
unsafe impl Sync for Shared {}
// SAFETY: as above.
unsafe impl Send for Shared {}

static REGISTRY: LazyLock<Shared> = LazyLock::new(|| {
    Shared(Registry {
        recent: Cell::new((consts::WIN_NULL.0, ptr::null())),
        ..Registry::default()
    })
});

fn registry() -> &'static Registry {
    &REGISTRY.0
}

fn handle(number: u32) -> Win {
    Win(encode(
        ObjectKind::Win,
        Key {
            index: number,
            generation: 0,
        },
    ))
}

/// The number that this process would give to a new window.
pub(crate) fn propose() -> u32 {
    registry().next.get()
}

/// The handle of the number that all agreed on, the largest that was proposed.
pub(crate) fn agreed(number: u32) -> Win {
    registry().next.set(number + 1);
    handle(number)
}

/// The members of a window, which those of another one are if they are equal.
pub(crate) fn one_of(node: Node) -> Arc<Node> {
    let mut nodes = registry().nodes.borrow_mut();
    nodes.retain(|known| known.strong_count() != 0);
    let mut known = nodes.iter().filter_map(Weak::upgrade);
    if let Some(known) = known.find(|known| **known == node) {
        return known;
    }
    let node = Arc::new(node);
    nodes.push(Arc::downgrade(&node));
    node
}

/// Makes a window known.
pub(crate) fn insert(window: Arc<Window>) {
    if let Some(key) = decode(ObjectKind::Win, window.handle.0) {
        registry().windows.borrow_mut().insert(key.index, window);
    }
}

/// Forgets a window.
pub(crate) fn remove(win: Win) -> Option<Arc<Window>> {
    let key = decode(ObjectKind::Win, win.0)?;
    registry().recent.set((consts::WIN_NULL.0, ptr::null()));
    registry().windows.borrow_mut().remove(&key.index)
}

/// The program has no window any more that others may still use: for ever.
pub(crate) fn retire(win: Win) {
    if let Some(window) = remove(win) {
        let number = window.number;
        registry().retired.borrow_mut().insert(number, window);
    }
}

/// The window behind a handle.
///
/// # Errors
/// `Win` for `MPI_WIN_NULL`, freed and made-up handles.
pub fn find(win: Win) -> Result<Arc<Window>> {
    let key = decode(ObjectKind::Win, win.0).filter(|key| key.generation == 0);
    let found = key.and_then(|key| registry().windows.borrow().get(&key.index).cloned());
    found.ok_or_else(|| bad_window(win))
}

/// The window behind a handle, without a clone, for operations.
///
/// # Safety
/// The caller holds the library's lock, or is the one thread that calls MPI, and nobody frees the
/// window while the borrow lives: no callback of the program is called.
///
/// # Errors
/// As [`find`].
#[inline]
pub unsafe fn borrow<'a>(win: Win) -> Result<&'a Window> {
    let (known, at) = registry().recent.get();
    if known == win.0 && !at.is_null() {
        // SAFETY: it stays in the table until `remove`, which forgets it here.
        return Ok(unsafe { &*at });
    }
    let found = find(win)?;
    let at = Arc::as_ptr(&found);
    registry().recent.set((win.0, at));
    // SAFETY: as above; the table keeps it.
    Ok(unsafe { &*at })
}

/// The window of a call that waits.
#[derive(Debug)]
pub enum Kept<'a> {
    /// Nobody frees it meanwhile.
    Borrowed(&'a Window),
    /// Another thread of the program may.
    Held(Arc<Window>),
}

impl Deref for Kept<'_> {
    type Target = Window;

    #[inline]
    fn deref(&self) -> &Window {
        match self {
            Kept::Borrowed(window) => window,
            Kept::Held(window) => window,
        }
    }
}

/// The window behind a handle, for a call that waits; `shared` if other threads may call MPI meanwhile.
///
/// # Safety
/// As [`borrow`], but for other threads.
///
/// # Errors
/// As [`find`].
#[inline]
pub unsafe fn keep<'a>(win: Win, shared: bool) -> Result<Kept<'a>> {
    match shared {
        true => find(win).map(Kept::Held),
        // SAFETY: the caller's promise; there is no other thread.
        false => unsafe { borrow(win).map(Kept::Borrowed) },
    }
}

/// The window with a number, for what others tell of it: until it is freed, which no call from within
/// progress does.
pub(crate) fn numbered<'a>(number: u32) -> Option<&'a Window> {
    // SAFETY: whoever carries out what others tell holds the library's lock, and frees nothing meanwhile.
    let known = unsafe { borrow(handle(number)).ok() };
    known.or_else(|| {
        let retired = registry().retired.borrow();
        // SAFETY: what is retired stays in the table.
        retired.get(&number).map(|it| unsafe { &*Arc::as_ptr(it) })
    })
}

/// Calls `each` for every window.
pub(crate) fn each(mut each: impl FnMut(&Window)) {
    registry().windows.borrow().values().for_each(|it| each(it));
    registry().retired.borrow().values().for_each(|it| each(it));
}

/// The full handle for the low 31 bits that `MPI_Win_toint` gave.
pub fn widen(low: i32) -> Option<usize> {
    find(Win(low as u32 as usize)).ok().map(|it| it.handle.0)
}

#[cold]
fn bad_window(win: Win) -> Error {
    let text = match win {
        consts::WIN_NULL => "the window is MPI_WIN_NULL".to_owned(),
        _ => format!("{:#x} is not a window, or was freed", win.0),
    };
    Error::new(Kind::Win, text)
}

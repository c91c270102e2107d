//! The windows of this process by their handles.
//!
//! Each process numbers its windows by itself, and tells the others, when a window is made, what
//! messages to it call that window (`Window::number_at`). So nobody has to agree, and a number is
//! taken in the step that finds it free (`Reserved`): threads may make windows over different
//! communicators at once.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::ops::{Deref, Range};
use std::ptr;
use std::sync::{Arc, LazyLock, Weak};

use catena_abi::{Win, consts};
use catena_base::slab::Key;
use catena_objects::error::{Error, Kind, Result};
use catena_objects::state::freed;
use catena_objects::table::{ObjectKind, decode, encode};

use crate::numbers::Numbers;
use crate::window::{Node, Window};

/// What has a number.
#[derive(Debug)]
enum Slot {
    /// A window that is being made.
    Reserved,
    /// A window.
    Open(Arc<Window>),
    /// One that the program has freed, and that is kept as others may use it.
    Retired(Arc<Window>),
}

/// All windows. Under the library's lock.
#[derive(Debug, Default)]
struct Registry {
    slots: RefCell<HashMap<u32, Slot>>,
    /// The one that was named last, and its handle.
    recent: Cell<(usize, *const Window)>,
    /// The members of windows, one for all windows over the same ones.
    nodes: RefCell<Vec<Weak<Node>>>,
    numbers: RefCell<Numbers>,
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

fn handle(key: Key) -> Win {
    Win(encode(ObjectKind::Win, key))
}

/// A number that no other window of this process has, for one that is being made. It is free again
/// if that is not.
#[derive(Debug)]
#[must_use]
pub(crate) struct Reserved(Key);

impl Reserved {
    /// Takes a number.
    ///
    /// # Errors
    /// `NoMem` if all have a window.
    pub fn new() -> Result<Reserved> {
        let registry = registry();
        let mut slots = registry.slots.borrow_mut();
        let is_taken = |number| slots.contains_key(&number);
        let Some(key) = registry.numbers.borrow_mut().next(is_taken) else {
            let text = "there are as many windows as a process can have: free some";
            return Err(Error::new(Kind::NoMem, text));
        };
        slots.insert(key.index, Slot::Reserved);
        Ok(Reserved(key))
    }

    /// What others call the window.
    pub fn number(&self) -> u32 {
        self.0.index
    }

    /// The handle of the window.
    pub fn handle(&self) -> Win {
        handle(self.0)
    }

    /// Makes the window known, which was made for this number.
    pub fn commit(self, window: Arc<Window>) {
        debug_assert_eq!(window.number, self.0.index);
        let mut slots = registry().slots.borrow_mut();
        slots.insert(self.0.index, Slot::Open(window));
        std::mem::forget(self);
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        registry().slots.borrow_mut().remove(&self.0.index);
    }
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

/// Forgets a window, whose number is free from now on.
pub(crate) fn remove(window: &Window) {
    let registry = registry();
    registry.recent.set((consts::WIN_NULL.0, ptr::null()));
    freed(window.handle.0);
    let gone = registry.slots.borrow_mut().remove(&window.number);
    // Whatever goes with it does so when nothing here is borrowed.
    drop(gone);
}

/// The program has no window any more that others may still use: for ever.
pub(crate) fn retire(window: &Arc<Window>) {
    let registry = registry();
    registry.recent.set((consts::WIN_NULL.0, ptr::null()));
    freed(window.handle.0);
    let mut slots = registry.slots.borrow_mut();
    slots.insert(window.number, Slot::Retired(window.clone()));
}

/// The window behind a handle.
///
/// # Errors
/// `Win` for `MPI_WIN_NULL`, freed and made-up handles.
pub fn find(win: Win) -> Result<Arc<Window>> {
    let key = decode(ObjectKind::Win, win.0);
    let found = key.and_then(|key| match registry().slots.borrow().get(&key.index) {
        Some(Slot::Open(window)) if window.handle == win => Some(window.clone()),
        _ => None,
    });
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
pub enum WindowRef<'a> {
    /// Nobody frees it meanwhile.
    Borrowed(&'a Window),
    /// Another thread of the program may.
    Held(Arc<Window>),
}

impl Deref for WindowRef<'_> {
    type Target = Window;

    #[inline]
    fn deref(&self) -> &Window {
        match self {
            WindowRef::Borrowed(window) => window,
            WindowRef::Held(window) => window,
        }
    }
}

/// The window behind a handle, for a call that waits; `shared` if other threads may call MPI
/// meanwhile.
///
/// # Safety
/// As [`borrow`], but for other threads.
///
/// # Errors
/// As [`find`].
#[inline]
pub unsafe fn keep<'a>(win: Win, shared: bool) -> Result<WindowRef<'a>> {
    match shared {
        true => find(win).map(WindowRef::Held),
        // SAFETY: the caller's promise; there is no other thread.
        false => unsafe { borrow(win).map(WindowRef::Borrowed) },
    }
}

/// The window with a number, for what others tell of it: until it is freed, which no call from
/// within progress does.
pub(crate) fn numbered<'a>(number: u32) -> Option<&'a Window> {
    match registry().slots.borrow().get(&number)? {
        Slot::Reserved => None,
        // SAFETY: whoever carries out what others tell holds the library's lock, and frees nothing
        // meanwhile; what is retired stays in the table.
        Slot::Open(window) | Slot::Retired(window) => Some(unsafe { &*Arc::as_ptr(window) }),
    }
}

/// Calls `each` for every window, as when a peer is lost. Where something is done often there is a
/// list of the windows that need it: see `message/ready.rs`.
pub(crate) fn each(mut each: impl FnMut(&Window)) {
    for slot in registry().slots.borrow().values() {
        match slot {
            Slot::Reserved => {}
            Slot::Open(window) | Slot::Retired(window) => each(window),
        }
    }
}

/// Whether a window that the program has, or is making, is one with some of these peers. Cost: all
/// windows.
pub(crate) fn lead_to(peers: &Range<u32>) -> bool {
    let slots = registry().slots.borrow();
    let groups = slots.values().filter_map(|slot| match slot {
        Slot::Open(window) => Some(&window.group),
        Slot::Reserved | Slot::Retired(_) => None,
    });
    // Many have the group of one communicator.
    let mut seen = HashSet::new();
    let mut groups = groups.filter(|group| seen.insert(Arc::as_ptr(group)));
    groups.any(|group| group.members().any(|peer| peers.contains(&peer.0)))
}

/// The full handle for the low 31 bits that `MPI_Win_toint` gave.
pub fn widen(low: i32) -> Option<usize> {
    let key = decode(ObjectKind::Win, low as u32 as usize)?;
    match registry().slots.borrow().get(&key.index)? {
        Slot::Open(window) => Some(window.handle.0),
        Slot::Reserved | Slot::Retired(_) => None,
    }
}

#[cold]
fn bad_window(win: Win) -> Error {
    let text = match win {
        consts::WIN_NULL => "the window is MPI_WIN_NULL".to_owned(),
        _ => format!("{:#x} is not a window, or was freed", win.0),
    };
    Error::new(Kind::Win, text)
}

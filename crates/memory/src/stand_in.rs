//! A device for tests: what lies in its memory cannot be read or written by address.
//!
//! Its memory is memory of this process, which is lent to it, at addresses with one more bit.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use crate::copies::on_host;
use crate::device::{Copy, CopyError, Device, Direction, Exported, HANDLE, Handle, Mark, Queue};
use crate::kinds::Kind;
use crate::registry::{has, register};

/// The bit by which its addresses differ from those of the host memory behind them. With it, no
/// processor takes them.
const BIT: usize = 1 << 62;
/// The bit of those at which memory was opened that another process has exported, too.
const OPEN: usize = 1 << 61;

/// The host memory behind an address.
fn real<T>(at: *const T) -> *const T {
    at.map_addr(|at| at & !(BIT | OPEN))
}

struct StandIn {
    kind: Kind,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// What was lent: lengths and numbers, by addresses in host memory.
    lent: BTreeMap<usize, (usize, u64)>,
    lendings: u64,
    /// Memory that is open, and marks that were asked for once.
    open: usize,
    asked: BTreeSet<u64>,
    marks: u64,
}

impl StandIn {
    const fn of(kind: Kind) -> StandIn {
        StandIn {
            kind,
            state: Mutex::new(State {
                lent: BTreeMap::new(),
                lendings: 0,
                open: 0,
                asked: BTreeSet::new(),
                marks: 0,
            }),
        }
    }

    fn with<T>(&self, call: impl FnOnce(&mut State) -> T) -> T {
        call(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

static ALL: [StandIn; 2] = [StandIn::of(Kind::Cuda), StandIn::of(Kind::Rocm)];

/// That of a kind.
fn of(kind: Kind) -> &'static StandIn {
    let found = ALL.iter().find(|it| it.kind == kind);
    found.expect("tests use CUDA and ROCm")
}

// SAFETY: its addresses have the bit, and its copies take it away.
unsafe impl Device for StandIn {
    fn kind(&self) -> Kind {
        self.kind
    }

    fn may_have_memory(&self) -> bool {
        true
    }

    fn range(&self, at: *const u8) -> Option<Range<usize>> {
        let page = at.addr() & !0xfff;
        (at.addr() & BIT != 0).then_some(page..page + 0x1000)
    }

    unsafe fn begin(&self, copy: &Copy) -> Result<Queue, CopyError> {
        let is_here = |at: *const u8| at.addr() & BIT != 0;
        let within = copy.direction == Direction::Within;
        if !is_here(copy.on_device()) || within && !is_here(copy.from) {
            return Err(CopyError::NotThere);
        }
        let copy = Copy {
            to: real(copy.to).cast_mut(),
            from: real(copy.from),
            ..*copy
        };
        // SAFETY: the caller's promise.
        unsafe { on_host(&copy) };
        Ok(Queue(0))
    }

    fn wait(&self, _: Queue) -> Result<(), CopyError> {
        Ok(())
    }

    fn mark(&self, _: Queue) -> Result<Mark, CopyError> {
        Ok(self.with(|state| {
            state.marks += 1;
            Mark(state.marks)
        }))
    }

    /// Has come when it is asked for the second time.
    fn has_passed(&self, mark: Mark) -> Result<bool, CopyError> {
        Ok(self.with(|state| !state.asked.insert(mark.0)))
    }

    fn export(&self, at: *const u8) -> Option<Exported> {
        let at = real(at).addr();
        self.with(|state| {
            let (&start, &(len, id)) = state.lent.range(..=at).next_back()?;
            let mut handle = [0; HANDLE];
            handle[..8].copy_from_slice(&start.to_le_bytes());
            (at < start + len).then_some(Exported {
                handle,
                offset: (at - start) as u64,
                len: len as u64,
                id,
            })
        })
    }

    fn is_still(&self, at: *const u8, id: u64) -> bool {
        self.export(at).is_some_and(|it| it.id == id)
    }

    fn import(&self, handle: &Handle, _: *const u8) -> Result<*mut u8, CopyError> {
        let start = handle.first_chunk().map(|it| usize::from_le_bytes(*it));
        self.with(|state| state.open += 1);
        let at = start.ok_or(CopyError::NotThere)? | BIT | OPEN;
        Ok(std::ptr::with_exposed_provenance_mut(at))
    }

    unsafe fn close(&self, at: *mut u8) {
        assert_ne!(at.addr() & OPEN, 0, "it was opened");
        self.with(|state| state.open -= 1);
    }
}

/// Lends memory to the device of a kind, which is known from then on; gives its address there.
pub fn lend<T>(kind: Kind, memory: &mut [T]) -> *mut u8 {
    let device = of(kind);
    let (at, len) = (memory.as_mut_ptr(), size_of_val(memory));
    device.with(|state| {
        state.lendings += 1;
        let allocation = (len, state.lendings);
        state.lent.insert(at.expose_provenance(), allocation);
        if !has(kind) {
            register(device);
        }
    });
    at.map_addr(|at| at | BIT).cast()
}

/// Takes back what was lent at an address of the device.
pub fn take_back(kind: Kind, at: *const u8) {
    of(kind).with(|state| state.lent.remove(&real(at).addr()));
}

/// Memory of a kind that is open.
pub fn open(kind: Kind) -> usize {
    of(kind).with(|state| state.open)
}

//! Letters: short operations that a target carries out which is in MPI, see `mailbox`.

use std::cell::Cell;

use catena_base::mailbox::Mailbox;
use catena_core::Process;
use catena_core::hooks::Hook;

use crate::mailbox::{self, Bytes, Letter, MOST};
use crate::message::record::{Head, What};
use crate::message::target::{combine, own_bytes};
use crate::place::Place;
use crate::registry;
use crate::transfer::{Elements, copy_bytes};
use crate::window::{Reach, Window};

/// Reads this process's mailbox as long as there are windows that need it.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    /// Whether it is doing so.
    is_busy: Cell<bool>,
}

impl Reader {
    /// Carries out a letter if there is one.
    #[inline]
    fn look(&self, process: &Process) -> bool {
        match mailbox::own() {
            Some(own) if own.is_full() && !self.is_busy.get() => self.read(process, own),
            _ => false,
        }
    }

    #[cold]
    fn read(&self, process: &Process, own: &Mailbox) -> bool {
        // What waits for a lock in here makes progress, which leaves this alone.
        self.is_busy.set(true);
        let was_there = mailbox::serve(own, |letter| {
            let window = registry::numbered(letter.head.window)?;
            carry_out(process, window, letter)
        });
        self.is_busy.set(false);
        was_there
    }
}

impl Hook<Process> for Reader {
    fn progress(&self, process: &Process) -> bool {
        self.look(process)
    }

    fn before_sleep(&self, process: &Process) -> bool {
        self.look(process)
    }
}

/// Carries a letter out; the former bytes of what it works on.
fn carry_out(process: &Process, window: &Window, letter: &Letter) -> Option<Bytes> {
    let Letter { head, addr, bytes } = letter;
    let len = head.len as usize;
    let what = head.what()?;
    let most = if what == What::Swap { MOST / 2 } else { MOST };
    if len > most {
        return None;
    }
    let at = own_bytes(window, *addr, len as u64)?;
    let mut old = [0; MOST];
    // SAFETY: the window's bytes, which were checked, and as many of ours.
    unsafe {
        match what {
            What::Put => copy_bytes(at, bytes.as_ptr(), len),
            What::Get => copy_bytes(old.as_mut_ptr(), at, len),
            What::Combine | What::Fetch => {
                let combine = combine(*head).ok()?;
                combine.check(len)?;
                let _held = window.hold_elements(process, window.me).ok()?;
                copy_bytes(old.as_mut_ptr(), at, len);
                combine.apply(bytes.as_ptr(), at, len);
            }
            What::Swap => {
                let _held = window.hold_elements(process, window.me).ok()?;
                copy_bytes(old.as_mut_ptr(), at, len);
                if old[..len] == bytes[..len] {
                    copy_bytes(at, bytes[most..].as_ptr(), len);
                }
            }
            _ => return None,
        }
    }
    Some(old)
}

impl Window {
    /// Has a target whose memory only the kernel reaches carry out a short operation on a run of bytes: `bytes` is what
    /// goes there. The former bytes, if it did.
    pub(crate) fn by_letter(
        &self,
        process: &Process,
        (what, operation, kind): (What, u8, u8),
        elements: &Elements<'_>,
        bytes: Bytes,
    ) -> Option<Bytes> {
        let (Place::Kernel { at, .. }, Reach::Kernel { mailbox, .. }) =
            (&elements.place, &self.targets[elements.rank as usize].reach)
        else {
            return None;
        };
        // SAFETY: the window keeps it mapped; it consists of atomics.
        let mailbox = unsafe { mailbox.as_ref() }?;
        let head = Head {
            a: operation,
            b: kind,
            len: elements.len() as u32,
            ..Head::new(what, self.number_at(elements.rank))
        };
        let addr = *at;
        let reader = process.hook::<Reader>();
        mailbox::post(mailbox, &Letter { head, addr, bytes }, || {
            // Both may write to each other.
            reader.look(process);
            self.death_among(process, |dead| dead == elements.rank)
                .is_some()
        })
    }

    /// Whether an operation on some elements can be a letter.
    pub(crate) fn fits_letter(elements: &Elements<'_>, most: usize) -> bool {
        let is_there = matches!(elements.place, Place::Kernel { .. });
        is_there && elements.len() <= most && elements.ty.is_contiguous()
    }
}

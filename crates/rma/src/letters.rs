//! Letters: short operations that a target carries out which is in MPI, see `mailbox`.

use std::cell::Cell;

use catena_base::mailbox::Mailbox;
use catena_base::{PayloadRoom, PeerBytes};
use catena_core::Process;
use catena_core::buffer::SendBuf;
use catena_core::hooks::Hook;
use catena_datatype::OpKind;
use catena_fabric::Payload;
use catena_link::{Sink, Source};

use crate::accumulate::Combine;
use crate::mailbox::{self, Bytes, Letter, MOST};
use crate::message::codes::{BYTE, codes};
use crate::message::record::{Head, What};
use crate::message::target::{combine, own_host_bytes};
use crate::operation::Operation;
use crate::place::TargetAddress;
use crate::registry;
use crate::transfer::{Elements, copy_bytes};
use crate::window::Window;

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
    fn acts_beside(&self) -> bool {
        true
    }

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
    let at = own_host_bytes(window, *addr, len as u64)?;
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
    /// Has a target whose memory only the kernel reaches carry out an operation, if it is a short
    /// one on a run of bytes. False if it did not; then nothing has happened.
    #[inline(never)]
    pub(crate) fn by_letter(
        &self,
        process: &Process,
        mailbox: *const Mailbox,
        operation: &mut Operation<'_>,
        elements: &Elements<'_>,
    ) -> bool {
        let Some((deed, bytes)) = written(operation, elements) else {
            return false;
        };
        let former = self.post_letter(process, mailbox, deed, elements, bytes);
        if let (
            Some(bytes),
            Operation::Get(result)
            | Operation::Fetch(_, _, result)
            | Operation::Swap { result, .. },
        ) = (&former, operation)
        {
            result.place(0, PeerBytes::from(&bytes[..elements.len()]));
        }
        former.is_some()
    }

    /// Posts a letter: `bytes` is what goes to the target. The former bytes, if the target has
    /// carried it out.
    fn post_letter(
        &self,
        process: &Process,
        mailbox: *const Mailbox,
        (what, operation, kind): (What, u8, u8),
        elements: &Elements<'_>,
        bytes: Bytes,
    ) -> Option<Bytes> {
        let &TargetAddress::Kernel { at: addr, .. } = &elements.place else {
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
        let reader = process.hook::<Reader>();
        mailbox::post(mailbox, &Letter { head, addr, bytes }, || {
            // Both may write to each other.
            reader.look(process);
            self.death_among(process, |dead| dead == elements.rank)
                .is_some()
        })
    }
}

/// What a letter says of an operation: what to do, of which kind on which kind of elements, and the
/// bytes that go there. `None` if it is not a short one on a run of bytes, or has to be refused.
fn written(operation: &Operation<'_>, elements: &Elements<'_>) -> Option<((What, u8, u8), Bytes)> {
    let len = elements.len() as u64;
    let most = match operation {
        Operation::Swap { .. } => MOST / 2,
        _ => MOST,
    };
    if len > most as u64 || !elements.ty.is_contiguous() {
        return None;
    }
    let combine = |kind: OpKind, origin: &SendBuf| {
        let changes = kind != OpKind::NoOp;
        let fits = !changes || origin.len() == len;
        if !fits || Combine::new(kind, elements.ty).is_err() {
            return None;
        }
        let (operation, of) = codes(kind, elements.ty);
        let bytes = if changes { packed(origin) } else { [0; MOST] };
        Some(((What::Fetch, operation, of), bytes))
    };
    match operation {
        Operation::Put(origin) if origin.len() == len => {
            Some(((What::Put, 0, BYTE), packed(origin)))
        }
        Operation::Get(into) if into.capacity() == len => Some(((What::Get, 0, BYTE), [0; MOST])),
        Operation::Combine(kind, origin) if *kind != OpKind::NoOp => combine(*kind, origin),
        Operation::Fetch(kind, origin, result) if result.capacity() == len => {
            combine(*kind, origin)
        }
        Operation::Swap { new, compare, .. } => {
            let len = elements.len();
            let mut both = [0; MOST];
            both[..len].copy_from_slice(&compare[..len]);
            both[MOST / 2..][..len].copy_from_slice(&new[..len]);
            Some(((What::Swap, 0, BYTE), both))
        }
        _ => None,
    }
}

/// The bytes of a short buffer.
pub(crate) fn packed(origin: &SendBuf) -> Bytes {
    let mut bytes = [0; MOST];
    let len = origin.len() as usize;
    // SAFETY: it is not longer.
    origin
        .part(0, len)
        .write(unsafe { PayloadRoom::new(bytes[..len].as_mut_ptr(), len) });
    bytes
}

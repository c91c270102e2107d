//! Members of a window that have died, where the job goes on without them
//! (`CATENA_FAULT_TOLERANCE`).
//!
//! Whatever waits for a member ends with an error once that one is known to have died, and so does
//! whatever waits for a lock that a dead member holds or is in the queue of. A place in a queue
//! that is given up for that stays taken, so it is said whose death it was, and those behind give
//! up as well. Nothing is repaired: what does not need the dead goes on.

use catena_base::element_lock::Held;
use catena_core::Process;
use catena_core::needs;
use catena_hang::{Need, WaitsFor, What};
use catena_objects::error::{Error, Result};

use crate::message::exchange;
use crate::window::Window;

/// For whom a wait is, of those whose deaths concern it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Awaits {
    /// For each of them.
    Each,
    /// For any of them.
    Any,
    /// For all of them to come to the same.
    Together,
    /// For those who have the lock of that member of the node to give it back.
    Holders(u32),
    /// For those in the gate to leave it.
    Gate,
}

impl Window {
    /// The error of a member that has died and of which `concerns` says that it matters.
    #[inline]
    pub(crate) fn death_among(
        &self,
        process: &Process,
        concerns: impl Fn(u32) -> bool,
    ) -> Option<Error> {
        match process.knows_deaths() || (self.has_messages.get() && exchange::knows_losses()) {
            false => None,
            true => self.death_among_slow(process, &concerns),
        }
    }

    #[cold]
    #[inline(never)]
    fn death_among_slow(&self, process: &Process, concerns: &dyn Fn(u32) -> bool) -> Option<Error> {
        (0..self.size()).find_map(|rank| {
            let peer = self.group.member(rank as usize);
            let error = process.death(peer).or_else(|| exchange::loss(peer))?;
            let note = |text: &str| format!("rank {rank} of the window has died: {text}");
            concerns(rank).then(|| Error::new(error.kind(), note(error.text())))
        })
    }

    /// That no member has died.
    ///
    /// # Errors
    /// `ProcAborted`
    pub(crate) fn all_live(&self, process: &Process) -> Result<()> {
        self.death_among(process, |_| true).map_or(Ok(()), Err)
    }

    /// What members are to do, those for whom this holds, each of them.
    pub(crate) fn need(
        &self,
        process: &Process,
        what: What,
        is_needed: impl Fn(u32) -> bool,
    ) -> Need {
        let mut need = Need::new(what);
        need.about = match self.name.borrow().as_slice() {
            [] => format!("a window of {} ranks", self.size()),
            name => format!("the window {}", String::from_utf8_lossy(name)),
        };
        need.which = needs::which(process, self.group.member(0), self.number_at(0));
        let ranks = (0..self.size()).filter(|&rank| is_needed(rank));
        needs::add(
            process,
            &mut need,
            ranks.map(|rank| self.group.member(rank as usize)),
        );
        // What is needed moves by itself while the other one is in MPI.
        need.open = what == What::Remote || need.of.is_empty();
        need
    }

    /// Waits until `done`, for which those are needed that it concerns.
    ///
    /// # Errors
    /// `ProcAborted` if it is not, and a member has died of which `concerns` says that it will
    /// never be.
    pub(crate) fn wait_unless_lost(
        &self,
        process: &Process,
        awaits: Awaits,
        mut done: impl FnMut() -> bool,
        concerns: impl Fn(u32) -> bool,
    ) -> Result<()> {
        let mut lost = None;
        let describe = |process: &Process, waits: &mut WaitsFor| {
            // Only what is said of deaths may note anything: these are looked at without that.
            let need = match awaits {
                Awaits::Holders(local) => {
                    self.need(process, What::Lock, |rank| self.has_lock(local, rank))
                }
                Awaits::Gate => self.need_of_gate(process),
                Awaits::Each | Awaits::Any | Awaits::Together => {
                    let mut need = self.need(process, What::Epoch, &concerns);
                    need.any = awaits == Awaits::Any;
                    need.together = awaits == Awaits::Together;
                    need
                }
            };
            waits.needs.push(need);
        };
        process.block(describe, |process| {
            if done() {
                return true;
            }
            lost = self.death_among(process, &concerns);
            lost.is_some()
        });
        lost.map_or(Ok(()), Err)
    }

    /// Takes the lock of a target's elements. While it waits, no function of the program is called:
    /// the exchange may be lent to who waits here.
    ///
    /// # Errors
    /// `ProcAborted` if a member has died while it held it: in the middle of an accumulate.
    #[inline(always)]
    pub(crate) fn hold_elements(&self, process: &Process, rank: u32) -> Result<Held<'_>> {
        let lock = &self
            .control
            .target(self.targets[rank as usize].local)
            .elements;
        lock.hold_unless(self.node.me, |holder| {
            process.progress_transfers();
            let holder = self.node.ranks[holder as usize];
            self.death_among(process, |dead| dead == holder).is_some()
        })
        .map_err(|holder| self.half_changed(process, self.node.ranks[holder as usize], rank))
    }

    #[cold]
    fn half_changed(&self, process: &Process, holder: u32, target: u32) -> Error {
        let death = self.death_among(process, |dead| dead == holder);
        let death = death.expect("it was asked for");
        let text = format!(
            "{}, in the middle of an accumulate to rank {target}, whose elements cannot be \
             accumulated to any more",
            death.text()
        );
        Error::new(death.kind(), text)
    }
}

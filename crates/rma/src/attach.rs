//! Memory of dynamic windows (MPI-5, chapter 12.2.4).

use catena_core::Process;
use catena_core::memory_at::kind_at;
use catena_objects::error::{Error, Kind, Result};
use catena_objects::fail;

use crate::heap::{self, Card};
use crate::regions::Region;
use crate::window::{Flavor, Window};

impl Window {
    fn check_dynamic(&self) -> Result<()> {
        if self.flavor != Flavor::Dynamic {
            fail!(
                RmaFlavor,
                "only a window of MPI_Win_create_dynamic has memory attached"
            );
        }
        Ok(())
    }

    /// `MPI_Win_attach`.
    ///
    /// # Errors
    /// `RmaFlavor` for another kind of window, `RmaAttach` for memory that is attached already, in
    /// part or as a whole, or lies on a device though the window was made before a process here had
    /// one; `NoMem`.
    pub fn attach(&self, base: *mut u8, size: i64) -> Result<()> {
        self.check_dynamic()?;
        let Ok(len) = u64::try_from(size) else {
            fail!(Size, "the size is {size}: it must not be negative");
        };
        if base.is_null() && len != 0 {
            fail!(Base, "the memory is a null pointer, but its size is {size}");
        }
        let kind = kind_at(base, len);
        let is_shared = self.node.ranks.len() > 1 && !self.has_near_messages.get();
        if !kind.is_host() && is_shared {
            fail!(
                RmaAttach,
                "the {len} bytes at {base:p} lie on a device, and no process of this node had \
                 begun to use one when the window was made: make the window later"
            );
        }
        let addr = base.expose_provenance() as u64;
        let mut attached = self.attached.borrow_mut();
        if let Some(other) = attached.overlapping(addr, len) {
            fail!(
                RmaAttach,
                "the {len} bytes at {addr:#x} overlap the {} at {:#x}, which are attached already",
                other.len,
                other.addr
            );
        }
        let region = Region {
            addr,
            len,
            card: match kind.is_host() {
                true => heap::card(base, len as usize).unwrap_or(Card::NONE),
                false => Card::on_device(kind),
            },
        };
        let table = self.control.regions(self.node.me);
        attached.attach(table, region).map_err(|error| {
            let text = format!("no memory for a table of what is attached: {error}");
            Error::new(Kind::NoMem, text)
        })
    }

    /// `MPI_Win_detach`. Members on other hosts that know how a network reaches the memory forget
    /// it first.
    ///
    /// # Errors
    /// `RmaFlavor` for another kind of window, `RmaAttach` if nothing was attached at that address.
    pub fn detach(&self, process: &Process, base: *const u8) -> Result<()> {
        self.check_dynamic()?;
        let addr = base.addr() as u64;
        let table = self.control.regions(self.node.me);
        let detached = self.attached.borrow_mut().detach(table, addr);
        let Some(len) = detached else {
            fail!(
                RmaAttach,
                "nothing is attached to the window at {addr:#x}: detach what MPI_Win_attach was \
                called with"
            );
        };
        if len != 0 {
            self.hide(process, addr);
        }
        Ok(())
    }
}

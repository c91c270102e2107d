//! Memory of dynamic windows (MPI-5, chapter 12.2.4).

use catena_core::Process;
use catena_objects::error::{Error, Kind, Result};
use catena_objects::fail;

use crate::create::check_host;
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
    /// part or as a whole, or lies on a device; `NoMem`.
    pub fn attach(&self, base: *mut u8, size: i64) -> Result<()> {
        self.check_dynamic()?;
        let Ok(len) = u64::try_from(size) else {
            fail!(Size, "the size is {size}: it must not be negative");
        };
        if base.is_null() && len != 0 {
            fail!(Base, "the memory is a null pointer, but its size is {size}");
        }
        check_host(base, len, Kind::RmaAttach)?;
        let addr = base.expose_provenance() as u64;
        let mut attached = self.attached.borrow_mut();
        let overlaps = |it: &&Region| addr < it.addr + it.len && it.addr < addr + len;
        if let Some(other) = attached.iter().find(overlaps) {
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
            card: heap::card(base, len as usize).unwrap_or(Card::NONE),
        };
        let at = attached.partition_point(|it| it.addr <= addr);
        attached.insert(at, region);
        let told = self.tell_attached(&attached);
        if told.is_err() {
            attached.remove(at);
        }
        told
    }

    /// Tells the others what is attached here.
    fn tell_attached(&self, attached: &[Region]) -> Result<()> {
        let some: Vec<Region> = attached.iter().filter(|it| it.len != 0).copied().collect();
        let table = self.control.regions(self.node.me);
        table.publish(&self.region_store, &some).map_err(|error| {
            let text = format!("no memory for a table of what is attached: {error}");
            Error::new(Kind::NoMem, text)
        })
    }

    /// `MPI_Win_detach`. Members on other hosts that know how a network reaches the memory forget it first.
    ///
    /// # Errors
    /// `RmaFlavor` for another kind of window, `RmaAttach` if nothing was attached at that address.
    pub fn detach(&self, process: &Process, base: *const u8) -> Result<()> {
        self.check_dynamic()?;
        let addr = base.addr() as u64;
        let mut attached = self.attached.borrow_mut();
        let Some(at) = attached.iter().position(|it| it.addr == addr) else {
            fail!(
                RmaAttach,
                "nothing is attached to the window at {addr:#x}: detach what MPI_Win_attach was \
                called with"
            );
        };
        let region = attached.remove(at);
        let told = self.tell_attached(&attached);
        drop(attached);
        if region.len != 0 {
            self.hide(process, addr);
        }
        told
    }
}

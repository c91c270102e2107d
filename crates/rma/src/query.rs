//! `MPI_Win_shared_query` (MPI-5, chapter 12.2.3).

use catena_objects::error::Result;
use catena_objects::fail;

use crate::window::{Flavor, Reach, Window};

/// The memory of a member, as this process may load and store it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Its bytes; 0 if it is not mapped here.
    pub size: u64,
    /// Bytes of its unit of displacement.
    pub unit: i64,
    /// Its address here, or null.
    pub base: *mut u8,
}

impl Window {
    /// The memory of a member; of the lowest with some if none is named.
    ///
    /// # Errors
    /// `RmaFlavor` for a dynamic window.
    pub fn shared_query(&self, rank: Option<u32>) -> Result<Part> {
        if self.flavor == Flavor::Dynamic {
            fail!(
                RmaFlavor,
                "a window of MPI_Win_create_dynamic has no memory of its own to be shared"
            );
        }
        let target = match rank {
            Some(rank) => &self.targets[rank as usize],
            None => {
                let some = self.targets.iter().find(|target| target.size != 0);
                some.unwrap_or(&self.targets[0])
            }
        };
        Ok(match &target.reach {
            // There is no address where there is no memory.
            Reach::Mapped { .. } if target.size == 0 => Part {
                size: 0,
                unit: target.unit,
                base: std::ptr::null_mut(),
            },
            Reach::Mapped { base, .. } => Part {
                size: target.size,
                unit: target.unit,
                base: *base,
            },
            Reach::Kernel { .. } | Reach::Device { .. } | Reach::Message { .. } => Part {
                size: 0,
                unit: 0,
                base: std::ptr::null_mut(),
            },
        })
    }
}

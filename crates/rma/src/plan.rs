//! The checked arguments of a call that makes a window.

use catena_abi::Aint;
use catena_core::memory_at::kind_at;
use catena_fabric::Kind;
use catena_objects::error::Result;
use catena_objects::{fail, info::Info};

use crate::hints::Hints;
use crate::window::Flavor;

/// The checked arguments of a call that makes a window.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Which call it is.
    pub flavor: Flavor,
    /// The memory of `MPI_Win_create`, else null.
    pub base: *mut u8,
    /// Its bytes, or how many are wanted.
    pub size: u64,
    /// The kind of memory that it is.
    pub kind: Kind,
    /// Bytes of a unit of displacement.
    pub unit: i64,
    /// Hints.
    pub hints: Hints,
    /// What the memory is to be aligned to.
    pub align: usize,
}

impl Plan {
    /// Checks the arguments.
    ///
    /// # Errors
    /// `Size`, `Disp`, `Base`, `InfoValue`.
    pub fn new(
        flavor: Flavor,
        base: *mut u8,
        size: Aint,
        unit: i64,
        info: Option<&Info>,
    ) -> Result<Plan> {
        let Ok(bytes) = u64::try_from(size) else {
            fail!(Size, "the size is {size}: it must not be negative");
        };
        if unit <= 0 {
            fail!(
                Disp,
                "the unit of displacements is {unit}: it must be positive"
            );
        }
        if flavor == Flavor::Create && base.is_null() && bytes != 0 {
            fail!(
                Base,
                "the window's memory is a null pointer, but its size is {size}"
            );
        }
        let hints = match info {
            Some(info) => Hints::default().with(info)?,
            None => Hints::default(),
        };
        let align = info
            .and_then(|info| info.hint("mpi_minimum_memory_alignment"))
            .and_then(|it| it.parse::<usize>().ok())
            .and_then(usize::checked_next_power_of_two);
        Ok(Plan {
            flavor,
            base,
            size: bytes,
            // Memory that is still to be made is the host's.
            kind: kind_at(base, if base.is_null() { 0 } else { bytes }),
            unit,
            hints,
            align: align.unwrap_or(1),
        })
    }
}

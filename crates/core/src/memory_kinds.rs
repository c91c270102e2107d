//! The kinds of memory that messages may lie in, as programs ask for them (MPI-5, chapter 11.4.3).

use catena_memory::{self as memory, Kind};
use catena_settings::{Setting, Text, setting};

/// The info key that asks for kinds of memory, and tells which there are.
pub const MEMORY_KINDS: &str = "mpi_memory_alloc_kinds";
/// Kinds of memory that messages may lie in on every host, whoever asks (MPI-5, 11.4.3).
const ALWAYS: [&str; 2] = ["mpi", "system"];

setting! {
    /// Kinds of memory that the program asks for messages to lie in, as
    /// "mpi,system,mpi:alloc_mem": -memory-alloc-kinds of mpirun.
    ///
    /// MPI_INFO_ENV shows them, the info of MPI_COMM_WORLD the supported ones
    /// (mpi_memory_alloc_kinds; MPI-5, 11.4.3). A session asks for its own.
    pub static MEMORY_ALLOC_KINDS: Text = Text("");
    scope: Local,
    level: User,
}

/// The setting of this module.
pub static SETTINGS: &[&dyn Setting] = &[&MEMORY_ALLOC_KINDS];

/// Whether buffers may lie in memory of CUDA.
pub fn takes_cuda() -> bool {
    catena_cuda::start();
    memory::has(Kind::Cuda)
}

/// The kinds of memory that are supported: whole ones, and parts of them that were asked for by
/// name.
pub(crate) fn memory_kinds(asked: &str) -> String {
    let mut kinds: Vec<String> = ALWAYS.map(str::to_owned).into();
    if memory::has(Kind::Cuda) {
        kinds.push("cuda".to_owned());
    }
    for kind in asked
        .split(',')
        .map(|kind| kind.trim().to_ascii_lowercase())
    {
        if is_granted(&kind) && !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    kinds.join(",")
}

/// Whether a kind, with the parts that it is restricted to, is supported.
fn is_granted(kind: &str) -> bool {
    let mut parts = kind.split(':');
    match parts.next() {
        Some("mpi") => parts.eq(["alloc_mem"]),
        Some("cuda") => {
            memory::has(Kind::Cuda)
                && parts.all(|part| ["host", "device", "managed"].contains(&part))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use catena_memory::stand_in;

    use super::*;

    #[test]
    fn memory_kinds_are_what_was_asked_for_and_is_there() {
        let all = memory_kinds("");
        assert!(all.starts_with("mpi,system"), "{all}");
        assert_eq!(memory_kinds("system,rocm:host"), all);
        let named = memory_kinds("rocm, MPI:alloc_mem,mpi:alloc_mem");
        assert_eq!(named, format!("{all},mpi:alloc_mem"));
    }

    #[test]
    fn memory_of_a_device_is_granted_as_it_was_asked_for() {
        stand_in::lend(Kind::Cuda, &mut [0u8]);
        let granted = memory_kinds("cuda, CUDA:device:managed,cuda:texture,level_zero");
        assert_eq!(granted, "mpi,system,cuda,cuda:device:managed");
    }
}

//! All settings of the library in one list, and warnings about unknown ones.

use catena_settings::{Registry, Setting, Sources};

use crate::listing;

/// Every setting that any part of the library reads, those of crates above this one last.
pub fn registry() -> Registry {
    let mut all: Vec<&'static dyn Setting> = Vec::new();
    all.extend_from_slice(catena_boot::SETTINGS);
    all.extend(catena_net::settings());
    all.extend_from_slice(crate::coll::SETTINGS);
    all.extend_from_slice(crate::coll::model::SETTINGS);
    all.extend_from_slice(catena_objects::errhandler::SETTINGS);
    all.extend_from_slice(crate::memory_kinds::SETTINGS);
    all.extend_from_slice(crate::check::SETTINGS);
    all.extend_from_slice(crate::beside::SETTINGS);
    all.extend_from_slice(crate::compress::SETTINGS);
    all.extend_from_slice(catena_cuda::SETTINGS);
    all.extend(listing::all().iter().flat_map(|it| it.settings));
    Registry::new(all)
}

/// Has this process tell the others of the settings that must be equal, when it is wired up.
pub fn tell() {
    // A chain that is none is told when it is opened.
    let shares_memory = catena_net::Chain::from_settings().is_ok_and(|chain| chain.shm);
    let equal = registry().equal_in_job(Sources::of_process());
    catena_boot::tell_settings(&equal, shares_memory);
}

/// Says on standard error what is wrong with the settings that this process
/// was given: once per job, by rank 0.
pub fn warn_unknown(rank: u32) {
    if rank == 0 {
        for warning in registry().check() {
            catena_base::tell!("catena: {warning}");
        }
    }
}

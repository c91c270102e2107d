//! The region that was opened last stays mapped, as the next one may lie in the same memory:
//! programs make and free windows again and again, and to map their pages anew takes long. The
//! owner of its chunk takes the pages back when that goes.

use std::cell::RefCell;
use std::io;
use std::sync::Arc;

use catena_core::Process;
use catena_core::hooks::Hook;

use super::chunk::Card;
use super::mapping::{Mapping, map_peer};

/// What is kept, until the last user of the library leaves.
#[derive(Debug, Default)]
struct LastRegion(RefCell<Option<Arc<Mapping>>>);

impl Hook<Process> for LastRegion {
    fn end(&self, _: &Process) {
        let last = self.0.take();
        drop(last);
    }
}

/// As [`map_peer`], of a region, which stays mapped until another one is opened.
///
/// # Errors
/// As [`map_peer`].
pub fn map_region(process: &Process, card: Card) -> io::Result<Arc<Mapping>> {
    let mapping = map_peer(card)?;
    let before = process
        .hook::<LastRegion>()
        .0
        .replace(Some(mapping.clone()));
    drop(before);
    Ok(mapping)
}

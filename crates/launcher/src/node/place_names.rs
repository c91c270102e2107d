//! Places of programs in words, of processes that may have ended.

use catena_symbols::{Maps, Symbols};

/// PlaceNames of programs in words.
pub struct PlaceNames {
    symbols: Symbols,
    /// The process that was asked about last, how long the map of its code is, and that.
    known: Option<(u32, usize, Maps)>,
}

impl Default for PlaceNames {
    fn default() -> PlaceNames {
        PlaceNames {
            symbols: Symbols::new(),
            known: None,
        }
    }
}

impl PlaceNames {
    /// The place in a process, by the map of its code, the addresses that a call returns to, and
    /// the line of Python; empty if it is not known.
    pub fn name(&mut self, pid: u32, maps: &str, frames: &[u64], python: &str) -> String {
        let is_other = |it: &(u32, usize, Maps)| (it.0, it.1) != (pid, maps.len());
        if self.known.as_ref().is_none_or(is_other) {
            self.known = Some((pid, maps.len(), Maps::parse(pid, maps)));
        }
        let symbols = &mut self.symbols;
        let place = self
            .known
            .as_ref()
            .and_then(|(.., maps)| symbols.place(maps, frames, python));
        place.map_or(String::new(), |place| place.to_string())
    }
}

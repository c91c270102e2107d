//! Where ranks wait in their programs.

use catena_hang::Rank;
use catena_symbols::{Maps, Symbols};

/// Names the places of calls in which the threads of a rank on this host wait.
pub fn name_places(rank: &mut Rank, symbols: &mut Symbols) {
    let waits = rank.threads.iter().any(|it| it.waits.is_some());
    let maps = waits.then(|| Maps::read(rank.pid));
    let Some(Ok(maps)) = maps else {
        return;
    };
    for thread in &mut rank.threads {
        if let Some(waits) = &thread.waits {
            let place = symbols.place(&maps, &waits.frames, &waits.python);
            thread.place = place.map_or(String::new(), |it| it.to_string());
        }
    }
}

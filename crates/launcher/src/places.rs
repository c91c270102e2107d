//! Where ranks are in their programs.

use std::time::{Duration, Instant};

use catena_hang::{Rank, State, note_calls};
use catena_symbols::{Maps, Symbols};
use catena_trace::View;

/// How long threads that do not wait are asked where they are, all together.
const ASKING: Duration = Duration::from_millis(500);

/// Names the places of calls in which ranks of this host wait, and where those are that do not.
#[derive(Debug)]
pub struct Places {
    symbols: Symbols,
    began: Instant,
}

impl Default for Places {
    fn default() -> Places {
        Places {
            symbols: Symbols::new(),
            began: Instant::now(),
        }
    }
}

impl Places {
    /// Names the places in the program where the threads of `rank` are, and notes their last calls,
    /// as `view` shows them.
    pub fn name(&mut self, rank: &mut Rank, view: &View<'_>) {
        note_calls(rank, view);
        if rank.state != State::Running {
            return;
        }
        let Ok(maps) = Maps::read(rank.pid) else {
            return;
        };
        for thread in &mut rank.threads {
            let symbols = &mut self.symbols;
            let place = match &thread.waits {
                Some(waits) if !waits.frames.is_empty() || !waits.python.is_empty() => {
                    symbols.place(&maps, &waits.frames, &waits.python)
                }
                // One on a stack that is not its own is looked at from outside.
                _ if self.began.elapsed() < ASKING => {
                    let sample = view.sample(rank.pid, thread.thread).ok().flatten();
                    sample.and_then(|sample| {
                        let frames = symbols.unwind(&maps, &sample);
                        symbols.place(&maps, &frames, &sample.python)
                    })
                }
                _ => None,
            };
            thread.place = place.map_or(String::new(), |it| it.to_string());
        }
    }
}

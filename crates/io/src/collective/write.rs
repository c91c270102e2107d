//! Rounds in which members write together; see [`two_phase`](super::two_phase).

use std::sync::Arc;

use catena_base::clock;
use catena_objects::error::Result;

use crate::collective::buffers::{SETS, next_run};
use crate::collective::parcel::Window;
use crate::collective::pieces::{Cursor, Walk};
use crate::collective::rounds::{END, Outcome, Rounds, code};
use crate::driver::{Direction, Driver, Part, move_run};
use crate::transfer::Transfer;

/// What an aggregator writes in a round.
struct Put {
    driver: Arc<dyn Driver>,
    window: Window,
    /// Where the window begins in the file.
    base: u64,
}

// SAFETY: the window stays until the work is done, and nobody else uses it meanwhile.
unsafe impl Send for Put {}

impl Put {
    /// Writes what members have put into the window.
    fn run(self) -> Outcome {
        let begin = clock::ticks();
        let Window { at, mask, len } = self.window;
        let mut outcome = Outcome::default();
        let mut place = 0;
        // SAFETY: nobody else writes these words.
        while let Some((from, to)) = unsafe { next_run(mask, len / 64, place) } {
            let run = Part {
                base: at.wrapping_add(from),
                len: to - from,
            };
            let (driver, offset, mut done) = (&*self.driver, self.base + from as u64, 0);
            outcome.calls += 1;
            // SAFETY: the window has these bytes, and no member changes them in this round.
            let moved = unsafe { move_run(driver, Direction::Write, run, offset, &mut done) };
            outcome.bytes += done;
            if let Err(error) = moved {
                outcome.stopped = Some((offset + done, code(&error)));
                break;
            }
            place = to;
        }
        outcome.time = clock::ticks().wrapping_sub(begin);
        outcome
    }
}

impl Rounds {
    /// Writes all members' bytes; how many of this one's were written, and the error or 0.
    pub async fn write(&mut self, transfer: &mut Transfer) -> Result<(u64, u64)> {
        let mut stopped = None;
        let mut cursor = Cursor::of(transfer);
        let mut walk = Walk::new(&mut transfer.memory);
        let mut base = self.base(self.plan.begin);
        for round in 0.. {
            let set = round % SETS;
            self.scatter((&mut cursor, &mut walk), base, set);
            self.settle().await;
            let worked = (round != 0).then_some((set + 1) % SETS);
            let met = self.meet(set, worked).await?;
            if met.stopped.is_some() {
                stopped = met.stopped;
                break;
            }
            self.put(base, set).await?;
            if met.next == END {
                self.settle().await;
                stopped = self.meet(set, Some(set)).await?.stopped;
                break;
            }
            base = self.base(met.next);
        }
        let len = transfer.len();
        Ok(match stopped {
            None => (len, 0),
            Some((until, code)) => (transfer.view.before(transfer.from, len, until), code),
        })
    }

    /// Puts this member's bytes of a round into the windows.
    fn scatter(&self, (cursor, walk): (&mut Cursor, &mut Walk<'_>), base: u64, set: usize) {
        let windows = self.buffers.windows(set);
        self.mark_runs(cursor, base, set, |from, run| {
            let at = (run.at - base) as usize;
            // SAFETY: the run lies in the windows; the program does not let members write the same
            // byte, and if it does, one of them is there. The walk goes on where it was.
            unsafe { walk.give(from, windows.wrapping_add(at), run.len as usize) };
        });
    }

    /// Begins to write what members have put into this aggregator's window.
    async fn put(&mut self, base: u64, set: usize) -> Result<()> {
        if let Some(mine) = self.seat.mine {
            self.unite(set, mine);
        }
        if self.seat.is_across() {
            self.collect(set).await?;
        }
        if let Some(mine) = self.seat.mine {
            let put = Put {
                driver: self.driver.clone(),
                window: self.window(set, mine),
                base: base + (mine * self.plan.window) as u64,
            };
            self.begin(set, move || put.run());
        }
        Ok(())
    }
}

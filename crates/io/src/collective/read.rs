//! Rounds in which members read together; see [`two_phase`](super::two_phase).

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use catena_base::clock;
use catena_objects::error::Result;

use crate::collective::buffers::SETS;
use crate::collective::pieces::{Cursor, Taker};
use crate::collective::rounds::{END, Outcome, Rounds, code};
use crate::driver::{Direction, Driver, Part, move_run};
use crate::transfer::Transfer;

/// What an aggregator reads in a round.
struct Fetch {
    driver: Arc<dyn Driver>,
    room: Part,
    from: u64,
}

// SAFETY: the window stays until the work is done, and nobody else uses it meanwhile.
unsafe impl Send for Fetch {}

impl Fetch {
    /// Reads the window.
    fn run(self) -> Outcome {
        let begin = clock::ticks();
        let (driver, len, mut done) = (&*self.driver, self.room.len as u64, 0);
        let moved = match len {
            0 => Ok(()),
            // SAFETY: the window has room, and no member uses it before all have met.
            _ => unsafe { move_run(driver, Direction::Read, self.room, self.from, &mut done) },
        };
        let stopped = match moved {
            Ok(()) if done == len => None,
            Ok(()) => Some((self.from + done, 0)),
            Err(error) => Some((self.from + done, code(&error))),
        };
        Outcome {
            bytes: done,
            calls: u64::from(len != 0),
            time: clock::ticks().wrapping_sub(begin),
            stopped,
        }
    }
}

impl Rounds {
    /// Reads all members' bytes; how many of this one's there were, and the error or 0.
    pub async fn read(&mut self, transfer: &mut Transfer) -> Result<(u64, u64)> {
        let wanted = self.seat.is_across().then(|| Cursor::of(transfer));
        let mut taker = Taker::new(transfer);
        let code = match wanted {
            Some(wanted) => self.read_across(wanted, &mut taker).await?,
            None => self.read_on_node(&mut taker).await?,
        };
        Ok((taker.taken(), code))
    }

    /// On one node: aggregators read ahead what is likely to be next.
    async fn read_on_node(&mut self, taker: &mut Taker<'_>) -> Result<u64> {
        let mut base = self.base(self.plan.begin);
        let mut set = 0;
        self.fetch(base, set);
        self.settle().await;
        let mut stopped = self.meet(set, Some(set)).await?.stopped;
        loop {
            let other = (set + 1) % SETS;
            let follows = self.limit(base);
            if stopped.is_none() {
                self.fetch(follows, other);
            }
            self.gather(taker, base, set, stopped.map(|(until, _)| until));
            if let Some((_, code)) = stopped {
                // Nobody takes anything from the rounds behind it.
                return Ok(code);
            }
            self.settle().await;
            let met = self.meet(set, Some(other)).await?;
            if met.next == END {
                return Ok(0);
            }
            set = other;
            if (follows..self.limit(follows)).contains(&met.next) {
                (base, stopped) = (follows, met.stopped);
            } else {
                base = self.base(met.next);
                self.fetch(base, set);
                self.settle().await;
                stopped = self.meet(set, Some(set)).await?.stopped;
            }
        }
    }

    /// On several: members say first what they want of a round, so only that goes from node to
    /// node.
    async fn read_across(&mut self, mut wanted: Cursor, taker: &mut Taker<'_>) -> Result<u64> {
        let mut base = self.base(self.plan.begin);
        let mut set = 0;
        self.mark_runs(&mut wanted, base, set, |_, _| ());
        self.fetch(base, set);
        loop {
            self.settle().await;
            let met = self.meet(set, Some(set)).await?;
            self.distribute(set).await?;
            self.crew.barrier().await?;
            let other = (set + 1) % SETS;
            let next = self.base(met.next);
            let goes_on = met.stopped.is_none() && met.next != END;
            if goes_on {
                self.mark_runs(&mut wanted, next, other, |_, _| ());
                self.fetch(next, other);
            }
            self.gather(taker, base, set, met.stopped.map(|(until, _)| until));
            if !goes_on {
                return Ok(met.stopped.map_or(0, |(_, code)| code));
            }
            (base, set) = (next, other);
        }
    }

    /// Begins to read this aggregator's window, if it is one.
    fn fetch(&mut self, base: u64, set: usize) {
        let Some(mine) = self.seat.mine else {
            return;
        };
        let window = self.window(set, mine);
        let from = base.saturating_add((mine * window.len) as u64);
        let len = self.plan.end.saturating_sub(from).min(window.len as u64);
        let fetch = Fetch {
            driver: self.driver.clone(),
            room: Part {
                base: window.at,
                len: len as usize,
            },
            from,
        };
        self.begin(set, move || fetch.run());
    }

    /// Takes this member's bytes of a round out of the windows, up to where the file ends.
    fn gather(&self, taker: &mut Taker<'_>, base: u64, set: usize, until: Option<u64>) {
        let windows = self.buffers.windows(set).cast_const();
        let limit = self.limit(base).min(until.unwrap_or(END));
        // SAFETY: the windows have the bytes from `base` up to the limit, and nobody writes them in
        // this round.
        let bytes = unsafe { taker.take((windows, base), limit) };
        let next = taker.offset().unwrap_or(END);
        self.buffers.slot(self.seat.place).next[set].store(next, Relaxed);
        self.counters.add(|it| &it.read, bytes);
    }
}

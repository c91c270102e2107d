//! A thread that takes the calls of a node's ranks while they run, and what it has made of them.

use std::fs::File;
use std::mem;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use catena_base::clock::ticks;
use catena_profile::timeline::{NodeTimeline, Written, whole_packets};
use catena_trace::RECORDS;

use super::place_names::PlaceNames;
use crate::clock;

/// How long rings are left alone: one that is written at full speed is full after some ten
/// milliseconds. Each look takes the core from a rank, where those keep all of them busy, so rings
/// that take long to fill are looked at less often.
const SHORT: Duration = Duration::from_millis(10);
const LONG: Duration = Duration::from_millis(40);

/// How full a ring is to be at the next look, records: the rest is for calls that come faster.
const WANTED: usize = RECORDS / 16;

/// Most bytes that wait for somebody to ask; then rings are left alone, and calls are lost there
/// when those are full.
const MOST: usize = 32 << 20;

/// Most bytes of an answer: those of all hosts have to fit into one message.
const TOLD: usize = 256 << 10;

/// A thread that takes calls.
pub struct Recorder {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    /// The jobs that it knows, by the numbers of their first processes.
    known: Vec<u32>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    wake: Condvar,
}

#[derive(Default)]
struct State {
    /// Jobs that have come, and that are over.
    new: Vec<(File, u32)>,
    over: Vec<u32>,
    packets: Vec<u8>,
    written: Written,
    is_ending: bool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Recorder {
    /// One for the node of that number. Without a thread nothing is taken, and calls are lost.
    pub fn start(node: u32) -> Recorder {
        let shared = Arc::new(Shared::default());
        let own = shared.clone();
        let thread = thread::Builder::new().name("trace".into());
        let thread = thread.spawn(move || record(node, &own)).ok();
        Recorder {
            shared,
            thread,
            known: Vec::new(),
        }
    }

    /// A job has come, whose processes share a file.
    pub fn add(&mut self, file: &File, first: u32) {
        if self.known.contains(&first) {
            return;
        }
        if let Ok(file) = file.try_clone() {
            self.known.push(first);
            self.shared.lock().new.push((file, first));
        }
    }

    /// A job is over: what is left of it is taken.
    pub fn close(&mut self, first: u32) {
        self.known.retain(|it| *it != first);
        self.shared.lock().over.push(first);
    }

    /// What was made so far, as much as an answer has room for; whether there is more; and how much
    /// that was in all.
    pub fn take(&mut self) -> (Vec<u8>, bool, Written) {
        let mut state = self.shared.lock();
        let whole = whole_packets(&state.packets, TOLD);
        let told = match whole == state.packets.len() {
            true => mem::take(&mut state.packets),
            false => {
                let rest = state.packets.split_off(whole);
                mem::replace(&mut state.packets, rest)
            }
        };
        (told, !state.packets.is_empty(), state.written)
    }

    /// Takes all that is left, and waits until that is done.
    pub fn end(&mut self) {
        self.shared.lock().is_ending = true;
        self.shared.wake.notify_one();
        if let Some(thread) = self.thread.take() {
            // A thread that has failed has left what it had made before.
            _ = thread.join();
        }
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.end();
    }
}

/// Takes calls until that is to end.
fn record(node: u32, shared: &Shared) {
    let host = catena_boot::host_name();
    let mut timeline = NodeTimeline::new(node, &host, clock::scale());
    let mut places = PlaceNames::default();
    let mut name =
        |pid: u32, maps: &str, frames: &[u64], python: &str| places.name(pid, maps, frames, python);
    let mut packets = Vec::new();
    let mut looked = Instant::now();
    loop {
        let mut state = shared.lock();
        let (new, over) = (mem::take(&mut state.new), mem::take(&mut state.over));
        let (is_ending, is_full) = (state.is_ending, state.packets.len() >= MOST);
        drop(state);
        timeline.set_scale(clock::scale());
        for (file, first) in new {
            timeline.add(file, first);
        }
        for first in over {
            timeline.close(Some(first), ticks(), &mut name, &mut packets);
        }
        let mut filled = 0;
        if is_ending {
            timeline.close(None, ticks(), &mut name, &mut packets);
        } else if !is_full {
            filled = timeline.take(ticks(), &mut name, &mut packets);
        }
        let since = looked.elapsed();
        looked += since;
        let mut state = shared.lock();
        match state.packets.is_empty() {
            true => mem::swap(&mut state.packets, &mut packets),
            false => state.packets.append(&mut packets),
        }
        state.written = timeline.written();
        if is_ending {
            return;
        }
        if filled < RECORDS / 8 && !state.is_ending {
            let waited = shared.wake.wait_timeout(state, pause(filled, since));
            drop(waited);
        }
    }
}

/// The time until the next look at the rings, from how many records the fullest one has got since
/// the last look.
fn pause(filled: usize, since: Duration) -> Duration {
    let wanted = since.mul_f64(WANTED as f64 / filled.max(1) as f64);
    wanted.clamp(SHORT, LONG)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rings_that_take_long_to_fill_are_looked_at_less_often() {
        let after = |filled| pause(filled, Duration::from_millis(10));
        assert_eq!((after(0), after(10)), (LONG, LONG));
        assert_eq!(after(WANTED / 2), Duration::from_millis(20));
        assert_eq!((after(WANTED), after(RECORDS)), (SHORT, SHORT));
        assert_eq!(pause(0, Duration::from_secs(1 << 40)), LONG);
    }
}

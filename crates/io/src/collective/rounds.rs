//! What the rounds of a collective call have in common: who sits where, where windows lie, how
//! members meet.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use catena_base::clock;
use catena_objects::error::{Error, Result};

use crate::call::CollectiveCall;
use crate::collective::buffers::{Buffers, mark, unite};
use crate::collective::choice::Plan;
use crate::collective::parcel::Window;
use crate::collective::pieces::Cursor;
use crate::counters::FileCounters;
use crate::driver::{Direction, Driver};
use crate::file::File;
use crate::nodes::Nodes;
use crate::threads::Task;
use crate::transfer::Transfer;
use crate::view::Run;

/// Nothing more to move.
pub(super) const END: u64 = u64::MAX;

/// Where a member is among the others.
#[derive(Debug)]
pub(super) struct Seat {
    pub nodes: Arc<Nodes>,
    pub rank: u32,
    /// Its node, and its place among the members there.
    pub node: usize,
    pub place: usize,
    /// The rank of each aggregator.
    pub owners: Vec<u32>,
    /// The window that this member has as an aggregator.
    pub mine: Option<usize>,
}

impl Seat {
    pub fn new(file: &File, plan: Plan) -> Self {
        let nodes = file.nodes.clone().expect("a plan is made for nodes");
        let rank = file.comm.rank;
        let node = nodes.of(rank);
        let neighbours = nodes.members(node);
        let place = neighbours.iter().position(|it| *it == rank);
        let place = place.expect("a member is on its own node");
        let owners = nodes.aggregators(plan.aggregators);
        let mine = owners.iter().position(|it| *it == rank);
        Seat {
            nodes,
            rank,
            node,
            place,
            owners,
            mine,
        }
    }

    /// The ranks of this node.
    pub fn neighbours(&self) -> &[u32] {
        self.nodes.members(self.node)
    }

    /// Whether members are on several nodes.
    pub fn is_across(&self) -> bool {
        self.nodes.len() > 1
    }
}

/// What members know when they have met.
#[derive(Clone, Copy, Debug)]
pub(super) struct Met {
    /// The lowest offset at which one goes on.
    pub next: u64,
    /// The first offset that an aggregator could not move, and the error or 0.
    pub stopped: Option<(u64, u64)>,
}

/// How the work of an aggregator on its window went.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    pub bytes: u64,
    pub calls: u64,
    /// Ticks of the clock.
    pub time: u64,
    /// How far it came, and the error or 0, if not to the end.
    pub stopped: Option<(u64, u64)>,
}

/// A collective call under way.
pub(super) struct Rounds {
    pub crew: CollectiveCall,
    pub driver: Arc<dyn Driver>,
    pub seat: Seat,
    pub buffers: Buffers,
    pub plan: Plan,
    pub counters: Arc<FileCounters>,
    /// Ticks that this member has waited for its own reading and writing.
    pub waited: u64,
    direction: Direction,
    /// Whether a core is free for a thread while this member copies.
    pub is_free: bool,
    /// What a thread does with this aggregator's window of a set.
    work: Option<(usize, Arc<Task<Outcome>>)>,
    /// Something that another host sent was bad.
    fault: Option<Error>,
}

impl Rounds {
    pub fn new(
        crew: CollectiveCall,
        file: &File,
        transfer: &Transfer,
        seat: Seat,
        buffers: Buffers,
        plan: Plan,
    ) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Rounds {
            crew,
            driver: file.driver.clone(),
            is_free: cores > seat.neighbours().len(),
            seat,
            buffers,
            plan,
            counters: file.counters.clone(),
            waited: 0,
            direction: transfer.memory.direction(),
            work: None,
            fault: None,
        }
    }

    /// Where the windows of a round begin in which the first byte is at `offset`.
    pub fn base(&self, offset: u64) -> u64 {
        offset - offset % self.plan.unit
    }

    /// Marks the runs that this member has in a round, tells the others of its windows, and where
    /// it goes on behind them. `each` gets every run, and where it begins in the transfer.
    pub fn mark_runs(
        &self,
        cursor: &mut Cursor,
        base: u64,
        set: usize,
        mut each: impl FnMut(u64, Run),
    ) {
        let place = self.seat.place;
        let mask = self.buffers.mask(set, place);
        let limit = self.limit(base);
        let first = cursor.offset();
        let mut end = base;
        if first.is_some_and(|first| first < limit) {
            // SAFETY: the mask is this member's.
            unsafe { mask.write_bytes(0, self.buffers.shape.span() / 64) };
        }
        loop {
            let from = cursor.taken();
            let Some(run) = cursor.take(limit) else {
                break;
            };
            // SAFETY: the run lies in the windows, and so in the mask, which is this member's.
            unsafe { mark(mask, (run.at - base) as usize, run.len as usize) };
            each(from, run);
            end = run.at + run.len;
        }
        let used = match first {
            Some(first) if end > base => self.windows_of(base, first, end),
            _ => 0,
        };
        let slot = self.buffers.slot(place);
        slot.used[set].store(used, Relaxed);
        slot.next[set].store(cursor.offset().unwrap_or(END), Relaxed);
    }

    /// The offset behind the windows of a round.
    pub fn limit(&self, base: u64) -> u64 {
        base.saturating_add(self.buffers.shape.span() as u64)
    }

    /// The bytes of a window in a set, with this member's mask of them.
    pub fn window(&self, set: usize, window: usize) -> Window {
        let len = self.plan.window;
        let mask = self.buffers.mask(set, self.seat.place);
        Window {
            at: self.buffers.windows(set).wrapping_add(window * len),
            mask: mask.wrapping_add(window * len / 64),
            len,
        }
    }

    /// The windows, as bits, in which bytes from `first` up to `end` lie.
    pub fn windows_of(&self, base: u64, first: u64, end: u64) -> u64 {
        let window = self.plan.window as u64;
        let (low, high) = ((first - base) / window, (end - 1 - base) / window);
        (u64::MAX << low) & (u64::MAX >> (63 - high))
    }

    /// Adds what the members of this node have marked in a window to this member's own mask. One
    /// member of a node does that for each window, between two meetings.
    pub fn unite(&self, set: usize, window: usize) {
        let mine = self.window(set, window).mask;
        let words = self.plan.window / 64;
        let uses = |member: usize| {
            let used = self.buffers.slot(member).used[set].load(Relaxed);
            used >> window & 1 != 0
        };
        if !uses(self.seat.place) {
            // SAFETY: the mask is this member's.
            unsafe { mine.write_bytes(0, words) };
        }
        let neighbours = 0..self.seat.neighbours().len();
        for member in neighbours.filter(|it| *it != self.seat.place && uses(*it)) {
            let other = self.buffers.mask(set, member);
            let other = other.wrapping_add(window * words);
            // SAFETY: its member has met this one since it wrote there, and will again before it
            // does; nobody else looks at these words of this member's mask.
            unsafe { unite(mine, other, words) };
        }
    }

    /// All members have arrived; where they go on in a set of windows, and how far aggregators came
    /// with another.
    pub async fn meet(&self, set: usize, worked: Option<usize>) -> Result<Met> {
        if !self.seat.is_across() {
            self.crew.barrier().await?;
            return Ok(Met {
                next: self.next(set),
                stopped: worked.and_then(|set| self.stopped(set)),
            });
        }
        let slot = self.buffers.slot(self.seat.place);
        let next = slot.next[set].load(Relaxed);
        let own = self.seat.mine.and(worked);
        let (until, code) = own.map_or((END, 0), |set| {
            let (until, code) = (&slot.until[set], &slot.code[set]);
            (until.load(Relaxed), code.load(Relaxed))
        });
        // The highest code is the lowest complement.
        let [next, until, code] = self.crew.lowest([next, until, !code]).await?;
        Ok(Met {
            next,
            stopped: (until != END).then_some((until, !code)),
        })
    }

    /// The lowest offset at which a member of this node goes on.
    fn next(&self, set: usize) -> u64 {
        let members = 0..self.buffers.shape.members;
        let slots = members.map(|it| self.buffers.slot(it));
        let next = slots.map(|slot| slot.next[set].load(Relaxed));
        next.min().unwrap_or(END)
    }

    /// The first window that an aggregator of this node could not move to its end.
    fn stopped(&self, set: usize) -> Option<(u64, u64)> {
        let slots = (0..self.plan.aggregators).map(|it| self.buffers.slot(it));
        let ends = slots.map(|it| (it.until[set].load(Relaxed), it.code[set].load(Relaxed)));
        ends.filter(|(until, _)| *until != END).min()
    }

    /// Begins to work on this aggregator's window.
    pub fn begin(&mut self, set: usize, work: impl FnOnce() -> Outcome + Send + 'static) {
        let before = clock::ticks();
        let task = self.crew.begin(self.is_free, work);
        self.waited += clock::ticks().wrapping_sub(before);
        self.work = Some((set, task));
    }

    /// Waits until that is done, and tells the others how it went.
    pub async fn settle(&mut self) {
        let Some((set, task)) = self.work.take() else {
            return;
        };
        let before = clock::ticks();
        let outcome = self.crew.end(task).await;
        self.waited += clock::ticks().wrapping_sub(before);
        let slot = self.buffers.slot(self.seat.place);
        let (until, code) = outcome.stopped.unwrap_or((END, 0));
        slot.until[set].store(until, Relaxed);
        slot.code[set].store(code, Relaxed);
        if self.direction == Direction::Write {
            self.counters.add(|it| &it.written, outcome.bytes);
        }
        self.counters.add(|it| &it.calls, outcome.calls);
        self.counters.add(|it| &it.time, outcome.time);
    }

    /// Another host sent something bad; the call goes on, as the others wait for this member, and
    /// fails at its end.
    pub fn note(&mut self, result: Result<()>) {
        if let Err(error) = result {
            self.fault.get_or_insert(error);
        }
    }

    /// What was noted.
    pub fn fault(self) -> Option<Error> {
        self.fault
    }
}

/// The code of the system for an error.
pub(super) fn code(error: &io::Error) -> u64 {
    error.raw_os_error().unwrap_or(libc::EIO) as u64
}

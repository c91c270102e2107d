//! What progress carries on of collectives: those that were started and are not complete.
//!
//! A collective can move when a message of it is complete, which `link` tells;
//! so progress costs what moves, however much is under way. Besides, when
//! nothing moves, a few are looked at in turn: perhaps a member of theirs called
//! something else, which no message of theirs tells. Those that use the board of
//! their communicator take it one after the other, and the first of them is looked at.
//! Of many communicators a few have their turn with each call.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::mem;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use catena_base::slab::{Key, Slab};
use catena_board::Pool;
use catena_shm::STARTED;

use super::ends::Ends;
use super::{Asked, CollRequest};
use crate::beside;
use crate::comm::Comm;
use crate::process::Process;
use crate::request::RequestObject;
use catena_process::{Hook, Hooked};

/// Collectives that are looked at in turn, by each call that moves none.
const LOOKS: usize = 8;

/// The collectives of a process.
#[derive(Debug, Default)]
pub(crate) struct Collectives {
    runs: RefCell<Runs>,
    /// Runs that are done, to be used again.
    pub idle: RefCell<Vec<Arc<CollRequest>>>,
    pub asked: Asked,
    pub ends: Ends,
    /// Those under way that may call functions of the program.
    foreign: Cell<usize>,
    /// The memory of boards that this process has found.
    pub boards: RefCell<Pool>,
}

#[derive(Debug, Default)]
struct Runs {
    all: Slab<Entry>,
    /// The keys of `all`, in turn.
    turns: VecDeque<Key>,
    /// Those that may move.
    ready: VecDeque<Key>,
    /// Those that use boards, which are in no other list.
    queues: Slab<Queue>,
    /// The keys of these queues in the order in which they are served, and the place of the next
    /// one.
    order: Vec<Key>,
    turn: usize,
    /// The memory of one that is empty.
    spare: VecDeque<Key>,
}

/// Operations that have the board of a communicator one after the other, or one that has a board of
/// its own.
#[derive(Debug)]
struct Queue {
    comm: Option<Arc<Comm>>,
    keys: VecDeque<Key>,
    /// Its place in the order.
    place: usize,
}

#[derive(Debug)]
struct Entry {
    obj: Arc<CollRequest>,
    /// Whether it may call functions of the program.
    is_foreign: bool,
    /// Messages that are complete, and whose results were not taken. May be
    /// below zero, when a result was taken before it was told of.
    news: i64,
    is_ready: bool,
}

/// A key in the words of `link`.
fn whom(key: Key) -> u64 {
    u64::from(key.generation) << 32 | u64::from(key.index)
}

impl Runs {
    fn add(&mut self, obj: Arc<CollRequest>, is_foreign: bool) -> Key {
        self.all.insert(Entry {
            obj,
            is_foreign,
            news: 0,
            is_ready: false,
        })
    }

    /// It waits until those before it have left the board.
    fn queue(&mut self, comm: &Arc<Comm>, key: Key) {
        let of = comm.coll.queue.get().unwrap_or_else(|| {
            let of = self.add_queue(Some(comm.clone()));
            comm.coll.queue.set(Some(of));
            of
        });
        if let Some(queue) = self.queues.get_mut(of) {
            queue.keys.push_back(key);
            comm.coll.enqueue();
        }
    }

    /// It has a board of its own: its queue.
    fn queue_alone(&mut self, key: Key) -> Key {
        let of = self.add_queue(None);
        if let Some(queue) = self.queues.get_mut(of) {
            queue.keys.push_back(key);
        }
        of
    }

    fn add_queue(&mut self, comm: Option<Arc<Comm>>) -> Key {
        let of = self.queues.insert(Queue {
            comm,
            keys: mem::take(&mut self.spare),
            place: self.order.len(),
        });
        self.order.push(of);
        of
    }

    /// The queue in turn.
    #[inline]
    fn queue_in_turn(&mut self) -> Option<Key> {
        if self.turn >= self.order.len() {
            self.turn = 0;
        }
        self.order.get(self.turn).copied()
    }

    /// The first operation of a queue, if there is that queue.
    #[inline]
    fn first_of(&self, queue: Key) -> Option<Key> {
        self.queues.get(queue)?.keys.front().copied()
    }

    /// An operation, the first of its queue, has left the board; if it was the last, its
    /// communicator, unless the board was its own.
    fn leave_queue(&mut self, of: Key, key: Key) -> Option<Option<Arc<Comm>>> {
        let queue = self.queues.get_mut(of)?;
        // Another thread may have been quicker.
        if queue.keys.front() != Some(&key) {
            return None;
        }
        queue.keys.pop_front();
        if let Some(comm) = &queue.comm {
            comm.coll.dequeue();
        }
        if !queue.keys.is_empty() {
            return None;
        }
        let Queue { comm, keys, place } = self.queues.remove(of)?;
        self.order.swap_remove(place);
        let moved = self.order.get(place).copied();
        if let Some(moved) = moved.and_then(|moved| self.queues.get_mut(moved)) {
            moved.place = place;
        }
        if let Some(comm) = &comm {
            comm.coll.queue.set(None);
        }
        self.spare = keys;
        Some(comm)
    }

    /// A message of a collective is complete, if that is not over.
    fn tell(&mut self, whom: u64) {
        let key = Key {
            index: whom as u32,
            generation: (whom >> 32) as u32,
        };
        if let Some(entry) = self.all.get_mut(key) {
            entry.news += 1;
            if entry.news > 0 && !entry.is_ready {
                entry.is_ready = true;
                self.ready.push_back(key);
            }
        }
    }

    /// The next one in turn, for which nothing has come, and whether it has waited
    /// for a while.
    fn next_turn(&mut self) -> Option<(Key, bool)> {
        while let Some(key) = self.turns.pop_front() {
            if let Some(entry) = self.all.get(key) {
                self.turns.push_back(key);
                // Another thread may be in a callback of its operation.
                let run = entry.obj.run.try_borrow_mut();
                return Some((key, run.is_ok_and(|mut run| run.waited())));
            }
        }
        None
    }

    fn next_ready(&mut self) -> Option<Key> {
        while let Some(key) = self.ready.pop_front() {
            if let Some(entry) = self.all.get_mut(key) {
                entry.is_ready = false;
                return Some(key);
            }
        }
        None
    }

    /// It took so many results.
    fn took(&mut self, key: Key, results: u32) {
        if let Some(entry) = self.all.get_mut(key) {
            entry.news -= i64::from(results);
            if entry.news > 0 && !entry.is_ready {
                entry.is_ready = true;
                self.ready.push_back(key);
            }
        }
    }
}

/// A run is in use by one thread at a time, which may be in the operation of a reduction, outside
/// of the lock: others leave that run alone, and carry on what they can.
impl Hook<Process> for Collectives {
    fn is_shared(&self) -> bool {
        true
    }

    /// Reductions with functions of the program wait for its calls, and all others behind them:
    /// they may be what comes first on a board.
    fn acts_beside(&self) -> bool {
        !self.are_foreign()
    }

    fn progress(&self, process: &Process) -> bool {
        let ready = {
            let mut runs = self.runs.borrow_mut();
            process.link(|link| link.completions(|done| runs.tell(done.word())));
            runs.ready.len()
        };
        let mut moved = ready != 0;
        for _ in 0..ready {
            let Some(key) = self.runs.borrow_mut().next_ready() else {
                break;
            };
            process.colls.looks.set(process.colls.looks.get() + 1);
            self.advance(process, key);
        }
        if !moved {
            let looks = self.runs.borrow().all.len().min(LOOKS);
            for _ in 0..looks {
                let Some((key, waited)) = self.runs.borrow_mut().next_turn() else {
                    break;
                };
                moved |= waited && self.advance(process, key);
            }
        }
        moved | self.advance_queues(process, LOOKS)
    }

    /// Advances all that can move on boards, whose owners ring no sleeper twice.
    fn before_sleep(&self, process: &Process) -> bool {
        !self.runs.borrow().order.is_empty() && self.advance_queues(process, usize::MAX)
    }
}

impl Collectives {
    /// Whether any are under way.
    pub fn are_some(&self) -> bool {
        !self.runs.borrow().all.is_empty()
    }

    /// Whether progress may call functions of the program: operations of reductions under way.
    pub fn are_foreign(&self) -> bool {
        self.foreign.get() != 0
    }

    /// All that are under way, as requests.
    pub fn under_way(&self) -> Vec<Arc<dyn RequestObject<Process>>> {
        let runs = self.runs.borrow();
        let runs = runs.all.iter().map(|(_, entry)| entry.obj.clone());
        runs.map(|run| -> Arc<dyn RequestObject<Process>> { run })
            .collect()
    }

    /// What `f` says first of the collectives under way.
    pub fn find<T>(&self, f: impl Fn(&CollRequest) -> Option<T>) -> Option<T> {
        let runs = self.runs.borrow();
        runs.all.iter().find_map(|(_, entry)| f(&entry.obj))
    }

    /// True if it is complete.
    fn advance(&self, process: &Process, key: Key) -> bool {
        let obj = self.runs.borrow().all.get(key).map(|it| it.obj.clone());
        let Some(obj) = obj else {
            return false;
        };
        let Ok(mut run) = obj.run.try_borrow_mut() else {
            return false;
        };
        let done = started(|| run.advance(process));
        let results = run.take_results();
        drop(run);
        let mut runs = self.runs.borrow_mut();
        if !done {
            runs.took(key, results);
            return false;
        }
        let entry = runs.all.remove(key);
        if entry.as_ref().is_some_and(|entry| entry.is_foreign) {
            self.foreign.set(self.foreign.get() - 1);
        }
        // Its turn is forgotten when most are of those that are over.
        if runs.turns.len() > 2 * runs.all.len() + LOOKS {
            let Runs { all, turns, .. } = &mut *runs;
            turns.retain(|&key| all.contains(key));
        }
        drop((runs, entry));
        process.collectives().remove_work(1);
        obj.keep(process);
        true
    }

    /// Advances the first of so many queues, and those behind it when it is over.
    fn advance_queues(&self, process: &Process, most: usize) -> bool {
        let rest = self.runs.borrow().order.len().min(most);
        let mut moved = false;
        for _ in 0..rest {
            let Some(queue) = self.runs.borrow_mut().queue_in_turn() else {
                break;
            };
            moved |= self.advance_queue(process, queue);
            // One that is empty is gone, and another one has its place.
            let mut runs = self.runs.borrow_mut();
            if runs.queues.contains(queue) {
                runs.turn += 1;
            }
        }
        moved
    }

    /// Advances the first of a queue, and those behind it when it is over; true if some are.
    fn advance_queue(&self, process: &Process, queue: Key) -> bool {
        let mut moved = false;
        loop {
            let Some(key) = self.runs.borrow().first_of(queue) else {
                return moved;
            };
            if !self.advance(process, key) && !self.leaves_board(process, key) {
                return moved;
            }
            moved = true;
            let left = self.runs.borrow_mut().leave_queue(queue, key);
            if let Some(comm) = left {
                if let Some(comm) = comm {
                    comm.leave_freed(process);
                }
                return true;
            }
        }
    }

    /// Advances the queue of the one that somebody asks for, if there are more than have a turn
    /// with each call.
    #[inline]
    pub(super) fn advance_asked(&self, process: &Process, asked: &CollRequest) {
        if self
            .runs
            .try_borrow()
            .is_ok_and(|runs| runs.order.len() > LOOKS)
        {
            let queue = asked.run.try_borrow().ok().and_then(|run| {
                let of_comm = || run.board()?.coll.queue.get();
                run.own_queue().or_else(of_comm)
            });
            if let Some(queue) = queue {
                self.advance_queue(process, queue);
            }
        }
    }

    /// Whether an operation goes by messages now.
    fn leaves_board(&self, process: &Process, key: Key) -> bool {
        let mut runs = self.runs.borrow_mut();
        let obj = runs.all.get(key).map(|it| it.obj.clone());
        let Some(mut run) = obj.as_ref().and_then(|it| it.run.try_borrow_mut().ok()) else {
            return false;
        };
        let leaves = run.board().is_none() && !run.has_own_board();
        if leaves {
            runs.turns.push_back(key);
            run.tell(process, whom(key));
        }
        leaves
    }
}

/// Has `advance` carry something on that was started: members that compute are called.
pub(super) fn started<T>(advance: impl FnOnce() -> T) -> T {
    let before = STARTED.load(Relaxed);
    STARTED.store(true, Relaxed);
    let out = advance();
    STARTED.store(before, Relaxed);
    out
}

impl Process {
    /// The collectives of this process.
    #[inline]
    pub(crate) fn collectives(&self) -> Hooked<'_, Process, Collectives> {
        self.hook()
    }
}

impl CollRequest {
    /// Leaves a collective to progress until it is complete.
    pub(crate) fn carry_on(self: Arc<Self>, process: &Process) {
        let bytes = match self.run.borrow().job() {
            Some((job, _)) => job.recipe.key().bytes as u64,
            None => 0,
        };
        beside::expect_steps(bytes);
        let collectives = process.collectives();
        collectives.add_work(1);
        let mut runs = collectives.runs.borrow_mut();
        let is_foreign = self.run.borrow().is_foreign();
        let foreign = &collectives.foreign;
        foreign.set(foreign.get() + usize::from(is_foreign));
        let key = runs.add(self.clone(), is_foreign);
        let mut run = self.run.borrow_mut();
        match run.board() {
            Some(comm) => runs.queue(comm, key),
            None if run.has_own_board() => run.set_own_queue(runs.queue_alone(key)),
            None => {
                runs.turns.push_back(key);
                run.tell(process, whom(key));
            }
        }
    }
}

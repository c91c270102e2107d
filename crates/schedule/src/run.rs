//! One execution of a schedule.

use crate::region::Region;
use crate::schedule::{NONE, Order, Schedule, Step};

/// What a schedule needs from below: messages and memory.
pub trait Exec {
    /// A message under way.
    type Handle: Copy;
    /// Why a message failed.
    type Error;

    /// Posts a message to `peer`; `None` if it is complete already, which is
    /// to say that `from` may be written again.
    ///
    /// # Errors
    /// If the message cannot be sent; nothing is then under way for it.
    fn send(&mut self, peer: u32, from: Region) -> Result<Option<Self::Handle>, Self::Error>;

    /// Posts a receive of exactly `into.len` bytes from `peer`; `None` if it
    /// is complete already.
    ///
    /// # Errors
    /// If it cannot be received; nothing is then under way for it.
    fn recv(&mut self, peer: u32, into: Region) -> Result<Option<Self::Handle>, Self::Error>;

    /// Whether a message is complete. Once it says so, or fails, the handle
    /// is not used again.
    ///
    /// # Errors
    /// If the message has failed.
    fn done(&mut self, handle: Self::Handle) -> Result<bool, Self::Error>;

    /// Combines two regions; see [`Step::Reduce`].
    ///
    /// # Errors
    /// If they cannot be combined.
    fn reduce(&mut self, from: Region, into: Region, order: Order) -> Result<(), Self::Error>;

    /// Copies between two regions; see [`Step::Copy`].
    fn copy(&mut self, from: Region, into: Region);
}

/// How many messages one [`Run::advance`] asks about at most when none of
/// them is done, so that thousands under way do not make each call slow.
const ASKED: usize = 64;

/// State of one execution. Keeps its memory from one start to the next.
#[derive(Clone, Debug)]
pub struct Run<H> {
    /// How many things each step still waits for.
    needs: Vec<u32>,
    ready: Ready,
    under_way: Vec<(u32, H)>,
    /// Where in `under_way` to ask next.
    ask: usize,
    /// Steps that are not complete.
    left: usize,
}

/// Steps that wait for nothing, a bit for each. The first of the schedule is done
/// first: an algorithm writes urgent messages before others.
#[derive(Clone, Debug, Default)]
struct Ready {
    words: Vec<u64>,
    /// No word before this one has a bit.
    first: usize,
}

impl Ready {
    fn restart(&mut self, ready: &[u64]) {
        self.words.clear();
        self.words.extend_from_slice(ready);
        self.first = 0;
    }

    #[inline]
    fn push(&mut self, step: u32) {
        let word = step as usize / 64;
        self.words[word] |= 1 << (step % 64);
        self.first = self.first.min(word);
    }

    #[inline]
    fn pop(&mut self) -> Option<u32> {
        while let Some(word) = self.words.get_mut(self.first) {
            if *word != 0 {
                let bit = word.trailing_zeros();
                *word &= *word - 1;
                return Some(self.first as u32 * 64 + bit);
            }
            self.first += 1;
        }
        None
    }
}

impl<H> Default for Run<H> {
    fn default() -> Self {
        Run {
            needs: Vec::new(),
            ready: Ready::default(),
            under_way: Vec::new(),
            ask: 0,
            left: 0,
        }
    }
}

impl<H: Copy> Run<H> {
    /// A run that has not started; it counts as complete.
    pub fn new() -> Self {
        Run::default()
    }

    /// Prepares an execution of `schedule`. Nothing happens before
    /// [`Run::advance`].
    ///
    /// # Panics
    /// If messages of an earlier execution are still under way.
    pub fn start(&mut self, schedule: &Schedule) {
        assert!(
            self.under_way.is_empty(),
            "restarted with messages under way"
        );
        self.needs.clone_from(&schedule.needs);
        self.ready.restart(&schedule.ready);
        self.ask = 0;
        self.left = schedule.steps.len();
    }

    /// Does whatever can be done now; true once everything is complete.
    /// `schedule` is the one of [`Run::start`]. Never blocks.
    ///
    /// Cost: a few words for each step, s/64 at most if the schedule has s, plus at
    /// most 64 questions to [`Exec::done`] that bring nothing.
    ///
    /// # Errors
    /// The first error of `exec`. The operation has then failed: the caller
    /// ends what [`Run::under_way`] still lists and starts nothing more.
    pub fn advance<E>(&mut self, schedule: &Schedule, exec: &mut E) -> Result<bool, E::Error>
    where
        E: Exec<Handle = H>,
    {
        self.issue(schedule, exec)?;
        let mut idle = 0;
        while idle < self.under_way.len().min(ASKED) {
            if self.ask >= self.under_way.len() {
                self.ask = 0;
            }
            let (step, handle) = self.under_way[self.ask];
            match exec.done(handle) {
                Ok(false) => {
                    self.ask += 1;
                    idle += 1;
                    continue;
                }
                Ok(true) => {
                    self.under_way.swap_remove(self.ask);
                    self.complete(schedule, step);
                }
                Err(error) => {
                    self.under_way.swap_remove(self.ask);
                    return Err(error);
                }
            }
            self.issue(schedule, exec)?;
        }
        Ok(self.left == 0)
    }

    /// Whether every step is complete.
    pub fn is_done(&self) -> bool {
        self.left == 0
    }

    /// Steps that are not complete.
    #[inline]
    pub fn left(&self) -> usize {
        self.left
    }

    /// Messages that were posted and are not complete.
    pub fn under_way(&self) -> impl Iterator<Item = H> + '_ {
        self.under_way.iter().map(|m| m.1)
    }

    /// Messages that were posted and are not complete, with their steps: for reports of who waits
    /// for whom.
    pub fn waiting<'a>(&'a self, schedule: &'a Schedule) -> impl Iterator<Item = (Step, H)> + 'a {
        self.under_way
            .iter()
            .map(|&(step, h)| (schedule.steps[step as usize], h))
    }

    /// Forgets the messages under way, after a failure, and gives them to the
    /// caller to end.
    pub fn abandon(&mut self) -> impl Iterator<Item = H> + '_ {
        self.left = 0;
        self.ready.restart(&[]);
        self.under_way.drain(..).map(|m| m.1)
    }

    /// Does every step that waits for nothing.
    fn issue<E>(&mut self, schedule: &Schedule, exec: &mut E) -> Result<(), E::Error>
    where
        E: Exec<Handle = H>,
    {
        while let Some(step) = self.ready.pop() {
            let posted = match schedule.steps[step as usize] {
                Step::Send { peer, from } => exec.send(peer, from)?,
                Step::Recv { peer, into } => exec.recv(peer, into)?,
                Step::Reduce { from, into, order } => {
                    exec.reduce(from, into, order)?;
                    None
                }
                Step::Copy { from, into } => {
                    exec.copy(from, into);
                    None
                }
            };
            let next = schedule.next_posted[step as usize];
            if next != NONE {
                self.release(next);
            }
            match posted {
                Some(handle) => self.under_way.push((step, handle)),
                None => self.complete(schedule, step),
            }
        }
        Ok(())
    }

    fn complete(&mut self, schedule: &Schedule, step: u32) {
        self.left -= 1;
        for &next in schedule.after(step) {
            self.release(next);
        }
    }

    fn release(&mut self, step: u32) {
        let needs = &mut self.needs[step as usize];
        *needs -= 1;
        if *needs == 0 {
            self.ready.push(step);
        }
    }
}

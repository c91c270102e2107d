//! Building a schedule: dependencies follow from the regions.

use std::collections::HashMap;

use crate::region::{Buf, Region};
use crate::schedule::{NONE, Order, Schedule, Step, StepId};
use crate::track::Track;

/// Where each piece of scratch starts; a cache line, so that pieces do not
/// share one.
const SCRATCH_ALIGN: usize = 64;

/// Writes down the steps of a schedule.
///
/// A step waits for every earlier step that wrote bytes it touches, and, if it
/// writes, for every earlier step that read them. Messages of one direction
/// with one peer are posted in the order written.
///
/// Cost: O(log s) for each of the s steps.
///
/// # Examples
/// Two ranks exchange a byte, and each adds what it has got to its own:
/// ```
/// use catena_schedule::simulate::{Sends, check};
/// use catena_schedule::{Builder, Order, Region};
///
/// let schedule = |other| {
///     let mut steps = Builder::new();
///     let got = steps.scratch(1);
///     steps.copy(Region::input(0, 1), Region::output(0, 1));
///     steps.send(other, Region::input(0, 1));
///     steps.recv(other, got);
///     steps.reduce(got, Region::output(0, 1), Order::FromRight);
///     steps.finish()
/// };
/// let (first, second) = (schedule(1), schedule(0));
/// let (input, mut output) = ([vec![3], vec![4]], [vec![0], vec![0]]);
/// let add = |from: &[u8], into: &mut [u8], _: Order| into[0] += from[0];
/// check(&[&first, &second], &input, &mut output, &add, Sends::Eager, 1)?;
/// assert_eq!(output, [[7], [7]]);
/// # Ok::<(), catena_schedule::simulate::Failure>(())
/// ```
#[derive(Debug, Default)]
pub struct Builder {
    steps: Vec<Step>,
    /// (waited for, waits).
    edges: Vec<(u32, u32)>,
    posted: Vec<(u32, u32)>,
    output: Track,
    scratch: Track,
    scratch_len: usize,
    last_send: Last,
    last_recv: Last,
    waits_for: Vec<u32>,
    /// What [`Buf::Input`] and [`Buf::Output`] stand for, within a part.
    frame: Option<[Region; 2]>,
    /// The ranks that peers stand for, within a part.
    names: Option<Box<[u32]>>,
}

impl Builder {
    /// An empty schedule.
    pub fn new() -> Self {
        Builder::default()
    }

    /// Number of steps so far.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// `len` bytes of fresh scratch memory, aligned to a cache line.
    pub fn scratch(&mut self, len: usize) -> Region {
        let offset = self.scratch_len;
        self.scratch_len += len.next_multiple_of(SCRATCH_ALIGN);
        Region::new(Buf::Scratch, offset, len)
    }

    /// Makes a part of the schedule out of an algorithm that knows nothing of the
    /// rest: in what `part` writes, [`Buf::Input`] is `input` and
    /// [`Buf::Output`] is `output`, either of which may lie anywhere.
    pub fn within(&mut self, input: Region, output: Region, part: impl FnOnce(&mut Self)) {
        let outer = self.frame;
        self.frame = Some([self.place(input), self.place(output)]);
        part(self);
        self.frame = outer;
    }

    /// Makes a part of the schedule out of an algorithm for some of the ranks: in what
    /// `part` writes, peer i is `ranks[i]`.
    pub fn among(&mut self, ranks: &[u32], part: impl FnOnce(&mut Self)) {
        let inner = ranks.iter().map(|&rank| self.name(rank)).collect();
        let outer = self.names.replace(inner);
        part(self);
        self.names = outer;
    }

    /// The rank that a peer of the present part stands for.
    fn name(&self, peer: u32) -> u32 {
        self.names
            .as_ref()
            .map_or(peer, |names| names[peer as usize])
    }

    /// Where a region of the present part lies in the buffers of the schedule.
    fn place(&self, r: Region) -> Region {
        match (self.frame, r.buf) {
            (None, _) | (_, Buf::Scratch) => r,
            (Some([input, _]), Buf::Input) => input.part(r.offset, r.len),
            (Some([_, output]), Buf::Output) => output.part(r.offset, r.len),
        }
    }

    /// Sends `from` to `peer`; an empty region is an empty message.
    pub fn send(&mut self, peer: u32, from: Region) -> StepId {
        let (peer, from) = (self.name(peer), self.place(from));
        let id = self.push(Step::Send { peer, from });
        self.read(from, id);
        self.link(id);
        if let Some(earlier) = self.last_send.replace(peer, id.0) {
            self.posted.push((earlier, id.0));
        }
        id
    }

    /// Receives `into.len` bytes from `peer`.
    pub fn recv(&mut self, peer: u32, into: Region) -> StepId {
        let (peer, into) = (self.name(peer), self.place(into));
        let id = self.push(Step::Recv { peer, into });
        self.write(into, id);
        self.link(id);
        if let Some(earlier) = self.last_recv.replace(peer, id.0) {
            self.posted.push((earlier, id.0));
        }
        id
    }

    /// Combines `from` into `into`; nothing for empty regions.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn reduce(&mut self, from: Region, into: Region, order: Order) {
        let (from, into) = (self.place(from), self.place(into));
        assert_eq!(
            from.len, into.len,
            "operands of a reduction differ in length"
        );
        if from.is_empty() {
            return;
        }
        debug_assert!(!from.overlaps(&into), "operands of a reduction overlap");
        let id = self.push(Step::Reduce { from, into, order });
        self.read(from, id);
        self.write(into, id);
        self.link(id);
    }

    /// Copies `from` to `into`; nothing if they are empty or the same.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn copy(&mut self, from: Region, into: Region) {
        let (from, into) = (self.place(from), self.place(into));
        assert_eq!(
            from.len, into.len,
            "source and destination of a copy differ in length"
        );
        if from.is_empty() || from == into {
            return;
        }
        debug_assert!(
            !from.overlaps(&into),
            "source and destination of a copy overlap"
        );
        let id = self.push(Step::Copy { from, into });
        self.read(from, id);
        self.write(into, id);
        self.link(id);
    }

    /// Makes `step` wait until `on` is complete, where no region says so.
    ///
    /// # Panics
    /// If `on` was not written before `step`.
    pub fn depend(&mut self, step: StepId, on: StepId) {
        assert!(on < step, "a step can only wait for an earlier one");
        self.edges.push((on.0, step.0));
    }

    /// The finished schedule.
    pub fn finish(self) -> Schedule {
        let n = self.steps.len();
        let mut needs = vec![0u32; n];
        let mut first = vec![0u32; n + 1];
        for &(on, step) in &self.edges {
            needs[step as usize] += 1;
            first[on as usize + 1] += 1;
        }
        for i in 0..n {
            first[i + 1] += first[i];
        }
        let mut fill = first.clone();
        let mut after = vec![0u32; self.edges.len()];
        for &(on, step) in &self.edges {
            let at = &mut fill[on as usize];
            after[*at as usize] = step;
            *at += 1;
        }
        let mut next_posted = vec![NONE; n];
        for &(on, step) in &self.posted {
            needs[step as usize] += 1;
            next_posted[on as usize] = step;
        }
        let mut ready = vec![0u64; n.div_ceil(64)];
        for step in (0..n).filter(|&s| needs[s] == 0) {
            ready[step / 64] |= 1 << (step % 64);
        }
        Schedule {
            steps: self.steps,
            needs,
            ready,
            first,
            after,
            next_posted,
            scratch: self.scratch_len,
            label: 0,
        }
    }

    fn push(&mut self, step: Step) -> StepId {
        let id = u32::try_from(self.steps.len()).expect("fewer than 2^32 steps");
        self.steps.push(step);
        StepId(id)
    }

    fn read(&mut self, r: Region, step: StepId) {
        let track = match r.buf {
            Buf::Input => return, // never written, so never waited for
            Buf::Output => &mut self.output,
            Buf::Scratch => &mut self.scratch,
        };
        track.read(r.offset, r.end(), step.0, &mut self.waits_for);
    }

    fn write(&mut self, r: Region, step: StepId) {
        let track = match r.buf {
            Buf::Input => {
                assert!(r.is_empty(), "a schedule does not write its input");
                return;
            }
            Buf::Output => &mut self.output,
            Buf::Scratch => &mut self.scratch,
        };
        track.write(r.offset, r.end(), step.0, &mut self.waits_for);
    }

    /// Turns what was collected for `step` into edges.
    fn link(&mut self, step: StepId) {
        if self.waits_for.is_empty() {
            return;
        }
        self.waits_for.sort_unstable();
        self.waits_for.dedup();
        for &on in &self.waits_for {
            if on != step.0 && on != NONE {
                self.edges.push((on, step.0));
            }
        }
        self.waits_for.clear();
    }
}

/// The last message for each peer: a list while it is short, as it is in all
/// algorithms but the linear ones, else a table.
#[derive(Debug, Default)]
struct Last {
    few: Vec<(u32, u32)>,
    many: HashMap<u32, u32>,
}

impl Last {
    const FEW: usize = 16;

    fn replace(&mut self, peer: u32, step: u32) -> Option<u32> {
        if !self.many.is_empty() {
            return self.many.insert(peer, step);
        }
        if let Some(entry) = self.few.iter_mut().find(|e| e.0 == peer) {
            return Some(std::mem::replace(&mut entry.1, step));
        }
        if self.few.len() < Self::FEW {
            self.few.push((peer, step));
        } else {
            self.many.extend(self.few.drain(..));
            self.many.insert(peer, step);
        }
        None
    }
}

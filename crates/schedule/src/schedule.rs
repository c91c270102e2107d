//! The finished, immutable schedule.

use std::fmt;

use crate::region::Region;

/// The side on which the operand `from` of a reduction stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// `into = from op into`, the form of an `MPI_User_function`.
    FromLeft,
    /// `into = into op from`.
    FromRight,
}

impl Order {
    /// The opposite order.
    #[inline]
    #[must_use]
    pub const fn flip(self) -> Self {
        match self {
            Order::FromLeft => Order::FromRight,
            Order::FromRight => Order::FromLeft,
        }
    }
}

/// One thing to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Send the bytes of `from` to rank `peer`.
    Send {
        /// Rank in the group of the operation.
        peer: u32,
        /// What to send.
        from: Region,
    },
    /// Receive `into.len` bytes from rank `peer`.
    Recv {
        /// Rank in the group of the operation.
        peer: u32,
        /// Where they go.
        into: Region,
    },
    /// Combine two regions of equal length, element by element.
    Reduce {
        /// The operand that stays as it is.
        from: Region,
        /// The operand that becomes the result.
        into: Region,
        /// Which of the two is the left operand.
        order: Order,
    },
    /// Copy between two regions of equal length that do not overlap.
    Copy {
        /// Source.
        from: Region,
        /// Destination.
        into: Region,
    },
}

/// A step of a schedule under construction, to name it in
/// [`crate::Builder::depend`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct StepId(pub(crate) u32);

/// What one rank does in one collective operation.
#[derive(Clone, Debug, Default)]
pub struct Schedule {
    pub(crate) steps: Vec<Step>,
    /// How many things each step waits for.
    pub(crate) needs: Vec<u32>,
    /// [`Schedule::roots`], a bit for each.
    pub(crate) ready: Vec<u64>,
    /// `after[first[s]..first[s + 1]]` wait for step `s` to be complete.
    pub(crate) first: Vec<u32>,
    pub(crate) after: Vec<u32>,
    /// The step that may be posted once this one is posted: the next message
    /// to, or from, the same peer. [`NONE`] if there is none.
    pub(crate) next_posted: Vec<u32>,
    pub(crate) scratch: usize,
    pub(crate) label: u16,
}

pub(crate) const NONE: u32 = u32::MAX;

impl Schedule {
    /// Bytes of scratch memory that one execution needs; 64-byte alignment
    /// is assumed.
    #[inline]
    pub fn scratch(&self) -> usize {
        self.scratch
    }

    /// All steps, in the order in which the algorithm wrote them.
    #[inline]
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Whether there is nothing to do.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// This schedule with other names for the peers, `name(peer)` each; no two
    /// peers may get the same one.
    #[must_use]
    pub fn with_peers(mut self, name: impl Fn(u32) -> u32) -> Self {
        for step in &mut self.steps {
            if let Step::Send { peer, .. } | Step::Recv { peer, .. } = step {
                *peer = name(*peer);
            }
        }
        self
    }

    /// This schedule with a number that tells something to whoever made it; 0
    /// without.
    #[must_use]
    pub fn labelled(mut self, label: u16) -> Self {
        self.label = label;
        self
    }

    /// See [`Schedule::labelled`].
    #[inline]
    pub fn label(&self) -> u16 {
        self.label
    }

    /// Steps that wait for nothing, in order.
    pub(crate) fn roots(&self) -> impl Iterator<Item = u32> + '_ {
        let free = |(step, &needs): (u32, &u32)| (needs == 0).then_some(step);
        (0..).zip(&self.needs).filter_map(free)
    }

    pub(crate) fn after(&self, step: u32) -> &[u32] {
        let s = step as usize;
        &self.after[self.first[s] as usize..self.first[s + 1] as usize]
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Send { peer, from } => write!(f, "send {from} to {peer}"),
            Step::Recv { peer, into } => write!(f, "recv {into} from {peer}"),
            Step::Reduce {
                from,
                into,
                order: Order::FromLeft,
            } => {
                write!(f, "reduce {into} = {from} op {into}")
            }
            Step::Reduce {
                from,
                into,
                order: Order::FromRight,
            } => {
                write!(f, "reduce {into} = {into} op {from}")
            }
            Step::Copy { from, into } => write!(f, "copy {from} to {into}"),
        }
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, step) in self.steps.iter().enumerate() {
            writeln!(f, "{i:4} {step}")?;
        }
        Ok(())
    }
}

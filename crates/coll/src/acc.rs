//! A partial result on its way through a reduction.

use catena_schedule::{Builder, Order, Region};

use crate::Args;

/// Bytes that may wait to be combined, and operands.
const ARRIVAL_MEMORY: usize = 256 << 10;
const MOST_ARRIVALS: usize = 32;

/// Starts as the rank's own input, which is not written: the first operand
/// that arrives is received where the result belongs and the input combined
/// into it, so that no copy is needed.
pub(crate) struct Acc {
    /// Where the value is.
    now: Region,
    /// Where the result belongs.
    home: Region,
    /// Where operands arrive once the value is at home; several, so that some
    /// can arrive while another is combined.
    arrive: Vec<Region>,
    turn: usize,
}

impl Acc {
    /// `input` and `home` are the same region, or do not overlap.
    pub(crate) fn new(input: Region, home: Region) -> Self {
        Acc {
            now: input,
            home,
            arrive: Vec::new(),
            turn: 0,
        }
    }

    /// Where the value is.
    pub(crate) fn now(&self) -> Region {
        self.now
    }

    /// Receives an operand from `peer` and combines it on the given side of
    /// the value.
    pub(crate) fn combine(&mut self, b: &mut Builder, peer: u32, side: Order) {
        if self.now == self.home {
            let from = self.arrival(b);
            b.recv(peer, from);
            b.reduce(from, self.home, side);
        } else {
            b.recv(peer, self.home);
            b.reduce(self.now, self.home, side.flip());
            self.now = self.home;
        }
    }

    /// Narrows the value to a part of it.
    pub(crate) fn keep(&mut self, from: usize, len: usize) {
        self.now = self.now.part(from, len);
        self.home = self.home.part(from, len);
    }

    /// Widens the value to `all` of which it is a part, at home.
    pub(crate) fn widen(&mut self, all: Region) {
        debug_assert!(self.now == self.home, "only a value at home grows");
        self.now = all;
        self.home = all;
    }

    /// Brings the value home if it is still in the input.
    pub(crate) fn settle(&mut self, b: &mut Builder) {
        b.copy(self.now, self.home);
        self.now = self.home;
    }

    fn arrival(&mut self, b: &mut Builder) -> Region {
        let len = self.home.len;
        self.turn = (self.turn + 1) % places(len);
        // A value only shrinks while it is combined: those that are there are
        // long enough.
        match self.arrive.get(self.turn) {
            Some(place) => place.part(0, len),
            None => {
                self.turn = self.arrive.len();
                let place = b.scratch(len);
                self.arrive.push(place);
                place
            }
        }
    }
}

/// Operands of `len` bytes each that can arrive at once.
pub(crate) fn arrivals(len: usize) -> usize {
    // The first arrives where the result belongs.
    1 + places(len)
}

fn places(len: usize) -> usize {
    (ARRIVAL_MEMORY / len.max(1)).clamp(2, MOST_ARRIVALS)
}

/// Combines the operands of all ranks with this rank's, `input`, to `output`:
/// from this rank downwards, then upwards, which keeps their order without a
/// place for each. If order does not matter, round the ring instead, so that
/// ranks that do this at the same time do not all listen to the same one.
pub(crate) fn combine_all(a: &Args, input: Region, output: Region, b: &mut Builder) {
    let mut acc = Acc::new(input, output);
    for k in 1..a.size {
        let (rank, side) = if a.commutative {
            (a.down(k), Order::FromLeft)
        } else if k <= a.rank {
            (a.rank - k, Order::FromLeft)
        } else {
            (k, Order::FromRight)
        };
        acc.combine(b, rank, side);
    }
    acc.settle(b);
}

//! Messages of one rank with many, and along trees.

use super::{Level, Terms, powers};

/// Messages that a rank posts, or takes, one after the other, with some work for
/// each.
#[derive(Clone, Copy, Debug, Default)]
struct Posts {
    /// When the processor, and the port of each kind, are free.
    processor: f64,
    ports: [f64; 2],
}

impl Posts {
    /// Posts a message; gives the time when it is through.
    fn post(&mut self, t: &Terms, level: Level, bytes: f64, work: f64) -> f64 {
        let start = self.free(level);
        self.skip(t, level, 1.0, bytes, work);
        start + t.message(level, bytes) + work
    }

    /// When the next message could be posted.
    fn free(&self, level: Level) -> f64 {
        self.processor.max(self.ports[level.port()])
    }

    /// Posts so many.
    fn skip(&mut self, t: &Terms, level: Level, number: f64, bytes: f64, work: f64) {
        let port = &mut self.ports[level.port()];
        *port = port.max(self.processor) + number * t.port(level, bytes);
        self.processor += number * (t.link(level).overhead + work);
    }
}

impl Terms<'_> {
    /// Messages along the ways from the root of a tree to its leaves: `bytes(ranks)`
    /// to a subtree.
    pub(crate) fn down<const RADIX: u32>(&self, bytes: impl Fn(f64) -> f64) -> f64 {
        self.tree::<RADIX>(bytes, 0.0, true)
    }

    /// Messages along the ways from the leaves of a tree to its root, and some work for each
    /// message.
    pub(crate) fn up<const RADIX: u32>(&self, bytes: impl Fn(f64) -> f64, work: f64) -> f64 {
        self.tree::<RADIX>(bytes, work, false)
    }

    /// What connects ranks of a tree; subtrees begin at multiples of their size, so
    /// they lie across ends of nodes and domains that do not.
    fn branch(&self, distance: u32) -> Level {
        let aligned = |ranks: u32, all: u32| match ranks < all {
            true => 1 << ranks.ilog2(),
            false => ranks,
        };
        if distance < aligned(self.per_domain, self.per_node) {
            Level::Domain
        } else if distance < aligned(self.per_node, self.shape.size) {
            Level::Node
        } else {
            Level::Network
        }
    }

    fn tree<const RADIX: u32>(&self, bytes: impl Fn(f64) -> f64, work: f64, down: bool) -> f64 {
        let size = self.shape.size;
        // Port time of the root's eager messages so far, and of the others to its
        // domain: they leave while one that is announced farther away is not yet
        // answered.
        let (mut eager, mut near) = (0.0, 0.0);
        // Times of a subtree of `unit` ranks, and of the last one if it has less.
        let (mut full, mut last) = (0.0, 0.0);
        let mut shared = 0.0;
        let mut unit: u32 = 1;
        while unit < size {
            // Time until a subtree of `number` ranks is through, each of whose
            // subtrees but the last has `unit` ranks.
            let through = |number: u32, last: f64| {
                let mut posts = Posts::default();
                let mut end: f64 = 0.0;
                for times in (1..number.div_ceil(unit)).rev() {
                    let ranks = unit.min(number - times * unit);
                    let rest = if ranks == unit { full } else { last };
                    let level = self.branch(times * unit);
                    let bytes = bytes(f64::from(ranks));
                    let overtaken = match level {
                        _ if !down || bytes <= self.link(level).eager as f64 => 0.0,
                        // Through a port of its own.
                        Level::Network if self.per_node > 1 => 0.0,
                        Level::Node => eager + near,
                        Level::Domain | Level::Network => eager,
                    };
                    // Other trees of a domain use its memory at the same time.
                    let others = match level {
                        Level::Network => 0,
                        _ => (self.per_domain / (unit * RADIX)).saturating_sub(1),
                    };
                    let wait = f64::from(others) * self.busy(level, bytes);
                    let slower = (wait - self.moving(level, bytes)).max(0.0);
                    let through = posts.post(self, level, bytes, work);
                    end = end.max(overtaken + through + slower + rest);
                }
                let free = posts.free(self.branch(unit - 1));
                end.max(free + if number <= unit { last } else { full })
            };
            let next = unit.saturating_mul(RADIX);
            let rest = if size.is_multiple_of(next) {
                next.min(size)
            } else {
                size % next
            };
            let cut = through(
                rest,
                if size.is_multiple_of(unit) {
                    full
                } else {
                    last
                },
            );
            (full, last) = (through(next.min(size), full), cut);
            for level in (1..next.min(size).div_ceil(unit)).map(|times| self.branch(times * unit)) {
                let bytes = bytes(f64::from(unit));
                match level {
                    Level::Network if self.per_node > 1 => {}
                    _ if bytes <= self.link(level).eager as f64 => eager += self.port(level, bytes),
                    Level::Domain => near += self.port(level, bytes),
                    _ => {}
                }
            }
            let messages = f64::from(size.div_ceil(unit) - size.div_ceil(next));
            shared += self.sharing(1.0, messages, bytes(f64::from(unit)));
            unit = next;
        }
        last.max(shared)
    }

    /// The root's messages of a binomial tree, of `bytes(ranks)` to a subtree, and
    /// the messages of those next to it: all that it has, through the same card.
    pub(crate) fn handing_out(&self, bytes: impl Fn(f64) -> f64) -> f64 {
        let mut posts = Posts::default();
        let mut waits: f64 = 0.0;
        for unit in powers(self.shape.size) {
            let ranks = f64::from(unit.min(self.shape.size - unit));
            let (level, bytes) = (self.level(unit), bytes(ranks));
            posts.skip(self, level, 1.0, bytes, 0.0);
            waits = waits.max(self.fixed(level, bytes) - self.fixed(level, 0.0));
        }
        let level = self.far();
        let others = if level == Level::Network && self.per_node > 1 {
            self.busy(level, bytes(self.p))
        } else {
            0.0
        };
        waits + posts.free(level) + others
    }

    /// A message from one rank to each other, or back, one behind the other, and
    /// some work for each.
    pub(crate) fn fan(&self, bytes: f64, work: f64) -> f64 {
        let mut posts = Posts::default();
        let mut end: f64 = 0.0;
        for (level, number) in self.peers() {
            if number > 0.0 {
                posts.skip(self, level, number - 1.0, bytes, work);
                end = end.max(posts.post(self, level, bytes, work));
            }
        }
        end
    }
}

//! Random graphs, and what goes along their edges.

use catena_coll::Layout;
use catena_coll::neighbor::Edge;

/// Numbers that look random.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, n: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }
}

/// One rank's side: its edges, and where their blocks lie.
#[derive(Default)]
pub struct Side {
    pub edges: Vec<Edge>,
    counts: Vec<usize>,
    displs: Vec<usize>,
    pub bytes: Vec<u8>,
}

impl Side {
    /// Adds an edge with a block of its own, behind a gap.
    fn add(&mut self, peer: usize, block: &[u8]) {
        self.edges.push(Edge {
            peer: peer as u32,
            block: self.counts.len() as u32,
        });
        self.counts.push(block.len());
        self.displs.push(self.bytes.len() + 1);
        self.bytes.push(0x5A);
        self.bytes.extend(block);
    }

    pub fn layout(&self) -> Layout<'_> {
        Layout::Table {
            counts: &self.counts,
            displs: &self.displs,
        }
    }
}

/// What all ranks send and receive on a random graph. Every edge has a block of
/// its own length, and some have none; edges come several times and lead back to
/// where they begin.
pub fn graph(size: usize, random: &mut Random) -> (Vec<Side>, Vec<Side>) {
    let mut from: Vec<Side> = (0..size).map(|_| Side::default()).collect();
    let mut to: Vec<Side> = (0..size).map(|_| Side::default()).collect();
    for _ in 0..random.below(6 * size) {
        let (u, v) = (random.below(size), random.below(size));
        let len = random.below(4) * random.below(40);
        let block: Vec<u8> = (0..len).map(|_| random.below(256) as u8).collect();
        to[u].add(v, &block);
        from[v].add(u, &block);
    }
    (to, from)
}

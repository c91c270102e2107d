//! Neighbourhood collectives on random graphs, against a reference that hands
//! out blocks edge by edge.

use catena_coll::Layout;
use catena_coll::neighbor::{Edge, plan};
use catena_plan::simulate::{Sends, check};
use catena_plan::{Order, Plan};

/// Numbers that look random.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }
}

/// One rank's side: its edges, and where their blocks lie.
#[derive(Default)]
struct Side {
    edges: Vec<Edge>,
    counts: Vec<usize>,
    displs: Vec<usize>,
    bytes: Vec<u8>,
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

    fn layout(&self) -> Layout<'_> {
        Layout::Table {
            counts: &self.counts,
            displs: &self.displs,
        }
    }
}

fn run(plans: &[Plan], input: &[Vec<u8>], expected: &[Vec<u8>], name: &str) {
    let plans: Vec<_> = plans.iter().collect();
    for sends in [Sends::Eager, Sends::Synchronous] {
        let mut output: Vec<Vec<u8>> = expected.iter().map(|e| vec![0x5A; e.len()]).collect();
        let nothing = |_: &[u8], _: &mut [u8], _: Order| unreachable!("nothing is reduced");
        check(&plans, input, &mut output, &nothing, sends, 7)
            .unwrap_or_else(|failure| panic!("{name}: {failure}"));
        assert!(output == expected, "{name}: {sends:?}");
    }
}

/// Every edge has a block of its own length, and some have none; edges come
/// several times and lead back to where they begin.
#[test]
fn alltoall_on_random_graphs() {
    for size in 1..=33 {
        let mut random = Random(size as u64);
        let mut from: Vec<Side> = (0..size).map(|_| Side::default()).collect();
        let mut to: Vec<Side> = (0..size).map(|_| Side::default()).collect();
        for _ in 0..random.below(6 * size) {
            let (u, v) = (random.below(size), random.below(size));
            let len = random.below(4) * random.below(40);
            let block: Vec<u8> = (0..len).map(|_| random.below(256) as u8).collect();
            to[u].add(v, &block);
            from[v].add(u, &block);
        }
        let plans: Vec<Plan> = (0..size)
            .map(|r| {
                let (to, from) = (&to[r], &from[r]);
                plan(&to.edges, &to.layout(), &from.edges, &from.layout())
            })
            .collect();
        let input: Vec<_> = to.into_iter().map(|s| s.bytes).collect();
        let expected: Vec<_> = from.into_iter().map(|s| s.bytes).collect();
        run(&plans, &input, &expected, &format!("{size} ranks"));
    }
}

/// One block goes to every neighbour.
#[test]
fn allgather_on_random_graphs() {
    const LEN: usize = 12;
    for size in 1..=33 {
        let mut random = Random(100 + size as u64);
        let input: Vec<Vec<u8>> = (0..size)
            .map(|_| (0..LEN).map(|_| random.below(256) as u8).collect())
            .collect();
        let (mut to, mut from) = (vec![Vec::new(); size], vec![Vec::new(); size]);
        let mut expected = vec![Vec::new(); size];
        for _ in 0..random.below(6 * size) {
            let (u, v) = (random.below(size), random.below(size));
            let edge = |peer: usize, block: usize| Edge {
                peer: peer as u32,
                block: block as u32,
            };
            to[u].push(edge(v, 0));
            let at = from[v].len();
            from[v].push(edge(u, at));
            expected[v].extend(&input[u]);
        }
        let even = Layout::Even(LEN);
        let plans: Vec<Plan> = (0..size)
            .map(|r| plan(&to[r], &even, &from[r], &even))
            .collect();
        run(&plans, &input, &expected, &format!("{size} ranks"));
    }
}

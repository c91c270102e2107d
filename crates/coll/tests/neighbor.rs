//! Neighbourhood collectives on random graphs, against a reference that hands
//! out blocks edge by edge.

#[path = "node/shared.rs"]
mod shared;

use catena_coll::neighbor::{Edge, Edges, Source, schedule};
use catena_coll::node::{Limits, Node, Op};
use catena_coll::{Args, Layout};
use catena_schedule::simulate::{Sends, check};
use catena_schedule::{Order, Schedule};
use shared::{Seat, Shared};

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

fn run(schedules: &[Schedule], input: &[Vec<u8>], expected: &[Vec<u8>], name: &str) {
    let schedules: Vec<_> = schedules.iter().collect();
    for sends in [Sends::Eager, Sends::Synchronous] {
        let mut output: Vec<Vec<u8>> = expected.iter().map(|e| vec![0x5A; e.len()]).collect();
        let nothing = |_: &[u8], _: &mut [u8], _: Order| unreachable!("nothing is reduced");
        check(&schedules, input, &mut output, &nothing, sends, 7)
            .unwrap_or_else(|failure| panic!("{name}: {failure}"));
        assert!(output == expected, "{name}: {sends:?}");
    }
}

/// What all ranks send and receive on a random graph. Every edge has a block of
/// its own length, and some have none; edges come several times and lead back to
/// where they begin.
fn graph(size: usize, random: &mut Random) -> (Vec<Side>, Vec<Side>) {
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

#[test]
fn alltoall_on_random_graphs() {
    for size in 1..=33 {
        let mut random = Random(size as u64);
        let (to, from) = graph(size, &mut random);
        let schedules: Vec<Schedule> = (0..size)
            .map(|r| {
                let (to, from) = (&to[r], &from[r]);
                schedule(&to.edges, &to.layout(), &from.edges, &from.layout())
            })
            .collect();
        let input: Vec<_> = to.into_iter().map(|s| s.bytes).collect();
        let expected: Vec<_> = from.into_iter().map(|s| s.bytes).collect();
        run(&schedules, &input, &expected, &format!("{size} ranks"));
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
        let schedules: Vec<Schedule> = (0..size)
            .map(|r| schedule(&to[r], &even, &from[r], &even))
            .collect();
        run(&schedules, &input, &expected, &format!("{size} ranks"));
    }
}

/// One rank's part of a call on a board.
struct Call {
    to: Side,
    from: Side,
    blocks: Vec<u32>,
    sources: Vec<Source>,
}

impl Call {
    fn near(&self) -> Edges<'_> {
        let mut peers = self.to.edges.iter().map(|e| e.peer);
        let first = peers.next();
        Edges {
            blocks: &self.blocks,
            destinations: &self.to.edges,
            sources: &self.sources,
            reader: first.filter(|&first| peers.all(|peer| peer == first)),
        }
    }
}

/// The calls of all ranks on a random graph.
fn calls(size: usize, random: &mut Random) -> Vec<Call> {
    let (to, from) = graph(size, random);
    let edges: Vec<Vec<Edge>> = to.iter().map(|side| side.edges.clone()).collect();
    let calls = to.into_iter().zip(from).zip(0..);
    let call = |((to, from), me): ((Side, Side), u32)| {
        // Those between the same two ranks meet in their order.
        let mut left: Vec<_> = edges
            .iter()
            .map(|all| all.iter().zip(0..).filter(|(e, _)| e.peer == me))
            .collect();
        let sources = from.edges.iter().map(|&Edge { peer, block }| Source {
            peer,
            block,
            entry: left[peer as usize].next().unwrap().1,
            entries: edges[peer as usize].len() as u32,
        });
        Call {
            blocks: to.edges.iter().map(|e| e.block).collect(),
            sources: sources.collect(),
            to,
            from,
        }
    };
    calls.map(call).collect()
}

/// One rank on its way through all calls.
struct Member {
    seat: Seat,
    node: Node,
    at: usize,
    op: Option<Op>,
}

impl Member {
    /// Polls the call it is in; true if it was completed.
    fn step(&mut self, calls: &[Vec<Call>]) -> bool {
        let me = self.seat.rank as usize;
        let Some(call) = calls.get(self.at).map(|all| &all[me]) else {
            return false;
        };
        let near = call.near();
        let args = Args {
            send: call.to.layout(),
            recv: call.from.layout(),
            near: Some(&near),
            ..Args::new(self.seat.shared.buffers.len() as u32, self.seat.rank)
        };
        let shared = self.seat.shared.clone();
        let op = self.op.get_or_insert_with(|| {
            let mut own = shared.buffers[me].lock().unwrap();
            own.input.clone_from(&call.to.bytes);
            own.output = vec![0x5A; call.from.bytes.len()];
            let kind = self.node.choose(None, &args).expect("can run on a board");
            self.node.start(kind, 0)
        });
        let done = op.poll(&mut self.node, &args, &mut self.seat);
        if !done.expect("calls fit") {
            return false;
        }
        let mut own = shared.buffers[me].lock().unwrap();
        assert!(own.output == call.from.bytes, "rank {me}: call {}", self.at);
        // What others do with the buffers from now on is wrong.
        own.input.fill(0xEE);
        self.op = None;
        self.at += 1;
        true
    }
}

#[test]
fn alltoall_on_a_board() {
    // Blocks in records, in rings, and in the buffers of the program.
    let limits = Limits {
        lines: 4,
        ring: 8192,
        long: 0,
        direct: 300,
    };
    for size in 1..=17 {
        let mut random = Random(size as u64);
        let calls: Vec<_> = (0..40).map(|_| calls(size, &mut random)).collect();
        let shared = Shared::new(size as u32, limits);
        let member = |rank| Member {
            seat: Seat {
                shared: shared.clone(),
                rank,
                op: |_, _, _| unreachable!("nothing is reduced"),
            },
            node: Node::new(rank, size as u32, false, limits),
            at: 0,
            op: None,
        };
        let mut members: Vec<_> = (0..size as u32).map(member).collect();
        while members.iter().any(|m| m.at < calls.len()) {
            let before: Vec<_> = members.iter().map(|m| (m.at, m.op.clone())).collect();
            // Now and then one runs far ahead.
            for _ in 0..size {
                let member = &mut members[random.below(size)];
                for _ in 0..random.below(8) {
                    member.step(&calls);
                }
            }
            members.iter_mut().for_each(|m| _ = m.step(&calls));
            let after = members.iter().map(|m| (m.at, m.op.clone()));
            assert!(!after.eq(before), "nobody moves");
        }
    }
}

//! Neighbourhood collectives on a board, on random graphs, against a reference that hands out
//! blocks edge by edge.

#[path = "../../coll/tests/reference/graph.rs"]
mod graph;
#[path = "support/shared.rs"]
mod shared;

use catena_board::{Limits, Member, Op};
use catena_coll::Args;
use catena_coll::neighbor::{Edge, Edges, Source};
use graph::{Random, Side, graph};
use shared::{Seat, Shared};

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
struct Runner {
    seat: Seat,
    member: Member,
    at: usize,
    op: Option<Op>,
}

impl Runner {
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
            let kind = self.member.choose(None, &args).expect("can run on a board");
            self.member.start(kind, 0)
        });
        let done = op.poll(&mut self.member, &args, &mut self.seat);
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
        let member = |rank| Runner {
            seat: Seat {
                shared: shared.clone(),
                rank,
                op: |_, _, _| unreachable!("nothing is reduced"),
            },
            member: Member::new(rank, size as u32, false, limits),
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

//! Neighbourhood collectives on random graphs, against a reference that hands
//! out blocks edge by edge.

#[path = "reference/graph.rs"]
mod graph;

use catena_coll::Layout;
use catena_coll::neighbor::{Edge, schedule};
use catena_schedule::simulate::{Sends, check};
use catena_schedule::{Order, Schedule};
use graph::{Random, graph};

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

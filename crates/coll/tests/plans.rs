//! How long the schedule of a rank is on 4096 ranks, and how much memory it asks for: for
//! every algorithm that is chosen there.

use catena_coll::simulate::Cluster;
use catena_coll::{Args, Collective, Layout, Nodes, Site, TYPICAL, select};
use catena_schedule::simulate::RankPlace;
use catena_schedule::{Schedule, Step};

const RANKS: u32 = 4096;
const PER_NODE: u32 = 64;

/// Bytes of the shortest segments of a long message.
const SEGMENT: usize = 8 << 10;

/// Bytes of operands that may wait to be combined.
const ARRIVALS: usize = 256 << 10;

/// Messages of a rank that takes part in rounds and trees: with all of its node, and
/// four times with others in each of log₂ p rounds.
const FEW: usize = 2 * PER_NODE as usize + 4 * 12;

/// One call of each length, on ranks that are alone on their nodes or not.
fn calls() -> impl Iterator<Item = (Collective, usize, u32)> {
    let lengths = [8, 1 << 10, 64 << 10, 1 << 20];
    let nodes = [1, PER_NODE];
    let all = Collective::ALL.into_iter();
    all.flat_map(move |what| lengths.map(|bytes| nodes.map(|node| (what, bytes, node))))
        .flatten()
}

fn assert_short(schedule: &Schedule, what: Collective, bytes: usize, text: &str) {
    use Collective::*;
    let ranks = RANKS as usize;
    // Bytes that pass a rank.
    let all = match what {
        Gather | Gatherv | Scatter | Scatterv | Allgather | Alltoall | Alltoallv => ranks * bytes,
        _ => bytes,
    };
    let message = |step: &&Step| matches!(step, Step::Send { .. } | Step::Recv { .. });
    let messages = schedule.steps().iter().filter(message).count();
    // A message for each rank where only the root knows their lengths, and where long
    // blocks would be passed on many times.
    let most = match what {
        Gatherv | Scatterv | Alltoallv => 2 * ranks,
        Alltoall | Allgatherv if all >= 1 << 20 => 2 * ranks,
        _ => (FEW + 5 * (all / SEGMENT)).min(2 * ranks),
    };
    assert!(messages <= most, "{messages} messages: {text}");
    // In rounds of short blocks each block is moved by itself.
    let moved = if what == Alltoall {
        ranks * (12 + 2)
    } else {
        64
    };
    let steps = schedule.steps().len();
    assert!(steps <= 2 * messages + moved, "{steps} steps: {text}");
    // What others wait for, twice on its way, and the ends of cache lines.
    let memory = schedule.scratch();
    assert!(
        memory <= 3 * all + ARRIVALS + 64 * steps,
        "{memory} bytes: {text}"
    );
}

#[test]
fn schedules_on_thousands_of_ranks_are_short() {
    for (what, bytes, per_node) in calls() {
        let (node, domain) = (per_node, per_node.div_ceil(4));
        let cluster = Cluster::regular(RANKS, node, domain, &TYPICAL);
        let place = |r| RankPlace {
            node: r / node,
            domain: r / domain,
        };
        let nodes = Nodes::new(&(0..RANKS).map(place).collect::<Vec<_>>());
        let (bytes, block) = match what {
            Collective::Barrier => (0, 0),
            Collective::ReduceScatter | Collective::Allgatherv => {
                let block = bytes.div_ceil(RANKS as usize).next_multiple_of(8);
                (block * RANKS as usize, block)
            }
            _ => (bytes, bytes),
        };
        let algorithm = select(what, &cluster.shape(bytes, 8, true), &TYPICAL, None);
        for rank in [0, 1, PER_NODE - 1, PER_NODE, RANKS / 2, RANKS - 1] {
            let schedule = algorithm.schedule(&Args {
                size: RANKS,
                rank,
                root: 0,
                in_place: false,
                elem: 8,
                commutative: true,
                send: Layout::Even(block),
                recv: Layout::Even(block),
                site: Some(Site::new(&nodes, &TYPICAL)),
                turned: 0,
                near: None,
            });
            let text = format!("{what:?}/{} {bytes} x{per_node} {rank}", algorithm.name);
            assert_short(&schedule, what, bytes, &text);
        }
    }
}

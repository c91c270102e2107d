//! What messages cost, by which algorithms are chosen: the parameters of
//! [`catena_coll::Model`] as settings.

use std::time::Duration;

use catena_coll::Model;
use catena_schedule::simulate::{Link, Shared};
use catena_settings::{Bytes, Setting, setting};
use catena_shm::SHM_EAGER_MAX;

const MOST: Duration = Duration::from_secs(1);

setting! {
    /// Time from the end of the sender's work to the arrival, between ranks that
    /// share a memory domain.
    ///
    /// Collectives that go by messages choose their algorithms by a model of the
    /// machine; `catena coll` shows what it makes of a call.
    pub static MODEL_DOMAIN_LATENCY: Duration = Duration::from_nanos(150);
    range: Duration::ZERO..=MOST,
    scope: AllEqual,
    level: Tuner,

    /// Time from the end of the sender's work to the arrival, between memory domains of a node.
    pub static MODEL_NODE_LATENCY: Duration = Duration::from_nanos(250);
    range: Duration::ZERO..=MOST,
    scope: AllEqual,
    level: Tuner,

    /// Time from the end of the sender's work to the arrival, between nodes.
    pub static MODEL_NETWORK_LATENCY: Duration = Duration::from_nanos(1200);
    range: Duration::ZERO..=MOST,
    scope: AllEqual,
    level: Tuner,

    /// Time from the end of the sender's work to the arrival, within a node that has more ranks
    /// than cores: a message waits until its receiver gets one.
    pub static MODEL_CROWDED_LATENCY: Duration = Duration::from_micros(5);
    range: Duration::ZERO..=MOST,
    scope: AllEqual,
    level: Tuner,

    /// GB/s of messages that a core moves on such a node: its ranks share the
    /// cores that copy them.
    pub static MODEL_CROWDED_BANDWIDTH: f64 = 5.0;
    range: 0.001..=1e6,
    scope: AllEqual,
    level: Tuner,

    /// Processor time for a message on such a node besides its bytes, of both
    /// sides.
    pub static MODEL_CROWDED_OVERHEAD: Duration = Duration::from_nanos(500);
    range: Duration::ZERO..=MOST,
    scope: AllEqual,
    level: Tuner,

    /// Processor time for a message within a node, on either side.
    pub static MODEL_NODE_OVERHEAD: Duration = Duration::from_nanos(50);
    range: Duration::ZERO..=MOST,
    scope: AllEqual,
    level: Tuner,

    /// Processor time for a message to another node, on either side.
    pub static MODEL_NETWORK_OVERHEAD: Duration = Duration::from_nanos(250);
    range: Duration::ZERO..=MOST,
    scope: AllEqual,
    level: Tuner,

    /// Time from one message of a rank to another node to the next, at least.
    pub static MODEL_NETWORK_GAP: Duration = Duration::from_nanos(50);
    range: Duration::ZERO..=MOST,
    scope: AllEqual,
    level: Tuner,

    /// GB/s of one message in a memory domain.
    pub static MODEL_DOMAIN_BANDWIDTH: f64 = 10.0;
    range: 0.001..=1e6,
    scope: AllEqual,
    level: Tuner,

    /// GB/s of one message between domains of a node.
    pub static MODEL_NODE_BANDWIDTH: f64 = 8.33;
    range: 0.001..=1e6,
    scope: AllEqual,
    level: Tuner,

    /// GB/s of one message between nodes.
    pub static MODEL_NETWORK_BANDWIDTH: f64 = 12.5;
    range: 0.001..=1e6,
    scope: AllEqual,
    level: Tuner,

    /// Longer messages between nodes wait for an answer of their receiver.
    pub static MODEL_NETWORK_EAGER: Bytes = Bytes::kib(16);
    scope: AllEqual,
    level: Tuner,

    /// GB/s of all messages through the memory of a domain.
    pub static MODEL_MEMORY_BANDWIDTH: f64 = 66.7;
    range: 0.001..=1e6,
    scope: AllEqual,
    level: Tuner,

    /// Time for which a message keeps the memory of a domain busy, besides its
    /// bytes.
    pub static MODEL_MEMORY_GAP: Duration = Duration::from_nanos(2);
    range: Duration::ZERO..=MOST,
    scope: AllEqual,
    level: Tuner,

    /// GB/s of all messages through the network card of a node, either way.
    pub static MODEL_CARD_BANDWIDTH: f64 = 12.5;
    range: 0.001..=1e6,
    scope: AllEqual,
    level: Tuner,

    /// Time for which a message keeps the card busy, besides its bytes.
    pub static MODEL_CARD_GAP: Duration = Duration::from_nanos(8);
    range: Duration::ZERO..=MOST,
    scope: AllEqual,
    level: Tuner,

    /// Time for a copy or a reduction besides its bytes.
    pub static MODEL_STEP: Duration = Duration::from_nanos(30);
    range: Duration::ZERO..=MOST,
    scope: AllEqual,
    level: Tuner,

    /// GB/s of combining operands.
    pub static MODEL_REDUCE_BANDWIDTH: f64 = 10.0;
    range: 0.001..=1e6,
    scope: AllEqual,
    level: Tuner,

    /// GB/s of copying.
    pub static MODEL_COPY_BANDWIDTH: f64 = 20.0;
    range: 0.001..=1e6,
    scope: AllEqual,
    level: Tuner,
}

/// All settings of the model.
pub static SETTINGS: &[&dyn Setting] = &[
    &MODEL_DOMAIN_LATENCY,
    &MODEL_NODE_LATENCY,
    &MODEL_NETWORK_LATENCY,
    &MODEL_CROWDED_LATENCY,
    &MODEL_CROWDED_BANDWIDTH,
    &MODEL_CROWDED_OVERHEAD,
    &MODEL_NODE_OVERHEAD,
    &MODEL_NETWORK_OVERHEAD,
    &MODEL_NETWORK_GAP,
    &MODEL_DOMAIN_BANDWIDTH,
    &MODEL_NODE_BANDWIDTH,
    &MODEL_NETWORK_BANDWIDTH,
    &MODEL_NETWORK_EAGER,
    &MODEL_MEMORY_BANDWIDTH,
    &MODEL_MEMORY_GAP,
    &MODEL_CARD_BANDWIDTH,
    &MODEL_CARD_GAP,
    &MODEL_STEP,
    &MODEL_REDUCE_BANDWIDTH,
    &MODEL_COPY_BANDWIDTH,
];

/// The machine as the settings tell; `cores` of a node that has more ranks than
/// that, which all of them share.
pub fn machine(cores: Option<u32>) -> Model {
    let per_byte = |gigabytes: f64| 1e-9 / gigabytes;
    let eager = |limit: Bytes| usize::try_from(limit.get()).unwrap_or(usize::MAX);
    let near = |latency: Duration, bandwidth| {
        let latency = cores.map_or(latency, |_| MODEL_CROWDED_LATENCY.get());
        Link {
            latency: latency.as_secs_f64(),
            overhead: MODEL_NODE_OVERHEAD.get().as_secs_f64(),
            gap: 0.0,
            per_byte: per_byte(bandwidth),
            // Sums depend on the algorithm, and are not to depend on a profile.
            eager: eager(SHM_EAGER_MAX.untuned()),
        }
    };
    let memory = Shared {
        per_message: MODEL_MEMORY_GAP.get().as_secs_f64(),
        per_byte: per_byte(MODEL_MEMORY_BANDWIDTH.get()),
    };
    // What messages keep busy there are the cores.
    let shared = |cores: u32| {
        let (overhead, cores) = (MODEL_CROWDED_OVERHEAD.get(), f64::from(cores.max(1)));
        let bandwidth = MODEL_CROWDED_BANDWIDTH.get() * cores;
        Shared {
            per_message: memory.per_message.max(overhead.as_secs_f64() / cores),
            per_byte: memory.per_byte.max(per_byte(bandwidth)),
        }
    };
    Model {
        domain: near(MODEL_DOMAIN_LATENCY.get(), MODEL_DOMAIN_BANDWIDTH.get()),
        node: near(MODEL_NODE_LATENCY.get(), MODEL_NODE_BANDWIDTH.get()),
        network: Link {
            latency: MODEL_NETWORK_LATENCY.get().as_secs_f64(),
            overhead: MODEL_NETWORK_OVERHEAD.get().as_secs_f64(),
            gap: MODEL_NETWORK_GAP.get().as_secs_f64(),
            per_byte: per_byte(MODEL_NETWORK_BANDWIDTH.get()),
            eager: eager(MODEL_NETWORK_EAGER.get()),
        },
        memory: cores.map_or(memory, shared),
        card: Shared {
            per_message: MODEL_CARD_GAP.get().as_secs_f64(),
            per_byte: per_byte(MODEL_CARD_BANDWIDTH.get()),
        },
        step: MODEL_STEP.get().as_secs_f64(),
        reduce: per_byte(MODEL_REDUCE_BANDWIDTH.get()),
        copy: per_byte(MODEL_COPY_BANDWIDTH.get()),
        handover: cores.map_or(0.0, |_| MODEL_CROWDED_LATENCY.get().as_secs_f64()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use catena_coll::{Collective, Placement, Shape, TYPICAL, select};

    /// The tests of the choice are about the machine that is chosen for.
    #[test]
    fn defaults_are_the_typical_machine() {
        let numbers = |m: &Model| {
            let link = |l: &Link| [l.latency, l.overhead, l.gap, l.per_byte, l.eager as f64];
            let shared = |s: &Shared| [s.per_message, s.per_byte];
            let links = [&m.domain, &m.node, &m.network].map(link).concat();
            let shares = [&m.memory, &m.card].map(shared).concat();
            [links, shares, vec![m.step, m.reduce, m.copy, m.handover]].concat()
        };
        for (a, b) in numbers(&machine(None)).iter().zip(numbers(&TYPICAL)) {
            assert!((a - b).abs() <= 0.001 * b, "{a} is not {b}");
        }
        assert_eq!(machine(Some(2)).node.latency, 5e-6);
        assert_eq!(
            machine(Some(2)).network.latency,
            machine(None).network.latency
        );
    }

    /// Measured with 8 ranks on 2 cores: what is chosen takes 0.6 to 0.9 of the time
    /// of what would be chosen with a core for each.
    #[test]
    fn ranks_that_share_cores_go_the_way_with_the_least_work() {
        use Collective::*;
        let model = machine(Some(2));
        let chosen = |what, bytes| {
            let shape = Shape {
                size: 8,
                bytes,
                elem: 8,
                commutative: true,
                placement: Placement::one_node(8),
            };
            select(what, &shape, &model, None).name
        };
        const LONG: usize = 64 << 10;
        assert_eq!(chosen(Bcast, LONG), "linear");
        assert_eq!(chosen(Gather, LONG), "linear");
        assert_eq!(chosen(Allgather, LONG), "linear");
        assert_eq!(chosen(Scan, LONG), "chain");
        assert_eq!(chosen(Exscan, LONG), "chain");
        assert_eq!(chosen(Allreduce, 8), "direct");
        assert_eq!(chosen(Allreduce, LONG), "direct");
        assert_eq!(chosen(ReduceScatter, 8 * LONG), "direct");
    }
}

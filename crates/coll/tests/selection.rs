//! The estimate behind the choice against a simulation of the machine it
//! describes: what is chosen costs at most a tenth more than the best there is,
//! with few exceptions.

use catena_coll::simulate::Cluster;
use catena_coll::{Collective, Shape, TYPICAL, algorithms, select};

/// The one point where the choice is known to cost 1.42 times the best: just
/// above the eager limit, `rabenseifner` is estimated too dear.
const KNOWN: &str = "reduce p=48 n=8448:";

/// Loss by the choice: its simulated time over that of the best.
fn loss(collective: Collective, shape: &Shape, cluster: &Cluster) -> (f64, String) {
    let rows: Vec<(&str, f64)> = algorithms(collective)
        .iter()
        .filter(|a| (a.requires)(shape))
        .map(|a| (a.name, cluster.time(a, shape).expect("no deadlock")))
        .collect();
    let best = rows.iter().map(|r| r.1).fold(f64::INFINITY, f64::min);
    let chosen = select(collective, shape, cluster.model(), None).name;
    let cost = rows
        .iter()
        .find(|r| r.0 == chosen)
        .expect("chosen among them")
        .1;
    let text = rows
        .iter()
        .map(|(n, c)| format!(" {n} {:.2}", c * 1e6))
        .collect::<String>();
    (
        cost / best,
        format!(
            "{} p={} n={}: chose {chosen} of{text}",
            collective.name(),
            shape.size,
            shape.bytes
        ),
    )
}

#[test]
fn the_choice_is_close_to_the_best() {
    let mut worst = Vec::new();
    let mut points = 0;
    for collective in Collective::ALL {
        if matches!(
            collective,
            Collective::Gatherv
                | Collective::Scatterv
                | Collective::Alltoallv
                | Collective::Allgatherv
        ) {
            continue;
        }
        for size in [2, 3, 4, 5, 6, 7, 8, 12, 13, 16, 24, 32, 33, 48, 64] {
            for per_node in [1, size] {
                let cluster = Cluster::regular(size, per_node, per_node, &TYPICAL);
                for bytes in [8, 1 << 10, 8 << 10, 64 << 10, 256 << 10, 1 << 20] {
                    let bytes = (bytes / 8usize).next_multiple_of(size as usize) * 8;
                    let shape = cluster.shape(bytes, 8, true);
                    let (loss, text) = loss(collective, &shape, &cluster);
                    points += 1;
                    if loss > 1.1 {
                        worst.push((loss, text));
                    }
                }
            }
        }
    }
    worst.sort_by(|a, b| b.0.total_cmp(&a.0));
    for (loss, text) in &worst {
        println!("{loss:.2} {text}");
    }
    // Odd numbers of ranks have effects that no short formula has.
    let bad = worst
        .iter()
        .filter(|(loss, text)| *loss > 1.25 && !text.starts_with(KNOWN));
    assert_eq!(bad.count(), 0, "a choice costs a quarter more than need be");
    assert!(
        worst.len() * 100 <= points,
        "{} of {points} choices are off",
        worst.len()
    );
}

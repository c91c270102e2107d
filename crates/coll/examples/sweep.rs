//! Costs against simulation at many points: for each algorithm how far off its
//! cost is, and where a choice loses more than a tenth.
//!
//!     cargo run --release -p catena-coll --example sweep [collective]... [ranks]...
//!
//! With `-v` every point is shown.

use catena_coll::simulate::Cluster;
use catena_coll::{Collective, Shape, TYPICAL, Terms, algorithms, select};

const RANKS: &[u32] = &[
    2, 3, 4, 5, 6, 7, 8, 12, 13, 16, 24, 33, 48, 64, 96, 128, 256, 1000, 1024, 4096,
];
const BYTES: &[usize] = &[
    8,
    64,
    512,
    1 << 12,
    1 << 14,
    1 << 16,
    1 << 18,
    1 << 20,
    1 << 22,
    1 << 24,
];
const PER_NODE: &[u32] = &[1, 2, 8, 64];

fn per_domain(per_node: u32) -> u32 {
    if let Ok(n) = std::env::var("DOMAIN") {
        return n.parse::<u32>().unwrap().min(per_node);
    }
    if per_node > 2 { per_node / 2 } else { per_node }
}

struct Row {
    name: &'static str,
    cost: f64,
    time: f64,
}

fn rows(cluster: &Cluster, what: Collective, shape: &Shape) -> Vec<Row> {
    let terms = Terms::new(shape, cluster.model());
    let all = algorithms(what).iter().filter(|a| a.serves(shape));
    let row = |a: &catena_coll::Algorithm| Row {
        name: a.name,
        cost: (a.cost)(&terms),
        time: cluster.time(a, shape).expect("schedules fit together"),
    };
    all.map(row).collect()
}

/// Bytes for which this collective makes sense at all.
fn bytes(what: Collective, ranks: u32, bytes: usize) -> Option<usize> {
    use Collective::*;
    let p = ranks as usize;
    match what {
        Barrier => (bytes == 8).then_some(0),
        Reduce | Allreduce | Scan | Exscan | Bcast => Some(bytes),
        ReduceScatter | Allgatherv => {
            let whole = bytes.next_multiple_of(8 * p);
            (bytes >= 8 * p || bytes <= 64).then_some(whole)
        }
        // All blocks together fit into memory.
        _ => (bytes * p <= 1 << 30).then_some(bytes),
    }
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let verbose = args.iter().any(|a| a == "-v");
    let most: f64 = 1.1;
    let numbers: Vec<u32> = args.iter().filter_map(|a| a.parse().ok()).collect();
    let names: Vec<&String> = args
        .iter()
        .filter(|a| a.parse::<u32>().is_err() && !a.starts_with('-'))
        .collect();
    let ranks = if numbers.is_empty() { RANKS } else { &numbers };
    let mut total = (0, 0);
    for what in Collective::ALL {
        let name = what.name();
        if !names.is_empty() && !names.iter().any(|n| *n == name) {
            continue;
        }
        // Lowest and highest cost over time.
        let mut off: Vec<(&str, f64, String, f64, String, usize)> = Vec::new();
        for &per_node in PER_NODE {
            for &p in ranks {
                if per_node > 1 && per_node >= 2 * p {
                    continue;
                }
                let cluster = Cluster::regular(p, per_node, per_domain(per_node), &TYPICAL);
                for n in BYTES.iter().filter_map(|&n| bytes(what, p, n)) {
                    let shape = cluster.shape(n, 8, true);
                    let start = std::time::Instant::now();
                    let rows = rows(&cluster, what, &shape);
                    let took = start.elapsed().as_secs_f64();
                    let best = rows.iter().map(|r| r.time).fold(f64::INFINITY, f64::min);
                    let chosen = select(what, &shape, &TYPICAL, None).name;
                    let time = rows.iter().find(|r| r.name == chosen).unwrap().time;
                    let loss = time / best;
                    let point = format!("p={p} x{per_node} n={n}");
                    for r in &rows {
                        // What is far from the best needs no precision.
                        if r.time > 1.5 * best && r.cost > 1.5 * best {
                            continue;
                        }
                        let ratio = r.cost / r.time;
                        let at = off.iter().position(|o| o.0 == r.name).unwrap_or_else(|| {
                            off.push((r.name, 1.0, String::new(), 1.0, String::new(), 0));
                            off.len() - 1
                        });
                        let o = &mut off[at];
                        if ratio < o.1 {
                            (o.1, o.2) = (ratio, point.clone());
                        }
                        if ratio > o.3 {
                            (o.3, o.4) = (ratio, point.clone());
                        }
                        o.5 += usize::from(r.time == best);
                    }
                    total.0 += 1;
                    total.1 += usize::from(loss > most);
                    if verbose || loss > most {
                        let mark = |r: &Row| {
                            let star = if r.name == chosen { "*" } else { "" };
                            format!(" {star}{} {:.2}/{:.2}", r.name, r.cost * 1e6, r.time * 1e6)
                        };
                        let all: String = rows.iter().map(mark).collect();
                        println!("{loss:.2} {name} {point}:{all}");
                    }
                    if took > 2.0 {
                        println!("     {name} {point} took {took:.1} s");
                    }
                }
            }
        }
        for (row, low, at_low, high, at_high, best) in off {
            println!(
                "     {name}/{row}: best at {best}; {low:.2} ({at_low}) .. {high:.2} ({at_high})"
            );
        }
    }
    println!("{} of {} choices are off", total.1, total.0);
}

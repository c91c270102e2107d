//! `catena coll`: which algorithm a collective takes that goes by messages, and why.

use std::ffi::OsString;

use catena_coll::simulate::Cluster;
use catena_coll::{Collective, Selection, Shape, Why, algorithms, explain};
use catena_core::coll::{forced, model};
use catena_settings::{Bytes, Registry, Value, nearest};

const HELP: &str = include_str!("help/coll.txt");

/// More makes simulation a matter of minutes.
const MOST_SIMULATED: (u32, usize) = (1024, 64 << 20);

/// What is asked.
struct Question {
    what: Collective,
    bytes: usize,
    ranks: u32,
    per_node: u32,
    per_domain: u32,
    elem: usize,
    commutative: bool,
    cores: u32,
    simulate: bool,
}

/// Runs the command; gives the status.
pub fn coll(args: impl Iterator<Item = OsString>, registry: &Registry) -> i32 {
    let args: Vec<String> = args.map(|a| a.to_string_lossy().into_owned()).collect();
    if args.iter().any(|a| a == "-h" || a == "--help") {
        print!("{HELP}");
        return 0;
    }
    match question(&args) {
        Ok(question) => {
            print!("{}", question.answer(registry));
            for warning in registry.check() {
                eprintln!("catena: {warning}");
            }
            0
        }
        Err(text) => {
            eprintln!("catena coll: {text}");
            catena_launcher::USAGE
        }
    }
}

fn collective(name: &str) -> Result<Collective, String> {
    let known = |c: &&Collective| c.name().eq_ignore_ascii_case(name);
    if let Some(found) = Collective::ALL.iter().find(known) {
        return Ok(*found);
    }
    let names = Collective::ALL.map(Collective::name);
    Err(match nearest(name, names) {
        Some(near) => format!("there is no collective {name}; did you mean {near}?"),
        None => format!(
            "there is no collective {name}; there are {}",
            names.join(", ")
        ),
    })
}

fn question(args: &[String]) -> Result<Question, String> {
    let (mut words, mut options) = (Vec::new(), [None; 5]);
    let (mut commutative, mut simulate) = (true, false);
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let at = match arg.as_str() {
            "-n" | "--ranks" => 0,
            "--per-node" => 1,
            "--per-domain" => 2,
            "--elem" => 3,
            "--cores" => 4,
            "--ordered" => {
                commutative = false;
                continue;
            }
            "--simulate" => {
                simulate = true;
                continue;
            }
            option if option.starts_with('-') => {
                return Err(format!(
                    "there is no option {option}; see catena coll --help"
                ));
            }
            _ => {
                words.push(arg);
                continue;
            }
        };
        let value = args.next().ok_or_else(|| format!("{arg} wants a number"))?;
        let number = value.parse::<u32>().ok().filter(|&n| n > 0);
        options[at] =
            Some(number.ok_or_else(|| format!("{arg} wants a number from 1, not {value}"))?);
    }
    let (name, size) = match words[..] {
        [] => return Err("which collective? see catena coll --help".to_string()),
        [name] => (name, "0"),
        [name, size] => (name, size.as_str()),
        [_, _, other, ..] => return Err(format!("{other} is too much; see catena coll --help")),
    };
    let what = collective(name)?;
    let size = Bytes::parse(size).map_err(|error| format!("size {size}: {error}"))?;
    let bytes = usize::try_from(size.get())
        .ok()
        .filter(|&n| n <= isize::MAX as usize);
    let bytes = bytes.ok_or_else(|| format!("size {size}: no buffer is so long"))?;
    let ranks = options[0].unwrap_or(2);
    let per_node = options[1].unwrap_or(ranks);
    let per_domain = options[2].unwrap_or(per_node);
    for (inner, outer, text) in [
        (per_node, ranks, "--per-node is more than there are ranks"),
        (
            per_domain,
            per_node,
            "--per-domain is more than there are on a node",
        ),
    ] {
        if inner > outer {
            return Err(format!("{text}: {inner} of {outer}"));
        }
    }
    let elem = if what.reduces() {
        options[3].unwrap_or(8) as usize
    } else {
        1
    };
    if !bytes.is_multiple_of(elem) {
        return Err(format!(
            "{bytes} bytes are not a whole number of elements of {elem}"
        ));
    }
    let (most_ranks, most_bytes) = MOST_SIMULATED;
    if simulate && (ranks > most_ranks || bytes > most_bytes) {
        let most = Bytes(most_bytes as u64);
        return Err(format!(
            "--simulate is for at most {most_ranks} ranks and {most}"
        ));
    }
    Ok(Question {
        what,
        bytes,
        ranks,
        per_node,
        per_domain,
        elem,
        commutative,
        cores: options[4].unwrap_or(per_node),
        simulate,
    })
}

impl Question {
    fn answer(&self, registry: &Registry) -> String {
        let oversubscribed = self.cores < self.per_node;
        let machine = model::machine(oversubscribed.then_some(self.cores));
        let cluster = Cluster::regular(self.ranks, self.per_node, self.per_domain, &machine);
        let shape = cluster.shape(self.bytes, self.elem, self.commutative);
        let selection = explain(self.what, &shape, &machine, forced(self.what));
        let mut text = format!(
            "{} of {} on {}\n\n",
            self.what.name(),
            self.size(),
            self.place(&shape)
        );
        text += &self.table(&selection, &shape, &cluster);
        text += &format!("\n{}\n", why(&selection));
        let name = format!("COLL_{}", self.what.name().to_uppercase());
        if let Some(setting) = registry.find(&name) {
            let (value, origin) = (setting.value_text(), setting.origin());
            text += &format!("CATENA_{name}=<algorithm> forces one (now {value}: {origin})\n");
        }
        if shape.placement.nodes == 1 && self.ranks > 1 {
            text +=
                "On one node all but persistent ones go through shared memory (CATENA_COLL_NODE)\n";
        }
        text += "\nThe model (CATENA_MODEL_... and SHM_EAGER_MAX; bandwidths in GB/s):\n";
        let eager = registry.find("SHM_EAGER_MAX");
        for setting in model::SETTINGS.iter().copied().chain(eager) {
            let (value, origin) = (setting.value_text(), setting.origin());
            text += &format!("  {:24} {value:>8}  ({origin})\n", setting.name());
        }
        text
    }

    fn size(&self) -> String {
        let bytes = Bytes(self.bytes as u64);
        match self.what {
            Collective::Barrier => "nothing".to_string(),
            _ if self.commutative || !self.what.reduces() => bytes.to_string(),
            _ => format!("{bytes} in the order of ranks"),
        }
    }

    fn place(&self, shape: &Shape) -> String {
        let nodes = match shape.placement.nodes {
            1 => "1 node".to_string(),
            n => format!("{n} nodes of {}", self.per_node),
        };
        let domains = match self.per_domain {
            d if d < self.per_node => format!(", in domains of {d}"),
            _ => String::new(),
        };
        let ranks = if self.ranks == 1 { "rank" } else { "ranks" };
        format!("{} {ranks}, {nodes}{domains}", self.ranks)
    }

    /// A line for each algorithm.
    fn table(&self, selection: &Selection, shape: &Shape, cluster: &Cluster) -> String {
        let head = if self.simulate { "simulated" } else { "" };
        let mut text = format!("  {:20} {:>14} {head:>14}\n", "algorithm", "estimate");
        for candidate in &selection.candidates {
            let algorithm = candidate.algorithm;
            let mark = if algorithm.name == selection.chosen.name {
                '*'
            } else {
                ' '
            };
            text += &format!("{mark} {:20} ", algorithm.name);
            match &candidate.cost {
                Ok(cost) => {
                    text += &format!("{:>14}", microseconds(*cost));
                    if self.simulate {
                        text += &match cluster.time(algorithm, shape) {
                            Ok(time) => format!(" {:>14}", microseconds(time)),
                            Err(failure) => format!(" {failure}"),
                        };
                    }
                }
                Err(lacks) => text += &format!("needs {}", lacks.join("; ")),
            }
            text = text.trim_end().to_string() + "\n";
        }
        text
    }
}

fn microseconds(seconds: f64) -> String {
    format!("{:.2} us", seconds * 1e6)
}

fn why(selection: &Selection) -> String {
    let chosen = selection.chosen.name;
    match &selection.why {
        Why::Forced => format!("{chosen}: a setting names it"),
        Why::Cheapest if algorithms(selection.chosen.collective).len() == 1 => {
            format!("{chosen}: there is no other")
        }
        Why::Cheapest => format!("{chosen}: the cheapest by the estimate"),
        Why::ForcedCannot(other) => {
            format!("{chosen}: the cheapest, as {other}, which a setting names, cannot serve this")
        }
        Why::ForcedUnknown(other) => format!("{chosen}: the cheapest, as there is no {other}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(line: &str) -> Result<Question, String> {
        question(
            &line
                .split_whitespace()
                .map(str::to_string)
                .collect::<Vec<_>>(),
        )
    }

    fn refusal(line: &str) -> String {
        ask(line).err().expect("it is refused")
    }

    #[test]
    fn a_choice_is_explained() {
        let question = ask("allreduce 64k -n 96 --per-node 32 --per-domain 8").unwrap();
        let text = question.answer(&crate::registry());
        assert!(
            text.starts_with("allreduce of 64KiB on 96 ranks, 3 nodes of 32, in domains of 8\n"),
            "{text}"
        );
        assert_eq!(text.matches("\n* ").count(), 1, "{text}");
        assert!(
            text.contains("CATENA_COLL_ALLREDUCE=<algorithm> forces one"),
            "{text}"
        );
        let row = text.lines().find(|l| l.contains("MODEL_NETWORK_LATENCY"));
        assert!(row.unwrap().ends_with("1200ns  (default)"), "{text}");
        for algorithm in algorithms(Collective::Allreduce) {
            assert!(text.contains(algorithm.name), "{text}");
        }
    }

    #[test]
    fn ranks_may_share_cores() {
        let choice = |line| {
            let text = ask(line).unwrap().answer(&crate::registry());
            let last = text.lines().find(|l| l.contains("the cheapest")).unwrap();
            last.split(':').next().unwrap().to_string()
        };
        assert_eq!(choice("exscan 64k -n 8"), "doubling");
        assert_eq!(choice("exscan 64k -n 8 --cores 8"), "doubling");
        assert_eq!(choice("exscan 64k -n 8 --cores 2"), "chain");
    }

    #[test]
    fn what_a_call_lacks_is_told() {
        let text = ask("allgather 8 -n 3").unwrap().answer(&crate::registry());
        assert!(
            text.contains("recursive_doubling   needs a power of two of ranks"),
            "{text}"
        );
        assert!(
            text.contains("hierarchical         needs several nodes"),
            "{text}"
        );
        let text = ask("allreduce 80 -n 3 --ordered")
            .unwrap()
            .answer(&crate::registry());
        assert!(
            text.contains("ring                 needs operands that may change"),
            "{text}"
        );
    }

    #[test]
    fn it_simulates() {
        let text = ask("bcast 1k -n 5 --simulate")
            .unwrap()
            .answer(&crate::registry());
        let row = text.lines().find(|l| l.contains("linear")).unwrap();
        assert_eq!(row.matches(" us").count(), 2, "{text}");
    }

    #[test]
    fn wrong_questions_are_explained() {
        assert!(refusal("").contains("which collective?"));
        assert!(refusal("alreduce 8").contains("did you mean allreduce?"));
        assert!(refusal("bcast 8x").contains("size 8x: it must be a size"));
        assert!(refusal("bcast 8 9").contains("9 is too much"));
        assert!(refusal("bcast 8 -n 0").contains("-n wants a number from 1, not 0"));
        assert!(refusal("bcast 8 --ranks").contains("--ranks wants a number"));
        assert!(refusal("bcast --nodes 8").contains("there is no option --nodes"));
        assert!(refusal("bcast 8 -n 2000 --simulate").contains("at most 1024 ranks and 64MiB"));
        assert!(refusal("scan 12").contains("12 bytes are not a whole number of elements of 8"));
        assert!(refusal("scan 8 -n 4 --per-node 8").contains("8 of 4"));
        assert!(refusal("scan 8 -n 9 --per-node 4 --per-domain 5").contains("5 of 4"));
    }
}

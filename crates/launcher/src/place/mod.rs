//! Where the ranks run and what they are bound to. The launcher deals them to
//! nodes ([`spots`]); each node binds its own, as only it knows its hardware
//! ([`Binding`]).
//!
//! | module     | what                                             |
//! |------------|--------------------------------------------------|
//! | `rankfile` | a file that says for each rank where it runs     |

pub mod rankfile;

use std::ffi::OsString;

use catena_job::{App, PlacementRequest, Plan, Show, Vars};
use catena_topo::{Cpus, Machine, Node, Resource, map, picture, seats};

/// How many threads OpenMP makes in a rank of these programs of `plan`, at most: they have
/// variables of their own, those of the plan, and the `inherited` ones.
pub fn most_threads<'a>(
    plan: &Plan,
    inherited: &Vars,
    apps: impl Iterator<Item = &'a App>,
) -> Option<u32> {
    let common = || inherited.iter().chain(&plan.env);
    apps.filter_map(|app| threads(common().chain(&app.env)))
        .max()
}

/// How many threads OpenMP makes in a process with these variables, of which
/// the last of a name counts.
pub fn threads<'a>(vars: impl Iterator<Item = &'a (OsString, OsString)>) -> Option<u32> {
    let value = vars.filter(|(name, _)| name == "OMP_NUM_THREADS").last();
    let text = value?.1.to_str()?;
    // Of a list the first is for the outermost loops.
    let first = text.split(',').next()?.trim().parse().ok();
    first.filter(|&threads| threads > 0)
}

/// Where the ranks run, by rank.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Places {
    pub node_of: Vec<u32>,
    /// Which seat of its node it has.
    pub seats: Vec<u32>,
    /// What it is to be bound to, in the words of a rankfile; none without such
    /// a file.
    pub slots_of: Vec<String>,
}

/// Places so many ranks, or as many as the policy makes, on hosts with so many
/// slots, which are taken to be machines like this one.
///
/// # Errors
/// Why it cannot be, and what to do.
pub fn spots(
    placement: &PlacementRequest,
    hosts: &[(String, u32)],
    machine: &Machine,
    ranks: Option<u32>,
) -> Result<Places, String> {
    let policy = placement.policy()?;
    let node = |(name, slots): &(String, u32)| Node {
        name: name.clone(),
        machine: machine.clone(),
        slots: *slots,
    };
    let nodes: Vec<Node> = hosts.iter().map(node).collect();
    let spots = map(&nodes, ranks, &policy).map_err(|error| error.to_string())?;
    Ok(Places {
        node_of: spots.iter().map(|spot| spot.node as u32).collect(),
        seats: spots.iter().map(|spot| spot.seat as u32).collect(),
        slots_of: Vec::new(),
    })
}

/// What is left of a machine besides processes that may run on these CPUs: each of them has one
/// core, the first that no other one of them needs more.
pub fn free(machine: &Machine, processes: &[Cpus]) -> Machine {
    let mut left: Vec<&Cpus> = machine.of(Resource::Core).iter().collect();
    let mut processes: Vec<&Cpus> = processes.iter().collect();
    processes.sort_by_key(|cpus| cpus.len());
    for cpus in processes {
        let may = |core: &&Cpus| !core.intersection(cpus).is_empty();
        if let Some(at) = left.iter().position(may) {
            left.remove(at);
        }
    }
    let none = Cpus::default();
    machine.restricted(&left.into_iter().fold(none, |all, core| all.union(core)))
}

/// What the ranks of one node are bound to.
#[derive(Debug, PartialEq)]
pub struct Binding {
    /// In the order of their ranks.
    pub cpus: Vec<Option<Cpus>>,
    /// What is to be said about it.
    pub text: String,
}

impl Binding {
    /// Binds the ranks of node `number` to what the user lets them have of `machine`. Each makes so
    /// many threads.
    ///
    /// # Errors
    /// Why it cannot be, and what to do.
    pub fn new(
        plan: &Plan,
        number: u32,
        machine: Machine,
        threads: Option<u32>,
    ) -> Result<Binding, String> {
        Binding::among(plan, number, usable_on(plan, number, machine)?, threads)
    }

    /// Binds the ranks of node `number` to what `machine` has, all of which they may use.
    ///
    /// # Errors
    /// As [`Binding::new`].
    pub fn among(
        plan: &Plan,
        number: u32,
        machine: Machine,
        threads: Option<u32>,
    ) -> Result<Binding, String> {
        let placement = &plan.placement;
        let ranks: Vec<u32> = plan.ranks_on(number).collect();
        let node = Node {
            name: plan.hosts[number as usize].clone(),
            machine,
            slots: ranks.len() as u32,
        };
        let mut note = None;
        let cpus: Vec<Option<Cpus>> = if !plan.slots_of.is_empty() {
            let of = |&rank: &u32| match plan.slots_of[rank as usize].as_str() {
                "" => Ok(None),
                slot => rankfile::cores(slot, &node).map(Some),
            };
            ranks.iter().map(of).collect::<Result<_, _>>()?
        } else if !placement.cpu_mapping.is_empty() {
            let wrong = |why| format!("CATENA_CPU_MAPPING={}: {why}", placement.cpu_mapping);
            by_list(&placement.cpu_mapping, ranks.len(), &node).map_err(wrong)?
        } else {
            let seats = seats(&node, ranks.len(), threads, &placement.policy()?);
            let seats = seats.map_err(|error| error.to_string())?;
            note = seats.note;
            let of = |&rank: &u32| seats.cpus.get(plan.seats[rank as usize] as usize);
            ranks
                .iter()
                .map(|rank| of(rank).cloned().flatten())
                .collect()
        };
        // Those that are not bound stay within the set all the same.
        let held = (!placement.cpu_set.is_empty()).then(|| node.machine.cpus());
        let cpus: Vec<Option<Cpus>> = cpus
            .into_iter()
            .map(|bound| bound.or_else(|| held.clone()))
            .collect();
        let mut text = match placement.show {
            Show::Nothing => String::new(),
            show => {
                let bound: Vec<_> = ranks.into_iter().zip(cpus.iter().cloned()).collect();
                picture(&node, &bound, show == Show::Bindings)
            }
        };
        if let Some(note) = note {
            text += &note;
            text.push('\n');
        }
        Ok(Binding { cpus, text })
    }
}

/// The part of the machine that node `number` is, which the user lets ranks have.
///
/// # Errors
/// Why there is none, with the name of the host.
pub fn usable_on(plan: &Plan, number: u32, machine: Machine) -> Result<Machine, String> {
    let name = &plan.hosts[number as usize];
    let usable = plan.placement.usable(machine);
    usable.map_err(|why| format!("{why} on host {name}"))
}

/// The CPUs of `count` ranks by a list such as `0:1:4-5`.
fn by_list(list: &str, count: usize, node: &Node) -> Result<Vec<Option<Cpus>>, String> {
    let sets: Option<Vec<Cpus>> = list
        .split(':')
        .map(|set| Cpus::parse(set).filter(|cpus| !cpus.is_empty()))
        .collect();
    let sets = sets.ok_or("write sets of CPUs with colons between them, such as 0:1:4-5")?;
    let (there, name) = (node.machine.cpus(), &node.name);
    if sets.len() < count {
        return Err(format!(
            "it has {} for the {count} ranks of node {name}",
            match sets.len() {
                1 => "1 set".to_string(),
                n => format!("{n} sets"),
            }
        ));
    }
    let outside = sets[..count].iter().find(|cpus| !cpus.is_subset(&there));
    match outside {
        Some(cpus) => Err(format!(
            "ranks may use CPUs {there} of node {name}, not {cpus}"
        )),
        None => Ok(sets.into_iter().take(count).map(Some).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(cores: u32) -> Machine {
        let lists: Vec<String> = (0..cores).map(|core| core.to_string()).collect();
        let lists = lists.join(";");
        let text = format!("Machine 0-{}\nCore {lists}\nPU {lists}\n", cores - 1);
        Machine::parse(&text).expect("a machine")
    }

    /// Ranks 1 and 3 of four are on node b.
    fn plan(placement: PlacementRequest) -> Plan {
        Plan {
            job_id: 0,
            secret: None,
            apps: Vec::new(),
            env: Vec::new(),
            psets: Vec::new(),
            hosts: vec!["a".to_string(), "b".to_string()],
            node_of: vec![0, 1, 0, 1],
            slots: None,
            room: Vec::new(),
            seats: vec![0, 0, 1, 1],
            slots_of: Vec::new(),
            placement,
            stdin: Vec::new(),
            pmix: false,
            foreign: catena_boot::OtherMpi::Stop,
        }
    }

    fn bound(plan: &Plan, threads: Option<u32>) -> Result<Vec<String>, String> {
        let binding = Binding::new(plan, 1, machine(8), threads)?;
        let text = |cpus: Option<Cpus>| cpus.map_or("free".to_string(), |cpus| cpus.to_string());
        Ok(binding.cpus.into_iter().map(text).collect())
    }

    #[test]
    fn each_node_binds_its_own_ranks() {
        assert_eq!(
            bound(&plan(PlacementRequest::default()), None),
            Ok(vec!["0-3".into(), "4-7".into()])
        );
        let mut placement = PlacementRequest {
            bind_to: "core".to_string(),
            cpu_set: "2-5".to_string(),
            ..PlacementRequest::default()
        };
        assert_eq!(
            bound(&plan(placement.clone()), None),
            Ok(vec!["2".into(), "3".into()])
        );
        assert_eq!(
            bound(&plan(placement.clone()), Some(2)),
            Ok(vec!["2-3".into(), "4-5".into()])
        );
        assert_eq!(
            bound(&plan(placement.clone()), Some(3)),
            // Not bound, but held.
            Ok(vec!["2-5".into(), "2-5".into()])
        );
        placement.cpu_mapping = "5:2-3:0".to_string();
        assert_eq!(
            bound(&plan(placement.clone()), None),
            Ok(vec!["5".into(), "2-3".into()])
        );
        let mut plan = plan(placement);
        plan.slots_of = ["", "1", "", ""].map(String::from).to_vec();
        assert_eq!(bound(&plan, None), Ok(vec!["3".into(), "2-5".into()]));
        plan.placement.show = Show::Bindings;
        let text = Binding::new(&plan, 1, machine(8), None)
            .expect("bound")
            .text;
        assert_eq!(
            text,
            "node b: 2 ranks on 4 cores, 4 hardware threads\n  rank 1  [.#..]  CPU 3\n  \
             rank 3  [####]  CPUs 2-5\n"
        );
    }

    #[test]
    fn a_core_is_free_unless_a_process_needs_it() {
        let free = |processes: &[&str]| {
            let sets = processes
                .iter()
                .map(|text| Cpus::parse(text).expect("a list"));
            let free = free(&machine(4), &sets.collect::<Vec<_>>());
            free.cpus().to_string()
        };
        assert_eq!(free(&[]), "0-3");
        assert_eq!(free(&["0-3"]), "1-3");
        // The one that may go elsewhere does.
        assert_eq!(free(&["0-3", "0"]), "2-3");
        assert_eq!(free(&["0-1", "2-3"]), "1,3");
        assert_eq!(free(&["0", "0"]), "1-3");
        assert_eq!(free(&["0-3"; 5]), "");
    }

    #[test]
    fn slots_are_filled_in_order() {
        let hosts = [("a", 2), ("b", 1), ("c", 3)].map(|(name, slots)| (name.to_string(), slots));
        let nodes = |ranks| {
            let places =
                spots(&PlacementRequest::default(), &hosts, &machine(2), ranks).expect("places");
            let nodes = places.node_of.iter().map(u32::to_string);
            nodes.collect::<String>()
        };
        assert_eq!(nodes(None), "001222");
        assert_eq!(nodes(Some(3)), "001");
        assert_eq!(nodes(Some(8)), "00001222");
    }

    #[test]
    fn mistakes_are_told() {
        let placement = PlacementRequest::default;
        let with = |cpu_mapping: &str| PlacementRequest {
            cpu_mapping: cpu_mapping.to_string(),
            ..placement()
        };
        let set = |cpu_set: &str| PlacementRequest {
            cpu_set: cpu_set.to_string(),
            ..placement()
        };
        let map_by = "core:pe=none".to_string();
        for (placement, words) in [
            (
                with("0"),
                "CATENA_CPU_MAPPING=0: it has 1 set for the 2 ranks of node b",
            ),
            (with("0:"), "such as 0:1:4-5"),
            (with("0:8"), "may use CPUs 0-7 of node b, not 8"),
            (set("8"), "--cpu-set 8: there are only CPUs 0-7 on host b"),
            (set("0-99"), "only CPUs 0-7"),
            (set("x"), "such as 0-3,8"),
            (
                PlacementRequest {
                    map_by,
                    ..placement()
                },
                "--map-by core:pe=none: ",
            ),
        ] {
            let error = bound(&plan(placement), None).expect_err(words);
            assert!(error.contains(words), "{error}");
        }
    }

    #[test]
    fn the_number_of_threads_is_found() {
        let threads = |values: &[&str]| {
            let vars = values
                .iter()
                .map(|value| ("OMP_NUM_THREADS".into(), value.into()));
            let vars: Vec<(OsString, OsString)> = vars.collect();
            super::threads(vars.iter())
        };
        assert_eq!(threads(&[]), None);
        assert_eq!(threads(&["2", "4,2"]), Some(4));
        assert_eq!(threads(&["many"]), None);
        assert_eq!(threads(&["0"]), None);
    }
}

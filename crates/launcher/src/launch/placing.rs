//! Where the ranks of programs run that have hosts of their own.

use std::collections::BTreeMap;

use catena_job::{App, MAX_RANKS, PlacementRequest};
use catena_topo::Machine;

use crate::hosts::pool::PoolHost;
use crate::place::{self, Places};

/// Programs, and where each may run.
pub struct Programs<'a> {
    pub apps: &'a [App],
    /// All hosts of the job, and their slots.
    pub hosts: &'a [(String, u32)],
    /// Which of them each program may use, and how many of its ranks have room there.
    pub of: &'a [Vec<(u32, u32)>],
    /// Whether the number of ranks on each host was given, by program.
    pub counted: &'a [bool],
}

/// Places the ranks of one program after the other, and gives how many each has. A program takes
/// slots that those before it have left free, if there are enough for it.
///
/// # Errors
/// Why it cannot be, and what to do.
pub fn each(
    programs: &Programs<'_>,
    placement: &PlacementRequest,
    machine: &Machine,
) -> Result<(Places, Vec<u32>), String> {
    let (mut places, mut sizes) = (Places::default(), Vec::new());
    let mut on: BTreeMap<u32, u32> = BTreeMap::new();
    for (at, app) in programs.apps.iter().enumerate() {
        let program = || app.program.to_string_lossy();
        let own = &programs.of[at];
        if own.is_empty() {
            return Err(format!(
                "there is no host left that {} may run on",
                program()
            ));
        }
        let all: u32 = own.iter().fold(0, |sum, host| sum.saturating_add(host.1));
        let count = app
            .count
            .unwrap_or(if programs.counted[at] { all } else { 1 });
        if programs.counted[at] && count > all {
            return Err(format!(
                "the hosts of {} cannot take {count} ranks with so few on each (-ppn): they take \
                 {all}",
                program()
            ));
        }
        if count > MAX_RANKS {
            return Err(format!(
                "{count} ranks are too many; there can be at most {MAX_RANKS}"
            ));
        }
        let left = |(node, slots): &(u32, u32)| {
            let there = programs.hosts[*node as usize].1;
            let busy = on.get(node).copied().unwrap_or(0);
            (*node, (*slots).min(there.saturating_sub(busy)))
        };
        let free: Vec<(u32, u32)> = own
            .iter()
            .map(left)
            .filter(|(_, slots)| *slots > 0)
            .collect();
        let room = free
            .iter()
            .fold(0u32, |sum, host| sum.saturating_add(host.1));
        let hosts = match room >= count && !programs.counted[at] {
            true => &free,
            false => own,
        };
        let named = |(node, slots): &(u32, u32)| (programs.hosts[*node as usize].0.clone(), *slots);
        let named: Vec<(String, u32)> = hosts.iter().map(named).collect();
        let spots = place::spots(placement, &named, machine, Some(count))?;
        let before = on.clone();
        for (host, seat) in spots.node_of.into_iter().zip(spots.seats) {
            let node = hosts[host as usize].0;
            places.node_of.push(node);
            places
                .seats
                .push(seat + before.get(&node).copied().unwrap_or(0));
            *on.entry(node).or_insert(0) += 1;
        }
        sizes.push(count);
    }
    Ok((places, sizes))
}

/// Whether hosts have as many ranks as they may have.
///
/// # Errors
/// Which has more, and how many it may have.
pub fn check_room(node_of: &[u32], hosts: &[PoolHost], all_have_slots: bool) -> Result<(), String> {
    for (node, host) in (0..).zip(hosts) {
        let ranks = node_of.iter().filter(|of| **of == node).count();
        let (most, what) = match (all_have_slots, host.most) {
            (false, None) => continue,
            (false, Some(most)) => (most, "max_slots"),
            (true, most) => (
                host.slots.min(most.unwrap_or(host.slots)),
                "no oversubscription",
            ),
        };
        if ranks > most as usize {
            let name = &host.name;
            return Err(format!(
                "{ranks} ranks are to run on host {name}, which takes {most} ({what}); name more \
                 hosts, or start fewer ranks"
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{self, Parsed};
    use crate::hosts::manager::Launcher;
    use crate::hosts::pool::Pool;

    fn placed(line: &str) -> Result<String, String> {
        placed_in(line, Launcher::Agent, |_| None)
    }

    /// The hosts of the ranks of a command line, or what is wrong with it.
    fn placed_in(
        line: &str,
        launcher: Launcher,
        env: impl Fn(&str) -> Option<String>,
    ) -> Result<String, String> {
        let words = line.split_whitespace().map(Into::into);
        let Ok(Parsed::Run(request)) = args::parse(words) else {
            panic!("{line}")
        };
        let pool = Pool::new(&request.named, launcher, env).map_err(|e| e.0)?;
        let pool = pool.expect("hosts");
        let cores = "0;1;2;3";
        let machine = format!("Machine 0-3\nCore {cores}\nPU {cores}\n");
        let machine = Machine::parse(&machine).expect("a machine");
        let hosts: Vec<_> = pool
            .hosts
            .iter()
            .map(|host| (host.name.clone(), host.slots))
            .collect();
        let of = pool.of.as_deref().expect("hosts for each program");
        let programs = Programs {
            apps: &request.apps,
            hosts: &hosts,
            of,
            counted: &pool.counted,
        };
        let (places, sizes) = each(&programs, &request.placement, &machine)?;
        check_room(&places.node_of, &pool.hosts, false)?;
        let names: Vec<&str> = places
            .node_of
            .iter()
            .map(|node| hosts[*node as usize].0.as_str())
            .collect();
        let mut rest = &names[..];
        let mut parts = Vec::new();
        for size in sizes {
            let (part, others) = rest.split_at(size as usize);
            parts.push(part.join(""));
            rest = others;
        }
        Ok(parts.join(" "))
    }

    #[test]
    fn each_program_runs_on_its_hosts() {
        for (line, hosts) in [
            ("-n 2 -host a p : -n 2 -host b q", "aa bb"),
            ("-n 2 -host a:2,b:2 p : -n 2 -host a:2,b:2 q", "aa bb"),
            (
                "-n 2 -host a:4,b:4 p : -n 2 -host b:4 q : -n 3 r",
                "aa bb aab",
            ),
            ("-n 1 p : -n 1 -host a q : -n 1 -host b r", "a a b"),
            ("-host a,b -ppn 2 p : -host b -ppn 3 q", "aabb bbb"),
            ("-host a,b -n 2 p : -ppn 1 q", "ab ab"),
            ("-n 5 -host a:2 p : -n 1 -host a:2 q", "aaaaa a"),
            (
                "--map-by node -n 2 -host a:2,b:2 p : -n 2 -host b:2,c:2 q",
                "ab bc",
            ),
        ] {
            assert_eq!(placed(line).as_deref(), Ok(hosts), "{line}");
        }
        let slurm = |name: &str| match name {
            "SLURM_JOB_NODELIST" => Some("a,b".to_string()),
            "SLURM_TASKS_PER_NODE" => Some("2(x2)".to_string()),
            _ => None,
        };
        let line = "-n 3 p : -n 1 -host b q";
        assert_eq!(
            placed_in(line, Launcher::Slurm, slurm).as_deref(),
            Ok("aab b")
        );
        let error = placed("-n 1 -host a p : -n 3 -host b -ppn 2 q").unwrap_err();
        assert!(error.contains("hosts of q cannot take 3"), "{error}");
    }

    #[test]
    fn a_list_chooses_among_the_hosts_of_a_file() {
        let path = std::env::temp_dir().join(format!("catena-pool-{}", std::process::id()));
        std::fs::write(&path, "a slots=3\nb slots = 2 max_slots=2\nc\na slots=1\n").unwrap();
        let file = path.display();
        let pool = |line: String| {
            let words = line.split_whitespace().map(Into::into);
            let Ok(Parsed::Run(request)) = args::parse(words) else {
                panic!("{line}")
            };
            let pool = Pool::new(&request.named, Launcher::Agent, |_| None);
            let pool = pool.map_err(|error| error.0)?.expect("hosts");
            let text = |host: &PoolHost| format!("{}:{}", host.name, host.slots);
            Ok::<_, String>(pool.hosts.iter().map(text).collect::<Vec<_>>().join(" "))
        };
        assert_eq!(pool(format!("-f {file} p")).as_deref(), Ok("a:4 b:2 c:1"));
        assert_eq!(pool(format!("-f {file} -host b p")).as_deref(), Ok("b:2"));
        assert_eq!(
            pool(format!("-f {file} -host c,a:2 p")).as_deref(),
            Ok("a:2 c:1")
        );
        assert!(
            pool(format!("-f {file} -host d p"))
                .unwrap_err()
                .contains("does not name the host d")
        );
        let line = format!("-f {file} -n 1 -host c p : -n 2 -host b q");
        assert_eq!(placed(&line).as_deref(), Ok("c bb"));
        let line = format!("-f {file} -n 1 -host c p : -n 3 -host b q");
        assert!(placed(&line).unwrap_err().contains("takes 2 (max_slots)"));
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn a_host_that_is_named_twice_has_all_its_slots() {
        let pool = |list: &str| {
            let words = ["-host", list, "p"].map(Into::into);
            let Ok(Parsed::Run(request)) = args::parse(words) else {
                panic!("{list}")
            };
            let pool = Pool::new(&request.named, Launcher::Agent, |_| None);
            let pool = pool.expect("sound").expect("hosts");
            let slots = pool.hosts.iter().map(|host| host.slots.to_string());
            (pool.here, slots.collect::<Vec<_>>().join(" "))
        };
        assert_eq!(pool("a:2,b,a:2"), (None, "4 1".to_string()));
        assert_eq!(pool("a,a:3"), (None, "4".to_string()));
        let here = catena_boot::host_name();
        assert_eq!(
            pool(&format!("a,{here}:2,localhost,127.0.0.1")),
            (Some(1), "1 4".to_string())
        );
    }
}

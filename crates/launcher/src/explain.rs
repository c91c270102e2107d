//! What settings and the model of collectives say of a job, for `mpirun --explain` and
//! `catena explain`.

use catena_coll::simulate::Cluster;
use catena_coll::{Collective, Why, explain};
use catena_core::coll::{COLL_NODE, forced, model};
use catena_job::Vars;
use catena_profile::{Asked, Plan};
use catena_settings::{PREFIX, Registry};

/// Settings that are told where they matter.
const TOLD: [&str; 2] = ["SHM_EAGER_MAX", "LINK"];

/// What is known of a job before it begins.
pub struct Settings {
    /// Settings, and what they are.
    told: Vec<(&'static str, String)>,
    /// Whether collectives of one host are in shared memory.
    is_node: bool,
    /// Algorithms that the command line names.
    named: Vec<(String, String)>,
}

impl Settings {
    /// The settings of a job whose command line has these variables.
    pub fn new(registry: &Registry, vars: &Vars) -> Settings {
        let given = |name: &str| {
            let name = format!("{PREFIX}{name}");
            let var = vars.iter().rev().find(|(given, _)| *given == *name);
            var.map(|(_, value)| value.to_string_lossy().into_owned())
        };
        let told = TOLD.into_iter().filter_map(|name| {
            let setting = registry.find(name)?;
            let text = match given(name) {
                Some(value) => format!("{value} (command line)"),
                None => match setting.value_text() {
                    text if text.is_empty() => format!("(empty) ({})", setting.origin()),
                    text => format!("{text} ({})", setting.origin()),
                },
            };
            Some((name, text))
        });
        let named = Collective::ALL.iter().filter_map(|it| {
            let name = format!("COLL_{}", it.name().to_uppercase());
            Some((it.name().to_string(), given(&name)?))
        });
        Settings {
            told: told.collect(),
            is_node: match given("COLL_NODE") {
                Some(value) => ["true", "yes", "on", "1"].contains(&&*value.to_lowercase()),
                None => COLL_NODE.get(),
            },
            named: named.collect(),
        }
    }
}

/// The collective that a function is.
fn collective(function: &str) -> Option<Collective> {
    let bare = function.strip_prefix("MPI_")?.trim_end_matches("_c");
    let bare = bare.trim_end_matches("_block").to_lowercase();
    let find = |name: &str| Collective::ALL.iter().find(|it| it.name() == name);
    let found = find(&bare).or_else(|| find(bare.strip_prefix('i')?));
    found.copied()
}

impl Plan for Settings {
    fn setting(&self, name: &str) -> Option<String> {
        let told = self.told.iter().find(|(known, _)| *known == name);
        told.map(|(_, text)| text.clone())
    }

    fn algorithm(&self, asked: &Asked) -> Option<String> {
        let what = collective(&asked.function)?;
        if asked.ranks < 2 {
            return None;
        }
        // The model reckons with as many ranks on each host.
        if asked.hosts == 0 || !asked.is_even {
            return None;
        }
        let named = self.named.iter().find(|(name, _)| name == what.name());
        let named = match named {
            // What leaves the choice to the library is no algorithm.
            Some((_, value)) => Some(value.as_str()).filter(|it| *it != "auto"),
            None => forced(what),
        };
        if asked.hosts == 1 && self.is_node && named.is_none() {
            return Some("planned in shared memory, as all ranks are on one host".into());
        }
        let machine = model::machine(None);
        let per_node = asked.ranks.div_ceil(asked.hosts.max(1));
        let cluster = Cluster::regular(asked.ranks, per_node, per_node, &machine);
        // What a rank gives is not for all of them what the model reckons with.
        let ranks = u64::from(asked.ranks);
        let bytes = match what {
            Collective::Scatter | Collective::Alltoall => asked.bytes / ranks,
            Collective::Allgatherv => asked.bytes.saturating_mul(ranks),
            Collective::Gatherv | Collective::Scatterv | Collective::Alltoallv => 0,
            _ => asked.bytes,
        };
        let bytes = usize::try_from(bytes).ok()?;
        let elem = match what.reduces() && bytes.is_multiple_of(8) {
            true => 8,
            false => 1,
        };
        let shape = cluster.shape(bytes, elem, true);
        let selection = explain(what, &shape, &machine, named);
        let chosen = selection.chosen.name;
        let costs = selection.candidates.iter();
        let cost = costs
            .filter(|it| it.algorithm.name == chosen)
            .find_map(|it| it.cost.as_ref().ok());
        let cost = cost.map_or(String::new(), |cost| format!(", {:.1} us", cost * 1e6));
        let why = match &selection.why {
            Why::Forced => format!("as CATENA_COLL_{} says", what.name().to_uppercase()),
            Why::Cheapest => format!("the cheapest by the model{cost}"),
            Why::ForcedCannot(other) => format!("as {other} cannot serve this{cost}"),
            Why::ForcedUnknown(other) => format!("as there is no {other}{cost}"),
        };
        Some(format!("planned as {chosen}, {why}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_collectives() {
        let name = |function| collective(function).map(Collective::name);
        assert_eq!(name("MPI_Allreduce"), Some("allreduce"));
        assert_eq!(name("MPI_Iallreduce_c"), Some("allreduce"));
        assert_eq!(name("MPI_Reduce_scatter_block"), Some("reduce_scatter"));
        assert_eq!(name("MPI_Comm_dup"), None);
        assert_eq!(name("MPI_Neighbor_alltoall"), None);
    }

    #[test]
    fn what_is_planned_is_told_with_its_reason() {
        let asked = |hosts| Asked {
            function: "MPI_Bcast".into(),
            ranks: 8,
            hosts,
            is_even: true,
            bytes: 1 << 20,
        };
        let told = |vars: Vars, hosts| {
            let settings = Settings::new(&Registry::default(), &vars);
            settings.algorithm(&asked(hosts)).unwrap()
        };
        assert!(told(Vars::new(), 1).contains("shared memory"));
        let free = told(Vars::new(), 2);
        assert!(free.contains("the cheapest by the model, "), "{free}");
        let vars = vec![("CATENA_COLL_BCAST".into(), "no_such".into())];
        assert!(told(vars, 2).contains("as there is no no_such"));
        let vars = || vec![("CATENA_COLL_BCAST".into(), "linear".into())];
        assert!(told(vars(), 1).contains("as CATENA_COLL_BCAST says"));
        let vars = || vec![("CATENA_COLL_NODE".into(), "false".into())];
        assert!(!told(vars(), 1).contains("shared memory"));
    }
}

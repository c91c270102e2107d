//! What settings and the model of collectives say of a job, for `mpirun --explain` and
//! `catena explain`.

use catena_coll::simulate::Cluster;
use catena_coll::{Collective, Selection, Why, explain};
use catena_core::coll::{COLL_NODE, forced, model};
use catena_job::Vars;
use catena_profile::{Asked, Given, Plan, Way};
use catena_settings::profile::{self, Followed, TUNED};
use catena_settings::{Bytes, Origin, PREFIX, Registry, Setting, Tuned, Value};

/// Settings that are told where they matter.
const TOLD: [&str; 2] = ["SHM_EAGER_MAX", "LINK"];

/// Whether a setting that has another value than its default may be what makes a job slow.
fn may_matter(setting: &dyn Setting) -> bool {
    const OTHERS: [&str; 2] = ["LINK", "COLL_NODE"];
    let name = setting.name();
    let is_algorithm = name.starts_with("COLL_") && setting.choices().contains(&"auto");
    setting.tuned() != Tuned::Never || is_algorithm || OTHERS.contains(&name)
}

/// What is known of a job before it begins.
pub struct Settings {
    /// Settings that have another value than their default and may matter.
    given: Vec<Given>,
    /// The defaults of those that a profile may have, and their scopes.
    tunable: Vec<(&'static str, Tuned, String)>,
    /// The profile of this job.
    profile: Followed,
    /// What that would call its only program.
    program: Option<String>,
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
                    // What counts for this job is not known yet.
                    _ if setting.origin() == Origin::Tuned => {
                        format!("{} (default)", setting.default_text())
                    }
                    text => format!("{text} ({})", setting.origin()),
                },
            };
            Some((name, text))
        });
        let others = registry.iter().filter(|it| may_matter(*it));
        let others = others.filter_map(|setting| {
            let (value, origin) = match given(setting.name()) {
                Some(value) => (value, "command line".to_string()),
                None if setting.origin() == Origin::Tuned => return None,
                None => (setting.value_text(), setting.origin().to_string()),
            };
            let default = setting.default_text();
            (value != default).then(|| as_given(setting.name(), value, origin, default))
        });
        let tunable = registry.iter().filter(|it| it.tuned() != Tuned::Never);
        let tunable = tunable.map(|it| (it.name(), it.tuned(), it.default_text()));
        let named = Collective::ALL.iter().filter_map(|it| {
            let name = format!("COLL_{}", it.name().to_uppercase());
            Some((it.name().to_string(), given(&name)?))
        });
        Settings {
            given: others.collect(),
            tunable: tunable.collect(),
            profile: Followed::default(),
            program: None,
            told: told.collect(),
            is_node: match given("COLL_NODE") {
                Some(value) => ["true", "yes", "on", "1"].contains(&&*value.to_lowercase()),
                None => COLL_NODE.get(),
            },
            named: named.collect(),
        }
    }

    /// Learns what is planned for the job: which profile it has, and which program it is.
    pub fn follow(&mut self, plan: &catena_job::Plan) {
        let mut vars = plan.env.iter().rev();
        let handed = vars.find(|(name, _)| name == TUNED);
        let handed = handed.and_then(|(_, text)| Followed::from_handed(text.to_str()?));
        self.profile = handed.unwrap_or_default();
        self.program = only_program(&plan.apps);
        for it in &self.profile.values {
            let found = self.tunable.iter().find(|(name, ..)| *name == it.name);
            let is_given = self.given.iter().any(|given| given.name == it.name);
            let Some((name, _, default)) = found.filter(|_| !is_given) else {
                continue;
            };
            let origin = format!("tuned, {}", self.profile.path.display());
            let told = self.told.iter_mut().find(|(known, _)| known == name);
            if let Some((_, text)) = told.filter(|(_, text)| text.ends_with("(default)")) {
                *text = format!("{} ({origin})", it.value);
            }
            if it.value != *default {
                let given = as_given(name, it.value.clone(), origin, default.clone());
                self.given.push(given);
            }
        }
    }

    /// The algorithm that somebody names for a collective.
    fn named(&self, what: Collective, hosts: u32) -> Option<(&str, bool)> {
        let named = self.named.iter().find(|(name, _)| name == what.name());
        match named {
            // What leaves the choice to the library is no algorithm.
            Some((_, value)) => Some((&**value, false)).filter(|(it, _)| *it != "auto"),
            None => forced(what).map(|it| (it, false)).or_else(|| {
                let name = format!("COLL_{}", what.name().to_uppercase());
                let mut values = self.profile.values.iter().filter(|_| hosts > 1);
                let found = values.find(|it| it.name == name)?;
                Some((&*found.value, true))
            }),
        }
    }

    /// What the model makes of a collective: by what it is named, too.
    fn selection(&self, asked: &Asked) -> Option<(Collective, Selection, bool)> {
        let what = collective(&asked.function)?;
        // The model reckons with as many ranks on each host.
        if asked.ranks < 2 || asked.hosts == 0 || !asked.is_even {
            return None;
        }
        let named = self.named(what, asked.hosts);
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
        let selection = explain(what, &shape, &machine, named.map(|(name, _)| name));
        Some((what, selection, named.is_some_and(|(_, is_tuned)| is_tuned)))
    }

    /// Whether a collective is in shared memory.
    fn is_shared(&self, asked: &Asked) -> bool {
        let what = collective(&asked.function);
        asked.hosts == 1 && self.is_node && what.is_some_and(|it| self.named(it, 1).is_none())
    }
}

fn as_given(name: &str, value: String, origin: String, default: String) -> Given {
    let bytes = |text: &str| Bytes::parse(text).ok().map(Bytes::get);
    let lengths = bytes(&value).zip(bytes(&default));
    Given {
        name: name.into(),
        lengths: lengths.filter(|_| name.ends_with("_MAX") || name.ends_with("_MIN")),
        value,
        origin,
        default,
    }
}

/// What a profile calls the program of a job that has one only.
pub fn only_program(apps: &[catena_job::App]) -> Option<String> {
    let mut names = apps
        .iter()
        .map(|it| profile::program(&it.program, &it.args));
    let first = names.next().flatten()?;
    names.all(|it| it.as_ref() == Some(&first)).then_some(first)
}

/// What an algorithm of a selection takes, seconds.
fn cost(selection: &Selection, name: &str) -> Option<f64> {
    let mut those = selection.candidates.iter();
    let found = those.find(|it| it.algorithm.name == name)?;
    found.cost.as_ref().ok().copied()
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
        if asked.ranks < 2 || asked.hosts == 0 || !asked.is_even {
            return None;
        }
        if self.is_shared(asked) {
            return Some("planned in shared memory, as all ranks are on one host".into());
        }
        let (_, selection, is_tuned) = self.selection(asked)?;
        let chosen = selection.chosen.name;
        let cost = cost(&selection, chosen);
        let cost = cost.map_or(String::new(), |cost| format!(", {:.1} us", cost * 1e6));
        let why = match &selection.why {
            Why::Forced if is_tuned => {
                format!("as the profile {} says", self.profile.path.display())
            }
            Why::Forced => format!("as CATENA_COLL_{} says", what.name().to_uppercase()),
            Why::Cheapest => format!("the cheapest by the model{cost}"),
            Why::ForcedCannot(other) => format!("as {other} cannot serve this{cost}"),
            Why::ForcedUnknown(other) => format!("as there is no {other}{cost}"),
        };
        Some(format!("planned as {chosen}, {why}"))
    }

    fn given(&self) -> Vec<Given> {
        self.given.clone()
    }

    fn ways(&self) -> Option<(Way, Way)> {
        use model::{
            MODEL_NETWORK_BANDWIDTH, MODEL_NETWORK_LATENCY, MODEL_NODE_BANDWIDTH,
            MODEL_NODE_LATENCY,
        };
        let within = Way {
            latency: MODEL_NODE_LATENCY.get(),
            bandwidth: MODEL_NODE_BANDWIDTH.get(),
        };
        let between = Way {
            latency: MODEL_NETWORK_LATENCY.get(),
            bandwidth: MODEL_NETWORK_BANDWIDTH.get(),
        };
        Some((within, between))
    }

    fn costs(&self, asked: &Asked) -> Option<(f64, f64)> {
        // Shared memory is no part of the model.
        if self.is_shared(asked) || asked.hosts == 1 && self.is_node {
            return None;
        }
        let (_, selection, _) = self.selection(asked)?;
        let costs = selection.candidates.iter();
        let costs = costs.filter_map(|it| it.cost.as_ref().ok().copied());
        let least = costs.min_by(f64::total_cmp)?;
        Some((cost(&selection, selection.chosen.name)?, least))
    }

    fn measured(&self, setting: &str) -> Option<String> {
        let mut values = self.profile.values.iter();
        let found = values.find(|it| format!("{}={}", it.name, it.value) == setting)?;
        let path = self.profile.path.display();
        Some(format!("{}, by the profile {path}", found.gain))
    }

    fn measured_value(&self, name: &str) -> Option<String> {
        let mut values = self.profile.values.iter();
        let found = values.find(|it| it.name == name)?;
        Some(format!("{}={}", found.name, found.value))
    }

    fn profile(&self) -> Option<String> {
        self.profile.words()
    }

    fn program(&self) -> Option<String> {
        self.program.clone()
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

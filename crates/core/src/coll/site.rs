//! Where the members of a communicator are, and what messages between them
//! cost.

use std::sync::OnceLock;

use catena_coll::{Collective, Model, Nodes, Placement, Site, TYPICAL};
use catena_schedule::simulate::RankPlace;

use super::force::{is_fixed, tuned};
use super::model;
use crate::comm::Comm;
use crate::process::Process;

/// By what the algorithm of a call is chosen, besides the call.
pub(super) struct Ground<'c> {
    /// What messages cost.
    pub model: &'static Model,
    /// How many nodes there are, and how many ranks on each.
    pub placement: Placement,
    /// The nodes of the members, for the algorithms that go by nodes; `None` if there is one node.
    pub site: Option<Site<'c>>,
    /// The algorithm that a profile names.
    pub tuned: Option<&'static str>,
}

impl Comm {
    /// By what the algorithm of a collective is chosen.
    pub(super) fn ground<'c>(&'c self, process: &Process, what: Collective) -> Ground<'c> {
        let one_node = || Placement::one_node(self.size());
        if is_fixed(what) {
            return Ground {
                model: &TYPICAL,
                placement: one_node(),
                site: None,
                tuned: None,
            };
        }
        let is_of_job = self.is_of_job(process);
        let (model, nodes) = (Comm::model(process, is_of_job), self.nodes(process));
        Ground {
            model,
            tuned: tuned(what).filter(|_| is_of_job),
            placement: nodes.map_or_else(one_node, Nodes::placement),
            site: nodes.map(|nodes| Site::new(nodes, model)),
        }
    }

    /// Whether all members are of this job. Cost: O(members).
    fn is_of_job(&self, process: &Process) -> bool {
        process.link(|link| {
            let far: Vec<_> = link.members(self.cid).map(|(peer, _)| peer).collect();
            let peers = link.net().peers();
            let mut all = self.group.members().chain(far);
            all.all(|peer| peers.is_own(peer))
        })
    }

    /// What messages cost among the members of a communicator. All choose by it, and must choose
    /// alike: that this node is oversubscribed counts only if the job has no other, and if all are
    /// of this job.
    fn model(process: &Process, is_of_job: bool) -> &'static Model {
        static MODELS: [OnceLock<Model>; 2] = [OnceLock::new(), OnceLock::new()];
        MODELS[usize::from(is_of_job)].get_or_init(|| {
            let boot = process.engine.boot.borrow();
            let job = boot.job();
            let counts = is_of_job && process.engine.oversubscribed && job.hosts.len() == 1;
            model::machine(counts.then_some(job.local_cpus))
        })
    }

    fn nodes<'c>(&'c self, process: &Process) -> Option<&'c Nodes> {
        let make = || {
            let nodes: Vec<u32> = process.nodes_of(self.group.members());
            let place = |node| RankPlace { node, domain: node };
            let places: Vec<RankPlace> = nodes.into_iter().map(place).collect();
            let several = places.iter().any(|p| p.node != places[0].node);
            several.then(|| Nodes::new(&places))
        };
        self.coll.map.get_or_init(make).as_ref()
    }
}

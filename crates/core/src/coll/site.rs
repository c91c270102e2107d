//! Where the members of a communicator are, and what messages between them
//! cost.

use std::sync::OnceLock;

use catena_coll::{Model, Nodes, Placement, Site};
use catena_schedule::simulate::RankPlace;

use super::model;
use crate::comm::Comm;
use crate::process::Process;

impl Process {
    /// What messages cost here. All members choose by it, and must choose alike:
    /// that this node is oversubscribed counts only if the job has no other.
    pub(super) fn model(&self) -> &'static Model {
        static MODEL: OnceLock<Model> = OnceLock::new();
        MODEL.get_or_init(|| {
            let boot = self.engine.boot.borrow();
            let job = boot.job();
            let oversubscribed = self.engine.oversubscribed && job.hosts.len() == 1;
            model::machine(oversubscribed.then_some(job.local_cpus))
        })
    }

    fn map<'c>(&self, comm: &'c Comm) -> Option<&'c Nodes> {
        let make = || {
            let nodes: Vec<u32> = self.nodes_of(comm.group.members());
            let place = |node| RankPlace { node, domain: node };
            let places: Vec<RankPlace> = nodes.into_iter().map(place).collect();
            let several = places.iter().any(|p| p.node != places[0].node);
            several.then(|| Nodes::new(&places))
        };
        comm.coll.map.get_or_init(make).as_ref()
    }

    /// Where the members of `comm`, or of its local group, are.
    pub(super) fn placement(&self, comm: &Comm) -> Placement {
        let one = || Placement::one_node(comm.size());
        self.map(comm).map_or_else(one, Nodes::placement)
    }

    /// The same for the algorithms that go by nodes; `None` if there is one.
    pub(super) fn site<'c>(&self, comm: &'c Comm) -> Option<Site<'c>> {
        let model = self.model();
        self.map(comm).map(|nodes| Site { nodes, model })
    }
}

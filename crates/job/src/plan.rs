//! What shall run where: all that the launcher on each node must know.

use std::ffi::OsString;
use std::ops::Range;

use catena_boot::wire::{Malformed, Reader, Writer};
use catena_boot::{LAUNCH_UNIVERSE, OtherMpi};
use catena_proof::Secret;
use catena_settings::Value;

use crate::app::App;
use crate::placement_request::PlacementRequest;
use crate::strings::{read_texts, read_vars, write_texts, write_vars};

/// What shall run where; by default nothing, nowhere.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// Random number of the job.
    pub job_id: u64,
    /// What only the job's processes know. It does not travel with the plan, whose
    /// way may be open to others.
    pub secret: Option<Secret>,
    /// Programs, in the order of their ranks; each has its number of ranks.
    pub apps: Vec<App>,
    /// Variables for the ranks of all programs.
    pub env: Vec<(OsString, OsString)>,
    /// Process sets by name, with their ranks in ascending order.
    pub psets: Vec<(String, Vec<u32>)>,
    /// Name of each node.
    pub hosts: Vec<String>,
    /// Node of each rank.
    pub node_of: Vec<u32>,
    /// How many ranks the hosts have room for, if they were named.
    pub slots: Option<u32>,
    /// How many ranks each node has room for. It does not travel with the plan: only who puts ranks
    /// in their places needs it.
    pub room: Vec<u32>,
    /// Which seat of its node each rank has.
    pub seats: Vec<u32>,
    /// What each rank is to be bound to, in the words of a rankfile; none
    /// without such a file.
    pub slots_of: Vec<String>,
    /// How the others are bound.
    pub placement: PlacementRequest,
    /// The ranks that read standard input, ascending.
    pub stdin: Vec<u32>,
    /// Whether there shall be a PMIx server, whatever the programs are.
    pub pmix: bool,
    /// What becomes of ranks that use another MPI's library.
    pub foreign: OtherMpi,
}

impl Plan {
    /// The ranks of each program.
    pub fn ranks_of_apps(&self) -> impl Iterator<Item = Range<u32>> {
        let mut next = 0;
        self.apps.iter().map(move |app| {
            let first = next;
            next += app.count.unwrap_or(1);
            first..next
        })
    }

    /// The program of each rank.
    pub fn appnums(&self) -> Vec<u32> {
        (0..)
            .zip(self.ranks_of_apps())
            .flat_map(|(app, ranks)| std::iter::repeat_n(app, ranks.len()))
            .collect()
    }

    /// The ranks on a node, ascending.
    pub fn ranks_on(&self, node: u32) -> impl Iterator<Item = u32> {
        (0u32..)
            .zip(&self.node_of)
            .filter_map(move |(rank, &of)| (of == node).then_some(rank))
    }

    /// What the ranks are told as `MPI_UNIVERSE_SIZE`, where there are `others` beside them.
    pub fn universe_size(&self, others: u32) -> u32 {
        let all = others + self.node_of.len() as u32;
        let said = match crate::setting(&LAUNCH_UNIVERSE, &self.env) {
            0 => self.slots.unwrap_or_else(catena_boot::available_cpus),
            size => size,
        };
        said.max(all)
    }

    /// As [`Plan::read`] reads it, which has no secret then.
    pub fn write(&self, w: &mut Writer) {
        w.u64(self.job_id);
        w.u32(self.apps.len() as u32);
        self.apps.iter().for_each(|app| app.write(w));
        write_vars(w, &self.env);
        w.u32(self.psets.len() as u32);
        for (name, ranks) in &self.psets {
            w.bytes(name.as_bytes());
            w.u32s(ranks);
        }
        write_texts(w, &self.hosts);
        w.u32s(&self.node_of);
        w.u32s(self.slots.as_slice());
        w.u32s(&self.seats);
        write_texts(w, &self.slots_of);
        self.placement.write(w);
        w.u32s(&self.stdin);
        w.u32(u32::from(self.pmix));
        w.bytes(self.foreign.show().as_bytes());
    }

    /// Reads what [`Plan::write`] wrote.
    ///
    /// # Errors
    /// If it is something else, or contradicts itself.
    pub fn read(r: &mut Reader<'_>) -> Result<Plan, Malformed> {
        let job_id = r.u64()?;
        let apps = (0..r.count(20)?).map(|_| App::read(r));
        let apps = apps.collect::<Result<Vec<_>, Malformed>>()?;
        let plan = Plan {
            job_id,
            secret: None,
            apps,
            env: read_vars(r)?,
            psets: (0..r.count(8)?)
                .map(|_| Ok((r.text()?, r.u32s()?)))
                .collect::<Result<_, Malformed>>()?,
            hosts: read_texts(r)?,
            node_of: r.u32s()?,
            slots: r.u32s()?.pop(),
            room: Vec::new(),
            seats: r.u32s()?,
            slots_of: read_texts(r)?,
            placement: PlacementRequest::read(r)?,
            stdin: r.u32s()?,
            pmix: r.u32()? != 0,
            foreign: OtherMpi::parse(&r.text()?)
                .map_err(|_| Malformed("what to do about other MPIs"))?,
        };
        let ranks: u64 = plan
            .apps
            .iter()
            .filter_map(|a| a.count)
            .map(u64::from)
            .sum();
        let size = plan.node_of.len();
        let sound = ranks == size as u64
            && plan.seats.len() == size
            && [0, size].contains(&plan.slots_of.len())
            && plan
                .node_of
                .iter()
                .all(|&n| (n as usize) < plan.hosts.len())
            && plan.stdin.is_sorted_by(|a, b| a < b)
            && plan.stdin.last().is_none_or(|&rank| (rank as usize) < size)
            && plan.psets.iter().all(|(_, ranks)| {
                ranks.is_sorted_by(|a, b| a < b)
                    && ranks.last().is_none_or(|&r| (r as usize) < size)
            });
        match sound {
            true => Ok(plan),
            false => Err(Malformed("the plan contradicts itself")),
        }
    }
}

/// The ranks of each program as a process set.
pub fn app_sets(sizes: &[u32]) -> Vec<(String, Vec<u32>)> {
    let mut first = 0;
    let set = |(app, &count): (usize, &u32)| {
        let ranks = (first..first + count).collect();
        first += count;
        (format!("app://{app}"), ranks)
    };
    sizes.iter().enumerate().map(set).collect()
}

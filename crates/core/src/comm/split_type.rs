//! `MPI_Comm_split_type` (MPI-5, chapter 7.4.2), and what it can split by
//! (chapter 9.1).
//!
//! Every member tells where it may run; then all know alike who belongs
//! together. Members that do not ask for the same thing get nothing.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use catena_abi::{self as abi, consts};
use catena_fabric::{Peer, ProcessName};
use catena_net::Route;
use catena_topo::{ProcessPlace, Resource, Within};

use super::agreement::{Contributions, NONE};
use super::create::{ready, row};
use super::{Comm, Half};
use crate::process::Process;
use catena_objects::error::Result;
use catena_objects::fail;
use catena_objects::group::Group;
use catena_objects::info::Info;

const TYPE_KEY: &str = "mpi_hw_resource_type";
const SET_KEY: &str = "mpi_pset_name";
/// Its value for ranks that can share memory.
const SHARED: &str = "mpi_shared_memory";

/// What to split by.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Criterion {
    /// `MPI_UNDEFINED`, or what nobody can fulfil.
    Nothing,
    /// Memory that members can share, as windows do.
    Memory,
    Resource(&'static str),
    /// The name of a process set.
    Set(String),
    /// The largest resource that tells members apart.
    Unguided,
}

/// Words before the places in a row: criterion and key.
const PLACES: usize = 2;
/// Words before the name of those that a member shares memory with.
const MEMORY: usize = PLACES + Resource::ALL.len();
/// Words of a row.
const ROW: usize = MEMORY + 3;

impl Criterion {
    fn new(split_type: i32, info: Option<&Info>) -> Result<Criterion> {
        let hint = |key| info.and_then(|info| info.hint(key));
        match split_type {
            consts::UNDEFINED => Ok(Criterion::Nothing),
            consts::COMM_TYPE_SHARED => Ok(Criterion::Memory),
            consts::COMM_TYPE_HW_UNGUIDED => Ok(Criterion::Unguided),
            consts::COMM_TYPE_HW_GUIDED => Ok(Criterion::guided(hint(TYPE_KEY))),
            consts::COMM_TYPE_RESOURCE_GUIDED => match (hint(TYPE_KEY), hint(SET_KEY)) {
                (Some(_), Some(_)) => fail!(
                    Info,
                    "the info object has both {TYPE_KEY} and {SET_KEY}: give one of them"
                ),
                (None, Some(set)) => Ok(Criterion::Set(set)),
                (guide, None) => Ok(Criterion::guided(guide)),
            },
            _ => fail!(Arg, "{split_type} is not a way to split a communicator"),
        }
    }

    fn guided(guide: Option<String>) -> Criterion {
        match guide.as_deref() {
            Some(SHARED) => Criterion::Memory,
            name => name
                .and_then(Resource::named)
                .map_or(Criterion::Nothing, |r| Criterion::Resource(r.uri())),
        }
    }

    /// The hint that told it, if one did.
    fn hint(&self, info: Option<&Info>) -> Arc<Info> {
        let key = match self {
            Criterion::Nothing | Criterion::Unguided => return Arc::default(),
            Criterion::Memory | Criterion::Resource(_) => TYPE_KEY,
            Criterion::Set(_) => SET_KEY,
        };
        let value = info.and_then(|info| info.hint(key));
        Info::from_pairs(value.map(|value| (key, value)))
    }

    /// Whether members belong together only if they share memory: for a resource of the machine
    /// that is so as well.
    fn asks_for_memory(&self) -> bool {
        match self {
            Criterion::Memory | Criterion::Resource(_) | Criterion::Unguided => true,
            Criterion::Nothing | Criterion::Set(_) => false,
        }
    }

    /// A number by which members see whether they want the same.
    fn digest(&self) -> u32 {
        let mut hasher = DefaultHasher::new();
        self.hash(&mut hasher);
        hasher.finish() as u32
    }
}

/// Who belongs together: members with the same color.
type Color = (u64, u32, u32);

/// The color of a member by one resource; `None` if it may run in several. Members that share no
/// memory are on no resource together, whatever the machine is: one rule for all that a program may
/// take for a node.
fn color(row: &[u32], resource: Resource) -> Option<Color> {
    let place = row[PLACES + resource as usize];
    let (job, rank, _) = color_of_memory(row);
    (place != NONE).then_some((job, rank, place))
}

/// The color of a member by the memory that it shares: the name of one of those that share it.
fn color_of_memory(row: &[u32]) -> Color {
    let job = u64::from(row[MEMORY]) << 32 | u64::from(row[MEMORY + 1]);
    (job, row[MEMORY + 2], 0)
}

/// The largest resource by which every color is that of some members only.
fn largest_that_splits(told: &Contributions) -> Option<Resource> {
    let rows = || told.rows(&told.ours).chain(told.rows(&told.theirs));
    let splits = |resource: &Resource| {
        let mut colors: Vec<_> = rows().map(|row| color(row, *resource)).collect();
        let all = colors.len();
        colors.sort_unstable();
        let mut counts = colors.chunk_by(|a, b| a == b).filter(|c| c[0].is_some());
        let first = counts.next().map(<[_]>::len);
        first.is_some_and(|n| n < all)
    };
    Resource::ALL.into_iter().find(splits)
}

impl Comm {
    /// `MPI_Comm_split_type`: collective over this communicator. `None` at members that do
    /// not fulfil the criterion. An unguided split tells in `info` what it
    /// split by.
    ///
    /// # Errors
    /// `Arg` for an unknown type, `Info` for contradicting hints.
    pub fn split_type(
        self: &Arc<Self>,
        process: &Process,
        split_type: i32,
        key: i32,
        info: Result<Option<Arc<Info>>>,
    ) -> Result<Option<abi::Comm>> {
        let wanted = info.and_then(|info| Ok((Criterion::new(split_type, info.as_deref())?, info)));
        let ready = ready(process, wanted, self.is_inter());
        let mut words = [NONE; ROW];
        words[1] = key as u32;
        if let Ok(((wanted, _), _)) = &ready {
            words[0] = wanted.digest();
            words[PLACES..MEMORY].copy_from_slice(&place(process, wanted));
            if wanted.asks_for_memory() {
                let ProcessName { job, rank } = self.first_in_memory(process);
                words[MEMORY..].copy_from_slice(&[(job >> 32) as u32, job as u32, rank]);
            }
        }
        let told = self.agree(process, &row(words, &ready));
        let (((wanted, info), numbers), told) = (ready?, told?);

        let nothing = Criterion::Nothing.digest();
        let mut rows = told.rows(&told.ours).chain(told.rows(&told.theirs));
        let differs = |row: &[u32]| row[0] != words[0] && row[0] != nothing;
        let resource = match &wanted {
            _ if rows.any(differs) => return Ok(None),
            Criterion::Nothing => return Ok(None),
            Criterion::Memory | Criterion::Set(_) => None,
            Criterion::Resource(name) => Resource::named(name),
            Criterion::Unguided => match largest_that_splits(&told) {
                None => return Ok(None),
                found => found,
            },
        };
        let color = |peer: Peer, row: &[u32]| match (&wanted, resource) {
            _ if row[0] != words[0] => None,
            (Criterion::Memory, _) => Some(color_of_memory(row)),
            (Criterion::Set(set), _) => color_in(process, set, peer),
            (_, Some(resource)) => color(row, resource),
            (_, None) => None,
        };
        let Some(mine) = color(process.me, &words) else {
            return Ok(None);
        };
        let half = |parent: &Arc<Group>, words| {
            let rows = told.rows(words).enumerate();
            let alike =
                |(rank, row): &(usize, &[u32])| color(parent.member(*rank), row) == Some(mine);
            Half::by_key(process, parent, rows.filter(alike))
        };
        let hints = match split_type {
            consts::COMM_TYPE_SHARED => Arc::default(),
            _ => wanted.hint(info.as_deref()),
        };
        let new = self.join_halves(process, numbers, &told, hints, half);
        if let (Some(_), Some(info), Criterion::Unguided, Some(r)) = (new, info, &wanted, resource)
        {
            info.set(TYPE_KEY, r.uri())?;
        }
        Ok(new)
    }
}

/// This process's place within each resource that `wanted` may mean, for a
/// row. To ask Linux for those within its node takes long.
fn place(process: &Process, wanted: &Criterion) -> [u32; Resource::ALL.len()] {
    let within_node = match wanted {
        Criterion::Nothing | Criterion::Memory | Criterion::Set(_) => false,
        Criterion::Resource(name) => *name != Resource::Machine.uri(),
        Criterion::Unguided => true,
    };
    let place = within_node.then(ProcessPlace::here);
    let instance = |resource| match place.as_ref()?.within(resource) {
        Within::One(instance) => Some(instance),
        Within::Several | Within::Unknown => None,
    };
    Resource::ALL.map(|resource| match resource {
        Resource::Machine => node(process),
        _ => instance(resource).unwrap_or(NONE),
    })
}

impl Comm {
    /// The first of the members that this process shares memory with; all of these name the same
    /// one. Processes of a node share none where messages go over a network even there
    /// (`CATENA_LINK`), and then nobody makes a shared window of them.
    fn first_in_memory(&self, process: &Process) -> ProcessName {
        let groups = [Some(&self.group), self.remote.as_ref().map(|it| &it.group)];
        let members = groups.into_iter().flatten().flat_map(|it| it.members());
        process.link(|link| {
            let routes = link.net();
            let near = members.filter(|&peer| {
                peer == process.me || matches!(routes.route(peer), Route::Shm | Route::Loopback)
            });
            let names = near.filter_map(|peer| routes.peers().name(peer));
            names.min().expect("this process is a member")
        })
    }
}

fn node(process: &Process) -> u32 {
    let [node] = process.nodes_of::<Vec<u32>>([process.me].into_iter())[..] else {
        unreachable!("one peer has one node")
    };
    node
}

/// The color of a process in a process set; `None` if it is no member.
fn color_in(process: &Process, set: &str, peer: Peer) -> Option<Color> {
    let everyone = (0, 0, 0);
    // A set is one of the job that this process is in.
    let rank = process.rank_in_job(peer).ok()?;
    match set {
        "mpi://WORLD" => Some(everyone),
        "mpi://SELF" => Some((1, rank, 0)),
        _ => {
            let boot = process.engine.boot.borrow();
            let (_, ranks) = boot.job().psets.iter().find(|(name, _)| name == set)?;
            ranks.binary_search(&rank).is_ok().then_some(everyone)
        }
    }
}

/// `MPI_Get_hw_resource_info`: the kinds of resource there are, and whether
/// this process may run in one instance only. They are what `TYPE_KEY` can say.
pub fn resources() -> Arc<Info> {
    let place = ProcessPlace::here();
    let there = Resource::ALL.into_iter().filter_map(|resource| {
        let one = match place.within(resource) {
            Within::Unknown => return None,
            Within::Several => false,
            Within::One(_) => true,
        };
        Some((resource.uri().to_owned(), one.to_string()))
    });
    Info::from_pairs(there.chain([(SHARED.to_owned(), "true".to_owned())]))
}

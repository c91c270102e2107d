//! The CPUs of each rank by a [`Policy`].
//!
//! Ranks are dealt to nodes, on each node to instances of a resource, and
//! numbered ([`map`]); each node binds its own ([`seats`]). A node with too few cores for its ranks
//! and their threads binds none of them: two ranks that are tied to one core while another one is
//! idle would be worse than what Linux does by itself.

use std::fmt;

use crate::policy::word;
use crate::{Bind, By, Cpus, Machine, Order, Policy, Resource};

/// A machine of the job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Its name, for messages.
    pub name: String,
    /// What ranks may use of it.
    pub machine: Machine,
    /// How many ranks it takes before the next node has its turn.
    pub slots: u32,
}

/// Where a rank runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spot {
    /// Index of its node.
    pub node: usize,
    /// Which of its node's [`Seats`] it has.
    pub seat: usize,
}

/// What the ranks of one node are bound to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seats {
    /// What the rank on each seat is bound to, if it is.
    pub cpus: Vec<Option<Cpus>>,
    /// What was wanted and could not be, in words.
    pub note: Option<String>,
}

/// Ranks cannot be mapped so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MapError {
    /// A machine has, or tells of, no such resource.
    NoSuch {
        /// Which machine.
        node: String,
        /// What it is to have.
        resource: Resource,
    },
    /// More ranks were asked for than `ppr` makes: on one node, or on all.
    TooMany {
        /// Which node, if it is one.
        node: Option<String>,
        /// How many were asked for.
        asked: u32,
        /// How many there are.
        most: u32,
    },
}

impl fmt::Display for MapError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MapError::NoSuch { node, resource } => write!(
                f,
                "node {node} has, or tells of, no {}; map and bind by something else, such as core",
                word(*resource)
            ),
            MapError::TooMany { node, asked, most } => {
                match node {
                    Some(node) => write!(f, "ppr makes {most} ranks on node {node}")?,
                    None => write!(f, "ppr makes {most} ranks on these nodes")?,
                }
                write!(
                    f,
                    ", but {asked} are wanted there; ask for fewer, or for more per resource"
                )
            }
        }
    }
}

impl std::error::Error for MapError {}

impl Policy {
    fn mapped_by(&self) -> By {
        match (self.by, self.bind) {
            (Some(by), _) => by,
            (None, Some(_)) => By::Slot,
            (None, None) => By::Spread,
        }
    }

    /// What ranks are bound to; a share of a node is of cores.
    fn bound_to(&self) -> Bind {
        self.bind.unwrap_or(match self.mapped_by() {
            By::Slot | By::Spread if self.threads_are_cores => Bind::To(Resource::Pu),
            By::Slot | By::Spread => Bind::To(Resource::Core),
            By::Each(Resource::Machine) | By::Ppr(_, Resource::Machine) => Bind::Nothing,
            By::Each(resource) | By::Ppr(_, resource) => Bind::To(resource),
        })
    }
}

/// Where `ranks` ranks run on `nodes`, by rank. Without a number, as many as
/// `ppr` makes, or as there are slots.
///
/// # Errors
/// See [`MapError`].
///
/// # Examples
/// Four ranks, two on each of two packages:
/// ```
/// use catena_topo::{Machine, Node, Policy, map};
///
/// let core = |cpus: &str| {
///     let thread = format!("<object type=\"PU\" cpuset=\"{cpus}\"/>");
///     format!("<object type=\"Core\" cpuset=\"{cpus}\">{thread}</object>")
/// };
/// let package = |cpus: &str, cores: [&str; 2]| {
///     let cores = cores.map(core).concat();
///     format!("<object type=\"Package\" cpuset=\"{cpus}\">{cores}</object>")
/// };
/// let text = format!(
///     "<topology version=\"2.0\"><object type=\"Machine\" cpuset=\"0xf\">{}{}</object></topology>",
///     package("0x3", ["0x1", "0x2"]),
///     package("0xc", ["0x4", "0x8"]),
/// );
/// let machine = Machine::from_xml(&text).expect("the file makes sense");
/// let node = Node { name: "node0".into(), machine, slots: 4 };
/// let mut policy = Policy::default();
/// policy.map_by("ppr:2:package")?;
/// assert_eq!(map(&[node], None, &policy).map(|spots| spots.len()), Ok(4));
/// # Ok::<(), String>(())
/// ```
pub fn map(nodes: &[Node], ranks: Option<u32>, policy: &Policy) -> Result<Vec<Spot>, MapError> {
    let by = policy.mapped_by();
    let mut spots = Vec::new();
    for (node, count) in deal(nodes, ranks, by)?.into_iter().enumerate() {
        let (_, places) = objects(&nodes[node], by, count, 1)?;
        let spot = |(seat, place)| (Spot { node, seat }, place);
        spots.extend(places.into_iter().enumerate().map(spot));
    }
    match policy.order {
        Order::Slot if by != By::Each(Resource::Machine) => {}
        // Then the mapping has gone round the nodes.
        Order::Slot | Order::Node => spots.sort_by_key(|(spot, _)| spot.seat),
        Order::Fill => spots.sort_by_key(|(spot, (object, _))| (spot.node, *object)),
        Order::Span => spots.sort_by_key(|(spot, (object, at))| (*at, spot.node, *object)),
    }
    Ok(spots.into_iter().map(|(spot, _)| spot).collect())
}

/// What the `count` ranks of a node are bound to, each with `threads` threads.
///
/// # Errors
/// See [`MapError`].
pub fn seats(
    node: &Node,
    count: usize,
    threads: Option<u32>,
    policy: &Policy,
) -> Result<Seats, MapError> {
    let by = policy.mapped_by();
    let width = policy.width.or(threads).unwrap_or(1) as usize;
    let (objects, places) = objects(node, by, count, width)?;
    let Bind::To(resource) = policy.bound_to() else {
        return Ok(Seats {
            cpus: vec![None; count],
            note: None,
        });
    };
    let (kind, room) = match resource {
        Resource::Pu => ("hardware threads", node.machine.of(Resource::Pu).len()),
        _ => ("cores", node.machine.of(Resource::Core).len()),
    };
    if count * width > room && !policy.overload {
        let explicit = policy.bind.is_some() || policy.width.is_some();
        let name = &node.name;
        return Ok(Seats {
            cpus: vec![None; count],
            note: explicit.then(|| {
                let ranks = if count == 1 { "rank" } else { "ranks" };
                let each = match (count, width) {
                    (1, _) | (_, 1) => String::new(),
                    (_, width) => format!(" with {width} {kind} each"),
                };
                let there = if room == 1 {
                    kind.trim_end_matches('s')
                } else {
                    kind
                };
                let need = count * width;
                format!(
                    "node {name}: {count} {ranks}{each} would need {need} {kind}, and there {is} \
                     {room} {there}: they are not bound (with --bind-to core:overload-allowed they \
                     would share)",
                    is = if room == 1 { "is" } else { "are" },
                )
            }),
        });
    }
    let mut binder = Binder::new(node, resource, width, policy.overload)?;
    let whole = by == By::Spread && policy.bind.is_none() && !policy.threads_are_cores;
    let cpus = places.iter().map(|&(object, _)| {
        Some(match whole {
            true => objects[object].clone(),
            false => binder.bind(&objects[object]),
        })
    });
    Ok(Seats {
        cpus: cpus.collect(),
        note: None,
    })
}

/// How many ranks each node gets.
fn deal(nodes: &[Node], ranks: Option<u32>, by: By) -> Result<Vec<usize>, MapError> {
    let slots: Vec<usize> = match by {
        By::Ppr(count, per) => {
            let of = |node: &Node| Ok(instances(node, per)?.len() * count as usize);
            nodes.iter().map(of).collect::<Result<_, _>>()?
        }
        _ => nodes
            .iter()
            .map(|node| node.slots.max(1) as usize)
            .collect(),
    };
    let all: usize = slots.iter().sum();
    let asked = ranks.map_or(all, |ranks| ranks as usize);
    if let (By::Ppr(..), true) = (by, asked > all) {
        return Err(MapError::TooMany {
            node: None,
            asked: asked as u32,
            most: all as u32,
        });
    }
    let mut counts = vec![0; nodes.len()];
    let mut left = asked;
    // With more ranks than slots every node has its turn again.
    while left > 0 {
        if by == By::Each(Resource::Machine) {
            let mut round = slots.clone();
            while left > 0 && round.iter().any(|&free| free > 0) {
                for (count, free) in counts.iter_mut().zip(&mut round) {
                    let take = (*free).min(1).min(left);
                    (*count, *free, left) = (*count + take, *free - take, left - take);
                }
            }
        } else {
            for (count, &most) in counts.iter_mut().zip(&slots) {
                let take = most.min(left);
                (*count, left) = (*count + take, left - take);
            }
        }
    }
    Ok(counts)
}

/// What the ranks of a node are mapped to, and for each of `count` ranks which
/// of these it has, and how many others of it came before.
type Mapped = (Vec<Cpus>, Vec<(usize, usize)>);

fn objects(node: &Node, by: By, count: usize, width: usize) -> Result<Mapped, MapError> {
    let machine = &node.machine;
    Ok(match by {
        By::Slot | By::Each(Resource::Machine) => (
            vec![machine.cpus()],
            (0..count).map(|rank| (0, rank)).collect(),
        ),
        By::Each(resource) => {
            let all = instances(node, resource)?;
            let place = |rank| (rank % all.len(), rank / all.len());
            (all.to_vec(), (0..count).map(place).collect())
        }
        By::Ppr(each, resource) => {
            let (all, each) = (instances(node, resource)?, each as usize);
            if count > all.len() * each {
                return Err(MapError::TooMany {
                    node: Some(node.name.clone()),
                    asked: count as u32,
                    most: (all.len() * each) as u32,
                });
            }
            let place = |rank| (rank / each, rank % each);
            (all.to_vec(), (0..count).map(place).collect())
        }
        By::Spread => {
            let cores = machine.of(Resource::Core);
            let whole = shares(machine, cores, count);
            let enough = |share: &Cpus| machine.cores_in(share).count() >= width;
            let shares = match whole.len() == count && whole.iter().all(enough) {
                true => whole,
                false => cut(cores, count),
            };
            (shares, (0..count).map(|rank| (rank, 0)).collect())
        }
    })
}

/// Shares of some cores for `count` ranks, equal as far as none needs to have
/// parts of two packages, NUMA nodes or caches.
fn shares(machine: &Machine, cores: &[Cpus], count: usize) -> Vec<Cpus> {
    for resource in [Resource::Package, Resource::NumaNode, Resource::L3Cache] {
        let home = |core: &Cpus| {
            machine
                .of(resource)
                .iter()
                .position(|of| core.is_subset(of))
        };
        let parts: Vec<&[Cpus]> = cores.chunk_by(|a, b| home(a) == home(b)).collect();
        if parts.len() > count {
            let parts: Vec<Cpus> = parts.into_iter().map(union).collect();
            return cut(&parts, count);
        }
        if parts.len() > 1 {
            let mut end = 0;
            let of_part = |part: &[Cpus]| {
                let start = end;
                end += part.len();
                // Those whose equal share would begin here.
                let rank = |at: usize| (at * count).div_ceil(cores.len());
                shares(machine, part, rank(end) - rank(start))
            };
            return parts.into_iter().flat_map(of_part).collect();
        }
    }
    cut(cores, count)
}

/// Cuts sets that follow each other into `count` equal runs.
fn cut(sets: &[Cpus], count: usize) -> Vec<Cpus> {
    let at = |rank: usize| rank * sets.len() / count;
    (0..count)
        .map(|rank| union(&sets[at(rank)..at(rank + 1)]))
        .collect()
}

fn union(sets: &[Cpus]) -> Cpus {
    sets.iter()
        .fold(Cpus::default(), |all, cpus| all.union(cpus))
}

/// The instances of a resource; there is one at least.
fn instances(node: &Node, resource: Resource) -> Result<&[Cpus], MapError> {
    match node.machine.of(resource) {
        [] => Err(MapError::NoSuch {
            node: node.name.clone(),
            resource,
        }),
        all => Ok(all),
    }
}

/// Gives the ranks of one node what they are bound to.
struct Binder<'a> {
    machine: &'a Machine,
    resource: Resource,
    /// Cores, or hardware threads, that a rank needs.
    width: usize,
    all: &'a [Cpus],
    /// How many ranks each of `all` has.
    users: Vec<usize>,
    /// Whether ranks may share them.
    overload: bool,
}

impl<'a> Binder<'a> {
    fn new(
        node: &'a Node,
        resource: Resource,
        width: usize,
        overload: bool,
    ) -> Result<Self, MapError> {
        let all = instances(node, resource)?;
        Ok(Binder {
            machine: &node.machine,
            resource,
            width,
            all,
            users: vec![0; all.len()],
            overload,
        })
    }

    /// For a rank that is mapped to `object`.
    fn bind(&mut self, object: &Cpus) -> Cpus {
        match self.resource {
            Resource::Core | Resource::Pu => self.own(object),
            _ => self.shared(object),
        }
    }

    /// As many as it needs that nobody else has: of the object, or else those
    /// that follow it.
    fn own(&mut self, object: &Cpus) -> Cpus {
        let touches = |cpus: &Cpus| !cpus.intersection(object).is_empty();
        let start = self.all.iter().position(touches).unwrap_or(0);
        let mut order: Vec<usize> = (start..self.all.len()).chain(0..start).collect();
        order.sort_by_key(|&at| !touches(&self.all[at]));
        match self.overload {
            true => order.sort_by_key(|&at| self.users[at]),
            false => order.retain(|&at| self.users[at] == 0),
        }
        let mut cpus = Cpus::default();
        for at in order.into_iter().take(self.width) {
            self.users[at] += 1;
            cpus = cpus.union(&self.all[at]);
        }
        cpus
    }

    /// The one around the object, or of those within the one with the fewest
    /// ranks; what is around it, if it has too few cores.
    fn shared(&mut self, object: &Cpus) -> Cpus {
        let candidates = (0..self.all.len())
            .filter(|&at| object.is_subset(&self.all[at]) || self.all[at].is_subset(object));
        let Some(best) = candidates.min_by_key(|&at| self.users[at]) else {
            return object.clone();
        };
        self.users[best] += 1;
        let cpus = &self.all[best];
        let enough = |around: &&Cpus| {
            cpus.is_subset(around) && self.machine.cores_in(around).count() >= self.width
        };
        let larger = Resource::ALL.into_iter().rev();
        let around = larger.flat_map(|r| self.machine.of(r)).find(enough);
        around.unwrap_or(cpus).clone()
    }
}

//! The resources of a machine, and its network cards.

use std::cmp::Reverse;
use std::path::Path;

use crate::sysfs::{self, instance};
use crate::{Cpus, Resource};

/// A network card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nic {
    /// Its name, such as `hsn0` or `mlx5_0`.
    pub name: String,
    /// The CPUs that it is attached to; none if the machine does not tell.
    pub cpus: Cpus,
}

/// The resources of a machine: for each kind its instances, as sets of CPUs.
///
/// Instances of a kind are disjoint, and in the machine's order: those of one
/// package come before those of the next, and so on inwards. There is always a
/// machine, a core and a CPU; of other kinds there may be none, if the machine
/// has, or tells of, none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Machine {
    instances: [Vec<Cpus>; Resource::ALL.len()],
    nics: Vec<Nic>,
}

impl Machine {
    /// This machine.
    pub fn whole() -> Machine {
        Machine::read(Path::new(sysfs::ROOT), Path::new("/sys/class"))
    }

    /// The part of this machine that the calling process may use.
    pub fn here() -> Machine {
        let machine = Machine::whole();
        match Cpus::allowed() {
            Some(allowed) => machine.restricted(&allowed),
            None => machine,
        }
    }

    /// The machine that `system`, as `/sys/devices/system`, and `class`, as
    /// `/sys/class`, describe.
    fn read(system: &Path, class: &Path) -> Machine {
        let online = sysfs::list(&system.join("cpu/online")).unwrap_or_else(|| {
            let count = std::thread::available_parallelism().map_or(1, |n| n.get() as u32);
            (0..count).collect()
        });
        let mut instances = <[Vec<Cpus>; Resource::ALL.len()]>::default();
        for resource in Resource::ALL {
            let found = &mut instances[resource as usize];
            let mut seen = Cpus::default();
            for cpu in online.iter() {
                if seen.contains(cpu) {
                    continue;
                }
                if let Some(all) = instance(resource, cpu, system) {
                    seen = seen.union(&all);
                    found.push(all.intersection(&online));
                }
            }
        }
        Machine::new(instances, nics(class))
    }

    /// Puts instances, in any order, into the machine's, and adds those that
    /// must be there: a CPU at least, which must not be in two of a kind.
    pub(crate) fn new(mut instances: [Vec<Cpus>; Resource::ALL.len()], nics: Vec<Nic>) -> Machine {
        let all = instances
            .iter()
            .flatten()
            .fold(Cpus::default(), |all, cpus| all.union(cpus));
        instances[Resource::Machine as usize] = vec![all.clone()];
        instances[Resource::Pu as usize] = all.iter().map(Cpus::from).collect();
        let threads = instances[Resource::Pu as usize].clone();
        let cores = &mut instances[Resource::Core as usize];
        if cores.is_empty() {
            *cores = threads;
        }
        // Where each CPU lies, from the outside inwards.
        let place = |cpu: u32| {
            let first = |kind: &Vec<Cpus>| {
                let of = kind.iter().find(|cpus| cpus.contains(cpu));
                of.and_then(Cpus::first).unwrap_or(u32::MAX)
            };
            instances.iter().map(first).collect::<Vec<u32>>()
        };
        let places: Vec<Vec<u32>> = (0..=all.iter().last().unwrap_or(0)).map(place).collect();
        for kind in &mut instances {
            kind.sort_by_key(|cpus| cpus.first().map(|cpu| &places[cpu as usize]));
        }
        Machine { instances, nics }
    }

    /// What is left of it if only `allowed` may be used.
    pub fn restricted(&self, allowed: &Cpus) -> Machine {
        let within = |kind: &Vec<Cpus>| {
            let rest = kind.iter().map(|cpus| cpus.intersection(allowed));
            rest.filter(|cpus| !cpus.is_empty()).collect()
        };
        Machine {
            instances: self.instances.each_ref().map(within),
            nics: self.nics.clone(),
        }
    }

    /// The instances of a kind.
    pub fn of(&self, resource: Resource) -> &[Cpus] {
        &self.instances[resource as usize]
    }

    /// All CPUs.
    pub fn cpus(&self) -> Cpus {
        let machine = self.of(Resource::Machine).first();
        machine.cloned().unwrap_or_default()
    }

    /// The cores of which all CPUs are in `cpus`.
    pub fn cores_in<'a>(&'a self, cpus: &'a Cpus) -> impl Iterator<Item = &'a Cpus> {
        let cores = self.of(Resource::Core).iter();
        cores.filter(move |core| core.is_subset(cpus))
    }

    /// The smallest instance of any kind that has all of `cpus`.
    fn around(&self, cpus: &Cpus) -> Resource {
        let has = |resource: &Resource| self.of(*resource).iter().any(|of| cpus.is_subset(of));
        let around = Resource::ALL.into_iter().rev().find(has);
        around.unwrap_or(Resource::Machine)
    }

    /// The network cards.
    pub fn nics(&self) -> &[Nic] {
        &self.nics
    }

    /// How near a network card is to `cpus`: the smallest resource that need not
    /// be left on the way. One of which nothing is known is as far away as can be.
    fn nearness(&self, nic: &Nic, cpus: &Cpus) -> Resource {
        match nic.cpus.intersection(&self.cpus()) {
            near if near.is_empty() => Resource::Machine,
            near => self.around(&near.union(cpus)),
        }
    }

    /// The network cards that are nearest to `cpus`.
    pub fn nearest(&self, cpus: &Cpus) -> Vec<&Nic> {
        let nearness = |nic: &&Nic| self.nearness(nic, cpus) as usize;
        let best = self.nics.iter().map(|nic| nearness(&nic)).max();
        let near = self.nics.iter().filter(|nic| Some(nearness(nic)) == best);
        near.collect()
    }

    /// In which order the process that is number `number` on its machine, and runs
    /// on `cpus`, is to use what has these names, such as `hsn0` or `mlx5_0:1`:
    /// the nearest cards first, of which processes take different ones; last what
    /// is no card. Indices; otherwise the order stays.
    pub fn order(&self, names: &[&str], cpus: &Cpus, number: usize) -> Vec<usize> {
        let is_of = |nic: &&Nic, name: &str| {
            let rest = name.strip_prefix(nic.name.as_str());
            rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphanumeric()))
        };
        let nearness = |&at: &usize| {
            let nic = self.nics.iter().find(|nic| is_of(nic, names[at]));
            nic.map(|nic| self.nearness(nic, cpus) as usize)
        };
        let mut order: Vec<usize> = (0..names.len()).collect();
        order.sort_by_key(|at| Reverse(nearness(at)));
        let best = order.first().and_then(nearness);
        let ties = order.iter().take_while(|at| nearness(at) == best).count();
        if best.is_some() {
            order[..ties].rotate_left(share(number, ties));
        }
        order
    }

    /// In text: a line for each kind and each network card, as
    /// [`Machine::parse`] reads it.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        for (resource, kind) in Resource::ALL.iter().zip(&self.instances) {
            let lists: Vec<String> = kind.iter().map(Cpus::to_string).collect();
            text += &format!("{} {}\n", resource.name(), lists.join(";"));
        }
        for nic in &self.nics {
            text += &format!("nic {} {}\n", nic.cpus, nic.name);
        }
        text
    }

    /// Reads what [`Machine::to_text`] wrote; `None` if it is damaged.
    pub fn parse(text: &str) -> Option<Machine> {
        let mut instances = <[Vec<Cpus>; Resource::ALL.len()]>::default();
        let mut nics = Vec::new();
        for line in text.lines() {
            let (word, rest) = line.split_once(' ')?;
            if word == "nic" {
                let (cpus, name) = rest.split_once(' ')?;
                nics.push(Nic {
                    name: name.to_string(),
                    cpus: Cpus::parse(cpus)?,
                });
                continue;
            }
            let resource = Resource::named(word)?;
            let kind: Option<Vec<Cpus>> = match rest {
                "" => Some(Vec::new()),
                lists => lists.split(';').map(Cpus::parse).collect(),
            };
            instances[resource as usize] = kind?;
        }
        let all = instances[Resource::Machine as usize].first()?.clone();
        let apart = |kind: &Vec<Cpus>| {
            let count: usize = kind.iter().map(Cpus::len).sum();
            let union = kind.iter().fold(Cpus::default(), |u, cpus| u.union(cpus));
            count == union.len() && union.is_subset(&all) && kind.iter().all(|c| !c.is_empty())
        };
        let there = |resource| !instances[resource as usize].is_empty();
        let sound = instances.iter().all(apart) && there(Resource::Core) && there(Resource::Pu);
        sound.then_some(Machine { instances, nics })
    }
}

/// Which of `of` things process `number` takes so that each is taken as often,
/// also by every second process alone, or every fourth, as they may be dealt to
/// packages: the sum of its digits.
fn share(mut number: usize, of: usize) -> usize {
    let mut sum = 0;
    while of > 1 && number > 0 {
        sum += number % of;
        number /= of;
    }
    sum % of
}

/// The network cards that Linux knows: those with hardware of their own.
fn nics(class: &Path) -> Vec<Nic> {
    let mut nics = Vec::new();
    for kind in ["cxi", "infiniband", "net"] {
        for at in sysfs::below(&class.join(kind), "") {
            let Some(name) = at.file_name().and_then(|name| name.to_str()) else {
                continue;
            };
            // That of a virtual device is told by what it hangs on.
            let Ok(device) = at.join("device").canonicalize() else {
                continue;
            };
            let told = device
                .ancestors()
                .find_map(|at| sysfs::list(&at.join("local_cpulist")));
            nics.push(Nic {
                name: name.to_string(),
                cpus: told.unwrap_or_default(),
            });
        }
    }
    nics.sort_by(|a, b| a.name.cmp(&b.name));
    nics
}

//! The hosts of a job: which there are, and which of them each program may run on.

use catena_job::UsageError;

use crate::args::NamedHosts;

use super::list::{Host, Hosts};
use super::manager::Launcher;
use super::names::Names;

/// A host of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolHost {
    /// Name or address, as it was first given.
    pub name: String,
    /// How many ranks it has room for.
    pub slots: u32,
    /// How many it can have at most, if that was said.
    pub most: Option<u32>,
}

/// The hosts of a job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pool {
    /// In the order in which they were named.
    pub hosts: Vec<PoolHost>,
    /// Which of them is this one.
    pub here: Option<u32>,
    /// Where each program may run, and how many ranks it has room for there; `None`: all programs
    /// run where all may.
    pub of: Option<Vec<Vec<(u32, u32)>>>,
    /// Whether the numbers of ranks on each host were given, by program.
    pub counted: Vec<bool>,
}

/// A host that one program may run on.
struct Chosen {
    number: u32,
    slots: u32,
    most: Option<u32>,
}

impl Pool {
    /// The hosts that were named for the programs, or those that a resource manager has given; none
    /// if there are no such.
    ///
    /// # Errors
    /// What is wrong with them, for the user.
    pub fn new(
        named: &[NamedHosts],
        launcher: Launcher,
        env: impl Fn(&str) -> Option<String>,
    ) -> Result<Option<Pool>, UsageError> {
        let Some(first) = named.first() else {
            return Ok(None);
        };
        let mut files = Vec::new();
        let mut lists = Vec::new();
        for named in named {
            let mut of_files = Hosts::default();
            for (option, path) in &named.files {
                of_files.add_file(option, path)?;
            }
            files.push(of_files);
            let mut of_lists = Hosts::default();
            for (option, list) in &named.lists {
                of_lists.add_list(option, list)?;
            }
            lists.push(of_lists);
        }
        let is_named = |hosts: &Hosts| !hosts.as_slice().is_empty();
        // Programs for which no hosts are named have those of the first one; if it has none, the
        // allocation.
        let given = match is_named(&files[0]) || is_named(&lists[0]) {
            true => None,
            false => launcher.hosts(env)?,
        };
        let given = given.unwrap_or_default();
        let by_user = files.iter().chain(&lists).any(is_named);
        if !by_user && !is_named(&given) {
            return Ok(None);
        }
        let all = files
            .iter()
            .chain(&lists)
            .chain([&given])
            .flat_map(Hosts::as_slice);
        let names = all.map(|host| host.name.as_str());
        let mut names = Names::new(names, by_user);
        let mut pool = Builder::default();
        let union = given.as_slice().is_empty() && !is_named(&files[0]) && !is_named(&lists[0]);
        let mut of = Vec::new();
        for at in 0..named.len() {
            let own = named[at].ppn;
            let file = match is_named(&files[at]) {
                true => &files[at],
                false => &files[0],
            };
            let mut chosen = match (is_named(&lists[at]), is_named(&files[at])) {
                (true, is_own) if is_named(file) => {
                    pool.filtered(&mut names, file, &lists[at], is_own || at == 0)?
                }
                (true, _) => pool.take(&mut names, lists[at].as_slice()),
                (false, true) => pool.take(&mut names, file.as_slice()),
                // What was named for the first program is for all.
                (false, false) if is_named(&files[0]) && at > 0 => {
                    pool.take(&mut names, files[0].as_slice())
                }
                (false, false) if is_named(&lists[0]) => pool.take(&mut names, lists[0].as_slice()),
                (false, false) => pool.take(&mut names, given.as_slice()),
            };
            if let Some(ppn) = own.or(first.ppn) {
                chosen.iter_mut().for_each(|host| host.slots = ppn);
            }
            of.push(chosen);
        }
        Ok(Some(pool.finish(of, named, union, &names)))
    }

    /// This host alone.
    pub fn here(name: String, slots: u32) -> Pool {
        Pool {
            hosts: vec![PoolHost {
                name,
                slots,
                most: None,
            }],
            here: Some(0),
            of: None,
            counted: Vec::new(),
        }
    }

    /// How many ranks all hosts have room for.
    pub fn room(&self) -> u32 {
        let slots = self.hosts.iter().map(|host| host.slots);
        slots.fold(0, u32::saturating_add)
    }

    /// Leaves this host out.
    pub fn leave_here(&mut self) {
        let Some(here) = self.here.take() else { return };
        self.hosts.remove(here as usize);
        for (at, _) in self.of.iter_mut().flatten().flatten() {
            if *at > here {
                *at -= 1;
            } else if *at == here {
                *at = u32::MAX;
            }
        }
        for of in self.of.iter_mut().flatten() {
            of.retain(|(at, _)| *at != u32::MAX);
        }
    }
}

/// A pool that is being put together.
#[derive(Default)]
struct Builder {
    /// By number, in the order in which they were named.
    names: Vec<String>,
}

impl Builder {
    /// The number of a host, whose name is kept if it is new.
    fn number(&mut self, names: &mut Names, name: &str) -> u32 {
        let number = names.number(name);
        if number as usize == self.names.len() {
            self.names.push(name.to_string());
        }
        number
    }

    /// The hosts of a list, each once: the slots of one that is named several times add up.
    fn take(&mut self, names: &mut Names, list: &[Host]) -> Vec<Chosen> {
        let mut chosen: Vec<Chosen> = Vec::new();
        let mut places = std::collections::HashMap::new();
        for host in list {
            let number = self.number(names, &host.name);
            let slots = host
                .slots
                .unwrap_or_else(|| host.most.map_or(1, |most| most.min(1)));
            let at = *places.entry(number).or_insert(chosen.len());
            match chosen.get_mut(at) {
                Some(known) => {
                    known.slots = known.slots.saturating_add(slots);
                    known.most = known.most.or(host.most);
                }
                None => chosen.push(Chosen {
                    number,
                    slots,
                    most: host.most,
                }),
            }
        }
        chosen
    }

    /// The hosts of a file that a list names, as often as it names them or with all their slots.
    /// One that the file has not is an error if the file was named `with` the list, else it comes
    /// to them.
    fn filtered(
        &mut self,
        names: &mut Names,
        file: &Hosts,
        list: &Hosts,
        with: bool,
    ) -> Result<Vec<Chosen>, UsageError> {
        let there = self.take(names, file.as_slice());
        let mut chosen = self.take(names, list.as_slice());
        for host in &mut chosen {
            let known = there.iter().find(|of| of.number == host.number);
            let name = &self.names[host.number as usize];
            let is_counted = list
                .as_slice()
                .iter()
                .any(|of| of.slots.is_some() && names.number(&of.name) == host.number);
            match known {
                Some(known) if !is_counted => (host.slots, host.most) = (known.slots, known.most),
                Some(known) => host.most = known.most,
                None if with => {
                    return Err(UsageError(format!(
                        "the hostfile does not name the host {name} of --host; --host chooses \
                         among those that it names"
                    )));
                }
                None => {}
            }
        }
        Ok(chosen)
    }

    fn finish(
        self,
        of: Vec<Vec<Chosen>>,
        named: &[NamedHosts],
        union: bool,
        names: &Names,
    ) -> Pool {
        let mut hosts: Vec<PoolHost> = self
            .names
            .into_iter()
            .map(|name| PoolHost {
                name,
                slots: 0,
                most: None,
            })
            .collect();
        for chosen in of.iter().flatten() {
            let host = &mut hosts[chosen.number as usize];
            host.slots = host.slots.max(chosen.slots);
            host.most = host.most.max(chosen.most);
        }
        let apart = named.iter().skip(1).any(|named| !named.is_empty());
        let all: Vec<(u32, u32)> = (0..)
            .zip(&hosts)
            .map(|(at, host)| (at, host.slots))
            .collect();
        let pairs = |chosen: &Vec<Chosen>| match union && chosen.is_empty() {
            true => all.clone(),
            false => chosen
                .iter()
                .map(|host| (host.number, host.slots))
                .collect(),
        };
        let of = apart.then(|| of.iter().map(pairs).collect());
        let here = hosts.iter().position(|host| names.is_here(&host.name));
        let mut pool = Pool {
            here: here.map(|at| at as u32),
            of,
            hosts,
            counted: named.iter().map(|named| named.ppn.is_some()).collect(),
        };
        if pool.of.is_none() {
            // Those that a file names and a list does not.
            pool.leave_unused();
        }
        pool
    }
}

impl Pool {
    /// Leaves hosts out that no program may use.
    fn leave_unused(&mut self) {
        let here = self.here.map(|here| self.hosts[here as usize].name.clone());
        self.hosts.retain(|host| host.slots > 0);
        let at = self
            .hosts
            .iter()
            .position(|host| Some(&host.name) == here.as_ref());
        self.here = at.map(|at| at as u32);
    }
}

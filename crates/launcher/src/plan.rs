//! What shall run where: all that the launcher on each node must know.

use std::ffi::OsString;
use std::ops::Range;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use catena_boot::wire::{Malformed, Reader, Writer};
use catena_boot::{LAUNCH_UNIVERSE, OtherMpi};
use catena_proof::Secret;
use catena_settings::Value;

use crate::args::{App, Inherit};
use crate::place::Wish;

/// What shall run where.
#[derive(Clone, Debug, PartialEq)]
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
    /// How many ranks each node has room for. It does not travel with the plan: only who puts ranks in
    /// their places needs it.
    pub room: Vec<u32>,
    /// Which seat of its node each rank has.
    pub seats: Vec<u32>,
    /// What each rank is to be bound to, in the words of a rankfile; none
    /// without such a file.
    pub slots_of: Vec<String>,
    /// How the others are bound.
    pub wish: Wish,
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
        let said = match crate::hosts::setting(&LAUNCH_UNIVERSE, &self.env) {
            0 => self.slots.unwrap_or_else(catena_boot::available_cpus),
            size => size,
        };
        said.max(all)
    }

    /// As [`Plan::read`] reads it, which has no secret then.
    pub fn write(&self, w: &mut Writer) {
        w.u64(self.job_id);
        w.u32(self.apps.len() as u32);
        for app in &self.apps {
            w.u32(app.count.unwrap_or(1));
            w.bytes(app.program.as_bytes());
            write_strings(w, &app.args);
            write_vars(w, &app.env);
            let wdir = app.wdir.as_ref().map(|dir| dir.as_os_str().to_os_string());
            write_strings(w, wdir.as_slice());
            write_strings(w, app.path.as_slice());
            match &app.inherit {
                Inherit::All => w.u32(0),
                Inherit::Only(names) => {
                    w.u32(1);
                    write_strings(w, names);
                }
            }
        }
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
        self.wish.write(w);
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
        let apps = (0..r.count(20)?)
            .map(|_| {
                Ok(App {
                    count: Some(r.u32()?),
                    program: read_string(r)?,
                    args: read_strings(r)?,
                    env: read_vars(r)?,
                    wdir: read_strings(r)?.pop().map(Into::into),
                    path: read_strings(r)?.pop(),
                    inherit: match r.u32()? {
                        0 => Inherit::All,
                        _ => Inherit::Only(read_strings(r)?),
                    },
                })
            })
            .collect::<Result<Vec<_>, Malformed>>()?;
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
            wish: Wish::read(r)?,
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

fn write_texts(w: &mut Writer, texts: &[String]) {
    w.u32(texts.len() as u32);
    texts.iter().for_each(|text| w.bytes(text.as_bytes()));
}

fn read_texts(r: &mut Reader<'_>) -> Result<Vec<String>, Malformed> {
    (0..r.count(4)?).map(|_| r.text()).collect()
}

/// As [`read_strings`] reads them.
pub fn write_strings(w: &mut Writer, strings: &[OsString]) {
    w.u32(strings.len() as u32);
    for string in strings {
        w.bytes(string.as_bytes());
    }
}

fn read_string(r: &mut Reader<'_>) -> Result<OsString, Malformed> {
    r.bytes().map(|bytes| OsString::from_vec(bytes.to_vec()))
}

/// Strings of any bytes.
///
/// # Errors
/// If the message is too short.
pub fn read_strings(r: &mut Reader<'_>) -> Result<Vec<OsString>, Malformed> {
    (0..r.count(4)?).map(|_| read_string(r)).collect()
}

/// As [`read_vars`] reads them.
pub fn write_vars(w: &mut Writer, vars: &[(OsString, OsString)]) {
    w.u32(vars.len() as u32);
    for (name, value) in vars {
        w.bytes(name.as_bytes());
        w.bytes(value.as_bytes());
    }
}

/// Variables of an environment.
///
/// # Errors
/// If the message is too short.
pub fn read_vars(r: &mut Reader<'_>) -> Result<Vec<(OsString, OsString)>, Malformed> {
    (0..r.count(8)?)
        .map(|_| Ok((read_string(r)?, read_string(r)?)))
        .collect()
}

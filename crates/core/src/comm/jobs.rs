//! Groups whose members are of several jobs, and their communicators (MPI-5, chapter 7.4.2).
//!
//! No context joins them, so the members of each job make a communicator of their own, those of
//! the next job come to a port of the launcher, and what has met there is merged. The order of the
//! jobs is that of the group, so all do it alike.

use std::sync::Arc;

use catena_abi as abi;
use catena_boot::Side;
use catena_boot::server::ports::group_port;
use catena_fabric::{Peer, ProcessName};
use catena_objects::errhandler::ErrhandlerRef;
use catena_objects::error::{Kind, Result};
use catena_objects::group::Group;

use super::port::PortEndpoint;
use crate::process::Process;

/// The offset basis and the prime of FNV-1a.
const FNV: [u64; 2] = [0xcbf2_9ce4_8422_2325, 0x0100_0000_01b3];

/// A number that tells the making of a communicator from others under way: of its tag and its
/// members.
pub(super) fn mark(tag: &[u8], members: &[ProcessName]) -> u64 {
    let names = members.iter().flat_map(|name| {
        let job = name.job.to_le_bytes().into_iter();
        job.chain(name.rank.to_le_bytes())
    });
    let bytes = tag.iter().copied().chain(names);
    bytes.fold(FNV[0], |mark, byte| {
        (mark ^ u64::from(byte)).wrapping_mul(FNV[1])
    })
}

/// The jobs of these processes, in the order in which they come first.
fn jobs_of(members: &[ProcessName]) -> Vec<u64> {
    let mut jobs = Vec::new();
    for name in members {
        if !jobs.contains(&name.job) {
            jobs.push(name.job);
        }
    }
    jobs
}

impl PortEndpoint {
    /// Where the leaders of two groups meet that are of different jobs: this process and another
    /// one.
    pub(super) fn of_leaders(process: &Process, other: Peer, tag: &[u8]) -> PortEndpoint {
        let own = process.name_of(process.me);
        let mut ends = [own, process.name_of(other)];
        ends.sort_unstable();
        let tag = [tag, b"\0leaders"].concat();
        PortEndpoint {
            port: group_port(ends[1].job, mark(&tag, &ends)),
            side: match own == ends[1] {
                true => Side::Guest,
                false => Side::Host,
            },
            timeout: None,
        }
    }
}

/// The group of these processes, whose jobs come into the table of peers if they are not there.
/// Local, but it asks the launcher.
///
/// # Errors
/// `Other` if a job has ended.
pub(crate) fn group_of_names(
    process: &Process,
    session: abi::Session,
    names: &[ProcessName],
) -> Result<Arc<Group>> {
    let own = process.name_of(process.me).job;
    let others = names.iter().copied().filter(|name| name.job != own);
    let met = match others.clone().next() {
        Some(_) => {
            process.other_jobs.open_home(process)?;
            Some(process.other_jobs.meet(process, others)?)
        }
        None => None,
    };
    let members: Vec<Peer> = names
        .iter()
        .filter_map(|&name| process.peer_of(name))
        .collect();
    let group = Group::derived(Some(session), members, process.me);
    drop(met);
    Ok(group)
}

/// Makes the communicator of a group of several jobs, in which this process is; collective over it.
/// `of_job` makes that of a group of this process's job.
///
/// # Errors
/// `Group` if a job has ended; as [`Comm::connect`](super::Comm::connect).
pub(super) fn comm_of_jobs(
    process: &Process,
    group: &Arc<Group>,
    tag: &[u8],
    of_job: impl FnOnce(&Arc<Group>) -> Result<abi::Comm>,
    errhandler: ErrhandlerRef,
) -> Result<abi::Comm> {
    let names: Vec<ProcessName> = group.members().map(|peer| process.name_of(peer)).collect();
    let jobs = jobs_of(&names);
    let own = process.name_of(process.me).job;
    let mine = jobs.iter().position(|&job| job == own).expect("a member");
    let part: Vec<Peer> = group
        .members()
        .filter(|&peer| process.is_of_own_job(peer))
        .collect();
    let mark = mark(tag, &names);
    let mut all = process.comm(of_job(&Group::new(part, process.me))?)?;
    for (at, &job) in jobs
        .iter()
        .enumerate()
        .skip(1)
        .filter(|(at, _)| *at >= mine)
    {
        let side = match at == mine {
            true => Side::Guest,
            false => Side::Host,
        };
        let meeting = (all.rank == 0).then(|| PortEndpoint {
            port: group_port(job, mark),
            side,
            timeout: None,
        });
        let met = all.connect(process, 0, Ok(meeting), Kind::Group)?;
        all.free(process)?;
        let met = process.comm(met)?;
        all = process.comm(met.merge(process, side == Side::Guest)?)?;
        met.free(process)?;
    }
    // The group may have another order, and knows its session.
    let made = all.create(process, Ok(group.clone()))?;
    all.free(process)?;
    let made = made.expect("a member");
    *process.comm(made)?.errhandler.borrow_mut() = errhandler;
    Ok(made)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_and_tags_have_their_own_ports() {
        let name = |job, rank| ProcessName { job, rank };
        let group = [name(5, 0), name(9, 0), name(5, 1), name(2, 7)];
        assert_eq!(jobs_of(&group), [5, 9, 2]);
        let marks = [
            mark(b"a", &group),
            mark(b"b", &group),
            mark(b"a", &group[..3]),
            mark(b"", &[]),
        ];
        for (at, one) in marks.iter().enumerate() {
            assert!(!marks[..at].contains(one), "{marks:x?}");
        }
    }
}

//! Which rank has waited for which one.
//!
//! In calls for messages it is the other side of the message. In a collective all wait for the last
//! one to come, whose call takes least time: so of each call what a rank has spent longer than the
//! quickest one counts as waiting for that. It is known call by call as far as the logs of the
//! ranks reach; the calls behind are compared by their sums, so where the last one changes from
//! call to call, less is seen than there was.

use std::collections::{BTreeMap, HashMap};

use crate::sheet::{Group, GroupKind, Sheet};

/// The time that a rank has waited for another one, nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waited {
    /// In calls for messages.
    pub message: u64,
    /// In collectives.
    pub collective: u64,
}

impl Waited {
    pub fn all(self) -> u64 {
        self.message.saturating_add(self.collective)
    }
}

/// By who has waited and for whom.
pub type Waits = BTreeMap<(u32, u32), Waited>;

/// Finds it of all sheets.
pub fn find(sheets: &[Sheet]) -> Waits {
    let mut waits = Waits::new();
    for sheet in sheets {
        for peer in sheet
            .peers
            .iter()
            .filter(|it| it.waits > 0 && it.rank != sheet.rank)
        {
            let waited = waits.entry((sheet.rank, peer.rank)).or_default();
            waited.message = waited.message.saturating_add(peer.waits);
        }
    }
    let mut comms: HashMap<(GroupKind, u64, u32, u32), Vec<Member>> = HashMap::new();
    for sheet in sheets {
        for member in members(sheet) {
            let group = &sheet.groups[member.group as usize];
            let of = (group.kind, group.hash, group.nth, group.size);
            comms.entry(of).or_default().push(member);
        }
    }
    let mut comms: Vec<_> = comms.into_iter().collect();
    comms.sort_by_key(|(of, _)| *of);
    for (_, members) in &comms {
        compare(members, &mut waits);
    }
    waits
}

/// A rank of a communicator or window, and its calls of collectives there.
struct Member {
    rank: u32,
    group: u32,
    logged: Vec<u64>,
    /// The time in all of them.
    time: u64,
}

/// The communicators and windows of a thread on which it has called collectives.
fn members(sheet: &Sheet) -> Vec<Member> {
    let is_any = |it: &Group| it.kind != GroupKind::File && it.size > 1;
    let mut members: Vec<Member> = (0..sheet.groups.len() as u32)
        .map(|group| Member {
            rank: sheet.rank,
            group,
            logged: Vec::new(),
            time: 0,
        })
        .collect();
    for count in sheet.counts.iter().filter(|it| it.is_collective) {
        if let Some(group) = count.group {
            let member = &mut members[group as usize];
            member.time = member.time.saturating_add(count.time);
        }
    }
    for timed in &sheet.log {
        members[timed.group as usize].logged.push(timed.time);
    }
    members.retain(|it| it.time > 0 && is_any(&sheet.groups[it.group as usize]));
    members
}

/// Compares the ranks of a communicator.
fn compare(members: &[Member], waits: &mut Waits) {
    // Several threads of a rank that have called on it have no common order.
    let mut ranks: Vec<u32> = members.iter().map(|it| it.rank).collect();
    ranks.sort_unstable();
    ranks.dedup();
    if ranks.len() < 2 {
        return;
    }
    let is_ordered = ranks.len() == members.len();
    let calls = match is_ordered {
        true => members.iter().map(|it| it.logged.len()).min().unwrap_or(0),
        false => 0,
    };
    let mut add = |times: &[u64]| {
        let Some((last, least)) = (0..).zip(times).min_by_key(|(_, time)| **time) else {
            return;
        };
        let last: usize = last;
        for (member, time) in members.iter().zip(times) {
            let longer = time - least;
            if longer > 0 && member.rank != members[last].rank {
                let waited = waits.entry((member.rank, members[last].rank)).or_default();
                waited.collective = waited.collective.saturating_add(longer);
            }
        }
    };
    let mut times = vec![0; members.len()];
    for call in 0..calls {
        for (time, member) in times.iter_mut().zip(members) {
            *time = member.logged[call];
        }
        add(&times);
    }
    if !is_ordered {
        return;
    }
    for (time, member) in times.iter_mut().zip(members) {
        let compared = member.logged[..calls]
            .iter()
            .fold(0, |sum: u64, it| sum.saturating_add(*it));
        *time = member.time.saturating_sub(compared);
    }
    add(&times);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::Class;
    use crate::sheet::tests::sheet;

    #[test]
    fn the_quickest_in_a_collective_is_the_one_that_others_wait_for() {
        let sheets: Vec<_> = (0..3).map(|rank| sheet(rank, 3)).collect();
        let waits = find(&sheets);
        // Two barriers of 50, 100 and 150 ms.
        assert_eq!(waits[&(1, 0)].collective, 100_000_000);
        assert_eq!(waits[&(2, 0)].collective, 200_000_000);
        assert_eq!(waits[&(2, 0)].message, 1_000_000);
        assert_eq!(waits[&(0, 1)].message, 1_000_000);
        assert_eq!(waits[&(0, 1)].collective, 0);
    }

    #[test]
    fn what_the_log_does_not_reach_is_compared_by_sums() {
        let mut sheets: Vec<_> = (0..2).map(|rank| sheet(rank, 2)).collect();
        sheets[1].log.truncate(1);
        let waits = find(&sheets);
        assert_eq!(waits[&(1, 0)].collective, 100_000_000);
        sheets.iter_mut().for_each(|it| it.log.clear());
        assert_eq!(find(&sheets)[&(1, 0)].collective, 100_000_000);
    }

    #[test]
    fn changing_turns_are_seen_call_by_call() {
        let mut sheets: Vec<_> = (0..2).map(|rank| sheet(rank, 2)).collect();
        for (sheet, times) in sheets.iter_mut().zip([[10, 90], [70, 20]]) {
            sheet.counts.retain(|it| it.class == Class::Collective);
            sheet.counts[0].time = times.iter().sum();
            for (timed, time) in sheet.log.iter_mut().zip(times) {
                timed.time = time;
            }
        }
        let waits = find(&sheets);
        assert_eq!(waits[&(1, 0)].collective, 60);
        assert_eq!(waits[&(0, 1)].collective, 70);
    }
}

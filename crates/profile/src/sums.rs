//! Sums over all ranks.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::layout::Class;
use crate::sheet::{self, Group, GroupKind, Sheet};
use crate::waits::{self, Waits};
use crate::words;

/// The calls of one function from one place, on all ranks.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub function: String,
    pub place: String,
    pub calls: u64,
    pub time: u64,
    pub longest: u64,
    pub bytes: u64,
    /// The ranks that have spent least and most time there, and these times. A rank that has not
    /// called has spent none.
    pub least: (u32, u64),
    pub most: (u32, u64),
}

impl Call {
    /// As in `MPI_Send (ring.c:24)`.
    pub fn name(&self) -> String {
        match self.place.is_empty() {
            true => self.function.clone(),
            false => format!("{} ({})", self.function, self.place),
        }
    }
}

/// A rank, with all its threads.
#[derive(Clone, Debug, Default)]
pub(crate) struct RankSum {
    pub rank: u32,
    pub host: String,
    pub threads: u32,
    pub has_finalized: bool,
    pub run: u64,
    pub mpi: u64,
    pub io: u64,
    pub init: u64,
    pub finalize: u64,
    /// How long it has waited, and how long others have waited for it.
    pub waits: u64,
    pub waited_for: u64,
}

/// What has passed from a rank to another one.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Passed {
    pub bytes: u64,
    pub messages: u64,
}

/// The calls of one function on communicators or files of one name.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OnGroup {
    pub calls: u64,
    pub time: u64,
    pub bytes: u64,
}

/// The profile of a job.
#[derive(Debug)]
pub struct Profile {
    pub(crate) ranks: Vec<RankSum>,
    /// The run time of all ranks, and of that the time in MPI, nanoseconds.
    pub(crate) run: u64,
    pub(crate) mpi: u64,
    pub(crate) lost_calls: u64,
    pub(crate) lost: u64,
    /// Communicators and windows that had no room.
    pub(crate) no_room: u64,
    /// Those first that have taken most time.
    pub(crate) calls: Vec<Call>,
    /// The time of each function, those first that have taken most.
    pub(crate) functions: Vec<(String, OnGroup)>,
    pub(crate) waits: Waits,
    pub(crate) passed: BTreeMap<(u32, u32), Passed>,
    /// How many messages or calls of which size, of each kind of calls.
    pub(crate) sizes: BTreeMap<Class, BTreeMap<u32, u64>>,
    /// Collectives by communicator and function.
    pub(crate) collectives: Vec<((String, String), OnGroup)>,
    /// Calls by file and function.
    pub(crate) files: Vec<((String, String), OnGroup)>,
}

impl Profile {
    /// That of what all nodes have answered: the sheets of threads as `Sheet::encode` wrote them,
    /// one after another. What cannot be read is left out.
    pub fn read(answers: &[u8]) -> Profile {
        Profile::new(sheet::read_all(answers))
    }

    /// That of a job.
    pub fn new(mut sheets: Vec<Sheet>) -> Profile {
        sheets.sort_by_key(|it| (it.rank, it.thread));
        let waits = waits::find(&sheets);
        let mut ranks: BTreeMap<u32, RankSum> = BTreeMap::new();
        let mut places: HashMap<(&str, &str), BTreeMap<u32, u64>> = HashMap::new();
        let mut calls: BTreeMap<(&str, &str), Call> = BTreeMap::new();
        let mut functions: BTreeMap<String, OnGroup> = BTreeMap::new();
        let mut passed: BTreeMap<(u32, u32), Passed> = BTreeMap::new();
        let mut sizes: BTreeMap<Class, BTreeMap<u32, u64>> = BTreeMap::new();
        let mut collectives = BTreeMap::new();
        let mut files = BTreeMap::new();
        let (mut lost, mut lost_calls, mut no_room) = (0_u64, 0_u64, 0_u64);
        for sheet in &sheets {
            let rank = ranks.entry(sheet.rank).or_insert_with(|| RankSum {
                rank: sheet.rank,
                host: sheet.host.clone(),
                ..RankSum::default()
            });
            rank.threads += 1;
            rank.has_finalized |= sheet.has_finalized;
            add(&mut rank.run, sheet.run);
            add(&mut rank.init, sheet.init);
            add(&mut rank.finalize, sheet.finalize);
            add(&mut rank.mpi, sheet.lost);
            add(&mut lost, sheet.lost);
            add(&mut lost_calls, sheet.lost_calls);
            add(&mut no_room, sheet.no_room);
            for count in &sheet.counts {
                add(&mut rank.mpi, count.time);
                let here = (&*count.function, &*count.place);
                add(
                    places
                        .entry(here)
                        .or_default()
                        .entry(sheet.rank)
                        .or_default(),
                    count.time,
                );
                let call = calls.entry(here).or_insert_with(|| Call {
                    function: count.function.clone(),
                    place: count.place.clone(),
                    calls: 0,
                    time: 0,
                    longest: 0,
                    bytes: 0,
                    least: (0, 0),
                    most: (0, 0),
                });
                call.longest = call.longest.max(count.longest);
                add(&mut call.calls, count.calls);
                add(&mut call.time, count.time);
                add(&mut call.bytes, count.bytes);
                let group = count.group.map(|group| &sheet.groups[group as usize]);
                let mut on = vec![functions.entry(count.function.clone()).or_default()];
                if count.class == Class::Collective {
                    let name = group.map_or("an unknown communicator".to_string(), label);
                    on.push(
                        collectives
                            .entry((name, count.function.clone()))
                            .or_default(),
                    );
                }
                if count.class == Class::File {
                    add(&mut rank.io, count.time);
                    let file = group.filter(|it| it.kind == GroupKind::File);
                    let name = file.map_or("all files".to_string(), label);
                    on.push(files.entry((name, count.function.clone())).or_default());
                }
                for on in on {
                    let on: &mut OnGroup = on;
                    add(&mut on.calls, count.calls);
                    add(&mut on.time, count.time);
                    add(&mut on.bytes, count.bytes);
                }
                for &(size, count_of) in &count.sizes {
                    let of = sizes.entry(count.class).or_default();
                    add(of.entry(size).or_default(), count_of.into());
                }
            }
            for peer in &sheet.peers {
                if peer.messages > 0 {
                    let to = passed.entry((sheet.rank, peer.rank)).or_default();
                    add(&mut to.bytes, peer.bytes);
                    add(&mut to.messages, peer.messages);
                }
                if peer.got > 0 {
                    let from = passed.entry((peer.rank, sheet.rank)).or_default();
                    add(&mut from.bytes, peer.got);
                }
            }
        }
        for ((who, whom), waited) in &waits {
            if let Some(rank) = ranks.get_mut(who) {
                add(&mut rank.waits, waited.all());
            }
            if let Some(rank) = ranks.get_mut(whom) {
                add(&mut rank.waited_for, waited.all());
            }
        }
        let all: BTreeSet<u32> = ranks.keys().copied().collect();
        for (here, call) in &mut calls {
            let times = &places[here];
            let time = |rank: &u32| (*rank, times.get(rank).copied().unwrap_or(0));
            let each = all.iter().map(time);
            call.least = each.clone().min_by_key(|it| it.1).unwrap_or_default();
            call.most = each.rev().max_by_key(|it| it.1).unwrap_or_default();
        }
        let mut calls: Vec<_> = calls.into_values().collect();
        calls.sort_by_key(|it| std::cmp::Reverse(it.time));
        let ranks: Vec<_> = ranks.into_values().collect();
        Profile {
            run: ranks.iter().fold(0, |sum, it| sum.saturating_add(it.run)),
            mpi: ranks.iter().fold(0, |sum, it| sum.saturating_add(it.mpi)),
            ranks,
            lost_calls,
            lost,
            no_room,
            calls,
            functions: by_time(functions),
            waits,
            passed,
            sizes,
            collectives: by_time(collectives),
            files: by_time(files),
        }
    }

    /// How many ranks have told something.
    pub fn ranks(&self) -> usize {
        self.ranks.len()
    }

    /// The longest run time of a rank.
    pub(crate) fn longest_run(&self) -> u64 {
        self.ranks.iter().map(|it| it.run).max().unwrap_or(0)
    }

    /// The pairs first that have waited longest: who, for whom, and how long.
    pub(crate) fn longest_waits(&self) -> Vec<((u32, u32), waits::Waited)> {
        let mut waits: Vec<_> = self
            .waits
            .iter()
            .map(|(&who, &waited)| (who, waited))
            .collect();
        waits.sort_by_key(|(_, waited)| std::cmp::Reverse(waited.all()));
        waits
    }

    /// The pairs first between which most bytes have passed.
    pub(crate) fn largest_pairs(&self) -> Vec<((u32, u32), Passed)> {
        let mut pairs: Vec<_> = self
            .passed
            .iter()
            .map(|(&pair, &passed)| (pair, passed))
            .collect();
        pairs.sort_by_key(|(_, passed)| std::cmp::Reverse(passed.bytes));
        pairs
    }
}

/// Numbers come from other hosts, which may tell anything.
fn add(sum: &mut u64, more: u64) {
    *sum = sum.saturating_add(more);
}

fn by_time<K: Ord>(all: BTreeMap<K, OnGroup>) -> Vec<(K, OnGroup)> {
    let mut all: Vec<_> = all.into_iter().collect();
    all.sort_by_key(|(_, on)| std::cmp::Reverse(on.time));
    all
}

/// What users know a communicator, window or file by.
pub(crate) fn label(group: &Group) -> String {
    if !group.name.is_empty() {
        return group.name.clone();
    }
    let members = words::ranks(&group.members);
    let more = match group.size as usize > group.members.len() {
        true => ", ...",
        false => "",
    };
    match group.kind {
        GroupKind::File => "an unknown file".into(),
        GroupKind::Win => format!("a window of {} ranks: {members}{more}", group.size),
        GroupKind::Comm if group.size == 1 => "communicators of 1 rank".into(),
        GroupKind::Comm => format!("{} ranks: {members}{more}", group.size),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sheet::tests::sheet;

    #[test]
    fn sums_are_those_of_all_ranks() {
        let profile = Profile::new((0..3).map(|rank| sheet(rank, 3)).collect());
        assert_eq!(profile.ranks(), 3);
        assert_eq!(profile.run, 3_000_000_000);
        assert_eq!(profile.mpi, 603_000_000);
        let barrier = &profile.calls[0];
        assert_eq!(
            (barrier.name().as_str(), barrier.calls),
            ("MPI_Barrier (ring.c:7)", 6)
        );
        assert_eq!(
            (barrier.least, barrier.most),
            ((0, 100_000_000), (2, 300_000_000))
        );
        assert_eq!(profile.passed[&(2, 0)].bytes, 80);
        assert_eq!(profile.sizes[&Class::Message][&4], 30);
        assert_eq!(profile.collectives[0].0.0, "MPI_COMM_WORLD");
        assert_eq!(profile.ranks[0].waited_for, 301_000_000);
        assert_eq!(profile.ranks[2].waits, 201_000_000);
    }

    #[test]
    fn communicators_without_a_name_are_known_by_their_ranks() {
        let group = Group {
            size: 20,
            members: vec![0, 1, 2, 5],
            ..Group::default()
        };
        assert_eq!(label(&group), "20 ranks: 0-2, 5, ...");
    }
}

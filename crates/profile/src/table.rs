//! The side of who reads what threads have counted: tables become sheets.
//!
//! A process may have written anything into its table, and may have ended in the middle: all is
//! read within bounds.

use std::fs::File;
use std::io;
use std::mem::offset_of;
use std::os::unix::fs::FileExt;

use crate::layout::{self, Class, Front, PLACES_AT, kind, state};
use crate::sheet::{self, Count, Group, GroupKind, Peer, Sheet, Timed};

/// What a table does not say.
#[derive(Debug)]
pub struct Reading<'a> {
    /// The host.
    pub host: &'a str,
    /// The number of the job's rank 0, as the launcher counts processes.
    pub first: u32,
    /// What a tick is now: calls that are under way have taken until then.
    pub now: u64,
    /// Ticks per microsecond.
    pub per_us: f64,
}

/// Where a place of a program is in it, in words: the process, the map of its code, the addresses
/// that the call returns to, and the line of Python.
pub type Name<'a> = dyn FnMut(u32, &str, &[u64], &str) -> String + 'a;

/// Whether anything was counted in the file of a node.
pub fn is_any(file: &File) -> bool {
    let mut head = [0; 8];
    file.read_exact_at(&mut head, catena_trace::PROFILES_AT)
        .is_ok()
        && head != [0; 8]
}

/// Whether any thread writes its calls one by one.
pub fn is_streamed(file: &File) -> bool {
    let mut bytes = vec![0; layout::TABLE];
    (0..tables(file).unwrap_or_default()).any(|number| {
        let head = &mut bytes[..layout::FRONT];
        let is_read = file.read_exact_at(head, layout::at(number)).is_ok();
        is_read && Table(&bytes).writer().is_some()
    })
}

/// How many tables are in use in the file of a node.
///
/// # Errors
/// If the file cannot be read.
pub(crate) fn tables(file: &File) -> io::Result<u64> {
    tables_asked(file).map(|it| it.min(layout::TABLES))
}

/// How many threads have asked for one.
pub(crate) fn tables_asked(file: &File) -> io::Result<u64> {
    let mut head = [0; 8];
    match file.read_exact_at(&mut head, catena_trace::PROFILES_AT) {
        Ok(()) => Ok(u64::from_ne_bytes(head)),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(0),
        Err(error) => Err(error),
    }
}

/// What the threads of a node have counted, of its file.
///
/// # Errors
/// If the file cannot be read.
pub fn read_tables(
    file: &File,
    reading: &Reading<'_>,
    name: &mut Name<'_>,
) -> io::Result<Vec<Sheet>> {
    let taken = tables(file)?;
    let functions = catena_abi::table::names();
    let mut sheets = Vec::new();
    let mut bytes = vec![0; layout::TABLE];
    for number in 0..taken {
        file.read_exact_at(&mut bytes, layout::at(number))?;
        let table = Table(&bytes);
        sheets.extend(table.sheet(reading, &functions, name));
    }
    Ok(sheets)
}

/// A copy of a table, of [`layout::TABLE`] bytes.
pub(crate) struct Table<'a>(pub &'a [u8]);

impl<'a> Table<'a> {
    fn u32(&self, at: usize) -> u32 {
        let bytes = self.0[at..at + 4].try_into();
        u32::from_ne_bytes(bytes.unwrap_or_default())
    }

    fn u64(&self, at: usize) -> u64 {
        let bytes = self.0[at..at + 8].try_into();
        u64::from_ne_bytes(bytes.unwrap_or_default())
    }

    fn text(&self, at: usize, len: u32, most: usize) -> String {
        let len = (len as usize).min(most);
        String::from_utf8_lossy(&self.0[at..at + len]).into_owned()
    }

    fn sheet(
        &self,
        reading: &Reading<'_>,
        functions: &[&str],
        name: &mut Name<'_>,
    ) -> Option<Sheet> {
        if self.u64(offset_of!(Front, mark)) != layout::MARK
            || self.u32(offset_of!(Front, has_rank)) == 0
        {
            return None;
        }
        let ns = |ticks: u64| (ticks as f64 / reading.per_us * 1e3) as u64;
        let begin = self.u64(offset_of!(Front, begin));
        let has_finalized = self.u32(offset_of!(Front, state)) == state::FINALIZED;
        let open = self.u32(offset_of!(Front, open)) as usize;
        let open = (1..=layout::ENTRIES).contains(&open).then(|| open - 1);
        let since = self.u64(offset_of!(Front, since));
        let end = match (has_finalized, open) {
            (true, _) => self.u64(offset_of!(Front, end)),
            (false, Some(_)) => reading.now,
            (false, None) => self.u64(offset_of!(Front, last)),
        };
        let under_way = match has_finalized {
            true => None,
            false => open.map(|at| (at, reading.now.saturating_sub(since))),
        };
        let awaits = self.u32(offset_of!(Front, awaits)) as usize;
        let awaited = match under_way {
            Some((_, more)) if awaits > 0 => Some((awaits - 1, more)),
            _ => None,
        };
        let places = self.places(name);
        let groups = self.groups(reading.first);
        Some(Sheet {
            host: reading.host.to_string(),
            rank: reading
                .first
                .saturating_add(self.u32(offset_of!(Front, rank))),
            thread: self.u32(offset_of!(Front, thread)),
            has_finalized,
            run: ns(end.saturating_sub(begin)),
            init: ns(self.u64(offset_of!(Front, init))),
            finalize: ns(self.u64(offset_of!(Front, finalize))),
            lost_calls: self.u64(offset_of!(Front, lost_calls)),
            lost: ns(self.u64(offset_of!(Front, lost))),
            no_room: self.u32(offset_of!(Front, no_room)).into(),
            counts: self.counts(functions, &places, groups.len(), under_way, ns),
            peers: self.peers(reading.first, awaited, ns),
            log: self.log(groups.len(), ns),
            has_told: self.u32(offset_of!(Front, counters)) > 0,
            counters: self.counters(),
            groups,
        })
    }

    /// What the library has counted.
    fn counters(&self) -> Vec<(String, u64)> {
        let len = self.u32(offset_of!(Front, counters));
        sheet::counters(&self.text(layout::COUNTERS_AT, len, layout::COUNTERS))
    }

    /// The places of the program, in words.
    fn places(&self, name: &mut Name<'_>) -> Vec<String> {
        let pid = self.u32(offset_of!(Front, pid));
        let maps = self.text(
            layout::MAPS_AT,
            self.u32(offset_of!(Front, maps)),
            layout::MAPS,
        );
        let count = (self.u32(offset_of!(Front, places)) as usize).min(layout::PLACES);
        (0..count)
            .map(|i| self.place(i, pid, &maps, name))
            .collect()
    }

    /// A place of the program, in words; it is one of those that there are.
    fn place(&self, i: usize, pid: u32, maps: &str, name: &mut Name<'_>) -> String {
        use layout::Place;
        let at = PLACES_AT + i * size_of::<Place>();
        let frames = self.u32(at + offset_of!(Place, frames)).min(10) as usize;
        let address = |i| self.u64(at + offset_of!(Place, addresses) + 8 * i);
        let addresses: Vec<u64> = (0..frames).map(address).collect();
        let len = self.u32(at + offset_of!(Place, python_len));
        let python = self.text(at + offset_of!(Place, python), len, 160);
        name(pid, maps, &addresses, &python)
    }

    fn groups(&self, first: u32) -> Vec<Group> {
        let count = (self.u32(offset_of!(Front, groups)) as usize).min(layout::GROUPS);
        (0..count).map(|i| self.group(i, first)).collect()
    }

    /// A communicator, window or file; it is one of those that there are.
    fn group(&self, i: usize, first: u32) -> Group {
        type Known = layout::Group;
        let at = layout::GROUPS_AT + i * size_of::<Known>();
        let size = self.u32(at + offset_of!(Known, size));
        let member = |i| {
            let member = self.u32(at + offset_of!(Known, members) + 4 * i);
            member.saturating_add(first)
        };
        let kind = match self.u32(at + offset_of!(Known, kind)) {
            kind::WIN => GroupKind::Win,
            kind::FILE => GroupKind::File,
            _ => GroupKind::Comm,
        };
        let members = match kind {
            GroupKind::File => 0,
            _ => (size as usize).min(layout::MEMBERS),
        };
        let len = self.u32(at + offset_of!(Known, name_len));
        Group {
            kind,
            // Ranks of two jobs have the same numbers in it.
            hash: self
                .u64(at + offset_of!(Known, hash))
                .wrapping_add(u64::from(first).wrapping_mul(0x9e37_79b9_7f4a_7c15)),
            nth: self.u32(at + offset_of!(Known, nth)),
            size,
            name: self.text(at + offset_of!(Known, name), len, 168),
            members: (0..members).map(member).collect(),
        }
    }

    /// Whose table it is: the rank, the number of the thread and the process. `None` before it is
    /// in use, and if it belongs to no rank or writes no stream.
    pub(crate) fn writer(&self) -> Option<(u32, u32, u32)> {
        let is_in_use = self.u64(offset_of!(Front, mark)) == layout::MARK;
        let has_rank = self.u32(offset_of!(Front, has_rank)) != 0;
        let is_streamed = self.u32(offset_of!(Front, is_streamed)) != 0;
        (is_in_use && has_rank && is_streamed).then(|| {
            let number = |at| self.u32(at);
            (
                number(offset_of!(Front, rank)),
                number(offset_of!(Front, thread)),
                number(offset_of!(Front, pid)),
            )
        })
    }

    /// What an entry is about: the place of the program, in words, and the communicator, window or
    /// file.
    pub(crate) fn about(
        &self,
        entry: usize,
        first: u32,
        name: &mut Name<'_>,
    ) -> (String, Option<Group>) {
        use layout::Entry;
        let at = layout::ENTRIES_AT + entry.min(layout::ENTRIES - 1) * size_of::<Entry>();
        let place = self.u32(at + offset_of!(Entry, place));
        let places = self
            .u32(offset_of!(Front, places))
            .min(layout::PLACES as u32);
        let place = match place < places {
            true => {
                let maps = self.u32(offset_of!(Front, maps));
                let maps = self.text(layout::MAPS_AT, maps, layout::MAPS);
                let pid = self.u32(offset_of!(Front, pid));
                self.place(place as usize, pid, &maps, name)
            }
            false => String::new(),
        };
        let group = self.u32(at + offset_of!(Entry, what)) >> 16;
        let groups = self
            .u32(offset_of!(Front, groups))
            .min(layout::GROUPS as u32);
        let group = (group < groups).then(|| self.group(group as usize, first));
        (place, group)
    }

    /// The call that is under way, if MPI was not left: its entry, its function, one more than its
    /// place among `catena_abi::table::names`, and when it began.
    pub(crate) fn under_way(&self) -> Option<(usize, u16, u64)> {
        if self.u32(offset_of!(Front, state)) == state::FINALIZED {
            return None;
        }
        let open = self.u32(offset_of!(Front, open)) as usize;
        let entry = open.checked_sub(1).filter(|&it| it < layout::ENTRIES)?;
        let at = layout::ENTRIES_AT + entry * size_of::<layout::Entry>();
        let what = self.u32(at + offset_of!(layout::Entry, what));
        Some((entry, what as u16, self.u64(offset_of!(Front, since))))
    }

    fn counts(
        &self,
        functions: &[&str],
        places: &[String],
        groups: usize,
        under_way: Option<(usize, u64)>,
        ns: impl Fn(u64) -> u64,
    ) -> Vec<Count> {
        use layout::Entry;
        let count = |i: usize| {
            let at = layout::ENTRIES_AT + i * size_of::<Entry>();
            let what = self.u32(at + offset_of!(Entry, what));
            let function = functions.get((what & 0xffff).checked_sub(1)? as usize)?;
            let place = self.u32(at + offset_of!(Entry, place)) as usize;
            let size = |size: u32| {
                let count = self.u32(at + offset_of!(Entry, sizes) + 4 * size as usize);
                (count > 0).then_some((size, count))
            };
            let ticks = self.u64(at + offset_of!(Entry, ticks));
            let longest = self.u64(at + offset_of!(Entry, longest));
            let calls = self.u64(at + offset_of!(Entry, calls));
            let (calls, ticks, longest) = match under_way {
                Some((of, more)) if of == i => {
                    (calls + 1, ticks.saturating_add(more), longest.max(more))
                }
                _ => (calls, ticks, longest),
            };
            let class = self.u32(at + offset_of!(Entry, class));
            // Nothing but the beginning of one that was counted elsewhere.
            if calls == 0 {
                return None;
            }
            Some(Count {
                function: function.to_string(),
                place: places.get(place).cloned().unwrap_or_default(),
                class: Class::of(class),
                is_collective: class & layout::COLLECTIVE != 0,
                group: Some(what >> 16).filter(|&group| (group as usize) < groups),
                calls,
                time: ns(ticks),
                longest: ns(longest),
                bytes: self.u64(at + offset_of!(Entry, bytes)),
                sizes: (0..layout::SIZES as u32).filter_map(size).collect(),
            })
        };
        (0..layout::ENTRIES).filter_map(count).collect()
    }

    fn peers(
        &self,
        first: u32,
        awaited: Option<(usize, u64)>,
        ns: impl Fn(u64) -> u64,
    ) -> Vec<Peer> {
        type Known = layout::Peer;
        let peer = |i: usize| {
            let at = layout::PEERS_AT + i * size_of::<Known>();
            let more = match awaited {
                Some((rank, more)) if rank.min(layout::PEERS - 1) == i => more,
                _ => 0,
            };
            Peer {
                rank: first.saturating_add(i as u32),
                bytes: self.u64(at + offset_of!(Known, bytes)),
                messages: self.u64(at + offset_of!(Known, messages)),
                got: self.u64(at + offset_of!(Known, got)),
                waits: ns(self.u64(at + offset_of!(Known, waits)).saturating_add(more)),
            }
        };
        let is_any = |it: &Peer| it.messages > 0 || it.got > 0 || it.waits > 0;
        (0..layout::PEERS).map(peer).filter(is_any).collect()
    }

    fn log(&self, groups: usize, ns: impl Fn(u64) -> u64) -> Vec<Timed> {
        let count = (self.u32(offset_of!(Front, logged)) as usize).min(layout::LOG);
        let timed = |i: usize| {
            let word = self.u64(layout::LOG_AT + 8 * i);
            let time = word & ((1 << layout::LOG_TIME) - 1);
            Timed {
                group: (word >> layout::LOG_TIME) as u32,
                time: ns(time),
            }
        };
        let all = (0..count).map(timed);
        all.filter(|it| (it.group as usize) < groups).collect()
    }
}

/// The sheet of any bytes, for fuzzing and tests.
#[cfg(any(test, fuzzing))]
pub(crate) fn sheet(table: &[u8]) -> Option<Sheet> {
    let reading = Reading {
        host: "h",
        first: 4,
        now: 9000,
        per_us: 1000.0,
    };
    let functions = catena_abi::table::names();
    Table(table).sheet(&reading, &functions, &mut |_, _, _, _| "a.c:1".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(bytes: &mut [u8], at: usize, value: &[u8]) {
        bytes[at..at + value.len()].copy_from_slice(value);
    }

    /// A table with one entry of `MPI_Send`.
    fn table(state: u32, open: u32) -> Vec<u8> {
        let mut t = vec![0; layout::TABLE];
        let send = catena_abi::table::names()
            .iter()
            .position(|name| *name == "MPI_Send")
            .unwrap() as u32;
        let entry = layout::ENTRIES_AT + 3 * size_of::<layout::Entry>();
        for (at, value) in [
            (offset_of!(Front, rank), 1),
            (offset_of!(Front, has_rank), 1),
            (offset_of!(Front, state), state),
            (offset_of!(Front, open), open),
            (offset_of!(Front, places), 1),
            (
                entry + offset_of!(layout::Entry, what),
                (send + 1) | (layout::NO_GROUP << 16),
            ),
            (entry + offset_of!(layout::Entry, sizes) + 4 * 4, 2),
        ] {
            put(&mut t, at, &value.to_ne_bytes());
        }
        for (at, value) in [
            (offset_of!(Front, mark), layout::MARK),
            (offset_of!(Front, begin), 1000),
            (offset_of!(Front, end), 5000),
            (offset_of!(Front, last), 3000),
            (offset_of!(Front, since), 6000),
            (entry + offset_of!(layout::Entry, calls), 2),
            (entry + offset_of!(layout::Entry, ticks), 1000),
        ] {
            put(&mut t, at, &value.to_ne_bytes());
        }
        t
    }

    #[test]
    fn times_end_where_the_process_has_ended() {
        let of = |state, open| {
            let sheet = sheet(&table(state, open)).unwrap();
            let count = sheet.counts[0].clone();
            assert_eq!((sheet.rank, count.function.as_str()), (5, "MPI_Send"));
            assert_eq!((count.group, count.place.as_str()), (None, "a.c:1"));
            assert_eq!(count.sizes, [(4, 2)]);
            (sheet.run, count.calls, count.time)
        };
        assert_eq!(of(state::FINALIZED, 0), (4000, 2, 1000));
        assert_eq!(of(state::FINALIZED, 4), (4000, 2, 1000));
        // It has ended without MPI_Finalize, in the middle and in a call.
        assert_eq!(of(state::RUNNING, 0), (2000, 2, 1000));
        assert_eq!(of(state::RUNNING, 4), (8000, 3, 4000));
    }

    #[test]
    fn a_call_that_never_ends_waits_for_its_other_side() {
        let mut t = table(state::RUNNING, 4);
        put(&mut t, offset_of!(Front, awaits), &3_u32.to_ne_bytes());
        let peers = sheet(&t).unwrap().peers;
        assert_eq!((peers.len(), peers[0].rank, peers[0].waits), (1, 6, 3000));
        put(&mut t, offset_of!(Front, open), &0_u32.to_ne_bytes());
        assert!(sheet(&t).unwrap().peers.is_empty());
    }

    #[test]
    fn ranks_of_two_jobs_are_no_communicator() {
        let mut t = table(state::FINALIZED, 0);
        put(&mut t, offset_of!(Front, groups), &1_u32.to_ne_bytes());
        let of = |first| Table(&t).groups(first)[0].hash;
        assert_ne!(of(0), of(2));
        assert_eq!(of(2), of(2));
    }

    #[test]
    fn whatever_stands_there_it_is_read_within_bounds() {
        assert_eq!(sheet(&vec![0; layout::TABLE]), None);
        let mut wrong = vec![0xff; layout::TABLE];
        put(&mut wrong, 0, &layout::MARK.to_ne_bytes());
        assert!(sheet(&wrong).is_some());
    }
}

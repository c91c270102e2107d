//! What a thread has counted, and as bytes on its way to `mpirun`.

use crate::bytes::{Malformed, Reader, Writer};
use crate::layout::Class;

/// What a thread of a rank has counted. Times are nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sheet {
    /// The host.
    pub host: String,
    /// The rank, as the launcher counts processes.
    pub rank: u32,
    /// Which of its threads.
    pub thread: u32,
    /// Whether MPI_Finalize was called.
    pub has_finalized: bool,
    /// The time that is measured: from MPI_Init to MPI_Finalize, or from the first call of another
    /// thread to its last one.
    pub run: u64,
    /// The time in MPI_Init, which is before that.
    pub init: u64,
    /// The time in MPI_Finalize, which is after that.
    pub finalize: u64,
    /// Calls that had no room.
    pub lost_calls: u64,
    /// The time in those.
    pub lost: u64,
    /// Communicators and windows that had no room.
    pub no_room: u64,
    /// Communicators, windows and files.
    pub groups: Vec<Group>,
    /// Calls by function, place and group.
    pub counts: Vec<Count>,
    /// Other ranks.
    pub peers: Vec<Peer>,
    /// The first collectives, in their order.
    pub log: Vec<Timed>,
    /// What the library has counted itself.
    pub counters: Vec<(String, u64)>,
    /// Whether it has told that.
    pub has_told: bool,
}

/// What a [`Group`] is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GroupKind {
    /// A communicator.
    #[default]
    Comm,
    /// A window.
    Win,
    /// A file.
    File,
}

/// A communicator, window or file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Group {
    /// What it is.
    pub kind: GroupKind,
    /// A sum of its members, or of the name of a file.
    pub hash: u64,
    /// Which one with these members.
    pub nth: u32,
    /// How many members it has.
    pub size: u32,
    /// Its name, or nothing.
    pub name: String,
    /// The first members.
    pub members: Vec<u32>,
}

/// The calls of one function from one place on one communicator, window or file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Count {
    /// As in `MPI_Send`.
    pub function: String,
    /// As in `solver.c:88`; empty if it is not known.
    pub place: String,
    /// Which kind of call.
    pub class: Class,
    /// Whether all ranks of the group take part.
    pub is_collective: bool,
    /// The place among [`Sheet::groups`].
    pub group: Option<u32>,
    /// How many calls.
    pub calls: u64,
    /// The time in them.
    pub time: u64,
    /// That of the longest one.
    pub longest: u64,
    /// Bytes that were given to them, or moved by them.
    pub bytes: u64,
    /// How many messages of each size: of none, of 1 byte, of 2 to 3, of 4 to 7, and so on.
    pub sizes: Vec<(u32, u32)>,
}

/// What passed between the rank and another one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Peer {
    /// The other rank.
    pub rank: u32,
    /// Bytes to it.
    pub bytes: u64,
    /// In how many messages.
    pub messages: u64,
    /// Bytes that were got from its windows.
    pub got: u64,
    /// The time in calls that waited for it.
    pub waits: u64,
}

/// A collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timed {
    /// The place of the communicator among [`Sheet::groups`].
    pub group: u32,
    /// How long the call took.
    pub time: u64,
}

/// What the library has counted, of the text in which it tells that: a line of a name, a blank and
/// a number for each.
pub(crate) fn counters(text: &str) -> Vec<(String, u64)> {
    let of = |line: &str| {
        let (name, value) = line.split_once(' ')?;
        Some((name.to_string(), value.parse().ok()?))
    };
    text.lines().filter_map(of).collect()
}

impl Sheet {
    /// What the library of a rank has counted alone, if it has told that.
    pub fn of_library(host: &str, rank: u32, has_finalized: bool, told: Option<&str>) -> Sheet {
        Sheet {
            host: host.to_string(),
            rank,
            has_finalized,
            counters: told.map(counters).unwrap_or_default(),
            has_told: told.is_some(),
            ..Sheet::default()
        }
    }

    /// As bytes, behind their number: sheets of several threads are those of each, one after
    /// another.
    pub fn encode(&self) -> Vec<u8> {
        let mut w = Writer::default();
        w.text(&self.host);
        w.u32(self.rank);
        w.u32(self.thread);
        w.u32(self.has_finalized.into());
        for number in [
            self.run,
            self.init,
            self.finalize,
            self.lost_calls,
            self.lost,
            self.no_room,
        ] {
            w.u64(number);
        }
        w.all(&self.groups, |w, it| {
            w.u32(it.kind as u32);
            w.u64(it.hash);
            w.u32(it.nth);
            w.u32(it.size);
            w.text(&it.name);
            w.all(&it.members, |w, &member| w.u32(member));
        });
        w.all(&self.counts, |w, it| {
            w.text(&it.function);
            w.text(&it.place);
            w.u32(it.class as u32);
            w.u32(it.is_collective.into());
            w.u32(it.group.map_or(u32::MAX, |group| group));
            for number in [it.calls, it.time, it.longest, it.bytes] {
                w.u64(number);
            }
            w.all(&it.sizes, |w, &(size, count)| {
                w.u32(size);
                w.u32(count);
            });
        });
        w.all(&self.peers, |w, it| {
            w.u32(it.rank);
            for number in [it.bytes, it.messages, it.got, it.waits] {
                w.u64(number);
            }
        });
        w.all(&self.log, |w, it| {
            w.u32(it.group);
            w.u64(it.time);
        });
        w.all(&self.counters, |w, (name, value)| {
            w.text(name);
            w.u64(*value);
        });
        w.u32(self.has_told.into());
        let mut all = (w.0.len() as u32).to_le_bytes().to_vec();
        all.extend(w.0);
        all
    }

    fn read(r: &mut Reader<'_>) -> Result<Sheet, Malformed> {
        let sheet = Sheet {
            host: r.text()?,
            rank: r.u32()?,
            thread: r.u32()?,
            has_finalized: r.u32()? != 0,
            run: r.u64()?,
            init: r.u64()?,
            finalize: r.u64()?,
            lost_calls: r.u64()?,
            lost: r.u64()?,
            no_room: r.u64()?,
            groups: r.all(|r| {
                Ok(Group {
                    kind: match r.u32()? {
                        0 => GroupKind::Comm,
                        1 => GroupKind::Win,
                        _ => GroupKind::File,
                    },
                    hash: r.u64()?,
                    nth: r.u32()?,
                    size: r.u32()?,
                    name: r.text()?,
                    members: r.all(Reader::u32)?,
                })
            })?,
            counts: r.all(|r| {
                Ok(Count {
                    function: r.text()?,
                    place: r.text()?,
                    class: Class::of(r.u32()?),
                    is_collective: r.u32()? != 0,
                    group: Some(r.u32()?).filter(|&group| group != u32::MAX),
                    calls: r.u64()?,
                    time: r.u64()?,
                    longest: r.u64()?,
                    bytes: r.u64()?,
                    sizes: r.all(|r| Ok((r.u32()?, r.u32()?)))?,
                })
            })?,
            peers: r.all(|r| {
                Ok(Peer {
                    rank: r.u32()?,
                    bytes: r.u64()?,
                    messages: r.u64()?,
                    got: r.u64()?,
                    waits: r.u64()?,
                })
            })?,
            log: r.all(|r| {
                Ok(Timed {
                    group: r.u32()?,
                    time: r.u64()?,
                })
            })?,
            counters: r.all(|r| Ok((r.text()?, r.u64()?)))?,
            has_told: r.u32()? != 0,
        };
        let groups = sheet.groups.len() as u32;
        let counted = sheet.counts.iter().filter_map(|it| it.group);
        let logged = sheet.log.iter().map(|it| it.group);
        match counted.chain(logged).all(|group| group < groups) {
            true => Ok(sheet),
            false => Err(Malformed),
        }
    }
}

/// The sheets of all nodes, as [`Sheet::encode`] wrote them one after another. What cannot be read
/// is left out.
pub(crate) fn read_all(bytes: &[u8]) -> Vec<Sheet> {
    let mut rest = Reader(bytes);
    let mut sheets = Vec::new();
    while let Ok(one) = rest.bytes() {
        sheets.extend(Sheet::read(&mut Reader(one)));
    }
    sheets
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A sheet of a rank that has sent to the next one of `ranks`.
    pub(crate) fn sheet(rank: u32, ranks: u32) -> Sheet {
        let world = Group {
            hash: 7,
            size: ranks,
            name: "MPI_COMM_WORLD".into(),
            members: (0..ranks.min(16)).collect(),
            ..Group::default()
        };
        let count = |function: &str, class, calls: u64, time| Count {
            function: function.into(),
            place: "ring.c:7".into(),
            class,
            is_collective: class == Class::Collective,
            group: Some(0),
            calls,
            time,
            longest: time / calls,
            bytes: 8 * calls,
            sizes: vec![(4, calls as u32)],
        };
        Sheet {
            host: "h0".into(),
            rank,
            has_finalized: true,
            run: 1_000_000_000,
            init: 1000,
            finalize: 2000,
            groups: vec![world],
            counts: vec![
                count("MPI_Send", Class::Message, 10, 1_000_000),
                count(
                    "MPI_Barrier",
                    Class::Collective,
                    2,
                    100_000_000 * u64::from(rank + 1),
                ),
            ],
            peers: vec![Peer {
                rank: (rank + 1) % ranks,
                bytes: 80,
                messages: 10,
                got: 0,
                waits: 1_000_000,
            }],
            log: vec![
                Timed {
                    group: 0,
                    time: 50_000_000 * u64::from(rank + 1),
                };
                2
            ],
            ..Sheet::default()
        }
    }

    #[test]
    fn sheets_survive_the_way() {
        let sheets: Vec<_> = (0..3).map(|rank| sheet(rank, 3)).collect();
        let bytes: Vec<u8> = sheets.iter().flat_map(Sheet::encode).collect();
        assert_eq!(read_all(&bytes), sheets);
        for end in 0..bytes.len() {
            assert!(read_all(&bytes[..end]).len() < 3);
        }
    }
}

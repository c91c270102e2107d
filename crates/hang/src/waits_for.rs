//! What a thread waits for, as it says so itself, and how that is written into its notice.

use crate::bytes::{Malformed, Reader, Writer};

/// A process of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Member {
    /// The number of its job.
    pub job: u64,
    /// Its rank in that job's world.
    pub rank: u32,
}

/// What is to come, or to be done, that one waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum What {
    /// A message that a receive of the program matches.
    Message,
    /// A receive that matches a message of the program's.
    Receive,
    /// The rest of a message that has begun to move.
    Rest,
    /// Somebody who is in a collective call.
    Collective,
    /// An agreement among the members, as for a new communicator.
    Agreement,
    /// A lock on a window.
    Lock,
    /// The other side of an epoch, or of a fence.
    Epoch,
    /// An operation on memory of a window.
    Remote,
    /// A part of a partitioned message.
    Part,
    /// The end of all, in `MPI_Finalize`.
    End,
    /// Somebody who connects, or accepts.
    Meeting,
    /// The launcher.
    Launcher,
    /// The program itself, as in a generalized request.
    Program,
    /// A file.
    File,
    /// Something else.
    Other,
}

impl What {
    const ALL: [What; 15] = [
        What::Message,
        What::Receive,
        What::Rest,
        What::Collective,
        What::Agreement,
        What::Lock,
        What::Epoch,
        What::Remote,
        What::Part,
        What::End,
        What::Meeting,
        What::Launcher,
        What::Program,
        What::File,
        What::Other,
    ];
}

/// A message, as far as matching goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// Rank of the sender on the communicator.
    pub source: u32,
    /// Its tag.
    pub tag: i32,
    /// Its length, bytes.
    pub bytes: u64,
}

/// One thing that is waited for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Need {
    /// What that is.
    pub what: What,
    /// Who can do it, in ascending order, as ranges of ranks of jobs.
    pub of: Vec<(Member, u32)>,
    /// Whether any one of them is enough; else it takes all.
    pub any: bool,
    /// Whether who waits for the same has done its part, as it is all of them who come together.
    pub together: bool,
    /// Whether somebody else can, too: a process that is not known yet, the launcher, a disk.
    pub open: bool,
    /// The communicator, window or file that it is about, by the name that the program has given,
    /// or MPI.
    pub about: String,
    /// Which of several of that name and kind it is, alike for all who have it; 0 if that is not
    /// known.
    pub which: u64,
    /// The tag of a message; `None` if any will do, or it is no message.
    pub tag: Option<i32>,
    /// Length of a message, bytes; the room for one that is not there yet.
    pub bytes: u64,
    /// The function that a collective call is, by its name, with what distinguishes it, and which
    /// of those of its communicator it is.
    pub call: Option<(String, u32)>,
    /// Messages that have come from those who are waited for, and that no receive matches: some of
    /// them.
    pub unexpected: Vec<Envelope>,
    /// What it is to the process that waits, which does not tell it.
    pub key: Option<(u64, u64)>,
}

impl Need {
    /// Something that nobody is known to have to do.
    pub fn new(what: What) -> Need {
        Need {
            what,
            of: Vec::new(),
            any: false,
            together: false,
            open: false,
            about: String::new(),
            which: 0,
            tag: None,
            bytes: 0,
            call: None,
            unexpected: Vec::new(),
            key: None,
        }
    }

    /// Adds one who can do it.
    pub fn add(&mut self, member: Member) {
        match self.of.last_mut() {
            Some((first, count))
                if first.job == member.job
                    && first.rank.checked_add(*count) == Some(member.rank) =>
            {
                *count += 1;
            }
            _ => self.of.push((member, 1)),
        }
    }

    /// All who can do it.
    pub fn members(&self) -> impl Iterator<Item = Member> + '_ {
        self.of.iter().flat_map(|&(Member { job, rank }, count)| {
            (rank..rank.saturating_add(count)).map(move |rank| Member { job, rank })
        })
    }
}

/// Whether what a process has sent over networks has arrived, the surest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Sent {
    /// All of it has, or nothing was sent.
    #[default]
    Arrived,
    /// A network does not tell.
    Unknown,
    /// Some of it has not.
    UnderWay,
}

impl Sent {
    const ALL: [Sent; 3] = [Sent::Arrived, Sent::Unknown, Sent::UnderWay];
}

/// What a thread waits for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WaitsFor {
    /// Since when nothing has moved for this process: nanoseconds of the monotonic clock.
    pub since: u64,
    /// Since when its thread has looked once more whether it is over: nanoseconds of the monotonic
    /// clock. A thread that waits tells it again and again, ten times a second.
    pub told: u64,
    /// What has become of what its process has sent.
    pub sent: Sent,
    /// Whether one of the needs is enough; else it takes all.
    pub any: bool,
    /// Not 0 if any process of its job that runs can end it, as by revoking a communicator: in what
    /// [`look`](crate::look) gives, how many processes the job has.
    pub by_others: u32,
    /// What it needs. There may be more than could be written: then the last one is open.
    pub needs: Vec<Need>,
    /// Where the call was made from: addresses of code, the innermost first.
    pub frames: Vec<u64>,
    /// The line of the Python program that it was made from, `script.py:12 in solve`; empty if
    /// there is none.
    pub python: String,
}

/// Most ranges of processes that a need names.
const RANGES: usize = 16;
/// Most needs that are written.
const NEEDS: usize = 6;
/// Most messages without a receive that a need names.
const UNEXPECTED: usize = 4;
/// Most bytes of a name.
const NAME: usize = 64;

impl WaitsFor {
    /// In bytes, which fit into a notice. What does not fit is left out, and where that is somebody
    /// who could help, the need is open.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut w = Writer::default();
        w.u64(self.since);
        w.u64(self.told);
        w.u8(self.sent as u8);
        w.u8(u8::from(self.any));
        w.u32(self.by_others);
        let frames = &self.frames[..self.frames.len().min(FRAMES)];
        w.u8(frames.len() as u8);
        frames.iter().for_each(|&frame| w.u64(frame));
        w.text(&self.python, catena_trace::PYTHON_LINE);
        let merged = match self.needs.len() > NEEDS {
            true => self.merged(),
            false => Vec::new(),
        };
        let needs = if merged.is_empty() {
            &self.needs
        } else {
            &merged
        };
        let more = needs.len() > NEEDS;
        let needs = &needs[..needs.len().min(NEEDS)];
        w.u8(needs.len() as u8);
        for (at, need) in needs.iter().enumerate() {
            // With any of them enough, one that is left out may be that.
            let cut = more && self.any && at + 1 == needs.len();
            need.write(&mut w, cut);
        }
        w.0
    }

    /// Its needs, with those of the same sort as one: of several messages any one is enough if one
    /// of the needs is, else it takes all of them. So many requests need no more room than a few.
    fn merged(&self) -> Vec<Need> {
        let mut merged: Vec<Need> = Vec::new();
        for need in &self.needs {
            let is_one = need.of.len() == 1 && need.of[0].1 == 1;
            let can_join = is_one || need.any == self.any;
            let same = |it: &&mut Need| {
                can_join
                    && it.any == self.any
                    && (it.what, &it.about, it.which, it.together, &it.call)
                        == (
                            need.what,
                            &need.about,
                            need.which,
                            need.together,
                            &need.call,
                        )
            };
            if let Some(all) = merged.iter_mut().find(same) {
                let mut members: Vec<Member> = all.members().chain(need.members()).collect();
                members.sort_unstable();
                members.dedup();
                all.of.clear();
                members.into_iter().for_each(|member| all.add(member));
                all.open |= need.open;
                all.tag = all.tag.filter(|_| all.tag == need.tag);
                all.bytes = all.bytes.max(need.bytes);
                all.unexpected
                    .extend(need.unexpected.iter().take(UNEXPECTED));
            } else {
                let any = if is_one { self.any } else { need.any };
                merged.push(Need {
                    any,
                    ..need.clone()
                });
            }
        }
        merged
    }

    /// What bytes say.
    ///
    /// # Errors
    /// If they are not those of [`WaitsFor::to_bytes`].
    pub fn read(bytes: &[u8]) -> Result<WaitsFor, Malformed> {
        let mut r = Reader(bytes);
        let (since, told) = (r.u64()?, r.u64()?);
        let sent = *Sent::ALL.get(usize::from(r.u8()?)).ok_or(Malformed)?;
        let any = r.u8()? != 0;
        let by_others = r.u32()?;
        let frames = (0..r.u8()?).map(|_| r.u64()).collect::<Result<_, _>>()?;
        let python = r.text()?;
        let needs = r.u8()?;
        if usize::from(needs) > NEEDS {
            return Err(Malformed);
        }
        let needs = (0..needs)
            .map(|_| Need::read(&mut r))
            .collect::<Result<_, _>>()?;
        Ok(WaitsFor {
            since,
            told,
            sent,
            any,
            by_others,
            needs,
            frames,
            python,
        })
    }
}

/// Most frames that are written.
pub const FRAMES: usize = 24;

impl Need {
    fn write(&self, w: &mut Writer, cut: bool) {
        w.u8(self.what as u8);
        let cut = cut || self.of.len() > RANGES && self.any;
        w.u8(u8::from(self.any) | u8::from(self.open || cut) << 1 | u8::from(self.together) << 2);
        let of = &self.of[..self.of.len().min(RANGES)];
        w.u8(of.len() as u8);
        for (Member { job, rank }, count) in of {
            w.u64(*job);
            w.u32(*rank);
            w.u32(*count);
        }
        w.text(&self.about, NAME);
        w.u64(self.which);
        w.u8(u8::from(self.tag.is_some()));
        w.u32(self.tag.unwrap_or(0) as u32);
        w.u64(self.bytes);
        match &self.call {
            Some((name, number)) => {
                w.text(name, NAME);
                w.u32(*number);
            }
            None => w.text("", NAME),
        }
        let unexpected = &self.unexpected[..self.unexpected.len().min(UNEXPECTED)];
        w.u8(unexpected.len() as u8);
        for it in unexpected {
            w.u32(it.source);
            w.u32(it.tag as u32);
            w.u64(it.bytes);
        }
    }

    fn read(r: &mut Reader<'_>) -> Result<Need, Malformed> {
        let what = *What::ALL.get(usize::from(r.u8()?)).ok_or(Malformed)?;
        let flags = r.u8()?;
        let of = (0..r.u8()?)
            .map(|_| {
                let (job, rank) = (r.u64()?, r.u32()?);
                Ok((Member { job, rank }, r.u32()?))
            })
            .collect::<Result<_, _>>()?;
        let about = r.text()?;
        let which = r.u64()?;
        let has_tag = r.u8()? != 0;
        let tag = r.u32()? as i32;
        let bytes = r.u64()?;
        let name = r.text()?;
        let call = match name.is_empty() {
            true => None,
            false => Some((name, r.u32()?)),
        };
        let unexpected = (0..r.u8()?)
            .map(|_| {
                Ok(Envelope {
                    source: r.u32()?,
                    tag: r.u32()? as i32,
                    bytes: r.u64()?,
                })
            })
            .collect::<Result<_, _>>()?;
        Ok(Need {
            what,
            of,
            any: flags & 1 != 0,
            open: flags & 2 != 0,
            together: flags & 4 != 0,
            about,
            which,
            tag: has_tag.then_some(tag),
            bytes,
            call,
            unexpected,
            key: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn needs() -> impl Strategy<Value = Need> {
        let members = prop::collection::vec((0..3_u64, any::<u32>()), 0..RANGES);
        let told = (any::<Option<i32>>(), any::<u64>(), any::<[bool; 3]>());
        let call = prop::option::of(("[a-z]{1,20}", any::<u32>()));
        (0..What::ALL.len(), members, "[a-zß€ ]{0,20}", told, call).prop_map(
            |(what, members, about, (tag, bytes, [any, open, together]), call)| {
                let mut need = Need::new(What::ALL[what]);
                for (job, rank) in members {
                    need.add(Member { job, rank });
                }
                Need {
                    any,
                    open,
                    together,
                    about,
                    which: bytes.rotate_left(7),
                    tag,
                    bytes,
                    call,
                    ..need
                }
            },
        )
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(needs in prop::collection::vec(needs(), 0..NEEDS),
            since in 0..u64::MAX, any: bool) {
            let (frames, python, sent) = (vec![1, 2], "a.py:1".into(), Sent::Unknown);
            let by_others = frames.len() as u32;
            let waits = WaitsFor { since, told: since + 1, sent, any, by_others, needs, frames,
                python };
            prop_assert_eq!(WaitsFor::read(&waits.to_bytes()), Ok(waits));
        }

        #[test]
        fn any_bytes_are_read_without_harm(bytes: Vec<u8>) {
            _ = WaitsFor::read(&bytes);
        }
    }

    #[test]
    fn the_largest_fits_into_a_notice() {
        let mut need = Need::new(What::Collective);
        for rank in 0..1000 {
            need.add(Member {
                job: 1,
                rank: 2 * rank,
            });
        }
        need.about = "x".repeat(1000);
        need.call = Some(("y".repeat(1000), 7));
        need.unexpected = vec![
            Envelope {
                source: 1,
                tag: 2,
                bytes: 3
            };
            100
        ];
        need.any = true;
        let waits = WaitsFor {
            needs: vec![need; 100],
            frames: vec![0; 1000],
            python: "z".repeat(1000),
            ..WaitsFor::default()
        };
        let bytes = waits.to_bytes();
        assert!(bytes.len() <= catena_trace::Notice::LONGEST);
        let read = WaitsFor::read(&bytes).unwrap();
        assert!(read.needs[0].open, "some who could help are left out");
        assert!(!waits.needs[0].open);
    }

    #[test]
    fn many_requests_are_told_as_one_need() {
        for any in [true, false] {
            let need = |rank: u32| {
                let mut need = Need::new(What::Message);
                need.add(Member { job: 1, rank });
                need.tag = Some(rank as i32);
                need
            };
            let mut needs: Vec<_> = (0..9).map(need).collect();
            let mut other = Need::new(What::Receive);
            other.add(Member { job: 1, rank: 3 });
            needs.push(other);
            let waits = WaitsFor {
                needs,
                any,
                ..WaitsFor::default()
            };
            let read = WaitsFor::read(&waits.to_bytes()).unwrap();
            assert_eq!(read.needs.len(), 2);
            assert_eq!(read.needs[0].members().count(), 9);
            assert!(read.needs.iter().all(|it| it.any == any && !it.open));
            assert_eq!(read.needs[0].tag, None);
        }
    }

    #[test]
    fn neighbours_become_ranges() {
        let mut need = Need::new(What::Message);
        for rank in [0, 1, 2, 5, 6] {
            need.add(Member { job: 3, rank });
        }
        assert_eq!(need.of.len(), 2);
        let ranks: Vec<_> = need.members().map(|it| it.rank).collect();
        assert_eq!(ranks, [0, 1, 2, 5, 6]);
    }
}

//! What the launcher does for processes that come and go: words that travel between the
//! two.

use std::ffi::OsString;
use std::fmt;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::time::Duration;

use crate::wire::{FrameKind, Malformed, Reader, Writer};

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// By itself, with this status.
    Code(i32),
    /// By this signal.
    Signal(i32),
    /// Nobody can tell: its host cannot be reached any more.
    Lost,
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ended::Code(code) => write!(f, "it ended with status {code}"),
            Ended::Signal(signal) => write!(f, "it was killed by signal {signal}"),
            Ended::Lost => f.write_str("its host cannot be reached any more"),
        }
    }
}

impl Ended {
    /// As two words of a message.
    pub fn to_words(self) -> [u32; 2] {
        match self {
            Ended::Code(code) => [0, code as u32],
            Ended::Signal(signal) => [1, signal as u32],
            Ended::Lost => [2, 0],
        }
    }

    /// From two words of a message.
    ///
    /// # Errors
    /// If they say something else.
    pub fn from_words(words: [u32; 2]) -> Result<Ended, Malformed> {
        match words {
            [0, code] => Ok(Ended::Code(code as i32)),
            [1, signal] => Ok(Ended::Signal(signal as i32)),
            [2, _] => Ok(Ended::Lost),
            _ => Err(Malformed("an end of an unknown kind")),
        }
    }
}

/// A process that has ended without having left MPI, as the launcher tells of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Death {
    /// Its job.
    pub job: u64,
    /// Its rank there.
    pub rank: u32,
    /// How many such ends the launcher knew of then, this one among them: all processes
    /// learn of them in this order.
    pub epoch: u32,
    /// How it ended.
    pub how: Ended,
}

impl Death {
    /// The frame that tells of it.
    pub(crate) fn frame(&self) -> Vec<u8> {
        let mut w = Writer::new(FrameKind::Died);
        w.u64(self.job);
        w.u32(self.rank);
        w.u32(self.epoch);
        for word in self.how.to_words() {
            w.u32(word);
        }
        w.finish()
    }

    /// Reads the body of such a frame.
    pub(crate) fn read(r: &mut Reader<'_>) -> Result<Death, Malformed> {
        Ok(Death {
            job: r.u64()?,
            rank: r.u32()?,
            epoch: r.u32()?,
            how: Ended::from_words([r.u32()?, r.u32()?])?,
        })
    }
}

/// What the names of the process sets of an elastic job begin with; the version follows.
pub const ELASTIC_SET: &str = "catena://elastic/";

/// What the parent's port of a job begins with by which an elastic job has grown. Nobody waits
/// there: its processes join the others by their process set.
const GROWN: &str = "elastic:";

/// One version of the process set of an elastic job: the first one is the job as it was started,
/// and each time that the job grows or shrinks there is one more. Those hear of it that are in it
/// or in the one before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ElasticSet {
    /// The version, from 1 on.
    pub version: u32,
    /// Its processes, by job and rank, in the order of the set.
    pub members: Vec<(u64, u32)>,
}

impl ElasticSet {
    /// The parent's port of the job with that number, by which an elastic job grows.
    pub fn port(job: u64) -> String {
        format!("{GROWN}{job:016x}")
    }

    /// Whether that is the parent's port of a job by which an elastic one has grown.
    pub fn is_port(port: &str) -> bool {
        port.starts_with(GROWN)
    }

    /// The frame that tells of it.
    pub(crate) fn frame(&self) -> Vec<u8> {
        let mut w = Writer::new(FrameKind::Elastic);
        w.u32(self.version);
        w.u32(self.members.len() as u32);
        for &(job, rank) in &self.members {
            w.u64(job);
            w.u32(rank);
        }
        w.finish()
    }

    /// Reads the body of what [`ElasticSet::frame`] gave.
    ///
    /// # Errors
    /// If it is something else.
    pub(crate) fn read(r: &mut Reader<'_>) -> Result<ElasticSet, Malformed> {
        let version = r.u32()?;
        let members = (0..r.count(12)?).map(|_| Ok((r.u64()?, r.u32()?)));
        Ok(ElasticSet {
            version,
            members: members.collect::<Result<_, Malformed>>()?,
        })
    }
}

/// One of the programs of a new job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpawnProgram {
    /// Its name or path.
    pub program: OsString,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// How many processes run it.
    pub count: u32,
    /// The directory that it is started in, if not the launcher's.
    pub wdir: Option<OsString>,
    /// Where it is looked for, if not in `PATH`: directories, separated by colons.
    pub path: Option<OsString>,
    /// Variables for its environment.
    pub env: Vec<(OsString, OsString)>,
    /// Numbers of processes that will do where there is no room for `count`.
    pub soft: Vec<u32>,
    /// What its processes find as `MPI_APPNUM`, if not its place among the programs.
    pub appnum: Option<u32>,
    /// Lists of the hosts where it may run, as `--host` has them.
    pub hosts: Vec<OsString>,
    /// Files of such hosts.
    pub hostfiles: Vec<OsString>,
}

/// What shall run as a new job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpawnRequest {
    /// The programs, in the order of their ranks.
    pub programs: Vec<SpawnProgram>,
    /// How the processes are placed, in the words of `--map-by`; empty if nothing was said.
    pub map_by: String,
    /// What they are bound to, in the words of `--bind-to`; empty if nothing was said.
    pub bind_to: String,
}

impl SpawnRequest {
    /// As [`SpawnRequest::read`] reads it.
    pub fn write(&self, w: &mut Writer) {
        let optional = |w: &mut Writer, text: &Option<OsString>| {
            w.u32(u32::from(text.is_some()));
            w.bytes(text.as_deref().unwrap_or_default().as_bytes());
        };
        w.u32(self.programs.len() as u32);
        for it in &self.programs {
            w.bytes(it.program.as_bytes());
            w.u32(it.args.len() as u32);
            it.args.iter().for_each(|arg| w.bytes(arg.as_bytes()));
            w.u32(it.count);
            optional(w, &it.wdir);
            optional(w, &it.path);
            w.u32(it.env.len() as u32);
            for (name, value) in &it.env {
                w.bytes(name.as_bytes());
                w.bytes(value.as_bytes());
            }
            w.u32s(&it.soft);
            w.u32s(it.appnum.as_slice());
            for list in [&it.hosts, &it.hostfiles] {
                w.u32(list.len() as u32);
                list.iter().for_each(|text| w.bytes(text.as_bytes()));
            }
        }
        w.bytes(self.map_by.as_bytes());
        w.bytes(self.bind_to.as_bytes());
    }

    /// Reads what [`SpawnRequest::write`] wrote.
    ///
    /// # Errors
    /// If it is something else.
    pub fn read(r: &mut Reader<'_>) -> Result<SpawnRequest, Malformed> {
        fn string(r: &mut Reader<'_>) -> Result<OsString, Malformed> {
            Ok(OsString::from_vec(r.bytes()?.to_vec()))
        }
        fn optional(r: &mut Reader<'_>) -> Result<Option<OsString>, Malformed> {
            let is_there = r.u32()? != 0;
            let text = string(r)?;
            Ok(is_there.then_some(text))
        }
        fn strings(r: &mut Reader<'_>) -> Result<Vec<OsString>, Malformed> {
            (0..r.count(4)?).map(|_| string(r)).collect()
        }
        let one = |r: &mut Reader<'_>| {
            Ok(SpawnProgram {
                program: string(r)?,
                args: strings(r)?,
                count: r.u32()?,
                wdir: optional(r)?,
                path: optional(r)?,
                env: (0..r.count(8)?)
                    .map(|_| Ok((string(r)?, string(r)?)))
                    .collect::<Result<_, _>>()?,
                soft: r.u32s()?,
                appnum: r.u32s()?.first().copied(),
                hosts: strings(r)?,
                hostfiles: strings(r)?,
            })
        };
        let programs = (0..r.count(48)?)
            .map(|_| one(r))
            .collect::<Result<_, _>>()?;
        Ok(SpawnRequest {
            programs,
            map_by: r.text()?,
            bind_to: r.text()?,
        })
    }
}

/// The side from which a process comes to a port. Who comes from one side meets who comes
/// from the other, each the first that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// It was there first: it accepts, or has spawned.
    Host,
    /// It comes: it connects, or was spawned.
    Guest,
}

impl Side {
    pub(crate) fn index(self) -> usize {
        self as usize
    }

    pub(crate) fn from_number(number: u32) -> Result<Side, Malformed> {
        match number {
            0 => Ok(Side::Host),
            1 => Ok(Side::Guest),
            _ => Err(Malformed("a port has two sides")),
        }
    }
}

/// A group comes to a port.
#[derive(Clone, Copy, Debug)]
pub struct Visit<'a> {
    /// The port.
    pub port: &'a str,
    /// From which side.
    pub side: Side,
    /// What the other group is told.
    pub value: &'a [u8],
    /// The members of the group, by job and rank.
    pub group: &'a [(u64, u32)],
    /// How long to wait for the other group; without an end if that is not said.
    pub timeout: Option<Duration>,
}

/// What has become of a [`SpawnRequest`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpawnAnswer {
    /// The random number of the new job.
    pub job: u64,
    /// How many processes run each program.
    pub counts: Vec<u32>,
}

impl SpawnAnswer {
    /// As [`SpawnAnswer::read`] reads it.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let counts = self.counts.iter().flat_map(|count| count.to_le_bytes());
        self.job.to_le_bytes().into_iter().chain(counts).collect()
    }

    /// From the outcome of [`Jobs::spawn`](crate::Jobs::spawn), if it is one.
    pub fn read(bytes: &[u8]) -> Option<SpawnAnswer> {
        let (job, counts) = bytes.split_first_chunk::<8>()?;
        let (counts, []) = counts.as_chunks::<4>() else {
            return None;
        };
        Some(SpawnAnswer {
            job: u64::from_le_bytes(*job),
            counts: counts.iter().map(|it| u32::from_le_bytes(*it)).collect(),
        })
    }
}

/// The answer to a ticket: a value, or why there is none.
pub type Outcome = Result<Vec<u8>, String>;

/// As [`read_outcome`] reads it.
pub(crate) fn write_outcome(w: &mut Writer, outcome: &Outcome) {
    w.u32(u32::from(outcome.is_ok()));
    match outcome {
        Ok(value) => w.bytes(value),
        Err(text) => w.bytes(text.as_bytes()),
    }
}

pub(crate) fn read_outcome(r: &mut Reader<'_>) -> Result<Outcome, Malformed> {
    Ok(match r.u32()? {
        0 => Err(r.text()?),
        _ => Ok(r.bytes()?.to_vec()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_survive_the_journey() {
        let program = SpawnProgram {
            program: "a".into(),
            args: vec!["-x".into(), "".into()],
            count: 3,
            wdir: Some("/tmp".into()),
            path: None,
            env: vec![("N".into(), "v".into())],
            soft: vec![2, 1],
            appnum: Some(5),
            hosts: vec!["h:2".into()],
            hostfiles: vec!["f".into(), "g".into()],
        };
        let request = SpawnRequest {
            programs: vec![program, SpawnProgram::default()],
            map_by: "core".to_string(),
            bind_to: String::new(),
        };
        let mut w = Writer::new(0);
        request.write(&mut w);
        let body = w.into_body();
        assert_eq!(SpawnRequest::read(&mut Reader::new(&body)), Ok(request));
        for end in 0..body.len() {
            assert!(SpawnRequest::read(&mut Reader::new(&body[..end])).is_err());
        }
    }

    #[test]
    fn sets_survive_the_journey() {
        let set = ElasticSet {
            version: 3,
            members: vec![(7 << 40, 0), (7 << 40, 1), (5, 0)],
        };
        let frame = set.frame();
        let body = &frame[crate::wire::HEAD..];
        assert_eq!(ElasticSet::read(&mut Reader::new(body)), Ok(set));
        for end in 0..body.len() {
            assert!(ElasticSet::read(&mut Reader::new(&body[..end])).is_err());
        }
        assert!(ElasticSet::is_port(&ElasticSet::port(9)));
        assert!(!ElasticSet::is_port("spawn:0000000000000009"));
    }

    #[test]
    fn answers_survive_the_journey() {
        let answer = SpawnAnswer {
            job: 7 << 40,
            counts: vec![1, 300],
        };
        let bytes = answer.to_bytes();
        assert_eq!(SpawnAnswer::read(&bytes), Some(answer));
        assert_eq!(SpawnAnswer::read(&bytes[..bytes.len() - 1]), None);
        assert_eq!(SpawnAnswer::read(&bytes[..7]), None);
    }

    #[test]
    fn ends_survive_the_journey() {
        for how in [Ended::Code(-3), Ended::Signal(9), Ended::Lost] {
            assert_eq!(Ended::from_words(how.to_words()), Ok(how));
        }
        assert!(Ended::from_words([3, 0]).is_err());
    }
}

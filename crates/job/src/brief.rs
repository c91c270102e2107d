//! What a daemon is told when it starts.

use std::ffi::OsString;
use std::sync::Arc;
use std::time::Duration;

use catena_boot::wire::{Malformed, Reader, Writer};
use catena_proof::Secret;

use crate::kind::MessageKind;
use crate::plan::Plan;
use crate::strings::{read_strings, read_vars, write_strings, write_vars};

/// Version of everything that the launcher's processes tell each other.
const VERSION: u32 = 8;

/// How daemons are started and kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Means {
    /// The command that starts something on another host: `AGENT HOST COMMAND`.
    pub agent: Vec<OsString>,
    /// What it is to start there.
    pub daemon: Vec<OsString>,
    /// Most daemons that one process starts.
    pub fanout: u32,
    /// How long a daemon may take to answer.
    pub start: Duration,
    /// How long a host may be silent; zero: for ever.
    pub silence: Duration,
}

/// What a daemon is told.
#[derive(Clone, Debug, PartialEq)]
pub struct Brief {
    /// What shall run where.
    pub plan: Plan,
    /// How to start other daemons.
    pub means: Means,
    /// The environment of `mpirun`.
    pub env: Vec<(OsString, OsString)>,
    /// Its working directory.
    pub directory: OsString,
    /// Whether the daemon comes while the first job runs: that has no living rank on its node.
    pub late: bool,
}

impl Brief {
    /// For all daemons: to be sent by [`frame`].
    pub fn encode(&self) -> Arc<[u8]> {
        let mut w = Writer::new(MessageKind::Launch);
        self.plan.write(&mut w);
        write_strings(&mut w, &self.means.agent);
        write_strings(&mut w, &self.means.daemon);
        w.u32(self.means.fanout);
        w.u64(self.means.start.as_nanos() as u64);
        w.u64(self.means.silence.as_nanos() as u64);
        write_vars(&mut w, &self.env);
        write_strings(&mut w, std::slice::from_ref(&self.directory));
        w.u32(self.late.into());
        w.into_body().into()
    }

    /// Reads what [`Brief::encode`] wrote.
    ///
    /// # Errors
    /// If it is something else.
    pub fn decode(body: &[u8]) -> Result<Brief, Malformed> {
        let r = &mut Reader::new(body);
        let brief = Brief {
            plan: Plan::read(r)?,
            means: Means {
                agent: read_strings(r)?,
                daemon: read_strings(r)?,
                fanout: r.u32()?,
                start: Duration::from_nanos(r.u64()?),
                silence: Duration::from_nanos(r.u64()?),
            },
            env: read_vars(r)?,
            directory: read_strings(r)?.pop().unwrap_or_default(),
            late: r.u32()? != 0,
        };
        match brief.means.agent.is_empty() || brief.means.daemon.is_empty() {
            true => Err(Malformed("no agent or no daemon is named")),
            false => Ok(brief),
        }
    }
}

/// The frame that tells a daemon that it is the one on the first of `nodes`,
/// and starts those on the others. `secret` is that of the job, if nobody else can
/// read the frame.
pub fn frame(nodes: &[u32], secret: Option<&Secret>, brief: &[u8]) -> Vec<u8> {
    let mut w = Writer::new(MessageKind::Launch);
    w.u32(VERSION);
    w.u32s(nodes);
    w.bytes(secret.map(Secret::to_hex).unwrap_or_default().as_bytes());
    w.raw(brief);
    w.finish()
}

/// What [`frame`] makes, taken apart.
#[derive(Debug)]
pub struct ReadBrief {
    /// The daemon's node, and those below.
    pub nodes: Vec<u32>,
    /// The secret of the job, if it came along.
    pub secret: Option<Secret>,
    /// The brief.
    pub brief: Arc<[u8]>,
}

/// Takes apart what [`frame`] made.
///
/// # Errors
/// If it is something else, or of another version.
pub fn open(body: &[u8]) -> Result<ReadBrief, Malformed> {
    let mut r = Reader::new(body);
    if r.u32()? != VERSION {
        return Err(Malformed(
            "mpirun is of another version than Catena on this host",
        ));
    }
    let nodes = r.u32s()?;
    let secret = Secret::from_hex(&r.text()?);
    match nodes.is_empty() {
        true => Err(Malformed("it names no node")),
        false => Ok(ReadBrief {
            nodes,
            secret,
            brief: r.rest().into(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_secret_is_in_a_frame_only_where_it_is_put() {
        let secret = Secret::from_bytes([0xa5; 32]);
        for secret in [None, Some(secret)] {
            let frame = frame(&[4, 7], secret.as_ref(), b"the rest");
            let told = open(&frame[5..]).unwrap();
            assert_eq!((told.nodes, &*told.brief), (vec![4, 7], &b"the rest"[..]));
            assert_eq!(told.secret, secret);
        }
        let frame = frame(&[1], None, &[]);
        assert!((0..frame.len()).all(|cut| cut >= 17 || open(&frame[5..cut.max(5)]).is_err()));
    }
}

//! Programs of Open MPI, which find their place in a job through PMIx: a helper
//! process on each node is its server, with libpmix opened at run time.
//!
//! | module   | what it does                                                  |
//! |----------|---------------------------------------------------------------|
//! | `needs`  | sees whether a program wants PMIx                             |
//! | `helper` | the server                                                    |
//! | `meet`   | what the servers of several nodes tell each other             |
//!
//! The helper talks like a daemon: each [`NodeEvent`] of its own comes from it, and what nodes have
//! for each other goes to it. It is a process of its own as libpmix has threads,
//! and as no other program shall pay for it: it starts when one of the programs
//! wants it. It ends when its connection does, and takes its files with it.

pub mod helper;
mod meet;
mod needs;

use std::ffi::{CString, OsString};
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use catena_boot::wire::{Inbox, MAX_BODY, Malformed, Reader, Writer};
use catena_boot::{LAUNCH_TIMEOUT, PMIX, Poller};
use catena_job::{Exit, MessageKind, NodeEvent, Plan, read_strings, setting, write_strings};
use catena_topo::Cpus;

use crate::base::Base;
use crate::hosts::link::{End, Link};
use crate::node::token;
use crate::program::Program;
use crate::report;
use crate::sys;

/// The option that makes this program the helper; no user gives it.
pub const OPTION: &str = "--catena-pmix";

/// Where libpmix is looked for last.
const LIBRARY: &str = "libpmix.so.2";

/// The helper of this node.
pub struct Pmix {
    // It ends when this is closed.
    link: Link,
    process: Process,
    size: (u32, u32),
    /// What each rank of the node finds in its environment, by local rank.
    pub env: Vec<Vec<CString>>,
}

/// What the helper is told first.
struct Brief {
    node: u32,
    /// Names of libpmix, to be tried in turn.
    libraries: Vec<OsString>,
    /// What each rank of the node is bound to.
    cpus: Vec<OsString>,
    plan: Plan,
}

impl Brief {
    fn frame(&self) -> Vec<u8> {
        let mut w = Writer::new(MessageKind::Launch);
        w.u32(self.node);
        write_strings(&mut w, &self.libraries);
        write_strings(&mut w, &self.cpus);
        self.plan.write(&mut w);
        w.finish()
    }

    fn read(body: &[u8]) -> Result<Brief, Malformed> {
        let r = &mut Reader::new(body);
        Ok(Brief {
            node: r.u32()?,
            libraries: read_strings(r)?,
            cpus: read_strings(r)?,
            plan: Plan::read(r)?,
        })
    }
}

impl Pmix {
    /// Starts the helper if one of `programs` wants PMIx, or the user does, and
    /// waits until it can be used. Those beside which stands that they run on Catena in
    /// place of Open MPI do not want it for that. `vars` are variables of the ranks.
    ///
    /// # Errors
    /// In words for the user: if it cannot be used, and is needed.
    pub fn start<'a>(
        plan: &Plan,
        node: u32,
        programs: impl Iterator<Item = (&'a Program, bool)>,
        vars: &[(OsString, OsString)],
        cpus: &[Option<Cpus>],
        base: &Base,
    ) -> Result<Option<Pmix>, String> {
        let mut programs =
            programs.flat_map(|(program, taken)| program.files().map(move |path| (path, taken)));
        let wanting =
            programs.find_map(|(path, taken)| Some((needs::library(&path, taken)?, path)));
        if wanting.is_none() && !plan.pmix {
            return Ok(None);
        }
        let given = setting(&PMIX, vars).to_string();
        let libraries: Vec<OsString> = match &*given {
            "" => {
                // The one that the program uses has the right version for sure.
                let own = wanting
                    .as_ref()
                    .and_then(|(_, path)| needs::libpmix(path, vars));
                own.into_iter().chain([LIBRARY.into()]).collect()
            }
            names => names.split(':').map(OsString::from).collect(),
        };
        let brief = Brief {
            node,
            libraries,
            cpus: cpus
                .iter()
                .map(|cpus| {
                    cpus.as_ref()
                        .map(Cpus::to_string)
                        .unwrap_or_default()
                        .into()
                })
                .collect(),
            plan: plan.clone(),
        };
        let cause = match Pmix::talk(&brief, vars, base) {
            Ok(Ok(pmix)) => return Ok(Some(pmix)),
            Ok(Err(text)) => text,
            Err(error) => error.to_string(),
        };
        Err(match wanting {
            Some((needed, path)) => format!(
                "{} is linked to {needed}, so it needs a PMIx server, and there can be none: \
                 {cause}; install libpmix (Debian's libpmix2) or say where it is (--set PMIX=...), \
                 start the program with Open MPI's own mpirun, or compile it with Catena's mpicc",
                path.display()
            ),
            None => format!(
                "--pmix: there can be no PMIx server: {cause}; install libpmix (Debian's \
                 libpmix2), or say where it is (--set PMIX=...)"
            ),
        })
    }

    /// Starts the helper and hears whether it can be used.
    fn talk(
        brief: &Brief,
        vars: &[(OsString, OsString)],
        base: &Base,
    ) -> io::Result<Result<Pmix, String>> {
        let (mut ours, theirs) = UnixStream::pair()?;
        let mut command = Command::new(std::env::current_exe()?);
        command
            .arg(OPTION)
            .env_clear()
            // What another server has given to this process is not for this one.
            .envs(
                vars.iter()
                    .filter(|(name, _)| {
                        let name = name.to_string_lossy();
                        !name.starts_with("PMIX_") || name.starts_with("PMIX_MCA_")
                    })
                    .map(|(name, value)| (name, value)),
            )
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::null())
            // It shall outlive a signal of the terminal, to clean up.
            .process_group(0);
        sys::restore_in(&mut command, &base.signals, base.files);
        let process = Process {
            pid: command.spawn()?.id() as i32,
            job_id: brief.plan.job_id,
        };
        sys::claim(process.pid);
        // Which has the other end of the stream, too.
        drop(command);
        ours.set_read_timeout(Some(setting(&LAUNCH_TIMEOUT, vars)))?;
        let told = ours.write_all(&brief.frame());
        let answer = told.and_then(|()| hear_in(&mut ours, &mut Inbox::default()));
        let size = (
            brief.plan.node_of.len() as u32,
            brief.plan.hosts.len() as u32,
        );
        let cause = match answer {
            Ok((MessageKind::Hello, body)) => {
                let env = read_environments(&body).map_err(invalid)?;
                let link = Link::new(ours.into(), None, [token::PMIX; 2], &base.poller)?;
                return Ok(Ok(Pmix {
                    link,
                    process,
                    size,
                    env,
                }));
            }
            Ok((kind, body)) => match NodeEvent::decode(kind, &body, size.0, size.1) {
                Ok(NodeEvent::Failed { text, .. }) => text,
                _ => "the helper makes no sense".to_string(),
            },
            Err(_) => process.ended(),
        };
        drop(ours);
        Ok(Err(cause))
    }

    /// What the helper has said.
    pub fn hear(&mut self) -> Result<Vec<NodeEvent>, End> {
        let received = self.link.receive();
        let mut events = Vec::new();
        while let Some((kind, body)) = self.link.next()? {
            let (ranks, nodes) = self.size;
            events.push(NodeEvent::decode(kind, &body, ranks, nodes).map_err(End::Malformed)?);
        }
        received.map(|()| events)
    }

    /// Has a frame sent to the helper at the next [`Pmix::flush`].
    pub fn tell(&mut self, frame: Vec<u8>) {
        self.link.push(frame);
    }

    /// Sends what waits.
    pub fn flush(&mut self, poller: &Poller) {
        // An end is noticed where it is read.
        let _ = self.link.flush(poller);
    }

    /// Why nothing can be heard any more.
    pub fn explain(&self) -> String {
        let host = catena_boot::host_name();
        let how = self.process.ended();
        format!("the PMIx server of host {host} is lost: {how}")
    }
}

/// The process of the helper.
struct Process {
    pid: i32,
    job_id: u64,
}

/// Where libpmix keeps its files.
fn directory(job_id: u64, helper: u32) -> PathBuf {
    std::env::temp_dir().join(format!("catena-{job_id:016x}-{helper}"))
}

impl Process {
    /// How it has ended, or does now.
    fn ended(&self) -> String {
        sys::kill(self.pid, libc::SIGKILL);
        match sys::await_exit(self.pid) {
            Exit::Code(status) => format!("it has ended with status {status}"),
            Exit::Signal(signal) => {
                let name = report::signal_name(signal);
                format!("it was killed by signal {signal} ({name})")
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        sys::reap(self.pid);
        // It does so itself unless it was killed.
        let _ = std::fs::remove_dir_all(directory(self.job_id, self.pid as u32));
    }
}

fn invalid(error: Malformed) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

/// The next frame of a stream, of which some has been read.
fn hear_in(stream: &mut UnixStream, inbox: &mut Inbox) -> io::Result<(MessageKind, Vec<u8>)> {
    let mut buffer = [0; 64 << 10];
    loop {
        if let Some((kind, body)) = inbox.next(MAX_BODY).map_err(invalid)? {
            return Ok((
                MessageKind::from_byte(kind).map_err(invalid)?,
                body.to_vec(),
            ));
        }
        match stream.read(&mut buffer)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            n => inbox.push(&buffer[..n]),
        }
    }
}

fn read_environments(body: &[u8]) -> Result<Vec<Vec<CString>>, Malformed> {
    use std::os::unix::ffi::OsStringExt;
    let r = &mut Reader::new(body);
    let text =
        |var: OsString| CString::new(var.into_vec()).map_err(|_| Malformed("a zero in a variable"));
    (0..r.count(4)?)
        .map(|_| read_strings(r)?.into_iter().map(text).collect())
        .collect()
}

/// Whether a program with this library is served by PMIx.
pub fn serves(library: &Path) -> bool {
    let name = library.file_name().unwrap_or_default();
    needs::wants(&name.to_string_lossy())
}

#[cfg(test)]
mod tests {
    use super::*;
    use catena_proof::Secret;

    /// What others can see of the helper, and what it is told itself, tell nothing
    /// of the secret.
    #[test]
    fn no_folder_has_the_secret_in_its_name() {
        let secret = Secret::from_bytes(*b"a secret of 32 bytes, not random");
        let plan = Plan {
            job_id: 0x0123_4567_89ab_cdef,
            secret: Some(secret.clone()),
            hosts: vec!["host".to_string()],
            pmix: true,
            ..Plan::default()
        };
        let name = directory(plan.job_id, 1);
        let brief = Brief {
            node: 0,
            libraries: Vec::new(),
            cpus: Vec::new(),
            plan,
        };
        let frame = brief.frame();
        let text = name.to_string_lossy().into_owned().into_bytes();
        for part in secret.bytes().windows(4) {
            let hex: String = part.iter().map(|byte| format!("{byte:02x}")).collect();
            for seen in [&frame, &text] {
                assert!(!seen.windows(4).any(|it| it == part));
                assert!(!seen.windows(8).any(|it| it == hex.as_bytes()));
            }
        }
        // The helper can do without.
        let body = &frame[5..];
        assert_eq!(Brief::read(body).unwrap().plan.secret, None);
    }
}

//! What a launcher answers who watches its job: what there is, and a glance at each process. It is
//! text, as all that it answers: a line that says of which form it is, one of the summary, and one
//! of each process.

use catena_hang::Glance;
use catena_job::Exit;

use crate::summary::Summary;

/// The first line. The number changes with what follows.
const FORM: &str = "glances 1";

/// A process of a job, as its launcher knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessGlance {
    /// Its job: 0 for the first one of the launcher, else the number of the spawned job, from 1 on.
    pub job: u32,
    /// Its rank there.
    pub rank: u32,
    /// Its number on its host; 0 before it was started.
    pub pid: u32,
    /// Whether it runs, or is about to.
    pub running: bool,
    /// How it has ended; `None` if it has not, or nobody knows.
    pub exit: Option<Exit>,
    /// The name of its host.
    pub host: String,
    /// What is seen of it: `None` if it has not called MPI_Init, or its host does not tell.
    pub glance: Option<Glance>,
}

/// A job with those that it has spawned, at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobGlance {
    /// The launcher's process, as it is known here; zero if it is out of sight. It does not say
    /// that itself.
    pub launcher: u32,
    /// What there is, in a few words.
    pub summary: Summary,
    /// Its processes.
    pub processes: Vec<ProcessGlance>,
}

impl JobGlance {
    /// As [`JobGlance::read`] reads it.
    pub(crate) fn write(&self) -> String {
        let mut lines = vec![FORM.to_string(), self.summary.write()];
        lines.extend(self.processes.iter().map(ProcessGlance::write));
        lines.join("\n")
    }

    /// What a launcher has answered; `None` if that is of another form.
    pub(crate) fn read(text: &str) -> Option<JobGlance> {
        let mut lines = text.lines();
        if lines.next()? != FORM {
            return None;
        }
        Some(JobGlance {
            launcher: 0,
            summary: Summary::read(lines.next()?)?,
            processes: lines.map(ProcessGlance::read).collect::<Option<_>>()?,
        })
    }
}

impl ProcessGlance {
    fn write(&self) -> String {
        let state = match (self.running, self.exit) {
            (true, _) => "runs".to_string(),
            (false, Some(Exit::Code(code))) => format!("code{code}"),
            (false, Some(Exit::Signal(signal))) => format!("signal{signal}"),
            (false, None) => "gone".to_string(),
        };
        let is_bad = |it: char| it.is_whitespace() || it.is_control();
        let mut host = self.host.replace(is_bad, "?");
        if host.is_empty() {
            host.push('?');
        }
        let glance = match &self.glance {
            Some(glance) => glance.to_bytes().iter().fold(String::new(), |mut hex, it| {
                hex.extend(
                    [it >> 4, it & 15].map(|it| char::from(b"0123456789abcdef"[it as usize])),
                );
                hex
            }),
            None => "-".to_string(),
        };
        let ProcessGlance { job, rank, pid, .. } = self;
        format!("{job} {rank} {pid} {state} {host} {glance}")
    }

    fn read(line: &str) -> Option<ProcessGlance> {
        let mut words = line.split(' ');
        let mut number = || words.next()?.parse().ok();
        let (job, rank, pid) = (number()?, number()?, number()?);
        let state = words.next()?;
        let exit = match state {
            "runs" | "gone" => None,
            _ => Some(match state.strip_prefix("signal") {
                Some(signal) => Exit::Signal(signal.parse().ok()?),
                None => Exit::Code(state.strip_prefix("code")?.parse().ok()?),
            }),
        };
        let host = words.next()?.to_string();
        let glance = words.next()?;
        Some(ProcessGlance {
            job,
            rank,
            pid,
            running: state == "runs",
            exit,
            host,
            // One of another version tells nothing that can be read here.
            glance: bytes(glance).and_then(|bytes| Glance::read(&bytes).ok()),
        })
    }
}

/// The bytes of two digits each.
fn bytes(hex: &str) -> Option<Vec<u8>> {
    let digit = |it: u8| char::from(it).to_digit(16);
    let pairs = hex.as_bytes().chunks(2);
    let byte = |pair: &[u8]| match pair {
        [high, low] => Some((digit(*high)? << 4 | digit(*low)?) as u8),
        _ => None,
    };
    pairs.map(byte).collect()
}

#[cfg(test)]
mod tests {
    use catena_hang::{Member, Rank, State, Usage};

    use super::*;

    fn process(running: bool, exit: Option<Exit>, glance: Option<Glance>) -> ProcessGlance {
        ProcessGlance {
            job: 1,
            rank: 3,
            pid: 77,
            running,
            exit,
            host: "h1".into(),
            glance,
        }
    }

    #[test]
    fn what_a_launcher_answers_is_read() {
        let glance = Glance {
            rank: Rank {
                member: Member { job: 7, rank: 3 },
                host: "h1".into(),
                pid: 77,
                state: State::Running,
                at: u64::MAX,
                others: false,
                threads: Vec::new(),
            },
            usage: Some(Usage {
                processor: 1,
                resident: 2,
                shared: 3,
            }),
            counts: None,
        };
        let told = JobGlance {
            launcher: 0,
            summary: Summary {
                jobs: vec![7],
                ranks: (1, 4),
                hosts: 1,
                waiting: 0,
                program: "./a.out -n 3".into(),
            },
            processes: vec![
                process(true, None, Some(glance)),
                process(true, None, None),
                process(false, Some(Exit::Signal(9)), None),
                process(false, Some(Exit::Code(3)), None),
                process(false, None, None),
            ],
        };
        let text = told.write();
        assert_eq!(JobGlance::read(&text), Some(told));
        for other in [
            "",
            "glances 2\n7 1 4 1 0 a",
            "glances 1\n",
            "glances 1\n7 1 4 1 0 a\n1 2",
        ] {
            assert_eq!(JobGlance::read(other), None, "{other}");
        }
    }

    #[test]
    fn a_glance_of_another_form_is_none() {
        for hex in ["-", "0", "00", "zz"] {
            let read = ProcessGlance::read(&format!("0 1 2 runs h {hex}"));
            assert_eq!(read.expect("the rest can be read").glance, None, "{hex}");
        }
        let odd = ProcessGlance {
            host: "a b\n".into(),
            ..process(true, None, None)
        };
        assert_eq!(ProcessGlance::read(&odd.write()).unwrap().host, "a?b?");
    }
}

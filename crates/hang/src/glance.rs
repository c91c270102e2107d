//! A glance at a process of this host: what it does, as [`look`](crate::look()) sees it, with what
//! it has counted and what the kernel counts of it. Nobody is asked, and nothing is stopped.

use std::fs;
use std::io;

use catena_trace::{Counts, View};

use crate::bytes::{Malformed, Reader, Writer};
use crate::look::look;
use crate::rank::Rank;

/// Ticks in a second by which Linux tells of the time of processes, whatever its own clock is.
const TICKS: u64 = 100;

/// What the kernel counts of a process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// How long all of its threads have had a processor, milliseconds.
    pub processor: u64,
    /// Bytes of memory that it has.
    pub resident: u64,
    /// Bytes of these that it shares with others of its node.
    pub shared: u64,
}

impl Usage {
    /// That of the process of that number here; `None` if it has ended.
    pub fn of(pid: u32) -> Option<Usage> {
        let read = |name: &str| fs::read_to_string(format!("/proc/{pid}/{name}")).ok();
        Usage::read(&read("stat")?, &read("status")?)
    }

    fn read(stat: &str, status: &str) -> Option<Usage> {
        // Behind the name, which may have anything in it, from the third number on.
        let mut numbers = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
        let mut ticks = || numbers.next()?.parse::<u64>().ok();
        let ticks = ticks()?.saturating_add(ticks()?);
        let bytes = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            let kib: Option<u64> = line.and_then(|it| it.split_whitespace().next()?.parse().ok());
            kib.map_or(0, |kib| kib.saturating_mul(1024))
        };
        Some(Usage {
            processor: ticks.saturating_mul(1000 / TICKS),
            resident: bytes("VmRSS:"),
            shared: bytes("RssShmem:"),
        })
    }
}

/// A process of a job, with all that is counted of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glance {
    /// What it does.
    pub rank: Rank,
    /// What the kernel counts of it; `None` if it has ended, or is out of sight.
    pub usage: Option<Usage>,
    /// What it has counted; `None` if it has not told yet.
    pub counts: Option<Counts>,
}

impl Glance {
    /// A glance at a process whose number on this host is `pid`; `None` if that has ended.
    ///
    /// # Errors
    /// If its area cannot be read.
    pub fn of(view: &View<'_>, host: &str, pid: Option<u32>) -> io::Result<Glance> {
        Ok(Glance {
            rank: look(view, host, pid)?,
            usage: pid.and_then(Usage::of),
            counts: view.counts()?,
        })
    }

    /// In bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut w = Writer::default();
        w.bytes(&self.rank.to_bytes());
        w.u8(self.usage.is_some().into());
        let usage = self.usage.unwrap_or_default();
        w.u64(usage.processor);
        w.u64(usage.resident);
        w.u64(usage.shared);
        let counts = self.counts.as_ref().map(Counts::to_bytes);
        w.bytes(&counts.unwrap_or_default());
        w.0
    }

    /// What bytes say.
    ///
    /// # Errors
    /// If they are not those of [`Glance::to_bytes`].
    pub fn read(bytes: &[u8]) -> Result<Glance, Malformed> {
        let mut r = Reader(bytes);
        let rank = Rank::read(r.bytes()?)?;
        let is_used = r.u8()? != 0;
        let usage = Usage {
            processor: r.u64()?,
            resident: r.u64()?,
            shared: r.u64()?,
        };
        let counts = match r.bytes()? {
            [] => None,
            bytes => Some(Counts::read(bytes).ok_or(Malformed)?),
        };
        Ok(Glance {
            rank,
            usage: is_used.then_some(usage),
            counts,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rank::State;
    use crate::waits_for::Member;

    #[test]
    fn what_the_kernel_counts_is_read_behind_any_name() {
        let stat = "7 (a) b (c) S 1 2 3 4 5 6 7 8 9 10 123 45 0 0 20 0 1 0 9\n";
        let status = "Name:\tx\nVmRSS:\t  2048 kB\nRssAnon:\t 8 kB\nRssShmem:\t 4 kB\n";
        let usage = Usage::read(stat, status);
        let expected = Usage {
            processor: 1680,
            resident: 2 << 20,
            shared: 4096,
        };
        assert_eq!(usage, Some(expected));
        assert_eq!(Usage::read("7 (a) S 1", status), None);
        let own = Usage::of(std::process::id()).expect("this process runs");
        assert!(own.resident > 0);
        assert_eq!(Usage::of(u32::MAX), None);
    }

    #[test]
    fn what_is_written_is_read() {
        let rank = Rank {
            member: Member { job: 7, rank: 3 },
            host: "h".into(),
            pid: 5,
            state: State::Running,
            at: 9,
            others: false,
            threads: Vec::new(),
        };
        let usage = Usage {
            processor: 3,
            resident: 2,
            shared: 1,
        };
        let counts = Counts {
            at: 8,
            networks: "tcp".into(),
            ..Counts::default()
        };
        for (usage, counts) in [(None, None), (Some(usage), Some(counts))] {
            let rank = rank.clone();
            let glance = Glance {
                rank,
                usage,
                counts,
            };
            let bytes = glance.to_bytes();
            assert_eq!(Glance::read(&bytes), Ok(glance));
            for end in 0..bytes.len() {
                assert_eq!(Glance::read(&bytes[..end]), Err(Malformed), "{end}");
            }
        }
    }
}

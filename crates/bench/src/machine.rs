//! The machine that figures were taken on, as far as it matters to them.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Above this load, for each processor, other programs spoil figures.
const BUSY: f64 = 0.35;
/// How long the processors are watched where the load average is high.
const WATCH: Duration = Duration::from_secs(1);

/// What is known of a machine; empty or 0 where it does not tell.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// Name of the host.
    pub host: String,
    /// Kernel and its release.
    pub kernel: String,
    /// Model of the processor.
    pub processor: String,
    /// Processors that this process may use.
    pub cpus: usize,
    /// How their frequency is governed.
    pub governor: String,
    /// Bytes of memory.
    pub memory: u64,
    /// Programs that were running or waiting: on average over the last minute, or, where
    /// those were many, over a second before anything was measured.
    pub load: f64,
}

/// What the processors have done since the machine started, in ticks of its clock.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Ticks {
    busy: u64,
    all: u64,
}

impl Ticks {
    /// From the text of `/proc/stat`: its first line has the ticks of all processors, for user,
    /// nice, system, idle, iowait, irq, softirq and steal.
    fn from(stat: &str) -> Option<Ticks> {
        let line = stat.lines().next()?.strip_prefix("cpu ")?;
        let ticks: Vec<u64> = line
            .split_whitespace()
            .take(8)
            .map_while(|n| n.parse().ok())
            .collect();
        let all = ticks.iter().sum();
        let idle = ticks.get(3)? + ticks.get(4)?;
        Some(Ticks {
            busy: all - idle,
            all,
        })
    }

    /// The share of the time from `before` to here that processors were busy, if any has passed.
    fn share_since(self, before: Ticks) -> Option<f64> {
        let all = self.all.checked_sub(before.all).filter(|&all| all > 0)?;
        Some(self.busy.saturating_sub(before.busy) as f64 / all as f64)
    }
}

impl Machine {
    /// This one.
    pub fn this() -> Machine {
        let name = rustix::system::uname();
        let text = |s: &std::ffi::CStr| s.to_string_lossy().into_owned();
        let system = rustix::system::sysinfo();
        let cpuinfo = read("/proc/cpuinfo");
        let processor = cpuinfo.lines().find_map(|l| l.strip_prefix("model name"));
        let processor = processor
            .unwrap_or_default()
            .trim_start_matches(['\t', ' ', ':']);
        let load = read("/proc/loadavg");
        let load = load.split(' ').next().and_then(|l| l.parse().ok());
        Machine {
            host: text(name.nodename()),
            kernel: format!("{} {}", text(name.sysname()), text(name.release())),
            processor: processor.to_string(),
            cpus: std::thread::available_parallelism().map_or(0, |n| n.get()),
            governor: read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
                .trim()
                .into(),
            memory: system.totalram as u64 * u64::from(system.mem_unit),
            load: load.unwrap_or_default(),
        }
    }

    /// This one, just before it is measured. The load average remembers a program that has ended,
    /// be it a compiler or the measurement before this one; so where it is high, the processors are
    /// watched for a second.
    pub fn before_measuring() -> Machine {
        let mut this = Machine::this();
        if this.is_busy() {
            let ticks = || Ticks::from(&read("/proc/stat"));
            let before = ticks();
            thread::sleep(WATCH);
            if let (Some(before), Some(after)) = (before, ticks())
                && let Some(share) = after.share_since(before)
            {
                this.load = this.load.min(share * this.cpus as f64);
            }
        }
        this
    }

    fn is_busy(&self) -> bool {
        self.load > BUSY * self.cpus as f64
    }

    /// What may spoil figures, with a remedy each.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if self.is_busy() {
            warnings.push(format!(
                "other programs are busy here (load {:.1} on {} processors): intervals will be \
                 wide; measure when the machine is quiet",
                self.load, self.cpus
            ));
        }
        if !matches!(self.governor.as_str(), "" | "performance") {
            warnings.push(format!(
                "the processors change their frequency (governor {}): figures drift; \
                 set it to performance (cpupower frequency-set -g performance)",
                self.governor
            ));
        }
        warnings
    }
}

fn read(path: impl AsRef<Path>) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_is_known() {
        let this = Machine::this();
        assert!(
            !this.host.is_empty() && this.kernel.starts_with("Linux "),
            "{this:?}"
        );
        assert!(this.cpus > 0 && this.memory > 1 << 20);
    }

    #[test]
    fn the_share_of_busy_processors_is_read_from_the_kernels_ticks() {
        let of = |busy, idle| Ticks::from(&format!("cpu  {busy} 1 2 {idle} 4 5 6 7 8 9\ncpu0 1\n"));
        let (before, after) = (of(100, 1000).unwrap(), of(150, 1150).unwrap());
        assert_eq!((before.busy, before.all), (121, 1125));
        assert_eq!(after.share_since(before), Some(0.25));
        assert_eq!(before.share_since(before), None);
        assert_eq!(before.share_since(after), None);
        assert_eq!(Ticks::from("cpu 1 2 3"), None);
        assert_eq!(Ticks::from(""), None);
        assert!(Ticks::from(&read("/proc/stat")).is_some());
    }

    #[test]
    fn what_spoils_figures_is_told() {
        let mut machine = Machine {
            cpus: 2,
            load: 0.5,
            ..Machine::default()
        };
        assert!(machine.warnings().is_empty());
        machine.load = 1.2;
        machine.governor = "powersave".into();
        let warnings = machine.warnings();
        assert_eq!(warnings.len(), 2);
        assert!(warnings[0].contains("load 1.2") && warnings[1].contains("powersave"));
    }
}

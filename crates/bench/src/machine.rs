//! The machine that figures were taken on, as far as it matters to them.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

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
    /// Programs that were running or waiting during the last minute, on average.
    pub load: f64,
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

    /// What may spoil figures, with a remedy each.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if self.load > 0.35 * self.cpus as f64 {
            warnings.push(format!(
                "other programs are busy here (load {:.1} on {} processors): intervals will be wide; \
                 measure when the machine is quiet",
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

//! The line that says how far a session is; only on a terminal.

use std::collections::BTreeMap;
use std::io::{IsTerminal, Write};
use std::time::Duration;

use crate::raw::{Launch, Plan};
use crate::record::Record;
use crate::show;

/// The line, and what it is made of.
pub struct Progress {
    terminal: bool,
    /// Launches of the plan at least.
    fewest: u32,
    ended: u32,
    /// What is running.
    what: String,
    /// Seconds that each variant took with each number of ranks, and launches.
    took: BTreeMap<(usize, u32), (f64, u32)>,
}

impl Progress {
    /// Of a session that has not begun.
    pub fn new(plan: &Plan) -> Progress {
        Progress {
            terminal: std::io::stderr().is_terminal(),
            fewest: plan.launches.0 * (plan.variants.len() * plan.ranks.len()) as u32,
            ended: 0,
            what: String::new(),
            took: BTreeMap::new(),
        }
    }

    /// A launch is about to begin; `most`: seconds left for all, if there is an end to them.
    pub fn about(
        &mut self,
        plan: &Plan,
        round: u32,
        (variant, ranks): (usize, u32),
        most: Option<f64>,
    ) {
        let most = most.and_then(|s| Duration::try_from_secs_f64(s.max(0.0)).ok());
        let left = self.left(plan, round).into_iter().chain(most).min();
        let left = match left {
            Some(left) => format!(", {} left", duration(left)),
            None => String::new(),
        };
        let whole = match round < plan.launches.0 {
            true => format!("launch {} of {}", self.ended + 1, self.fewest),
            false => format!("launch {}, for narrower intervals", self.ended + 1),
        };
        let name = &plan.variants[variant].name;
        self.what = format!("{whole}{left}: {name}, {ranks} ranks");
        self.line("");
    }

    /// A record came.
    pub fn heard(&mut self, record: &Record) {
        if let Record::Samples(s) = record {
            self.line(&format!(": {} {}", s.bench, show::size(s.size)));
        }
    }

    /// A launch ended.
    pub fn ended(&mut self, launch: &Launch) {
        self.ended += 1;
        let took = self
            .took
            .entry((launch.begin.variant, launch.begin.place.ranks));
        let (seconds, launches) = took.or_default();
        *seconds += launch.seconds;
        *launches += 1;
    }

    /// Says something to the user, above the line.
    pub fn tell(&self, text: &str) {
        self.clear();
        show::tell(format_args!("catena bench: {text}\n"));
    }

    /// Takes the line away.
    pub fn clear(&self) {
        if self.terminal {
            show::tell(format_args!("\r\x1b[K"));
        }
    }

    /// How long it takes from this round on until the fewest launches are done, as far as it is
    /// known: every variant must have run once.
    fn left(&self, plan: &Plan, round: u32) -> Option<Duration> {
        let rounds = plan.launches.0.checked_sub(round).filter(|r| *r > 0)?;
        if self.took.len() < plan.variants.len() * plan.ranks.len() {
            return None;
        }
        let each: f64 = self.took.values().map(|(s, n)| s / f64::from(*n)).sum();
        Duration::try_from_secs_f64(each * f64::from(rounds)).ok()
    }

    fn line(&self, detail: &str) {
        if !self.terminal {
            return;
        }
        let width = rustix::termios::tcgetwinsize(std::io::stderr()).map_or(80, |w| w.ws_col);
        let text = format!("{}{detail}", self.what);
        let text: String = text
            .chars()
            .take(usize::from(width).saturating_sub(1))
            .collect();
        show::tell(format_args!("\r{text}\x1b[K"));
        let _ = std::io::stderr().flush();
    }
}

/// In words, to the minute or second.
fn duration(d: Duration) -> String {
    match d.as_secs() {
        s @ 0..100 => format!("{s} s"),
        s @ 100..6000 => format!("{} min", (s + 30) / 60),
        s => format!("{:.1} h", s as f64 / 3600.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::tests::launch;
    use crate::raw::tests::header;

    #[test]
    fn the_time_left_is_known_when_all_have_run_once() {
        let plan = header(&["a", "b"]).plan;
        let mut progress = Progress::new(&plan);
        assert_eq!(progress.fewest, 10);
        let mut slow = launch(0, 1, Vec::new());
        slow.seconds = 3.0;
        progress.ended(&slow);
        assert_eq!(progress.left(&plan, 0), None);
        progress.ended(&launch(1, 0, Vec::new()));
        assert_eq!(progress.left(&plan, 1), Some(Duration::from_secs(16)));
        assert_eq!(progress.left(&plan, 5), None, "no one knows");
        let told = [7, 150, 7200].map(|s| duration(Duration::from_secs(s)));
        assert_eq!(told, ["7 s", "3 min", "2.0 h"]);
    }
}

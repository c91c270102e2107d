//! What users ask about the job while it runs (`crate::inquiry`). All nodes are asked, as for the
//! report that comes by itself, and their answers are put into words.

use std::time::Duration;

use catena_hang::{Rank, find};
use catena_job::Question;

use super::hangs;
use super::nodes::Nodes;
use super::process::Processes;
use super::traces;
use crate::inquiry::{Inquiry, Summary};

/// How long from one look at the job to the next: those who wait tell so ten times a second.
pub const BETWEEN: Duration = Duration::from_millis(1100);

/// How long a rank has waited of which that is told.
const LONG: Duration = Duration::from_secs(1);

/// The question of the one who is served.
#[derive(Default)]
pub struct Inquiries {
    pending: Option<Pending>,
}

struct Pending {
    inquiry: Inquiry,
    /// The number of the question to all nodes that is under way, if one is.
    asked: Option<u32>,
    /// What was seen at the first look.
    before: Option<Vec<Rank>>,
}

/// What comes of an answer of all nodes.
pub enum Progress {
    /// It was to another question.
    Nothing,
    /// They are to be asked again after [`BETWEEN`].
    Again,
    /// That is the answer.
    Answer(String),
}

impl Inquiries {
    /// Somebody asks that: all nodes are asked.
    pub fn begin(&mut self, inquiry: Inquiry, nodes: &mut Nodes) {
        let question = match inquiry {
            Inquiry::Summary | Inquiry::Hang | Inquiry::HangAsJson => Question::Waits,
            Inquiry::Trace => Question::Traces,
        };
        self.pending = Some(Pending {
            inquiry,
            asked: Some(nodes.ask(question)),
            before: None,
        });
    }

    /// Asks again.
    pub fn look_again(&mut self, nodes: &mut Nodes) {
        if let Some(pending) = &mut self.pending {
            pending.asked = Some(nodes.ask(Question::WaitsInFull));
        }
    }

    /// All nodes have answered a question, which may be another one. `jobs` are the numbers of the
    /// jobs.
    pub fn answered(
        &mut self,
        number: u32,
        answer: &[u8],
        processes: &Processes,
        jobs: impl FnOnce() -> Vec<u64>,
    ) -> Progress {
        let pending = self.pending.as_mut();
        let Some(pending) = pending.filter(|it| it.asked == Some(number)) else {
            return Progress::Nothing;
        };
        pending.asked = None;
        let inquiry = pending.inquiry;
        let as_json = inquiry == Inquiry::HangAsJson;
        let text = match inquiry {
            Inquiry::Trace => traces::in_words(answer, processes),
            Inquiry::Summary => summary(&hangs::read(answer, processes).0, processes, jobs()),
            Inquiry::Hang | Inquiry::HangAsJson => {
                let (now, names) = hangs::read(answer, processes);
                let Some(before) = pending.before.take() else {
                    pending.before = Some(now);
                    return Progress::Again;
                };
                match find(&names, &before, &now, LONG) {
                    Some(found) if as_json => found.json(&names),
                    Some(found) => found.lines().join("\n"),
                    None if as_json => "null".to_string(),
                    None => "no rank has waited for more than 1 s".to_string(),
                }
            }
        };
        self.pending = None;
        Progress::Answer(text)
    }
}

/// What there is, in a line.
fn summary(ranks: &[Rank], processes: &Processes, jobs: Vec<u64>) -> String {
    let running = || processes.iter().filter(|it| it.running);
    let mut hosts: Vec<u32> = running().map(|it| it.node).collect();
    hosts.sort_unstable();
    hosts.dedup();
    let program = processes.iter().find(|it| it.job == 0).map(|it| {
        let args = it.app.args.iter().map(|arg| arg.to_string_lossy());
        let words = std::iter::once(it.app.program.to_string_lossy()).chain(args);
        words.collect::<Vec<_>>().join(" ")
    });
    // Numbers that nobody has any more are of no process.
    let all = processes
        .iter()
        .filter(|it| it.running || it.exit.is_some());
    let summary = Summary {
        jobs,
        ranks: (processes.running(), all.count() as u32),
        hosts: hosts.len() as u32,
        waiting: ranks.iter().filter(|rank| rank.is_stuck()).count() as u32,
        program: program.unwrap_or_default(),
    };
    summary.write()
}

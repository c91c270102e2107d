//! What users ask about the job while it runs (`crate::inquiry`). All nodes are asked, as for the
//! report that comes by itself, and their answers are put into words.

use std::collections::BTreeMap;
use std::time::Duration;

use catena_hang::{Glance, Rank, find};
use catena_job::Question;

use super::hangs;
use super::nodes::Nodes;
use super::process::Processes;
use super::traces;
use crate::glance::{JobGlance, ProcessGlance};
use crate::inquiry::Inquiry;
use crate::summary::Summary;

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
    /// Whether ranks were asked what they have counted.
    has_counted: bool,
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
            Inquiry::Explain | Inquiry::ExplainAsJson => Question::Count,
            Inquiry::Glances => Question::Glances,
        };
        self.pending = Some(Pending {
            inquiry,
            asked: Some(nodes.ask(question)),
            before: None,
            has_counted: false,
        });
    }

    /// Asks again.
    pub fn look_again(&mut self, nodes: &mut Nodes) {
        if let Some(pending) = &mut self.pending {
            let question = match pending.inquiry {
                Inquiry::Explain | Inquiry::ExplainAsJson => Question::Counted,
                _ => Question::WaitsInFull,
            };
            pending.asked = Some(nodes.ask(question));
        }
    }

    /// All nodes have answered a question, which may be another one. `jobs` are the numbers of the
    /// jobs; `explain` puts into words what ranks have counted, or into JSON.
    pub fn answered(
        &mut self,
        number: u32,
        answer: &[u8],
        processes: &Processes,
        jobs: impl FnOnce() -> Vec<u64>,
        explain: impl FnOnce(&[u8], bool) -> String,
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
            Inquiry::Explain | Inquiry::ExplainAsJson => {
                if !std::mem::replace(&mut pending.has_counted, true) {
                    return Progress::Again;
                }
                explain(answer, inquiry == Inquiry::ExplainAsJson)
            }
            Inquiry::Summary => {
                summary(&hangs::read(answer, processes).0, processes, jobs()).write()
            }
            Inquiry::Glances => glances(answer, processes, jobs()).write(),
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
fn summary(ranks: &[Rank], processes: &Processes, jobs: Vec<u64>) -> Summary {
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
    Summary {
        jobs,
        ranks: (processes.running(), all.count() as u32),
        hosts: hosts.len() as u32,
        waiting: ranks.iter().filter(|rank| rank.is_stuck()).count() as u32,
        program: program.unwrap_or_default(),
    }
}

/// All processes, with what their nodes have told of them.
fn glances(answer: &[u8], processes: &Processes, jobs: Vec<u64>) -> JobGlance {
    let mut told = BTreeMap::new();
    let mut rest = answer;
    while let Some((number, bytes, behind)) = hangs::part(rest) {
        rest = behind;
        if let Ok(glance) = Glance::read(bytes) {
            told.insert(number, glance);
        }
    }
    let each = processes.numbered();
    // Numbers that nobody has any more are of no process, and on no host.
    let each = each.filter(|(_, it)| it.running || it.exit.is_some() || !it.host.is_empty());
    let each = each.map(|(number, process)| ProcessGlance {
        job: process.job,
        rank: process.rank,
        pid: process.joined.unwrap_or(process.pid),
        running: process.running,
        exit: process.exit,
        host: process.host.to_string(),
        glance: told.remove(&number),
    });
    let all: Vec<ProcessGlance> = each.collect();
    let ranks: Vec<Rank> = all
        .iter()
        .filter_map(|it| Some(it.glance.as_ref()?.rank.clone()))
        .collect();
    JobGlance {
        launcher: 0,
        summary: summary(&ranks, processes, jobs),
        processes: all,
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use catena_hang::{Member, Need, State, Thread, WaitsFor, What};

    use super::super::process::Process;
    use super::*;
    use crate::hosts::tree::played::Played;

    const RANKS: u32 = 10_000;
    const EACH: u32 = 100;

    /// What the daemon of a host answers: one of all ranks receives from another one, and those
    /// wait for it in a barrier.
    fn answer(host: u32, question: Question) -> Vec<u8> {
        let (first, ranks) = (host * EACH, RANKS);
        let all = (first..first + EACH).map(|rank| {
            if question == Question::Traces {
                let lines = "       1  MPI_Barrier(comm=MPI_COMM_WORLD)\n".repeat(128);
                let head = [rank, lines.len() as u32].map(u32::to_le_bytes);
                return [head.concat(), lines.into_bytes()].concat();
            }
            let (what, call) = match rank {
                77 => (What::Message, "MPI_Recv"),
                _ => (What::Collective, "MPI_Barrier"),
            };
            let mut need = Need::new(what);
            match rank {
                77 => need.add(Member { job: 1, rank: 5 }),
                _ => (0..ranks).for_each(|rank| need.add(Member { job: 1, rank })),
            }
            need.together = rank != 77;
            need.about = "MPI_COMM_WORLD".to_string();
            let waits = WaitsFor {
                told: 9_000_000_000,
                frames: vec![0x40_1000; 8],
                needs: vec![need],
                ..WaitsFor::default()
            };
            let thread = Thread {
                thread: 1,
                calls: 9,
                call: call.to_string(),
                place: "solver.c:88".to_string(),
                waits: Some(waits),
                ..Thread::default()
            };
            let rank = Rank {
                member: Member { job: 1, rank },
                host: format!("h{host}"),
                pid: rank,
                state: State::Running,
                at: 9_000_000_000,
                others: false,
                threads: vec![thread],
            };
            let bytes = rank.to_bytes();
            let head = [rank.member.rank, bytes.len() as u32].map(u32::to_le_bytes);
            [head.concat(), bytes].concat()
        });
        all.collect::<Vec<_>>().concat()
    }

    /// What comes of an inquiry, and how long the launcher and the daemons take for it together.
    fn ask(nodes: &mut Played, processes: &Processes, inquiry: Inquiry, looks: usize) -> String {
        let pending = |asked| Pending {
            inquiry,
            asked,
            before: None,
            has_counted: false,
        };
        let mut inquiries = Inquiries {
            pending: Some(pending(None)),
        };
        let questions = match inquiry {
            Inquiry::Trace => [Question::Traces; 2],
            _ => [Question::Waits, Question::WaitsInFull],
        };
        let begin = std::time::Instant::now();
        for (number, question) in (0..).zip(&questions[..looks]) {
            inquiries.pending.as_mut().expect("it goes on").asked = Some(number);
            let answer = nodes.ask(*question);
            let explain = |_: &[u8], _| -> String { unreachable!("nobody asks for that") };
            let told = inquiries.answered(number, &answer, processes, || vec![1], explain);
            if let Progress::Answer(text) = told {
                let (took, bytes) = (begin.elapsed(), answer.len());
                catena_base::tell!("{inquiry:?} of {RANKS} ranks: {took:?}, {bytes} bytes");
                return text;
            }
        }
        panic!("no answer");
    }

    #[test]
    fn ten_thousand_ranks_of_a_hundred_daemons_are_put_into_words_at_once() {
        let (app, host): (_, Rc<str>) = (Rc::default(), "h".into());
        let process = |rank| {
            let running = true;
            let process = Process::new(Rc::clone(&app), rank / EACH, Rc::clone(&host), 0, rank);
            Process { running, ..process }
        };
        let processes: Processes = (0..RANKS).map(process).collect();
        let mut nodes = Played::new(RANKS / EACH, EACH, answer);
        let text = ask(&mut nodes, &processes, Inquiry::Hang, 2);
        let lines: Vec<_> = text.lines().collect();
        assert!(
            lines[0].starts_with("the job hangs: rank 77 waits in MPI_Recv (solver.c:88)"),
            "{text}"
        );
        assert_eq!(lines.len(), 4, "{text}");
        assert!(
            lines[3].starts_with("  ranks 0 to 76 and 78 to 9999 wait in MPI_Barrier"),
            "{text}"
        );
        let text = ask(&mut nodes, &processes, Inquiry::Summary, 1);
        assert!(text.starts_with("1 10000 10000 100 10000"), "{text}");
        let text = ask(&mut nodes, &processes, Inquiry::Trace, 1);
        assert_eq!(text.matches("MPI_Barrier").count(), 128 * RANKS as usize);
    }
}

//! Whether the job hangs.
//!
//! Ranks tell in memory what they have waited for longer than a second. Twice a second all nodes
//! are asked for those that do ([`Question::Waits`]); nobody else is troubled.
//! What lasted from one answer to the next is looked at (`catena_hang`): if some wait for ever, or
//! have waited long, all nodes are asked once more, for everything ([`Question::WaitsInFull`]), and
//! that is told.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use catena_boot::{HANG_AFTER, ON_HANG, OnHang};
use catena_hang::{Finding, Names, Rank, Watch};
use catena_job::{Plan, Question, setting};

use super::nodes::Nodes;
use super::process::Processes;

/// How long from one look to the next.
pub const EVERY: Duration = Duration::from_millis(500);

/// What is known of hanging.
pub struct Hangs {
    on_hang: OnHang,
    watch: Watch,
    /// Where findings are written as JSON.
    file: Option<PathBuf>,
    /// The number of the question that is under way.
    asked: Option<(u32, Question)>,
}

/// What comes of an answer.
pub enum Found {
    /// Nothing, or nothing new.
    Nothing,
    /// All nodes are to be asked for everything.
    More,
    /// The user is told that; and the job ends if it is to, as the status says.
    Tell(Vec<String>, Option<i32>),
}

/// Status of a job that was ended as it hangs.
pub const STATUS: i32 = 123;

impl Hangs {
    /// For a job of that plan.
    pub fn new(plan: &Plan, file: Option<PathBuf>) -> Hangs {
        Hangs {
            on_hang: setting(&ON_HANG, &plan.env),
            watch: Watch::new(setting(&HANG_AFTER, &plan.env)),
            file,
            asked: None,
        }
    }

    /// Whether anybody is to look.
    pub fn is_watching(&self) -> bool {
        self.on_hang != OnHang::Nothing
    }

    /// Asks all nodes, unless an answer is still to come.
    pub fn look(&mut self, nodes: &mut Nodes) {
        if self.asked.is_none() {
            self.ask(nodes, Question::Waits);
        }
    }

    /// Asks all nodes for everything.
    pub fn look_closer(&mut self, nodes: &mut Nodes) {
        self.ask(nodes, Question::WaitsInFull);
    }

    fn ask(&mut self, nodes: &mut Nodes, question: Question) {
        self.asked = Some((nodes.ask(question), question));
    }

    /// All nodes have answered a question, which may be another one.
    pub fn answered(&mut self, number: u32, answer: &[u8], processes: &Processes) -> Found {
        let Some((_, question)) = self.asked.take_if(|(asked, _)| *asked == number) else {
            return Found::Nothing;
        };
        let (ranks, names) = read(answer, processes);
        let found = self.watch.judge(&names, &ranks);
        if question == Question::Waits {
            // The closer look is next to the same one as this: so much later all have told again.
            if found.is_some() {
                return Found::More;
            }
            self.watch.see(ranks);
            return Found::Nothing;
        }
        let Some(found) = found else {
            return Found::Nothing;
        };
        self.watch.tell(&found);
        let mut lines = found.lines();
        lines.extend(self.write(&found, &names));
        let status = match (self.on_hang, found.definite) {
            (OnHang::End, true) => Some(STATUS),
            _ => None,
        };
        Found::Tell(lines, status)
    }

    /// Writes a finding to the file, if there is one; what to tell of that.
    fn write(&self, found: &Finding, names: &Names) -> Option<String> {
        let path = self.file.as_ref()?;
        let mut options = OpenOptions::new();
        let file = options.create(true).append(true).open(path);
        let written = file.and_then(|mut file| writeln!(file, "{}", found.json(names)));
        let error = written.err()?;
        Some(format!("  {} cannot be written: {error}", path.display()))
    }
}

/// The first of the parts of an answer that are each the number of a process, a length, and what
/// was told of the process; and what is behind it.
pub fn part(answer: &[u8]) -> Option<(u32, &[u8], &[u8])> {
    let (head, behind) = answer.split_first_chunk::<8>()?;
    let word = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
    let (told, behind) = behind.split_at_checked(word(4) as usize)?;
    Some((word(0), told, behind))
}

/// What all nodes have told of their ranks, and how these are called.
pub fn read(answer: &[u8], processes: &Processes) -> (Vec<Rank>, Names) {
    let (mut ranks, mut jobs) = (Vec::new(), BTreeMap::new());
    let mut rest = answer;
    while let Some((number, bytes, behind)) = part(rest) {
        rest = behind;
        let Ok(mut rank) = Rank::read(bytes) else {
            continue;
        };
        let Some(process) = processes.get(number) else {
            continue;
        };
        rank.host = process.host.to_string();
        let name = match process.job {
            0 => String::new(),
            job => format!(" of spawned job {job}"),
        };
        jobs.insert(rank.member.job, name);
        ranks.push(rank);
    }
    ranks.sort_by_key(|it| it.member);
    (ranks, Names { jobs })
}

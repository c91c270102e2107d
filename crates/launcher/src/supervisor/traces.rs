//! What ranks have called last, where the job fails: written to a file if the user has named one,
//! and of a rank that a signal has killed its last call is told in any case. The memory in which
//! ranks note their calls outlives them, as the launcher has it.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use catena_job::Question;

use super::nodes::Nodes;
use super::process::Processes;
use crate::report::Failure;

/// How long other hosts are waited for.
pub const PATIENCE: Duration = Duration::from_secs(2);

/// The last calls of ranks.
#[derive(Default)]
pub struct Traces {
    file: Option<PathBuf>,
    /// The number of the question to all nodes.
    asked: Option<u32>,
    /// What they have answered: lines, by the number of the process.
    known: Option<BTreeMap<u32, String>>,
}

impl Traces {
    /// Those that are written to a file, if the user has named one.
    pub fn new(file: Option<PathBuf>) -> Traces {
        Traces {
            file,
            ..Traces::default()
        }
    }

    /// Asks all nodes, if the job has failed by that and anything is to be told.
    pub fn ask(&mut self, failure: Option<&Failure>, nodes: &mut Nodes) {
        let is_wanted = failure.is_some_and(|it| self.file.is_some() || is_of_signal(it));
        if is_wanted && self.asked.is_none() {
            self.asked = Some(nodes.ask(Question::Traces));
        }
    }

    /// Whether an answer is still to come.
    pub fn is_waiting(&self) -> bool {
        self.asked.is_some() && self.known.is_none()
    }

    /// All nodes have answered the question with that number, which may be another one.
    pub fn answered(&mut self, number: u32, answer: &[u8]) {
        if self.asked == Some(number) {
            self.known = Some(read(answer));
        }
    }

    /// Writes the file, if there is to be one, and gives what is told behind the cause of a
    /// failure.
    pub fn tell(&mut self, failure: &Failure, processes: &Processes) -> Vec<String> {
        let Some(known) = self.known.take() else {
            return Vec::new();
        };
        let mut told = Vec::new();
        let of_rank = failure.rank.filter(|_| is_of_signal(failure));
        if let Some(lines) = of_rank.and_then(|rank| known.get(&rank))
            && let Some(call) = lines.lines().rfind(|line| line.starts_with("   "))
            && let Some((_, call)) = call.trim_start().split_once("  ")
        {
            told.push(format!("  its last MPI call was {call}"));
        }
        if let Some(path) = &self.file {
            let text = of_all(&known, processes);
            let path = path.display();
            told.push(match fs::write(path.to_string(), text) {
                Ok(()) => format!("  the last MPI calls of all ranks: catena trace {path}"),
                Err(error) => format!("  {path} cannot be written: {error}"),
            });
        }
        told
    }
}

/// What all nodes have answered, in words.
pub fn in_words(answer: &[u8], processes: &Processes) -> String {
    of_all(&read(answer), processes)
}

fn of_all(known: &BTreeMap<u32, String>, processes: &Processes) -> String {
    let each = known.iter().map(|(number, lines)| {
        let who = processes.get(*number).map_or(String::new(), |it| it.who());
        format!("{who}\n{lines}\n")
    });
    each.collect()
}

/// Whether a rank was killed by a signal.
fn is_of_signal(failure: &Failure) -> bool {
    let is_told = |text: &String| text.contains("was killed by signal");
    failure.rank.is_some() && failure.text.as_ref().is_some_and(is_told)
}

/// The texts of processes by their numbers.
fn read(answer: &[u8]) -> BTreeMap<u32, String> {
    let mut known = BTreeMap::new();
    let mut rest = answer;
    while let Some((head, behind)) = rest.split_first_chunk::<8>() {
        let word =
            |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let Some((text, behind)) = behind.split_at_checked(word(4) as usize) else {
            break;
        };
        known.insert(word(0), String::from_utf8_lossy(text).into_owned());
        rest = behind;
    }
    known
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_within_bounds() {
        let mut answer = Vec::new();
        for (number, text) in [(3_u32, "a\nb"), (0, "")] {
            answer.extend(number.to_le_bytes());
            answer.extend((text.len() as u32).to_le_bytes());
            answer.extend(text.as_bytes());
        }
        let known = read(&answer);
        assert_eq!(known[&3], "a\nb");
        assert_eq!(known.len(), 2);
        assert_eq!(read(&answer[..9]).len(), 0);
    }
}

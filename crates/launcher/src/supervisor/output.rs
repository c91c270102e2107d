//! What the ranks write, and what the launcher itself has to tell: shown, put into files, and taken
//! from the nodes as fast as somebody reads it.
//!
//! | module  | what it has                                                    |
//! |---------|----------------------------------------------------------------|
//! | `begun` | when lines are shown that ranks have begun and not ended       |
//! | `files` | files of each rank's own                                       |

use std::fmt::Display;
use std::io;
use std::ops::Range;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use catena_boot::Poller;
use catena_job::{NodeCommand, WINDOW};

use super::begun::{Begun, BegunLine};
use super::files::Files;
use super::process::Process;
use super::timeline::TraceFile;
use super::token;
use crate::args;
use crate::explain::Settings;
use crate::output::{Lines, Sink, Sinks, own_stream};
use crate::report;
use crate::stdin::Source;

/// This much of a node's output is taken before it is told.
const TAKEN: usize = WINDOW / 4;

/// What the user wants to see, and how long.
pub struct Show {
    /// The command that the user called.
    pub command: String,
    /// Where what ranks write goes, and how.
    pub output: args::Output,
    /// Whether to say what is started where.
    pub verbose: bool,
    /// What is to be said first of all.
    pub notes: Vec<String>,
    /// After which time everything is ended.
    pub timeout: Option<Duration>,
    /// Where it is written why the job hangs.
    pub hang_report: Option<PathBuf>,
    /// Where the last calls of ranks are written if the job fails.
    pub trace_report: Option<PathBuf>,
    /// Whether the program runs in checked mode, and where it is written what that finds.
    pub is_checked: bool,
    pub check_report: Option<PathBuf>,
    /// Whether the calls of the program are counted, and where it is written what comes of that.
    pub is_profiled: bool,
    pub profile_report: Option<PathBuf>,
    /// Where the calls of the program are written one by one.
    pub trace: Option<TraceFile>,
    /// Whether it is told at the end how messages and collectives went.
    pub is_explained: bool,
    /// Where that is written as JSON.
    pub explain_report: Option<PathBuf>,
    /// What settings and the model of collectives say of the job, for that and for who asks
    /// meanwhile.
    pub settings: Option<Settings>,
}

/// A rank's stdout or stderr.
struct Stream {
    lines: Lines,
    begun: BegunLine,
}

/// Where all that is written goes.
pub struct Output {
    /// The command that the user called, for messages.
    command: String,
    /// Whether to say what is started where.
    verbose: bool,
    /// Where what ranks write goes, and how.
    options: args::Output,
    /// The ranks that read the launcher's standard input, ascending.
    readers: Vec<u32>,
    /// stdout and stderr of each process, by its number.
    streams: Vec<[Stream; 2]>,
    sinks: Sinks,
    files: Files,
    /// Those of these that did not take what was to go there, when the user lost patience.
    lost: Vec<PathBuf>,
    /// The lines that were begun and not shown yet.
    begun: Begun,
    /// Bytes of output of each node that were taken and not told yet.
    taken: Vec<[usize; 2]>,
    /// What was said already.
    notes: Vec<String>,
}

impl Output {
    /// The output of a job of `size` ranks, of which `readers` read the launcher's standard input.
    ///
    /// # Errors
    /// If there is no descriptor left.
    pub fn new(show: Show, size: usize, readers: &[u32], poller: &Poller) -> io::Result<Output> {
        let mut sinks = Sinks::new([own_stream(false), own_stream(true)], token::SINK, poller)?;
        show.notes.iter().for_each(|text| sinks.tell(text));
        Ok(Output {
            command: show.command,
            verbose: show.verbose,
            readers: readers.to_vec(),
            streams: Vec::new(),
            sinks,
            files: Files::new(&show.output, size, token::FILES, poller)?,
            options: show.output,
            lost: Vec::new(),
            begun: Begun::default(),
            taken: Vec::new(),
            notes: Vec::new(),
        })
    }

    /// A process comes, whose number is new or was another one's.
    pub fn add(&mut self, number: u32, process: &Process) {
        let tag = self.options.tag(&match process.job {
            0 => process.rank.to_string(),
            job => format!("{job}.{}", process.rank),
        });
        let first = u64::from(number) * 2;
        let streams = [first, first + 1].map(|id| Stream {
            lines: Lines::new(id, tag.clone()),
            begun: BegunLine::default(),
        });
        match self.streams.get_mut(number as usize) {
            Some(vacant) => *vacant = streams,
            None => self.streams.push(streams),
        }
    }

    /// Tells the user a line, behind the name of the command. It is written when there is room, and
    /// nothing waits for that.
    pub fn say(&mut self, text: impl Display) {
        self.sinks.tell(format_args!("{}: {text}", self.command));
    }

    /// Tells the user lines as they are.
    pub fn tell(&mut self, text: &str) {
        self.sinks.tell(text);
    }

    /// A node has something to say, which may be what others have said before.
    pub fn note(&mut self, text: String, matters: bool) {
        if (matters || self.verbose) && !self.notes.contains(&text) {
            self.say(&text);
            self.notes.push(text);
        }
    }

    /// A process was started, and bound to these CPUs.
    pub fn started(&mut self, process: &Process, cpus: &str) {
        self.files.create(process);
        if self.verbose {
            let place = match cpus {
                "" => "not bound".to_string(),
                _ if cpus.bytes().all(|digit| digit.is_ascii_digit()) => {
                    format!("bound to CPU {cpus}")
                }
                _ => format!("bound to CPUs {cpus}"),
            };
            self.say(format_args!(
                "rank {} is {} on host {}, pid {}, {place}",
                process.rank,
                process.app.program.display(),
                process.host,
                process.pid
            ));
        }
    }

    /// A process wrote something to stdout (0) or stderr (1), or nothing more. Whether somebody may
    /// read it.
    pub fn write(&mut self, number: u32, process: &Process, which: usize, bytes: &[u8]) -> bool {
        let node = process.node as usize;
        if self.taken.len() <= node {
            self.taken.resize(node + 1, [0; 2]);
        }
        self.taken[node][which] += bytes.len();
        let to = self.options.target(which);
        self.files.write(process, to, bytes);
        if !self.options.is_shown(to) {
            return true;
        }
        let stream = &mut self.streams[number as usize][which];
        let sink = self.sinks.of(to);
        if bytes.is_empty() {
            stream.lines.flush(sink);
            stream.begun.end();
            return true;
        }
        if sink.closed().is_some() {
            return false;
        }
        stream.lines.push(bytes, sink);
        let asks = || self.readers.binary_search(&number).is_ok() && Source::may_answer();
        let is_unfinished = stream.lines.has_partial();
        let (key, line) = ((number, which), &mut stream.begun);
        self.begun.add(key, line, bytes.len(), is_unfinished, asks);
        true
    }

    /// Shows the lines whose rest was waited for long enough, and sees whether files take what goes
    /// there.
    pub fn tick(&mut self) {
        let now = Instant::now();
        while let Some((number, which)) = self.begun.take_due(now) {
            let Some(streams) = self.streams.get_mut(number as usize) else {
                continue;
            };
            let stream = &mut streams[which];
            let sink = self.sinks.of(self.options.target(which));
            if stream.begun.is_due(now, sink.is_behind()) {
                stream.lines.flush(sink);
            }
            self.begun.put_back((number, which), &mut stream.begun);
        }
        self.files.check();
    }

    /// When to call [`Output::tick`].
    pub fn next_time(&self) -> Option<Instant> {
        let files = self.files.next_time();
        self.begun.next_time().into_iter().chain(files).min()
    }

    /// Something was written to files, or cannot be: what went wrong, once.
    pub fn hear_files(&mut self) -> Option<String> {
        self.files.hear()
    }

    /// Writes what can be written. What the nodes are to know: how much was taken of their output,
    /// where there is room for more.
    pub fn flush(&mut self, poller: &Poller) -> Vec<NodeCommand> {
        let mut told = Vec::new();
        for which in 0..2 {
            let sink = self.sinks.of(self.options.target(which));
            sink.flush(poller);
            if sink.is_full() || self.files.is_full() {
                continue;
            }
            for (node, taken) in (0..).zip(&mut self.taken) {
                if taken[which] >= TAKEN {
                    let bytes = std::mem::take(&mut taken[which]) as u32;
                    told.push(NodeCommand::Taken { node, which, bytes });
                }
            }
        }
        told
    }

    /// Whether nobody reads the launcher's output any more.
    pub fn is_unread(&self) -> bool {
        let mut sinks = self.sinks.iter();
        sinks.any(|sink| sink.closed() == Some(io::ErrorKind::BrokenPipe))
    }

    /// Whether files have taken all, or never will.
    pub fn is_filed(&self) -> bool {
        self.files.is_empty()
    }

    /// Whether all was shown, or never will be.
    pub fn is_shown(&self) -> bool {
        self.sinks.iter().all(Sink::is_empty)
    }

    /// Passes on what there is of the unfinished lines of processes: their children may still hold
    /// their streams.
    pub fn end_lines(&mut self, numbers: Range<u32>) {
        for streams in &mut self.streams[numbers.start as usize..numbers.end as usize] {
            streams.iter_mut().for_each(|it| it.begun.end());
            let lines = streams.iter_mut().map(|it| &mut it.lines);
            self.sinks.end_lines(lines, self.options.merge);
        }
    }

    /// Passes on what there is of all unfinished lines.
    pub fn end_all_lines(&mut self) {
        self.end_lines(0..self.streams.len() as u32);
    }

    /// Drops what is left.
    pub fn give_up(&mut self) {
        self.sinks.iter_mut().for_each(Sink::give_up);
        if !self.files.is_empty() {
            self.lost = self.files.give_up();
        }
    }

    /// Tells at once, past what waits, that output was lost, if it was; `late` is what was not told
    /// before, as it came only when all was written that can be. Whether something was lost.
    pub fn tell_losses(&mut self, late: Option<&str>) -> bool {
        let command = self.command.clone();
        let mut lines: Vec<String> = Vec::new();
        let closed = self.sinks.iter().find_map(Sink::closed);
        if let Some(kind) = closed.filter(|&kind| kind != io::ErrorKind::BrokenPipe) {
            lines.extend(late.map(str::to_string));
            lines.push(format!("output was lost: {kind}"));
        }
        if !self.lost.is_empty() {
            let lost = report::not_taken(&self.lost);
            lines.push(format!("output was lost: {lost}"));
        }
        for line in &lines {
            self.sinks.of(1).tell_at_once(&format!("{command}: {line}"));
        }
        !lines.is_empty()
    }
}

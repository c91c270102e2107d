//! A running job: one loop that serves the ranks, passes their output on, and
//! ends what has to be ended.
//!
//! Every rank leads a process group, so its children end with it. A rank that
//! has ended stays a zombie until the job is over: its number, which is that
//! of its group, cannot be used by somebody else meanwhile.

mod lifecycle;

use std::io::{self, PipeReader, PipeWriter};
use std::time::{Duration, Instant};

use catena_boot::server::{Event, Server};
use catena_boot::{Interest, Poller};

use crate::output::{Lines, Sink, own_stream};
use crate::report::Failure;
use crate::stdin::Forward;
use crate::sys::{self, Exit, Signals, Warden};

/// How long ranks that were asked to end may take, before they are killed.
const GRACE: Duration = Duration::from_millis(400);

/// How long the ranks may go on when one that had finalized failed, or when one
/// says that another is gone.
const LATE: Duration = Duration::from_millis(400);

/// How long a rank may take from closing its connection without a word to
/// ending, or the others from its end to theirs. Leaving out MPI_Finalize is
/// wrong, but programs do it, and their ranks end one after the other: those of
/// the OSU latency test with threads a second apart.
const SILENT: Duration = Duration::from_secs(2);

/// After that, an unfinished line of the rank that reads input is shown.
const PROMPT: Duration = Duration::from_millis(50);

/// How often to look whether the launcher is in the foreground again.
const FOREGROUND: Duration = Duration::from_millis(200);

/// How long a failed job waits for somebody to read its output.
const PATIENCE: Duration = Duration::from_secs(1);

/// After that, it is strange that a rank has ended without MPI while others
/// use it.
const STRANGE: Duration = Duration::from_secs(1);

/// Tokens of the poller; smaller ones are streams.
mod token {
    pub const FIRST: u64 = u64::MAX - 6;
    pub const SERVER: u64 = FIRST;
    pub const SIGNALS: u64 = FIRST + 1;
    pub const FAILURES: u64 = FIRST + 2;
    pub const STDIN: u64 = FIRST + 3;
    pub const STDIN_RANK: u64 = FIRST + 4;
    /// And the next one for stderr.
    pub const SINK: u64 = FIRST + 5;
}

/// A rank's stdout or stderr.
struct Stream {
    /// Until its end was seen.
    pipe: Option<PipeReader>,
    lines: Lines,
    /// When its unfinished line is to be shown.
    prompt: Option<Instant>,
}

/// One rank.
pub struct Process {
    pid: i32,
    app: usize,
    exit: Option<Exit>,
    /// The process that has called MPI_Init: this one or a child of it.
    joined: Option<u32>,
    finalized: bool,
    /// Whether it wanted the end, and so may take its time to end.
    aborted: bool,
    streams: [Stream; 2],
}

impl Process {
    /// One that was just started. `tag` is what its lines begin with.
    pub fn new(pid: i32, app: usize, rank: u32, pipes: [PipeReader; 2], tag: &[u8]) -> Process {
        let mut stream = u64::from(rank) * 2;
        let streams = pipes.map(|pipe| {
            let lines = Lines::new(stream, tag.to_vec());
            stream += 1;
            Stream {
                pipe: Some(pipe),
                lines,
                prompt: None,
            }
        });
        Process {
            pid,
            app,
            exit: None,
            joined: None,
            finalized: false,
            aborted: false,
            streams,
        }
    }

    fn running(&self) -> bool {
        self.exit.is_none()
    }
}

/// What to do at some time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Task {
    /// End the job, as it has taken too long.
    Timeout(Duration),
    /// Ask the ranks to end.
    End,
    /// Kill the ranks that are left.
    Kill,
    /// See whether a rank that closed its connection has ended properly.
    CheckSilent(u32),
    /// See whether others use MPI while a rank has ended without.
    CheckStrange(u32),
}

/// Everything about a running job.
pub struct Job {
    /// The command that the user called, for messages.
    pub command: String,
    /// Name of this machine.
    pub host: String,
    /// Names of the programs.
    pub programs: Vec<String>,
    /// Their working directories, if given.
    pub wdirs: Vec<Option<String>>,
    /// By rank.
    pub processes: Vec<Process>,
    /// Wire-up.
    pub server: Server,
    /// Signals to this process.
    pub signals: Signals,
    /// Where processes report that they could not execute their program; the
    /// other end stays open, as a pipe without one is always ready.
    pub failures: (PipeReader, PipeWriter),
    /// Kills the ranks if this process is killed.
    pub warden: Warden,
    /// If standard input is a terminal.
    pub forward: Option<Forward>,
    /// Whose unfinished lines are shown soon.
    pub stdin_rank: Option<u32>,
    /// Knows all descriptors.
    pub poller: Poller,
    sinks: [Sink; 2],
    /// Whether the streams of a sink wait for it to have room.
    paused: [bool; 2],
    tasks: Vec<(Instant, Task)>,
    failure: Option<Failure>,
    /// How many ranks were still running when the job was ended.
    ended: usize,
    /// Whether the ranks were asked to end.
    ending: bool,
    /// Whether all have ended.
    finishing: bool,
}

/// What [`Job::new`] is made of.
pub struct Parts {
    pub command: String,
    pub programs: Vec<String>,
    pub wdirs: Vec<Option<String>>,
    pub server: Server,
    pub signals: Signals,
    pub failures: (PipeReader, PipeWriter),
    pub warden: Warden,
    pub stdin_rank: Option<u32>,
    pub timeout: Option<Duration>,
}

/// The token for standard input, for [`Forward::open`].
pub const STDIN_TOKENS: (u64, u64) = (token::STDIN, token::STDIN_RANK);

impl Job {
    /// One without ranks.
    pub fn new(parts: Parts, poller: Poller) -> io::Result<Job> {
        poller.add(&parts.server, token::SERVER, Interest::Read)?;
        poller.add(&parts.signals, token::SIGNALS, Interest::Read)?;
        poller.add(&parts.failures.0, token::FAILURES, Interest::Read)?;
        let sinks =
            [false, true].map(|e| Sink::new(own_stream(e), token::SINK + u64::from(e), &poller));
        let timeout = parts
            .timeout
            .map(|limit| (Instant::now() + limit, Task::Timeout(limit)));
        Ok(Job {
            command: parts.command,
            host: catena_boot::host_name(),
            programs: parts.programs,
            wdirs: parts.wdirs,
            processes: Vec::new(),
            server: parts.server,
            signals: parts.signals,
            failures: parts.failures,
            warden: parts.warden,
            forward: None,
            stdin_rank: parts.stdin_rank,
            poller,
            sinks,
            paused: [false; 2],
            tasks: timeout.into_iter().collect(),
            failure: None,
            ended: 0,
            ending: false,
            finishing: false,
        })
    }

    /// Adds a rank, the next one in order.
    pub fn add(&mut self, process: Process) -> io::Result<()> {
        self.warden.watch(process.pid);
        for stream in &process.streams {
            if let Some(pipe) = &stream.pipe {
                sys::set_nonblocking(pipe)?;
                self.poller.add(pipe, stream.lines.id(), Interest::Read)?;
            }
        }
        self.processes.push(process);
        Ok(())
    }

    /// Works until all ranks have ended and all is written; gives the status.
    pub fn run(mut self) -> i32 {
        while self.processes.iter().any(Process::running) {
            self.turn();
        }
        self.finish()
    }

    /// Waits for something to happen and handles it.
    fn turn(&mut self) {
        let limit = self
            .next_time()
            .map(|at| at.saturating_duration_since(Instant::now()));
        let ready = self.poller.wait(limit).unwrap_or_default();
        for &ready in &ready {
            match ready {
                token::SERVER => self.serve(),
                token::SIGNALS => {
                    while let Some(signal) = self.signals.next() {
                        self.signal(signal);
                    }
                }
                token::FAILURES => {
                    if let Some((rank, stage, error)) = sys::read_failure(&self.failures.0) {
                        self.not_started(rank, stage, &error);
                    }
                }
                token::STDIN => {
                    if let Some(forward) = &mut self.forward {
                        forward.read(&self.poller);
                    }
                }
                token::STDIN_RANK => {
                    if let Some(forward) = &mut self.forward {
                        forward.write(&self.poller);
                    }
                }
                // Both sinks are flushed below.
                sink if sink >= token::SINK => {}
                stream => {
                    self.read((stream / 2) as usize, (stream % 2) as usize);
                }
            }
        }
        if let Some(forward) = &mut self.forward {
            forward.resume(&self.poller);
        }
        self.do_tasks();
        self.show_prompts();
        self.flush();
    }

    /// When something is to be done next.
    fn next_time(&self) -> Option<Instant> {
        let tasks = self.tasks.iter().map(|(at, _)| *at);
        let prompts = self
            .prompter()
            .into_iter()
            .flat_map(|p| &p.streams)
            .filter_map(|s| s.prompt);
        let suspended = self.forward.as_ref().is_some_and(Forward::is_suspended);
        let resume = suspended.then(|| Instant::now() + FOREGROUND);
        tasks.chain(prompts).chain(resume).min()
    }

    /// The rank that may be asking something.
    fn prompter(&self) -> Option<&Process> {
        self.processes.get(self.stdin_rank? as usize)
    }

    /// Shows lines that were begun a while ago and may be questions.
    fn show_prompts(&mut self) {
        let Some(rank) = self.stdin_rank else { return };
        let Some(process) = self.processes.get_mut(rank as usize) else {
            return;
        };
        let now = Instant::now();
        for (stream, sink) in process.streams.iter_mut().zip(&mut self.sinks) {
            if stream.prompt.is_some_and(|at| at <= now) {
                stream.lines.flush(sink);
                stream.prompt = None;
            }
        }
    }

    /// Reads what a rank wrote. Gives whether there may be more.
    fn read(&mut self, rank: usize, which: usize) -> bool {
        let Some(process) = self.processes.get_mut(rank) else {
            return false;
        };
        let (stream, sink) = (&mut process.streams[which], &mut self.sinks[which]);
        let Some(pipe) = &stream.pipe else {
            return false;
        };
        let mut buffer = [0; 64 << 10];
        match sys::read(pipe, &mut buffer) {
            Ok(n) if n > 0 && sink.closed().is_none() => {
                stream.lines.push(&buffer[..n], sink);
                let prompting = self.stdin_rank == Some(rank as u32) && stream.lines.has_partial();
                stream.prompt = prompting.then(|| Instant::now() + PROMPT);
                true
            }
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
                ) =>
            {
                false
            }
            // The end; or nobody wants to read it, which the rank shall learn.
            _ => {
                stream.lines.flush(sink);
                stream.prompt = None;
                if !self.paused[which] {
                    let _ = self.poller.remove(pipe);
                }
                stream.pipe = None;
                false
            }
        }
    }

    /// Writes what can be written, and lets the ranks wait while that is too
    /// little.
    fn flush(&mut self) {
        for which in 0..2 {
            let sink = &mut self.sinks[which];
            sink.flush(own_stream(which == 1), &self.poller);
            let full = sink.is_full();
            if full == self.paused[which] || self.finishing {
                continue;
            }
            self.paused[which] = full;
            for process in &self.processes {
                let stream = &process.streams[which];
                let Some(pipe) = &stream.pipe else { continue };
                let _ = match full {
                    true => self.poller.remove(pipe),
                    false => self.poller.add(pipe, stream.lines.id(), Interest::Read),
                };
            }
        }
    }

    /// All ranks have ended: takes what is left of their output and of their
    /// children.
    fn finish(mut self) -> i32 {
        self.kill_all(libc::SIGKILL);
        self.watch_sinks_only();
        for which in 0..2 {
            for rank in 0..self.processes.len() {
                while self.read(rank, which) {
                    self.flush();
                    if self.sinks[which].is_full() {
                        self.write_out();
                    }
                }
                let lines = &mut self.processes[rank].streams[which].lines;
                lines.flush(&mut self.sinks[which]);
            }
        }
        self.write_out();
        self.warden.stop();
        for process in &self.processes {
            sys::reap(process.pid);
        }
        if let Some(kind) = self.sinks.iter().find_map(Sink::closed)
            && kind != io::ErrorKind::BrokenPipe
        {
            eprintln!("{}: output was lost: {kind}", self.command);
            self.failure.get_or_insert(Failure::silent(1));
        }
        let Some(failure) = &self.failure else {
            self.mention_silent();
            return 0;
        };
        if let Some(text) = &failure.text {
            let others = failure.rank.map(|_| self.processes.len() - 1);
            let rest = crate::report::rest(self.ended, others);
            eprintln!("{}: {text}{rest}", self.command);
        }
        failure.status
    }

    /// From now on, waits for room to write and for signals.
    fn watch_sinks_only(&mut self) {
        self.finishing = true;
        // Without a new one, the old one reports more than is wanted.
        let Ok(poller) = Poller::new() else { return };
        self.poller = poller;
        let _ = self
            .poller
            .add(&self.signals, token::SIGNALS, Interest::Read);
        for (sink, error) in self.sinks.iter_mut().zip([false, true]) {
            sink.watch_again(own_stream(error), &self.poller);
        }
    }

    /// Waits until all is written, or drops it if the user loses patience, or
    /// if nobody reads what a failed job has written.
    fn write_out(&mut self) {
        self.flush();
        while self.sinks.iter().any(|sink| !sink.is_empty()) {
            let patience = self.failure.is_some().then_some(PATIENCE);
            let ready = self.poller.wait(patience).unwrap_or_default();
            let mut lost = ready.is_empty() && patience.is_some();
            while let Some(signal) = self.signals.next() {
                if matches!(
                    signal,
                    libc::SIGINT | libc::SIGTERM | libc::SIGQUIT | libc::SIGHUP
                ) {
                    self.failure
                        .get_or_insert(crate::report::interrupted(signal));
                    lost = true;
                }
            }
            if lost {
                self.sinks.iter_mut().for_each(Sink::give_up);
            }
            self.flush();
        }
    }

    /// Takes in what ranks told the server.
    fn serve(&mut self) {
        for event in self.server.step() {
            match event {
                Event::Joined { rank, pid } => self.processes[rank as usize].joined = Some(pid),
                Event::Finalized { rank } => self.processes[rank as usize].finalized = true,
                Event::Resumed { rank } => self.processes[rank as usize].finalized = false,
                Event::Abort {
                    rank,
                    code,
                    message,
                } => self.abort(rank, code, &message),
                Event::Broken { rank, cause, .. } => self.broken(rank, &cause),
                Event::Left { rank, .. } => self.left(rank),
            }
        }
        self.check_fence();
    }
}

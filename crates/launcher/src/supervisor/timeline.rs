//! The calls of the program one by one: a trace, which is written while the job runs.
//!
//! All nodes are asked again and again for what their ranks have called since. Their answers have
//! the packets of the trace and what their clocks show. A thread writes them to the file, so that a
//! slow disk keeps nobody waiting: if too much waits to be written, nodes are asked no more, and
//! ranks count the calls that they have no room for.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use catena_job::Question;
use catena_profile::timeline::{Clocks, Exchange, Part, Written, parts};

use super::nodes::Nodes;
use crate::clock;

/// How long from one question to the next. All of them compare clocks; where there is nothing to
/// compare, and an answer has room for all that there is, there are fewer of them.
const SOON: Duration = Duration::from_millis(20);
const LATER: Duration = Duration::from_millis(50);

/// How long other hosts are waited for at the end.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// How long a file may take nothing when the job is over.
pub const STUCK: Duration = Duration::from_secs(10);
/// How long it may do so when the user has interrupted the job.
pub const STUCK_IN_HASTE: Duration = Duration::from_secs(1);

/// Where messages have no arrows.
const ARROWS: &str = "of calls that failed, that MPI_ANY_SOURCE had done in another order, that threads \
                      made at once, or that were made within other calls";

/// Most bytes that wait to be written.
const WAITING: usize = 64 << 20;

/// Where a trace is written.
pub struct TraceFile {
    /// Its name.
    pub path: PathBuf,
    /// Open for writing.
    pub file: File,
}

/// A trace that is being written, if one is.
#[derive(Default)]
pub struct Timeline {
    trace: Option<Trace>,
}

struct Trace {
    path: PathBuf,
    sink: Sink,
    /// The number of the question that is under way, and when it was asked.
    asked: Option<(u32, u64)>,
    /// Whether a node has told that it has more.
    has_more: bool,
    /// The node of this process, if it has one.
    own: Option<u32>,
    /// Whether the last answer was all that there was, and of that node alone.
    is_quiet: bool,
    /// Whether all was asked for, and has come.
    is_complete: bool,
    clocks: Clocks,
    written: BTreeMap<u32, Written>,
    /// Packets of nodes of whose clocks too little is known yet.
    held: BTreeMap<u32, Vec<u8>>,
    was_told: bool,
}

impl Timeline {
    /// A trace in that file; `own` is the node of this process, if it has one.
    pub fn new(file: Option<TraceFile>, own: Option<u32>) -> io::Result<Timeline> {
        let Some(TraceFile { path, file }) = file else {
            return Ok(Timeline::default());
        };
        // The first question is to find it known.
        clock::scale();
        Ok(Timeline {
            trace: Some(Trace {
                path,
                sink: Sink::start(file)?,
                asked: None,
                has_more: false,
                own,
                is_quiet: false,
                is_complete: false,
                clocks: Clocks::new(own),
                written: BTreeMap::new(),
                held: BTreeMap::new(),
                was_told: false,
            }),
        })
    }

    /// Whether anybody is to ask while the job runs.
    pub fn is_watching(&self) -> bool {
        self.trace.is_some()
    }

    /// How long until the next question.
    pub fn pause(&self) -> Duration {
        match self.trace.as_ref().is_some_and(|it| it.is_quiet) {
            true => LATER,
            false => SOON,
        }
    }

    /// Asks all nodes, unless an answer is still to come or much waits to be written. What to tell
    /// the user, if the file cannot be written any more.
    pub fn look(&mut self, nodes: &mut Nodes) -> Option<String> {
        let trace = self.trace.as_mut()?;
        if let Some(error) = trace.sink.error() {
            return trace.tell_once(&error);
        }
        if trace.asked.is_none() && trace.sink.waiting() < WAITING {
            trace.ask(Question::Timeline, nodes);
        }
        None
    }

    /// Whether a node has more than it has told.
    pub fn has_more(&self) -> bool {
        let trace = self.trace.as_ref();
        trace.is_some_and(|it| it.has_more && it.asked.is_none())
    }

    /// Asks for what is left, when all ranks have ended. To be called again until nothing is
    /// awaited.
    pub fn ask_at_end(&mut self, nodes: &mut Nodes) {
        if let Some(trace) = self.trace.as_mut().filter(|it| it.asked.is_none()) {
            trace.ask(Question::EndOfTimeline, nodes);
        }
    }

    /// Whether an answer is still to come.
    pub fn is_waiting(&self) -> bool {
        self.trace.as_ref().is_some_and(|it| it.asked.is_some())
    }

    /// All nodes have answered a question, which may be another one.
    pub fn answered(&mut self, number: u32, answer: &[u8]) {
        let Some(trace) = &mut self.trace else {
            return;
        };
        let Some((_, asked)) = trace.asked.take_if(|it| it.0 == number) else {
            return;
        };
        let heard = clock::now();
        trace.has_more = false;
        let parts = parts(answer);
        // A node that knows no thread that calls looks for one when it is asked.
        let is_quiet =
            |it: &Part| trace.own == Some(it.node) && it.written.threads > 0 && !it.has_more;
        trace.is_quiet = !parts.is_empty() && parts.iter().all(is_quiet);
        for part in parts {
            let exchange = Exchange {
                asked,
                there: part.clock,
                heard,
            };
            if let Some(snapshot) = trace.clocks.add(part.node, exchange) {
                trace.sink.write(snapshot);
            }
            trace.write(part.node, part.packets);
            trace.written.insert(part.node, part.written);
            trace.has_more |= part.has_more;
        }
    }

    /// All that nodes had was asked for.
    pub fn complete(&mut self) {
        let Some(trace) = &mut self.trace else {
            return;
        };
        trace.is_complete = trace.asked.is_none();
        let held: Vec<u32> = trace.held.keys().copied().collect();
        for node in held {
            if let Some(snapshot) = trace.clocks.settle(node, clock::now()) {
                trace.sink.write(snapshot);
            }
            trace.write(node, Vec::new());
        }
    }

    /// Whether all is written that was to be, after [`end`](Timeline::end).
    pub fn is_written(&self) -> bool {
        self.trace.as_ref().is_none_or(|it| it.sink.is_done())
    }

    /// Nothing more is to be written.
    pub fn end(&mut self) {
        if let Some(trace) = &mut self.trace {
            trace.sink.sender = None;
        }
    }

    /// Bytes that wait to be written.
    pub fn waiting(&self) -> usize {
        self.trace.as_ref().map_or(0, |it| it.sink.waiting())
    }

    /// Gives what is to be told. What is not written yet never will be.
    pub fn tell(&mut self) -> Vec<String> {
        let Some(mut trace) = self.trace.take() else {
            return Vec::new();
        };
        if !trace.sink.is_done() {
            return vec![format!(
                "the trace in {} is not complete: nobody has taken the last {} bytes of it, as its reader \
                 or its file system does not go on",
                trace.path.display(),
                trace.sink.waiting()
            )];
        }
        match trace.sink.error() {
            Some(error) => trace.tell_once(&error).into_iter().collect(),
            None => trace.tell(),
        }
    }
}

impl Trace {
    fn ask(&mut self, question: Question, nodes: &mut Nodes) {
        let now = clock::now();
        self.asked = Some((nodes.ask(question), now));
    }

    /// Writes packets of a node, once enough is known of its clock.
    fn write(&mut self, node: u32, packets: Vec<u8>) {
        if !self.clocks.is_known(node) {
            let held = self.held.entry(node).or_default();
            held.extend(packets);
            return;
        }
        if let Some(held) = self.held.remove(&node) {
            self.sink.write(held);
        }
        if !packets.is_empty() {
            self.sink.write(packets);
        }
    }

    fn tell_once(&mut self, error: &str) -> Option<String> {
        if std::mem::replace(&mut self.was_told, true) {
            return None;
        }
        Some(format!(
            "the trace cannot be written to {}: {error}; it ends here, and the program goes on",
            self.path.display()
        ))
    }

    fn tell(&self) -> Vec<String> {
        let sum = |of: fn(&Written) -> u64| self.written.values().map(of).sum::<u64>();
        let path = self.path.display();
        if sum(|it| it.threads) == 0 {
            return vec![format!(
                "the trace in {path} is empty: no rank has called MPI_Init of Catena, or there was no \
                 memory for its calls on its host"
            )];
        }
        let mut told = vec![format!(
            "the trace is in {path}: {} calls; https://ui.perfetto.dev opens it, and sends it nowhere",
            sum(|it| it.slices)
        )];
        if let Some(bound) = self.clocks.bound() {
            told.push(format!(
                "times of different hosts are right within {:.0} us in it",
                (bound as f64 / 1e3).ceil()
            ));
        }
        let lost = sum(|it| it.lost);
        if lost > 0 {
            told.push(format!(
                "{lost} calls are missing in it, as they came faster than they could be written; it \
                 shows where; trace a part of the program, or fewer ranks on a host"
            ));
        }
        let left_out = sum(|it| it.left_out);
        if left_out > 0 {
            told.push(format!(
                "the calls of {left_out} threads are missing in it, as a host has room for 4,000 threads"
            ));
        }
        let unmatched = sum(|it| it.unmatched);
        if unmatched > 0 {
            told.push(format!(
                "{unmatched} ends of messages have no arrow in it, as it is not known which send and \
                 receive belong together: {ARROWS}"
            ));
        }
        if !self.is_complete {
            told.push("its end is missing, as hosts have not told it in time".to_string());
        }
        told
    }
}

/// A thread that writes a file.
struct Sink {
    sender: Option<mpsc::Sender<Vec<u8>>>,
    waiting: Arc<AtomicUsize>,
    error: Arc<Mutex<Option<String>>>,
    thread: JoinHandle<()>,
}

impl Sink {
    /// One that writes from the beginning of the file.
    fn start(mut file: File) -> io::Result<Sink> {
        // Devices and pipes have no length.
        if file.metadata()?.is_file() {
            file.set_len(0)?;
        }
        let (sender, receiver) = mpsc::channel::<Vec<u8>>();
        let waiting = Arc::new(AtomicUsize::new(0));
        let error = Arc::new(Mutex::new(None));
        let (left, failed) = (waiting.clone(), error.clone());
        let thread = thread::Builder::new().name("trace file".into());
        let thread = thread.spawn(move || {
            for bytes in receiver {
                if let Err(error) = file.write_all(&bytes) {
                    let mut failed = failed.lock().unwrap_or_else(PoisonError::into_inner);
                    *failed = Some(error.to_string());
                    return;
                }
                left.fetch_sub(bytes.len(), Relaxed);
            }
        })?;
        Ok(Sink {
            sender: Some(sender),
            waiting,
            error,
            thread,
        })
    }

    fn write(&self, bytes: Vec<u8>) {
        if let Some(sender) = &self.sender {
            self.waiting.fetch_add(bytes.len(), Relaxed);
            // If the thread has ended, it has told why.
            _ = sender.send(bytes);
        }
    }

    /// Bytes that wait to be written.
    fn waiting(&self) -> usize {
        self.waiting.load(Relaxed)
    }

    fn error(&self) -> Option<String> {
        let error = self.error.lock().unwrap_or_else(PoisonError::into_inner);
        error.clone()
    }

    /// Whether the thread has ended.
    fn is_done(&self) -> bool {
        self.thread.is_finished()
    }
}

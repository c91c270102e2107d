//! What ranks write into files of their own (`--output-filename`, `-outfile-pattern`), as it comes.
//!
//! mpirun writes all of them, also for ranks on other hosts. Threads do so, as to open or write a
//! file may take for ever: a pipe that nobody reads, a file system that does not answer. Usually
//! there is one. Where it gets stuck, others write the other files.
//!
//! | field of `FilesState` | rule                                                                   |
//! |-----------------------|------------------------------------------------------------------------|
//! | `files`               | a file has one thread at a time, while `is_busy`                       |
//! | `ready`               | the files that have something to do, and no thread                     |
//! | all                   | under the lock, which nobody holds while files are opened or written   |

use std::collections::{HashMap, VecDeque};
use std::fs::File;
use std::io::{self, PipeReader, PipeWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use catena_boot::{Interest, Poller};

use super::process::Process;
use crate::args::Output;
use crate::sys;

/// Files that are kept open. Of more than that each is opened again for what comes for it.
const OPEN: usize = 256;

/// More is not taken from ranks while so much is not written, bytes.
const FULL: usize = 1 << 20;

/// After this time without progress there is one more thread, at first.
const STUCK: Duration = Duration::from_millis(50);

/// The files that output goes to.
pub struct Files {
    /// By stream; see [`Output::files`].
    patterns: [Option<String>; 2],
    /// Digits of the highest rank.
    width: usize,
    /// Whether stderr goes where stdout does.
    merge: bool,
    shared: Arc<Shared>,
    /// What becomes readable when something was written or has failed.
    told: PipeReader,
    workers: usize,
    /// When there were to be more, if nothing had been written by then; and what was written
    /// before.
    check: Option<(Instant, u64)>,
}

/// What the threads have in common.
struct Shared {
    state: Mutex<FilesState>,
    work: Condvar,
    tell: PipeWriter,
}

#[derive(Default)]
struct FilesState {
    files: HashMap<PathBuf, Known>,
    ready: VecDeque<PathBuf>,
    /// Bytes that are not written yet, and files that are to be made.
    bytes: usize,
    unmade: usize,
    /// How many files have descriptors.
    open: usize,
    /// Threads that wait for work.
    idle: usize,
    /// How often something was written.
    done: u64,
    /// What went wrong, until it is told; nothing more is written after that.
    error: Option<(PathBuf, io::Error)>,
    has_failed: bool,
}

/// One file. What was in it before the job is gone once it was made.
#[derive(Default)]
struct Known {
    waiting: Vec<u8>,
    file: Option<File>,
    is_made: bool,
    is_busy: bool,
    /// How many streams go there that have not ended. Whoever reads it sees its end with the last
    /// one.
    streams: u32,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, FilesState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a thread does: writes what there is, file by file.
    fn work(&self) {
        let mut state = self.lock();
        loop {
            let Some(path) = state.ready.pop_front() else {
                state.idle += 1;
                let waited = self.work.wait(state);
                state = waited.unwrap_or_else(PoisonError::into_inner);
                state.idle -= 1;
                continue;
            };
            let known = state.files.entry(path.clone()).or_default();
            known.is_busy = true;
            let bytes = std::mem::take(&mut known.waiting);
            let (file, is_made) = (known.file.take(), known.is_made);
            let was_open = usize::from(file.is_some());
            drop(state);
            let written = write(&path, file, is_made, &bytes);
            state = self.lock();
            state.wrote(&path, &bytes, written, (is_made, was_open));
            // Whoever is to hear that hears of it soon if there is no room.
            let _ = sys::write(&self.tell, &[0]);
        }
    }
}

impl FilesState {
    /// Something was written into a file that was made or not before, and had a descriptor or not.
    fn wrote(
        &mut self,
        path: &Path,
        bytes: &[u8],
        written: io::Result<File>,
        (was_made, was_open): (bool, usize),
    ) {
        self.done += 1;
        self.bytes = self.bytes.saturating_sub(bytes.len());
        self.unmade = self.unmade.saturating_sub(usize::from(!was_made));
        self.open -= was_open;
        match written {
            Ok(file) => {
                let keep = self.open < OPEN;
                self.open += usize::from(keep);
                if let Some(known) = self.files.get_mut(path) {
                    known.file = Some(file).filter(|_| keep);
                    (known.is_made, known.is_busy) = (true, false);
                    if !known.waiting.is_empty() {
                        self.ready.push_back(path.to_path_buf());
                    }
                }
                self.close_if_done(path);
            }
            Err(error) => {
                if !self.has_failed {
                    self.error = Some((path.to_path_buf(), error));
                }
                self.drop_all();
            }
        }
    }

    /// Closes a file to which nothing more comes.
    fn close_if_done(&mut self, path: &Path) {
        if let Some(known) = self.files.get_mut(path)
            && known.streams == 0
            && !known.is_busy
            && known.waiting.is_empty()
        {
            self.open -= usize::from(known.file.take().is_some());
        }
    }

    /// Nothing more is written.
    fn drop_all(&mut self) {
        self.has_failed = true;
        self.ready.clear();
        (self.bytes, self.unmade) = (0, 0);
    }
}

/// Writes `bytes` to the end of a file, which is opened, or made with its folder, if there is no
/// `file` yet.
fn write(path: &Path, file: Option<File>, is_made: bool, bytes: &[u8]) -> io::Result<File> {
    let mut options = File::options();
    let mut file = match (file, is_made) {
        (Some(file), _) => file,
        (None, true) => options.append(true).open(path)?,
        (None, false) => {
            if let Some(folder) = path.parent() {
                std::fs::create_dir_all(folder)?;
            }
            options.write(true).create(true).truncate(true).open(path)?
        }
    };
    file.write_all(bytes)?;
    Ok(file)
}

impl Files {
    /// The files of the ranks of a job that has `size` of them. The poller tells by `token` that
    /// [`Files::hear`] has something to do.
    ///
    /// # Errors
    /// If there is no descriptor left.
    pub fn new(output: &Output, size: usize, token: u64, poller: &Poller) -> io::Result<Files> {
        let (told, tell) = io::pipe()?;
        sys::set_nonblocking(&tell)?;
        sys::set_nonblocking(&told)?;
        poller.add(&told, token, Interest::Read)?;
        Ok(Files {
            patterns: output.files.clone(),
            width: size.saturating_sub(1).to_string().len(),
            merge: output.merge,
            shared: Arc::new(Shared {
                state: Mutex::default(),
                work: Condvar::new(),
                tell,
            }),
            told,
            workers: 0,
            check: None,
        })
    }

    /// Makes the files of a process, so that they are there also if it writes nothing.
    pub fn create(&mut self, process: &Process) {
        for which in 0..2 {
            if let Some(path) = self.path(process, which) {
                let streams = match (self.merge, which) {
                    (false, _) => 1,
                    (true, 0) => 2,
                    (true, _) => 0,
                };
                let mut state = self.shared.lock();
                let known = state.files.get_mut(&path);
                let is_new = known.map(|known| known.streams += streams).is_none();
                drop(state);
                if is_new {
                    self.make(path, streams);
                }
            }
        }
    }

    /// Adds what a process has written to one of its streams, which ends if that is nothing. Never
    /// waits.
    pub fn write(&mut self, process: &Process, which: usize, bytes: &[u8]) {
        let which = if self.merge { 0 } else { which };
        let Some(path) = self.path(process, which) else {
            return;
        };
        if !bytes.is_empty() {
            return self.add(path, bytes);
        }
        let mut state = self.shared.lock();
        if let Some(known) = state.files.get_mut(&path) {
            known.streams = known.streams.saturating_sub(1);
            state.close_if_done(&path);
        }
    }

    /// Where a stream of a process goes.
    fn path(&self, process: &Process, which: usize) -> Option<PathBuf> {
        let pattern = self.patterns[which].as_ref()?;
        let (job, rank) = (process.job, process.rank);
        Some(name(pattern, job, rank, self.width, &process.host).into())
    }

    fn make(&mut self, path: PathBuf, streams: u32) {
        let mut state = self.shared.lock();
        if state.has_failed {
            return;
        }
        let known = Known {
            streams,
            ..Known::default()
        };
        state.files.insert(path.clone(), known);
        state.unmade += 1;
        state.ready.push_back(path);
        drop(state);
        self.go_on();
    }

    fn add(&mut self, path: PathBuf, bytes: &[u8]) {
        let mut state = self.shared.lock();
        if state.has_failed {
            return;
        }
        // Processes write once they were started, and so it is there.
        let Some(known) = state.files.get_mut(&path) else {
            return;
        };
        let is_listed = known.is_busy || !known.is_made || !known.waiting.is_empty();
        known.waiting.extend_from_slice(bytes);
        state.bytes += bytes.len();
        if !is_listed {
            state.ready.push_back(path);
        }
        drop(state);
        self.go_on();
    }

    /// Has a thread do what is ready.
    fn go_on(&mut self) {
        self.shared.work.notify_one();
        if self.workers == 0 {
            self.start(1);
        }
    }

    /// Starts more threads.
    fn start(&mut self, count: usize) {
        for _ in 0..count {
            let shared = Arc::clone(&self.shared);
            let thread = thread::Builder::new().name("files".into());
            match thread.spawn(move || shared.work()) {
                Ok(_) => self.workers += 1,
                // Those that there are go on.
                Err(_) if self.workers > 0 => return,
                Err(error) => {
                    let mut state = self.shared.lock();
                    state.error = Some((PathBuf::new(), error));
                    state.drop_all();
                    return;
                }
            }
        }
    }

    /// Something may have been written. What went wrong, in words, once.
    pub fn hear(&mut self) -> Option<String> {
        while sys::read(&self.told, &mut [0; 256]).is_ok_and(|n| n > 0) {}
        let (path, error) = self.shared.lock().error.take()?;
        let path = path.display();
        Some(format!(
            "what ranks write cannot be put into {path}: {error}"
        ))
    }

    /// When to call [`Files::check`] next, at the latest.
    pub fn next_time(&self) -> Option<Instant> {
        self.check.map(|(at, _)| at)
    }

    /// Has more threads if those that there are have made no progress for a while although there is
    /// something to do.
    pub fn check(&mut self) {
        let now = Instant::now();
        let state = self.shared.lock();
        let (waits, done, ready) = (state.idle == 0, state.done, state.ready.len());
        drop(state);
        if ready == 0 || !waits {
            self.check = None;
            return;
        }
        match self.check {
            Some((at, before)) if done == before && now >= at => {
                self.start(self.workers.min(ready));
                self.check = Some((now + STUCK, done));
            }
            Some((_, before)) if done == before => {}
            _ => self.check = Some((now + STUCK, done)),
        }
    }

    /// Whether ranks should wait, as much is not written.
    pub fn is_full(&self) -> bool {
        self.shared.lock().bytes > FULL
    }

    /// Whether all is written, or never will be.
    pub fn is_empty(&self) -> bool {
        let state = self.shared.lock();
        state.bytes == 0 && state.unmade == 0
    }

    /// Drops what is not written yet and all that comes. The files that it was to go to, by name.
    pub fn give_up(&mut self) -> Vec<PathBuf> {
        let mut state = self.shared.lock();
        let is_stuck = |known: &Known| known.is_busy || !known.is_made || !known.waiting.is_empty();
        let stuck = state.files.iter().filter(|(_, known)| is_stuck(known));
        let mut stuck: Vec<PathBuf> = stuck.map(|(path, _)| path.clone()).collect();
        stuck.sort();
        state.drop_all();
        stuck
    }
}

/// The name of a file: of `pattern`, `%r` is the rank (`J.R` in the spawned job J), `%R` the rank
/// with as many digits as the highest one has, `%j` the number of the job, from 1 on, `%h` the host
/// and `%%` a percent sign.
fn name(pattern: &str, job: u32, rank: u32, width: usize, host: &str) -> String {
    let mut name = String::new();
    let mut rest = pattern.chars();
    while let Some(c) = rest.next() {
        if c != '%' {
            name.push(c);
            continue;
        }
        match rest.next() {
            Some('r') if job > 0 => name += &format!("{job}.{rank}"),
            Some('r') => name += &rank.to_string(),
            Some('R') => name += &format!("{rank:0width$}"),
            Some('j') => name += &(job + 1).to_string(),
            Some('h') => name += host,
            Some('%') => name.push('%'),
            other => {
                name.push('%');
                name.extend(other);
            }
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_the_pattern() {
        let of = |pattern, job| name(pattern, job, 7, 3, "n0");
        assert_eq!(of("out.%r.%h", 0), "out.7.n0");
        assert_eq!(of("out.%r", 2), "out.2.7");
        assert_eq!(of("d/%j/rank.%R/stdout", 0), "d/1/rank.007/stdout");
        assert_eq!(of("100%%-%x-%", 0), "100%-%x-%");
    }
}

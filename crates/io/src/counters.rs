//! What was done with files, counted for each of them.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use catena_abi::File;
use catena_base::clock;

/// What is counted.
#[derive(Debug, Default)]
pub struct Counts {
    /// Bytes read from it.
    pub read: AtomicU64,
    /// Bytes written to it.
    pub written: AtomicU64,
    /// Runs of bytes that were asked of the file system: system calls, but for those that finish
    /// short transfers.
    pub calls: AtomicU64,
    /// Bytes that were read because they lie between those that were asked for.
    pub gaps: AtomicU64,
    /// Time that threads spent in reading and writing, in ticks of the clock.
    pub time: AtomicU64,
    /// Time that members spent in exchanging bytes before they go to the file, or after it, in
    /// ticks.
    pub exchange: AtomicU64,
    /// Bytes that were sent to other hosts for that.
    pub sent: AtomicU64,
}

/// The counters of an open file.
#[derive(Debug, Default)]
pub struct FileCounters {
    /// What any thread counts.
    by_any: Counts,
    /// What is counted under the library's lock: where there is one writer, no locked instruction
    /// is needed.
    by_one: Counts,
    /// Members that went to the file for all in the collective call that exchanged last.
    pub aggregators: AtomicU64,
}

/// One of them.
pub type Which = fn(&Counts) -> &AtomicU64;

impl FileCounters {
    /// Adds to one. Any thread may.
    #[inline]
    pub fn add(&self, which: Which, more: u64) {
        if more != 0 {
            which(&self.by_any).fetch_add(more, Relaxed);
        }
    }

    /// Adds to one under the library's lock; what it was, without what other threads have added.
    #[inline]
    pub fn add_alone(&self, which: Which, more: u64) -> u64 {
        let counter = which(&self.by_one);
        let old = counter.load(Relaxed);
        counter.store(old.wrapping_add(more), Relaxed);
        old
    }

    /// What one has come to.
    pub fn get(&self, which: Which) -> u64 {
        let both = [&self.by_any, &self.by_one].map(|it| which(it).load(Relaxed));
        both[0].wrapping_add(both[1])
    }

    /// Those that add up.
    const SUMS: [Which; 7] = [
        |it| &it.read,
        |it| &it.written,
        |it| &it.calls,
        |it| &it.gaps,
        |it| &it.time,
        |it| &it.exchange,
        |it| &it.sent,
    ];
}

#[derive(Debug, Default)]
struct Files {
    open: Vec<(File, Arc<FileCounters>)>,
    /// The sums of those that are closed.
    closed: FileCounters,
    opened: u64,
}

static FILES: Mutex<Option<Files>> = Mutex::new(None);

/// The files of this process, for `use_it`.
fn with<T>(use_it: impl FnOnce(&mut Files) -> T) -> T {
    let mut files: MutexGuard<'_, _> = FILES.lock().unwrap_or_else(PoisonError::into_inner);
    use_it(files.get_or_insert_default())
}

/// A file is open.
pub fn open(file: File, counters: Arc<FileCounters>) {
    with(|files| {
        files.open.push((file, counters));
        files.opened += 1;
    });
}

/// It is closed; what was counted stays in the sums.
pub fn close(file: File) {
    with(|files| {
        let Some(at) = files.open.iter().position(|it| it.0 == file) else {
            return;
        };
        let (_, counters) = files.open.swap_remove(at);
        for which in FileCounters::SUMS {
            files.closed.add(which, counters.get(which));
        }
    });
}

/// The counters of an open file.
pub fn of(file: File) -> Option<Arc<FileCounters>> {
    with(|files| {
        let found = files.open.iter().find(|it| it.0 == file);
        found.map(|it| it.1.clone())
    })
}

/// How many files were opened.
pub fn opened() -> u64 {
    with(|files| files.opened)
}

/// The sum over all files, also over those that are closed.
pub fn total(which: Which) -> u64 {
    with(|files| {
        let open = files.open.iter().map(|it| it.1.get(which));
        files.closed.get(which) + open.sum::<u64>()
    })
}

/// Ticks in nanoseconds.
pub fn nanoseconds(ticks: u64) -> u64 {
    clock::duration(ticks).as_nanos() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_outlive_the_files() {
        let file = File(0x4711);
        let counters = Arc::new(FileCounters::default());
        let before = total(|it| &it.sent);
        open(file, counters.clone());
        counters.add(|it| &it.sent, 2);
        counters.add_alone(|it| &it.sent, 3);
        assert_eq!(total(|it| &it.sent), before + 5);
        assert!(of(file).is_some());
        close(file);
        assert!(of(file).is_none());
        assert_eq!(total(|it| &it.sent), before + 5);
    }
}

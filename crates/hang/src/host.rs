//! The jobs of this host, whoever has started them: each of their processes has the memory open in
//! which they tell what they do.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;

use catena_trace::{AREA, OFFSET, View, Who};

use crate::look::{look, state_of};
use crate::rank::{Rank, State};

/// How the memory is called where processes have it open.
const NAME: &str = "/memfd:catena";

/// A job, as far as it is on this host.
#[derive(Debug)]
pub struct HostJob {
    file: File,
    /// Its number, which other jobs of the host do not have.
    pub job: u64,
    /// How many ranks it has on all hosts.
    pub ranks: u32,
    /// Its processes here by their places, in the order of their ranks.
    pub here: Vec<(u32, Who)>,
}

/// The jobs on this host whose processes this user may look at.
///
/// # Errors
/// If there is no `/proc`.
pub fn jobs() -> io::Result<Vec<HostJob>> {
    let mut files: BTreeMap<u64, File> = BTreeMap::new();
    for entry in fs::read_dir("/proc")?.flatten() {
        let is_process = entry
            .file_name()
            .to_str()
            .is_some_and(|it| it.parse::<u32>().is_ok());
        // The descriptors of another user's process cannot be read.
        let descriptors = match is_process {
            true => fs::read_dir(entry.path().join("fd")),
            false => continue,
        };
        for descriptor in descriptors.into_iter().flatten().flatten() {
            let path = descriptor.path();
            let is_ours =
                fs::read_link(&path).is_ok_and(|to| to.to_string_lossy().starts_with(NAME));
            if !is_ours {
                continue;
            }
            if let Ok(file) = File::open(&path)
                && let Ok(about) = file.metadata()
                && about.len() >= OFFSET + AREA as u64
            {
                files.entry(about.ino()).or_insert(file);
            }
        }
    }
    Ok(files.into_values().filter_map(HostJob::of).collect())
}

impl HostJob {
    /// The job whose memory a file is; `None` if no process uses it.
    fn of(file: File) -> Option<HostJob> {
        let most = file.metadata().ok()?.len().saturating_sub(OFFSET) / AREA as u64;
        let mut here = Vec::new();
        // They have the first places, but for those that have not begun.
        let mut unused = 0;
        for place in 0..u32::try_from(most).unwrap_or(u32::MAX) {
            match View::open(&file, place) {
                Ok(Some(view)) => {
                    here.push((place, view.who()));
                    unused = 0;
                }
                Ok(None) if unused < UNUSED => unused += 1,
                _ => break,
            }
        }
        let (_, who) = *here.first()?;
        Some(HostJob {
            file,
            job: who.job,
            ranks: who.ranks,
            here,
        })
    }

    /// What is seen of its processes here.
    pub fn look(&self, host: &str) -> Vec<Rank> {
        let views = self.here.iter().filter_map(|&(place, who)| {
            let view = View::open(&self.file, place).ok()??;
            let is_there = state_of(who.pid) != State::Ended;
            look(&view, host, is_there.then_some(who.pid)).ok()
        });
        views.collect()
    }

    /// What to look at one of them by.
    pub fn view(&self, place: u32) -> Option<View<'_>> {
        View::open(&self.file, place).ok()?
    }
}

/// Places in a row that nobody uses, behind which nobody is looked for.
const UNUSED: u32 = 1024;

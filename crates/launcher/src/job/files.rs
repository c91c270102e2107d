//! What ranks write into files of their own (`--output-filename`, `-outfile-pattern`), as it comes.
//!
//! mpirun writes all of them, also for ranks on other hosts.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::Process;
use crate::args::Output;

/// Files that are kept open. Of more than that each is opened again for what comes for it.
const OPEN: usize = 256;

/// The files that output goes to.
pub(super) struct Files {
    /// By stream; see [`Output::files`].
    patterns: [Option<String>; 2],
    /// Digits of the highest rank.
    width: usize,
    /// Those that were begun in this job; what was in them before is gone.
    begun: HashSet<PathBuf>,
    open: HashMap<PathBuf, File>,
}

impl Files {
    /// The files of the ranks of a job that has `size` of them.
    pub fn new(output: &Output, size: usize) -> Files {
        Files {
            patterns: output.files.clone(),
            width: size.saturating_sub(1).to_string().len(),
            begun: HashSet::new(),
            open: HashMap::new(),
        }
    }

    /// Makes the files of a process, so that they are there also if it writes nothing. What went wrong, in words.
    pub fn create(&mut self, process: &Process, hosts: &[String]) -> Option<String> {
        (0..2).find_map(|which| self.write(process, hosts, which, &[]))
    }

    /// Adds what a process has written to one of its streams. What went wrong, in words; nothing more is written to
    /// files then.
    pub fn write(
        &mut self,
        process: &Process,
        hosts: &[String],
        which: usize,
        bytes: &[u8],
    ) -> Option<String> {
        let pattern = self.patterns[which].as_ref()?;
        let host = hosts.get(process.node as usize).map_or("", String::as_str);
        let path = PathBuf::from(name(pattern, process.job, process.rank, self.width, host));
        let error = self.append(&path, bytes).err()?;
        self.patterns = [None, None];
        Some(format!(
            "what ranks write cannot be put into {}: {error}",
            path.display()
        ))
    }

    fn append(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        if let Some(file) = self.open.get_mut(path) {
            return file.write_all(bytes);
        }
        let is_new = self.begun.insert(path.to_path_buf());
        if let (true, Some(folder)) = (is_new, path.parent()) {
            std::fs::create_dir_all(folder)?;
        }
        if self.open.len() >= OPEN {
            self.open.clear();
        }
        let mut options = File::options();
        let options = match is_new {
            true => options.write(true).create(true).truncate(true),
            false => options.append(true),
        };
        let mut file = options.open(path)?;
        file.write_all(bytes)?;
        self.open.insert(path.to_path_buf(), file);
        Ok(())
    }
}

/// The name of a file: of `pattern`, `%r` is the rank (`J.R` in the spawned job J), `%R` the rank with as many digits as the
/// highest one has, `%j` the number of the job, from 1 on, `%h` the host and `%%` a percent sign.
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

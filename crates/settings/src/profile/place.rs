//! The place where a profile is written: what may be replaced there, and how.
//!
//! Nothing is lost. A file that is no profile of this machine and version is never replaced: either
//! it is refused, before anything is measured for it, or it is a profile of another machine or
//! version, and stays beside the new one.

use std::collections::hash_map::RandomState;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::hash::{BuildHasher, Hasher};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::fs::{Access, FlockOperation, access, flock};
use rustix::io::Errno;

use super::{Fitness, Jobs, Measured, PROFILE, Profile, path, read};
use crate::file;

/// How long to wait for another command that writes in the same folder.
const PATIENCE: Duration = Duration::from_secs(10);

/// The most profiles of other machines and versions that are kept beside the one that is written.
const MOST_OLD: u32 = 99;

/// A place where a profile can be written.
#[derive(Clone, Debug)]
pub struct Place {
    path: PathBuf,
    /// Whether the environment names it.
    is_named: bool,
    found: Found,
}

/// What is at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Found {
    Nothing,
    /// A profile of this machine and version.
    Fit(Profile),
    /// A profile of another machine or version: how they differ.
    Unfit(String),
}

/// What has become of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Nothing, as there was nothing to change.
    None,
    /// It was written.
    Written,
    /// It was written, and the profile of another machine or version that it was before is here.
    Replaced(PathBuf),
}

impl Place {
    /// The place that the environment names, or the usual one.
    ///
    /// # Errors
    /// If no profile can be written there, in words with a remedy: what is there is none, or cannot
    /// be read, or its folder cannot be written to.
    pub fn find() -> Result<Place, String> {
        Place::named(std::env::var_os(PROFILE).as_deref())
    }

    pub(super) fn named(named: Option<&OsStr>) -> Result<Place, String> {
        let named = named.filter(|name| !name.is_empty());
        let name = named.map(|name| {
            name.to_str().ok_or(format!(
                "the name of a profile that {PROFILE} has, {}, is no UTF-8; name another place",
                name.display()
            ))
        });
        let path = path(name.transpose()?).ok_or(format!(
            "there is no place for a profile: {PROFILE} names none, and HOME no folder"
        ))?;
        Ok(Place {
            is_named: named.is_some(),
            found: look(&path)?,
            path,
        })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether there is a file.
    pub fn is_there(&self) -> bool {
        self.found != Found::Nothing
    }

    /// What will become of a profile that is there and is of another machine or version, in words.
    pub fn warning(&self) -> Option<String> {
        let Found::Unfit(why) = &self.found else {
            return None;
        };
        Some(format!(
            "{} is of another machine or version ({why}): what is kept here replaces it, and it \
             stays beside that under a name that ends in .old",
            self.path.display()
        ))
    }

    /// Changes the values in the profile, or in a new one. The file is not touched where that
    /// changes nothing. A profile without values is made only where the environment names a file
    /// that does not exist, which would be told at each start of a program.
    ///
    /// # Errors
    /// What is wrong, and what to do.
    pub fn change(&self, edit: impl Fn(&mut Profile)) -> Result<Change, String> {
        let failed = |what: &Path, error: io::Error| {
            let what = what.display();
            format!("{what} cannot be written: {error}; name another place by {PROFILE}")
        };
        // A link stays one.
        let target = fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone());
        let folder = target.parent().unwrap_or(Path::new("/"));
        let edit = |profile: &mut Profile| {
            edit(profile);
            profile.values.retain(|_, values| !values.is_empty());
        };
        let mut new = Profile {
            fitness: Fitness::here(),
            ..Profile::default()
        };
        if !self.is_there() {
            let mut first = new.clone();
            edit(&mut first);
            if first.values.is_empty() && !self.is_named {
                return Ok(Change::None);
            }
            fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
        }
        let _lock = lock(folder).map_err(|error| failed(folder, error))?;
        // Another command may have written since.
        let found = look(&self.path)?;
        if let Found::Fit(known) = &found {
            new = known.clone();
        }
        edit(&mut new);
        let is_same = match &found {
            Found::Fit(known) => *known == new,
            Found::Unfit(_) => new.values.is_empty(),
            Found::Nothing => new.values.is_empty() && !self.is_named,
        };
        if is_same {
            return Ok(Change::None);
        }
        let change = match found {
            Found::Unfit(_) => {
                Change::Replaced(set_aside(&target).map_err(|error| failed(&target, error))?)
            }
            _ => Change::Written,
        };
        replace(&target, folder, &new.text()).map_err(|error| failed(&target, error))?;
        Ok(change)
    }

    /// Puts what was measured here into the profile, beside what is there for other jobs and
    /// settings.
    ///
    /// # Errors
    /// What is wrong, and what to do.
    pub fn keep(&self, jobs: &Jobs, values: &[Measured]) -> Result<Change, String> {
        self.change(|profile| profile.keep(jobs, values.to_vec()))
    }
}

/// What is at a place, unless that is nothing which may be replaced.
fn look(path: &Path) -> Result<Found, String> {
    let refused = |why: &str| {
        Err(format!(
            "{} is left as it is: {why}; move it away, or name another place by {PROFILE}",
            path.display()
        ))
    };
    match fs::metadata(path) {
        Ok(found) if !found.is_file() => return refused("it is no regular file"),
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return match fs::symlink_metadata(path) {
                Ok(_) => refused("it is a link to what does not exist"),
                Err(_) => is_open(path).map(|()| Found::Nothing),
            };
        }
        Err(error) => return refused(&format!("it cannot be read: {error}")),
    }
    let known = match read(path, true) {
        Err(why) => return refused(&why),
        Ok(None) => return Ok(Found::Nothing),
        Ok(Some(known)) => known,
    };
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    is_open(&target)?;
    Ok(match known.fitness.difference(&Fitness::here()) {
        Some(why) => Found::Unfit(why),
        None => Found::Fit(known),
    })
}

/// Whether files can be made in the folder of a file, or folders up to it.
fn is_open(path: &Path) -> Result<(), String> {
    let failed = |folder: &Path, why: &dyn std::fmt::Display| {
        Err(format!(
            "{} cannot be written: {}: {why}; name another place by {PROFILE}",
            path.display(),
            folder.display()
        ))
    };
    for folder in path.ancestors().skip(1) {
        match fs::metadata(folder) {
            Err(error) if file::is_absent(&error) => continue,
            Err(error) => return failed(folder, &error),
            Ok(found) if !found.is_dir() => return failed(folder, &"it is no folder"),
            Ok(_) => {}
        }
        return match access(folder, Access::WRITE_OK | Access::EXEC_OK) {
            Ok(()) => Ok(()),
            Err(error) => failed(folder, &error),
        };
    }
    Ok(())
}

/// Keeps other commands from writing profiles in a folder, until what it gives is dropped.
fn lock(folder: &Path) -> io::Result<fs::File> {
    let held = fs::File::open(folder)?;
    let until = Instant::now() + PATIENCE;
    loop {
        match flock(&held, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(held),
            Err(Errno::WOULDBLOCK | Errno::INTR) if Instant::now() < until => {
                sleep(Duration::from_millis(5));
            }
            Err(Errno::WOULDBLOCK | Errno::INTR) => {
                return Err(io::Error::other("another command has it locked"));
            }
            // Some file systems have no locks; a file is still written as a whole there.
            Err(_) => return Ok(held),
        }
    }
}

/// Copies a file to a name beside it that nothing has; gives that.
fn set_aside(path: &Path) -> io::Result<PathBuf> {
    let text = fs::read(path)?;
    let mode = fs::metadata(path)?.mode() & 0o777;
    for number in 1..=MOST_OLD {
        let mut name = OsString::from(path);
        match number {
            1 => name.push(".old"),
            number => name.push(format!(".{number}.old")),
        }
        let old = PathBuf::from(name);
        let mut options = fs::OpenOptions::new();
        let made = options.write(true).create_new(true).mode(mode).open(&old);
        match made {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            Err(error) => return Err(error),
            Ok(mut file) => {
                let written = file.write_all(&text).and_then(|()| file.sync_all());
                return match written {
                    Ok(()) => Ok(old),
                    Err(error) => {
                        let _ = fs::remove_file(&old);
                        Err(error)
                    }
                };
            }
        }
    }
    Err(io::Error::other(format!(
        "{MOST_OLD} files that end in .old are beside it already"
    )))
}

/// Writes a file all at once: whoever reads it meanwhile, or after the machine has failed, finds
/// the old one or the new one.
fn replace(path: &Path, folder: &Path, text: &str) -> io::Result<()> {
    let known = fs::metadata(path).ok();
    // Commands on other hosts may write there, too.
    let host = rustix::system::uname()
        .nodename()
        .to_string_lossy()
        .replace('/', "-");
    let drawn = RandomState::new().build_hasher().finish();
    let new = folder.join(format!(
        ".catena-{host}-{}-{drawn:016x}",
        std::process::id()
    ));
    let mut options = fs::OpenOptions::new();
    let mut file = options
        .write(true)
        .create_new(true)
        .mode(0o644)
        .open(&new)?;
    let written = (|| {
        if let Some(known) = known {
            let own = file.metadata()?;
            if (own.uid(), own.gid()) != (known.uid(), known.gid()) {
                // Who may not give files away has it as a file of its own.
                let _ = fchown(&file, Some(known.uid()), Some(known.gid()));
            }
            file.set_permissions(fs::Permissions::from_mode(known.mode() & 0o777))?;
        }
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&new, path)
    })();
    if written.is_err() {
        let _ = fs::remove_file(&new);
    }
    // The file is there; that it has its name even after a failure is as much as can be done.
    let _ = fs::File::open(folder).and_then(|folder| folder.sync_all());
    written
}

#[cfg(test)]
mod tests;

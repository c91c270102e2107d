//! The directory in which services are published for the other jobs of a user.
//!
//! It is the user's own (mode 0700). A service is a file there, with its name and its port in two
//! lines, which the launcher that has published it holds locked: one whose lock is free is left
//! over from a launcher that was killed, and is removed by whoever finds it.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use crate::sys;

/// The value of `CATENA_NAMES` that stands for the directory of all jobs of the user.
const OF_USER: &str = "user";

/// Longest file that is read, bytes.
const LONGEST: u64 = 64 << 10;

/// Where services are published.
#[derive(Debug)]
pub struct Directory {
    path: PathBuf,
}

/// A service that is published as long as this is there.
#[derive(Debug)]
pub(super) struct Entry {
    path: PathBuf,
    /// Holds the lock.
    _file: File,
}

impl Drop for Entry {
    fn drop(&mut self) {
        // If somebody else has removed it there is nothing to do.
        let _ = fs::remove_file(&self.path);
    }
}

/// A number that is the same for services of the same name.
fn hash(service: &str) -> u64 {
    service.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

impl Directory {
    /// What the setting `CATENA_NAMES` says: nothing, the directory that all jobs of this user on
    /// this host have, or that one. It is made when it is first needed.
    pub fn of_setting(text: &str) -> Option<Directory> {
        match text {
            "" => None,
            OF_USER => Some(Directory::of_user()),
            path => Some(Directory { path: path.into() }),
        }
    }

    /// The directory of all jobs of this user, whatever the environment says, and where no other
    /// user can be first.
    fn of_user() -> Directory {
        let user = sys::user();
        let is_own = |path: &Path| {
            let found = fs::metadata(path);
            found.is_ok_and(|it| it.is_dir() && it.uid() == user && it.mode() & 0o022 == 0)
        };
        let runtime = PathBuf::from(format!("/run/user/{user}"));
        let home = std::env::var_os("HOME").map(PathBuf::from);
        let home = home.filter(|home| home.is_absolute() && is_own(home));
        let path = match (is_own(&runtime), home) {
            (true, _) => runtime.join("catena-names"),
            // Several hosts may have one home.
            (false, Some(home)) => home.join(format!(".cache/catena-names-{}", sys::host_name())),
            (false, None) => PathBuf::from(format!("/tmp/catena-names-{user}")),
        };
        Directory { path }
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes it if it is not there.
    ///
    /// # Errors
    /// In words, if it is not this user's alone.
    fn open(&self) -> Result<(), String> {
        let shown = self.path.display();
        match DirBuilder::new()
            .mode(0o700)
            .recursive(true)
            .create(&self.path)
        {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(format!("{shown} cannot be made: {error}")),
        }
        self.check()
    }

    fn check(&self) -> Result<(), String> {
        let shown = self.path.display();
        let found = fs::symlink_metadata(&self.path).map_err(|e| format!("{shown}: {e}"))?;
        match found.is_dir() && found.uid() == sys::user() && found.mode() & 0o077 == 0 {
            true => Ok(()),
            false => Err(format!(
                "{shown} is no directory of this user's alone (chmod 700): remove it, or name \
                 another one in CATENA_NAMES"
            )),
        }
    }

    /// Publishes a service.
    ///
    /// # Errors
    /// In words.
    pub(super) fn publish(&self, service: &str, port: &str) -> Result<Entry, String> {
        self.open()?;
        let mut mark = [0; 8];
        sys::random(&mut mark).map_err(|e| e.to_string())?;
        let name = format!("{:016x}-{:016x}", hash(service), u64::from_le_bytes(mark));
        let path = self.path.join(&name);
        let new = self.path.join(format!("new-{name}"));
        let write = || -> io::Result<File> {
            let mut file = File::create_new(&new)?;
            file.lock()?;
            file.write_all(format!("{service}\n{port}\n").as_bytes())?;
            // Nobody sees it before it is whole and locked.
            fs::rename(&new, &path)?;
            Ok(file)
        };
        match write() {
            Ok(file) => Ok(Entry { path, _file: file }),
            Err(error) => {
                let _ = fs::remove_file(&new);
                Err(format!("{}: {error}", path.display()))
            }
        }
    }

    /// The port of a service that another launcher has published last.
    ///
    /// # Errors
    /// In words, if the directory cannot be used.
    pub(super) fn look_up(&self, service: &str) -> Result<Option<String>, String> {
        if !self.path.exists() {
            return Ok(None);
        }
        self.check()?;
        let shown = self.path.display();
        let begin = format!("{:016x}-", hash(service));
        let mut best = None;
        for entry in fs::read_dir(&self.path).map_err(|e| format!("{shown}: {e}"))? {
            let Ok(entry) = entry else { continue };
            if !entry.file_name().to_string_lossy().starts_with(&begin) {
                continue;
            }
            let Some((time, port)) = read(&entry.path(), service) else {
                continue;
            };
            if best.as_ref().is_none_or(|(other, _)| *other < time) {
                best = Some((time, port));
            }
        }
        Ok(best.map(|(_, port)| port))
    }
}

/// The port in a file, if it is of that service, and when it was written. One that nobody holds is
/// removed.
fn read(path: &Path, service: &str) -> Option<((i64, i64), String)> {
    let file = File::open(path).ok()?;
    if file.try_lock().is_ok() {
        let _ = fs::remove_file(path);
        return None;
    }
    let found = file.metadata().ok()?;
    let mut text = String::new();
    file.take(LONGEST).read_to_string(&mut text).ok()?;
    let port = text.strip_prefix(service)?.strip_prefix('\n')?;
    let time = (found.mtime(), found.mtime_nsec());
    Some((time, port.trim_end().to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    /// A place for a directory, which goes with this.
    struct TempDirectory(Directory);

    impl TempDirectory {
        fn new(name: &str) -> TempDirectory {
            let name = format!("catena-names-test-{name}-{}", std::process::id());
            let path = std::env::temp_dir().join(name);
            TempDirectory(Directory::of_setting(path.to_str().unwrap()).unwrap())
        }
    }

    impl Drop for TempDirectory {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(self.0.path());
        }
    }

    #[test]
    fn services_are_found_as_long_as_they_are_published() {
        let place = TempDirectory::new("found");
        let names = &place.0;
        assert_eq!(names.look_up("a"), Ok(None));
        let first = names.publish("a", "port 1").unwrap();
        let mode = fs::metadata(names.path()).unwrap().mode();
        assert_eq!(mode & 0o777, 0o700);
        assert_eq!(names.look_up("a"), Ok(Some("port 1".to_string())));
        assert_eq!(names.look_up("ab"), Ok(None));
        // The last one counts while there are two.
        let second = names.publish("a", "port 2").unwrap();
        assert!(names.look_up("a").unwrap().is_some());
        drop(first);
        assert_eq!(names.look_up("a"), Ok(Some("port 2".to_string())));
        drop(second);
        assert_eq!(names.look_up("a"), Ok(None));
        assert_eq!(fs::read_dir(names.path()).unwrap().count(), 0);
    }

    #[test]
    fn the_place_of_a_user_is_where_no_other_can_be_first() {
        assert!(Directory::of_setting("").is_none());
        let of_user = Directory::of_setting("user").unwrap();
        let above = of_user.path().ancestors().skip(1).find(|it| it.exists());
        let above = fs::metadata(above.unwrap()).unwrap();
        let is_own = above.uid() == sys::user() && above.mode() & 0o022 == 0;
        assert!(is_own || of_user.path().starts_with("/tmp"), "{of_user:?}");
    }

    #[test]
    fn what_the_dead_have_published_is_removed() {
        let place = TempDirectory::new("dead");
        let names = &place.0;
        let entry = names.publish("a", "port").unwrap();
        let left = names.path().join(format!("{:016x}-0", hash("a")));
        fs::write(&left, "a\ngone\n").unwrap();
        assert_eq!(names.look_up("a"), Ok(Some("port".to_string())));
        assert!(!left.exists() && entry.path.exists());
    }

    #[test]
    fn a_directory_of_others_is_not_used() {
        let place = TempDirectory::new("others");
        let names = &place.0;
        fs::create_dir(names.path()).unwrap();
        fs::set_permissions(names.path(), fs::Permissions::from_mode(0o755)).unwrap();
        assert!(
            names
                .publish("a", "port")
                .unwrap_err()
                .contains("chmod 700")
        );
        assert!(names.look_up("a").unwrap_err().contains("CATENA_NAMES"));
    }
}

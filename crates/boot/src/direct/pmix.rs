//! PMIx, spoken by a library that is opened at run time: prterun (Open MPI),
//! `srun --mpi=pmix`, PALS, jsrun, flux.
//!
//! Its version need not be that of the server, but it had better be: so the one
//! that the launcher itself has loaded comes first.

use std::ffi::{CString, OsString};
use std::fs;

use catena_pmix_sys::{Client, Fence, Library, Status, Value, keys};

use super::{About, Manager, mapping};
use crate::{BootError, PMIX, lineage, sys};

/// A connection.
pub(super) struct Pmix {
    client: Client,
    about: About,
    fence: Option<Fence>,
    gone: bool,
}

impl From<Status> for BootError {
    fn from(status: Status) -> Self {
        BootError::Manager(status.to_string())
    }
}

impl Pmix {
    /// Connects as the environment says.
    pub fn connect() -> Result<Pmix, BootError> {
        let library = open()?;
        let name = format!("{}, {}", library.name(), library.version());
        let client = Client::init(library).map_err(|status| BootError::NoFit {
            library: name.replace(char::is_control, " "),
            server: server(std::env::var_os("PMIX_VERSION")),
            cause: status.to_string(),
        })?;
        client.when_lost(|| {
            catena_base::tell!("{}", BootError::LauncherGone);
            sys::exit_now(1);
        });
        let number = |rank, key| -> Result<Option<u32>, Status> {
            let value = client.get(rank, key)?;
            Ok(value
                .and_then(Value::number)
                .and_then(|n| u32::try_from(n).ok()))
        };
        let rank = client.rank();
        let size = number(None, keys::JOB_SIZE)?;
        let size = size.ok_or_else(|| BootError::Manager("it tells no job size".to_string()))?;
        let mut about = About::new(rank, size)?;
        about.appnum = number(Some(rank), keys::APP_NUMBER)?.unwrap_or(0);
        about.universe_size = number(None, keys::UNIVERSE_SIZE)?;
        let nodes = (0..size).map(|rank| number(Some(rank), keys::NODE_ID));
        about.nodes = nodes.collect::<Result<Option<Vec<u32>>, _>>()?;
        if about.nodes.is_none() {
            let text = client.get(None, keys::MAPPING)?.and_then(Value::text);
            about.nodes = text.and_then(|text| mapping::nodes(&text, size));
        }
        let sound = |(name, ranks): &(String, Vec<u32>)| {
            let given = ["mpi://", "app://"]
                .iter()
                .any(|start| name.starts_with(start));
            !given && ranks.last().is_some_and(|&last| last < size)
        };
        about.psets = client.process_sets();
        about.psets.retain(sound);
        about.psets.sort();
        Ok(Pmix {
            client,
            about,
            fence: None,
            gone: false,
        })
    }
}

/// The version of a server as it has told its processes in a variable; empty if it has not, or told
/// no version.
fn server(told: Option<OsString>) -> String {
    let told = told
        .and_then(|it| it.into_string().ok())
        .unwrap_or_default();
    let is_version = |text: &str| text.len() < 64 && text.chars().all(|it| it.is_ascii_graphic());
    match is_version(&told) {
        true => told,
        false => String::new(),
    }
}

/// Opens the first libpmix that there is.
pub(super) fn open() -> Result<Library, BootError> {
    let wanted = PMIX.get();
    let names = match &*wanted {
        "" => loaded_by_launcher()
            .into_iter()
            .chain(["libpmix.so.2".to_string()])
            .collect(),
        text => text.split(':').map(str::to_string).collect::<Vec<_>>(),
    };
    let library = Library::open(names.iter().map(String::as_str));
    library.map_err(|error| BootError::NoPmix(error.to_string()))
}

/// The libpmix that an ancestor of this process has loaded, if that can be
/// seen.
fn loaded_by_launcher() -> Option<String> {
    lineage::ancestors(std::process::id()).find_map(|process| {
        let maps = fs::read_to_string(format!("/proc/{process}/maps")).unwrap_or_default();
        mapped(&maps).map(str::to_string)
    })
}

/// Path of a libpmix in a `/proc/<pid>/maps`.
fn mapped(maps: &str) -> Option<&str> {
    maps.lines().find_map(|line| {
        let path = &line[line.find('/')?..];
        let (_, name) = path.rsplit_once('/')?;
        name.starts_with("libpmix.so.2").then_some(path)
    })
}

fn key_of(key: &str) -> Result<CString, BootError> {
    CString::new(key).map_err(|_| BootError::Manager(format!("no key can be {key:?}")))
}

impl Manager for Pmix {
    fn about(&self) -> &About {
        &self.about
    }

    fn describe(&self) -> Vec<(&'static str, String)> {
        let text = |key| {
            let value = self.client.get(None, key).ok().flatten();
            value.and_then(Value::text).filter(|text| !text.is_empty())
        };
        let library = self.client.library();
        let mut lines = vec![
            ("protocol", "PMIx".to_string()),
            ("library", library.name().to_string()),
            ("library version", library.version()),
        ];
        let server = text(keys::VERSION).or_else(|| std::env::var("PMIX_VERSION").ok());
        lines.extend(server.map(|version| ("server version", version)));
        if let Some(name) = text(keys::MANAGER) {
            let version = text(keys::MANAGER_VERSION).unwrap_or_default();
            let name = format!("{name} {version}");
            lines.push(("resource manager", name.trim_end().to_string()));
        }
        lines
    }

    fn put(&mut self, key: &str, value: &[u8]) -> Result<(), BootError> {
        Ok(self.client.put(&key_of(key)?, value)?)
    }

    fn get(&mut self, rank: u32, key: &str) -> Result<Option<Vec<u8>>, BootError> {
        let key = key_of(key)?;
        // A fence of PRRTE's brings nothing: what it has waits to be fetched.
        let value = match self.client.get(Some(rank), &key)? {
            None => self.client.fetch(rank, &key)?,
            found => found,
        };
        match value {
            Some(Value::Bytes(bytes)) => Ok(Some(bytes)),
            _ => Ok(None),
        }
    }

    fn begin_fence(&mut self) -> Result<(), BootError> {
        self.fence = Some(self.client.fence()?);
        Ok(())
    }

    fn fence_done(&mut self, wait: bool) -> Result<bool, BootError> {
        let fence = self.fence.as_ref().ok_or(BootError::Fence)?;
        let done = self.client.fence_done(fence, wait)?;
        if done {
            self.fence = None;
        }
        Ok(done)
    }

    fn abort(&mut self, code: i32, _: &str) {
        self.client.abort(code);
    }

    fn depart(&mut self) -> Result<(), BootError> {
        if std::mem::replace(&mut self.gone, true) {
            return Ok(());
        }
        Ok(self.client.finalize()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_tells_its_version() {
        assert_eq!(server(Some("4.1.2".into())), "4.1.2");
        let untold = [None, Some("".into()), Some("4\n1".into())];
        assert!(untold.into_iter().all(|it| server(it).is_empty()));
    }

    #[test]
    fn the_launchers_library_is_found() {
        let maps = "55d0-55d1 r--p 00000000 fe:00 12  /usr/bin/prted\n\
            7f00-7f01 r-xp 00000000 fe:00 13  /opt/a b/lib/libpmix.so.2.13.9\n\
            7f02-7f03 rw-p 00000000 00:00 0\n";
        assert_eq!(mapped(maps), Some("/opt/a b/lib/libpmix.so.2.13.9"));
        assert_eq!(mapped("7f00-7f01 r-xp 0 fe:00 1 /lib/libpmi.so.0\n"), None);
    }
}

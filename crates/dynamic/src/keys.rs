//! The info keys of calls for processes that come and go (MPI-5, chapters 11.8.4 and 11.9.4).
//!
//! A key that is not known is ignored, as the standard wants it; one that looks like a
//! misspelling of a known key is named on standard error, once.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use catena_objects::error::Result;
use catena_objects::fail;
use catena_objects::info::Info;
use catena_settings::nearest;

/// The keys of `MPI_Comm_spawn`.
pub(crate) const SPAWN: &[&str] = &[
    "host",
    "add-host",
    "hostfile",
    "add-hostfile",
    "wdir",
    "path",
    "file",
    "soft",
    "env",
    "map_by",
    "bind_to",
    "mpi_initial_errhandler",
    "appnum",
    "arch",
];
/// The keys of `MPI_Comm_connect` and `MPI_Comm_accept`.
pub(crate) const MEET: &[&str] = &["timeout"];

/// The hints that a call was given.
#[derive(Debug, Default)]
pub(crate) struct Hints {
    pairs: Vec<(String, String)>,
}

impl Hints {
    /// Those of an info object for a call that knows these keys. What a file says that the key
    /// `file` names comes after.
    ///
    /// # Errors
    /// `InfoValue` if there is no such file, or it has other lines than `key = value`.
    pub fn new(info: Option<&Arc<Info>>, call: &str, known: &[&str]) -> Result<Hints> {
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        let pairs = info.map(|info| info.pairs()).unwrap_or_default();
        let pairs = pairs
            .into_iter()
            .map(|(key, value)| (text(key), text(value)));
        let mut hints = Hints {
            pairs: pairs.collect(),
        };
        if known.contains(&"file")
            && let Some(path) = hints.get("file").map(str::to_owned)
        {
            hints.pairs.extend(read(Path::new(&path))?);
        }
        for (key, _) in &hints.pairs {
            warn(key, call, known);
        }
        Ok(hints)
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&str> {
        let pair = self.pairs.iter().find(|(k, _)| k == key);
        pair.map(|(_, value)| value.trim())
    }

    /// The value of a key that is a time in seconds.
    ///
    /// # Errors
    /// `InfoValue` if it is something else.
    pub fn seconds(&self, key: &str) -> Result<Option<Duration>> {
        let Some(text) = self.get(key) else {
            return Ok(None);
        };
        let seconds = text.parse::<f64>().ok().filter(|it| *it > 0.0);
        match seconds.and_then(|it| Duration::try_from_secs_f64(it).ok()) {
            Some(limit) => Ok(Some(limit)),
            None => fail!(
                InfoValue,
                "the info key {key} is '{text}': give a number of seconds above 0"
            ),
        }
    }
}

/// The pairs in a file.
fn read(path: &Path) -> Result<Vec<(String, String)>> {
    let shown = path.display();
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) => fail!(InfoValue, "the info key file names {shown}: {error}"),
    };
    let mut pairs = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let Some((key, value)) = line.split_once('=') else {
            fail!(
                InfoValue,
                "the info key file names {shown}, whose line {number} is '{line}': write \
                key = value"
            );
        };
        pairs.push((key.trim().to_string(), value.trim().to_string()));
    }
    Ok(pairs)
}

/// Names a key that is likely misspelt.
fn warn(key: &str, call: &str, known: &[&str]) {
    static TOLD: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    if known.contains(&key) {
        return;
    }
    let Some(near) = nearest(key, known.iter().copied()) else {
        return;
    };
    let new = TOLD
        .lock()
        .is_ok_and(|mut told| told.insert(key.to_string()));
    if new {
        catena_base::tell!(
            "catena: {call} ignores the info key {key}, which it does not know; did you mean \
             {near}?"
        );
    }
}

/// The numbers that `soft` names: numbers and triplets `first:last` or `first:last:step`,
/// separated by commas; those from 1 to `most`, ascending.
///
/// # Errors
/// `InfoValue` if it is something else, `Spawn` if there are none.
pub(crate) fn soft(text: &str, most: u32) -> Result<Vec<u32>> {
    let wrong = || {
        fail!(
            InfoValue,
            "the info key soft is '{text}': write numbers and triplets first:last:step, separated \
            by commas"
        )
    };
    let mut all = BTreeSet::new();
    for part in text.split(',') {
        let numbers: Option<Vec<i64>> = part.split(':').map(|it| it.trim().parse().ok()).collect();
        let (first, last, step) = match numbers.as_deref() {
            Some(&[one]) => (one, one, 1),
            Some(&[first, last]) => (first, last, 1),
            Some(&[first, last, step]) if step != 0 => (first, last, step),
            _ => return wrong(),
        };
        let (from, to) = (first.min(last).max(1), first.max(last).min(most.into()));
        let fits = |it: &i64| (it - first) % step == 0 && (step > 0) == (last >= first);
        all.extend((from..=to).filter(fits).map(|it| it as u32));
    }
    if all.is_empty() {
        fail!(
            Spawn,
            "the info key soft is '{text}', and none of its numbers is from 1 to {most}, which is \
             maxprocs"
        );
    }
    Ok(all.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn soft_numbers_are_read() {
        let read = |text| soft(text, 20).map_err(|_| ());
        assert_eq!(read("3"), Ok(vec![3]));
        assert_eq!(read("2:5"), Ok(vec![2, 3, 4, 5]));
        assert_eq!(read("1:9:4, 16"), Ok(vec![1, 5, 9, 16]));
        assert_eq!(read("9:1:-4"), Ok(vec![1, 5, 9]));
        assert_eq!(read("19:30:2"), Ok(vec![19]));
        assert_eq!(read("0:9223372036854775807").map(|all| all.len()), Ok(20));
        for wrong in ["", "a", "1:2:3:4", "1:2:0", "1,,2", "0", "21"] {
            assert_eq!(read(wrong), Err(()), "{wrong}");
        }
    }

    #[test]
    fn times_and_files_are_read() {
        let of = |pairs: &[(&str, &str)]| {
            let pairs = pairs.iter().map(|(k, v)| (k.to_string(), v.to_string()));
            Hints::new(Some(&Info::from_pairs(pairs)), "MPI_Comm_spawn", SPAWN)
        };
        let hints = of(&[("timeout", "0.5"), ("wdir", "/a")]).unwrap();
        assert_eq!(
            hints.seconds("timeout").unwrap(),
            Some(Duration::from_millis(500))
        );
        assert_eq!(hints.seconds("other").unwrap(), None);
        for wrong in ["x", "0", "-1", "inf", "nan"] {
            assert!(
                of(&[("timeout", wrong)])
                    .unwrap()
                    .seconds("timeout")
                    .is_err(),
                "{wrong}"
            );
        }
        let path = std::env::temp_dir().join(format!("catena-keys-{}", std::process::id()));
        let name = path.to_str().unwrap();
        std::fs::write(&path, "# more\nwdir = /b\n\npath=/c=d\n").unwrap();
        let hints = of(&[("file", name), ("wdir", "/a")]).unwrap();
        assert_eq!(
            (hints.get("wdir"), hints.get("path")),
            (Some("/a"), Some("/c=d"))
        );
        std::fs::write(&path, "wdir\n").unwrap();
        assert!(of(&[("file", name)]).is_err());
        std::fs::remove_file(&path).unwrap();
        assert!(of(&[("file", name)]).is_err());
    }
}

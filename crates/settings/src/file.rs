//! The configuration file: which one it is, whether it is to be trusted, and how the launcher
//! hands it on to the processes of its jobs.
//!
//! It is read without ever waiting: a pipe or a device is none. What cannot be used is told,
//! whatever it is, but that the usual file is not there.

use std::env;
use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};

use crate::warning::Warning;

/// Names the configuration file in the environment.
pub const CONF: &str = "CATENA_CONF";

/// Longest file that is read, bytes: it travels as a variable of the environment, which can have
/// twice that.
const LONGEST: u64 = 64 << 10;

/// The usual file, in the home directory.
const USUAL: &str = ".config/catena.conf";

/// Between the parts of a warning that is handed on.
const PART: char = '\u{1f}';

/// A configuration file that was read, or why it was not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct File {
    pub path: PathBuf,
    /// Its lines; a line that is no text is empty.
    pub text: String,
    pub problems: Vec<Warning>,
}

impl File {
    /// One with that text.
    pub fn from_text(path: PathBuf, text: &str) -> File {
        File {
            path,
            text: text.to_string(),
            problems: Vec::new(),
        }
    }

    /// The file that `named`, the value of [`CONF`], names, or else the usual one, if there is one.
    /// A relative name begins at the folder in which this process is.
    pub fn find(named: Option<&str>) -> Option<File> {
        let named = named.filter(|name| !name.is_empty());
        let path = match named {
            Some(name) => std::path::absolute(name).unwrap_or_else(|_| name.into()),
            None => in_home(USUAL)?,
        };
        match read(&path, named.is_some()) {
            Ok(file) => Some(file),
            Err(error) if named.is_none() && is_absent(&error) => None,
            Err(error) => {
                let cause = format!("the file cannot be read: {error}");
                Some(unusable(path, named.is_some(), cause))
            }
        }
    }

    /// What was handed on, if it is what [`File::to_handed`] has made where [`CONF`] was `named`.
    #[allow(clippy::option_option)]
    pub fn from_handed(text: &str, named: &str) -> Option<Option<File>> {
        let mut lines = text.split('\n');
        if lines.next()? != one_line(named) {
            return None;
        }
        let path = lines.next().filter(|path| !path.is_empty());
        let Some(path) = path.map(PathBuf::from) else {
            return Some(None);
        };
        let mut file = File {
            path,
            ..File::default()
        };
        for line in lines {
            let mut parts = line.split(PART);
            match (parts.next(), parts.next(), parts.next()) {
                (Some(subject), Some(cause), Some(remedy)) => file.problems.push(Warning {
                    subject: subject.to_string(),
                    cause: cause.to_string(),
                    remedy: remedy.to_string(),
                }),
                _ => {
                    file.text += line;
                    file.text.push('\n');
                }
            }
        }
        Some(Some(file))
    }

    /// As a variable of the environment: lines with the value of [`CONF`], the path, what is wrong,
    /// and the text without its comments.
    pub fn to_handed(file: Option<&File>, named: &str) -> String {
        let mut text = one_line(named);
        text.push('\n');
        let Some(file) = file else {
            return text;
        };
        text += &one_line(&file.path.to_string_lossy());
        for Warning {
            subject,
            cause,
            remedy,
        } in file.problems.iter().take(PROBLEMS)
        {
            let parts = [subject, cause, remedy].map(|part| one_line(part));
            text.push('\n');
            text += &parts.join(&PART.to_string());
        }
        for line in file.text.lines() {
            text.push('\n');
            let line = line.split('#').next().unwrap_or_default().trim();
            text += &line.replace([PART, '\0'], " ");
        }
        text
    }
}

/// So many of the things that are wrong with a file are told: what is handed on has to fit into a
/// variable.
const PROBLEMS: usize = 20;

/// A place in the home directory, if there is one: an empty or relative one is none, but the folder
/// in which this process happens to be.
pub(crate) fn in_home(name: &str) -> Option<PathBuf> {
    let home = env::var_os("HOME").map(PathBuf::from);
    Some(home.filter(|home| home.is_absolute())?.join(name))
}

/// Whether there is no such file.
pub(crate) fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

pub(crate) fn one_line(text: &str) -> String {
    text.replace(['\n', '\0', PART], "?")
}

fn unusable(path: PathBuf, is_named: bool, cause: String) -> File {
    let (subject, remedy) = match is_named {
        true => (
            format!("{CONF}={}", path.display()),
            "correct the name, or unset the variable",
        ),
        false => (path.display().to_string(), "correct that, or remove it"),
    };
    File {
        problems: vec![Warning {
            subject,
            cause,
            remedy: remedy.to_string(),
        }],
        path,
        text: String::new(),
    }
}

/// Reads a file. Another user's, who could name libraries there that this one loads, counts only
/// where it was asked for.
pub(crate) fn read(path: &Path, is_named: bool) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let opened = fs::File::from(rustix::fs::open(path, flags, Mode::empty())?);
    let found = opened.metadata()?;
    let refused = |cause: String| Ok(unusable(path.to_path_buf(), is_named, cause));
    if !found.is_file() {
        return refused("it is no regular file, and is ignored".to_string());
    }
    let me = rustix::process::geteuid().as_raw();
    let is_safe = [0, me].contains(&found.uid()) && found.mode() & 0o002 == 0;
    let why = match found.mode() & 0o002 {
        0 => format!("it belongs to user {}", found.uid()),
        _ => "everybody can write to it".to_string(),
    };
    if !is_safe && !is_named {
        return refused(format!("{why}, and is ignored"));
    }
    let mut bytes = Vec::new();
    opened.take(LONGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LONGEST {
        return refused(format!("it is longer than {LONGEST} bytes, and is ignored"));
    }
    let mut file = File {
        path: path.to_path_buf(),
        ..File::default()
    };
    if !is_safe {
        file.problems.push(Warning {
            subject: format!("{CONF}={}", path.display()),
            cause: format!("{why}, who can have this program load libraries"),
            remedy: "copy it to a place of your own".to_string(),
        });
    }
    for (number, line) in (1..).zip(bytes.split(|&byte| byte == b'\n')) {
        match std::str::from_utf8(line) {
            Ok(line) => file.text += line,
            // Comments may be in any encoding.
            Err(_) if line.trim_ascii_start().starts_with(b"#") => {}
            Err(_) => file.problems.push(Warning {
                subject: format!("{}:{number}", path.display()),
                cause: "the line is not UTF-8, and is ignored".to_string(),
                remedy: "write NAME = value, or # before a comment".to_string(),
            }),
        }
        file.text.push('\n');
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Folder {
            let name = format!("catena-conf-{name}-{}", std::process::id());
            let folder = env::temp_dir().join(name);
            fs::create_dir(&folder).unwrap();
            Folder(folder)
        }

        fn find(&self, name: &str) -> File {
            File::find(self.0.join(name).to_str()).unwrap()
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn what_cannot_be_used_is_told() {
        let folder = Folder::new("told");
        let told = |name: &str| {
            let file = folder.find(name);
            assert_eq!(file.text, "", "{name}");
            file.problems[0].cause.clone()
        };
        assert!(told("none").contains("cannot be read"));
        assert!(told("").contains("no regular file"));
        let pipe = folder.0.join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, Mode::RUSR | Mode::WUSR).unwrap();
        assert!(told("pipe").contains("no regular file"));
        fs::write(folder.0.join("long"), vec![b'#'; 65 << 10]).unwrap();
        assert!(told("long").contains("longer"));
        // The usual one must be this user's, one that is named may be another's.
        let open = folder.0.join("open");
        fs::write(&open, "A = 1\n").unwrap();
        fs::set_permissions(&open, fs::Permissions::from_mode(0o666)).unwrap();
        let usual = read(&open, false).unwrap();
        assert_eq!(usual.text, "");
        assert!(usual.problems[0].cause.contains("everybody"));
        let named = read(&open, true).unwrap();
        assert!(named.text.starts_with("A = 1") && named.problems.len() == 1);
    }

    #[test]
    fn a_byte_that_is_no_text_costs_its_line_alone() {
        let folder = Folder::new("byte");
        fs::write(folder.0.join("c"), b"A = 1\nB = \xff\n# caf\xe9\nC = 2\n").unwrap();
        let file = folder.find("c");
        assert_eq!(
            file.text.lines().collect::<Vec<_>>()[..4],
            ["A = 1", "", "", "C = 2"]
        );
        assert_eq!(file.problems.len(), 1);
        assert!(file.problems[0].subject.ends_with("c:2"));
    }

    #[test]
    fn what_is_handed_on_is_what_was_read() {
        let path = PathBuf::from("/a/c.conf");
        let mut file = File::from_text(path.clone(), "A = 1\n\nhello\n");
        file.problems = unusable(path, true, "why".to_string()).problems;
        let text = File::to_handed(Some(&file), "c.conf");
        assert_eq!(File::from_handed(&text, "c.conf"), Some(Some(file)));
        // The program was given another one.
        assert_eq!(File::from_handed(&text, ""), None);
        let none = File::to_handed(None, "");
        assert_eq!(File::from_handed(&none, ""), Some(None));
    }
}

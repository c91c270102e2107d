//! `catena fortran`: the modules `mpi` and `mpi_f08` for a compiler.
//!
//! Each compiler has its own form of a module. `mpifort` makes it where it is first used; this
//! command makes it ahead, for all users of an installation.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::Command;

const HELP: &str = include_str!("help/fortran.txt");

/// Runs the command; the result is its exit status.
pub fn fortran(args: impl Iterator<Item = OsString>) -> i32 {
    let (mut compiler, mut in_cache) = (None, false);
    let mut args = args;
    while let Some(arg) = args.next() {
        match arg.to_str() {
            Some("--help" | "-h") => {
                print!("{HELP}");
                return 0;
            }
            Some("--cache") => in_cache = true,
            Some("--for") => match args.next() {
                Some(name) => compiler = Some(name),
                None => return usage("--for takes the command of a compiler"),
            },
            _ => return usage(&format!("nothing is known of {}", arg.display())),
        }
    }
    let Some(prefix) = crate::place::prefix() else {
        return usage("this command does not know where it is installed: /proc is missing");
    };
    let modules = prefix.join("share/catena/fortran/modules");
    match compiler {
        Some(compiler) => make(&prefix, &modules, &compiler, in_cache),
        None if in_cache => usage("--cache takes --for"),
        None => list(&modules),
    }
}

fn usage(problem: &str) -> i32 {
    eprintln!("catena fortran: {problem}; `catena fortran --help` tells more");
    catena_launcher::USAGE
}

/// The modules that all users of the installation have.
fn list(modules: &Path) -> i32 {
    let mut names: Vec<_> = std::fs::read_dir(modules)
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned()))
        .collect();
    names.sort();
    for name in &names {
        println!("{name}");
    }
    if names.is_empty() {
        eprintln!("catena fortran: none yet: mpifort makes them when a compiler is first used");
    }
    0
}

fn make(prefix: &Path, modules: &Path, compiler: &OsStr, in_cache: bool) -> i32 {
    let wrapper = prefix.join("bin/mpifort");
    let mut fc = OsString::from("-fc=");
    fc.push(compiler);
    let mut into = OsString::from("-modules");
    if !in_cache {
        into.push("=");
        into.push(modules);
    }
    match Command::new(&wrapper).arg(fc).arg(into).status() {
        Ok(status) => {
            if !status.success() && !in_cache {
                eprintln!("catena fortran: with --cache they are made for you alone");
            }
            status.code().unwrap_or(1)
        }
        Err(error) => {
            eprintln!(
                "catena fortran: {} cannot be started: {error}. It belongs to this installation: \
                 install it again",
                wrapper.display()
            );
            1
        }
    }
}

//! Row 13: the command `catena`, also installed as `mpirun` and `mpiexec`.

#![forbid(unsafe_code)]

mod attempt;
mod coll;
mod fortran;
mod info;
mod look;
mod pages;
mod place;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use catena_settings::{Registry, nearest};

const HELP: &str = include_str!("help/catena.txt");

/// What commands that look at jobs say of themselves.
const LOOKS: [(&str, &str); 4] = [
    ("ps", include_str!("help/ps.txt")),
    ("hang", include_str!("help/hang.txt")),
    ("explain", include_str!("help/explain.txt")),
    ("trace", include_str!("help/trace.txt")),
];

const COMMANDS: [&str; 16] = [
    "run", "grow", "shrink", "doctor", "ps", "top", "hang", "explain", "trace", "info", "bench",
    "tune", "coll", "fortran", "version", "help",
];

/// The option before the name by which this command was called; no user gives it.
const CALLED: &str = "--called";

/// All settings that this command knows.
fn registry() -> Registry {
    catena_library::list();
    catena_core::settings::registry()
}

fn main() -> ExitCode {
    let mut args = std::env::args_os();
    let called = args.next().unwrap_or_default();
    let called = Path::new(&called)
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let mut args: Vec<OsString> = args.collect();
    // A script in place of a link says so how it was called.
    let called = match args.first().is_some_and(|first| first == CALLED) && args.len() > 1 {
        true => args
            .drain(..2)
            .nth(1)
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned(),
        false => called,
    };
    // Packages have `mpirun.catena` beside the `mpirun` that the system's alternatives choose.
    let called = called.strip_suffix(".catena").unwrap_or(&called);
    let status = match (catena_launcher::daemon(&args), called) {
        (Some(status), _) => status,
        (None, "mpirun" | "mpiexec") => catena_launcher::run(called, args, &registry()),
        (None, _) => catena(args.into_iter()),
    };
    ExitCode::from(u8::try_from(status & 0xff).unwrap_or(1))
}

fn catena(mut args: impl Iterator<Item = OsString>) -> i32 {
    let command = args.next().map(|arg| arg.to_string_lossy().into_owned());
    if !matches!(command.as_deref(), Some("run" | "bench")) {
        catena_launcher::end_with_reader();
    }
    let args: Vec<OsString> = args.collect();
    let is_try = args.first().is_some_and(|it| it == "--try");
    let first = args.get(usize::from(is_try)).and_then(|it| it.to_str());
    if let (Some(name), Some("-h" | "--help")) = (&command, first)
        && let Some((_, help)) = LOOKS.iter().find(|(verb, _)| verb == name)
    {
        return look::show(name, help);
    }
    let mut args = args.into_iter();
    match command.as_deref() {
        Some("run") => catena_launcher::run("catena run", args, &registry()),
        Some(verb @ ("grow" | "shrink")) => catena_launcher::change(verb, args),
        Some("doctor") => catena_doctor::doctor(args, &registry()),
        Some("ps") => look::ps(args),
        Some("top") => catena_top::top(args),
        Some("hang") => look::hang(args),
        Some("explain") if is_try => attempt::attempt(args.skip(1), &registry()),
        Some("explain") => look::explain(args),
        Some("trace") => look::trace(args),
        Some("info") => info::info(args, &registry()),
        Some("bench") => catena_bench::bench(args, &registry()),
        Some("tune") => catena_bench::tune(args, &registry()),
        Some("coll") => coll::coll(args, &registry()),
        Some("fortran") => fortran::fortran(args),
        Some("version" | "--version" | "-V") => {
            println!("catena {}", env!("CARGO_PKG_VERSION"));
            0
        }
        Some("help" | "--help" | "-h") => {
            match args.next().filter(|it| it != "--help" && it != "-h") {
                Some(page) => return pages::show(&page.to_string_lossy()),
                None => print!("{HELP}{}", pages::list()),
            }
            0
        }
        None => {
            eprint!("{HELP}");
            catena_launcher::USAGE
        }
        Some(other) => {
            let hint = match nearest(other, COMMANDS) {
                Some(near) => format!("did you mean `catena {near}`?"),
                None => "`catena help` lists them".to_string(),
            };
            eprintln!("catena: there is no command {other}; {hint}");
            catena_launcher::USAGE
        }
    }
}

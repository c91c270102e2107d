//! Row 12: `catena doctor`, what is wrong with a machine, its networks, other hosts and a program,
//! before a job, or after one that failed.
//!
//! | module      | what it does                                                          |
//! |-------------|-----------------------------------------------------------------------|
//! | `finding`   | what was found, in words, in a line, in JSON                          |
//! | `machine`   | what Linux says of the machine                                        |
//! | `copies`    | whether the kernel copies from process to process                     |
//! | `network`   | names and networks of this host                                       |
//! | `libraries` | libfabric and UCX                                                     |
//! | `commands`  | the commands of MPI that a shell finds, and the batch system          |
//! | `answer`    | what a host says of itself, and of its way to others                  |
//! | `hosts`     | starts that on all hosts, and puts together what they say             |
//!
//! Whatever may hang or die (a name server, a file system, somebody else's library, an agent) is
//! looked at by another thread or process, and is itself a finding when its time is up.

#![forbid(unsafe_code)]

mod answer;
mod commands;
mod copies;
mod finding;
mod hosts;
mod libraries;
mod machine;
mod network;

use std::ffi::OsString;
use std::time::Instant;

use catena_launcher::{USAGE, examine};
use catena_settings::Registry;

use finding::{Finding, Placed, Weight, in_json, shown};

const HELP: &str = include_str!("help.txt");

/// `catena doctor` with its arguments; gives its status: 0, or 1 if something is broken.
pub fn doctor(args: impl Iterator<Item = OsString>, registry: &Registry) -> i32 {
    let mut args: Vec<OsString> = args.collect();
    // How processes of this command are started, here and on other hosts.
    let own: Vec<OsString> = match std::env::current_exe() {
        Ok(own) => vec![own.into(), "doctor".into()],
        Err(error) => {
            catena_base::tell!("catena doctor: /proc is not there: {error}; mount it");
            return 1;
        }
    };
    let text = |at: usize| args.get(at).map(|arg| arg.to_string_lossy().into_owned());
    let second = text(1).unwrap_or_default();
    match text(0).as_deref() {
        Some("--help" | "-h" | "-help") => {
            print!("{HELP}");
            return 0;
        }
        Some(answer::OPTION) => {
            let number = |at: usize| text(at).and_then(|it| it.parse().ok()).unwrap_or(0);
            return answer::answer(&own, number(1), number(2));
        }
        Some(copies::HOLD) => return copies::hold(),
        Some(libraries::VERSION_OF) => return libraries::version_of(&second),
        _ => {}
    }
    let begun = Instant::now();
    let as_json = args.first().is_some_and(|arg| arg == "--json");
    if as_json {
        args.remove(0);
    }
    let subject = match examine(args, registry) {
        Ok(subject) => subject,
        Err(why) => {
            catena_base::tell!(
                "catena doctor: {why}; it takes the options of mpirun, and --json before them"
            );
            return USAGE;
        }
    };
    let mut found: Vec<Placed> = Vec::new();
    for (text, stops) in &subject.troubles {
        let weight = if *stops { Weight::Broken } else { Weight::Note };
        found.push((None, Finding::new(weight, "program", text, "")));
    }
    let here = commands::commands().into_iter();
    found.extend(here.map(|finding| (Some(subject.here.clone()), finding)));
    found.extend(hosts::look(&subject, &own));
    found.sort_by_key(|(_, finding)| finding.weight);
    let broken = found.iter().filter(|(_, it)| it.weight == Weight::Broken);
    let broken = broken.count();
    if as_json {
        println!("{}", in_json(&found));
        return i32::from(broken > 0);
    }
    print!("{}", shown(&found, !subject.others.is_empty()));
    let hosts = match subject.others.len() {
        0 => format!("host {}", subject.here),
        more => format!("{} hosts", more + 1),
    };
    let sum = match (found.len(), broken) {
        (0, _) => "nothing is wrong".to_string(),
        (_, 0) => "nothing stands in the way of a job".to_string(),
        (_, 1) => "1 thing stands in the way of a job".to_string(),
        (_, more) => format!("{more} things stand in the way of a job"),
    };
    println!("{hosts}: {sum} ({:.1} s)", begun.elapsed().as_secs_f64());
    i32::from(broken > 0)
}

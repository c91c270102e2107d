//! `catena info`: what this installation is and how it is set.

use std::ffi::OsString;

use catena_mpit::{Bind, ObjectKind, Pvar, catalog};
use catena_settings::{Level, Origin, Registry, Setting, Sources};

const HELP: &str = include_str!("help/info.txt");

/// Runs the command; gives the status.
pub fn info(args: impl Iterator<Item = OsString>, registry: &Registry) -> i32 {
    let (mut all, mut pvars) = (false, false);
    let mut names = Vec::new();
    for arg in args {
        let arg = arg.to_string_lossy().into_owned();
        match arg.as_str() {
            "-a" | "--all" => all = true,
            "-h" | "--help" => {
                print!("{HELP}");
                return 0;
            }
            "--boot" => return boot(),
            "--pvars" => pvars = true,
            option if option.starts_with('-') => {
                eprintln!("catena info: there is no option {option}; see catena info --help");
                return catena_launcher::USAGE;
            }
            _ => names.push(arg.trim_start_matches("CATENA_").to_ascii_uppercase()),
        }
    }
    if pvars {
        return show_pvars(&names);
    }
    let wanted = |setting: &&dyn Setting| {
        if names.is_empty() {
            all || setting.level() == Level::User
        } else {
            names
                .iter()
                .any(|name| setting.name().contains(name.as_str()))
        }
    };
    let settings: Vec<_> = registry.iter().filter(wanted).collect();
    if let ([], Some(name)) = (&settings[..], names.first()) {
        let hint = match registry.nearest(name) {
            Some(near) => format!("did you mean {near}?"),
            None => "`catena info --all` shows all".to_string(),
        };
        eprintln!("catena info: no setting has {name} in its name; {hint}");
        return 1;
    }
    if names.is_empty() {
        println!("Catena {}", env!("CARGO_PKG_VERSION"));
        println!("MPI 5.0, ABI 1.0 (libmpi_abi.so.1)");
        println!();
        println!("Settings: CATENA_NAME=value in the environment, `--set NAME=value` of mpirun,");
        println!("or `NAME = value` in ~/.config/catena.conf (or the file named by CATENA_CONF).");
        match Sources::of_process().profile().words() {
            Some(words) => println!("Profile {words}."),
            None => println!("Profile: none (`catena tune` measures one)."),
        }
        println!();
    }
    for setting in settings {
        print!("{}", describe(setting, all || !names.is_empty()));
    }
    for warning in registry.check() {
        eprintln!("catena: {warning}");
    }
    0
}

/// Shows how this process was wired up; gives the status.
fn boot() -> i32 {
    let shown = catena_boot::open().and_then(|mut boot| {
        let job = boot.job();
        if job.rank == 0 {
            let (ranks, nodes) = (job.size, job.hosts.len());
            let mut lines = boot.describe();
            lines.push(("job", format!("ranks: {ranks}; nodes: {nodes}")));
            if lines.iter().all(|(name, _)| *name != "library") {
                lines.push((
                    "libpmix",
                    match catena_boot::pmix_library() {
                        Ok((name, version)) => format!("{name}: {version}"),
                        Err(_) => "none (needed under launchers that speak PMIx only)".to_string(),
                    },
                ));
            }
            for (name, value) in lines {
                println!("{name:<17} {value}");
            }
        }
        // Others may still ask for what this process has told.
        boot.fence()?;
        boot.end()
    });
    match shown {
        Ok(()) => 0,
        Err(error) => {
            eprintln!("catena info: {error}");
            1
        }
    }
}

/// Lists the performance variables whose names contain one of these, or all.
fn show_pvars(names: &[String]) -> i32 {
    let wanted = |pvar: &&Pvar| {
        let name = pvar.name.to_ascii_uppercase();
        names.is_empty() || names.iter().any(|part| name.contains(part.as_str()))
    };
    let found: Vec<_> = catalog().pvars.iter().filter(wanted).collect();
    if let ([], Some(name)) = (&found[..], names.first()) {
        eprintln!(
            "catena info: no performance variable has {name} in its name; \
             `catena info --pvars` shows all"
        );
        return 1;
    }
    for pvar in found {
        print!("{}", describe_pvar(pvar));
    }
    0
}

fn describe_pvar(pvar: &Pvar) -> String {
    let of = match pvar.bind() {
        Bind::Object(ObjectKind::File) => ", of a file",
        Bind::Object(_) => ", of a communicator",
        Bind::Process => "",
    };
    let (name, class, unit) = (&pvar.name, pvar.class.name(), pvar.unit());
    format!("{name}: {class}, {unit}{of}\n    {}\n", pvar.doc)
}

/// A setting with its first sentence, or with everything about it.
fn describe(setting: &dyn Setting, whole: bool) -> String {
    let value = match setting.value_text() {
        text if text.is_empty() => "(empty)".to_string(),
        text => text,
    };
    let origin = match setting.origin() {
        Origin::Tuned => {
            let profile = Sources::of_process().profile();
            let mut values = profile.values.iter();
            let found = values.find(|it| it.name == setting.name());
            let gain = found.map_or("", |it| &it.gain);
            format!("tuned, {}: {gain}", profile.path.display())
        }
        origin => origin.to_string(),
    };
    let mut text = format!("{} = {value}  ({origin})\n", setting.name());
    if whole {
        text += &indented(setting.doc().trim_end());
        text += &format!("    {}", setting.kind());
        if let Some((least, most)) = setting.range() {
            text += &format!(" from {least} to {most}");
        }
        if !setting.choices().is_empty() {
            text += &format!(" ({})", setting.choices().join(", "));
        }
        let default = setting.default_text();
        text += &format!(
            "; default {default}; {}; for {}s\n",
            setting.scope(),
            setting.level()
        );
    } else {
        text += &indented(setting.summary());
    }
    text
}

/// Each line behind a margin.
fn indented(text: &str) -> String {
    let line = |line: &str| format!("    {}", line.trim()).trim_end().to_string() + "\n";
    text.lines().map(line).collect()
}

#[cfg(test)]
mod tests {
    use catena_settings::{Bytes, setting};

    use super::*;

    setting! {
        /// Largest thing.
        ///
        /// Larger ones are cut.
        static THING_MAX: Bytes = Bytes::kib(8);
        range: Bytes::ZERO..=Bytes::kib(64),
        scope: AllEqual,
        level: Tuner,
    }

    setting! {
        /// How long a thing is, which is said in a sentence (with figures such as 1.5) that does
        /// not end on its first line. What comes next is for `--all`.
        static THING_LONG: Bytes = Bytes::kib(8);
        range: Bytes::ZERO..=Bytes::kib(64),
        scope: AllEqual,
        level: User,
    }

    #[test]
    fn the_first_sentence_is_whole() {
        assert_eq!(
            describe(&THING_LONG, false),
            "THING_LONG = 8KiB  (default)\n    How long a thing is, which is said in a sentence \
             (with figures such as 1.5) that does\n    not end on its first line.\n"
        );
        assert!(describe(&THING_LONG, true).contains("What comes next"));
    }

    #[test]
    fn variables_are_described() {
        let of = |name: &str| {
            let mut all = catalog().pvars.iter();
            describe_pvar(all.find(|pvar| pvar.name == name).unwrap())
        };
        assert_eq!(
            of("wait_asleep"),
            "wait_asleep: timer, seconds\n    Time that the process slept while it waited, in \
             seconds.\n"
        );
        let text = of("comm_received_bytes");
        assert!(
            text.starts_with("comm_received_bytes: aggregate, bytes, of a communicator\n"),
            "{text}"
        );
    }

    #[test]
    fn settings_are_described() {
        assert_eq!(
            describe(&THING_MAX, false),
            "THING_MAX = 8KiB  (default)\n    Largest thing.\n"
        );
        assert_eq!(
            describe(&THING_MAX, true),
            "THING_MAX = 8KiB  (default)\n    Largest thing.\n\n    Larger ones are cut.\n    \
             bytes from 0 to 64KiB; default 8KiB; all equal; for tuners\n"
        );
    }
}

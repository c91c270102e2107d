//! Settings that `-x`, `-env` and `-genv` give to the ranks, and that mpirun follows as well: some
//! are its own, and the configuration file, which it reads for all of them, is one.

use std::ffi::{OsStr, OsString};

use catena_settings::{CONF, PREFIX};

/// Variables and their values, of which the last one of a name counts.
type Vars = Vec<(OsString, OsString)>;

/// The settings that all programs of the job are given alike: each has the variables in `apps`, and
/// those in `all` where it has none of its own. `own` is mpirun's own [`CONF`].
///
/// # Errors
/// A text for the user if programs are given different configuration files: settings that must be
/// equal would differ.
pub fn heard(all: &Vars, apps: &[&Vars], own: Option<&OsStr>) -> Result<Vars, String> {
    let value = |app: &Vars, name: &OsStr| {
        let mut given = app.iter().rev().chain(all.iter().rev());
        let found = given.find(|(known, _)| known == name);
        found.map(|(_, value)| value.clone())
    };
    let given = apps.iter().copied().flatten().chain(all);
    let mut names: Vec<&OsString> = given.map(|(name, _)| name).collect();
    names.retain(|name| name.to_string_lossy().starts_with(PREFIX));
    names.sort_unstable();
    names.dedup();
    let mut heard = Vec::new();
    for name in names {
        let default = if name == CONF { own } else { None };
        let of = |app: &Vars| value(app, name).or(default.map(OsStr::to_os_string));
        let common = apps.first().and_then(|app| of(app));
        if apps.iter().all(|app| of(app) == common) {
            heard.extend(common.map(|value| (name.clone(), value)));
        } else if name == CONF {
            return Err(format!(
                "{CONF} differs between the programs of this job, for all of which one file is \
                 read; give it once, with -genv or in the environment of mpirun"
            ));
        }
    }
    Ok(heard)
}

/// The variables that all programs are given alike by `-x` or `-env`: what they spawn has them,
/// too.
pub fn common(apps: &[&Vars]) -> Vars {
    let value = |app: &Vars, name: &OsStr| {
        let found = app.iter().rev().find(|(known, _)| known == name);
        found.map(|(_, value)| value.clone())
    };
    let Some((first, rest)) = apps.split_first() else {
        return Vars::new();
    };
    let is_common = |(name, _): &&(OsString, OsString)| {
        let own = value(first, name);
        rest.iter().all(|app| value(app, name) == own)
    };
    first.iter().filter(is_common).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    fn vars(text: &str) -> Vars {
        let pairs = text
            .split_whitespace()
            .filter_map(|word| word.split_once('='));
        pairs
            .map(|(name, value)| (name.into(), value.into()))
            .collect()
    }

    #[test]
    fn what_all_programs_are_given_is_heard() {
        let heard = |all: &str, apps: [&str; 2], own: Option<&str>| {
            let apps = apps.map(vars);
            heard(&vars(all), &[&apps[0], &apps[1]], own.map(OsStr::new))
        };
        let one = |app: &str, own: Option<&str>| heard("", [app, app], own);
        assert_eq!(one("CATENA_A=1 B=2", None), Ok(vars("CATENA_A=1")));
        let apps = ["CATENA_B=2", "CATENA_B=2 CATENA_A=3"];
        assert_eq!(heard("CATENA_A=1", apps, None), Ok(vars("CATENA_B=2")));
        assert_eq!(one("CATENA_A=1 CATENA_A=2", None), Ok(vars("CATENA_A=2")));
        let conf = "CATENA_CONF=x";
        assert_eq!(one(conf, Some("y")), Ok(vars(conf)));
        let apps = [conf, ""];
        assert!(heard("", apps, None).unwrap_err().contains("differs"));
        assert!(heard("", apps, Some("y")).is_err());
        assert_eq!(heard("", apps, Some("x")), Ok(vars(conf)));
        assert_eq!(one("", Some("x")), Ok(vars("")));
    }

    #[test]
    fn what_all_programs_are_given_their_children_have() {
        let (a, b) = (vars("X=1 Y=2 Z=0 Z=3"), vars("Y=2 X=0 Z=3"));
        assert_eq!(common(&[&a, &b]), vars("Y=2 Z=0 Z=3"));
        assert_eq!(common(&[&a]), a);
        assert_eq!(common(&[]), Vars::new());
    }
}

//! Settings that `-x`, `-env` and `-genv` give to the ranks, and that mpirun follows as well: some are its own, and the
//! configuration file, which it reads for all of them, is one.

use std::ffi::{OsStr, OsString};

use catena_settings::{CONF, PREFIX};

use crate::args::{App, Request};

/// The settings that all programs of the job are given alike; `own` is mpirun's own [`CONF`].
///
/// # Errors
/// A text for the user if programs are given different configuration files: settings that must be equal would differ.
pub fn heard(request: &Request, own: Option<&OsStr>) -> Result<Vec<(OsString, OsString)>, String> {
    let value = |app: &App, name: &OsStr| {
        let given = app.env.iter().rev().chain(request.env.iter().rev());
        let mut given = given.filter(|(known, _)| known == name);
        given.next().map(|(_, value)| value.clone())
    };
    let first = request.apps.first();
    let given = request.apps.iter().flat_map(|app| &app.env);
    let mut names: Vec<&OsString> = given.chain(&request.env).map(|(name, _)| name).collect();
    names.retain(|name| name.to_string_lossy().starts_with(PREFIX));
    names.sort_unstable();
    names.dedup();
    let mut heard = Vec::new();
    for name in names {
        let default = if name == CONF { own } else { None };
        let of = |app: &App| value(app, name).or(default.map(OsStr::to_os_string));
        let common = first.and_then(of);
        if request.apps.iter().all(|app| of(app) == common) {
            heard.extend(common.map(|value| (name.clone(), value)));
        } else if name == CONF {
            return Err(format!(
                "{CONF} differs between the programs of this job, for all of which one file is read; \
                 give it once, with -genv or in the environment of mpirun"
            ));
        }
    }
    Ok(heard)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Parsed, parse};

    fn request(line: &str) -> Request {
        match parse(line.split_whitespace().map(OsString::from)) {
            Ok(Parsed::Run(request)) => *request,
            _ => panic!("{line}"),
        }
    }

    #[test]
    fn what_all_programs_are_given_is_heard() {
        let heard = |line: &str, own: Option<&str>| {
            let heard = heard(&request(line), own.map(OsStr::new));
            heard.map(|all| {
                let text = |(name, value): (OsString, OsString)| {
                    format!("{}={}", name.display(), value.display())
                };
                all.into_iter().map(text).collect::<Vec<_>>().join(" ")
            })
        };
        assert_eq!(heard("-x CATENA_A=1 -x B=2 a", None).unwrap(), "CATENA_A=1");
        let both = "-genv CATENA_A 1 -x CATENA_B=2 a : -x CATENA_B=2 -x CATENA_A=3 b";
        assert_eq!(heard(both, None).unwrap(), "CATENA_B=2");
        let conf = "-x CATENA_CONF=x a";
        assert_eq!(heard(conf, Some("y")).unwrap(), "CATENA_CONF=x");
        let one = "-x CATENA_CONF=x a : b";
        assert!(heard(one, None).unwrap_err().contains("differs"));
        assert!(heard(one, Some("y")).is_err());
        assert_eq!(heard(one, Some("x")).unwrap(), "CATENA_CONF=x");
        assert_eq!(heard("a : b", Some("x")).unwrap(), "");
    }
}

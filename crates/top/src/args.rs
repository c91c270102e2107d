//! The command line of `catena top`.

use std::ffi::OsString;

/// What it asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Args {
    /// The job that it names.
    pub job: Option<String>,
    /// Whether the jobs of all users are wanted.
    pub all: bool,
    /// Whether one frame is enough.
    pub once: bool,
    /// Whether frames are wanted as JSON.
    pub json: bool,
}

/// What a command line is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Parsed {
    /// A question how it is called.
    Help,
    /// One that asks for frames.
    Args(Args),
}

/// Understands arguments.
///
/// # Errors
/// What is wrong with them, and what there is.
pub fn parse(args: impl Iterator<Item = OsString>) -> Result<Parsed, String> {
    let mut parsed = Args::default();
    for arg in args {
        let arg = arg.to_string_lossy().into_owned();
        match arg.as_str() {
            "--help" | "-h" | "-help" => return Ok(Parsed::Help),
            "--all" | "-a" => parsed.all = true,
            "--once" => parsed.once = true,
            "--json" => parsed.json = true,
            option if option.starts_with('-') => {
                return Err(format!(
                    "{option} is no option of it: there are --all, --once and --json"
                ));
            }
            _ if parsed.job.is_some() => return Err("name one job".into()),
            _ => parsed.job = Some(arg),
        }
    }
    match parsed.all && parsed.job.is_some() {
        true => Err("name a job, or say --all".into()),
        false => Ok(Parsed::Args(parsed)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<Parsed, String> {
        parse(text.split_whitespace().map(OsString::from))
    }

    #[test]
    fn arguments_are_understood() {
        assert_eq!(of(""), Ok(Parsed::Args(Args::default())));
        let parsed = Args {
            job: Some("9f".into()),
            once: true,
            json: true,
            all: false,
        };
        assert_eq!(of("--json 9f --once"), Ok(Parsed::Args(parsed)));
        assert_eq!(of("--all --help"), Ok(Parsed::Help));
        for (bad, why) in [
            ("1 2", "one job"),
            ("1 --all", "or say --all"),
            ("-x", "-x is no"),
        ] {
            assert!(of(bad).unwrap_err().contains(why), "{bad}");
        }
    }
}

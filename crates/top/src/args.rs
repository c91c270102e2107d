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
    /// The port of this host at which a browser is to see them, 0 for a free one.
    pub web: Option<u16>,
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
    let mut is_behind_web = false;
    for arg in args {
        let arg = arg.to_string_lossy().into_owned();
        let may_be_port = std::mem::take(&mut is_behind_web);
        if may_be_port && arg.bytes().all(|byte| byte.is_ascii_digit()) {
            parsed.web = Some(port(&arg)?);
            continue;
        }
        match arg.as_str() {
            "--help" | "-h" | "-help" => return Ok(Parsed::Help),
            "--all" | "-a" => parsed.all = true,
            "--once" => parsed.once = true,
            "--json" => parsed.json = true,
            "--web" => (parsed.web, is_behind_web) = (Some(0), true),
            option if option.starts_with("--web=") => {
                parsed.web = Some(port(&option["--web=".len()..])?);
            }
            option if option.starts_with('-') => {
                return Err(format!(
                    "{option} is no option of it: there are --all, --once, --json and --web"
                ));
            }
            _ if parsed.job.is_some() => return Err("name one job".into()),
            _ => parsed.job = Some(arg),
        }
    }
    if parsed.web.is_some() && (parsed.once || parsed.json) {
        return Err("--web goes on until it is ended: leave out --once and --json".into());
    }
    match parsed.all && parsed.job.is_some() {
        true => Err("name a job, or say --all".into()),
        false => Ok(Parsed::Args(parsed)),
    }
}

/// A port.
fn port(text: &str) -> Result<u16, String> {
    text.parse().map_err(|_| {
        format!("{text} is no port: there are those up to 65535; a job is named before --web")
    })
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
            ..Args::default()
        };
        assert_eq!(of("--json 9f --once"), Ok(Parsed::Args(parsed)));
        assert_eq!(of("--all --help"), Ok(Parsed::Help));
        let web = |text: &str| match of(text) {
            Ok(Parsed::Args(args)) => (args.web, args.job),
            other => panic!("{text}: {other:?}"),
        };
        assert_eq!(web("--web"), (Some(0), None));
        assert_eq!(web("--web 8000"), (Some(8000), None));
        assert_eq!(web("--web 8000 123"), (Some(8000), Some("123".into())));
        assert_eq!(web("123 --web"), (Some(0), Some("123".into())));
        assert_eq!(web("--web=80 9f"), (Some(80), Some("9f".into())));
        assert_eq!(web("--web 9f"), (Some(0), Some("9f".into())));
        for (bad, why) in [
            ("--web 70000", "70000 is no port"),
            ("--web= 1", " is no port"),
            ("--web --once", "leave out"),
            ("1 2", "one job"),
            ("1 --all", "or say --all"),
            ("-x", "-x is no"),
        ] {
            assert!(of(bad).unwrap_err().contains(why), "{bad}");
        }
    }
}

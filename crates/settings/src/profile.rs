//! The profile: what `catena tune` and `catena explain --try --keep` have measured on a machine, as
//! values of settings that nobody has given otherwise.
//!
//! A profile is followed as a whole or not at all. It names the machine and the version that it was
//! measured with, and is not followed on another one; one that is not whole, or that is none, is
//! told and not followed either. It can only name settings of which no result depends and about
//! which processes need not agree, or about which the launcher makes them agree ([`Tuned`]).
//!
//! ```text
//! # Written by `catena tune`.
//! format = 1
//! catena = 0.1.0
//! processor = Intel Xeon
//! cores = 2
//! kernel = 6.1.0
//! [one host]
//! SHM_EAGER_MAX = 256KiB # 0.84 of the time, bandwidth of 128 KiB
//! [several hosts, stencil]
//! TCP_EAGER_MAX = 64KiB # 0.51 of the time, whole runs of stencil
//! end
//! ```
//!
//! The launcher reads it once and hands on to all processes of its jobs what counts for them.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fmt::Write;
use std::io;
use std::path::{Path, PathBuf};

use crate::file;
use crate::warning::Warning;

mod place;

pub use place::{Change, Place};

/// Names the profile in the environment; `none` is to have none.
pub const PROFILE: &str = "CATENA_PROFILE";

/// In the environment: what the launcher has made of the profile, for all processes of its jobs.
pub const TUNED: &str = "CATENA_TUNED";

/// The usual file, in the home directory.
const USUAL: &str = ".config/catena.profile";

/// What begins the first line that counts.
const FORMAT: u32 = 1;

/// The most lines with settings that a profile has.
const MOST: usize = 200;

/// Whether a profile can give a setting its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tuned {
    /// Never: results depend on it, or it is no matter of speed.
    Never,
    /// Each process may have its own value, whatever others have.
    Alone,
    /// All processes of a job must have the same one, so it counts only where the launcher hands it
    /// to all of them.
    Together,
}

/// What a profile is about: the machine and the version with which it was measured.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fitness {
    /// Catena's version.
    pub catena: String,
    /// Model of the processor.
    pub processor: String,
    /// How many processors the machine has.
    pub cores: String,
    /// Release of the kernel.
    pub kernel: String,
}

impl Fitness {
    /// This machine and this version. Reads three small files of the system.
    pub fn here() -> Fitness {
        let begin = |path: &str| {
            let mut bytes = vec![0; 4096];
            let count = std::fs::File::open(path)
                .and_then(|mut file| io::Read::read(&mut file, &mut bytes))
                .unwrap_or(0);
            String::from_utf8_lossy(&bytes[..count]).into_owned()
        };
        // Each processor has the same lines there.
        let about = begin("/proc/cpuinfo");
        let field = |name: &str| {
            let mut lines = about.lines().filter_map(|line| line.split_once(':'));
            let found = lines.find(|(field, _)| field.trim() == name)?;
            Some(found.1.trim().to_string())
        };
        let processor = field("model name").or_else(|| {
            let (of, part) = (field("CPU implementer")?, field("CPU part")?);
            Some(format!("{of} {part}"))
        });
        let name = rustix::system::uname();
        Fitness {
            catena: env!("CARGO_PKG_VERSION").to_string(),
            processor: plain(&processor.unwrap_or_else(|| std::env::consts::ARCH.to_string())),
            cores: count_of(&begin("/sys/devices/system/cpu/online")).to_string(),
            kernel: plain(&name.release().to_string_lossy()),
        }
    }

    fn fields(&self) -> [(&'static str, &str); 4] {
        [
            ("catena", &self.catena),
            ("processor", &self.processor),
            ("cores", &self.cores),
            ("kernel", &self.kernel),
        ]
    }

    /// What is not as it is here, in words.
    fn difference(&self, here: &Fitness) -> Option<String> {
        let pairs = self.fields().into_iter().zip(here.fields());
        let other = pairs.filter(|((_, then), (_, now))| then != now);
        let words = other.map(|((name, then), (_, now))| {
            let name = match name {
                "catena" => "Catena",
                "cores" => "number of processors",
                name => name,
            };
            format!("{name} was {then} and is {now}")
        });
        let words: Vec<_> = words.collect();
        (!words.is_empty()).then(|| words.join(", "))
    }
}

/// How many numbers a list such as `0-3,8` has.
fn count_of(list: &str) -> u64 {
    let parts = list.trim().split(',').filter(|part| !part.is_empty());
    let count = parts.map(|part| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let number = |text: &str| text.parse::<u64>().unwrap_or(0);
        number(last).saturating_sub(number(first)).saturating_add(1)
    });
    count.fold(0, u64::saturating_add)
}

/// For which jobs a value is.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Jobs {
    /// Whether for those on several hosts, or those on one.
    pub are_on_several: bool,
    /// Only those of this program, as [`program`] calls it.
    pub program: Option<String>,
}

impl Jobs {
    fn head(&self) -> String {
        let hosts = match self.are_on_several {
            true => "several hosts",
            false => "one host",
        };
        match &self.program {
            Some(program) => format!("[{hosts}, {program}]"),
            None => format!("[{hosts}]"),
        }
    }

    fn parse(head: &str) -> Option<Jobs> {
        let inner = head.strip_prefix('[')?.strip_suffix(']')?;
        let (hosts, program) = match inner.split_once(',') {
            Some((hosts, program)) => (hosts, Some(program.trim().to_string())),
            None => (inner, None),
        };
        let are_on_several = match hosts.trim() {
            "one host" => false,
            "several hosts" => true,
            _ => return None,
        };
        Some(Jobs {
            are_on_several,
            program,
        })
    }
}

/// A job for which a profile may have values.
#[derive(Clone, Copy, Debug, Default)]
pub struct Job<'a> {
    /// On how many hosts it is, if that is known.
    pub hosts: Option<usize>,
    /// Its only program.
    pub program: Option<&'a str>,
}

/// What a program is called in a profile: its name without folders, and that of the script where an
/// interpreter runs one; `None` if there is no such name.
pub fn program<S: AsRef<OsStr>>(name: &OsStr, args: &[S]) -> Option<String> {
    let bare = |name: &OsStr| Some(Path::new(name).file_name()?.to_str()?.to_string());
    let name = bare(name)?;
    let is_interpreter = name.starts_with("python")
        || ["sh", "bash", "env", "perl", "ruby", "julia", "Rscript"].contains(&&*name);
    let name = match is_interpreter {
        false => name,
        true => {
            let mut words = args.iter().map(AsRef::as_ref);
            let script = words.next().filter(|word| {
                let word = word.to_string_lossy();
                !word.starts_with('-') && !word.contains('=')
            })?;
            format!("{name} {}", bare(script)?)
        }
    };
    let is_plain = |c: char| c.is_ascii_graphic() && !"[],#=".contains(c) || c == ' ';
    name.chars().all(is_plain).then_some(name)
}

/// A value that was measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Measured {
    /// The setting, without prefix.
    pub name: String,
    /// The value.
    pub value: String,
    /// What it gains, in words.
    pub gain: String,
}

/// A profile as it is in a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// What it was measured with.
    pub fitness: Fitness,
    /// What was measured.
    pub values: BTreeMap<Jobs, Vec<Measured>>,
}

/// What this process, or the launcher for it, has made of a profile.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Verdict {
    /// There is none.
    #[default]
    Absent,
    /// It is followed.
    Followed,
    /// It is of another machine or version: how these differ.
    Unfit(String),
    /// It is none: why.
    Broken(String),
}

/// A profile and what was made of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Followed {
    /// The file.
    pub path: PathBuf,
    /// Whether it is followed.
    pub verdict: Verdict,
    /// The values that count, if it is.
    pub values: Vec<Measured>,
    /// Whether the launcher has handed this to all processes of the job.
    pub is_handed: bool,
}

impl Profile {
    /// The profile that a text is.
    ///
    /// # Errors
    /// Why it is none.
    pub fn parse(text: &str) -> Result<Profile, String> {
        let mut profile = Profile::default();
        let (mut format, mut jobs, mut is_whole, mut count) = (false, None, false, 0);
        for (number, line) in (1..).zip(text.lines()) {
            let wrong = |what: &str| Err(format!("its line {number} {what}"));
            let (words, gain) = match line.split_once('#') {
                Some((words, gain)) => (words.trim(), gain.trim()),
                None => (line.trim(), ""),
            };
            if words.is_empty() {
                continue;
            }
            if is_whole {
                return wrong("stands behind its end");
            }
            if words == "end" {
                is_whole = true;
                continue;
            }
            if words.starts_with('[') {
                match Jobs::parse(words) {
                    Some(those) if format => jobs = Some(those),
                    _ => return wrong("does not say for which jobs it is"),
                }
                continue;
            }
            let Some((name, value)) = words.split_once('=') else {
                return wrong("is no NAME = value");
            };
            let (name, value) = (name.trim(), value.trim());
            let Some(jobs) = &jobs else {
                let fitness = &mut profile.fitness;
                let field = match name {
                    "format" if value == FORMAT.to_string() => {
                        format = true;
                        continue;
                    }
                    "format" => return Err(format!("its format is {value}, and not {FORMAT}")),
                    _ if !format => return Err("it does not begin with its format".into()),
                    "catena" => &mut fitness.catena,
                    "processor" => &mut fitness.processor,
                    "cores" => &mut fitness.cores,
                    "kernel" => &mut fitness.kernel,
                    _ => return wrong("is nothing that its head has"),
                };
                *field = value.to_string();
                continue;
            };
            let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
            if name.is_empty() || !name.chars().all(is_name) {
                return wrong("has no name of a setting");
            }
            count += 1;
            if count > MOST {
                return Err(format!("it has more than {MOST} values"));
            }
            profile
                .values
                .entry(jobs.clone())
                .or_default()
                .push(Measured {
                    name: name.to_ascii_uppercase(),
                    value: value.to_string(),
                    gain: gain.to_string(),
                });
        }
        match (format, is_whole) {
            (false, _) => Err("it has nothing of a profile in it".into()),
            (true, false) => Err("its end is missing".into()),
            (true, true) => Ok(profile),
        }
    }

    /// As text.
    pub fn text(&self) -> String {
        let mut text = format!(
            "# Values of settings that were measured, by `catena tune` or `catena explain --try\n\
             # --keep`. Remove the file to be without them; {PROFILE}=none does that once.\n\
             format = {FORMAT}\n"
        );
        for (name, value) in self.fitness.fields() {
            _ = writeln!(text, "{name} = {}", plain(value));
        }
        for (jobs, values) in &self.values {
            _ = writeln!(text, "{}", jobs.head());
            for it in values {
                _ = writeln!(text, "{} = {} # {}", it.name, it.value, plain(&it.gain));
            }
        }
        text + "end\n"
    }

    /// Puts values in the place of others of the same settings for those jobs.
    pub fn keep(&mut self, jobs: &Jobs, values: Vec<Measured>) {
        let known = self.values.entry(jobs.clone()).or_default();
        known.retain(|it| values.iter().all(|new| new.name != it.name));
        known.extend(values);
    }

    /// What counts for a job, what was measured on its program before all else. Where it is not
    /// known how many hosts a job has, a value counts if it is the same for one and for several, or
    /// known for either alone.
    fn values_for(&self, job: Job<'_>) -> Vec<Measured> {
        let mut found: BTreeMap<&str, Option<&Measured>> = BTreeMap::new();
        for is_of_program in [false, true] {
            let mut here: BTreeMap<&str, Option<&Measured>> = BTreeMap::new();
            for (jobs, values) in &self.values {
                let is_meant = match &jobs.program {
                    Some(program) => is_of_program && Some(&**program) == job.program,
                    None => !is_of_program,
                };
                if !is_meant || job.hosts.is_some_and(|it| (it > 1) != jobs.are_on_several) {
                    continue;
                }
                for it in values {
                    let known = here.entry(&it.name).or_insert(Some(it));
                    *known = known.filter(|known| known.value == it.value);
                }
            }
            found.extend(here);
        }
        found.into_values().flatten().cloned().collect()
    }
}

/// Where the profile is that `named`, the value of [`PROFILE`], names, or else the usual one;
/// `None` if there is to be none.
pub fn path(named: Option<&str>) -> Option<PathBuf> {
    match named.filter(|name| !name.is_empty()) {
        Some("none") => None,
        Some(name) => Some(std::path::absolute(name).unwrap_or_else(|_| name.into())),
        None => file::in_home(USUAL),
    }
}

/// Reads the profile at a place; `Ok(None)` if there is none.
///
/// # Errors
/// Why it cannot be used.
pub fn read(path: &Path, is_named: bool) -> Result<Option<Profile>, String> {
    match file::read(path, is_named) {
        Ok(file) => match file.problems.first() {
            Some(problem) => Err(problem
                .cause
                .trim_end_matches(", and is ignored")
                .to_string()),
            None => Profile::parse(&file.text).map(Some),
        },
        Err(error) if !is_named && file::is_absent(&error) => Ok(None),
        Err(error) => Err(format!("it cannot be read: {error}")),
    }
}

impl Followed {
    /// What this process makes of the profile that `named`, any value of [`PROFILE`], names, for a
    /// job.
    pub fn find_named(named: Option<&OsStr>, job: Job<'_>) -> Followed {
        match named.map(|name| (name, name.to_str())) {
            // Settings are text, and what is told of it, too.
            Some((name, None)) => Followed {
                path: name.into(),
                verdict: Verdict::Broken(format!("its name, in {PROFILE}, is no UTF-8")),
                ..Followed::default()
            },
            Some((_, name)) => Followed::find(name, job),
            None => Followed::find(None, job),
        }
    }

    /// What this process makes of the profile that `named` names, for a job.
    pub fn find(named: Option<&str>, job: Job<'_>) -> Followed {
        let is_named = named.is_some_and(|name| !name.is_empty());
        let Some(path) = path(named) else {
            return Followed::default();
        };
        let (verdict, values) = match read(&path, is_named) {
            Ok(None) => return Followed::default(),
            Err(why) => (Verdict::Broken(why), Vec::new()),
            Ok(Some(profile)) => match profile.fitness.difference(&Fitness::here()) {
                Some(difference) => (Verdict::Unfit(difference), Vec::new()),
                None => (Verdict::Followed, profile.values_for(job)),
            },
        };
        Followed {
            path,
            verdict,
            values,
            is_handed: false,
        }
    }

    /// The value of a setting.
    pub(crate) fn value(&self, name: &str, tuned: Tuned) -> Option<&str> {
        let counts = match tuned {
            Tuned::Never => false,
            Tuned::Alone => true,
            Tuned::Together => self.is_handed,
        };
        let mut values = self.values.iter().filter(|_| counts);
        values.find(|it| it.name == name).map(|it| &*it.value)
    }

    /// As a variable of the environment: lines with the path, the verdict, and values with gains.
    pub fn to_handed(&self) -> String {
        let verdict = match &self.verdict {
            Verdict::Absent => "absent".to_string(),
            Verdict::Followed => "followed".to_string(),
            Verdict::Unfit(why) => format!("unfit {}", file::one_line(why)),
            Verdict::Broken(why) => format!("broken {}", file::one_line(why)),
        };
        let path = file::one_line(&self.path.to_string_lossy());
        let mut text = format!("{path}\n{verdict}");
        for it in &self.values {
            let parts = [&it.name, &it.value, &it.gain].map(|part| file::one_line(part));
            _ = write!(text, "\n{} = {} # {}", parts[0], parts[1], parts[2]);
        }
        text
    }

    /// What was handed on, if it is what [`Followed::to_handed`] has made.
    pub fn from_handed(text: &str) -> Option<Followed> {
        let mut lines = text.split('\n');
        let path = PathBuf::from(lines.next()?);
        let verdict = lines.next()?;
        let verdict = match verdict.split_once(' ').unwrap_or((verdict, "")) {
            ("absent", _) => Verdict::Absent,
            ("followed", _) => Verdict::Followed,
            ("unfit", why) => Verdict::Unfit(why.to_string()),
            ("broken", why) => Verdict::Broken(why.to_string()),
            _ => return None,
        };
        let measured = |line: &str| {
            let (words, gain) = line.split_once(" # ").unwrap_or((line, ""));
            let (name, value) = words.split_once(" = ")?;
            Some(Measured {
                name: name.to_string(),
                value: value.to_string(),
                gain: gain.to_string(),
            })
        };
        Some(Followed {
            path,
            verdict,
            values: lines.take(MOST).filter_map(measured).collect(),
            is_handed: true,
        })
    }

    /// Whether there is one and what comes of it, in words behind its name; `None` if there is
    /// none.
    pub fn words(&self) -> Option<String> {
        let path = self.path.display();
        match &self.verdict {
            Verdict::Absent => None,
            Verdict::Followed => Some(format!("{path}: it is followed")),
            Verdict::Unfit(why) => Some(format!(
                "{path}: it is not followed, as it is of another machine or version ({why}); \
                 `catena tune` makes one of this"
            )),
            Verdict::Broken(why) => Some(format!(
                "{path}: it is not followed, as {why}; correct its name in {PROFILE}, or remove it: \
                 `catena tune` writes another one"
            )),
        }
    }

    /// What is wrong with it, if it is none.
    pub(crate) fn problem(&self) -> Option<Warning> {
        let Verdict::Broken(why) = &self.verdict else {
            return None;
        };
        Some(Warning {
            subject: self.path.display().to_string(),
            cause: format!("the profile is not followed: {why}"),
            remedy: format!(
                "correct its name in {PROFILE}, or remove it: `catena tune` writes another one"
            ),
        })
    }
}

/// Words that a line of a profile can have.
fn plain(text: &str) -> String {
    let is_plain = |c: char| !c.is_control() && c != '#';
    text.chars()
        .map(|c| if is_plain(c) { c } else { '?' })
        .collect::<String>()
        .trim()
        .to_string()
}

#[cfg(test)]
mod tests;

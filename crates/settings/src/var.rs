//! One setting: its definition and its value.
//!
//! | field   | writer                  | rule                                    |
//! |---------|-------------------------|-----------------------------------------|
//! | `bits`  | `load`, `set`           | stored before `state`                   |
//! | `state` | `load`, `set`           | Release there, Acquire in `get`         |
//!
//! Two threads that load at the same time find the same value.

use std::fmt;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering::*};

use crate::profile::Tuned;
use crate::source::{Origin, Sources};
use crate::value::{Plain, Value};
use crate::warning::Warning;

/// Whether the processes of a job must agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// All processes must have the same value.
    AllEqual,
    /// Each process may have its own.
    Local,
}

/// Until when a program may give a setting another value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Change {
    /// Until it is read, when MPI is initialised.
    BeforeInit,
    /// At any time: who reads it notices ([`changes`]).
    Anytime,
}

/// How often a setting was given another value while the program ran.
#[inline]
pub fn changes() -> u32 {
    CHANGES.load(Relaxed)
}

static CHANGES: AtomicU32 = AtomicU32::new(0);

/// Whom a setting is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Everyone who runs programs.
    User,
    /// For those who tune a machine or a program.
    Tuner,
    /// For those who work on Catena.
    Developer,
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Scope::AllEqual => "all equal",
            Scope::Local => "local",
        })
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Level::User => "user",
            Level::Tuner => "tuner",
            Level::Developer => "developer",
        })
    }
}

/// The definition of a setting, as [`setting!`](crate::setting) writes it.
#[derive(Clone, Copy, Debug)]
pub struct Spec<T> {
    /// Name without prefix.
    pub name: &'static str,
    /// Documentation; its first line is a summary.
    pub doc: &'static str,
    /// Value if nobody gives one.
    pub default: T,
    /// Smallest and largest legal value.
    pub range: Option<(T, T)>,
    /// Whether processes must agree.
    pub scope: Scope,
    /// Whom it is for.
    pub level: Level,
    /// Until when it may change.
    pub change: Change,
    /// Whether a profile can give it its value.
    pub tuned: Tuned,
}

/// A setting with its value, which is found when first asked for.
#[derive(Debug)]
pub struct Var<T: Value> {
    spec: Spec<T>,
    /// 0: not loaded yet; else 1 + index of the origin.
    state: AtomicU8,
    bits: AtomicU64,
}

const ORIGINS: [Origin; 6] = [
    Origin::Program,
    Origin::CommandLine,
    Origin::Environment,
    Origin::File,
    Origin::Tuned,
    Origin::Default,
];

impl<T: Value> Var<T> {
    /// A setting that has not been read yet.
    pub const fn new(spec: Spec<T>) -> Self {
        Var {
            spec,
            state: AtomicU8::new(0),
            bits: AtomicU64::new(0),
        }
    }

    /// The value. Cost after the first call: two loads.
    #[inline]
    pub fn get(&self) -> T {
        if self.state.load(Acquire) == 0 {
            self.load_slow();
        }
        T::from_bits(self.bits.load(Relaxed))
    }

    /// The value that it has without a profile.
    pub fn untuned(&self) -> T {
        match self.origin() {
            Origin::Tuned => self.spec.default,
            _ => self.get(),
        }
    }

    /// Where the value came from.
    pub fn origin(&self) -> Origin {
        if self.state.load(Acquire) == 0 {
            self.load_slow();
        }
        ORIGINS[usize::from(self.state.load(Acquire)) - 1]
    }

    /// Gives it another value while the program runs.
    ///
    /// # Errors
    /// What the range is, if `value` is outside.
    pub fn set(&self, value: T) -> Result<(), String> {
        self.check(value)?;
        self.store(value, Origin::Program);
        CHANGES.fetch_add(1, Relaxed);
        Ok(())
    }

    /// What `sources` make of this setting, without storing it.
    pub fn resolve(&self, sources: &Sources) -> (T, Origin, Option<Warning>) {
        let tuned = || sources.tuned(self.spec.name, self.spec.tuned);
        let found = sources.find(self.spec.name);
        let found = found.or_else(|| Some((tuned()?, Origin::Tuned)));
        let Some((text, origin)) = found else {
            return (self.spec.default, Origin::Default, None);
        };
        let checked = T::parse(text.trim()).and_then(|value| {
            self.check(value)?;
            Ok(value)
        });
        match checked {
            Ok(value) => (value, origin, None),
            Err(cause) => {
                let (name, place) = (self.spec.name, sources.place(self.spec.name, origin));
                let warning = Warning {
                    // A file stands behind the value, which it must not seem to be a part of.
                    subject: match place.strip_prefix(name) {
                        Some(file) => format!("{name}={text}{file}"),
                        None => format!("{place}={text}"),
                    },
                    cause,
                    remedy: format!(
                        "correct it or leave it out; the default, {}, is used",
                        shown(self.spec.default)
                    ),
                };
                (self.spec.default, Origin::Default, Some(warning))
            }
        }
    }

    fn check(&self, value: T) -> Result<(), String> {
        match self.spec.range {
            Some((least, most)) if !(least <= value && value <= most) => Err(format!(
                "it must be from {} to {}",
                least.show(),
                most.show()
            )),
            _ => Ok(()),
        }
    }

    #[cold]
    #[inline(never)]
    fn load_slow(&self) {
        let (value, origin, _) = self.resolve(Sources::of_process());
        self.store(value, origin);
    }

    fn store(&self, value: T, origin: Origin) {
        let index = ORIGINS
            .iter()
            .position(|o| *o == origin)
            .unwrap_or(ORIGINS.len() - 1);
        self.bits.store(value.to_bits(), Relaxed);
        self.state.store(index as u8 + 1, Release);
    }
}

/// As text, with something to see even if it is empty.
fn shown<T: Value>(value: T) -> String {
    let text = value.show();
    if text.is_empty() {
        "empty".to_string()
    } else {
        text
    }
}

/// A setting of any type, as lists hold it.
pub trait Setting: Sync {
    /// Name without prefix.
    fn name(&self) -> &'static str;
    /// Documentation, one paragraph or more.
    fn doc(&self) -> &'static str;
    /// Name of the type.
    fn kind(&self) -> &'static str;
    /// Words it can take, if it is a choice.
    fn choices(&self) -> &'static [&'static str];
    /// Smallest and largest value as text, if they are limited.
    fn range(&self) -> Option<(String, String)>;
    /// Default as text.
    fn default_text(&self) -> String;
    /// Value as text.
    fn value_text(&self) -> String;
    /// Where the value came from.
    fn origin(&self) -> Origin;
    /// Whether processes must agree.
    fn scope(&self) -> Scope;
    /// Whom it is for.
    fn level(&self) -> Level;
    /// Until when it may change.
    fn change(&self) -> Change;
    /// Whether a profile can give it its value.
    fn tuned(&self) -> Tuned;
    /// Its value.
    fn plain(&self) -> Plain<'static>;
    /// Gives it another value while the program runs.
    ///
    /// # Errors
    /// What is expected, in words.
    fn set_plain(&self, value: Plain<'_>) -> Result<(), String>;
    /// What is wrong with the value that `sources` give, if anything.
    fn problem(&self, sources: &Sources) -> Option<Warning>;
    /// Whether `text` is a legal value.
    ///
    /// # Errors
    /// What is expected, in words.
    fn check_text(&self, text: &str) -> Result<(), String>;
    /// Gives it another value while the program runs.
    ///
    /// # Errors
    /// What is expected, in words.
    fn set_text(&self, text: &str) -> Result<(), String>;

    /// First sentence of the documentation, with the ends of its lines.
    fn summary(&self) -> &'static str {
        first_sentence(self.doc().trim())
    }
}

/// Until a full stop behind which another sentence begins, or until the end of the paragraph.
fn first_sentence(text: &'static str) -> &'static str {
    let paragraph = text.split("\n\n").next().unwrap_or_default();
    let begins_another = |stop: usize| {
        let rest = &paragraph[stop + 1..];
        let next = rest.trim_start().chars().next();
        rest.starts_with(char::is_whitespace) && next.is_some_and(|next| !next.is_lowercase())
    };
    let mut stops = paragraph.match_indices('.').map(|(at, _)| at);
    let end = stops
        .find(|&at| begins_another(at))
        .map_or(paragraph.len(), |at| at + 1);
    paragraph[..end].trim_end()
}

impl<T: Value> Setting for Var<T> {
    fn name(&self) -> &'static str {
        self.spec.name
    }

    fn doc(&self) -> &'static str {
        self.spec.doc
    }

    fn kind(&self) -> &'static str {
        T::KIND
    }

    fn choices(&self) -> &'static [&'static str] {
        T::choices()
    }

    fn range(&self) -> Option<(String, String)> {
        self.spec
            .range
            .map(|(least, most)| (least.show(), most.show()))
    }

    fn default_text(&self) -> String {
        self.spec.default.show()
    }

    fn value_text(&self) -> String {
        self.get().show()
    }

    fn origin(&self) -> Origin {
        Var::origin(self)
    }

    fn scope(&self) -> Scope {
        self.spec.scope
    }

    fn level(&self) -> Level {
        self.spec.level
    }

    fn change(&self) -> Change {
        self.spec.change
    }

    fn tuned(&self) -> Tuned {
        self.spec.tuned
    }

    fn plain(&self) -> Plain<'static> {
        self.get().to_plain()
    }

    fn set_plain(&self, value: Plain<'_>) -> Result<(), String> {
        match T::from_plain(value) {
            Some(value) => self.set(value),
            None => Err(format!("it must be a {}", T::KIND)),
        }
    }

    fn problem(&self, sources: &Sources) -> Option<Warning> {
        self.resolve(sources).2
    }

    fn check_text(&self, text: &str) -> Result<(), String> {
        self.check(T::parse(text.trim())?)
    }

    fn set_text(&self, text: &str) -> Result<(), String> {
        self.set(T::parse(text.trim())?)
    }
}

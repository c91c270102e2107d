//! Performance variables (MPI-5, chapter 15.3.7): the words in which a crate describes what it
//! counts, for whoever lists and reads that. A crate above this one lists its own in its
//! [`Listing`](crate::listing::Listing).

use std::fmt;

use catena_abi as abi;
use catena_objects::table::ObjectKind;
use catena_settings::Level;

use crate::comm::Comm;
use crate::process::Process;

/// Whom something is for; the verbosity levels of the standard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Audience {
    /// Everyone who runs programs.
    User,
    /// They, if they want to know more.
    UserDetail,
    /// Who tunes a machine or a program.
    Tuner,
    /// They, if they want to know more.
    TunerDetail,
    /// Who works on Catena.
    Developer,
}

impl From<Level> for Audience {
    fn from(level: Level) -> Self {
        match level {
            Level::User => Audience::User,
            Level::Tuner => Audience::Tuner,
            Level::Developer => Audience::Developer,
        }
    }
}

/// What a variable or an event has to be bound to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bind {
    /// Nothing: it is about the process.
    Process,
    /// An object of that kind.
    Object(ObjectKind),
}

/// How a value lies in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// `int`, often with an enumeration.
    Int,
    /// `unsigned`.
    Unsigned,
    /// `unsigned long long`.
    Long,
    /// `double`.
    Double,
    /// Bytes that end with a NUL.
    Text,
}

/// What a performance variable measures (MPI-5, 15.3.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// One of few states.
    State,
    /// How much of a resource is in use.
    Level,
    /// How large a resource is.
    Size,
    /// How much of it was in use at most.
    HighWatermark,
    /// How often something happened.
    Counter,
    /// The sum of what it happened with.
    Aggregate,
    /// How long it took.
    Timer,
}

impl Class {
    /// How values of the class lie in memory.
    pub fn ty(self) -> Type {
        match self {
            Class::State => Type::Int,
            Class::Timer => Type::Double,
            _ => Type::Long,
        }
    }

    /// Whether a variable of the class is a sum over time, which begins at 0.
    pub fn is_sum(self) -> bool {
        matches!(self, Class::Counter | Class::Aggregate | Class::Timer)
    }

    /// Whether it tells the present only, so that there is nothing to start,
    /// stop, write or reset.
    pub fn is_present(self) -> bool {
        matches!(self, Class::State | Class::Level | Class::Size)
    }

    /// In one word or two.
    pub fn name(self) -> &'static str {
        match self {
            Class::State => "state",
            Class::Level => "level",
            Class::Size => "size",
            Class::HighWatermark => "high watermark",
            Class::Counter => "counter",
            Class::Aggregate => "aggregate",
            Class::Timer => "timer",
        }
    }
}

type OfProcess = dyn Fn(&Process) -> u64 + Send + Sync;
type OfObject = dyn Fn(&Process, usize) -> Option<u64> + Send + Sync;

/// Where a value comes from. Sums are since `MPI_Init`; times in nanoseconds.
pub enum Source {
    /// What the process is doing.
    State,
    /// A number of the process.
    Process(Box<OfProcess>),
    /// A number of an object.
    Object {
        /// Of which kind.
        kind: ObjectKind,
        /// The number of the object with a handle; `None` if there is no such object.
        read: Box<OfObject>,
    },
    /// The most that there was since it was last read.
    Peak {
        /// What there is now.
        now: fn(&Process) -> u64,
        /// The most since this was last called.
        take: fn(&Process) -> u64,
    },
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Source::State => "State",
            Source::Process(_) => "Process",
            Source::Object { .. } => "Object",
            Source::Peak { .. } => "Peak",
        })
    }
}

/// A performance variable.
pub struct Pvar {
    /// Unique within its class.
    pub name: String,
    /// What it tells, in a sentence.
    pub doc: String,
    /// What it measures.
    pub class: Class,
    /// Whom it is for.
    pub audience: Audience,
    /// Name of its category.
    pub area: String,
    /// Where its value is read.
    pub source: Source,
}

impl fmt::Debug for Pvar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.name, self.class.name())
    }
}

impl Pvar {
    /// What a value of it counts.
    pub fn unit(&self) -> &'static str {
        match self.class {
            Class::State => "index of a state",
            Class::Timer => "seconds",
            _ if self.name.ends_with("bytes") => "bytes",
            _ => "number",
        }
    }

    /// What it has to be bound to.
    pub fn bind(&self) -> Bind {
        match self.source {
            Source::Object { kind, .. } => Bind::Object(kind),
            _ => Bind::Process,
        }
    }
}

/// The variables of one area while they are listed: each belongs to the category of that name.
#[derive(Debug)]
pub struct Area<'a> {
    all: &'a mut Vec<Pvar>,
    name: String,
    /// Whom the next ones are for.
    pub audience: Audience,
}

impl<'a> Area<'a> {
    /// The area of that name, whose variables are added to `all`.
    pub fn new(all: &'a mut Vec<Pvar>, name: impl Into<String>, audience: Audience) -> Self {
        Area {
            all,
            name: name.into(),
            audience,
        }
    }

    /// Lists a variable.
    pub fn add(&mut self, class: Class, name: &str, doc: &str, source: Source) {
        self.all.push(Pvar {
            name: name.to_owned(),
            doc: doc.to_owned(),
            class,
            audience: self.audience,
            area: self.name.clone(),
            source,
        });
    }

    /// Lists one that is a number of the process.
    pub fn of_process(
        &mut self,
        class: Class,
        name: &str,
        doc: &str,
        read: impl Fn(&Process) -> u64 + Send + Sync + 'static,
    ) {
        self.add(class, name, doc, Source::Process(Box::new(read)));
    }

    /// Lists one that is a number of each object of that kind.
    pub fn of_object(
        &mut self,
        class: Class,
        name: &str,
        doc: &str,
        kind: ObjectKind,
        read: impl Fn(&Process, usize) -> Option<u64> + Send + Sync + 'static,
    ) {
        let read = Box::new(read);
        self.add(class, name, doc, Source::Object { kind, read });
    }

    /// Lists one that is a number of each communicator.
    pub fn of_comm(
        &mut self,
        class: Class,
        name: &str,
        doc: &str,
        read: impl Fn(&Process, &Comm) -> u64 + Send + Sync + 'static,
    ) {
        let kind = ObjectKind::Comm;
        self.of_object(class, name, doc, kind, move |process, handle| {
            let comm = process.comm(abi::Comm(handle)).ok()?;
            Some(read(process, &comm))
        });
    }
}

//! The words in which variables are described.

use catena_settings::Level;

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
    /// A communicator.
    Comm,
    /// A file.
    File,
}

/// What one is bound to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// A communicator.
    Comm(catena_abi::Comm),
    /// A file.
    File(catena_abi::File),
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

/// A value of a performance variable or an element of an event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// Of [`Type::Int`].
    Int(i32),
    /// Of [`Type::Long`].
    Long(u64),
    /// Of [`Type::Double`].
    Real(f64),
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

//! What is known of a job besides what its ranks have counted: what settings, the model of the
//! machine and a profile say.

use std::time::Duration;

/// Collectives of one kind.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Asked {
    /// As in `MPI_Allreduce`.
    pub function: String,
    /// How many ranks the communicator has.
    pub ranks: u32,
    /// On how many hosts; 0 if that is not known.
    pub hosts: u32,
    /// Whether each of these has as many ranks.
    pub is_even: bool,
    /// The least size that the class of sizes counts, bytes.
    pub bytes: u64,
}

/// A setting that has another value than its default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Given {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
    /// Where the value came from, such as `environment`.
    pub origin: String,
    /// Its default.
    pub default: String,
    /// Value and default as bytes, if it is a length.
    pub lengths: Option<(u64, u64)>,
}

/// What the model of the machine says of messages on a way.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Way {
    /// From the end of the sender's work to the arrival.
    pub latency: Duration,
    /// Gigabytes a second.
    pub bandwidth: f64,
}

/// What settings and the model of the library say.
pub trait Plan {
    /// The value of a setting and where that comes from, as in `64KiB (default)`.
    fn setting(&self, name: &str) -> Option<String>;

    /// Which algorithm a collective takes, and why; `None` if it is none that has several.
    fn algorithm(&self, asked: &Asked) -> Option<String>;

    /// Settings that have another value than their default and that may matter.
    fn given(&self) -> Vec<Given> {
        Vec::new()
    }

    /// What the model says of messages within a host and between hosts.
    fn ways(&self) -> Option<(Way, Way)> {
        None
    }

    /// Seconds that a collective takes by the model: with its algorithm, and with the cheapest.
    fn costs(&self, _: &Asked) -> Option<(f64, f64)> {
        None
    }

    /// What a profile says of `NAME=VALUE`, with its source.
    fn measured(&self, _: &str) -> Option<String> {
        None
    }

    /// `NAME=VALUE` as a profile has it.
    fn measured_value(&self, _: &str) -> Option<String> {
        None
    }

    /// Which profile there is, and what comes of it.
    fn profile(&self) -> Option<String> {
        None
    }

    /// What a profile calls the only program of the job.
    fn program(&self) -> Option<String> {
        None
    }
}

/// Nothing is known of a job that some process has without a launcher.
impl Plan for () {
    fn setting(&self, _: &str) -> Option<String> {
        None
    }

    fn algorithm(&self, _: &Asked) -> Option<String> {
        None
    }
}

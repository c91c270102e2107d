//! What a part of the supervisor wants done that it cannot do itself.

use std::ops::Range;
use std::time::Duration;

use catena_boot::Ended;
use catena_job::NodeCommand;

use super::timers::Task;
use crate::report::Failure;

/// Something to be done. Several are done one after the other, each as a whole.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Have all nodes do something.
    Command(NodeCommand),
    /// Tell the user a line, behind the name of the command.
    Say(String),
    /// Write and send all that there is room for: after the next action the reader may take no
    /// more.
    Flush,
    /// Drop what is left of the job's output.
    DropOutput,
    /// Do something after some time.
    After(Duration, Task),
    /// A process has died: all others are told.
    Died(u32, Ended),
    /// The job has failed; after that time the others are asked to end.
    Fail(Failure, Duration),
    /// The launchers of jobs that are connected to these processes are told that they have failed,
    /// and why.
    TellAbroad(Range<u32>, Option<String>),
}

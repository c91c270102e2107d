//! Entries of the trace in words.

use std::fmt::Write as _;
use std::io;
use std::sync::LazyLock;

use catena_abi::table::{self, Arg, Function};
use catena_abi::{Comm, Datatype, consts, datatype_name};
use catena_trace::View;

/// All functions by their numbers in the trace.
pub fn functions() -> &'static [Function] {
    static ALL: LazyLock<Vec<Function>> = LazyLock::new(|| {
        let mut all = table::functions();
        all.extend(table::extensions());
        all
    });
    &ALL
}

/// The name of a function by its number in the trace.
pub fn function_name(number: u16) -> Option<&'static str> {
    static ALL: LazyLock<Vec<&'static str>> = LazyLock::new(table::names);
    ALL.get(usize::from(number)).copied()
}

/// A call as the trace has it: its name, and the arguments that were kept by their names.
/// `MPI_Send(dest=1, tag=7, comm=MPI_COMM_WORLD)`, say.
pub fn call(function: u16, arguments: [u32; 3]) -> String {
    let Some(function) = functions().get(usize::from(function)) else {
        return format!("a function that this version does not know, number {function}");
    };
    let mut text = format!("{}(", function.name);
    let kept = function.traced().into_iter().flatten().zip(arguments);
    for (i, (at, word)) in kept.enumerate() {
        let arg = &function.args[at];
        let comma = if i == 0 { "" } else { ", " };
        let _ = write!(text, "{comma}{}={}", arg.name, value(arg, word));
    }
    text.push(')');
    text
}

/// What the threads of a process have called last, at most so many calls each, in lines, the oldest
/// call of a thread first.
///
/// # Errors
/// If its area cannot be read.
pub fn trace_lines(view: &View<'_>, most: usize) -> io::Result<Vec<String>> {
    let mut lines = Vec::new();
    for thread in view.threads(most)? {
        if thread.calls == 0 {
            continue;
        }
        let (number, calls) = (thread.thread, thread.calls);
        lines.push(format!("  thread {number}, {calls} calls; the last:"));
        let first = thread.calls - thread.entries.len() as u64;
        for (number, entry) in (first + 1..).zip(&thread.entries) {
            lines.push(format!(
                "  {number:>9}  {}",
                call(entry.function, entry.arguments)
            ));
        }
    }
    Ok(lines)
}

/// An argument as a program would write it.
fn value(arg: &Arg, word: u32) -> String {
    let number = word as i32;
    match arg.base() {
        "MPI_Comm" => match Comm(word as usize) {
            consts::COMM_WORLD => "MPI_COMM_WORLD".into(),
            consts::COMM_SELF => "MPI_COMM_SELF".into(),
            consts::COMM_NULL => "MPI_COMM_NULL".into(),
            _ => format!("{word:#x}"),
        },
        "MPI_Datatype" => match datatype_name(Datatype(word as usize)) {
            Some(name) => name.into(),
            None => format!("{word:#x}"),
        },
        "int" => match arg.name {
            "source" | "dest" | "root" | "rank" if number == consts::ANY_SOURCE => {
                "MPI_ANY_SOURCE".into()
            }
            "source" | "dest" | "root" if number == consts::PROC_NULL => "MPI_PROC_NULL".into(),
            "root" if number == consts::ROOT => "MPI_ROOT".into(),
            "tag" | "recvtag" if number == consts::ANY_TAG => "MPI_ANY_TAG".into(),
            _ => number.to_string(),
        },
        "MPI_Count" | "MPI_Aint" | "MPI_Offset" => word.to_string(),
        _ => format!("{word:#x}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(name: &str) -> u16 {
        let at = functions().iter().position(|it| it.name == name);
        at.expect("a function of the table") as u16
    }

    #[test]
    fn names_are_those_of_the_functions() {
        let all: Vec<_> = functions().iter().map(|it| it.name).collect();
        let named: Vec<_> = (0..).map_while(function_name).collect();
        assert_eq!(named, all);
    }

    #[test]
    fn calls_are_told_as_programs_write_them() {
        let world = consts::COMM_WORLD.0 as u32;
        for (name, arguments, text) in [
            (
                "MPI_Send",
                [1, 7, world],
                "MPI_Send(dest=1, tag=7, comm=MPI_COMM_WORLD)",
            ),
            (
                "MPI_Recv",
                [consts::ANY_SOURCE as u32, consts::ANY_TAG as u32, world],
                "MPI_Recv(source=MPI_ANY_SOURCE, tag=MPI_ANY_TAG, comm=MPI_COMM_WORLD)",
            ),
            (
                "MPI_Bcast",
                [12, 3, world],
                "MPI_Bcast(count=12, root=3, comm=MPI_COMM_WORLD)",
            ),
            (
                "MPI_Barrier",
                [world, 0, 0],
                "MPI_Barrier(comm=MPI_COMM_WORLD)",
            ),
            ("MPI_Finalize", [0, 0, 0], "MPI_Finalize()"),
        ] {
            assert_eq!(call(number(name), arguments), text);
        }
        assert!(call(u16::MAX, [0; 3]).contains("does not know"));
    }
}

//! What a call names of a section with gaps: all of it has to be there.
//!
//! A section that is copied, or that gets a type of its own, is shorter than the program's array,
//! and what a count names behind its end is not even the program's. So each choice buffer has a
//! condition here or a reason why it has none; a shape that this file does not know ends the
//! generation.

use super::way::{Passing, way};
use crate::view::{FortranArg, Procedure, Role};
use catena_abi::meaning::{Direction, Length};

/// What is asked of a section with gaps before a call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Named {
    /// A condition in C, which holds if all that the call names lies in the section.
    Condition(String),
    /// What makes the section's type looks as well: `mpifort_section`, `mpifort_partitions`.
    Typed,
    /// Nothing is asked, for this reason.
    Nothing(&'static str),
}

/// What is asked of an argument's section.
///
/// # Panics
/// If the table tells of the buffer in a way that is not known here.
pub(super) fn named(p: &Procedure, arg: &FortranArg) -> Named {
    let d = &arg.name;
    match way(p, arg) {
        Passing::Type | Passing::Partitions => return Named::Typed,
        Passing::Address => return Named::Nothing(by_address(p, arg)),
        Passing::Copy | Passing::Later | Passing::Stride => {}
    }
    let is_array = |name: &str| p.arg(name).is_some_and(|a| a.array);
    Named::Condition(match (&arg.of[..], arg.length) {
        ([], Some(Length::Argument(bytes))) => format!("mpifort_holds({d}, *{bytes}, MPI_BYTE)"),
        (&[counts, ty], length) if is_array(counts) => match length {
            None => all(p, arg, counts, ty),
            Some(Length::Own(comm)) => {
                let own =
                    format!("mpifort_holds({d}, own({counts}, Comm_of(*{comm})), Type_of(*{ty}))");
                in_place(p, &own, &all(p, arg, counts, ty))
            }
            other => unknown(p, arg, other),
        },
        (&[count, ty], length) => {
            let times = |blocks: &str| {
                format!("mpifort_holds({d}, (MPI_Count)*{count} * {blocks}, Type_of(*{ty}))")
            };
            let single = format!("mpifort_holds({d}, *{count}, Type_of(*{ty}))");
            match length {
                // The blocks of the group that gets the result.
                Some(Length::Ranks(comm)) if reduces(p) => {
                    times(&format!("members(Comm_of(*{comm}))"))
                }
                Some(Length::Ranks(comm)) => times(&format!("ranks(Comm_of(*{comm}))")),
                // What neighbours that are nobody leave at the end need not be there.
                Some(Length::Sources(comm)) => times(&format!(
                    "mpifort_reach(Comm_of(*{comm}), sources(Comm_of(*{comm})))"
                )),
                Some(Length::Destinations(comm)) => times(&format!(
                    "mpifort_reach(Comm_of(*{comm}), destinations(Comm_of(*{comm})))"
                )),
                None if p.bare().contains("educe_scatter_block") => {
                    in_place(p, &single, &times("members(Comm_of(*comm))"))
                }
                None => single,
                other => unknown(p, arg, other),
            }
        }
        (&[counts, displs, types], None) => {
            let n = entries(p, arg, counts);
            let (function, types) = match is_array(types) {
                true => ("mpifort_holds_types", format!("NUMBERS({types})")),
                false => ("mpifort_holds_parts", format!("Type_of(*{types})")),
            };
            let whose = neighbors(p, counts);
            format!("{function}({d}, NUMBERS({counts}), NUMBERS({displs}), {n}, {types}, {whose})")
        }
        (_, other) => unknown(p, arg, other),
    })
}

/// Whether the buffer means something at this rank; `None` if it does at all.
///
/// Where it does not, neither do its counts, displacements and types, of which then nothing may be
/// asked.
pub(super) fn means(p: &Procedure, arg: &FortranArg) -> Option<String> {
    somebody(p, arg).or_else(|| at_rank(p, arg))
}

/// Whether there is a process at the other end, to which the buffer goes or from which it comes:
/// `MPI_PROC_NULL` takes and gives nothing. `None` if the call names no such process.
fn somebody(p: &Procedure, arg: &FortranArg) -> Option<String> {
    // The standard calls the source of MPI_Precv_init `dest` as well.
    let from = ["source", "dest"]
        .into_iter()
        .find(|end| p.arg(end).is_some());
    let to = Some("dest").filter(|end| p.arg(end).is_some());
    let target = Some("target_rank").filter(|end| p.arg(end).is_some());
    let ends = match arg.direction {
        Direction::In => [target, to, None],
        Direction::Out => [target, from, None],
        Direction::InOut => [target, to, from.filter(|&end| Some(end) != to)],
    };
    let somebody = |end: &str| format!("INT(*{end}) != MPI_PROC_NULL");
    let mut is: Vec<String> = ends.into_iter().flatten().map(somebody).collect();
    if p.arg("message").is_some() {
        is.push("Message_of(*message) != MPI_MESSAGE_NO_PROC".into());
    }
    match &is[..] {
        [] => None,
        [one] => Some(one.clone()),
        several => Some(format!("({})", several.join(" || "))),
    }
}

/// Whether the buffer means something at this rank of a collective; `None` if it does at all.
fn at_rank(p: &Procedure, arg: &FortranArg) -> Option<String> {
    let rooted = p.arg("root").is_some() && p.arg("comm").is_some() && !arg.of.is_empty();
    let scans = p.bare().to_lowercase().contains("exscan");
    if rooted && arg.root_only {
        Some("receives(Comm_of(*comm), *root)".into())
    } else if rooted && arg.direction == Direction::InOut {
        Some("INT(*root) != MPI_PROC_NULL".into())
    } else if rooted {
        Some("INT(*root) != MPI_PROC_NULL && INT(*root) != MPI_ROOT".into())
    } else if scans && arg.direction == Direction::Out {
        // The first rank gets nothing, but gives what lies there.
        Some("(place(sendbuf->base_addr) == MPI_IN_PLACE || is_behind(Comm_of(*comm)))".into())
    } else {
        None
    }
}

/// Why a buffer that is handed over by its address is not looked at.
fn by_address(p: &Procedure, arg: &FortranArg) -> &'static str {
    match (&arg.of[..], p.bare().trim_end_matches("_c")) {
        ([_], _) => "a single element has no gaps",
        ([], name) if name.ends_with("_end") => "the call that has begun the operation has looked",
        ([], name)
            if name.contains("ttach_buffer")
                || name.starts_with("Buffer_")
                || name.starts_with("Win_") =>
        {
            "it is memory from an address on, which the standard wants without gaps"
        }
        ([], "Free_mem" | "Get_address" | "Address") => "it is an address",
        _ => unknown(p, arg, arg.length),
    }
}

/// All blocks of an array of counts, one behind the other.
fn all(p: &Procedure, arg: &FortranArg, counts: &str, ty: &str) -> String {
    let (d, n) = (&arg.name, entries(p, arg, counts));
    format!("mpifort_holds_all({d}, NUMBERS({counts}), {n}, Type_of(*{ty}))")
}

/// One condition, or another where the result's place has the input as well.
fn in_place(p: &Procedure, otherwise: &str, in_place: &str) -> String {
    assert!(p.arg("sendbuf").is_some(), "{} sends nothing", p.name);
    format!("(place(sendbuf->base_addr) == MPI_IN_PLACE ? {in_place} : {otherwise})")
}

/// The entries of the array of counts.
fn entries(p: &Procedure, arg: &FortranArg, counts: &str) -> String {
    match p.arg(counts).and_then(|a| a.length) {
        Some(Length::Ranks(comm)) if reduces(p) => format!("members(Comm_of(*{comm}))"),
        Some(Length::Ranks(comm)) => format!("ranks(Comm_of(*{comm}))"),
        Some(Length::Sources(comm)) => format!("sources(Comm_of(*{comm}))"),
        Some(Length::Destinations(comm)) => format!("destinations(Comm_of(*{comm}))"),
        other => unknown(p, arg, other),
    }
}

/// The communicator whose neighbours the entries of the counts are for; none where they are for
/// ranks.
fn neighbors(p: &Procedure, counts: &str) -> String {
    match p.arg(counts).and_then(|a| a.length) {
        Some(Length::Sources(comm) | Length::Destinations(comm)) => format!("Comm_of(*{comm})"),
        _ => "MPI_COMM_NULL".into(),
    }
}

fn reduces(p: &Procedure) -> bool {
    p.arg("op").is_some_and(|op| op.role == Role::Handle)
}

fn unknown(p: &Procedure, arg: &FortranArg, length: Option<Length>) -> ! {
    panic!(
        "{}: what {} has to hold is unknown: {:?} {length:?}",
        p.name, arg.name, arg.of
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// Everything else is asked for all that a call names.
    #[test]
    fn what_is_not_looked_at_is_listed() {
        let all = crate::view::procedures();
        let mut why: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        let mut conditions = 0;
        for p in all.iter().filter(|p| !p.by_hand && !p.is_large()) {
            for arg in p.args.iter().filter(|a| a.role == Role::Choice) {
                match named(p, arg) {
                    Named::Nothing(reason) => {
                        let name = format!("{} {}", p.bare(), arg.name);
                        why.entry(reason).or_default().push(name);
                    }
                    Named::Condition(_) => conditions += 1,
                    Named::Typed => {}
                }
            }
        }
        let of = |reason: &str| why.get(reason).map_or(&[][..], Vec::as_slice);
        assert_eq!(why.len(), 4, "{why:?}");
        assert_eq!(
            of("it is an address"),
            ["Free_mem base", "Get_address location"]
        );
        assert_eq!(of("a single element has no gaps").len(), 5);
        assert_eq!(
            of("the call that has begun the operation has looked").len(),
            6
        );
        let memory = of("it is memory from an address on, which the standard wants without gaps");
        assert_eq!(memory.len(), 6, "{memory:?}");
        assert!(conditions > 80, "{conditions}");
    }

    #[test]
    fn a_buffer_counts_where_it_means_something() {
        let all = crate::view::procedures();
        let means = |function: &str, buffer: &str| {
            let p = all.iter().find(|p| p.name == function).unwrap();
            means(p, p.arg(buffer).unwrap())
        };
        assert_eq!(
            means("MPI_Gatherv", "recvbuf").unwrap(),
            "receives(Comm_of(*comm), *root)"
        );
        assert_eq!(
            means("MPI_Scatter", "sendbuf").unwrap(),
            "receives(Comm_of(*comm), *root)"
        );
        assert!(means("MPI_Gather", "sendbuf").unwrap().contains("MPI_ROOT"));
        assert_eq!(
            means("MPI_Bcast", "buffer").unwrap(),
            "INT(*root) != MPI_PROC_NULL"
        );
        assert!(
            means("MPI_Iexscan", "recvbuf")
                .unwrap()
                .contains("is_behind")
        );
        assert_eq!(means("MPI_Alltoallw", "recvbuf"), None);
        assert_eq!(means("MPI_File_write", "buf"), None);
        let is_rank = |rank: &str| format!("INT(*{rank}) != MPI_PROC_NULL");
        for (function, buffer, rank) in [
            ("MPI_Isend", "buf", "dest"),
            ("MPI_Recv_init", "buf", "source"),
            ("MPI_Sendrecv", "sendbuf", "dest"),
            ("MPI_Sendrecv", "recvbuf", "source"),
            ("MPI_Psend_init", "buf", "dest"),
            ("MPI_Precv_init", "buf", "dest"),
            ("MPI_Get", "origin_addr", "target_rank"),
            ("MPI_Raccumulate", "origin_addr", "target_rank"),
        ] {
            assert_eq!(
                means(function, buffer).unwrap(),
                is_rank(rank),
                "{function}"
            );
        }
        assert_eq!(
            means("MPI_Isendrecv_replace", "buf").unwrap(),
            format!("({} || {})", is_rank("dest"), is_rank("source"))
        );
        assert!(means("MPI_Imrecv", "buf").unwrap().contains("NO_PROC"));
    }

    /// The C code with descriptors of one procedure.
    fn body<'a>(text: &'a str, p: &Procedure) -> &'a str {
        let name = p.bare().to_lowercase();
        let head = match p.is_large() {
            true => format!("\nvoid D_LARGE({})(", name.trim_end_matches("_c")),
            false => format!("\nvoid D({name})("),
        };
        let (_, rest) = text.split_once(&head).expect("each has code");
        rest.split_once("\n}").expect("code ends").0
    }

    /// A type that means nothing is not asked for.
    #[test]
    fn nothing_is_asked_of_what_means_nothing() {
        let all = crate::view::procedures();
        let text =
            crate::calls::by_descriptor(&all, false) + &crate::calls::by_descriptor(&all, true);
        let mut guarded = 0;
        for p in all.iter().filter(|p| !p.by_hand) {
            for arg in p.args.iter().filter(|a| a.role == Role::Choice) {
                let (Some(means), false) = (means(p, arg), way(p, arg) == Passing::Address) else {
                    continue;
                };
                let body = body(&text, p);
                for asking in [
                    "mpifort_section",
                    "mpifort_stride",
                    "mpifort_later",
                    "mpifort_partitions",
                ] {
                    let asks =
                        format!("{asking}({}", arg.name).replace("later(", "later(&pending, ");
                    for line in body.lines().filter(|line| line.contains(&asks)) {
                        assert!(line.contains(&means), "{}: {line}", p.name);
                        guarded += 1;
                    }
                }
            }
        }
        assert!(guarded > 100, "{guarded}");
    }
}

//! The tables that everything else is generated from, and their readers.
//!
//! The tables are part of this crate, so a fault in one is found by the tests
//! and the readers panic with the number of the line.
//!
//! # Examples
//!
//! Three kinds of layers are made from the table of functions. An interface of
//! Fortran's module `mpi_f08` asks for the kind and the direction of each argument:
//!
//! ```
//! use catena_abi::meaning::{Direction, Kind};
//! use catena_abi::table::{Arg, functions};
//!
//! fn declaration(arg: &Arg) -> String {
//!     let ty = match arg.meaning.kind {
//!         Kind::Buffer(_) => return format!("TYPE(*), DIMENSION(..) :: {}", arg.name),
//!         Kind::Handle => format!("TYPE({})", arg.base()),
//!         Kind::Logical => "LOGICAL".to_string(),
//!         _ => "INTEGER".to_string(),
//!     };
//!     let intent = match arg.meaning.direction {
//!         Direction::In => "IN",
//!         Direction::Out => "OUT",
//!         Direction::InOut => "INOUT",
//!     };
//!     format!("{ty}, INTENT({intent}) :: {}", arg.name)
//! }
//!
//! let all = functions();
//! let irecv = all.iter().find(|f| f.name == "MPI_Irecv").unwrap();
//! assert_eq!(declaration(irecv.arg("buf").unwrap()), "TYPE(*), DIMENSION(..) :: buf");
//! assert_eq!(declaration(irecv.arg("tag").unwrap()), "INTEGER, INTENT(IN) :: tag");
//! assert_eq!(
//!     declaration(irecv.arg("request").unwrap()),
//!     "TYPE(MPI_Request), INTENT(OUT) :: request"
//! );
//! ```
//!
//! A library with another ABI asks what it has to convert before the call and after
//! it, and how many there are:
//!
//! ```
//! use catena_abi::meaning::{Direction, Kind, Length};
//! use catena_abi::table::functions;
//!
//! let all = functions();
//! let waitsome = all.iter().find(|f| f.name == "MPI_Waitsome").unwrap();
//! let converted = |arg: &&catena_abi::table::Arg| {
//!     matches!(arg.meaning.kind, Kind::Handle | Kind::Status | Kind::Error)
//! };
//! let (mut before, mut after) = (Vec::new(), Vec::new());
//! for arg in waitsome.args.iter().filter(converted) {
//!     if arg.meaning.direction != Direction::Out {
//!         before.push((arg.name, arg.base(), arg.meaning.length));
//!     }
//!     if arg.meaning.direction != Direction::In {
//!         after.push((arg.name, arg.base(), arg.meaning.length));
//!     }
//! }
//! let length = Some(Length::Argument("incount"));
//! assert_eq!(before, [("array_of_requests", "MPI_Request", length)]);
//! let statuses = ("array_of_statuses", "MPI_Status", length);
//! assert_eq!(after, [("array_of_requests", "MPI_Request", length), statuses]);
//! ```
//!
//! A profiling layer asks which arguments tell how much a call sends:
//!
//! ```
//! use catena_abi::meaning::{Direction, Kind};
//! use catena_abi::table::functions;
//!
//! /// An expression in C for the bytes that MPI reads from a buffer.
//! fn bytes_sent(name: &str) -> Option<String> {
//!     let all = functions();
//!     let function = all.iter().find(|f| f.name == name)?;
//!     let sent = function.args.iter().find_map(|arg| match &arg.meaning.kind {
//!         Kind::Buffer(of) if arg.meaning.direction != Direction::Out => Some(of),
//!         _ => None,
//!     })?;
//!     match sent[..] {
//!         [count, ty] if function.arg(count)?.meaning.length.is_none() => {
//!             Some(format!("{count} * size_of({ty})"))
//!         }
//!         _ => None,
//!     }
//! }
//!
//! assert_eq!(bytes_sent("MPI_Allreduce").unwrap(), "count * size_of(datatype)");
//! assert_eq!(bytes_sent("MPI_Rput_c").unwrap(), "origin_count * size_of(origin_datatype)");
//! assert_eq!(bytes_sent("MPI_Recv"), None);
//! ```

use std::collections::HashMap;

use crate::meaning::{Entry, Kind, Meaning};

/// The text of `tables/functions.tbl`.
pub const FUNCTIONS: &str = include_str!("../tables/functions.tbl");
/// The text of `tables/arguments.tbl`.
pub const ARGUMENTS: &str = include_str!("../tables/arguments.tbl");
/// The text of `tables/extensions.tbl`.
pub const EXTENSIONS: &str = include_str!("../tables/extensions.tbl");
/// The text of `tables/extension_arguments.tbl`.
pub const EXTENSION_ARGUMENTS: &str = include_str!("../tables/extension_arguments.tbl");
/// The text of `tables/constants.tbl`.
pub const CONSTANTS: &str = include_str!("../tables/constants.tbl");

/// Whether `capi` has the function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// Implemented.
    Implemented,
    /// Exported, but only raises `MPI_ERR_UNSUPPORTED_OPERATION`.
    Missing,
}

/// One function of the interface.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Function {
    /// With its prefix, as in `MPI_Send`.
    pub name: &'static str,
    /// The C type it returns.
    pub returns: &'static str,
    /// C parameters; empty for `void`.
    pub args: Vec<Arg>,
    /// Short name of the chapter, as in `p2p`.
    pub chapter: &'static str,
    /// Implemented or missing.
    pub state: State,
}

/// Functions that any thread may call at any time, whatever the thread level is (MPI-5, 11.4.1 and
/// 11.6).
const BY_ANY_THREAD: [&str; 29] = [
    "MPI_Initialized",
    "MPI_Finalized",
    "MPI_Get_version",
    "MPI_Get_library_version",
    "MPI_Info_create",
    "MPI_Info_create_env",
    "MPI_Info_set",
    "MPI_Info_delete",
    "MPI_Info_get_string",
    "MPI_Info_get",
    "MPI_Info_get_valuelen",
    "MPI_Info_get_nkeys",
    "MPI_Info_get_nthkey",
    "MPI_Info_dup",
    "MPI_Info_free",
    "MPI_Session_create_errhandler",
    "MPI_Session_call_errhandler",
    "MPI_Errhandler_free",
    "MPI_Error_string",
    "MPI_Error_class",
    "MPI_Add_error_class",
    "MPI_Add_error_code",
    "MPI_Add_error_string",
    "MPI_Remove_error_class",
    "MPI_Remove_error_code",
    "MPI_Remove_error_string",
    "MPI_Session_init",
    "MPI_Query_thread",
    "MPI_Is_thread_main",
];

impl Function {
    /// Whether any thread may call it at any time: those that the standard says are thread-safe
    /// always, those that make sessions or tell of threads, and those of tools.
    pub fn is_by_any_thread(&self) -> bool {
        BY_ANY_THREAD.contains(&self.name) || self.chapter == "tool"
    }

    /// The argument of this name.
    pub fn arg(&self, name: &str) -> Option<&Arg> {
        self.args.iter().find(|arg| arg.name == name)
    }

    /// Which arguments the trace of calls keeps, in their order: numbers and handles, those first
    /// that say most of a call.
    pub fn traced(&self) -> [Option<usize>; 3] {
        let says = |arg: &Arg| match (arg.name, arg.base()) {
            ("dest" | "source" | "root" | "target_rank" | "rank", _) => 0,
            ("tag" | "sendtag", _) => 1,
            (_, "MPI_Comm" | "MPI_Win" | "MPI_File" | "MPI_Session") => 2,
            (_, "MPI_Request" | "MPI_Message") => 3,
            ("count" | "sendcount" | "incount" | "recvtag" | "origin_count", _) => 4,
            (_, "MPI_Op") => 5,
            _ => 6,
        };
        let is_word = |arg: &Arg| {
            let is_dots = arg.name.is_empty();
            !is_dots && !arg.ty.ends_with('*') && arg.meaning.kind != Kind::Callback
        };
        let words = self.args.iter().enumerate().filter(|(_, arg)| is_word(arg));
        let mut kept: Vec<_> = words.map(|(at, arg)| (says(arg), at)).collect();
        kept.sort_unstable();
        kept.truncate(3);
        kept.sort_unstable_by_key(|&(_, at)| at);
        std::array::from_fn(|i| kept.get(i).map(|&(_, at)| at))
    }
}

/// One parameter of a function, or the dots of a variadic one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Arg {
    /// The declaration as in C, as in `const int counts[]`.
    pub declaration: &'static str,
    /// Its name; empty for the dots.
    pub name: &'static str,
    /// The C type with arrays as pointers, as in `const int *`.
    pub ty: String,
    /// What it means.
    pub meaning: Meaning,
}

impl Arg {
    /// The C type without `const` and pointers, as in `MPI_Comm`.
    pub fn base(&self) -> &str {
        let ty = self.ty.trim_end_matches([' ', '*']);
        ty.strip_prefix("const ").unwrap_or(ty)
    }

    /// Whether it is passed as a pointer to what MPI reads or writes. A function is not.
    pub fn is_pointer(&self) -> bool {
        self.ty.ends_with('*') && self.meaning.kind != Kind::Callback
    }
}

/// A chapter of the standard and its title.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Chapter {
    /// Short name, as in `p2p`.
    pub name: &'static str,
    /// Title for a reader.
    pub title: &'static str,
}

/// The chapters in the order of the table.
pub fn chapters() -> Vec<Chapter> {
    lines(FUNCTIONS).filter_map(|(_, l)| heading(l)).collect()
}

/// All functions in the order of the table.
///
/// # Panics
/// If a table is malformed, or the two do not have the same arguments.
pub fn functions() -> Vec<Function> {
    read(FUNCTIONS, ARGUMENTS)
}

/// The names of all functions of the table, and of those of [`extensions`] behind them, for those
/// who need nothing else of them: the tables are not part of a library for that.
pub fn names() -> Vec<&'static str> {
    include_str!(concat!(env!("OUT_DIR"), "/names.txt"))
        .lines()
        .collect()
}

/// The functions that no version of the standard has yet and Fortran has as well, in the order of
/// their table.
///
/// # Panics
/// As [`functions`].
pub fn extensions() -> Vec<Function> {
    read(EXTENSIONS, EXTENSION_ARGUMENTS)
}

fn read(functions: &'static str, arguments: &'static str) -> Vec<Function> {
    let meanings = meanings(arguments);
    let mut chapter = "";
    let mut all = Vec::new();
    for (number, line) in lines(functions) {
        if let Some(head) = heading(line) {
            chapter = head.name;
        } else {
            let f = function(line, chapter, &meanings).unwrap_or_else(|| {
                panic!("a table of functions, line {number}: cannot read \"{line}\"")
            });
            all.push(f);
        }
    }
    all
}

/// Lines with content and their numbers from 1.
fn lines(text: &'static str) -> impl Iterator<Item = (usize, &'static str)> {
    let numbered = text.lines().enumerate().map(|(i, l)| (i + 1, l.trim()));
    numbered.filter(|(_, l)| !l.is_empty() && !l.starts_with('#'))
}

/// What the arguments of each function mean, as `arguments.tbl` says.
///
/// # Panics
/// If the table is malformed.
fn meanings(text: &'static str) -> HashMap<&'static str, Vec<Entry>> {
    let mut all = HashMap::new();
    for (number, line) in lines(text).filter(|(_, line)| heading(line).is_none()) {
        let entries = line.split_once("  ").and_then(|(name, args)| {
            Some((
                name,
                args.split(", ").map(Entry::read).collect::<Option<_>>()?,
            ))
        });
        let known = entries.map(|(name, args)| all.insert(name, args).is_some());
        assert_eq!(
            known,
            Some(false),
            "a table of arguments, line {number}: cannot read \"{line}\", or it is known"
        );
    }
    all
}

fn heading(line: &'static str) -> Option<Chapter> {
    let (name, title) = line.strip_prefix('[')?.split_once("] ")?;
    Some(Chapter { name, title })
}

fn function(
    line: &'static str,
    chapter: &'static str,
    meanings: &HashMap<&'static str, Vec<Entry>>,
) -> Option<Function> {
    let (state, prototype) = line.split_once(' ')?;
    let state = match state {
        "yes" => State::Implemented,
        "missing" => State::Missing,
        _ => return None,
    };
    let (head, args) = prototype.trim().strip_suffix(')')?.split_once('(')?;
    let (returns, name) = head.rsplit_once(' ')?;
    let declarations: Vec<_> = match args {
        "void" => Vec::new(),
        args => args.split(", ").collect(),
    };
    // A function with large counts has the arguments of the one without.
    let entries = meanings
        .get(name)
        .or_else(|| meanings.get(name.strip_suffix("_c")?));
    let entries = entries.map_or(&[][..], |entries| entries);
    if entries.len() != declarations.len()
        || chapter.is_empty()
        || !(name.starts_with("MPI_") || name.starts_with("MPIX_"))
    {
        return None;
    }
    let args = declarations
        .into_iter()
        .zip(entries)
        .map(|(declaration, entry)| arg(declaration, entry));
    Some(Function {
        name,
        returns,
        args: args.collect::<Option<_>>()?,
        chapter,
        state,
    })
}

/// Reads `type name`, `type *name`, `type name[]`, `type name[][3]` or `...`.
fn arg(declaration: &'static str, entry: &Entry) -> Option<Arg> {
    let (name, ty) = match declaration {
        "..." => ("", declaration.to_string()),
        _ => typed_name(declaration)?,
    };
    let arg = Arg {
        declaration,
        name,
        ty,
        meaning: entry.meaning.clone(),
    };
    let same_name = entry.name == name || entry.name == declaration;
    (same_name && entry.has_direction == arg.is_pointer()).then_some(arg)
}

/// Takes a declaration apart.
fn typed_name(declaration: &'static str) -> Option<(&'static str, String)> {
    let (plain, array) = match declaration.find('[') {
        Some(at) => declaration.split_at(at),
        None => (declaration, ""),
    };
    let start = plain.rfind([' ', '*'])? + 1;
    let (ty, name) = plain.split_at(start);
    let mut ty = ty.trim_end().to_string();
    match array {
        "" => {}
        "[]" if ty.ends_with('*') => ty.push('*'),
        "[]" | "[][3]" => ty.push_str(" *"),
        _ => return None,
    }
    (!name.is_empty() && !ty.is_empty()).then_some((name, ty))
}

/// One entry of the table of constants.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Constant {
    /// Begins a section with this title.
    Section(&'static str),
    /// A constant: type, name and value as written.
    Value {
        /// `int`, `Offset`, a handle as in `Comm`, or a pointer as in `void*`.
        ty: &'static str,
        /// With its prefix.
        name: &'static str,
        /// Decimal or hexadecimal.
        value: &'static str,
    },
    /// An error class.
    Error {
        /// With its prefix.
        name: &'static str,
        /// Decimal.
        value: &'static str,
        /// What `MPI_Error_string` says of it.
        text: &'static str,
    },
    /// Another name of an earlier constant.
    Same {
        /// The new name.
        name: &'static str,
        /// The earlier constant.
        of: &'static str,
    },
}

/// All constants in the order of the table.
///
/// # Panics
/// If the table is malformed.
pub fn constants() -> Vec<Constant> {
    lines(CONSTANTS)
        .map(|(number, line)| {
            constant(line)
                .unwrap_or_else(|| panic!("constants.tbl:{number}: cannot read \"{line}\""))
        })
        .collect()
}

fn constant(line: &'static str) -> Option<Constant> {
    if let Some(rest) = line.strip_prefix('[') {
        return rest.strip_suffix(']').map(Constant::Section);
    }
    let (ty, rest) = line.split_once(' ')?;
    let (name, value) = rest.split_once(' ')?;
    Some(match ty {
        "same" => Constant::Same { name, of: value },
        "error" => {
            let (value, text) = value.split_once(' ')?;
            Constant::Error { name, value, text }
        }
        _ if value.contains(' ') => return None,
        _ => Constant::Value { ty, name, value },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::meaning::{Direction, Length};
    use std::collections::HashSet;

    #[test]
    fn the_whole_interface_is_listed_once() {
        let all = functions();
        let names: HashSet<_> = all.iter().map(|f| f.name).collect();
        assert_eq!(names.len(), all.len(), "a function is listed twice");
        let removed = all.iter().filter(|f| f.chapter == "removed").count();
        assert_eq!((all.len() - removed, removed), (664, 10));
        assert!(
            chapters()
                .iter()
                .all(|c| all.iter().any(|f| f.chapter == c.name))
        );
    }

    #[test]
    fn parameters_are_taken_apart() {
        let line = "missing  int MPI_X(const int counts[], char *argv[], int ranges[][3], MPI_Comm \
                    *c, ...)";
        let means = meanings(
            "MPI_X  counts in count[ranks c], argv in strings, ranges out rank[n 3] root, c inout \
             handle, ... varargs",
        );
        let f = function(line, "p2p", &means).unwrap();
        let types: Vec<_> = f
            .args
            .iter()
            .map(|a| (a.name, a.ty.as_str(), a.base()))
            .collect();
        let expected = [
            ("counts", "const int *", "int"),
            ("argv", "char **", "char"),
            ("ranges", "int *", "int"),
            ("c", "MPI_Comm *", "MPI_Comm"),
            ("", "...", "..."),
        ];
        assert_eq!(types, expected);
        assert_eq!(f.state, State::Missing);
        let ranges = Meaning {
            direction: Direction::Out,
            kind: Kind::Rank,
            length: Some(Length::Triples("n")),
            root_only: true,
        };
        assert_eq!(f.arg("ranges").unwrap().meaning, ranges);
    }

    #[test]
    fn malformed_lines_are_refused() {
        let none = HashMap::new();
        assert!(function("yes int MPI_X(void)", "p2p", &none).is_some());
        for line in [
            "maybe int MPI_X(void)",
            "yes int MPI_X(void",
            "yes int Send(void)",
            "yes MPI_X(void)",
            "yes int MPI_X(int a)",
        ] {
            assert_eq!(function(line, "p2p", &none), None, "{line}");
        }
        assert_eq!(function("yes int MPI_X(void)", "", &none), None);
        // The prototype, what the arguments mean, and whether the two agree.
        for (line, means, good) in [
            ("yes int MPI_X(int a)", "MPI_X  a count", true),
            ("yes int MPI_X_c(int a)", "MPI_X  a count", true),
            ("yes int MPI_X(int *a)", "MPI_X  a in count", true),
            ("yes int MPI_X(int)", "MPI_X  a count", false),
            ("yes int MPI_X(int a[2])", "MPI_X  a in count[n]", false),
            ("yes int MPI_X(int a)", "MPI_X  b count", false),
            ("yes int MPI_X(int a)", "MPI_X  a count, b count", false),
            ("yes int MPI_X(int a)", "MPI_X  a in count", false),
            ("yes int MPI_X(int *a)", "MPI_X  a count", false),
        ] {
            assert_eq!(
                function(line, "p2p", &meanings(means)).is_some(),
                good,
                "{line}; {means}"
            );
        }
        for entry in [
            "a",
            "a in",
            "a what",
            "a in count[n",
            "a in count[n m]",
            "a buffer(n",
        ] {
            assert_eq!(Entry::read(entry), None, "{entry}");
        }
        for line in ["[open", "int MPI_X", "int MPI_X 1 2", "error MPI_X 1"] {
            assert_eq!(constant(line), None, "{line}");
        }
    }
}

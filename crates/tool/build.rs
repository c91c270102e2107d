//! Makes the table of the functions that tools stand before, and their entries.

use std::fmt::Write;
use std::path::PathBuf;

use catena_abi::meaning::{Direction, Kind, Length};
use catena_abi::table::{Arg, Function, extensions, functions};

/// Chapters whose functions no tool looks at.
const OUTSIDE: [&str; 2] = ["tool", "abi"];

/// Functions that may be called at any time, or so often that nothing may stand before them.
const UNTOUCHED: [&str; 7] = [
    "MPI_Get_version",
    "MPI_Get_library_version",
    "MPI_Get_processor_name",
    "MPI_Get_address",
    "MPI_Address",
    "MPI_Initialized",
    "MPI_Finalized",
];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let all: Vec<_> = functions().into_iter().chain(extensions()).collect();
    let watched: Vec<_> = all.iter().filter(|it| is_watched(it)).collect();
    let places = (0..all.len()).filter(|&at| is_watched(&all[at]));
    let places: Vec<_> = places.collect();
    let mut table = String::new();
    let mut numbers = String::new();
    let mut entries = String::new();
    for (number, function) in watched.iter().enumerate() {
        let _ = writeln!(table, "{},", Maker(function).call());
        let bare = function.name.trim_start_matches("MPI_");
        let _ = writeln!(
            numbers,
            "/// `MPI_{bare}`.\npub const {bare}: u16 = {number};"
        );
        let _ = writeln!(
            entries,
            "$crate::entry!($names, {number}, \"{0}\", \"P{0}\", \"catena_{0}\");",
            function.name
        );
    }
    let count = watched.len();
    let table = format!("/// All of them.\npub static CALLS: [Call; {count}] = [\n{table}];\n");
    let by_any: Vec<_> = watched.iter().map(|it| it.is_by_any_thread()).collect();
    let table = format!(
        "{table}/// Those that any thread may call at any time.\n\
         pub const BY_ANY_THREAD: [bool; {count}] = {by_any:?};\n\
         /// The place of each among the names of `catena_abi::table::names`.\n\
         pub const PLACES: [u16; {count}] = {places:?};\n"
    );
    let entries = format!(
        "/// Defines all functions: see [`stand_before_mpi`](crate::stand_before_mpi).\n\
         #[doc(hidden)]\n#[macro_export]\nmacro_rules! entries {{ ($names:ident) => {{\n{entries}}}; }}\n"
    );
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    for (file, text) in [
        ("calls.rs", table),
        ("numbers.rs", numbers),
        ("entries.rs", entries),
    ] {
        std::fs::write(out.join(file), text).expect("OUT_DIR is writable");
    }
}

/// Whether tools stand before a function.
fn is_watched(function: &Function) -> bool {
    let is_variadic = function.args.iter().any(|it| it.name.is_empty());
    let is_outside = OUTSIDE.contains(&function.chapter) || UNTOUCHED.contains(&function.name);
    function.returns == "int" && !is_variadic && !is_outside
}

/// Writes one function as an entry of the table in Rust.
struct Maker<'a>(&'a Function);

impl Maker<'_> {
    fn call(&self) -> String {
        let args: Vec<_> = self.0.args.iter().map(|it| self.arg(it)).collect();
        format!(
            "Call {{ name: \"{}\", chapter: \"{}\", args: &[{}], comm: {:?}, root: {:?}, \
             is_collective: {} }}",
            self.0.name,
            self.0.chapter,
            args.join(", "),
            self.place("comm"),
            self.place("root"),
            self.is_collective(),
        )
    }

    /// Whether all ranks of the communicator take part.
    fn is_collective(&self) -> bool {
        let bare = self.0.name.trim_start_matches("MPI_");
        let makes = [
            "Comm_dup",
            "Comm_idup",
            "Comm_split",
            "Comm_create",
            "Cart_create",
            "Graph_create",
        ];
        // These make something else for one rank alone.
        let is_other = [
            "Comm_create_group",
            "Comm_create_keyval",
            "Comm_create_errhandler",
        ]
        .iter()
        .any(|it| bare.starts_with(it));
        let neighbors = bare.contains("eighbor_all");
        let is_of_chapter = self.0.chapter == "coll" && self.place("comm").is_some();
        is_of_chapter || neighbors || (makes.iter().any(|it| bare.starts_with(it)) && !is_other)
    }

    fn arg(&self, arg: &Arg) -> String {
        format!(
            "Arg {{ name: \"{}\", means: {}, direction: Direction::{:?}, is_int: {}, is_wide: {}, \
             is_pointer: {}, length: {} }}",
            arg.name,
            self.means(arg),
            arg.meaning.direction,
            matches!(arg.ty.as_str(), "int" | "const int"),
            arg.base() != "int",
            arg.is_pointer(),
            self.length(arg.meaning.length),
        )
    }

    fn means(&self, arg: &Arg) -> String {
        match &arg.meaning.kind {
            Kind::Buffer(of) if !of.is_empty() => self.buffer(arg, of),
            Kind::Handle => match class(arg.base()) {
                Some(class) => format!("Means::Handle(Class::{class})"),
                None => "Means::Other".into(),
            },
            Kind::Memory if arg.meaning.direction == Direction::In => "Means::Memory".into(),
            _ => "Means::Other".into(),
        }
    }

    /// Where the elements of a buffer are.
    fn buffer(&self, arg: &Arg, of: &[&str]) -> String {
        let is_array = |name: &str| self.argument(name).meaning.length.is_some();
        let (style, told) = match *of {
            [counts, displs, types] if is_array(types) => ("Apart", [counts, displs, types]),
            [counts, displs, ty] if is_array(counts) => ("Displaced", [counts, displs, ty]),
            [counts, ty] if is_array(counts) => ("Behind", [counts, "", ty]),
            [more, counts, ty] => ("Alike", [counts, more, ty]),
            [counts, ty] => ("Alike", [counts, "", ty]),
            [ty] => ("Alike", ["", "", ty]),
            _ => panic!("{}: {} is told by {of:?}", self.0.name, arg.name),
        };
        let length = match style {
            "Alike" => arg.meaning.length,
            _ if arg.meaning.length.is_some() => arg.meaning.length,
            _ => self.argument(told[0]).meaning.length,
        };
        let rooted = self.0.args.iter().any(|it| it.meaning.root_only);
        let at = match (self.0.arg("root"), arg.meaning.root_only, rooted) {
            (None, ..) => "All",
            (_, true, _) => "Root",
            (_, false, true) => "Others",
            (_, false, false) => "All",
        };
        format!(
            "Means::Buffer(Told {{ style: Style::{style}, at: At::{at}, blocks: {}, count: {:?}, \
             more: {:?}, ty: {} }})",
            self.length(length),
            self.place(told[0]),
            self.place(told[1]),
            self.place(told[2]).expect("a type"),
        )
    }

    fn length(&self, length: Option<Length>) -> String {
        let place = |name| match self.place(name) {
            Some(place) => place.to_string(),
            None => panic!("{} has no {name}", self.0.name),
        };
        match length {
            None => "Length::One".into(),
            Some(Length::Argument(name)) => format!("Length::Argument({})", place(name)),
            Some(Length::Ranks("comm")) => "Length::Ranks".into(),
            Some(Length::Own("comm")) => "Length::Own".into(),
            Some(Length::Sources("comm")) => "Length::Sources".into(),
            Some(Length::Destinations("comm")) => "Length::Destinations".into(),
            Some(_) => "Length::Other".into(),
        }
    }

    fn place(&self, name: &str) -> Option<usize> {
        self.0.args.iter().position(|it| it.name == name)
    }

    fn argument(&self, name: &str) -> &Arg {
        let found = self.0.arg(name);
        found.unwrap_or_else(|| panic!("{} has no {name}", self.0.name))
    }
}

/// The class of a handle's type.
fn class(ty: &str) -> Option<&'static str> {
    Some(match ty {
        "MPI_Comm" => "Comm",
        "MPI_Datatype" => "Type",
        "MPI_Op" => "Op",
        "MPI_Group" => "Group",
        "MPI_Info" => "Info",
        "MPI_Win" => "Win",
        "MPI_File" => "File",
        "MPI_Request" => "Request",
        "MPI_Errhandler" => "Errhandler",
        "MPI_Session" => "Session",
        "MPI_Message" => "Message",
        _ => return None,
    })
}

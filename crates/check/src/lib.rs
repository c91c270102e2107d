//! Row 8: the check of buffers that `mpirun --check` has each rank load before everything else.
//!
//! Owns the generator of `made/calls.c`, which has a function for each one of MPI that makes a
//! request of buffers, and in `lib` the C code that these stand on. The two are
//! `libcatena_check.so`, a tool by the standard's profiling interface (chapter 15) and of the ABI
//! alone, so it serves other libraries as well. It knows which memory a pending request uses, and
//! sees every `free`, `realloc` and `munmap`.

#![forbid(unsafe_code)]

use catena_abi::meaning::{Direction, Kind, Length};
use catena_abi::table::{self, Arg, Function};

/// The generated files: the path from the root of the repository, and the text.
pub fn files() -> Vec<(&'static str, String)> {
    vec![("crates/check/made/calls.c", calls())]
}

fn calls() -> String {
    let mut out = String::from(
        "/* Functions that make requests of buffers.\n * Made by `cargo xtask gen` from the tables in \
         crates/abi/tables: edit those. */\n\n#include \"check.h\"\n",
    );
    for f in table::functions().iter().filter(|f| is_watched(f)) {
        out += &Call(f).text();
    }
    out
}

/// Whether a call leaves a request that uses memory of the program.
fn is_watched(f: &Function) -> bool {
    let request = |a: &&Arg| {
        let made = a.meaning.direction == Direction::Out && a.meaning.length.is_none();
        a.base() == "MPI_Request" && made
    };
    f.args.iter().any(|a| request(&a)) && f.args.iter().any(|a| told_by(a).is_some())
}

/// The arguments that tell of a buffer's elements, if it is one.
fn told_by(arg: &Arg) -> Option<&[&'static str]> {
    match &arg.meaning.kind {
        Kind::Buffer(of) if !of.is_empty() => Some(of),
        _ => None,
    }
}

/// The C code of one function.
struct Call<'a>(&'a Function);

impl Call<'_> {
    fn text(&self) -> String {
        let bare = self.0.name.trim_start_matches("MPI_");
        let each = |f: fn(&Arg) -> String| {
            let args: Vec<_> = self.0.args.iter().map(f).collect();
            args.join(", ")
        };
        format!(
            "\nint MPI_{bare}({})\n{{\n    return CALL({bare}, \"{}\", {});\n}}\n",
            each(|a| a.declaration.to_string()),
            self.plan(),
            each(|a| format!("(intptr_t){}", a.name)),
        )
    }

    /// Where the buffers are, in letters, as `lib/check.h` says.
    fn plan(&self) -> String {
        let mut plan = format!("{}{}", self.letter("comm"), self.letter("root"));
        for arg in &self.0.args {
            if let Some(of) = told_by(arg) {
                plan += &self.buffer(arg, of);
            }
        }
        plan
    }

    fn buffer(&self, arg: &Arg, of: &[&str]) -> String {
        let is_array = |name: &str| self.argument(name).meaning.length.is_some();
        let (style, told) = match *of {
            [counts, displs, types] if is_array(types) => ('w', [counts, displs, types]),
            [counts, displs, ty] if is_array(counts) => ('v', [counts, displs, ty]),
            [counts, ty] if is_array(counts) => ('s', [counts, "", ty]),
            [more, counts, ty] => ('1', [counts, more, ty]),
            [counts, ty] => ('1', [counts, "", ty]),
            _ => panic!("{}: {} is told by {of:?}", self.0.name, arg.name),
        };
        let length = match style {
            '1' => arg.meaning.length,
            _ if arg.meaning.length.is_some() => arg.meaning.length,
            _ => self.argument(told[0]).meaning.length,
        };
        let blocks = match length {
            None => '1',
            Some(Length::Ranks("comm")) => 'r',
            Some(Length::Own("comm")) => 'o',
            Some(Length::Sources("comm")) => 's',
            Some(Length::Destinations("comm")) => 'd',
            Some(other) => panic!("{}: {} has the length {other:?}", self.0.name, arg.name),
        };
        let rooted = self.0.args.iter().any(|a| a.meaning.root_only);
        let at = match (self.0.arg("root"), arg.meaning.root_only, rooted) {
            (None, ..) => '.',
            (_, true, _) => 'r',
            (_, false, true) => 'o',
            (_, false, false) => 'a',
        };
        let told = told.map(|name| self.letter(name));
        let told = String::from_iter(told);
        format!(" {}{at}{style}{blocks}{told}", self.letter(arg.name))
    }

    /// The letter of an argument by its place, or a point if there is none of this name.
    fn letter(&self, name: &str) -> char {
        let place = self.0.args.iter().position(|a| a.name == name);
        place.map_or('.', |place| char::from(b'a' + place as u8))
    }

    fn argument(&self, name: &str) -> &Arg {
        let found = self.0.arg(name);
        found.unwrap_or_else(|| panic!("{} has no {name}", self.0.name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_function_that_leaves_a_request_of_buffers_is_watched() {
        let text = calls();
        let count = |start: &str| {
            let all = table::functions();
            all.iter()
                .filter(|f| f.name.starts_with(start) && is_watched(f))
                .count()
        };
        for name in [
            "Isend",
            "Irecv_c",
            "Ialltoallw",
            "Bcast_init",
            "Rput",
            "File_iread_at",
            "Psend_init",
        ] {
            assert!(text.contains(&format!("int MPI_{name}(")), "{name}");
        }
        for name in ["Send", "Ibarrier", "Grequest_start", "Wait", "Comm_idup"] {
            assert!(!text.contains(&format!("int MPI_{name}(")), "{name}");
        }
        assert!(count("MPI_I") > 50 && count("MPI_Neighbor_") == 10);
    }

    #[test]
    fn a_plan_says_where_buffers_are() {
        let plan = |name: &str| {
            let all = table::functions();
            Call(all.iter().find(|f| f.name == name).unwrap()).plan()
        };
        assert_eq!(plan("MPI_Isend"), "f. a.11b.c");
        assert_eq!(plan("MPI_Igatherv"), "ih ao11b.c drvrefg");
        assert_eq!(plan("MPI_Ireduce_scatter"), "f. a.src.d b.soc.d");
        assert_eq!(plan("MPI_Neighbor_alltoallw_init"), "i. a.wdbcd e.wsfgh");
        assert_eq!(plan("MPI_Psend_init"), "g. a.11cbd");
    }
}

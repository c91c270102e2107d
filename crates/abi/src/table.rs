//! The tables that everything else is generated from, and their readers.
//!
//! Both tables are part of this crate, so a fault in one is found by the tests
//! and the readers panic with the number of the line.

/// The text of `tables/functions.tbl`.
pub const FUNCTIONS: &str = include_str!("../tables/functions.tbl");
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

/// One parameter of a function, or the dots of a variadic one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Arg {
    /// The declaration as in C, as in `const int counts[]`.
    pub declaration: &'static str,
    /// Its name; empty for the dots.
    pub name: &'static str,
    /// The C type with arrays as pointers, as in `const int *`.
    pub ty: String,
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
/// If the table is malformed.
pub fn functions() -> Vec<Function> {
    let mut chapter = "";
    let mut all = Vec::new();
    for (number, line) in lines(FUNCTIONS) {
        if let Some(head) = heading(line) {
            chapter = head.name;
        } else {
            let f = function(line, chapter)
                .unwrap_or_else(|| panic!("functions.tbl:{number}: cannot read \"{line}\""));
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

fn heading(line: &'static str) -> Option<Chapter> {
    let (name, title) = line.strip_prefix('[')?.split_once("] ")?;
    Some(Chapter { name, title })
}

fn function(line: &'static str, chapter: &'static str) -> Option<Function> {
    let (state, prototype) = line.split_once(' ')?;
    let state = match state {
        "yes" => State::Implemented,
        "missing" => State::Missing,
        _ => return None,
    };
    let (head, args) = prototype.trim().strip_suffix(')')?.split_once('(')?;
    let (returns, name) = head.rsplit_once(' ')?;
    let args = match args {
        "void" => Vec::new(),
        args => args.split(", ").map(arg).collect::<Option<_>>()?,
    };
    (!chapter.is_empty() && name.starts_with("MPI_")).then_some(Function {
        name,
        returns,
        args,
        chapter,
        state,
    })
}

/// Reads `type name`, `type *name`, `type name[]`, `type name[][3]` or `...`.
fn arg(declaration: &'static str) -> Option<Arg> {
    if declaration == "..." {
        let ty = declaration.to_string();
        return Some(Arg {
            declaration,
            name: "",
            ty,
        });
    }
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
    (!name.is_empty() && !ty.is_empty()).then_some(Arg {
        declaration,
        name,
        ty,
    })
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
        let line = "missing  int MPI_X(const int counts[], char *argv[], int ranges[][3], MPI_Comm *c, ...)";
        let f = function(line, "p2p").unwrap();
        let types: Vec<_> = f.args.iter().map(|a| (a.name, a.ty.as_str())).collect();
        let expected = [
            ("counts", "const int *"),
            ("argv", "char **"),
            ("ranges", "int *"),
            ("c", "MPI_Comm *"),
            ("", "..."),
        ];
        assert_eq!(types, expected);
        assert_eq!(f.state, State::Missing);
    }

    #[test]
    fn malformed_lines_are_refused() {
        for line in [
            "maybe int MPI_X(void)",
            "yes int MPI_X(void",
            "yes int Send(void)",
            "yes MPI_X(void)",
            "yes int MPI_X(int)",
            "yes int MPI_X(int a[2])",
        ] {
            assert_eq!(function(line, "p2p"), None, "{line}");
        }
        assert_eq!(function("yes int MPI_X(void)", ""), None);
        for line in ["[open", "int MPI_X", "int MPI_X 1 2", "error MPI_X 1"] {
            assert_eq!(constant(line), None, "{line}");
        }
    }
}

//! Constants of a foreign interface next to those of the standard.

use std::collections::HashMap;
use std::fmt::Write;

use catena_abi::table::{self, Constant};

/// A foreign binary interface.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Interface {
    /// That of MPICH, `libmpi.so.12`.
    Mpich,
    /// That of Open MPI, `libmpi.so.40`.
    OpenMpi,
}

impl Interface {
    fn table(self) -> &'static str {
        match self {
            Interface::Mpich => include_str!("../tables/mpich.tbl"),
            Interface::OpenMpi => include_str!("../tables/openmpi.tbl"),
        }
    }

    /// Predefined handles that have an integer in Fortran, by name.
    pub fn integers(self) -> Vec<(&'static str, &'static str)> {
        let lines = self.table().lines().filter(|l| !l.starts_with(['#', '[']));
        let words = lines.map(|l| l.split(' ').collect::<Vec<_>>());
        words
            .filter(|w| w.len() == 3)
            .map(|w| (w[0], w[2]))
            .collect()
    }

    /// Names and values as written, in the order of the table.
    ///
    /// # Panics
    /// If a line has not two words, or three for an object, or a name stands there twice.
    pub fn values(self) -> Vec<(&'static str, &'static str)> {
        let lines = self.table().lines().filter(|l| !l.starts_with(['#', '[']));
        let mut all: Vec<(&str, &str)> = Vec::new();
        for line in lines.filter(|l| !l.trim().is_empty()) {
            let (name, value) = line.split_once(' ').expect("a name and a value");
            let value = match value.split_once(' ') {
                None => value,
                Some((symbol, integer)) => {
                    assert!(integer.parse::<i32>().is_ok(), "{line}: no integer");
                    symbol
                }
            };
            assert!(all.iter().all(|(n, _)| *n != name), "{name} stands twice");
            all.push((name, value));
        }
        all
    }
}

/// Types of handles, as in `catena_abi`.
pub(crate) const HANDLES: [&str; 11] = [
    "Comm",
    "Datatype",
    "Op",
    "Group",
    "Win",
    "File",
    "Session",
    "Message",
    "Info",
    "Errhandler",
    "Request",
];

/// Constants that mean something to the same arguments: name of the family, and what the names
/// of its constants begin with.
const FAMILIES: [(&str, &[&str]); 21] = [
    ("thread_level", &["MPI_THREAD_"]),
    (
        "comparison",
        &["MPI_IDENT", "MPI_CONGRUENT", "MPI_SIMILAR", "MPI_UNEQUAL"],
    ),
    ("topology", &["MPI_CART", "MPI_GRAPH", "MPI_DIST_GRAPH"]),
    ("split_type", &["MPI_COMM_TYPE_"]),
    ("combiner", &["MPI_COMBINER_"]),
    ("typeclass", &["MPI_TYPECLASS_"]),
    ("order", &["MPI_ORDER_"]),
    (
        "distribution",
        &[
            "MPI_DISTRIBUTE_NONE",
            "MPI_DISTRIBUTE_BLOCK",
            "MPI_DISTRIBUTE_CYCLIC",
        ],
    ),
    ("darg", &["MPI_DISTRIBUTE_DFLT_DARG"]),
    (
        "access",
        &[
            "MPI_MODE_APPEND",
            "MPI_MODE_CREATE",
            "MPI_MODE_DELETE_ON_CLOSE",
            "MPI_MODE_EXCL",
            "MPI_MODE_RD",
            "MPI_MODE_SEQUENTIAL",
            "MPI_MODE_UNIQUE_OPEN",
            "MPI_MODE_WRONLY",
        ],
    ),
    ("assertion", &["MPI_MODE_NO"]),
    ("lock", &["MPI_LOCK_"]),
    ("whence", &["MPI_SEEK_"]),
    ("flavor", &["MPI_WIN_FLAVOR_"]),
    ("model", &["MPI_WIN_UNIFIED", "MPI_WIN_SEPARATE"]),
    ("verbosity", &["MPI_T_VERBOSITY_"]),
    ("bind", &["MPI_T_BIND_"]),
    ("scope", &["MPI_T_SCOPE_"]),
    ("var_class", &["MPI_T_PVAR_CLASS_"]),
    ("safety", &["MPI_T_CB_REQUIRE_"]),
    ("ordering", &["MPI_T_SOURCE_"]),
];

/// Attribute keys, which are a family of their own.
const KEYS: [&str; 12] = [
    "MPI_TAG_UB",
    "MPI_IO",
    "MPI_HOST",
    "MPI_WTIME_IS_GLOBAL",
    "MPI_APPNUM",
    "MPI_LASTUSEDCODE",
    "MPI_UNIVERSE_SIZE",
    "MPI_WIN_BASE",
    "MPI_WIN_DISP_UNIT",
    "MPI_WIN_SIZE",
    "MPI_WIN_CREATE_FLAVOR",
    "MPI_WIN_MODEL",
];

/// What the standard's table of constants lacks, as it writes them as enumerations in C.
const ENUMERATIONS: [(&str, i64); 6] = [
    ("MPI_T_CB_REQUIRE_NONE", 0),
    ("MPI_T_CB_REQUIRE_MPI_RESTRICTED", 0x03),
    ("MPI_T_CB_REQUIRE_THREAD_SAFE", 0x0f),
    ("MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE", 0x3f),
    ("MPI_T_SOURCE_ORDERED", 1),
    ("MPI_T_SOURCE_UNORDERED", 2),
];

/// A number as the tables write it.
fn number(text: &str) -> i64 {
    let parsed = match text.strip_prefix("0x") {
        Some(hex) => i64::from_str_radix(hex, 16),
        None if text.starts_with("0X") => panic!("{text}"),
        None => text.parse(),
    };
    parsed.unwrap_or_else(|_| panic!("{text} is no number"))
}

/// Integer constants of the standard and error classes, by name.
fn standard() -> HashMap<&'static str, i64> {
    let named = table::constants().into_iter().filter_map(|c| match c {
        Constant::Value {
            ty: "int",
            name,
            value,
        } => Some((name, number(&value.to_lowercase()))),
        Constant::Error { name, value, .. } => Some((name, number(value))),
        _ => None,
    });
    named.chain(ENUMERATIONS).collect()
}

/// Handles of the standard: type, name and value. Other names of the same are left out.
fn handles() -> Vec<(&'static str, &'static str, i64)> {
    let all = table::constants().into_iter();
    let handles = all.filter_map(|c| match c {
        Constant::Value { ty, name, value } if HANDLES.contains(&ty) => {
            Some((ty, name, number(value)))
        }
        _ => None,
    });
    handles.collect()
}

/// The constants of an interface in Rust.
///
/// * `NAME`, without `MPI_`, of ranks, tags, lengths and addresses;
/// * `FAMILIES`, the pairs *(foreign, standard)* of each family;
/// * `CLASSES`, those of error classes; `KEYS`, those of attribute keys;
/// * `COMM`, `DATATYPE` and so on: of handles that are numbers.
///
/// # Panics
/// If a table is malformed.
pub fn constants(interface: Interface) -> String {
    let (standard, foreign) = (standard(), interface.values());
    let mut out = String::from("use catena_layer::{Families, Pair};\n\n");
    for (name, value) in &foreign {
        let family = FAMILIES
            .iter()
            .any(|(_, begin)| begin.iter().any(|b| name.starts_with(b)));
        let plain = !family && !KEYS.contains(name) && !name.starts_with("MPI_T_");
        let is_handle = handles().iter().any(|(_, n, _)| n == name);
        if plain
            && !is_handle
            && !name.contains("_ERR_")
            && !name.contains("LONG_LONG_INT")
            && !value.starts_with(|c: char| c.is_alphabetic())
            && !value.starts_with("0x4c")
        {
            let _ = writeln!(out, "pub const {}: i64 = {value};", &name[4..]);
        }
    }
    let pairs = |keep: &dyn Fn(&str) -> bool| {
        let mut list = String::new();
        for (name, value) in foreign.iter().filter(|(name, _)| keep(name)) {
            let native = standard
                .get(name)
                .unwrap_or_else(|| panic!("{name} is not standard"));
            let _ = write!(list, "({}, {native}), ", number(value));
        }
        list
    };
    out += "\npub const FAMILIES: Families = Families {\n";
    for (family, begin) in FAMILIES {
        let list = pairs(&|name| begin.iter().any(|b| name.starts_with(b)));
        let _ = writeln!(out, "    {family}: &[{list}],");
    }
    out += "};\n";
    let _ = writeln!(
        out,
        "pub const KEYS: &[Pair] = &[{}];",
        pairs(&|n| KEYS.contains(&n))
    );
    let class = |n: &str| n.contains("_ERR_") && !n.ends_with("LASTCODE") || n == "MPI_SUCCESS";
    let _ = writeln!(out, "pub const CLASSES: &[Pair] = &[{}];", pairs(&class));
    let last = foreign
        .iter()
        .find(|(n, _)| *n == "MPI_ERR_LASTCODE")
        .expect("a last code");
    let _ = writeln!(out, "pub const ERR_LASTCODE: i32 = {};", last.1);
    if interface == Interface::Mpich {
        numbers(&mut out, &foreign);
    }
    out
}

/// Handles of MPICH that the standard has by another name, or Catena alone: type, number, and
/// Catena's.
const NUMBERS_BESIDES: [(&str, &str, i64); 2] = [
    // MPIX_C_FLOAT16 is MPI_REAL2.
    ("Datatype", "0x4c000246", 0x2ca),
    // MPI::ERRORS_THROW_EXCEPTIONS of C++: `ERRORS_THROW` of `objects`.
    ("Errhandler", "0x54000002", 0x144),
];

/// Handles that are numbers, by type: *(foreign, standard)*.
fn numbers(out: &mut String, foreign: &[(&str, &str)]) {
    for ty in HANDLES {
        let _ = write!(out, "pub const {}: &[(u32, usize)] = &[", ty.to_uppercase());
        // Before the others: the first of two is what the program is given.
        for (_, value, native) in NUMBERS_BESIDES.iter().filter(|(t, ..)| *t == ty) {
            let _ = write!(out, "({value}, {native}), ");
        }
        for (_, name, native) in handles().iter().filter(|(t, ..)| *t == ty) {
            if let Some((_, value)) = foreign.iter().find(|(n, _)| n == name) {
                let _ = write!(out, "({value}, {native}), ");
            }
        }
        out.push_str("];\n");
    }
}

/// The integer that a handle is in Fortran, if the table has one.
pub(crate) fn integer(interface: Interface, symbol: &str) -> Option<i32> {
    let mut lines = interface
        .table()
        .lines()
        .map(|l| l.split(' ').collect::<Vec<_>>());
    let words = lines.find(|words| words.len() == 3 && words[1] == symbol)?;
    words[2].parse().ok()
}

/// Handles that are addresses of objects: type, symbol and the standard's value, each symbol
/// once.
///
/// # Panics
/// If a table is malformed.
pub(crate) fn objects(interface: Interface) -> Vec<(&'static str, &'static str, i64)> {
    let foreign = interface.values();
    let mut all: Vec<(&str, &str, i64)> = Vec::new();
    for (ty, name, native) in handles() {
        if let Some((_, symbol)) = foreign.iter().find(|(n, _)| *n == name)
            && all.iter().all(|(_, s, _)| s != symbol)
        {
            all.push((ty, symbol, native));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_constant_is_one_of_the_standard() {
        let mut known: Vec<&str> = table::constants()
            .iter()
            .filter_map(|c| match *c {
                Constant::Section(_) => None,
                Constant::Value { name, .. }
                | Constant::Error { name, .. }
                | Constant::Same { name, .. } => Some(name),
            })
            .collect();
        known.extend(ENUMERATIONS.map(|(name, _)| name));
        for interface in [Interface::Mpich, Interface::OpenMpi] {
            for (name, _) in interface.values() {
                assert!(known.contains(&name), "{name} of {interface:?}");
            }
        }
    }

    #[test]
    fn handles_of_a_type_differ() {
        for ty in HANDLES {
            let mut values: Vec<_> = Interface::Mpich.values();
            let names: Vec<_> = handles().into_iter().filter(|h| h.0 == ty).collect();
            values.retain(|(name, _)| names.iter().any(|h| h.1 == *name));
            let mut numbers: Vec<_> = values.iter().map(|(_, v)| number(v)).collect();
            numbers.sort_unstable();
            let all = numbers.len();
            numbers.dedup();
            assert_eq!(numbers.len(), all, "{ty}");
        }
    }

    #[test]
    fn error_classes_differ() {
        for interface in [Interface::Mpich, Interface::OpenMpi] {
            let mut classes: Vec<_> = interface.values();
            classes.retain(|(name, _)| name.contains("_ERR_"));
            let all = classes.len();
            classes.sort_by_key(|(_, v)| number(v));
            classes.dedup_by_key(|(_, v)| number(v));
            assert_eq!(classes.len(), all, "{interface:?}");
        }
    }
}

//! `consts.rs` and `names.rs` of `catena-abi`.

use catena_abi::table::{self, Constant};
use std::fmt::Write;

/// `MPI_2INT` is `TWO_INT`: a name in Rust has no digit in front.
fn identifier(name: &str) -> String {
    let bare = name.trim_start_matches("MPIX_").trim_start_matches("MPI_");
    match bare.strip_prefix('2') {
        Some(rest) => format!("TWO_{rest}"),
        None => bare.to_string(),
    }
}

/// `T_cvar_handle` is `TCvarHandle`.
fn type_name(ty: &str) -> String {
    let mut name = String::new();
    for part in ty.split('_') {
        let (first, rest) = part.split_at(1.min(part.len()));
        name += &first.to_uppercase();
        name += rest;
    }
    name
}

fn is_handle(ty: &str) -> bool {
    !ty.ends_with('*') && ty != "int" && ty != "Offset"
}

pub fn consts() -> String {
    let mut out = String::from(
        "//! Constants of the MPI-5 ABI, without the prefix `MPI_`.\n\
         //!\n\
         //! Made from `tables/constants.tbl` by `cargo xtask gen`. Addresses and\n\
         //! callbacks with a meaning of their own (`IN_PLACE`, `DUP_FN`) are `usize`.\n\
         //! `MPI_2INT` is `TWO_INT`, and so on.\n\n\
         #![allow(missing_docs)]\n\n\
         use crate::*;\n",
    );
    let all = table::constants();
    for constant in &all {
        match *constant {
            Constant::Section(title) => {
                let _ = writeln!(out, "\n// {title}\n");
            }
            Constant::Error { name, value, .. } => {
                let _ = writeln!(out, "pub const {}: i32 = {value};", identifier(name));
            }
            Constant::Same { name, of } => {
                let (name, of) = (identifier(name), identifier(of));
                let ty = all.iter().find_map(|c| match *c {
                    Constant::Value { ty, name, .. } if identifier(name) == of => Some(ty),
                    _ => None,
                });
                let ty = ty.unwrap_or_else(|| panic!("{name} is the same as unknown {of}"));
                let _ = writeln!(out, "pub const {name}: {} = {of};", type_name(ty));
            }
            Constant::Value { ty, name, value } => {
                let (ty, value) = match ty {
                    "int" => ("i32".to_string(), value.to_string()),
                    "Offset" => ("Offset".to_string(), value.to_string()),
                    _ if is_handle(ty) => (type_name(ty), format!("{}({value})", type_name(ty))),
                    _ => ("usize".to_string(), value.to_string()),
                };
                let _ = writeln!(out, "pub const {}: {ty} = {value};", identifier(name));
            }
        }
    }
    out
}

pub fn names() -> String {
    let mut out = String::from(
        "//! Names of the predefined handles, and names and texts of the error classes.\n\
         //!\n\
         //! Made from `tables/constants.tbl` by `cargo xtask gen`.\n\n\
         use crate::*;\n\n\
         /// Error classes: code, name, and the text that `MPI_Error_string` gives.\n\
         pub const CLASSES: &[(i32, &str, &str)] = &[\n",
    );
    let all = table::constants();
    for constant in &all {
        if let Constant::Error { name, value, text } = constant {
            let line = format!("    ({value}, \"{name}\", \"{text}\"),\n");
            if line.len() <= 101 {
                out += &line;
            } else {
                let _ = write!(
                    out,
                    "    (\n        {value},\n        \"{name}\",\n        \"{text}\",\n    ),\n"
                );
            }
        }
    }
    out += "];\n\n\
        /// Name of an error class, as in `MPI_ERR_RANK`.\n\
        pub fn class_name(class: i32) -> Option<&'static str> {\n    \
            CLASSES.iter().find(|c| c.0 == class).map(|c| c.1)\n\
        }\n\n\
        /// Text of an error class, as in \"invalid rank\".\n\
        pub fn class_text(class: i32) -> Option<&'static str> {\n    \
            CLASSES.iter().find(|c| c.0 == class).map(|c| c.2)\n\
        }\n";
    let mut types: Vec<&str> = Vec::new();
    for constant in &all {
        if let Constant::Value { ty, .. } = constant
            && is_handle(ty)
            && !ty.starts_with("T_")
            && !types.contains(ty)
        {
            types.push(ty);
        }
    }
    for ty in types {
        let rust = type_name(ty);
        let mut list = String::new();
        for constant in &all {
            if let Constant::Value {
                ty: of,
                name,
                value,
            } = constant
                && *of == ty
            {
                let _ = writeln!(list, "        ({rust}({value}), \"{name}\"),");
            }
        }
        // A list that fits on one line is formatted on one line.
        let list = if list.lines().count() == 1 {
            format!("&[{}]", list.trim().trim_end_matches(','))
        } else {
            format!("&[\n{list}    ]")
        };
        let _ = write!(
            out,
            "\nimpl {rust} {{\n    \
             /// The predefined values and their names.\n    \
             pub const PREDEFINED: &[(Self, &str)] = {list};\n\n    \
             /// Name of a predefined value, as in `MPI_{ty}_NULL`.\n    \
             pub fn name(self) -> Option<&'static str> {{\n        \
             let entry = Self::PREDEFINED.iter().find(|e| e.0 == self);\n        \
             entry.map(|e| e.1)\n    }}\n}}\n",
            ty = ty.to_uppercase(),
        );
    }
    out
}

//! The functions of a layer: each translates its arguments, calls the standard's, and
//! translates what came back.
//!
//! The text is the same for every interface; what differs are the types and the trait `Abi` of
//! `catena_layer` that it is compiled with.

use std::fmt::Write;

use catena_abi::meaning::{Direction, Kind, Length};
use catena_abi::table::{Arg, Function, functions as table};

/// Functions that are written by hand in `catena_layer::own`, as they do more than translate:
/// they have callbacks, keep something, or ask the library for what they need to translate.
const OWN: [&str; 53] = [
    "Abi_get_version",
    "Error_class",
    "Get_version",
    "Get_library_version",
    "Pcontrol",
    "Comm_idup",
    "Comm_idup_with_info",
    "Op_create",
    "Op_create_c",
    "Grequest_start",
    "Register_datarep",
    "Register_datarep_c",
    "Comm_create_errhandler",
    "Win_create_errhandler",
    "File_create_errhandler",
    "Session_create_errhandler",
    "Errhandler_create",
    "Comm_create_keyval",
    "Type_create_keyval",
    "Win_create_keyval",
    "Keyval_create",
    "Comm_get_attr",
    "Attr_get",
    "Win_get_attr",
    "Buffer_detach",
    "Buffer_detach_c",
    "Comm_detach_buffer",
    "Comm_detach_buffer_c",
    "Session_detach_buffer",
    "Session_detach_buffer_c",
    "Type_get_contents",
    "Type_get_contents_c",
    "Comm_toint",
    "Comm_fromint",
    "Errhandler_toint",
    "Errhandler_fromint",
    "File_toint",
    "File_fromint",
    "Group_toint",
    "Group_fromint",
    "Info_toint",
    "Info_fromint",
    "Message_toint",
    "Message_fromint",
    "Op_toint",
    "Op_fromint",
    "Request_toint",
    "Request_fromint",
    "Session_toint",
    "Session_fromint",
    "Type_toint",
    "Type_fromint",
    "Win_toint",
];
/// As [`OWN`].
const OWN_TOO: [&str; 9] = [
    "Comm_split_type",
    "Win_fromint",
    "Type_create_struct",
    "Type_struct",
    "T_pvar_handle_alloc",
    "T_event_handle_alloc",
    "T_event_register_callback",
    "T_event_handle_free",
    "T_event_set_dropped_handler",
];

/// Out parameters that may be a named rank; others are indices or `MPI_UNDEFINED`.
const RANKS_OUT: [&str; 3] = [
    "MPI_Cart_shift",
    "MPI_Status_get_source",
    "MPI_Group_translate_ranks",
];

/// All functions as text for `catena_layer::export!`.
///
/// # Panics
/// If the table has something that no rule covers.
pub fn functions() -> String {
    let mut out = String::from("catena_layer::export! {\n");
    for f in &table() {
        let bare = &f.name[4..];
        if OWN.contains(&bare) || OWN_TOO.contains(&bare) {
            own(&mut out, f);
        } else {
            translated(&mut out, f);
        }
    }
    out + "}\n"
}

/// Persistent collectives under the names that Open MPI 4 had for them.
///
/// # Panics
/// As [`functions`].
pub fn persistent_collectives() -> String {
    let mut out = String::from("catena_layer::export_as! {\n");
    for f in table()
        .iter()
        .filter(|f| f.chapter == "coll" || f.chapter == "topology")
    {
        if f.name.ends_with("_init") {
            let mut one = String::new();
            translated(&mut one, f);
            out += &one.replacen("    fn ", "    fn MPIX_", 1);
        }
    }
    out + "}\n"
}

/// A function that hands over to the one that is written by hand.
fn own(out: &mut String, f: &Function) {
    head(out, f);
    let names: Vec<_> = f
        .args
        .iter()
        .filter(|a| a.declaration != "...")
        .map(name)
        .collect();
    let _ = writeln!(
        out,
        "        // SAFETY: the program's own arguments.\n        \
         unsafe {{ catena_layer::own::{}::<A>({}) }}\n    }}",
        &f.name[4..],
        names.join(", ")
    );
}

/// Its name and parameters, up to the body.
fn head(out: &mut String, f: &Function) {
    let _ = write!(out, "    fn {}(", &f.name[4..]);
    for arg in f.args.iter().filter(|a| a.declaration != "...") {
        let _ = write!(out, "{}: {}, ", name(arg), foreign_type(arg));
    }
    let _ = writeln!(out, ") -> {} {{", scalar(f.returns));
}

/// Its name, which no keyword of Rust may be.
fn name(arg: &Arg) -> String {
    match arg.name {
        "type" | "in" | "move" => format!("{}_", arg.name),
        name => name.to_string(),
    }
}

/// A type of C that is the same in every interface, or a handle's.
fn scalar(ty: &str) -> String {
    match ty {
        "int" => "c_int".to_string(),
        "double" => "f64".to_string(),
        "char" => "c_char".to_string(),
        "void" => "c_void".to_string(),
        "unsigned long" => "u64".to_string(),
        "MPI_T_cb_safety" | "MPI_T_source_order" => "c_int".to_string(),
        ty if ty.starts_with("MPI_T_") => "usize".to_string(),
        ty if ty.ends_with("_function") || ty.ends_with("_function_c") => "usize".to_string(),
        ty => ty
            .strip_prefix("MPI_")
            .unwrap_or_else(|| panic!("{ty}?"))
            .to_string(),
    }
}

/// The type of an argument as the program passes it.
fn foreign_type(arg: &Arg) -> String {
    if arg.meaning.kind == Kind::Callback {
        return "usize".to_string();
    }
    let base = arg.ty.trim_end_matches([' ', '*']);
    let stars = arg.ty.matches('*').count();
    let constant = base.starts_with("const ");
    let base = base.strip_prefix("const ").unwrap_or(base);
    let mut ty = scalar(base);
    for star in 0..stars {
        ty = match star {
            0 if constant => format!("*const {ty}"),
            _ => format!("*mut {ty}"),
        };
    }
    ty
}

/// What is done with one argument.
struct Step {
    /// Before the call.
    before: String,
    /// What is passed.
    passed: String,
    /// After the call, whose result is `rc`.
    after: String,
}

impl Step {
    fn passed(passed: impl Into<String>) -> Self {
        Step {
            before: String::new(),
            passed: passed.into(),
            after: String::new(),
        }
    }
}

fn translated(out: &mut String, f: &Function) {
    head(out, f);
    let steps: Vec<Step> = f.args.iter().map(|arg| step(f, arg)).collect();
    let call = {
        let passed: Vec<_> = steps.iter().map(|s| s.passed.as_str()).collect();
        format!("core::{}({})", f.name, passed.join(", "))
    };
    let before: String = steps.iter().map(|s| s.before.as_str()).collect();
    let mut after: String = steps.iter().map(|s| s.after.as_str()).collect();
    if f.name.starts_with("MPI_Request_get_status") {
        // It frees no request, but may find one complete whose communicator has come.
        after += "            catena_layer::pending::deliver();\n";
    }
    let unsafely = "        // SAFETY: what the program promises of its arguments, of whose \
                    translation\n        // each is as long.\n        unsafe {\n";
    let body = if f.returns == "int" {
        format!("            let rc = {call};\n{after}            code::<A>(rc)")
    } else {
        format!("            {call}")
    };
    let _ = writeln!(out, "{unsafely}{before}{body}\n        }}\n    }}");
}

fn step(f: &Function, arg: &Arg) -> Step {
    match &arg.meaning.kind {
        Kind::Handle if arg.base().starts_with("MPI_T_") => tool_handle(arg),
        Kind::Handle => handle(f, arg),
        Kind::Status => status(f, arg),
        _ if arg.is_pointer() => pointer(f, arg),
        _ => value(f, arg),
    }
}

/// A number that is passed by value.
fn value(f: &Function, arg: &Arg) -> Step {
    let n = name(arg);
    Step::passed(match arg.meaning.kind {
        Kind::Rank => format!("to::rank::<A>({n})"),
        Kind::Tag => format!("to::tag::<A>({n})"),
        // A displacement may be `MPI_DISPLACEMENT_CURRENT`; no other offset may.
        Kind::Offset if arg.name == "disp" => format!("to::displacement::<A>({n})"),
        Kind::Error if f.name != "MPI_Abort" => format!("code_in::<A>({n})"),
        Kind::Keyval => format!("to::keyval::<A>({n})"),
        Kind::Constant => match family(arg) {
            Some((family, true)) => format!("to::flags(A::FAMILIES.{family}, {n})"),
            Some((family, false)) => format!("to::named(A::FAMILIES.{family}, {n})"),
            None => n,
        },
        _ => n,
    })
}

/// The family of constants that an argument takes, and whether they are bits; none if its values
/// are numbers as well.
fn family(arg: &Arg) -> Option<(&'static str, bool)> {
    Some(match arg.name {
        "required" | "provided" => ("thread_level", false),
        "result" => ("comparison", false),
        "status" => ("topology", false),
        "split_type" => ("split_type", false),
        "combiner" => ("combiner", false),
        "typeclass" => ("typeclass", false),
        "order" => ("order", false),
        "array_of_distribs" => ("distribution", false),
        "array_of_dargs" => ("darg", false),
        "amode" => ("access", true),
        "assert" => ("assertion", true),
        "lock_type" => ("lock", false),
        "whence" => ("whence", false),
        "verbosity" => ("verbosity", false),
        "bind" => ("bind", false),
        "scope" => ("scope", false),
        "var_class" => ("var_class", false),
        "cb_safety" => ("safety", false),
        "ordering" => ("ordering", false),
        "color" => return None,
        name => panic!("no family of constants for {name}"),
    })
}

/// Handles of the tool interface are the same everywhere, but for the one of all handles.
fn tool_handle(arg: &Arg) -> Step {
    let n = name(arg);
    Step::passed(match (arg.base(), arg.is_pointer()) {
        ("MPI_T_pvar_handle", false) => format!("A::pvar_handle({n})"),
        _ => n,
    })
}

/// How many entries an array has, as an expression.
fn length(f: &Function, length: Length) -> String {
    match length {
        Length::Argument(n) => {
            let arg = f.arg(n).unwrap_or_else(|| panic!("{}: no {n}", f.name));
            if arg.is_pointer() {
                format!("to::entries_at({n})")
            } else {
                format!("to::entries({n})")
            }
        }
        Length::Ranks(comm) => format!("to::entries(core::catena_entries({comm}.native(), 0))"),
        Length::Sources(comm) => format!("to::entries(core::catena_entries({comm}.native(), 1))"),
        Length::Destinations(comm) => {
            format!("to::entries(core::catena_entries({comm}.native(), 2))")
        }
        other => panic!("{}: no length for {other:?}", f.name),
    }
}

/// Whether the types in this array are looked at: those of a send buffer `MPI_IN_PLACE` are not.
fn looked_at(f: &Function, arg: &Arg) -> Option<String> {
    let buffer = f.args.iter().find(|b| match &b.meaning.kind {
        Kind::Buffer(of) => of.contains(&arg.name),
        _ => false,
    });
    buffer.map(|b| format!("to::buffer::<A>({}.cast()).addr() != to::IN_PLACE", b.name))
}

/// An argument as a pointer that could be written through.
fn writable(arg: &Arg) -> String {
    let cast = if arg.ty.starts_with("const ") {
        ".cast_mut()"
    } else {
        ""
    };
    format!("{}{cast}", name(arg))
}

fn handle(f: &Function, arg: &Arg) -> Step {
    let n = name(arg);
    if !arg.is_pointer() {
        return Step::passed(format!("{n}.native()"));
    }
    let single = arg.meaning.length.is_none();
    let writes = arg.meaning.direction != Direction::In;
    match (single, arg.meaning.direction) {
        (true, Direction::Out) => Step {
            before: format!("            let mut {n} = Out::new({n});\n"),
            passed: format!("{n}.place()"),
            after: format!("            {n}.finish();\n"),
        },
        (true, _) => Step {
            before: format!("            let mut {n} = InOut::new({n});\n"),
            passed: format!("{n}.place()"),
            after: if writes {
                format!("            {n}.finish();\n")
            } else {
                String::new()
            },
        },
        (false, direction) => {
            let mut entries = length(f, arg.meaning.length.expect("an array"));
            if let Some(condition) = looked_at(f, arg) {
                entries = format!("if {condition} {{ {entries} }} else {{ 0 }}");
            }
            if arg.meaning.root_only {
                // Only the root's may be read.
                let argument = |n| name(f.arg(n).unwrap_or_else(|| panic!("{}: no {n}", f.name)));
                let (root, comm) = (argument("root"), argument("comm"));
                let rank = format!("core::catena_entries({comm}.native(), 3)");
                entries = format!("if {rank} == {root} {{ {entries} }} else {{ 0 }}");
            }
            let how = if direction == Direction::Out {
                "blank"
            } else {
                "load"
            };
            Step {
                before: format!(
                    "            let mut {n}_room = HandleArray::new();\n            \
                     let mut {n} = {n}_room.{how}({}, {entries});\n",
                    writable(arg)
                ),
                passed: format!("{n}.place()"),
                after: if writes {
                    format!("            {n}.{};\n", finish(f))
                } else {
                    String::new()
                },
            }
        }
    }
}

/// How an array of handles is given back: the call may say which of them can have changed.
fn finish(f: &Function) -> &'static str {
    match f.name {
        "MPI_Testany" | "MPI_Waitany" => "finish_one(rc, indx)",
        "MPI_Testall" => "finish_all(rc, flag)",
        _ => "finish()",
    }
}

fn status(f: &Function, arg: &Arg) -> Step {
    let n = name(arg);
    match (arg.meaning.length, arg.meaning.direction) {
        (Some(len), _) => {
            let entries = length(f, len);
            Step {
                before: format!(
                    "            let mut {n}_room = StatusRoom::new();\n            \
                     let mut {n} = {n}_room.blank::<A>({n}, {entries});\n"
                ),
                passed: format!("{n}.place()"),
                after: format!("            {n}.finish();\n"),
            }
        }
        (None, Direction::Out) => Step {
            before: format!("            let mut {n} = StatusOut::<A>::new({n});\n"),
            passed: format!("{n}.place()"),
            after: format!("            {n}.finish();\n"),
        },
        (None, direction) => Step {
            before: format!(
                "            let mut {n} = StatusIn::<A>::new({});\n",
                writable(arg)
            ),
            passed: format!("{n}.place()"),
            after: match direction {
                Direction::InOut => format!("            {n}.finish();\n"),
                _ => String::new(),
            },
        },
    }
}

/// A pointer to anything but handles and statuses.
fn pointer(f: &Function, arg: &Arg) -> Step {
    let n = name(arg);
    let out = arg.meaning.direction != Direction::In;
    let after = |call: String| Step {
        before: String::new(),
        passed: n.clone(),
        after: format!("            {call};\n"),
    };
    match (&arg.meaning.kind, arg.meaning.length) {
        (Kind::Buffer(_), _) if out => {
            Step::passed(format!("to::buffer::<A>({n}.cast_const()).cast_mut()"))
        }
        (Kind::Buffer(_), _) => Step::passed(format!("to::buffer::<A>({n})")),
        (Kind::Memory, _) if arg.name == "buffer" && !out => {
            Step::passed(format!("to::attached::<A>({n})"))
        }
        (Kind::Weight, _) if out => {
            Step::passed(format!("to::weights::<A>({n}.cast_const()).cast_mut()"))
        }
        (Kind::Weight, _) => Step::passed(format!("to::weights::<A>({n})")),
        (Kind::String, Some(Length::Constant(limit))) if out => text(f, &n, limit),
        (Kind::Rank, None) if out && RANKS_OUT.contains(&f.name) => {
            after(format!("to::rank_out::<A>(rc, {n}, 1)"))
        }
        (Kind::Rank, Some(len)) if RANKS_OUT.contains(&f.name) => {
            let entries = length(f, len);
            if out {
                after(format!("to::rank_out::<A>(rc, {n}, {entries})"))
            } else {
                Step {
                    before: format!("            let {n} = to::ranks::<A>({n}, {entries});\n"),
                    passed: format!("{n}.as_ptr()"),
                    after: String::new(),
                }
            }
        }
        (Kind::Tag, None) if out => after(format!("to::tag_out::<A>(rc, {n})")),
        (Kind::Error, None) if out => after(format!("code_out::<A>(rc, {n})")),
        (Kind::Error, Some(len)) if out => codes(f, &n, len),
        (Kind::String, None) if arg.name == "key" => {
            Step::passed(format!("to::info_key::<A>({n})"))
        }
        (Kind::Keyval, None) => Step {
            before: format!("            let mut {n} = to::KeyvalInOut::<A>::new({n});\n"),
            passed: format!("{n}.place()"),
            after: format!("            {n}.finish();\n"),
        },
        (Kind::Constant, len) => constants(f, arg, &n, len, out),
        _ => Step::passed(n),
    }
}

/// Error codes in an array whose length the root alone knows.
fn codes(f: &Function, n: &str, len: Length) -> Step {
    let argument = |n| name(f.arg(n).unwrap_or_else(|| panic!("{}: no {n}", f.name)));
    let (root, comm) = (argument("root"), argument("comm"));
    let entries = match len {
        Length::Sum(of) => {
            let each = f
                .arg(of)
                .and_then(|arg| arg.meaning.length)
                .expect("an array");
            format!("to::sum({of}, {})", length(f, each))
        }
        len => length(f, len),
    };
    Step {
        before: format!(
            "            let is_root = core::catena_entries({comm}.native(), 3) == \
             {root};\n            let mut {n} = Codes::new({n}, is_root.then(|| {entries}));\n"
        ),
        passed: format!("{n}.place()"),
        after: format!("            {n}.finish::<A>();\n"),
    }
}

/// Named constants behind a pointer.
fn constants(f: &Function, arg: &Arg, n: &str, len: Option<Length>, out: bool) -> Step {
    let (family, bits) = family(arg).expect("a family");
    match len {
        None if out && bits => Step {
            before: String::new(),
            passed: n.to_string(),
            after: format!("            to::flags_out(A::FAMILIES.{family}, rc, {n});\n"),
        },
        None if out => Step {
            before: String::new(),
            passed: n.to_string(),
            after: format!("            to::named_out(A::FAMILIES.{family}, rc, {n});\n"),
        },
        Some(len) if !out && family == "darg" => Step {
            before: format!(
                "            let {n} = to::dargs::<A>({n}, {});\n",
                length(f, len)
            ),
            passed: format!("{n}.as_ptr()"),
            after: String::new(),
        },
        Some(len) if !out => Step {
            before: format!(
                "            let {n} = to::all_named(A::FAMILIES.{family}, {n}, {});\n",
                length(f, len)
            ),
            passed: format!("{n}.as_ptr()"),
            after: String::new(),
        },
        _ => panic!("{}: {n}", f.name),
    }
}

/// A string that the library writes into room whose size is a constant of the interface.
fn text(f: &Function, n: &str, limit: &str) -> Step {
    let resultlen = f.arg("resultlen").map_or("null_mut()", |a| a.name);
    Step {
        before: format!(
            "            let mut {n} = Text::<{{ consts::{} as usize }}>::new({n});\n",
            &limit[4..]
        ),
        passed: format!("{n}.place()"),
        after: format!("            {n}.finish(A::{}, {resultlen});\n", &limit[4..]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_function_is_there_once() {
        let text = functions();
        for f in table() {
            let head = format!("    fn {}(", &f.name[4..]);
            assert_eq!(text.matches(&head).count(), 1, "{}", f.name);
        }
    }

    #[test]
    fn what_is_written_by_hand_is_in_the_table() {
        let all = table();
        for own in OWN.iter().chain(&OWN_TOO) {
            assert!(all.iter().any(|f| &f.name[4..] == *own), "{own}");
        }
    }
}

//! Makes the functions that the table says are missing and what the trace is told of all, and names
//! the library.

use catena_abi::table::{Arg, Function, State, extensions, functions};
use std::fmt::Write;
use std::path::PathBuf;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libmpi_abi.so.1");
    // MPI cannot be initialised twice, so it must outlive a dlclose.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");

    let mut text = String::from("export! {\n");
    for f in functions() {
        if f.state == State::Missing {
            stub(&mut text, &f);
        }
    }
    text += "}\n";
    let mut numbers = String::new();
    for (number, f) in functions().iter().chain(&extensions()).enumerate() {
        let name = &f.name;
        let (kept, by_any) = (f.traced(), f.is_by_any_thread());
        let _ = writeln!(
            numbers,
            "pub(crate) const {name}: (u16, [Option<usize>; 3], bool) = ({number}, {kept:?}, {by_any});"
        );
    }
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    for (file, text) in [("missing.rs", text), ("numbers.rs", numbers)] {
        std::fs::write(out.join(file), text).expect("OUT_DIR is writable");
    }
}

/// One function with the C types of the table that raises an error.
fn stub(out: &mut String, f: &Function) {
    assert_eq!(
        f.returns, "int",
        "{} cannot report an error, so it cannot be missing",
        f.name
    );
    let _ = write!(out, "    fn {}(", f.name);
    for (i, arg) in f.args.iter().enumerate() {
        let _ = write!(out, "_{i}: {}, ", rust_type(f, arg));
    }
    let comm = f.args.iter().position(|a| a.ty == "MPI_Comm");
    let comm = comm.map_or("None".to_string(), |i| format!("Some(_{i})"));
    let _ = writeln!(out, ") -> c_int {{ raise(\"{}\", {comm}) }}", f.name);
}

fn rust_type(f: &Function, arg: &Arg) -> String {
    match arg.ty.as_str() {
        // Only handed over, never read: one kind of pointer does for all.
        // C turns a parameter of function type into a pointer, too.
        ty if ty.ends_with('*') || ty.ends_with("_function") => "*const c_void".to_string(),
        "int" | "const int" => "c_int".to_string(),
        "MPI_T_cb_safety" => "TCbSafety".to_string(),
        "MPI_T_enum" => "TEnum".to_string(),
        "MPI_T_cvar_handle" => "TCvarHandle".to_string(),
        "MPI_T_pvar_handle" => "TPvarHandle".to_string(),
        "MPI_T_pvar_session" => "TPvarSession".to_string(),
        "MPI_T_event_registration" => "TEventRegistration".to_string(),
        "MPI_T_event_instance" => "TEventInstance".to_string(),
        ty => match ty.strip_prefix("MPI_") {
            // The compiler refuses a name that `catena_abi` does not have.
            Some(name) if !name.contains('_') => name.to_string(),
            _ => panic!("{}: no Rust type for {ty}", f.name),
        },
    }
}

//! How a layer finds the functions of the library.
//!
//! A layer defines `MPI_Send` itself, so it asks the library for `catena_MPI_Send`. Cargo has no
//! way to link one shared library with another of the same workspace; so a build script makes a
//! library with the right names and nothing in them, and links the layer with that.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use catena_abi::table::{Arg, functions};

/// What the library has besides the functions of the standard: see `layers.rs` of `capi`.
const BESIDES: &str = "\
    /// Makes an operation of a layer's function.
    pub fn catena_op_create(function: LayerFn, longest: Count, state: *mut c_void, end: Option<End>, commute: c_int, op: *mut Op) -> c_int;
    /// Gives the function of an operation that nobody has used another state.
    pub fn catena_op_set_state(op: Op, state: *mut c_void) -> c_int;
    /// Makes an error handler of a layer's function.
    pub fn catena_errhandler_create(target: c_int, function: LayerHandler, state: *mut c_void, end: Option<End>, errhandler: *mut Errhandler) -> c_int;
    /// Makes a key of attributes with a layer's functions.
    pub fn catena_keyval_create(carrier: c_int, copy: Option<CopyFn>, delete: Option<DeleteFn>, state: *mut c_void, end: Option<End>, keyval: *mut c_int) -> c_int;
    /// Makes a structure with lower and upper bounds as its markers say.
    pub fn catena_type_struct(count: c_int, lens: *const c_int, displs: *const Aint, types: *const Datatype, lb: *const Aint, ub: *const Aint, newtype: *mut Datatype) -> c_int;
    /// Names the functions that are told the handle of each object that ends, and of each request
    /// that is handed over as an integer.
    pub fn catena_when_freed(function: Freed, request_handed: Freed);
    /// Ends as a function that Catena does not have.
    pub fn catena_unsupported(name: *const c_char) -> c_int;
    /// Revokes a communicator.
    pub fn catena_MPIX_Comm_revoke(comm: Comm) -> c_int;
    /// Whether it was revoked.
    pub fn catena_MPIX_Comm_is_revoked(comm: Comm, flag: *mut c_int) -> c_int;
    /// Its members that have died.
    pub fn catena_MPIX_Comm_get_failed(comm: Comm, group: *mut Group) -> c_int;
    /// Acknowledges some of them.
    pub fn catena_MPIX_Comm_ack_failed(comm: Comm, most: c_int, acked: *mut c_int) -> c_int;
    /// Acknowledges all of them.
    pub fn catena_MPIX_Comm_failure_ack(comm: Comm) -> c_int;
    /// Those that are acknowledged.
    pub fn catena_MPIX_Comm_failure_get_acked(comm: Comm, group: *mut Group) -> c_int;
    /// Agrees on flags.
    pub fn catena_MPIX_Comm_agree(comm: Comm, flag: *mut c_int) -> c_int;
    /// Begins to agree on flags.
    pub fn catena_MPIX_Comm_iagree(comm: Comm, flag: *mut c_int, request: *mut Request) -> c_int;
    /// Makes a communicator of survivors.
    pub fn catena_MPIX_Comm_shrink(comm: Comm, newcomm: *mut Comm) -> c_int;
    /// Whether buffers may lie in memory of CUDA devices.
    pub fn catena_MPIX_Query_cuda_support() -> c_int;
    /// How many entries an argument has.
    pub fn catena_entries(comm: Comm, what: c_int) -> c_int;
";

fn rust_type(arg: &Arg) -> String {
    let base = |ty: &str| match ty {
        "int" => "c_int".to_string(),
        "char" => "c_char".to_string(),
        "void" => "c_void".to_string(),
        "unsigned long" => "u64".to_string(),
        "MPI_T_cb_safety" | "MPI_T_source_order" => "c_int".to_string(),
        ty if ty.starts_with("MPI_T_") || ty.contains("_function") => "usize".to_string(),
        ty => ty
            .strip_prefix("MPI_")
            .unwrap_or_else(|| panic!("{ty}?"))
            .to_string(),
    };
    if arg.ty.contains("_function") {
        return "usize".to_string();
    }
    let stars = arg.ty.matches('*').count();
    let plain = arg.ty.trim_end_matches([' ', '*']);
    let mut ty = base(plain.strip_prefix("const ").unwrap_or(plain));
    for star in 0..stars {
        // Arrays of handles and statuses are ours: what they are made of may be written.
        let constant = star == 0 && plain.starts_with("const ") && !is_translated(plain);
        ty = if constant {
            format!("*const {ty}")
        } else {
            format!("*mut {ty}")
        };
    }
    ty
}

/// Whether the layer passes its own copy of such an array.
fn is_translated(ty: &str) -> bool {
    ty.contains("MPI_")
        && !["Aint", "Count", "Offset"]
            .iter()
            .any(|n| ty.ends_with(&format!("MPI_{n}")))
}

/// The functions of the library in Rust, under the names that layers use.
///
/// # Panics
/// If the table has a type that no rule covers.
pub fn declarations() -> String {
    let mut out = String::from("unsafe extern \"C\" {\n");
    out += BESIDES;
    for f in functions() {
        let _ = write!(
            out,
            "    #[link_name = \"catena_{0}\"]\n    /// `{0}` of the standard.\n    pub fn {0}(",
            f.name
        );
        for (i, arg) in f.args.iter().filter(|a| a.declaration != "...").enumerate() {
            let _ = write!(out, "_{i}: {}, ", rust_type(arg));
        }
        let returns = match f.returns {
            "int" => "c_int",
            "double" => "f64",
            other => &other[4..],
        };
        let _ = writeln!(out, ") -> {returns};");
    }
    out + "}\n"
}

/// Tells cargo, from a build script, to link a shared library as a layer with the name `soname`.
///
/// # Panics
/// If there is no C compiler, or it fails.
pub fn against_the_core(soname: &str) {
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let library = stub(&out);
    println!("cargo::rerun-if-changed=build.rs");
    for arg in [
        format!("-Wl,-soname,{soname}"),
        "-Wl,-z,nodelete".to_string(),
        "-Wl,-rpath,$ORIGIN:$ORIGIN/..".to_string(),
        // DT_RPATH: the library beside the layer comes before those of LD_LIBRARY_PATH, as any
        // other with its name lacks what a layer asks for.
        "-Wl,--disable-new-dtags".to_string(),
        "-Wl,-z,defs".to_string(),
    ] {
        println!("cargo::rustc-cdylib-link-arg={arg}");
    }
    // Unit tests are programs, which cargo runs with the folder in the loader's path.
    println!("cargo::rustc-link-search=native={}", out.display());
    println!("cargo::rustc-link-arg=-Wl,--no-as-needed");
    println!("cargo::rustc-link-arg={}", library.display());
    println!("cargo::rustc-link-arg=-Wl,--as-needed");
}

/// A library of the core's name that has all its names.
fn stub(out: &Path) -> PathBuf {
    let mut text = String::new();
    for f in functions() {
        let _ = writeln!(text, "void catena_{}(void) {{}}", f.name);
    }
    for line in BESIDES.lines() {
        if let Some((name, _)) = line
            .trim()
            .strip_prefix("pub fn ")
            .and_then(|l| l.split_once('('))
        {
            let _ = writeln!(text, "void {name}(void) {{}}");
        }
    }
    let (source, library) = (out.join("core.c"), out.join("libmpi_abi.so.1"));
    std::fs::write(&source, text).expect("OUT_DIR is writable");
    // The linker that cargo was told to use is a C compiler, for the right machine.
    let compiler = std::env::var_os("RUSTC_LINKER").unwrap_or_else(|| "cc".into());
    let done = Command::new(&compiler)
        .args([
            "-shared",
            "-nostdlib",
            "-fPIC",
            "-Wl,-soname,libmpi_abi.so.1",
            "-o",
        ])
        .args([&library, &source])
        .status();
    let done = done.unwrap_or_else(|e| panic!("{}: {e}: install a C compiler", compiler.display()));
    assert!(done.success(), "{} failed", compiler.display());
    library
}

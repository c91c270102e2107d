//! What the library offers to the dynamic linker, and what a C program makes
//! of it.

mod common;

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use catena_abi::table;

use common::{compile, folder, library, run};

fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/c")
        .join(name)
}

#[test]
fn exports_are_those_of_the_table() {
    let mut nm = Command::new("nm");
    let text = run(nm
        .args(["-D", "--defined-only", "--format=posix"])
        .arg(library()));
    let mut found = BTreeSet::new();
    for line in text.lines() {
        let mut words = line.split_whitespace();
        let name = words.next().expect("a name");
        assert_eq!(words.next(), Some("T"), "{name} is not a plain function");
        found.insert(name.to_string());
    }
    let functions = table::functions();
    let names = functions.iter().flat_map(|f| {
        [
            f.name.to_string(),
            format!("P{}", f.name),
            format!("catena_{}", f.name),
        ]
    });
    // What the layers of other binary interfaces ask for besides.
    let layers = [
        "op_create",
        "errhandler_create",
        "keyval_create",
        "type_struct",
        "entries",
        "unsupported",
        "when_freed",
        "op_set_state",
    ];
    let layers = layers.map(|name| format!("catena_{name}"));
    let expected: BTreeSet<_> = names
        .chain(layers)
        .chain(extensions())
        .chain(notify())
        .chain(["MPIX", "PMPIX", "catena_MPIX"].map(|of| format!("{of}_Query_cuda_support")))
        .chain(fortran_binding())
        .collect();
    let lacking: Vec<_> = expected.difference(&found).collect();
    let surplus: Vec<_> = found.difference(&expected).collect();
    assert!(
        lacking.is_empty(),
        "in the table but not exported: {lacking:?}"
    );
    assert!(
        surplus.is_empty(),
        "exported but not in the table: {surplus:?}"
    );
}

/// The functions of `mpi-ext.h`, which no version of the ABI has.
fn extensions() -> impl Iterator<Item = String> {
    let standard = [
        "revoke",
        "is_revoked",
        "get_failed",
        "ack_failed",
        "agree",
        "iagree",
        "shrink",
        "ishrink",
    ];
    let prefixes = ["MPIX", "PMPIX", "catena_MPIX", "MPI", "PMPI"];
    let old = ["failure_ack", "failure_get_acked"];
    let all = |names: &[&'static str], prefixes: &[&'static str]| {
        let of = |name: &&str| {
            let name = *name;
            prefixes
                .iter()
                .map(move |prefix| format!("{prefix}_Comm_{name}"))
                .collect::<Vec<_>>()
        };
        names.iter().flat_map(of).collect::<Vec<_>>()
    };
    all(&standard, &prefixes)
        .into_iter()
        .chain(all(&old, &prefixes[..3]))
}

/// Operations that notify their target, and the counters of a window.
fn notify() -> impl Iterator<Item = String> {
    let operations = ["Put", "Get", "Accumulate", "Get_accumulate", "Rput", "Rget"]
        .into_iter()
        .flat_map(|name| ["", "_c"].map(|form| format!("{name}_notify{form}")));
    let counters = [
        "set_num_notify",
        "get_num_notify",
        "get_notify_value",
        "reset_notify_value",
        "test_notify",
        "wait_notify",
    ]
    .map(|name| format!("Win_{name}"));
    operations
        .chain(counters)
        .flat_map(|name| ["MPIX", "PMPIX", "catena_MPIX"].map(|prefix| format!("{prefix}_{name}")))
}

/// What MPICH's stand-alone Fortran binding asks for besides the ABI.
fn fortran_binding() -> impl Iterator<Item = String> {
    let attributes = ["Comm", "Type", "Win"].into_iter().flat_map(|object| {
        [
            "create_keyval_x",
            "get_attr_as_fortran",
            "set_attr_as_fortran",
        ]
        .map(|name| format!("{object}_{name}"))
    });
    let handlers = ["Comm", "File", "Session", "Win"].map(|of| format!("{of}_create_errhandler_x"));
    attributes
        .chain(handlers)
        .chain(["Op_create_x".to_string()])
        .flat_map(|name| [format!("MPIX_{name}"), format!("PMPIX_{name}")])
}

#[test]
fn library_is_known_by_the_name_of_the_abi() {
    let text = run(Command::new("readelf").arg("-d").arg(library()));
    assert!(text.contains("Library soname: [libmpi_abi.so.1]"), "{text}");
    let needed: Vec<_> = text.lines().filter(|l| l.contains("(NEEDED)")).collect();
    for line in &needed {
        let system = ["[libc.so", "[libgcc_s.so", "[libm.so", "[ld-linux"];
        assert!(
            system.iter().any(|s| line.contains(s)),
            "needs more than the system: {line}"
        );
    }
}

#[test]
fn every_prototype_links() {
    let dir = folder("every_prototype_links");
    let mut text = String::from(
        "#include <mpi.h>\ntypedef void (*any)(void);\nextern any all[];\nany all[] = {\n",
    );
    for f in table::functions() {
        text += &format!("    (any){0}, (any)P{0},\n", f.name);
    }
    text += "};\nint main(void) { return all[0] == 0; }\n";
    let path = dir.join("all.c");
    std::fs::write(&path, text).expect("a source file");
    let program = dir.join("all");
    compile(&program, &[path, library()], &[]);
    run(Command::new(&program).env("LD_LIBRARY_PATH", &dir));
}

#[test]
fn tools_intercept_calls() {
    let dir = folder("tools_intercept_calls");
    let (plain, linked, tool) = (
        dir.join("plain"),
        dir.join("linked"),
        dir.join("libtool.so"),
    );
    compile(&plain, &[source("caller.c"), library()], &[]);
    compile(
        &linked,
        &[source("caller.c"), source("tool.c"), library()],
        &[],
    );
    let shared = ["-shared", "-fPIC"].map(OsStr::new);
    compile(&tool, &[source("tool.c")], &shared);

    let with = |program: &Path| {
        let mut command = Command::new(program);
        command
            .env("LD_LIBRARY_PATH", &dir)
            .env_remove("LD_PRELOAD");
        command
    };
    assert_eq!(run(&mut with(&plain)), "5\n");
    assert_eq!(run(&mut with(&linked)), "1005\n");
    assert_eq!(run(with(&plain).env("LD_PRELOAD", &tool)), "1005\n");
}

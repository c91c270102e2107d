//! What Catena does not have yet says so: every function of the table that is marked
//! missing, called under both its names, returns an error of the right class whose text
//! names it, and leaves its arguments alone.

mod common;

use std::process::Command;

use catena_abi::table::{Arg, Function, State, functions};

use common::{compile, folder, library, run};

const HEAD: &str = r#"
#include <mpi.h>
#include <stdio.h>
#include <string.h>

/* What every pointer leads to. */
static unsigned char memory[256], before[256];
static int wrong, calls;

static void check(int code, const char *called, const char *name)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int class = MPI_SUCCESS, length;
    calls++;
    if (code == MPI_SUCCESS || MPI_Error_class(code, &class) != MPI_SUCCESS
        || MPI_Error_string(code, text, &length) != MPI_SUCCESS
        || class != MPI_ERR_UNSUPPORTED_OPERATION || !strstr(text, name)
        || memcmp(memory, before, sizeof memory) != 0) {
        printf("%s: code %d of class %d: %s\n", called, code, class, text);
        memcpy(memory, before, sizeof memory);
        wrong++;
    }
}

int main(void)
{
    memset(memory, 0xa5, sizeof memory);
    memcpy(before, memory, sizeof memory);
    MPI_Init(NULL, NULL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
"#;

const TAIL: &str = r#"
    (void)check; /* Nothing may be missing. */
    MPI_Finalize();
    printf("%d calls, %d wrong\n", calls, wrong);
    return 0;
}
"#;

/// A value of the argument's type that is valid where such a function is there.
fn value(f: &Function, arg: &Arg) -> String {
    let of_type = match arg.ty.as_str() {
        ty if ty.ends_with("_function *") || ty.ends_with("_function_c *") => "0",
        ty if ty.ends_with('*') => "(void *)memory",
        "int" | "MPI_Aint" | "MPI_Count" | "MPI_Offset" => "0",
        "MPI_Comm" => "MPI_COMM_WORLD",
        "MPI_Datatype" => "MPI_INT",
        "MPI_Errhandler" => "MPI_ERRORS_RETURN",
        "MPI_File" => "MPI_FILE_NULL",
        "MPI_Group" => "MPI_GROUP_EMPTY",
        "MPI_Info" => "MPI_INFO_NULL",
        "MPI_Op" => "MPI_SUM",
        "MPI_Request" => "MPI_REQUEST_NULL",
        "MPI_Win" => "MPI_WIN_NULL",
        ty => panic!("{}: no value of type {ty}: add one here", f.name),
    };
    of_type.to_string()
}

#[test]
fn every_missing_function_says_so() {
    let functions = functions();
    let missing = functions.iter().filter(|f| f.state == State::Missing);
    let (mut text, mut calls) = (HEAD.to_string(), 0);
    for f in missing {
        let args: Vec<_> = f.args.iter().map(|arg| value(f, arg)).collect();
        for called in [f.name.to_string(), format!("P{}", f.name)] {
            let args = args.join(", ");
            text += &format!(
                // With the colon: MPI_Put is not MPI_Put_c.
                "    check({called}({args}), \"{called}\", \"{}: \");\n",
                f.name
            );
            calls += 1;
        }
    }
    text += TAIL;
    let dir = folder("every_missing_function_says_so");
    let source = dir.join("missing.c");
    std::fs::write(&source, text).expect("a source file");
    let program = dir.join("missing");
    compile(&program, &[source, library()], &[]);
    let said = run(Command::new(&program).env("LD_LIBRARY_PATH", &dir));
    assert_eq!(said, format!("{calls} calls, 0 wrong\n"));
}

//! Which MPI library ranks get: Catena's, last of all; that of another MPI is
//! noticed. The libraries here are made for the purpose: Catena's knows the
//! variable `CATENA_BOOT`, the other one does nothing.

use super::*;

/// A launcher with a library, and programs that are linked to such a library.
pub(super) struct Installation {
    scratch: Scratch,
    mpirun: String,
}

/// Says which library it has; with an argument, it waits for its end.
const PROGRAM: &str = r#"
#include <stdio.h>
#include <unistd.h>
const char *which(void);
int main(int argc, char **argv) {
    (void)argv;
    puts(which());
    fflush(stdout);
    while (argc > 1) pause();
    return 0;
}
"#;

fn compile(args: &[&str]) {
    let output = Command::new("cc").args(args).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{args:?}: {error}");
}

impl Installation {
    /// An installation, of which `lib/catena` holds a library.
    pub(super) fn new(name: &str) -> Installation {
        let scratch = Scratch::new(name);
        let mpirun = scratch.path("home/bin/mpirun");
        std::fs::create_dir_all(scratch.path("home/bin")).unwrap();
        let built = env!("CARGO_BIN_EXE_catena");
        std::fs::hard_link(built, &mpirun)
            .or_else(|_| std::fs::copy(built, &mpirun).map(drop))
            .unwrap();
        let place = Installation { scratch, mpirun };
        place.library("home/lib/catena", "libmpi_abi.so.1", "catena CATENA_BOOT");
        std::fs::write(place.path("program.c"), PROGRAM).unwrap();
        place
    }

    pub(super) fn path(&self, name: &str) -> String {
        self.scratch.path(name)
    }

    /// A library in `folder`, whose text is `text`.
    pub(super) fn library(&self, folder: &str, name: &str, text: &str) -> String {
        let folder = self.path(folder);
        std::fs::create_dir_all(&folder).unwrap();
        let source = self.path("library.c");
        let code = format!("const char *which(void) {{ return \"{text}\"; }}\n");
        std::fs::write(&source, code).unwrap();
        let file = format!("{folder}/{name}");
        let soname = format!("-Wl,-soname,{name}");
        compile(&["-shared", "-fPIC", &soname, &source, "-o", &file]);
        file
    }

    /// Has the compiler do this.
    pub(super) fn compile(&self, args: &[&str]) {
        compile(args);
    }

    /// The library of another MPI.
    fn other(&self, name: &str) -> String {
        self.library("other", name, "other")
    }

    /// A program that is linked to `library`.
    pub(super) fn program(&self, name: &str, library: &str, options: &[&str]) -> String {
        let program = self.path(name);
        let source = self.path("program.c");
        compile(&[&[&source, library, "-o", &program], options].concat());
        program
    }

    /// A program that names the folder of the other library itself, before all
    /// others: what `LD_LIBRARY_PATH` cannot change.
    fn bound(&self) -> String {
        let library = self.other("libmpi_abi.so.1");
        let path = format!("-Wl,-rpath,{}", self.path("other"));
        self.program("bound", &library, &[&path, "-Wl,--disable-new-dtags"])
    }

    pub(super) fn run(&self, args: &[&str]) -> Said {
        let mut command = clean(&self.mpirun);
        command
            .env_remove("LD_LIBRARY_PATH")
            .args(["--timeout", LIMIT]);
        said(command.args(args).stdin(Stdio::null()).output().unwrap())
    }
}

#[test]
fn programs_find_the_library_of_the_launcher() {
    let place = Installation::new("offered");
    let library = place.path("home/lib/catena/libmpi_abi.so.1");
    let program = place.program("plain", &library, &[]);
    let said = place.run(&["-n", "2", &program]);
    assert_eq!((said.status, said.err.as_str()), (0, ""));
    assert_eq!(said.out, "catena CATENA_BOOT\n".repeat(2));

    // Also on other hosts, in scripts, and instead of another one's run path.
    let said = place.run(&[
        "--launcher-agent=env -u",
        "--host=a,b",
        "sh",
        "-c",
        &format!("{program}; echo in $LD_LIBRARY_PATH"),
    ]);
    assert_eq!((said.status, said.err.as_str()), (0, ""));
    let folder = place.path("home/lib/catena");
    assert_eq!(said.out.matches("catena CATENA_BOOT\n").count(), 2);
    assert_eq!(said.out.matches(&format!("in {folder}\n")).count(), 2);

    let other = place.other("libmpi_abi.so.1");
    let path = format!("-Wl,-rpath,{}", place.path("other"));
    let program = place.program("elsewhere", &other, &[&path, "-Wl,--enable-new-dtags"]);
    let said = place.run(&["-n", "2", &program]);
    assert_eq!((said.status, said.err.as_str()), (0, ""));
    assert_eq!(said.out, "catena CATENA_BOOT\n".repeat(2));
}

#[test]
fn folders_of_the_user_come_first() {
    let place = Installation::new("first");
    let mine = place.library("mine", "libmpi_abi.so.1", "mine CATENA_BOOT");
    let program = place.program("plain", &mine, &[]);
    let (given, folder) = (place.path("mine"), place.path("home/lib/catena"));
    let variable = format!("LD_LIBRARY_PATH={given}");
    let script = format!("{program}; echo in $LD_LIBRARY_PATH");
    let said = place.run(&["-n", "1", "-x", &variable, "sh", "-c", &script]);
    assert_eq!((said.status, said.err.as_str()), (0, ""));
    assert_eq!(said.out, format!("mine CATENA_BOOT\nin {given}:{folder}\n"));
}

#[test]
fn a_program_of_another_mpi_is_not_started_as_single_ranks() {
    let place = Installation::new("refused");
    let program = place.bound();
    let library = place.path("other/libmpi_abi.so.1");
    let own = place.path("home/lib/catena/libmpi_abi.so.1");
    let text = format!(
        "mpirun: {program} uses the MPI library {library}, which is not Catena's, so each of the \
         4 ranks would run alone: take {}/ out of LD_LIBRARY_PATH; if the program names that \
         folder itself (DT_RPATH), add -x LD_PRELOAD={own}; --set LAUNCH_FOREIGN=allow lets it \
         run so\n",
        place.path("other")
    );
    let said = place.run(&["-n", "4", &program]);
    assert_eq!(
        (said.status, said.out, said.err),
        (1, String::new(), text.clone())
    );
    let said = place.run(&["--launcher-agent=env -u", "--host=a:2,b:2", &program]);
    assert_eq!((said.status, said.out, said.err), (1, String::new(), text));

    // The remedy is one.
    let preload = format!("LD_PRELOAD={own}");
    let said = place.run(&["-n", "2", "-x", &preload, &program]);
    assert_eq!((said.status, said.err.as_str()), (0, ""));
    assert_eq!(said.out, "catena CATENA_BOOT\n".repeat(2));
}

#[test]
fn a_program_with_another_interface_must_be_compiled_again() {
    let place = Installation::new("interface");
    let library = place.other("libmpi.so.12");
    let path = format!("-Wl,-rpath,{}", place.path("other"));
    let program = place.program("old", &library, &[&path]);
    let said = place.run(&["-n", "2", &program]);
    assert_eq!((said.status, said.out.as_str()), (1, ""));
    let words = format!("uses the MPI library {library}, which is not Catena's");
    assert!(said.err.contains(&words), "{}", said.err);
    assert!(said.err.contains("with Catena's mpicc"), "{}", said.err);
}

#[test]
fn single_ranks_run_if_that_is_wanted() {
    let place = Installation::new("wanted");
    let program = place.bound();
    for (options, ranks, words) in [
        (&["-n", "3", "--set", "LAUNCH_FOREIGN=allow"][..], 3, ""),
        (
            &["-n", "3", "--set", "LAUNCH_FOREIGN=warn"],
            3,
            "so each of the 3 ranks would run alone",
        ),
        (&["-n", "1"], 1, "so its rank runs without mpirun"),
    ] {
        let said = place.run(&[options, &[&program]].concat());
        assert_eq!(said.status, 0, "{}", said.err);
        assert_eq!(said.out, "other\n".repeat(ranks));
        let lines = usize::from(!words.is_empty());
        assert_eq!(said.err.lines().count(), lines, "{}", said.err);
        assert!(said.err.contains(words), "{}", said.err);
    }
}

#[test]
fn what_a_script_runs_is_noticed_while_it_runs() {
    let place = Installation::new("script");
    let program = place.bound();
    // The shell does not become the program.
    let script = format!("(:); {program} wait; :");
    for hosts in ["localhost:2", "a:1,b:1"] {
        let said = place.run(&[
            "--launcher-agent=env -u",
            "--host",
            hosts,
            "sh",
            "-c",
            &script,
        ]);
        assert_eq!(said.status, 1, "{}", said.err);
        let library = place.path("other/libmpi_abi.so.1");
        let words = format!("mpirun: sh uses the MPI library {library}, which is not Catena's");
        assert_eq!(said.err.matches(&words).count(), 1, "{}", said.err);
        // The other one may not have begun yet.
        let ended = ["2 ranks were ended", "1 rank was ended"];
        assert!(
            ended.iter().any(|words| said.err.contains(words)),
            "{}",
            said.err
        );
    }
}

/// A library of Open MPI that says how far its MPI_Init has come, and a program that loads it late:
/// `program STATE STATUS`.
fn telling(place: &Installation) -> (String, String) {
    let (source, main) = (place.path("state.c"), place.path("late.c"));
    std::fs::create_dir_all(place.path("other")).unwrap();
    let code = "int ompi_mpi_state; void come_to(int state) { ompi_mpi_state = state; }\n";
    std::fs::write(&source, code).unwrap();
    let library = place.path("other/libmpi.so.40.1");
    place.compile(&["-shared", "-fPIC", &source, "-o", &library]);
    // As long as ten looks.
    let code = format!(
        "#include <dlfcn.h>\n#include <poll.h>\n#include <stdlib.h>\n\
         int main(int n, char **v) {{ void *l = dlopen(\"{library}\", RTLD_NOW); (void)n;\n\
         ((void (*)(int))dlsym(l, \"come_to\"))(atoi(v[1])); poll(0, 0, 300); return atoi(v[2]); \
         }}\n"
    );
    std::fs::write(&main, code).unwrap();
    let program = place.path("late");
    place.compile(&[&main, "-ldl", "-o", &program]);
    (program, library)
}

#[test]
fn a_library_that_tells_is_stopped_once_it_runs_alone_and_not_before() {
    let place = Installation::new("telling");
    let (program, library) = telling(&place);
    let run = |state: &str, status: &str| {
        let script = format!("(:); {program} {state} {status} && echo through");
        place.run(&["-n", "2", "sh", "-c", &script])
    };
    // A program that has it loaded, and computes without MPI.
    let said = run("0", "0");
    assert_eq!((said.status, said.err.as_str()), (0, ""));
    assert_eq!(said.out, "through\n".repeat(2));
    let said = run("0", "7");
    assert_eq!(said.status, 7, "{}", said.err);
    let words = format!("mpirun: sh uses the MPI library {library}, which is not Catena's");
    assert!(!said.err.contains(&words), "{}", said.err);
    // MPI_Init has ended, and nobody has asked; or it fails, as it shall.
    for (state, status) in [("2", "0"), ("1", "7"), ("1", "0")] {
        let said = run(state, status);
        assert_eq!(said.status, 1, "{}", said.err);
        assert_eq!(said.err.matches(&words).count(), 1, "{}", said.err);
        assert!(said.err.contains("add --pmix"), "{}", said.err);
    }
}

#[test]
fn open_mpi_4_and_mpich_are_kept_from_running_alone() {
    let place = Installation::new("together");
    let script = sh("echo ${OMPI_MCA_ess-none} ${OMPI_MCA_schizo-none} ${PMI_FD-none}");
    for (options, told) in [
        (&["-n", "2"][..], "^singleton ^orte 2147483647\n"),
        (&["-n", "1"], "none none none\n"),
        (
            &["-n", "2", "-x", "OMPI_MCA_ess=pmi"],
            "pmi none 2147483647\n",
        ),
        (
            &["-n", "2", "--set", "LAUNCH_FOREIGN=allow"],
            "none none none\n",
        ),
    ] {
        let words: Vec<&str> = options
            .iter()
            .copied()
            .chain(script.iter().map(|word| &**word))
            .collect();
        let said = place.run(&words);
        assert_eq!((said.status, said.err.as_str()), (0, ""));
        assert!(said.out.starts_with(told), "{options:?}: {}", said.out);
    }
}

//! Programs that were built for MPICH or Open MPI get Catena's libraries, where it has them.
//! The libraries are made for the purpose, as in [`libraries`].

use super::libraries::Installation;
use super::*;

const MPICH: &str = "mpich CATENA_BOOT";
const OPEN_MPI: &str = "open mpi CATENA_BOOT";

/// An installation with the interfaces of MPICH and Open MPI.
fn place(name: &str) -> Installation {
    let place = Installation::new(name);
    place.library("home/lib/catena/mpich", "libmpi.so.12", MPICH);
    place.library("home/lib/catena/openmpi", "libmpi.so.40", OPEN_MPI);
    place
}

/// A program that finds another MPI's library `name` as a distribution's finds its own.
fn program(place: &Installation, name: &str) -> String {
    let library = place.library("other", name, "other");
    let path = format!("-Wl,-rpath,{}", place.path("other"));
    place.program("program", &library, &[&path, "-Wl,--enable-new-dtags"])
}

fn assert_ok(said: &Said, out: &str) {
    assert_eq!((said.status, said.err.as_str()), (0, ""));
    assert_eq!(said.out, out);
}

#[test]
fn programs_of_other_mpis_run_on_catena() {
    for (name, text) in [("libmpi.so.12", MPICH), ("libmpi.so.40", OPEN_MPI)] {
        let place = place(name);
        let program = program(&place, name);
        let out = format!("{text}\n").repeat(2);
        assert_ok(&place.run(&["-n", "2", &program]), &out);
        let hosts = ["--launcher-agent=env -u", "--host=a,b", &program];
        assert_ok(&place.run(&hosts), &out);
        // What something else starts.
        let script = format!("(:); {program}; :");
        assert_ok(&place.run(&["-n", "2", "sh", "-c", &script]), &out);
        assert_ok(&place.run(&["-n", "2", "env", &program]), &out);

        let said = place.run(&["-n", "2", "--verbose", &program]);
        let words = format!(
            "mpirun: {program} runs on Catena in place of {} (--no-takeover leaves it that)\n",
            place.path(&format!("other/{name}"))
        );
        assert_eq!(said.err.matches(&words).count(), 1, "{}", said.err);
        assert_eq!((said.status, said.out), (0, out));
    }
}

#[test]
fn a_folder_of_the_other_mpi_in_the_search_path_makes_no_difference() {
    let place = place("search");
    let program = program(&place, "libmpi.so.12");
    let mine = place.library("mine", "libmpi.so.12", "mine CATENA_BOOT");
    assert!(Path::new(&mine).exists());
    let folders = |names: &[&str]| {
        let paths: Vec<String> = names.iter().map(|name| place.path(name)).collect();
        format!("LD_LIBRARY_PATH={}", paths.join(":"))
    };
    let other = folders(&["empty", "other"]);
    let said = place.run(&["-n", "1", "-x", &other, "sh", "-c", "echo $LD_LIBRARY_PATH"]);
    let order = ["empty", "home/lib/catena/mpich", "other", "home/lib/catena"];
    let order = folders(&[&order[..], &["home/lib/catena/openmpi"]].concat());
    assert_ok(&said, &format!("{}\n", &order["LD_LIBRARY_PATH=".len()..]));
    let said = place.run(&["-n", "1", "-x", &other, &program]);
    assert_ok(&said, "mpich CATENA_BOOT\n");
    // Another installation of Catena is what the user wants.
    let said = place.run(&["-n", "1", "-x", &folders(&["mine", "other"]), &program]);
    assert_ok(&said, "mine CATENA_BOOT\n");
}

#[test]
fn what_is_not_found_elsewhere_is_offered_without_takeover() {
    let place = place("offered-only");
    let library = place.path("home/lib/catena/mpich/libmpi.so.12");
    let alone = place.program("alone", &library, &[]);
    assert_ok(
        &place.run(&["--no-takeover", "-n", "1", &alone]),
        "mpich CATENA_BOOT\n",
    );

    // Also of what a script starts, unless it is there.
    let script = format!("{alone}; :");
    let said = place.run(&["--no-takeover", "-n", "1", "sh", "-c", &script]);
    assert_ok(&said, "mpich CATENA_BOOT\n");
    place.library("other", "libmpi.so.12", "other");
    let other = format!("LD_LIBRARY_PATH={}", place.path("other"));
    let single = [
        "--no-takeover",
        "-n",
        "1",
        "-x",
        &other,
        "sh",
        "-c",
        &script,
    ];
    let said = place.run(&single);
    assert_eq!((said.status, said.out.as_str()), (0, "other\n"));
    // Whether it is seen while it runs is chance.
    let seen = "so its rank runs without mpirun";
    assert!(
        said.err.is_empty() || said.err.contains(seen),
        "{}",
        said.err
    );

    // It is not served, and the words say why.
    let program = program(&place, "libmpi.so.12");
    let said = place.run(&["--no-takeover", "-n", "2", &program]);
    assert_eq!((said.status, said.out.as_str()), (1, ""));
    let words = format!(
        "uses the MPI library {}, which is not Catena's, so each of the 2 ranks would run alone: \
         to run it on Catena, leave out --no-takeover",
        place.path("other/libmpi.so.12")
    );
    assert!(said.err.contains(&words), "{}", said.err);
    let said = place.run(&["--set", "LAUNCH_TAKEOVER=no", "-n", "2", &program]);
    assert!(said.err.contains(&words), "{}", said.err);
}

#[test]
fn open_mpi_is_served_if_it_is_not_taken_over() {
    let place = place("served");
    let program = program(&place, "libmpi.so.40");
    for options in [&["--no-takeover"][..], &["--pmix"]] {
        // There is no such libpmix; what matters is that it is asked for.
        let more = ["--set", "PMIX=/no/libpmix.so", "-n", "2", &program];
        let said = place.run(&[options, &more].concat());
        assert_eq!(said.status, 1, "{}", said.err);
        let words = "is linked to libmpi.so.40, so it needs a PMIx server";
        assert!(said.err.contains(words), "{}", said.err);
    }
}

#[test]
fn a_fixed_run_path_is_told_of() {
    let place = place("fixed");
    let library = place.library("other", "libmpi.so.12", "other");
    let path = format!("-Wl,-rpath,{}", place.path("other"));
    let program = place.program("fixed", &library, &[&path, "-Wl,--disable-new-dtags"]);
    let said = place.run(&["-n", "2", &program]);
    assert_eq!((said.status, said.out.as_str()), (1, ""));
    let own = place.path("home/lib/catena/mpich/libmpi.so.12");
    let words = format!(
        "{program} names the folder of MPICH itself, so it keeps {library} (DT_RPATH); to run it \
         on Catena, add -x LD_PRELOAD={own}"
    );
    assert!(said.err.contains(&words), "{}", said.err);
    let preload = format!("LD_PRELOAD={own}");
    let said = place.run(&["-n", "2", "-x", &preload, &program]);
    assert_ok(&said, &format!("{MPICH}\n").repeat(2));
}

#[test]
fn a_program_keeps_an_mpi_of_which_catena_has_only_a_part() {
    let place = place("part");
    let fortran = place.library("other", "libmpichfort.so.12", "other fortran");
    let program = {
        let library = place.library("other", "libmpi.so.12", "other");
        let path = format!("-Wl,-rpath,{}", place.path("other"));
        let options = [
            "-Wl,--no-as-needed",
            &*fortran,
            &path,
            "-Wl,--enable-new-dtags",
        ];
        place.program("both", &library, &options)
    };
    let said = place.run(&["-n", "2", &program]);
    assert_eq!((said.status, said.out.as_str()), (1, ""));
    let words = format!(
        "{program} needs libmpichfort.so.12 ({fortran}), for which Catena has no library, so it \
         keeps MPICH's"
    );
    assert!(said.err.contains(&words), "{}", said.err);
}

#[test]
fn a_symbol_that_catena_lacks_is_named() {
    let place = place("symbol");
    let source = place.path("extra.c");
    let code = "const char *which(void) { return \"other\"; } void MPI_Extra(void) {}\n\
                void MPIR_Extra(void) {}\n";
    std::fs::write(&source, code).unwrap();
    let library = place.library("other", "libmpi.so.12", "other");
    place.compile(&[
        "-shared",
        "-fPIC",
        "-Wl,-soname,libmpi.so.12",
        &source,
        "-o",
        &library,
    ]);
    let main = place.path("main.c");
    let code = "#include <stdio.h>\nconst char *which(void); void MPI_Extra(void);\n\
                int main(int n, char **v) { (void)v; if (n > 1) MPI_Extra(); puts(which()); }\n";
    std::fs::write(&main, code).unwrap();
    let program = place.path("extra");
    place.compile(&[&main, &library, "-Wl,-z,lazy", "-o", &program]);
    let said = place.run(&["-n", "2", &program]);
    assert_eq!((said.status, said.out), (0, format!("{MPICH}\n").repeat(2)));
    let words = format!(
        "mpirun: {program} needs MPI_Extra of MPICH, which Catena does not have, and whatever \
         calls it will fail\n"
    );
    assert_eq!(said.err, words);
}

#[test]
fn a_program_of_an_older_mpi_is_told_of() {
    let place = place("older");
    for (name, mpi) in [
        ("libmpi.so.0", "Open MPI 1.2 to 1.4"),
        ("libmpi.so.1", "Open MPI 1.5 to 1.8, or of Platform MPI"),
        ("libmpi.so.20", "Open MPI 2"),
        ("libmpich.so.10", "MPICH 3.0 or MVAPICH2 1.9 to 2.0"),
    ] {
        let program = program(&place, name);
        let needs = format!(
            "mpirun: {program} needs {name} of {mpi}, whose binary interface Catena does not have, "
        );
        let remedy = "compile the program again, with Catena's mpicc";
        // It is there, and the program has it to itself.
        let library = place.path(&format!("other/{name}"));
        let said = place.run(&["-n", "1", &program]);
        let words = format!(
            "{needs}so it keeps {library}, and its ranks may not find each other: {remedy}"
        );
        assert_eq!(
            (said.status, said.out.as_str()),
            (0, "other\n"),
            "{}",
            said.err
        );
        assert_eq!(said.err.matches(&words).count(), 1, "{}", said.err);
        // It is not: once for all ranks, before what the loader says.
        std::fs::remove_file(&library).unwrap();
        let said = place.run(&["-n", "2", &program]);
        let words = format!("{needs}and which is not found here: {remedy}");
        assert_eq!((said.status, said.out.as_str()), (127, ""), "{}", said.err);
        assert_eq!(said.err.matches(&words).count(), 1, "{}", said.err);
    }
}

#[test]
fn a_program_of_an_open_mpi_whose_library_has_the_name_of_mpichs_is_told_of() {
    let place = place("twelve");
    let source = place.path("object.c");
    let code = "const char *which(void) { return \"other\"; } char ompi_mpi_comm_world[64];\n";
    std::fs::write(&source, code).unwrap();
    let library = place.library("other", "libmpi.so.12", "other");
    let soname = "-Wl,-soname,libmpi.so.12";
    place.compile(&["-shared", "-fPIC", soname, &source, "-o", &library]);
    let main = place.path("main.c");
    let code = "#include <stdio.h>\nconst char *which(void); extern char ompi_mpi_comm_world[];\n\
                int main(void) { return puts(which()) < 0 || ompi_mpi_comm_world[0]; }\n";
    std::fs::write(&main, code).unwrap();
    let program = place.path("old");
    let path = format!("-Wl,-rpath,{}", place.path("other"));
    place.compile(&[
        &main,
        &library,
        &path,
        "-Wl,--enable-new-dtags",
        "-o",
        &program,
    ]);
    let said = place.run(&["-n", "1", &program]);
    assert_eq!(
        (said.status, said.out.as_str()),
        (0, "other\n"),
        "{}",
        said.err
    );
    let words = format!(
        "{program} needs ompi_mpi_comm_world, so it was built for Open MPI 1.10, whose library has \
         the name libmpi.so.12 as MPICH's has"
    );
    assert!(said.err.contains(&words), "{}", said.err);
}

//! What the options do, and what is said about wrong ones.

use std::os::unix::process::ExitStatusExt;

use super::*;

const SIGPIPE: i32 = 13;

#[test]
fn programs_without_mpi_work() {
    let said = run(words(
        "-np 3",
        &sh("echo $CATENA_RANK/$CATENA_SIZE/$CATENA_LOCAL_RANK"),
    ));
    assert_eq!((said.status, said.err.as_str()), (0, ""));
    let mut lines: Vec<_> = said.out.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["0/3/0", "1/3/1", "2/3/2"]);
}

/// `catena` with these arguments.
fn catena(words: &[&str], out: Stdio) -> Said {
    let mut command = clean(env!("CARGO_BIN_EXE_catena"));
    let command = command.args(words).stdout(out).stderr(Stdio::piped());
    let child = command.stdin(Stdio::null()).spawn().unwrap();
    said(child.wait_with_output().unwrap())
}

#[test]
fn commands_that_look_at_jobs_tell_about_themselves() {
    for verb in ["ps", "hang", "explain", "trace", "top"] {
        for option in ["--help", "-h"] {
            let said = catena(&[verb, option], Stdio::piped());
            assert_eq!((said.status, said.err.as_str()), (0, ""), "{verb}");
            let usage = format!("usage: catena {verb}");
            assert!(said.out.starts_with(&usage), "{}", said.out);
        }
    }
    let said = catena(&["help", "--help"], Stdio::piped());
    assert!(
        said.out.starts_with("usage: catena <command>"),
        "{}",
        said.err
    );
    let said = catena(&["explain", "--try", "--help"], Stdio::piped());
    assert!(
        said.out.starts_with("usage: catena explain"),
        "{}",
        said.out
    );
    for verb in ["ps", "hang", "explain", "trace"] {
        let full = std::fs::File::options().write(true).open("/dev/full");
        let said = catena(&[verb, "--help"], full.unwrap().into());
        let told = format!("catena {verb}: what it says cannot be written: ");
        assert_eq!(said.status, 1);
        assert!(said.err.starts_with(&told), "{}", said.err);
    }
}

#[test]
fn ranks_find_their_numbers_where_other_launchers_put_them() {
    let script = sh("echo $OMPI_COMM_WORLD_RANK/$OMPI_COMM_WORLD_SIZE \
                     $OMPI_COMM_WORLD_LOCAL_RANK/$OMPI_COMM_WORLD_LOCAL_SIZE \
                     $OMPI_COMM_WORLD_NODE_RANK $PMI_RANK/$PMI_SIZE \
                     $MPI_LOCALRANKID/$MPI_LOCALNRANKS $MV2_COMM_WORLD_LOCAL_RANK \
                     $CATENA_LOCAL_SIZE");
    let mut lines: Vec<String> = Vec::new();
    for options in ["-n 2", "--launcher-agent=env|-u --host a,b:2 -n 3"] {
        let options: Vec<String> = options
            .split(' ')
            .map(|word| word.replace('|', " "))
            .collect();
        let said = run(options
            .into_iter()
            .chain(script.clone().into_iter().map(|word| word.to_string())));
        assert_eq!((said.status, said.err.as_str()), (0, ""));
        lines.extend(said.out.lines().map(str::to_string));
    }
    lines.sort_unstable();
    let expected = [
        "0/2 0/2 0 0/2 0/2 0 2",
        "0/3 0/1 0 0/3 0/1 0 1",
        "1/2 1/2 1 1/2 1/2 1 2",
        "1/3 0/2 0 1/3 0/2 0 2",
        "2/3 1/2 1 2/3 1/2 1 2",
    ];
    assert_eq!(lines, expected);
    let said = run(words(
        "-n 1 --set LAUNCH_ALIASES=no -x PMI_RANK=7",
        &sh("echo $PMI_RANK ${PMI_SIZE-none}"),
    ));
    assert_eq!(
        (said.status, said.out.as_str()),
        (0, "7 none\n"),
        "{}",
        said.err
    );
}

#[test]
fn each_program_has_its_environment_and_directory() {
    let scratch = Scratch::new("wdir");
    let dir = scratch.0.canonicalize().unwrap();
    let mut args: Vec<String> = words("-genv G all -n 1 -x A=one --wdir", &[])
        .into_iter()
        .map(str::to_string)
        .collect();
    args.push(dir.to_str().unwrap().to_string());
    args.extend(sh("echo $G $A $B $(pwd)"));
    args.extend(
        words(": -n 2 -env B two -genv G more -wd /", &[])
            .iter()
            .map(ToString::to_string),
    );
    args.extend(sh("echo $G $A $B $(pwd) $CATENA_RANK"));
    let said = run(args);
    assert_eq!(said.status, 0, "{}", said.err);
    let mut lines: Vec<_> = said.out.lines().collect();
    lines.sort_unstable();
    assert_eq!(
        lines,
        [
            &format!("more one {}", dir.display()),
            "more two / 1",
            "more two / 2"
        ]
    );
}

#[test]
fn settings_reach_the_ranks() {
    let said = run(words(
        "-n 1 --set singleton=yes",
        &sh("echo $CATENA_SINGLETON $CATENA_COMMAND_LINE"),
    ));
    assert_eq!(said.out, "yes SINGLETON\n");
    let said = run(words("--set SINGELTON=1", &sh("echo no")));
    assert_eq!((said.status, said.out.as_str()), (2, ""));
    assert!(said.err.contains("did you mean SINGLETON?"), "{}", said.err);
    let said = run(words("--set SINGLETON=maybe", &sh("echo no")));
    assert!(
        said.err.contains("it must be true or false"),
        "{}",
        said.err
    );
}

#[test]
fn the_configuration_file_is_read_once_for_all_ranks() {
    let scratch = Scratch::new("conf");
    let file = scratch.0.join("catena.conf");
    std::fs::write(&file, b"link = tcp\nB\xff = 1\n").unwrap();
    let catena = env!("CARGO_BIN_EXE_catena");
    // Wherever a rank is, and whatever becomes of the file.
    let script = format!("cd /; rm -f {}; {catena} info LINK", file.display());
    let mut command = mpirun();
    command
        .current_dir(&scratch.0)
        .env("CATENA_CONF", "catena.conf")
        .args(["-n", "2"])
        .args(sh(&script));
    let all = said(command.output().unwrap());
    assert_eq!(
        all.out.matches("LINK = tcp  (file)").count(),
        2,
        "{}",
        all.out
    );
    assert!(
        all.err.contains("catena.conf:2: the line is not UTF-8"),
        "{}",
        all.err
    );
    // A pipe is no file, and nobody waits for one who writes to it.
    let pipe = Command::new("mkfifo").arg(&file).status().unwrap();
    assert!(pipe.success());
    let mut command = clean(catena);
    command.env("CATENA_CONF", &file).args(["info", "LINK"]);
    let one = said(command.output().unwrap());
    assert!(one.err.contains("no regular file"), "{}", one.err);
}

#[test]
fn settings_that_ranks_are_given_are_heard_by_the_launcher() {
    let scratch = Scratch::new("heard");
    let file = scratch.path("catena.conf");
    // The launcher alone reads that one.
    std::fs::write(&file, "cpu_mapping = nonsense\n").unwrap();
    let by_file = format!("CATENA_CONF={file}");
    for given in [by_file.as_str(), "CATENA_CPU_MAPPING=nonsense"] {
        let said = run(words(&format!("-n 2 -x {given}"), &sh("echo started")));
        assert_eq!((said.status, said.out.as_str()), (2, ""), "{given}");
        assert!(
            said.err.contains("CATENA_CPU_MAPPING=nonsense"),
            "{}",
            said.err
        );
    }
    let two = format!("-n 1 -x {by_file} true : -n 1 true");
    let said = run(words(&two, &[]));
    assert_eq!(said.status, 2);
    assert!(said.err.contains("CATENA_CONF differs"), "{}", said.err);
}

/// CPUs that each rank may use, in any order.
fn allowed(options: &str) -> (Said, Vec<String>) {
    let said = run(words(
        options,
        &sh("grep Cpus_allowed_list /proc/self/status"),
    ));
    let list = |line: &str| line.split_whitespace().last().unwrap().to_string();
    let mut lists: Vec<String> = said.out.lines().map(list).collect();
    lists.sort_unstable();
    assert_eq!(said.status, 0, "{}", said.err);
    (said, lists)
}

#[test]
fn ranks_are_bound_while_there_are_cpus() {
    let (_, free) = allowed("-n 1 --bind-to none");
    let all = catena_boot::available_cpus() as usize;
    let (said, mut bound) = allowed(&format!("-n {all} --bind-to hwthread -v"));
    assert!(said.err.contains("bound to CPU"), "{}", said.err);
    assert!(
        bound.iter().all(|cpu| cpu.parse::<u32>().is_ok()),
        "{}",
        said.out
    );
    bound.dedup();
    assert_eq!(bound.len(), all);

    let (said, lists) = allowed(&format!("-n {} --bind-to hwthread", all + 1));
    assert!(said.err.contains("they are not bound"), "{}", said.err);
    assert!(lists.iter().all(|list| *list == free[0]), "{lists:?}");
}

#[test]
fn ranks_can_be_placed_one_by_one() {
    let folder = std::env::temp_dir().join(format!("catena-place-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("ranks");
    let host = catena_boot::host_name();
    std::fs::write(&file, format!("rank 0={host} slot=0\nrank 1={host}\n")).unwrap();
    let show = format!("--rankfile {} --display map,bindings", file.display());
    let (said, lists) = allowed(&show);
    assert_eq!(lists.len(), 2);
    assert!(said.err.contains("  rank 0  [#"), "{}", said.err);
    assert!(said.err.contains("  rank 1  not bound"), "{}", said.err);

    let cpu = |list: &str| list.split(['-', ',']).next().unwrap().to_string();
    let first = cpu(&allowed("-n 1 --bind-to none").1[0]);
    let (_, lists) = allowed(&format!("-n 2 --set CPU_MAPPING={first}:{first}"));
    assert_eq!(lists, [first.as_str(), first.as_str()]);
    let wrong = run(words("-n 2 --set CPU_MAPPING=0", &sh("true")));
    assert!(
        wrong.err.contains("has 1 set for the 2 ranks"),
        "{}",
        wrong.err
    );
    assert_eq!(wrong.status, 2);
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn ranks_are_held_to_the_cpus_that_were_named() {
    let (_, free) = allowed("-n 1 --bind-to none");
    let first = free[0].split(['-', ',']).next().unwrap().to_string();
    for options in ["--bind-to none -n 2", "-n 3"] {
        let (_, lists) = allowed(&format!("--cpu-set {first} {options}"));
        assert!(lists.iter().all(|list| *list == first), "{lists:?}");
    }
    let said = run(words(&format!("--cpu-set {first},9999"), &sh("true")));
    assert_eq!(said.status, 2);
    assert!(said.err.contains("only CPU"), "{}", said.err);
    let (_, shared) = allowed(&format!(
        "--cpu-set {first} --bind-to core:overload-allowed -n 2"
    ));
    assert_eq!(shared, [first.as_str(), first.as_str()]);
}

#[test]
fn this_host_is_one_by_all_its_names() {
    let host = catena_boot::host_name();
    let list = format!("-host {host},localhost,127.0.0.1:2");
    let said = run(words(
        &format!("{list} --display allocation"),
        &sh("echo $CATENA_LOCAL_RANK"),
    ));
    assert_eq!(said.status, 0, "{}", said.err);
    assert_eq!(said.err, format!("host {host}: 4 slots\n"));
    let mut lines: Vec<_> = said.out.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["0", "1", "2", "3"]);
    let scratch = Scratch::new("rankfile");
    let file = scratch.path("ranks");
    std::fs::write(&file, "rank 0=localhost\nrank 1=127.0.0.1\n").unwrap();
    let said = run(words(
        &format!("--rankfile {file}"),
        &sh("echo $CATENA_LOCAL_RANK"),
    ));
    assert_eq!(
        (said.status, said.out.lines().count()),
        (0, 2),
        "{}",
        said.err
    );
}

#[test]
fn options_of_others_are_understood_or_told() {
    let said = run(words(
        "--mca btl self -rmk user --mca btl_x y -perhost 2 --map-by core:OVERSUBSCRIBE --bind-to \
         none",
        &sh("echo $CATENA_SIZE"),
    ));
    assert_eq!(
        (said.status, said.out.as_str()),
        (0, "2\n2\n"),
        "{}",
        said.err
    );
    assert_eq!(said.err.lines().count(), 2, "{}", said.err);
    assert!(said.err.contains("--mca is passed over") && said.err.contains("--set NAME=VALUE"));
    let said = run(words("-n 1 -x CATENA_NOT_THERE", &sh("echo ran")));
    assert_eq!((said.status, said.out.as_str()), (0, "ran\n"));
    assert!(
        said.err.contains("CATENA_NOT_THERE is passed over"),
        "{}",
        said.err
    );
    let said = run(["--help", "open-mpi"]);
    assert!(said.out.contains("--npersocket"), "{}", said.out);
    let mut command = mpirun();
    let command = command
        .env("MPIEXEC_TIMEOUT", "")
        .args(words("-n 1", &sh("echo ran")));
    assert_eq!(self::said(command.output().unwrap()).out, "ran\n");
}

#[test]
fn programs_have_the_variables_and_folders_that_were_named() {
    let scratch = Scratch::new("path");
    scratch.program("only-there", "#!/bin/sh\necho found $KEPT.$DROPPED\n");
    let mut command = mpirun();
    command.envs([("KEPT", "1"), ("DROPPED", "1")]);
    let folder = scratch.0.display();
    command.args(words(
        &format!("-genvlist KEPT -n 1 -path {folder} only-there"),
        &[],
    ));
    command.args(words(
        &format!(": -n 1 -envall -path {folder} only-there"),
        &[],
    ));
    let said = said(command.output().unwrap());
    let mut lines: Vec<_> = said.out.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["found 1.", "found 1.1"], "{}", said.err);
}

#[test]
fn maps_are_shown_for_other_machines() {
    let file = std::env::temp_dir().join(format!("catena-map-{}.xml", std::process::id()));
    let pu = |cpu: u32| format!("<object type=\"PU\" cpuset=\"{:#x}\"/>", 1 << cpu);
    let package = |at: u32| {
        let threads = pu(at * 2) + &pu(at * 2 + 1);
        format!(
            "<object type=\"Package\" cpuset=\"{:#x}\">{threads}</object>",
            3 << (at * 2)
        )
    };
    let xml = format!(
        "<topology version=\"2.0\">{}{}</topology>",
        package(0),
        package(1)
    );
    std::fs::write(&file, xml).unwrap();
    let name = file.file_stem().unwrap().to_str().unwrap().to_string();
    let option = format!("--topology={}", file.display());
    let said = run([&option, "--map-by", "ppr:1:package", "--bind-to", "core"]);
    assert_eq!(
        said.out,
        format!(
            "node {name}: 2 ranks on 2 packages, 4 cores, 4 hardware threads\n  \
             rank 0  [#.][..]  CPU 0\n  rank 1  [..][#.]  CPU 2\n"
        )
    );
    let wrong = run([&option, "--map-by", "numa", "-n", "2"]);
    assert!(
        wrong.err.contains("no numa") && wrong.status == 2,
        "{}",
        wrong.err
    );
    std::fs::remove_file(&file).unwrap();
}

#[test]
fn mistakes_are_told_before_anything_is_started() {
    let scratch = Scratch::new("mistakes");
    let mark = scratch.path("started");
    let touch = format!("-n 1 touch {mark} : ");
    for (line, status, words) in [
        ("-np 0 true", 2, "at least one rank"),
        ("-np x true", 2, "whole number"),
        ("--tag-outptu true", 2, "did you mean --tag-output?"),
        ("--timeout 3 -n 2 true", 2, "before the first one"),
        ("no-such-program", 127, "none of the directories of PATH"),
        ("./no-such-program", 127, "does not exist"),
        ("/etc/passwd", 126, "may not be executed"),
        ("-wdir /no-such-dir true", 127, "it does not exist; make it"),
    ] {
        let said = run(format!("{touch}{line}").split_whitespace());
        assert_eq!(
            (said.status, said.out.as_str()),
            (status, ""),
            "{line}: {}",
            said.err
        );
        assert!(said.err.starts_with("catena run: "), "{line}: {}", said.err);
        assert!(said.err.contains(words), "{line}: {}", said.err);
        assert_eq!(said.err.lines().count(), 1, "{line}: {}", said.err);
        assert!(!Path::new(&mark).exists(), "{line}");
    }
}

#[test]
fn scripts_run_with_and_without_an_interpreter() {
    let scratch = Scratch::new("scripts");
    let plain = scratch.program("plain", "echo plain $1\n");
    let said = run(["-n", "1", &plain, "x"]);
    assert_eq!(
        (said.status, said.out.as_str()),
        (0, "plain x\n"),
        "{}",
        said.err
    );
    let wrong = scratch.program("wrong", "#!/no/such/interpreter\n");
    let said = run(["-n", "2", &wrong]);
    assert_eq!(said.status, 127, "{}", said.err);
    assert!(said.err.contains("interpreter or loader"), "{}", said.err);
    assert_eq!(said.err.lines().count(), 1, "{}", said.err);
}

#[test]
fn a_reader_that_leaves_ends_what_only_writes() {
    for args in [&["info", "--all"][..], &["coll", "allreduce", "64k"]] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut catena = clean(env!("CARGO_BIN_EXE_catena"));
        let said = catena.args(args).stdout(writer).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&said.stderr), "", "{args:?}");
        assert_eq!(said.status.signal(), Some(SIGPIPE), "{args:?}");
    }
}

#[test]
fn the_command_helps() {
    let catena = |args: &[&str]| {
        said(
            clean(env!("CARGO_BIN_EXE_catena"))
                .args(args)
                .output()
                .unwrap(),
        )
    };
    for args in [&["help"][..], &["run", "--help"], &["info", "--help"]] {
        let said = catena(args);
        assert_eq!(said.status, 0);
        assert!(said.out.starts_with("usage: "), "{}", said.out);
    }
    assert!(catena(&["version"]).out.starts_with("catena "));
    let said = catena(&["inof"]);
    assert_eq!(said.status, 2);
    assert!(
        said.err.contains("did you mean `catena info`?"),
        "{}",
        said.err
    );
    let said = catena(&["info", "singleton"]);
    assert!(
        said.out.contains("SINGLETON = false  (default)"),
        "{}",
        said.out
    );
    let said = catena(&["info", "singelton"]);
    assert_eq!(said.status, 1);
    assert!(said.err.contains("did you mean SINGLETON?"), "{}", said.err);
}

#[test]
fn it_answers_to_the_names_of_mpirun() {
    let scratch = Scratch::new("names");
    for name in ["mpirun", "mpiexec"] {
        let link = scratch.path(name);
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_catena"), &link).unwrap();
        let said = said(
            clean(&link)
                .args(["-n", "2", "echo", "hi"])
                .output()
                .unwrap(),
        );
        assert_eq!((said.status, said.out.as_str()), (0, "hi\nhi\n"));
        let said = self::said(clean(&link).args(["-n", "2"]).output().unwrap());
        assert!(said.err.starts_with(&format!("{name}: ")), "{}", said.err);
    }
}

//! What the options do, and what is said about wrong ones.

use super::*;

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
fn ranks_can_be_bound() {
    let script = sh("grep Cpus_allowed_list /proc/self/status");
    let free = run(words("-n 1", &script));
    let bound = run(words("-n 3 --bind-to core", &script));
    let cpus = |said: &Said| -> Vec<String> {
        said.out
            .lines()
            .map(|l| l.split_whitespace().last().unwrap().to_string())
            .collect()
    };
    assert_eq!(free.status + bound.status, 0);
    assert_eq!(cpus(&bound).len(), 3);
    assert!(
        cpus(&bound).iter().all(|cpu| cpu.parse::<u32>().is_ok()),
        "{}",
        bound.out
    );
    let all = catena_boot::available_cpus() as usize;
    let mut distinct = cpus(&bound);
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(distinct.len(), all.min(3));
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
        ("--stdin 7 -n 2 true", 2, "only 3 ranks"),
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

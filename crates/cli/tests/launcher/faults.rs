//! Ranks that fail, and jobs that are ended.

use std::io::Write;

use super::*;

/// Longer than a job may take to end once a rank has failed, on a machine that
/// is busy with other tests.
const SOON: Duration = Duration::from_secs(10);

/// Ranks that wait, and have a child each that does, too; none of them ends
/// when it is asked to.
fn stubborn(count: &str) -> (Running, Vec<String>) {
    let script = "trap '' TERM INT HUP; (trap '' TERM INT HUP; echo pid $CATENA_RANK $$; \
                  while :; do sleep 1000; done) & echo pid $CATENA_RANK $!; wait; wait";
    let options = format!("--set LAUNCH_GRACE=300ms -n {count}");
    let mut job = Running::start(words(&options, &sh(script)));
    let lines = job.wait_for("pid", 2 * count.parse::<usize>().unwrap());
    (job, lines.into_iter().map(|line| line[1].clone()).collect())
}

#[test]
fn the_status_is_that_of_the_rank_that_failed() {
    let script = "[ $CATENA_RANK = 2 ] && exit 3; exec sleep 1000";
    let start = Instant::now();
    let said = run(words("-n 4", &sh(script)));
    assert!(start.elapsed() < SOON);
    assert_eq!(said.status, 3);
    let host = catena_boot::host_name();
    let beginning = format!("catena run: rank 2 on host {host} (pid ");
    assert!(said.err.starts_with(&beginning), "{}", said.err);
    let end = ", sh) exited with code 3; the other 3 ranks were ended\n";
    assert!(said.err.ends_with(end), "{}", said.err);
    assert_eq!(said.err.lines().count(), 1);
}

#[test]
fn a_killed_rank_ends_the_job_and_leaves_nothing() {
    let mut job = Running::start(words("-n 4", &role("wait")));
    let ranks = job.wait_for("waiting", 4);
    let victim = ranks.iter().find(|r| r[0] == "1").unwrap();
    let start = Instant::now();
    send("KILL", &victim[1]);
    let said = job.end();
    assert!(start.elapsed() < SOON);
    assert_eq!(said.status, 137, "{}", said.err);
    let name = format!("(pid {}, env) was killed by signal 9", victim[1]);
    assert!(
        said.err.contains(&name) && said.err.contains("rank 1 on host"),
        "{}",
        said.err
    );
    assert!(
        said.err.contains("the other 3 ranks were ended"),
        "{}",
        said.err
    );
    for rank in &ranks {
        assert!(!alive(&rank[1]));
    }
}

#[test]
fn a_crash_names_its_signal() {
    let said = run(words(
        "-n 2",
        &sh("[ $CATENA_RANK = 0 ] && kill -SEGV $$; exec sleep 1000"),
    ));
    assert_eq!(said.status, 139);
    let words = "was killed by signal 11 (segmentation fault); the other rank was ended";
    assert!(said.err.contains(words), "{}", said.err);
}

#[test]
fn signals_to_the_launcher_end_everything() {
    for (signal, status) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        let (job, pids) = stubborn("2");
        let start = Instant::now();
        job.signal(signal);
        let said = job.end();
        assert!(start.elapsed() < SOON);
        assert_eq!(said.status, status, "{}", said.err);
        assert!(said.err.contains("2 ranks were ended"), "{}", said.err);
        assert_eq!(said.err.lines().count(), 1, "{}", said.err);
        for pid in &pids {
            assert_gone(pid);
        }
    }
}

/// The signal that interrupts the launcher is the one that ranks get, so that Python raises
/// KeyboardInterrupt; and the job ends once they have, not when the time for that is over.
#[test]
fn ranks_get_the_signal_that_interrupts_the_job() {
    for (number, signal, status) in [(2, "INT", 130), (15, "TERM", 143), (3, "QUIT", 131)] {
        // Where this was started in the background, with some signals ignored, no shell below can
        // trap them.
        let ignored = std::fs::read_to_string("/proc/self/status").unwrap();
        let ignored = ignored
            .lines()
            .find_map(|line| line.strip_prefix("SigIgn:"));
        let ignored = u64::from_str_radix(ignored.unwrap().trim(), 16).unwrap();
        if ignored >> (number - 1) & 1 != 0 {
            continue;
        }
        let script = format!(
            "trap 'echo got {signal} $CATENA_RANK; exit 0' {signal}; echo ready; while :; do sleep \
             0.05; done"
        );
        let mut job = Running::start(words("--set LAUNCH_GRACE=600s -n 2", &sh(&script)));
        job.wait_for("ready", 2);
        job.signal(signal);
        job.wait_for(&format!("got {signal}"), 2);
        let said = job.end();
        assert_eq!(said.status, status, "{}", said.err);
    }
}

#[test]
fn a_second_interrupt_kills() {
    let script = "trap '' INT; echo ready; while :; do sleep 1000; done";
    let mut job = Running::start(words("--set LAUNCH_GRACE=600s -n 2", &sh(script)));
    job.wait_for("ready", 2);
    job.signal("INT");
    // Within a tenth of a second it would be the same one, which batch systems send to all that
    // they know.
    let mut line = String::new();
    let mut err = BufReader::new(job.child.stderr.take().unwrap());
    err.read_line(&mut line).unwrap();
    let words = "2 ranks have not ended yet and will be killed 600 s after the interrupt";
    assert!(line.contains(words), "{line}");
    job.signal("INT");
    assert_eq!(job.end().status, 130);
}

#[test]
fn a_killed_launcher_leaves_nothing() {
    let (mut job, pids) = stubborn("3");
    assert_eq!(pids.len(), 6);
    job.signal("KILL");
    for pid in &pids {
        assert_gone(pid);
    }
    assert!(!job.child.wait().unwrap().success());
}

#[test]
fn children_of_ranks_end_with_the_job() {
    let mut job = Running::start(words("-n 2", &sh("sleep 1000 & echo child $!")));
    let pids = job.wait_for("child", 2);
    let said = job.end();
    assert_eq!((said.status, said.err.as_str()), (0, ""));
    for pid in pids {
        assert_gone(&pid[0]);
    }
}

#[test]
fn an_abort_ends_the_job_with_its_code() {
    let mut job = Running::start(words("-n 3", &role("abort")));
    let ranks = job.wait_for("waiting", 2);
    let said = job.end();
    assert_eq!(said.status, 42, "{}", said.err);
    let words = "ended the job with code 42: the input is bad; the other 2 ranks were ended\n";
    assert!(
        said.err.ends_with(words) && said.err.contains("rank 1 on host"),
        "{}",
        said.err
    );
    for rank in ranks {
        assert!(!alive(&rank[1]));
    }
}

#[test]
fn what_an_aborting_rank_has_printed_is_shown() {
    let said = run(words("-n 3", &role("abort")));
    assert!(said.out.contains("last words"), "{}", said.out);
}

#[test]
fn a_rank_that_leaves_without_finalize_fails_the_job() {
    let said = run(words("-n 3", &role("silent")));
    assert_eq!(said.status, 1, "{}", said.err);
    assert!(said.err.contains("rank 1 on host"), "{}", said.err);
    assert!(
        said.err
            .contains("ended without MPI_Finalize (or MPI_Session_finalize); the other 2 ranks"),
        "{}",
        said.err
    );
    // If all of them do, nobody waits, and it is only mentioned.
    let said = run(words("-n 3", &role("silent-all")));
    assert_eq!(said.status, 0, "{}", said.err);
    assert!(
        said.err.contains("ended without MPI_Finalize"),
        "{}",
        said.err
    );
    assert_eq!(said.err.lines().count(), 1);
}

#[test]
fn a_rank_that_never_comes_fails_those_that_wait() {
    let said = run(words("-n 1 true : -n 2", &role("exchange")));
    assert_eq!(said.status, 1, "{}{}", said.out, said.err);
    let words =
        "true) ended without MPI_Init, and others wait for it; the other 2 ranks were ended";
    assert!(said.err.contains(words), "{}", said.err);
}

#[test]
fn a_rank_that_fails_after_finalize_lets_the_others_finish() {
    let said = run(words("-n 3", &role("late")));
    assert_eq!(said.status, 5, "{}", said.err);
    assert_eq!(said.out.matches("finished").count(), 3, "{}", said.out);
    assert!(
        said.err.contains("rank 1 on host") && said.err.contains("code 5"),
        "{}",
        said.err
    );
}

#[test]
fn ranks_that_wait_for_one_that_has_failed_after_finalize_are_ended() {
    let said = run(words("-n 3", &role("in-vain")));
    assert_eq!(said.status, 5, "{}", said.err);
    let words = "exited with code 5; the other 2 ranks were ended\n";
    assert!(
        said.err.contains("rank 1 on host") && said.err.ends_with(words),
        "{}",
        said.err
    );
}

#[test]
fn a_failure_after_finalize_does_not_hide_one_that_ends_the_job() {
    let start = Instant::now();
    let said = run(words("-n 3", &role("both")));
    assert!(start.elapsed() < SOON);
    assert_eq!(said.status, 6, "{}", said.err);
    assert!(
        said.err.contains("rank 0 on host") && said.err.contains("exited with code 6"),
        "{}",
        said.err
    );
}

#[test]
fn a_time_limit_comes_from_the_environment_too() {
    for (limit, status) in [("0.2", 124), ("soon", 2)] {
        let mut command = clean(env!("CARGO_BIN_EXE_catena"));
        command.args(["run", "-n", "1", "sleep", "1000"]);
        let said = said(command.env("MPIEXEC_TIMEOUT", limit).output().unwrap());
        assert_eq!(said.status, status, "{}", said.err);
    }
}

#[test]
fn time_limits_end_the_job() {
    let said = run(words("--timeout 0.2 -n 2", &sh("exec sleep 1000")));
    assert_eq!(said.status, 124);
    assert_eq!(
        said.err,
        "catena run: the time limit of 0.2 s has passed; 2 ranks were ended\n"
    );
}

#[test]
fn the_launcher_sleeps_while_ranks_work() {
    // Ticks of 10 ms that the launcher has used, before and after a second.
    let script = "t() { set -- $(cat /proc/$PPID/stat); echo ticks $((${14} + ${15})); }; \
                  t; sleep 1; t";
    let mut job = Running::start(words("-n 1", &sh(script)));
    let ticks: Vec<u64> = job
        .wait_for("ticks", 2)
        .iter()
        .map(|line| line[0].parse().unwrap())
        .collect();
    assert_eq!(job.end().status, 0);
    assert!(ticks[1] - ticks[0] < 10, "{ticks:?}");
}

#[test]
fn a_reader_that_is_stuck_does_not_keep_a_job_from_ending() {
    let scratch = Scratch::new("stuck");
    // More than a pipe and the reader's buffer hold, and less than what the launcher keeps.
    let script = format!(
        "head -c 400000 /dev/zero | tr '\\0' '\\n'; : >{}$CATENA_RANK; exec sleep 1000",
        scratch.path("written.")
    );
    let mut job = Running::start(words("-n 2", &sh(&script)));
    for rank in 0..2 {
        while !Path::new(&scratch.path(&format!("written.{rank}"))).exists() {
            assert!(job.child.try_wait().unwrap().is_none(), "it has ended");
            std::thread::yield_now();
        }
    }
    job.signal("TERM");
    // Nobody reads until the launcher has ended.
    assert_eq!(job.child.wait().unwrap().code(), Some(143));
    let said = job.end();
    assert!(said.err.contains("output was lost"), "{}", said.err);
    assert!(said.err.contains("2 ranks were ended"), "{}", said.err);
}

/// As timeout(1) does, which signals mpirun and its group.
#[test]
fn a_signal_that_comes_twice_leaves_time_to_save() {
    let script =
        "trap 'sleep 0.7; echo saved; exit 0' TERM; echo ready; while :; do sleep 0.05; done";
    let mut job = Running::start(words("-n 2", &sh(script)));
    job.wait_for("ready", 2);
    job.signal("TERM");
    job.signal("TERM");
    job.signal("HUP");
    let said = job.end();
    assert_eq!(said.status, 143, "{}", said.err);
    assert_eq!(said.out, "saved\nsaved\n");
}

/// As services in Perl or Python do, which leave the end of children to the system.
#[test]
fn children_whose_end_is_ignored_are_noticed() {
    let run = |program: &[&str]| {
        let mut command = clean("env");
        command.arg("--ignore-signal=CHLD");
        command.arg(mpirun().get_program());
        command
            .args(["run", "--timeout", LIMIT, "-n", "2"])
            .args(program);
        said(command.output().unwrap())
    };
    let said = run(&["sh", "-c", "exit 3"]);
    assert_eq!(said.status, 3, "{}", said.err);
    // The ranks find what was there before.
    let said = run(&["grep", "SigIgn", "/proc/self/status"]);
    let ignored = |line: &str| {
        let mask = u64::from_str_radix(line.split_whitespace().nth(1)?, 16).ok()?;
        Some(mask >> (17 - 1) & 1)
    };
    let all: Vec<_> = said.out.lines().map(ignored).collect();
    assert_eq!(all, [Some(1); 2], "{}", said.out);
}

/// As `nohup` has SIGHUP ignored, and a shell SIGINT and SIGQUIT in the background.
#[test]
fn signals_that_are_ignored_at_the_start_stay_so() {
    for signal in ["HUP", "INT", "QUIT"] {
        let script = format!(
            "trap '' {signal}; exec {} run -n 1 sh -c 'echo ready; read go; echo done'",
            mpirun().get_program().display()
        );
        let mut child = Command::new("sh")
            .args(["-c", &script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        assert_eq!(line, "ready\n");
        send(signal, &child.id().to_string());
        child.stdin.take().unwrap().write_all(b"go\n").unwrap();
        line.clear();
        out.read_line(&mut line).unwrap();
        assert_eq!(
            (line.as_str(), child.wait().unwrap().code()),
            ("done\n", Some(0))
        );
    }
}

//! Jobs that grow and shrink, and what is refused of those who have them do so.

use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;

use super::*;

/// `catena VERB ARGS`.
fn change(verb: &str, args: &[&str]) -> Said {
    let mut command = clean(env!("CARGO_BIN_EXE_catena"));
    said(command.arg(verb).args(args).output().unwrap())
}

/// A job of ranks that wait, and its number.
fn waiting(options: &str, count: usize) -> (Running, String) {
    let mut job = Running::start(words(options, &role("wait")));
    job.wait_for("waiting", count);
    let number = job.child.id().to_string();
    (job, number)
}

/// Ends a job that would wait for ever.
fn end(job: Running) {
    job.signal("TERM");
    assert_eq!(job.end().status, 128 + 15);
}

fn assert_refused(said: &Said, words: &[&str]) {
    assert_eq!((said.status, said.out.as_str()), (1, ""), "{}", said.err);
    for word in words {
        assert!(said.err.contains(word), "no '{word}' in: {}", said.err);
    }
}

#[test]
fn a_job_grows_and_shrinks() {
    let (mut job, number) = waiting("--elastic -n 2", 2);
    let grown = change("grow", &[&number, "3"]);
    let text = "catena://elastic/2 has 5 processes\n";
    assert_eq!(
        (grown.status, grown.out.as_str()),
        (0, text),
        "{}",
        grown.err
    );
    job.wait_for("waiting", 3);
    let shrunk = change("shrink", &[&number, "4"]);
    let text = "catena://elastic/3 has 1 processes\n";
    assert_eq!(
        (shrunk.status, shrunk.out.as_str()),
        (0, text),
        "{}",
        shrunk.err
    );
    end(job);
}

#[test]
fn a_job_of_programs_that_call_mpi_init_stays_as_it_is() {
    let mut job = Running::start(words("--elastic -n 2", &role("wait-in-world")));
    job.wait_for("waiting", 2);
    let number = job.child.id().to_string();
    for verb in ["grow", "shrink"] {
        let said = change(verb, &[&number, "1"]);
        assert_refused(&said, &["has called MPI_Init", "MPI sessions alone"]);
    }
    end(job);
}

#[test]
fn odd_numbers_are_refused() {
    for args in [
        &[][..],
        &["1"],
        &["1", "0"],
        &["1", "-1"],
        &["1", "x"],
        &["x", "1"],
        &["1", "4294967296"],
        &["1", "1.5"],
        &["1", ""],
        &["1", "1", "1"],
    ] {
        for verb in ["grow", "shrink"] {
            let said = change(verb, args);
            assert_eq!(said.status, 2, "{args:?}");
            let usage = format!("usage: catena {verb} JOB N");
            assert!(said.err.contains(&usage), "{args:?}: {}", said.err);
            let cause = format!("catena {verb}: ");
            assert!(said.err.starts_with(&cause), "{args:?}: {}", said.err);
        }
    }
}

#[test]
fn a_job_that_is_none_is_refused() {
    // No process has that number.
    assert_refused(
        &change("grow", &["4194305", "1"]),
        &["there is no process 4194305"],
    );
    // This one is no launcher.
    let me = std::process::id().to_string();
    assert_refused(
        &change("shrink", &[&me, "1"]),
        &["is no mpirun that was started with --elastic"],
    );
}

#[test]
fn a_job_that_is_not_elastic_is_refused() {
    let (job, number) = waiting("-n 2", 2);
    let words = ["is no mpirun that was started with --elastic"];
    assert_refused(&change("grow", &[&number, "1"]), &words);
    end(job);
}

#[test]
fn more_must_fit_and_one_must_be_left() {
    let (job, number) = waiting("--elastic -n 2", 2);
    let text = "the job has 2 processes, and one must be left: 1 can leave at most";
    for count in ["2", "3", "4294967295"] {
        assert_refused(&change("shrink", &[&number, count]), &[text]);
    }
    assert_refused(&change("grow", &[&number, "4294967295"]), &["4294967295"]);
    end(job);
}

#[test]
fn slots_are_no_limit() {
    let (mut job, number) = waiting("--elastic --host localhost:2 -n 2", 2);
    let grown = change("grow", &[&number, "2"]);
    assert_eq!(grown.status, 0, "{}", grown.err);
    job.wait_for("waiting", 2);
    end(job);
}

#[test]
fn a_job_of_another_user_is_refused() {
    let mut command = clean(env!("CARGO_BIN_EXE_catena"));
    // The first process of a machine is root's.
    command.args(["grow", "1", "1"]);
    if std::fs::metadata("/proc/self").unwrap().uid() == 0 {
        command.uid(65534);
    }
    match command.output() {
        Ok(output) => {
            let words = ["process 1 is one of user 0, who alone, or root, can change its job"];
            assert_refused(&said(output), &words);
        }
        Err(error) => catena_testing::skip("another user", &error),
    }
}

#[test]
fn a_job_that_is_starting_waits_to_be_asked() {
    let mut job = Running::start(words("--elastic -n 1", &sh("echo here; exec sleep 1000")));
    job.wait_for("here", 1);
    let number = job.child.id().to_string();
    assert_refused(&change("grow", &[&number, "1"]), &["the job is starting"]);
    end(job);
}

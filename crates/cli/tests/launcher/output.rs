//! What ranks read and write.

use std::io::Write;

use super::*;

#[test]
fn lines_are_never_mixed() {
    // Each line is written in three parts.
    let script = "i=0; while [ $i -lt 300 ]; do \
                  printf \"$CATENA_RANK$CATENA_RANK\"; printf \"$CATENA_RANK-\"; \
                  printf \"$CATENA_RANK\\n\"; i=$((i+1)); done";
    let said = run(words("-n 4 --stdin none", &sh(script)));
    assert_eq!(said.status, 0);
    for rank in 0..4 {
        let line = format!("{rank}{rank}{rank}-{rank}");
        assert_eq!(said.out.lines().filter(|l| **l == line).count(), 300);
    }
    assert_eq!(said.out.lines().count(), 1200);
}

#[test]
fn lines_can_begin_with_the_rank() {
    for option in ["-l", "--tag-output", "--prepend-rank", "-prepend-rank"] {
        let said = run(words("-n 2", &[])
            .into_iter()
            .chain([option])
            .map(str::to_string)
            .chain(sh("echo out; echo; echo err >&2; printf end")));
        let mut lines: Vec<_> = said.out.lines().collect();
        lines.sort_unstable();
        // The unfinished lines stay unfinished, but on lines of their own.
        assert_eq!(
            lines,
            ["[0] ", "[0] end", "[0] out", "[1] ", "[1] end", "[1] out"]
        );
        let mut lines: Vec<_> = said.err.lines().collect();
        lines.sort_unstable();
        assert_eq!(lines, ["[0] err", "[1] err"]);
    }
}

#[test]
fn bytes_pass_unchanged() {
    let scratch = Scratch::new("bytes");
    let file = scratch.path("in");
    let bytes: Vec<u8> = (0..3_000_000u32)
        .map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8)
        .collect();
    std::fs::write(&file, &bytes).unwrap();
    let output = mpirun().args(["-n", "1", "cat", &file]).output().unwrap();
    assert!(output.status.success());
    assert!(output.stdout == bytes, "{} bytes came", output.stdout.len());
}

#[test]
fn input_goes_to_one_rank() {
    let scratch = Scratch::new("stdin");
    let file = scratch.path("in");
    std::fs::write(&file, "the input\n").unwrap();
    for (options, reader) in [
        ("", Some(0)),
        ("--stdin 2", Some(2)),
        ("-stdin 1", Some(1)),
        ("--stdin none", None),
    ] {
        let mut command = mpirun();
        command
            .args(words("-n 3", &[]))
            .args(options.split_whitespace());
        command.args(sh("echo $CATENA_RANK: $(cat)"));
        let said = said(
            command
                .stdin(std::fs::File::open(&file).unwrap())
                .output()
                .unwrap(),
        );
        for rank in 0..3 {
            let text = if reader == Some(rank) {
                "the input"
            } else {
                ""
            };
            let line = format!("{rank}: {text}");
            assert!(
                said.out.lines().any(|l| l == line.trim_end()),
                "{options}: {}",
                said.out
            );
        }
    }
}

#[test]
fn questions_are_shown_before_they_are_answered() {
    let mut command = mpirun();
    command.args(words(
        "-n 2",
        &sh("[ $CATENA_RANK = 1 ] || { printf 'name? '; read n; echo hi $n; }"),
    ));
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut out = child.stdout.take().unwrap();
    let mut question = [0; 6];
    out.read_exact(&mut question).unwrap();
    assert_eq!(&question, b"name? ");
    child.stdin.take().unwrap().write_all(b"Ada\n").unwrap();
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "hi Ada\n");
    assert!(child.wait().unwrap().success());
}

/// What a rank has begun is shown although it does not end the line: whichever rank it is, and
/// whatever standard input is.
#[test]
fn what_is_begun_is_shown_for_every_rank_and_input() {
    let scratch = Scratch::new("begun");
    let (file, gate) = (scratch.path("in"), scratch.path("gate"));
    std::fs::write(&file, "the input\n").unwrap();
    let made = Command::new("mkfifo").arg(&gate).status().unwrap();
    assert!(made.success());
    let script = format!(
        "[ $CATENA_RANK = 1 ] || exit 0; printf 'dots..'; printf 'err..' >&2; read go < {gate}; \
         echo .done; echo .done >&2"
    );
    for input in [Stdio::null(), std::fs::File::open(&file).unwrap().into()] {
        let mut command = mpirun();
        command.args(words("-n 2", &sh(&script)));
        command
            .stdin(input)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut out = child.stdout.take().unwrap();
        let mut err = child.stderr.take().unwrap();
        let mut begun = [0; 6];
        out.read_exact(&mut begun).unwrap();
        assert_eq!(&begun, b"dots..");
        err.read_exact(&mut begun[..5]).unwrap();
        assert_eq!(&begun[..5], b"err..");
        std::fs::write(&gate, "go\n").unwrap();
        let mut rest = String::new();
        out.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, ".done\n");
        assert!(child.wait().unwrap().success());
    }
}

#[test]
fn every_rank_may_read_all_of_the_input() {
    let scratch = Scratch::new("stdin-all");
    let file = scratch.path("in");
    // More than pipes and the launcher hold, and rank 1 reads none of it.
    let text = "line\n".repeat(100_000);
    std::fs::write(&file, &text).unwrap();
    let script = "[ $CATENA_RANK = 1 ] && exec true; echo $CATENA_RANK $(wc -c)";
    for (option, lines) in [("--stdin all", &["0", "2"][..]), ("-s 2-3", &["2"])] {
        let mut command = mpirun();
        command
            .args(words(option, &[]))
            .args(words("-n 4", &sh(script)));
        let input = std::fs::File::open(&file).unwrap();
        let said = said(command.stdin(input).output().unwrap());
        assert_eq!(said.status, 0, "{}", said.err);
        for rank in lines {
            let line = format!("{rank} {}", text.len());
            assert!(
                said.out.lines().any(|it| it == line),
                "{option}: {}",
                said.out
            );
        }
    }
}

#[test]
fn output_goes_into_files() {
    let scratch = Scratch::new("files");
    let read = |name: &str| std::fs::read_to_string(scratch.0.join(name)).unwrap_or_default();
    let script = sh("echo out $CATENA_RANK; echo err $CATENA_RANK >&2");
    let folder = scratch.path("o");
    let said = run(words(
        &format!("-n 11 --output-filename {folder}:nocopy"),
        &script,
    ));
    assert_eq!(
        (said.status, said.out.as_str(), said.err.as_str()),
        (0, "", "")
    );
    assert_eq!(read("o/1/rank.07/stdout"), "out 7\n");
    assert_eq!(read("o/1/rank.10/stderr"), "err 10\n");
    // What was there before goes, and stderr is still shown.
    std::fs::write(scratch.0.join("p.1"), "old\n").unwrap();
    let pattern = scratch.path("p.%r");
    let said = run(words(&format!("-n 2 -outfile-pattern {pattern}"), &script));
    assert_eq!((said.out.as_str(), said.err.lines().count()), ("", 2));
    assert_eq!(read("p.1"), "out 1\n");
    let said = run(words("-n 2 --output file=/dev/null/x", &script));
    assert_eq!(said.status, 1);
    assert!(
        said.err.contains("cannot be put into /dev/null/x"),
        "{}",
        said.err
    );
}

/// Pipes with these names in a folder.
fn make_pipes(scratch: &Scratch, names: [&str; 2]) -> [String; 2] {
    let paths = names.map(|name| scratch.path(name));
    let made = Command::new("mkfifo").args(&paths).status().unwrap();
    assert!(made.success());
    paths
}

#[test]
fn a_file_that_nobody_reads_holds_no_other_one_up_and_loses_nothing() {
    let scratch = Scratch::new("file-pipes");
    let [first, second] = make_pipes(&scratch, ["p.0", "p.1"]);
    let script = sh("seq $((CATENA_RANK * 7 + 20000))");
    let pattern = scratch.path("p.%r");
    let job = Running::start(words(&format!("-n 2 -outfile-pattern {pattern}"), &script));
    // The other one is opened only then.
    let lines = |path: &str| std::fs::read_to_string(path).unwrap().lines().count();
    assert_eq!(lines(&second), 20_007);
    assert_eq!(lines(&first), 20_000);
    let said = job.end();
    assert_eq!((said.status, said.err.as_str()), (0, ""));
}

#[test]
fn a_job_whose_files_nobody_reads_can_be_interrupted() {
    let scratch = Scratch::new("file-stuck");
    make_pipes(&scratch, ["p.0", "p.1"]);
    let pattern = scratch.path("p.%r");
    let script = sh("echo up >&2; echo lost");
    let mut job = Running::start(words(&format!("-n 2 -outfile-pattern {pattern}"), &script));
    let mut err = BufReader::new(job.child.stderr.take().unwrap());
    for _ in 0..2 {
        let mut line = String::new();
        err.read_line(&mut line).unwrap();
        assert_eq!(line, "up\n");
    }
    job.signal("INT");
    let mut rest = String::new();
    err.read_to_string(&mut rest).unwrap();
    assert_eq!(job.end().status, 130, "{rest}");
    assert!(
        rest.contains("/p.0") && rest.contains("not take it"),
        "{rest}"
    );
}

#[test]
fn a_rank_that_does_not_read_its_input_holds_no_other_one_up() {
    let scratch = Scratch::new("stdin-unread");
    let (input, done) = (scratch.path("in"), scratch.path("done"));
    // More than pipes hold.
    let text = "line\n".repeat(1_000_000);
    std::fs::write(&input, &text).unwrap();
    let script = format!(
        "if [ $CATENA_RANK = 0 ]; then wc -c; : > {done}; else until [ -e {done} ]; do :; done; wc \
         -c; fi"
    );
    let mut command = mpirun();
    command.args(words("--stdin all -n 2", &sh(&script)));
    let input = std::fs::File::open(&input).unwrap();
    let said = said(command.stdin(input).output().unwrap());
    assert_eq!(said.status, 0, "{}", said.err);
    let line = format!("{}\n", text.len());
    assert_eq!(said.out, line.repeat(2));
}

#[test]
fn lines_may_have_times_and_one_stream() {
    let script = sh("echo out; echo err >&2");
    let said = run(words(
        "-n 1 --timestamp-output --merge-stderr-to-stdout -l",
        &script,
    ));
    assert_eq!((said.status, said.err.as_str()), (0, ""));
    for (line, text) in said.out.lines().zip([" [0] out", " [0] err"]) {
        assert!(line.starts_with("20") && line.ends_with(text), "{line}");
    }
    assert_eq!(said.out.lines().count(), 2);
}

#[test]
fn a_line_is_not_taken_for_a_question_while_nobody_reads() {
    let scratch = Scratch::new("line");
    let gate = scratch.path("gate");
    assert!(
        Command::new("mkfifo")
            .arg(&gate)
            .status()
            .unwrap()
            .success()
    );
    // More than the pipe to the reader takes, so it is behind. What rank 0 asks on stderr is shown
    // when the beginning of its line on stdout has been there as long.
    let script = format!(
        "if [ $CATENA_RANK = 0 ]; then read go; printf a; printf '? ' >&2; read answer; echo b; \
         else seq 1 100000; echo full >&2; read go < {gate}; echo z; echo said >&2; fi"
    );
    let mut command = mpirun();
    command.args(words("-n 2", &sh(&script)));
    command.stdin(Stdio::piped());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut err = child.stderr.take().unwrap();
    let mut told = |text: &str| {
        let mut bytes = vec![0; text.len()];
        err.read_exact(&mut bytes).unwrap();
        assert_eq!(bytes, text.as_bytes());
    };
    told("full\n");
    input.write_all(b"go\n").unwrap();
    told("? ");
    std::fs::write(&gate, "go\n").unwrap();
    told("\nsaid\n");
    input.write_all(b"yes\n").unwrap();
    let mut out = String::new();
    let mut pipe = child.stdout.take().unwrap();
    pipe.read_to_string(&mut out).unwrap();
    assert!(child.wait().unwrap().success());
    let letters = |line: &&str| line.starts_with(|c: char| c.is_alphabetic());
    let mut lines: Vec<_> = out.lines().filter(letters).collect();
    lines.sort_unstable();
    assert_eq!((lines, out.lines().count()), (vec!["ab", "z"], 100_002));
}

#[test]
fn a_reader_that_goes_ends_the_job() {
    let mut job = Running::start(words("-n 2", &["yes".to_string()]));
    job.wait_for("y", 3);
    drop(job.out);
    let said = said(job.child.wait_with_output().unwrap());
    assert_eq!((said.status, said.err.as_str()), (141, ""));
}

#[test]
fn a_slow_reader_loses_nothing() {
    let mut job = Running::start(words("-n 3 --stdin none", &sh("seq 1 200000; echo end")));
    // The launcher's memory for output is limited, so the ranks have to wait.
    let mut lines = 0;
    let mut ends = 0;
    let mut line = String::new();
    while job.out.read_line(&mut line).unwrap() > 0 {
        lines += 1;
        ends += usize::from(line == "end\n");
        line.clear();
    }
    assert_eq!((lines, ends), (600_003, 3));
    assert_eq!(job.child.wait().unwrap().code(), Some(0));
}

#[test]
fn what_a_failed_job_has_written_waits_for_its_reader() {
    let scratch = Scratch::new("pause");
    let written = scratch.path("written");
    let script = format!("head -c 600000 /dev/zero | tr '\\0' '\\n'; : >{written}; exit 3");
    let mut job = Running::start(words("-n 1", &sh(&script)));
    while !Path::new(&written).exists() {
        std::thread::yield_now();
    }
    // Longer than a launcher waits whose user has lost patience.
    let start = Instant::now();
    while start.elapsed() < Duration::from_millis(1500) {
        assert!(job.child.try_wait().unwrap().is_none(), "it has ended");
        std::thread::yield_now();
    }
    let said = job.end();
    assert_eq!((said.status, said.out.len()), (3, 600_000), "{}", said.err);
    assert!(said.err.contains("exited with code 3"), "{}", said.err);
}

#[test]
fn a_file_takes_all_that_ranks_have_written_at_their_end() {
    let scratch = Scratch::new("file");
    let path = scratch.path("out");
    // Less than pipes hold, from more ranks than a node tells the output of at once.
    let script = "head -c 60000 /dev/zero | tr '\\0' 'x'; echo";
    let mut command = mpirun();
    command.args(words("-n 40", &sh(script)));
    command.stdout(std::fs::File::create(&path).unwrap());
    let said = said(command.output().unwrap());
    assert_eq!((said.status, said.err.as_str()), (0, ""));
    assert_eq!(std::fs::metadata(&path).unwrap().len(), 40 * 60_001);
}

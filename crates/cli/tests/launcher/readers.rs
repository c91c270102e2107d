//! Readers who do not read, and one who reads both streams as one.

use std::fs::{File, Permissions};
use std::io::{PipeReader, PipeWriter, Write, pipe};
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;

use catena_testing::skip;

use super::*;

/// A job that is not over by then has hung.
const HUNG: Duration = Duration::from_secs(30);

/// A user who owns nothing.
const NOBODY: u32 = 65534;

/// The status of a job that has taken too long.
const TOO_LONG: i32 = 124;

/// A pipe into which nothing more goes.
fn full_pipe() -> (PipeReader, PipeWriter) {
    let (read, mut write) = pipe().unwrap();
    // SAFETY: a plain call on a descriptor that is open.
    let room = unsafe { libc::fcntl(write.as_raw_fd(), libc::F_GETPIPE_SZ) };
    write.write_all(&vec![b'.'; room as usize]).unwrap();
    (read, write)
}

/// A terminal whose other end is given, too, and that no other user than root can open.
fn closed_terminal() -> (File, File) {
    let ours = File::options()
        .read(true)
        .write(true)
        .open("/dev/ptmx")
        .unwrap();
    let (fd, flags) = (
        ours.as_raw_fd(),
        libc::O_RDWR | libc::O_NOCTTY | libc::O_CLOEXEC,
    );
    // SAFETY: the first call reads one number, and the second one gives a descriptor that nobody
    // else has.
    let theirs = unsafe {
        assert_eq!(libc::ioctl(fd, libc::TIOCSPTLCK, &0), 0);
        let theirs = libc::ioctl(fd, libc::TIOCGPTPEER, flags);
        assert!(theirs >= 0, "{}", std::io::Error::last_os_error());
        File::from_raw_fd(theirs)
    };
    theirs
        .set_permissions(Permissions::from_mode(0o000))
        .unwrap();
    (ours, theirs)
}

/// Starts a launcher that writes to a terminal that it cannot open: another user's, if this one can
/// open everything.
fn start_on(theirs: File, mut command: Command) -> Option<Child> {
    command.stdout(theirs.try_clone().unwrap()).stderr(theirs);
    // SAFETY: a plain call.
    if unsafe { libc::geteuid() } == 0 {
        command.uid(NOBODY).gid(NOBODY).current_dir("/");
    }
    match command.spawn() {
        Ok(child) => Some(child),
        Err(error) => {
            skip("a terminal of another user", &error);
            None
        }
    }
}

/// Waits for the end, but not for ever; gives the status.
fn end_of(child: &mut Child) -> i32 {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code().expect("the launcher is not killed");
        }
        if start.elapsed() > HUNG {
            child.kill().unwrap();
            panic!("the launcher waits for its reader");
        }
        std::thread::yield_now();
    }
}

fn launcher(limit: &str, options: &str, script: &str) -> Command {
    let mut command = clean(env!("CARGO_BIN_EXE_catena"));
    command
        .args(["run", "--timeout", limit])
        .stdin(Stdio::null());
    command.args(words(options, &sh(script)));
    command
}

#[test]
fn what_nobody_reads_on_stderr_holds_up_neither_output_nor_time_outs() {
    let (_unread, stderr) = full_pipe();
    // The launcher has something to tell before the first rank writes.
    let mut command = launcher("1", "--verbose -n 2", "seq 1 50000; exec sleep 1000");
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(stderr)
        .spawn()
        .unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let (told, reader) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let mut line = String::new();
        let mut lines = 0;
        while lines < 100_000 && out.read_line(&mut line).is_ok_and(|n| n > 0) {
            lines += 1;
        }
        let _ = told.send(lines);
    });
    let status = end_of(&mut child);
    assert_eq!((status, reader.recv_timeout(HUNG)), (TOO_LONG, Ok(100_000)));
}

#[test]
fn a_terminal_of_another_user_that_nobody_reads_ends_with_the_time() {
    let (_ours, theirs) = closed_terminal();
    let command = launcher("1", "-n 1", "seq 1 50000");
    if let Some(mut child) = start_on(theirs, command) {
        assert_eq!(end_of(&mut child), TOO_LONG);
    }
}

#[test]
fn a_terminal_of_another_user_shows_everything() {
    let (ours, theirs) = closed_terminal();
    let command = launcher(LIMIT, "-n 1", "seq 1 20000; exit 3");
    let Some(mut child) = start_on(theirs, command) else {
        return;
    };
    // It can be read until the last one who writes to it has ended.
    let lines: Vec<String> = BufReader::new(ours).lines().map_while(Result::ok).collect();
    assert_eq!(child.wait().unwrap().code(), Some(3));
    let numbers = lines.iter().filter(|line| line.parse::<u32>().is_ok());
    assert_eq!(numbers.count(), 20_000);
    assert!(
        lines.last().unwrap().contains("exited with code 3"),
        "{lines:?}"
    );
}

#[test]
fn lines_of_both_streams_in_one_pipe_are_whole() {
    let (read, write) = pipe().unwrap();
    // What a pipe takes at once ends within a line.
    let script = "for i in $(seq 1 3000); do printf 'out %0300d\\n' $i; printf 'error %0300d\\n' \
                  $i >&2; done";
    let mut command = launcher(LIMIT, "-n 2", script);
    command.stdout(write.try_clone().unwrap()).stderr(write);
    let mut child = command.spawn().unwrap();
    drop(command);
    let lines: Vec<String> = BufReader::new(read).lines().map(Result::unwrap).collect();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(lines.len(), 12_000);
    for line in &lines {
        let (word, number) = line.split_once(' ').unwrap_or_default();
        let is_whole = number.len() == 300 && number.parse::<u128>().is_ok();
        assert!(["out", "error"].contains(&word) && is_whole, "{line}");
    }
}

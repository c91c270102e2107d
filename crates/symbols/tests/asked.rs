//! Programs that are asked where they are.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use catena_symbols::{Frame, Maps, Symbols};
use catena_trace::View;

/// How long a program has to come to its place.
const PATIENCE: Duration = Duration::from_secs(10);

/// A folder that goes away.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Folder {
        let test = std::thread::current();
        let name = test.name().unwrap_or("?").replace("::", "-");
        let name = format!("catena-asked-{}-{name}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(&folder).unwrap();
        Folder(folder)
    }

    /// The program, made with some options; false if there is no compiler.
    fn build(&self, options: &str) -> bool {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/asked.c");
        fs::copy(source, self.0.join("asked.c")).unwrap();
        let library = listener();
        let built = Command::new("gcc")
            .args(options.split(' '))
            .args(["asked.c", "-o", "asked", "-pthread"])
            .arg(&library)
            .current_dir(&self.0)
            .output();
        match built {
            Ok(done) => {
                let told = String::from_utf8_lossy(&done.stderr);
                assert!(done.status.success(), "{told}");
                true
            }
            Err(why) => {
                catena_testing::skip("gcc", &why);
                false
            }
        }
    }

    fn start(&self, what: &str) -> Running {
        Running::start(Command::new(self.0.join("asked")).arg(what))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        _ = fs::remove_dir_all(&self.0);
    }
}

/// The library that listens.
fn listener() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let folder = test.parent().and_then(Path::parent).unwrap();
    let library = folder.join("examples/liblistener.so");
    assert!(library.exists(), "cargo builds examples before tests");
    library
}

struct Running {
    child: Child,
    thread: u32,
}

impl Running {
    fn start(command: &mut Command) -> Running {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let told = child.stdout.as_mut().unwrap();
        BufReader::new(told).read_line(&mut line).unwrap();
        let thread = line.trim().parse().unwrap();
        Running { child, thread }
    }

    /// The file that its area is in.
    fn file(&self) -> Option<File> {
        let folder = format!("/proc/{}/fd", self.child.id());
        let files = fs::read_dir(folder).unwrap().flatten();
        let mut files = files.filter(|it| {
            let name = fs::read_link(it.path()).unwrap_or_default();
            name.to_string_lossy().starts_with("/memfd:catena")
        });
        Some(File::open(files.next()?.path()).unwrap())
    }

    fn maps(&self) -> Maps {
        Maps::read(self.child.id()).unwrap()
    }

    fn ask(&self) -> Option<catena_trace::Sample> {
        let file = self.file()?;
        let view = View::open(&file, 0).unwrap()?;
        view.sample(self.child.id(), self.thread).unwrap()
    }

    /// Where it is once it is where it will stay: in words, with all frames.
    fn place(&self, expected: &str) -> (String, Vec<Frame>) {
        let mut found = (String::new(), Vec::new());
        let begin = Instant::now();
        let mut symbols = Symbols::new();
        // It may not have come there yet.
        while begin.elapsed() < PATIENCE {
            if let Some(sample) = self.ask() {
                let maps = self.maps();
                let frames = symbols.unwind(&maps, &sample);
                let place = symbols.place(&maps, &frames, &sample.python);
                let place = place.map_or(String::new(), |it| it.to_string());
                found = (place, symbols.stack(&maps, &frames));
                if found.0 == expected {
                    break;
                }
            }
        }
        found
    }

    fn is_there(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

#[test]
fn threads_that_compute_and_sleep_tell_where() {
    let folder = Folder::new();
    for options in ["-O0 -g", "-O2 -g", "-O2 -g -fomit-frame-pointer -no-pie"] {
        if !folder.build(options) {
            return;
        }
        for (what, expected) in [
            ("compute", "asked.c:19"),
            ("sleep", "nanosleep in libc.so.6, called from asked.c:50"),
            ("poll", "poll in libc.so.6, called from asked.c:52"),
            ("read", "read in libc.so.6, called from asked.c:54"),
            ("handler", "asked.c:19"),
            ("library", "asked.c:19"),
        ] {
            let mut running = folder.start(what);
            let (place, _) = running.place(expected);
            assert_eq!(place, expected, "{what} {options}");
            assert!(running.is_there(), "{what} was interrupted");
        }
    }
}

#[test]
fn all_frames_are_found() {
    let folder = Folder::new();
    if !folder.build("-O1 -g") {
        return;
    }
    for (what, lines) in [
        ("compute", vec![19, 72]),
        ("handler", vec![19, 24, 62]),
        ("library", vec![19, 30, 65]),
    ] {
        let running = folder.start(what);
        let (_, stack) = running.place("asked.c:19");
        let found: Vec<_> = stack
            .iter()
            .filter(|it| it.file() == "asked")
            .filter_map(|it| Some(it.source.as_ref()?.line))
            .collect();
        assert_eq!(found, lines, "{what}");
        assert!(
            stack
                .iter()
                .any(|it| it.function().as_deref() == Some("main"))
        );
    }
}

#[test]
fn code_of_the_kernel_has_callers() {
    let folder = Folder::new();
    if !folder.build("-O2 -g") {
        return;
    }
    let running = folder.start("clock");
    let maps = running.maps();
    let mut symbols = Symbols::new();
    let (begin, mut there) = (Instant::now(), 0);
    while there < 10 {
        assert!(
            begin.elapsed() < PATIENCE,
            "it computes, and does not answer"
        );
        let Some(sample) = running.ask() else {
            continue;
        };
        let frames = symbols.unwind(&maps, &sample);
        let place = symbols.place(&maps, &frames, "").map(|it| it.to_string());
        let place = place.unwrap_or_default();
        // Before that it says its thread.
        match place.ends_with("asked.c:59") {
            true => there += 1,
            false => assert_eq!(there, 0, "{place}"),
        }
    }
}

#[test]
fn a_large_frame_hides_its_callers_only() {
    let folder = Folder::new();
    if !folder.build("-O0 -g") {
        return;
    }
    let running = folder.start("stack");
    let (place, _) = running.place("asked.c:19");
    assert_eq!(place, "asked.c:19");
}

#[test]
fn those_who_do_not_listen_are_let_alone() {
    let folder = Folder::new();
    if !folder.build("-O0 -g") {
        return;
    }
    for what in ["blocked", "default"] {
        let mut running = folder.start(what);
        assert_eq!(running.ask(), None, "{what}");
        assert!(running.is_there(), "{what}");
    }
    let mut running = folder.start("exec");
    let file = running.file();
    let name = || fs::read_to_string(format!("/proc/{}/comm", running.child.id())).unwrap();
    while name() != "sleep\n" {
        std::thread::yield_now();
    }
    // Its memory went with the program that it was, unless the launcher keeps it.
    if let Some(file) = file
        && let Ok(Some(view)) = View::open(&file, 0)
    {
        let asked = view.sample(running.child.id(), running.thread).unwrap();
        assert!(asked.is_none_or(|it| it.python.is_empty()));
    }
    assert!(running.is_there());
}

#[test]
fn one_who_has_gone_has_no_answer() {
    let folder = Folder::new();
    if !folder.build("-O0 -g") {
        return;
    }
    let running = folder.start("compute");
    let (file, pid, thread) = (running.file().unwrap(), running.child.id(), running.thread);
    drop(running);
    let view = View::open(&file, 0).unwrap().expect("its memory stays");
    assert_eq!(view.sample(pid, thread).unwrap(), None);
}

#[test]
fn python_tells_its_line() {
    let folder = Folder::new();
    let script = "\
import ctypes, sys, time
library = ctypes.CDLL(sys.argv[1])
def compute():
    value = 0
    while True:
        value = (value + 1) % 1000
print(library.catena_listen(), flush=True)
if sys.argv[2] == 'sleep':
    time.sleep(1000)
if sys.argv[2] == 'read':
    sys.stdin.read()
compute()
";
    let path = folder.0.join("script.py");
    fs::write(&path, script).unwrap();
    for (what, lines) in [
        // Who sleeps is not disturbed, as calls of C that an extension makes would end early.
        ("sleep", vec![""]),
        ("read", vec![""]),
        (
            "compute",
            vec!["script.py:5 in compute", "script.py:6 in compute"],
        ),
    ] {
        let mut command = Command::new("python3");
        if let Err(why) = Command::new("python3").arg("-V").output() {
            return catena_testing::skip("python", &why);
        }
        let running = Running::start(command.arg(&path).arg(listener()).arg(what));
        let mut found = String::new();
        let begin = Instant::now();
        while begin.elapsed() < PATIENCE {
            found = running.ask().map_or(found, |it| it.python);
            if lines.contains(&&*found) {
                break;
            }
        }
        assert!(lines.contains(&&*found), "{what}: {found}");
    }
}

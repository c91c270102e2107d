//! Lines of Python programs, with every interpreter of this machine.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Interpreters by their versions.
fn interpreters() -> BTreeMap<String, PathBuf> {
    let mut candidates: Vec<PathBuf> = vec!["python3".into()];
    candidates.extend((9..=14).map(|minor| format!("python3.{minor}").into()));
    let home = std::env::var_os("HOME").unwrap_or_default();
    let installed = fs::read_dir(Path::new(&home).join(".pyenv/versions"));
    let installed = installed.into_iter().flatten().flatten();
    candidates.extend(installed.map(|it| it.path().join("bin/python3")));
    let mut found = BTreeMap::new();
    for path in candidates {
        let version = "import sys; print('%d.%d' % sys.version_info[:2])";
        let told = Command::new(&path).args(["-c", version]).output();
        if let Ok(told) = told
            && told.status.success()
        {
            let version = String::from_utf8_lossy(&told.stdout).trim().to_string();
            found.entry(version).or_insert(path);
        }
    }
    found
}

const SCRIPT: &str = "\
import ctypes, sys, threading
sys.path.insert(0, sys.argv[2])
call = ctypes.CDLL(sys.argv[1]).catena_python_line
room = ctypes.create_string_buffer(400)
def text(count):
    return room.raw[:count].decode()
class Solver:
    def solve(self):
        return [
            text(call(room, 400)),
            text(
                call(room, 400))]
def each():
    yield text(call(room, 400))
import package
import mpi4py.run
told = [text(package.ask(call, room))]
told += Solver().solve()
told += list(each())
def work():
    told.append(text(call(room, 400)))
thread = threading.Thread(target=work)
thread.start()
thread.join()
told.append(text(mpi4py.run.ask(call, room)))
exec(compile('told.append(text(call(room, 400)))', 'l\\u00f6ser.py', 'exec'))
exec(compile('told.append(text(call(room, 400)))', 'x' * 3000 + '/\\u89e3\\U0001f40d.py', 'exec'))
told.append(text(sorted([1, 2], key=lambda it: call(room, 400))[0] and call(room, 400)))
print('\\n'.join(told))
";

const PACKAGE: &str = "\
def ask(call, room):
    return call(room, 400)
";

#[test]
fn lines_are_those_of_the_program() {
    let example = std::env::current_exe().unwrap();
    let example = example.parent().and_then(Path::parent).unwrap();
    let example = example.join("examples/libpython_line.so");
    assert!(example.exists(), "cargo builds examples before tests");
    let found = interpreters();
    if found.is_empty() {
        return catena_testing::skip("python", &"there is no interpreter");
    }
    let folder = std::env::temp_dir().join(format!("catena-python-{}", std::process::id()));
    let packages = folder.join("site-packages");
    fs::create_dir_all(packages.join("mpi4py")).unwrap();
    fs::write(folder.join("script.py"), SCRIPT).unwrap();
    fs::write(packages.join("package.py"), PACKAGE).unwrap();
    fs::write(packages.join("mpi4py/__init__.py"), "").unwrap();
    fs::write(packages.join("mpi4py/run.py"), PACKAGE).unwrap();
    for (version, path) in found {
        let minor: u32 = version.split('.').nth(1).unwrap().parse().unwrap();
        if !version.starts_with("3.") || !(9..=14).contains(&minor) {
            continue;
        }
        let told = Command::new(path)
            .env("PYTHONIOENCODING", "utf-8")
            .arg(folder.join("script.py"))
            .args([&example, &packages])
            .output()
            .unwrap();
        let why = String::from_utf8_lossy(&told.stderr);
        assert!(told.status.success(), "{version}: {why}");
        let told = String::from_utf8(told.stdout).unwrap();
        let told: Vec<_> = told.lines().collect();
        // Names with those of their classes come from 3.11 on.
        let solve = match minor {
            9 | 10 => "solve",
            _ => "Solver.solve",
        };
        let solve = |line| format!("script.py:{line} in {solve}");
        let expected = [
            "script.py:17",
            &solve(10),
            &solve(12),
            "script.py:14 in each",
            "script.py:21 in work",
            "script.py:25",
            "löser.py:1",
            "解🐍.py:1",
            "script.py:28",
        ];
        assert_eq!(told, expected, "{version}");
    }
    fs::remove_dir_all(&folder).unwrap();
}

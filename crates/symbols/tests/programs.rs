//! Places in programs that compilers of this machine make. A library that stands for MPI tells the
//! addresses that its calls return to.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use catena_symbols::{Home, Maps, ScalarKind, Symbols, Variable};

/// A folder that goes away.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Folder {
        let test = std::thread::current();
        let name = test.name().unwrap_or("?").replace("::", "-");
        let name = format!("catena-symbols-{}-{name}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(&folder).unwrap();
        Folder(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Runs a command in the folder, which has to succeed; false if there is none of that name, and
    /// the test says that it is skipped.
    fn run(&self, command: &str) -> bool {
        let mut words = command.split(' ');
        let program = words.next().unwrap();
        let result = Command::new(program)
            .args(words)
            .current_dir(&self.0)
            .output();
        match result {
            Ok(done) => {
                let told = String::from_utf8_lossy(&done.stderr);
                assert!(done.status.success(), "{command}: {told}");
                true
            }
            Err(why) => {
                catena_testing::skip(program, &why);
                false
            }
        }
    }

    /// A file of `tests/programs` there.
    fn add(&self, name: &str) {
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
        fs::copy(from.join(name), self.path(name)).unwrap();
    }

    /// The library that stands for MPI, and a program that is linked with it.
    fn build(&self, compiler: &str, source: &str, options: &str) -> bool {
        self.add("probe.c");
        self.add(source);
        let linked = "-Wl,-rpath,. -L. -lmpi_probe";
        self.run("gcc -shared -fPIC -O1 -g probe.c -o libmpi_probe.so")
            && self.run(&format!("{compiler} {options} {source} -o solver {linked}"))
    }

    fn start(&self, args: &[&str]) -> Running {
        self.start_with(args, &[])
    }

    fn start_with(&self, args: &[&str], env: &[(&str, &str)]) -> Running {
        let mut child = Command::new(self.path(args[0]))
            .args(&args[1..])
            .envs(env.iter().copied())
            .current_dir(&self.0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let told = child.stdout.as_mut().unwrap();
        BufReader::new(told).read_line(&mut line).unwrap();
        let addresses = line.split_whitespace();
        let frames = addresses.map(|it| u64::from_str_radix(it.trim_start_matches("0x"), 16));
        let frames = frames.collect::<Result<_, _>>().unwrap();
        Running { child, frames }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        _ = fs::remove_dir_all(&self.0);
    }
}

/// A program that waits.
struct Running {
    child: Child,
    frames: Vec<u64>,
}

impl Running {
    fn maps(&self) -> Maps {
        Maps::read(self.child.id()).unwrap()
    }

    /// Where it is, in words.
    fn place(&self) -> String {
        let place = Symbols::new().place(&self.maps(), &self.frames, "");
        place.map_or(String::new(), |it| it.to_string())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// Where a program is that was made with some options.
fn place(compiler: &str, source: &str, options: &str) -> Option<String> {
    let folder = Folder::new();
    let built = folder.build(compiler, source, options);
    built.then(|| folder.start(&["solver"]).place())
}

#[test]
fn lines_are_found_in_all_kinds_of_debug_information() {
    for options in [
        "-g",
        "-O0 -g",
        "-O2 -g",
        "-O2 -g1",
        "-g -no-pie",
        "-O2 -g -gdwarf-4",
        "-O2 -g -gdwarf-5",
        "-O2 -g -gdwarf-3",
        "-O2 -g -gz=zlib",
        "-O2 -g -flto",
        "-O2 -g -gsplit-dwarf",
        "-O2 -g -ffunction-sections -Wl,--gc-sections",
    ] {
        match place("gcc", "solver.c", options) {
            Some(place) => assert_eq!(place, "solver.c:5", "{options}"),
            None => return,
        }
    }
}

#[test]
fn variables_are_told_with_what_they_are_made_of() {
    for options in [
        "-O0 -g",
        "-O0 -g -gdwarf-4",
        "-O0 -g -no-pie",
        "-O0 -g -fno-omit-frame-pointer",
    ] {
        let folder = Folder::new();
        if !folder.build("gcc", "variables.c", options) {
            return;
        }
        let running = folder.start(&["solver"]);
        let (maps, mut symbols) = (running.maps(), Symbols::new());
        let stack = |symbols: &mut Symbols, at| symbols.stack(&maps, &[at]);
        let mut frames = running.frames.iter().copied();
        let main = frames.find(|&at| {
            let frame = stack(&mut symbols, at).into_iter().next();
            frame.is_some_and(|it| it.function().as_deref() == Some("main"))
        });
        let main = main.expect("a frame of main");
        let all = symbols.variables(&maps, main);
        let find = |name: &str| all.iter().find(|it| it.name == name);
        let get = |name: &str| find(name).unwrap_or_else(|| panic!("{options}: {name}"));
        let kinds = |it: &Variable| {
            let members = it.memory.members.as_ref().map(|all| all.iter());
            members.map(|all| {
                all.map(|(at, it)| (*at, it.kind, it.size))
                    .collect::<Vec<_>>()
            })
        };

        let few = get("few");
        assert_eq!((few.memory.size, few.memory.unit), (Some(232 * 8), 8));
        assert_eq!(kinds(few), Some(vec![(0, ScalarKind::Signed, 8)]));
        assert!(matches!(few.home, Home::Frame(by) if by < -8 * 232));
        let pairs = get("pairs");
        assert_eq!((pairs.memory.size, pairs.memory.unit), (Some(48), 16));
        let (letter, number) = (ScalarKind::Character, ScalarKind::Signed);
        let fraction = (8, ScalarKind::Float, 8);
        let expected = vec![(0, number, 4), (4, letter, 1), (5, letter, 1), fraction];
        assert_eq!(kinds(pairs), Some(expected.clone()));
        assert_eq!((get("one").memory.size, kinds(get("one"))), (Some(4), None));
        assert_eq!(
            kinds(get("number")),
            Some(vec![(0, ScalarKind::Unsigned, 2)])
        );
        assert_eq!(kinds(get("wave")).map(|it| it.len()), Some(2));
        let to = get("to").memory.pointee.as_ref().expect("a pointer");
        assert_eq!((to.unit, to.members.as_ref().map(Vec::len)), (16, Some(4)));
        assert_eq!(get("anything").memory.pointee, None);
        assert!(
            find("inner").is_some() && find("other").is_none(),
            "{options}"
        );
        assert_eq!(symbols.variable(&maps, main, 8), None);
    }
}

/// With optimization gfortran inlines the program into `main`, and describes the block outside.
#[test]
fn variables_of_a_common_block_are_told_also_where_the_program_is_inlined() {
    for options in ["-O0 -g", "-O1 -g", "-O2 -g", "-O2 -g -gdwarf-4"] {
        let folder = Folder::new();
        if !folder.build("gfortran", "common.f90", options) {
            return;
        }
        let running = folder.start(&["solver"]);
        let (maps, mut symbols) = (running.maps(), Symbols::new());
        let mut frames = running.frames.iter();
        let all = frames.find_map(|&at| {
            let all = symbols.variables(&maps, at);
            all.iter().any(|it| it.name == "first").then_some(all)
        });
        let all = all.unwrap_or_else(|| panic!("{options}: no variables of the block"));
        let told = |name: &str| {
            let mut found = all.iter().filter(|it| it.name == name);
            let variable = found.next().unwrap_or_else(|| panic!("{options}: {name}"));
            assert!(found.next().is_none() && variable.is_live, "{options}");
            let Home::Fixed(at) = variable.home else {
                panic!("{options}: {:?}", variable.home);
            };
            let members = variable.memory.members.as_ref().expect("numbers");
            (at, variable.memory.size, members[0].1.kind)
        };
        let (begin, ..) = told("first");
        let (integer, real) = (ScalarKind::Signed, ScalarKind::Float);
        assert_eq!(told("first"), (begin, Some(40), integer), "{options}");
        assert_eq!(told("middle"), (begin + 40, Some(20), real), "{options}");
        assert_eq!(told("last"), (begin + 60, Some(4), integer), "{options}");
    }
}

#[test]
fn without_debug_information_it_is_the_function_or_the_address() {
    for options in ["-O0", "-O2", "-no-pie", "-O2 -flto"] {
        match place("gcc", "solver.c", options) {
            Some(place) => assert_eq!(place, "exchange", "{options}"),
            None => return,
        }
    }
    let stripped = place("gcc", "solver.c", "-O2 -s").unwrap_or_default();
    assert!(stripped.starts_with("solver+0x1"), "{stripped}");
    let fixed = place("gcc", "solver.c", "-O2 -s -no-pie").unwrap_or_default();
    assert!(fixed.starts_with("solver+0x401"), "{fixed}");
    let exported = place("gcc", "solver.c", "-O2 -s -rdynamic");
    assert_eq!(exported.as_deref(), Some("exchange"));
}

#[test]
fn inlined_functions_are_frames_of_their_own() {
    let folder = Folder::new();
    if !folder.build("gcc", "solver.c", "-O2 -g") {
        return;
    }
    let running = folder.start(&["solver"]);
    let stack = Symbols::new().stack(&running.maps(), &running.frames);
    let stack = stack.iter().filter(|it| it.file() == "solver");
    let told: Vec<_> = stack
        .map(|it| (it.function().unwrap_or_default(), it.to_string()))
        .collect();
    let told: Vec<_> = told.iter().map(|(name, line)| (&**name, &**line)).collect();
    assert_eq!(
        told[..3],
        [
            ("inner", "solver.c:5"),
            ("exchange", "solver.c:11"),
            ("main", "solver.c:18")
        ]
    );
}

#[test]
fn what_was_stripped_is_found_beside() {
    let folder = Folder::new();
    if !folder.build("gcc", "solver.c", "-O2 -g -Wl,--build-id=none") {
        return;
    }
    folder.run("objcopy --only-keep-debug solver solver.debug");
    folder.run("strip solver");
    folder.run("objcopy --add-gnu-debuglink=solver.debug solver");
    assert_eq!(folder.start(&["solver"]).place(), "solver.c:5");
    // What belongs to another build is not believed.
    folder.run("gcc -O0 -g -Wl,--build-id=none solver.c -o other -L. -lmpi_probe");
    folder.run("objcopy --only-keep-debug other solver.debug");
    let place = folder.start(&["solver"]).place();
    assert!(place.starts_with("solver+0x"), "{place}");

    // In a folder of its own, with a mark of the build.
    folder.run("gcc -O2 -g -Wl,--build-id -Wl,-rpath,. solver.c -o solver -L. -lmpi_probe");
    fs::create_dir(folder.path(".debug")).unwrap();
    folder.run("objcopy --only-keep-debug solver .debug/solver.debug");
    folder.run("strip solver");
    folder.run("objcopy --add-gnu-debuglink=.debug/solver.debug solver");
    assert_eq!(folder.start(&["solver"]).place(), "solver.c:5");
}

#[test]
fn a_program_without_a_table_of_addresses_is_found_as_well() {
    let folder = Folder::new();
    if !folder.build("gcc", "solver.c", "-O2 -g") {
        return;
    }
    folder.run("objcopy --remove-section .debug_aranges solver");
    assert_eq!(folder.start(&["solver"]).place(), "solver.c:5");
}

#[test]
fn libraries_that_are_opened_are_found() {
    let folder = Folder::new();
    if !folder.build("gcc", "solver.c", "-g") {
        return;
    }
    folder.add("plugin.c");
    for (library, program, place) in [
        ("-O2 -g", "", "solver.c:5"),
        ("-O2", "", "exchange in libsolver.so, called from main"),
        (
            "-O2",
            "-g",
            "exchange in libsolver.so, called from plugin.c:7",
        ),
        (
            "-O2 -s",
            "-g",
            "exchange in libsolver.so, called from plugin.c:7",
        ),
    ] {
        let linked = "-Wl,-rpath,. -L. -lmpi_probe";
        folder.run(&format!(
            "gcc -shared -fPIC {library} solver.c -o libsolver.so {linked}"
        ));
        let options = format!("{program} -O0").trim_start().to_string();
        folder.run(&format!("gcc {options} plugin.c -o plugin -ldl"));
        let running = folder.start(&["plugin", "./libsolver.so"]);
        assert_eq!(running.place(), place, "{library}, {program}");
    }
}

#[test]
fn tools_before_mpi_are_passed_over() {
    let folder = Folder::new();
    if !folder.build("gcc", "solver.c", "-O2 -g") {
        return;
    }
    folder.add("tool.c");
    folder.run("gcc -shared -fPIC -O1 -g tool.c -o libtool.so -L. -lmpi_probe");
    let running = folder.start_with(&["solver"], &[("LD_PRELOAD", "./libtool.so")]);
    assert_eq!(running.place(), "solver.c:5");
}

#[test]
fn names_of_cpp_and_fortran_are_readable() {
    for (compiler, source, options, expected) in [
        ("g++", "solver.cpp", "-O2 -g", "solver.cpp:8"),
        ("g++", "solver.cpp", "-O2", "solver::Field<int>::exchange"),
        ("gfortran", "solver.f90", "-O2 -g", "solver.f90:5"),
        ("gfortran", "solver.f90", "-O0", "solver::exchange"),
    ] {
        if let Some(place) = place(compiler, source, options) {
            assert_eq!(place, expected, "{source} {options}");
        }
    }
}

#[test]
fn a_program_that_was_built_anew_meanwhile_is_not_mistaken() {
    let folder = Folder::new();
    if !folder.build("gcc", "solver.c", "-O2 -g") {
        return;
    }
    let running = folder.start(&["solver"]);
    let text = fs::read_to_string(folder.path("solver.c")).unwrap();
    fs::write(folder.path("solver.c"), format!("\n\n\n{text}")).unwrap();
    folder.run("gcc -O2 -g solver.c -o solver.new -L. -lmpi_probe");
    fs::rename(folder.path("solver.new"), folder.path("solver")).unwrap();
    // The kernel gives the file that runs to those who may have it.
    let place = running.place();
    let is_true = place == "solver.c:5" || place.starts_with("solver+0x");
    assert!(is_true, "{place}");
}

#[test]
fn frames_after_the_end_of_a_process_are_found_with_a_copy_of_its_map() {
    let folder = Folder::new();
    if !folder.build("gcc", "solver.c", "-O2 -g") {
        return;
    }
    let running = folder.start(&["solver"]);
    let (pid, frames) = (running.child.id(), running.frames.clone());
    let copy = fs::read_to_string(format!("/proc/{pid}/maps")).unwrap();
    drop(running);
    assert!(Maps::read(pid).is_err());
    let place = Symbols::new().place(&Maps::parse(pid, &copy), &frames, "");
    assert_eq!(
        place.map(|it| it.to_string()).as_deref(),
        Some("solver.c:5")
    );
}

#[test]
fn python_is_told_where_nothing_else_is_the_programs() {
    let folder = Folder::new();
    if !folder.build("gcc", "solver.c", "-O2 -g") {
        return;
    }
    let running = folder.start(&["solver"]);
    let mut symbols = Symbols::new();
    let line = "script.py:12 in solve";
    let mut place = |frames: &[u64]| {
        let place = symbols.place(&running.maps(), frames, line);
        place.map_or(String::new(), |it| it.to_string())
    };
    assert_eq!(place(&[]), line);
    assert_eq!(place(&running.frames), "solver.c:5", "an extension in C");
}

#[test]
fn broken_files_are_no_danger() {
    let folder = Folder::new();
    if !folder.build("gcc", "solver.c", "-O2 -g -gz=zlib") {
        return;
    }
    folder.run("gcc -O2 -g solver.c -o plain -L. -lmpi_probe");
    let running = folder.start(&["solver"]);
    let line = fs::read_to_string(format!("/proc/{}/maps", running.child.id())).unwrap();
    let line = line.lines().find(|it| it.contains("r-xp")).unwrap();
    let (addresses, rest) = line.split_once(' ').unwrap();
    let begin = u64::from_str_radix(addresses.split('-').next().unwrap(), 16).unwrap();
    let path = rest.split_whitespace().last().unwrap();
    let mut state = 1_u64;
    let mut random = |below: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) as usize % below
    };
    for name in ["solver", "plain"] {
        let whole = fs::read(folder.path(name)).unwrap();
        for number in 0..400 {
            let mut bytes = whole.clone();
            // The tables stand at both ends.
            for _ in 0..=random(8) {
                let at = match random(3) {
                    0 => random(64),
                    1 => bytes.len() - 1 - random(4000),
                    _ => random(bytes.len()),
                };
                bytes[at] = match random(3) {
                    0 => 0xff,
                    1 => 0,
                    _ => random(256) as u8,
                };
            }
            if number % 8 == 0 {
                bytes.truncate(random(whole.len()));
            }
            let broken = folder.path(&format!("broken-{number}"));
            fs::write(&broken, &bytes).unwrap();
            let line = line.replace(path, broken.to_str().unwrap());
            let maps = Maps::parse(u32::MAX, &line);
            let frames: Vec<_> = (0..16).map(|at| begin + 0x20 * at + 0x30).collect();
            for frame in Symbols::new().stack(&maps, &frames) {
                _ = frame.to_string();
            }
            fs::remove_file(&broken).unwrap();
        }
    }
}

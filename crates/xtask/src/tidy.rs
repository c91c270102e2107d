//! Rules of the house that the compiler does not know.
//!
//! 1. A crate depends only on crates in rows above its own; tests may also use
//!    crates of the same row. The first line of a crate says in which row it is (`//! Row 3: …`),
//!    and docs/architecture.md says the same.
//! 2. `unsafe` occurs only in crates whose manifest says what for (`unsafe-code` in
//!    `[package.metadata.catena]`); the roots of every other one forbid it, so that the compiler
//!    sees to it.
//! 3. No source file has more than 800 lines.
//! 4. What is made from the tables in `crates/abi` is up to date.
//! 5. The files of a crate do not use each other in a circle, but for the circles
//!    that `circles.tbl` lists with a reason each: see [`crate::circles`].
//! 6. The tables of these rules, and that of docs/architecture.md, name only crates that exist.
//! 7. What may run in a user's process, and the launcher, tell the user something by
//!    `catena_base::tell!` alone: `eprintln!` ends the process if nobody reads stderr.
//! 8. In the library, what is local to a thread and needs to be dropped is reached by `try_with`
//!    alone: in handlers of `atexit` and in destructors of C++, which may call MPI, it is gone, and
//!    everything else panics.
//! 9. The crates that keep functions of the program's keep them as `Foreign`, which can be called
//!    outside of the library's lock alone: types of functions of C stand in `callback.rs` of
//!    `objects`, and nowhere else there.
//! 10. What is kept by peer is forgotten with the peer: see [`crate::by_peer`].
//! 11. The launcher serves a job in one loop, which must not wait for a reader of stderr: there the
//!     user is told something by the job's sinks, and `tell!` stands only in the files that are
//!     listed for it with a reason.
//! 12. What the library does at the end of a process it leaves out in copies that `fork` has made:
//!     handlers of `atexit` and `on_exit` stand only in the files that are listed for it, which ask
//!     `catena_base::fork`.
//! 13. No doc comment begins with "The same", which means nothing where rustdoc shows it alone: it
//!     says of what it is.
//! 14. No comment is wider than 100 columns, as rustfmt says for code, but in the crates that are
//!     listed: see [`crate::wrap`].

use std::collections::BTreeMap;
use std::path::Path;

use crate::sources::{self, Crate};
use crate::{by_peer, circles, generate, wrap};

/// Crates of programs that may end when nobody reads what they say.
const LOUD: &[&str] = &["bench", "cli", "testing", "xtask"];

/// Crates that are no part of the library.
const OUTSIDE: &[&str] = &["bench", "cli", "launcher", "sim", "testing", "xtask"];

/// Types that need not be dropped, as far as a thread keeps any.
const PLAIN: &[&str] = &[
    "u8",
    "Cell<bool>",
    "Cell<u32>",
    "Cell<u64>",
    "Cell<usize>",
    "Cell<*const",
    "ManuallyDrop<",
    "Cell<*mut",
];

/// Crates that are given functions of the program's, and keep them.
const CALLED_BACK: &[&str] = &[
    "board", "core", "dynamic", "ft", "io", "mpit", "objects", "process", "rma",
];

/// Files of the launcher that may wait until a line is told.
const TELLERS: &[(&str, &str)] = &[
    ("src/lib.rs", "there is no job yet"),
    ("src/serve.rs", "there is no job yet"),
    ("src/elastic.rs", "catena grow and shrink serve nobody"),
    (
        "src/hosts/daemon.rs",
        "it ends before it has served anybody",
    ),
    ("src/pmix/helper.rs", "it serves nobody any more"),
];

/// Files that have handlers of the end of a process, which do nothing in copies of it.
const ENDERS: &[(&str, &str)] = &[
    ("boot", "src/sys.rs"),
    ("capi", "src/interpreter.rs"),
    ("check", "src/life.rs"),
];

/// Most lines of a source file.
const MAX_LINES: usize = 800;

/// Checks the whole repository.
pub fn check(root: &Path) -> Result<(), String> {
    let mut problems = generate::check(root);
    let crates = sources::read(root).map_err(|e| format!("crates cannot be read: {e}"))?;
    let rows = rows(&crates);
    let page = std::fs::read_to_string(root.join("docs/architecture.md"));
    problems.extend(pictured(&page.unwrap_or_default(), &rows));
    for krate in &crates {
        problems.extend(dependencies(krate, &rows));
        problems.extend(unsafe_code(krate));
        problems.extend(sizes(krate));
        problems.extend(loud_code(krate));
        problems.extend(waiting_tellers(krate));
        problems.extend(lost_locals(krate));
        problems.extend(exit_handlers(krate));
        problems.extend(naked_callbacks(krate));
        problems.extend(borrowed_docs(krate));
        problems.extend(wrap::check(krate));
        problems.extend(by_peer::check(krate));
    }
    problems.extend(circles::check(&crates));
    problems.extend(unknown_names(&crates));
    if problems.is_empty() {
        Ok(())
    } else {
        Err(problems.join("\n"))
    }
}

fn is_sys(name: &str) -> bool {
    name.ends_with("-sys")
}

/// The row of each crate, by its name.
type Rows<'a> = BTreeMap<&'a str, usize>;

/// The root file of a crate: that of its library, or of its program.
fn root_file(krate: &Crate) -> Option<&str> {
    let root = |name: &str| {
        let mut sources = krate.sources.iter();
        sources.find(|(path, _)| path == Path::new(name))
    };
    let file = root("src/lib.rs").or_else(|| root("src/main.rs"))?;
    Some(&file.1)
}

/// The rows that crates say they are in.
fn rows(crates: &[Crate]) -> Rows<'_> {
    let row = |krate: &'_ Crate| {
        let first = root_file(krate)?.lines().next()?;
        let (number, _) = first.strip_prefix("//! Row ")?.split_once(':')?;
        number.parse().ok()
    };
    let each = crates.iter();
    each.filter_map(|krate| Some((krate.name.as_str(), row(krate)?)))
        .collect()
}

/// Rules 1 and 6: the table of rows in docs/architecture.md.
fn pictured(page: &str, rows: &Rows<'_>) -> Vec<String> {
    let mut shown = Rows::new();
    let table = page
        .lines()
        .skip_while(|line| !line.starts_with("| row | crate |"));
    for line in table.take_while(|line| line.starts_with('|')) {
        let mut cells = line.split('|').map(str::trim).skip(1);
        let (Some(row), Some(names)) = (cells.next(), cells.next()) else {
            continue;
        };
        let Ok(row) = row.parse() else {
            continue;
        };
        let names = names.split(',').map(|name| name.trim().trim_matches('`'));
        shown.extend(names.map(|name| (name, row)));
    }
    let page = "docs/architecture.md";
    let mut problems = Vec::new();
    for (name, row) in rows {
        match shown.remove(name) {
            Some(at) if at == *row => {}
            Some(at) => problems.push(format!(
                "{page}: {name} is in row {at}, and in row {row} by its own word"
            )),
            None => problems.push(format!("{page}: {name}, of row {row}, is not in the table")),
        }
    }
    let gone = shown.into_keys();
    problems.extend(gone.map(|name| format!("{page}: {name} in the table is no crate")));
    problems
}

/// Rule 1.
fn dependencies(krate: &Crate, rows: &Rows<'_>) -> Vec<String> {
    let row = |name: &str| rows.get(name).copied();
    let name = &krate.name;
    let Some(own) = row(name) else {
        return vec![format!(
            "crates/{name}: in no row: the first line of its root says which, as in `//! Row 3: \
             the transport …`"
        )];
    };
    let mut problems = Vec::new();
    for (kind, other) in needs(&krate.manifest) {
        let for_tests = kind == "dev-dependencies";
        match row(other) {
            None => problems.push(format!("crates/{name}: needs {other}, which is in no row")),
            Some(row) if row < own || (for_tests && row == own) => {}
            Some(row) => problems.push(format!(
                "crates/{name} (row {own}) needs {other} (row {row}) in [{kind}]: \
                 crates use only the rows above"
            )),
        }
    }
    problems
}

/// Crates of this project that a manifest names, with the kind of dependency.
fn needs(manifest: &str) -> Vec<(&str, &str)> {
    const KINDS: [&str; 3] = ["dev-dependencies", "build-dependencies", "dependencies"];
    let mut found = Vec::new();
    let mut kind = None;
    for line in manifest.lines().map(str::trim) {
        let key = if let Some(head) = line.strip_prefix('[') {
            // [dependencies], [dependencies.x] or [target.'cfg(y)'.dependencies]
            let head = head.trim_end_matches(']');
            kind = KINDS
                .into_iter()
                .find(|k| head.split('.').any(|part| part == *k));
            head.rsplit('.').next().unwrap_or_default()
        } else {
            line.split(['.', '=', ' ']).next().unwrap_or_default()
        };
        if let (Some(kind), Some(name)) = (kind, key.trim_matches('"').strip_prefix("catena-")) {
            found.push((kind, name));
        }
    }
    found
}

/// Rule 2.
fn unsafe_code(krate: &Crate) -> Vec<String> {
    let name = &krate.name;
    if is_sys(name) || says_why_unsafe(&krate.manifest) {
        return Vec::new();
    }
    let is_root = |path: &Path| {
        path == Path::new("src/lib.rs")
            || path == Path::new("src/main.rs")
            || path.starts_with("src/bin")
    };
    let roots = krate.sources.iter().filter(|(path, _)| is_root(path));
    // At the start of a line, so that a comment does not do.
    let forbids = |text: &str| {
        text.lines()
            .any(|l| l.starts_with("#![forbid(unsafe_code)]"))
    };
    roots
        .filter(|(_, text)| !forbids(text))
        .map(|(path, _)| {
            format!(
                "crates/{name}/{}: lacks #![forbid(unsafe_code)], or the manifest `unsafe-code = \
                 \"what for\"` in [package.metadata.catena]",
                path.display()
            )
        })
        .collect()
}

/// Whether a manifest says what the crate uses `unsafe` for.
fn says_why_unsafe(manifest: &str) -> bool {
    let mut section = "";
    manifest.lines().any(|line| {
        if line.starts_with('[') {
            section = line;
        }
        let why = line.strip_prefix("unsafe-code = \"");
        section == "[package.metadata.catena]" && why.is_some_and(|why| why.len() > 1)
    })
}

/// Rule 3.
fn sizes(krate: &Crate) -> Vec<String> {
    let long = krate.sources.iter().filter_map(|(path, text)| {
        let lines = text.lines().count();
        let shown = format!("crates/{}/{}", krate.name, path.display());
        (lines > MAX_LINES).then(|| format!("{shown}: {lines} lines, more than {MAX_LINES}"))
    });
    long.collect()
}

/// Rule 7.
fn loud_code(krate: &Crate) -> Vec<String> {
    if LOUD.contains(&krate.name.as_str()) {
        return Vec::new();
    }
    let is_comment = |line: &str| line.trim_start().starts_with("//");
    let is_loud = |line: &str| line.contains("eprintln!") || line.contains("eprint!");
    let sources = krate
        .sources
        .iter()
        .filter(|(path, _)| path.starts_with("src"));
    let loud = sources.filter(|(_, text)| text.lines().any(|l| is_loud(l) && !is_comment(l)));
    let problem = |path: &Path| {
        let path = path.display();
        format!(
            "crates/{}/{path}: eprintln!, where catena_base::tell! cannot fail",
            krate.name
        )
    };
    loud.map(|(path, _)| problem(path)).collect()
}

/// Rule 11.
fn waiting_tellers(krate: &Crate) -> Vec<String> {
    if krate.name != "launcher" {
        return Vec::new();
    }
    let tells = |lines: &[&str]| {
        let tells = |line: &&str| line.contains("tell!(") || line.contains("tell::");
        lines.iter().any(tells)
    };
    let mut problems = Vec::new();
    for (path, lines) in code(krate) {
        let listed = TELLERS.iter().any(|(name, _)| path == Path::new(name));
        match (tells(&lines), listed) {
            (true, false) => problems.push(format!(
                "crates/launcher/{}: tell! may wait for ever, where a job's sinks (or \
                 tell_at_once) do not",
                path.display()
            )),
            (false, true) => problems.push(format!(
                "crates/launcher/{}: stands in TELLERS of xtask's tidy.rs, but tells nothing",
                path.display()
            )),
            _ => {}
        }
    }
    problems
}

/// The lines of the files of a crate that are part of it, without comments and what only tests and
/// fuzzing use.
fn code(krate: &Crate) -> impl Iterator<Item = (&Path, Vec<&str>)> {
    let is_code = |path: &Path| path.starts_with("src") && !path.ends_with("fuzz.rs");
    let files = krate.sources.iter().filter(move |(path, _)| is_code(path));
    files.map(|(path, text)| {
        let before_tests = text.split("#[cfg(test)]\nmod tests").next().unwrap_or(text);
        let is_comment = |line: &&str| line.trim_start().starts_with("//");
        let lines = before_tests.lines().filter(move |line| !is_comment(line));
        (path.as_path(), lines.collect())
    })
}

/// Rule 8.
fn lost_locals(krate: &Crate) -> Vec<String> {
    let mut problems = Vec::new();
    if OUTSIDE.contains(&krate.name.as_str()) {
        return problems;
    }
    for (path, lines) in code(krate) {
        let mut inside = false;
        let mut dropped = Vec::new();
        for line in &lines {
            inside = match line.trim() {
                "thread_local! {" => true,
                "}" if !line.starts_with(' ') => false,
                _ => inside,
            };
            let declared = line.trim_start().trim_start_matches("pub(crate) ");
            let declared = declared.strip_prefix("static ").filter(|_| inside);
            if let Some((name, ty)) = declared.and_then(|it| it.split_once(": "))
                && !PLAIN.iter().any(|plain| ty.starts_with(plain))
            {
                dropped.push(name);
            }
        }
        for name in dropped {
            let (any, safe) = (format!("{name}."), format!("{name}.try_with("));
            for line in lines
                .iter()
                .filter(|line| line.contains(&any) && !line.contains(&safe))
            {
                problems.push(format!(
                    "crates/{}/{}: `{}`: {name} may be gone when a program ends: use try_with, or \
                     a type that need not be dropped",
                    krate.name,
                    path.display(),
                    line.trim()
                ));
            }
        }
    }
    problems
}

/// Rule 12.
fn exit_handlers(krate: &Crate) -> Vec<String> {
    if OUTSIDE.contains(&krate.name.as_str()) {
        return Vec::new();
    }
    let ends = |line: &&str| line.contains("atexit(") || line.contains("on_exit(");
    let listed = |path: &Path| ENDERS.contains(&(&krate.name, path.to_str().unwrap_or_default()));
    let found = code(krate).filter(|(path, lines)| !listed(path) && lines.iter().any(ends));
    let problem = |path: &Path| {
        let path = path.display();
        format!(
            "crates/{}/{path}: a handler of the end of the process, which copies that fork makes \
             have, too: use at_exit of boot's sys.rs",
            krate.name
        )
    };
    found.map(|(path, _)| problem(path)).collect()
}

/// Rule 9.
fn naked_callbacks(krate: &Crate) -> Vec<String> {
    let mut problems = Vec::new();
    if !CALLED_BACK.contains(&krate.name.as_str()) {
        return problems;
    }
    for (path, lines) in code(krate) {
        if path.ends_with("callback.rs") || krate.name == "objects" && path.ends_with("state.rs") {
            continue;
        }
        let is_naked = |line: &&&str| {
            let is_type = line.contains("extern \"C\" fn(");
            is_type || line.contains("abi::") && line.contains("Function")
        };
        for line in lines.iter().filter(is_naked) {
            problems.push(format!(
                "crates/{}/{}: `{}`: functions of the program's are `Foreign`s of \
                 objects/src/callback.rs, which are called outside of the library's lock",
                krate.name,
                path.display(),
                line.trim()
            ));
        }
    }
    problems
}

/// Rule 13.
fn borrowed_docs(krate: &Crate) -> Vec<String> {
    fn doc(line: &str) -> Option<&str> {
        let line = line.trim_start();
        line.strip_prefix("///")
            .or_else(|| line.strip_prefix("//!"))
            .map(str::trim)
    }
    let mut problems = Vec::new();
    for (path, text) in &krate.sources {
        let mut within = false;
        for (number, line) in text.lines().enumerate() {
            let doc = doc(line);
            if doc.is_some_and(|doc| !within && doc.starts_with("The same")) {
                problems.push(format!(
                    "crates/{}/{}:{}: a doc comment begins with \"The same\": in rustdoc it stands \
                     alone",
                    krate.name,
                    path.display(),
                    number + 1
                ));
            }
            within = doc.is_some();
        }
    }
    problems
}

/// Rule 6.
fn unknown_names(crates: &[Crate]) -> Vec<String> {
    let exists = |name: &str| crates.iter().any(|c| c.name == name);
    let named = (LOUD.iter().map(|name| (name, "LOUD")))
        .chain(OUTSIDE.iter().map(|name| (name, "OUTSIDE")))
        .chain(CALLED_BACK.iter().map(|name| (name, "CALLED_BACK")));
    named
        .filter(|(name, _)| !exists(name))
        .map(|(name, table)| format!("{table} in xtask's tidy.rs names {name}, which is no crate"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn krate(name: &str, manifest: &str, sources: &[(&str, &str)]) -> Crate {
        let sources = sources
            .iter()
            .map(|(p, t)| (PathBuf::from(p), t.to_string()));
        let (name, manifest) = (name.to_string(), manifest.to_string());
        Crate {
            name,
            manifest,
            sources: sources.collect(),
        }
    }

    #[test]
    fn dependencies_go_up() {
        let rows = [
            ("base", 0),
            ("ucx-sys", 1),
            ("fabric", 2),
            ("core", 6),
            ("capi", 8),
        ];
        let rows = rows
            .into_iter()
            .chain([("link", 3), ("shm", 3), ("sim", 3)]);
        let rows: Rows<'_> = rows.collect();
        let link = |manifest| dependencies(&krate("link", manifest, &[]), &rows);
        for good in [
            "[dependencies]\ncatena-fabric.workspace = true\nserde = \"1\"",
            "[dev-dependencies]\ncatena-sim.workspace = true",
            "[dependencies.catena-base]\nworkspace = true",
            "[dependencies]\ncatena-ucx-sys = { path = \"../ucx-sys\" }",
            "[package]\nname = \"catena-link\"",
        ] {
            assert!(link(good).is_empty(), "{good}");
        }
        for bad in [
            "[dependencies]\ncatena-core.workspace = true",
            "[dependencies]\ncatena-core = { path = \"../core\" }",
            "[dependencies]\ncatena-shm.workspace = true",
            "[build-dependencies]\ncatena-capi.workspace = true",
            "[dev-dependencies]\ncatena-core.workspace = true",
            "[dependencies.catena-core]\nworkspace = true",
            "[target.'cfg(unix)'.dependencies]\ncatena-core.workspace = true",
            "[dependencies]\n\"catena-core\" = \"0.1\"",
            "[dependencies]\ncatena-unheard-of.workspace = true",
        ] {
            assert_eq!(link(bad).len(), 1, "{bad}");
        }
        let unheard_of = krate("unheard-of", "", &[]);
        assert_eq!(dependencies(&unheard_of, &rows).len(), 1);
    }

    #[test]
    fn crates_say_their_rows_and_the_picture_shows_them() {
        let crates = [
            krate("base", "", &[("src/lib.rs", "//! Row 0: rings.\n")]),
            krate("tool", "", &[("src/main.rs", "//! Row 12: a tool.\n")]),
            krate("mute", "", &[("src/lib.rs", "//! Rings.\n")]),
        ];
        let rows = rows(&crates);
        assert_eq!(rows, Rows::from([("base", 0), ("tool", 12)]));
        let page = "| row | crate |\n|---|---|\n| 0 | `base` | rings |\n| 12 | `tool` | chores |\n";
        assert!(pictured(page, &rows).is_empty());
        for bad in [
            page.replace("12", "11"),
            page.replace("`tool`", "`tool`, `other`"),
            page.replace("| 0 | `base` | rings |\n", ""),
        ] {
            assert_eq!(pictured(&bad, &rows).len(), 1, "{bad}");
        }
    }

    #[test]
    fn unsafe_stays_where_it_belongs() {
        let why = "[package.metadata.catena]\nunsafe-code = \"segments\"\n";
        let problems = |name, path, text| {
            let manifest = if name == "shm" { why } else { "" };
            unsafe_code(&krate(name, manifest, &[(path, text)])).len()
        };
        for none in [
            "unsafe-code = \"x\"",
            "[package.metadata.catena]\nunsafe-code = \"\"",
        ] {
            assert_eq!(
                unsafe_code(&krate("shm", none, &[("src/lib.rs", "")])).len(),
                1
            );
        }
        let good = "//! Docs.\n\n#![forbid(unsafe_code)]\nfn f() {}\n";
        for root in ["src/lib.rs", "src/main.rs", "src/bin/tool.rs"] {
            assert_eq!(problems("link", root, good), 0);
            assert_eq!(problems("link", root, "fn f() {}"), 1);
            assert_eq!(problems("link", root, "// #![forbid(unsafe_code)]"), 1);
            assert_eq!(problems("shm", root, "fn f() {}"), 0);
            assert_eq!(problems("ucx-sys", root, "fn f() {}"), 0);
        }
        assert_eq!(problems("link", "src/other.rs", "fn f() {}"), 0);
    }

    #[test]
    fn the_launcher_does_not_wait_for_readers() {
        let problems = |name, path, text| waiting_tellers(&krate(name, "", &[(path, text)])).len();
        let tells = "fn f() {\n    tell!(\"x\");\n}\n";
        assert_eq!(problems("launcher", "src/supervisor.rs", tells), 1);
        assert_eq!(
            problems("launcher", "src/supervisor.rs", "tell::say(x);"),
            1
        );
        assert_eq!(
            problems("launcher", "src/supervisor.rs", "self.output.say(x);"),
            0
        );
        assert_eq!(problems("launcher", "src/serve.rs", tells), 0);
        assert_eq!(problems("launcher", "src/serve.rs", "fn f() {}"), 1);
        assert_eq!(problems("core", "src/job.rs", tells), 0);
    }

    #[test]
    fn processes_of_users_are_not_ended_by_a_message() {
        let problems = |name, path, text| loud_code(&krate(name, "", &[(path, text)])).len();
        assert_eq!(problems("core", "src/a.rs", "    eprintln!(\"x\");"), 1);
        assert_eq!(problems("core", "src/a.rs", "    eprint!(\"x\");"), 1);
        assert_eq!(
            problems("core", "src/a.rs", "    /// not by [`eprintln!`]"),
            0
        );
        assert_eq!(problems("core", "src/a.rs", "    tell!(\"x\");"), 0);
        assert_eq!(problems("core", "tests/a.rs", "    eprintln!(\"x\");"), 0);
        assert_eq!(problems("cli", "src/a.rs", "    eprintln!(\"x\");"), 0);
    }

    #[test]
    fn what_is_gone_at_the_end_is_not_relied_on() {
        let problems =
            |name, text: &str| lost_locals(&krate(name, "", &[("src/a.rs", text)])).len();
        let with = |ty: &str, uses: &str| {
            format!(
                "thread_local! {{\n    static MINE: {ty} = x;\n}}\n\nfn f() {{\n    {uses};\n}}\n"
            )
        };
        assert_eq!(problems("rma", &with("RefCell<Vec<u8>>", "MINE.take()")), 1);
        assert_eq!(
            problems("rma", &with("RefCell<Vec<u8>>", "MINE.try_with(g)")),
            0
        );
        assert_eq!(problems("rma", &with("Cell<*const u8>", "MINE.set(x)")), 0);
        assert_eq!(problems("cli", &with("RefCell<Vec<u8>>", "MINE.take()")), 0);
    }

    #[test]
    fn what_is_done_at_the_end_is_left_out_in_copies() {
        let problems = |name, path, text| exit_handlers(&krate(name, "", &[(path, text)])).len();
        let text = "    unsafe { libc::atexit(last) };";
        assert_eq!(problems("core", "src/sys.rs", text), 1);
        assert_eq!(problems("boot", "src/sys.rs", text), 0);
        assert_eq!(problems("core", "src/a.rs", "    // libc::atexit(last)"), 0);
        assert_eq!(problems("bench", "src/a.rs", text), 0);
    }

    #[test]
    fn functions_of_the_program_are_kept_where_nobody_can_call_them() {
        let problems = |name, path, text| naked_callbacks(&krate(name, "", &[(path, text)])).len();
        let text = "    function: unsafe extern \"C\" fn(*mut c_void),";
        assert_eq!(problems("objects", "src/op.rs", text), 1);
        assert_eq!(problems("objects", "src/callback.rs", text), 0);
        assert_eq!(problems("capi", "src/op.rs", text), 0);
        assert_eq!(
            problems("io", "src/a.rs", "    extent: abi::DatarepExtentFunction,"),
            1
        );
        assert_eq!(
            problems("core", "src/a.rs", "extern \"C\" fn count(n: c_int) {}"),
            0
        );
    }

    #[test]
    fn docs_make_sense_alone() {
        let problems = |text| borrowed_docs(&krate("link", "", &[("src/a.rs", text)]));
        for good in [
            "/// A count.\n/// The same as before.\nfn f() {}",
            "/// A count.\n///\n/// The same as before.\nfn f() {}",
            "// The same.\nfn f() {}",
            "/// What the same job has.\nfn f() {}",
        ] {
            assert!(problems(good).is_empty(), "{good}");
        }
        for bad in [
            "/// The same, to be changed.\nfn f() {}",
            "//! The same for files.\n",
            "fn f() {}\n\n    ///The same.\n    fn g() {}",
        ] {
            assert_eq!(problems(bad).len(), 1, "{bad}");
        }
        let two = "/// The same.\nfn f() {}\n/// The same of g.\nfn g() {}";
        assert_eq!(
            problems(two)[1],
            "crates/link/src/a.rs:3: a doc comment begins with \"The same\": in rustdoc it stands \
             alone"
        );
    }

    #[test]
    fn files_stay_readable() {
        let long = "\n".repeat(801);
        let x = krate("link", "", &[("src/a.rs", &long), ("src/b.rs", &long[1..])]);
        assert_eq!(
            sizes(&x),
            ["crates/link/src/a.rs: 801 lines, more than 800"]
        );
    }

    #[test]
    fn tables_name_crates_that_exist() {
        let names = LOUD.iter().chain(OUTSIDE).chain(CALLED_BACK);
        let mut crates: Vec<_> = names.map(|name| krate(name, "", &[])).collect();
        assert!(unknown_names(&crates).is_empty());
        crates.retain(|c| c.name != "core");
        assert_eq!(
            unknown_names(&crates),
            ["CALLED_BACK in xtask's tidy.rs names core, which is no crate"]
        );
    }
}

//! Numbers of the code: sizes, circles, long functions, duplicated places.
//!
//! "Code" leaves out what is compiled for tests alone: files in `tests` folders,
//! modules and items under `#[cfg(test)]`, and what lies below such modules.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use syn::spanned::Spanned;
use syn::visit::{self, Visit};

use crate::circles;
use crate::modules::{attributes, file_of, folder_of, for_tests};
use crate::sources::{self, Crate};

/// A function of more lines than this is named.
const LONG: usize = 80;
/// So many lines in a row that stand elsewhere, too, are a duplicated place.
const DUPLICATED: usize = 12;
/// Types whose inherent implementations are counted by file.
const WIDE: [&str; 2] = ["World", "Process"];

/// Prints all numbers.
///
/// # Errors
/// If a file cannot be read or is not Rust.
pub fn print(root: &Path) -> Result<(), String> {
    let crates = sources::read(root).map_err(|e| format!("crates cannot be read: {e}"))?;
    let all = crates.iter().map(measure).collect::<Result<Vec<_>, _>>()?;
    println!("{:<14}{:>8}{:>8}{:>8}", "crate", "files", "lines", "code");
    for (krate, code) in crates.iter().zip(&all) {
        let lines: usize = krate
            .sources
            .iter()
            .map(|(_, text)| text.lines().count())
            .sum();
        let of_code: usize = code.files.values().map(Vec::len).sum();
        println!(
            "{:<14}{:>8}{lines:>8}{of_code:>8}",
            krate.name,
            krate.sources.len()
        );
    }
    let largest = crates.iter().flat_map(|c| {
        let name = |path: &Path| format!("crates/{}/{}", c.name, path.display());
        c.sources
            .iter()
            .map(move |(path, text)| (text.lines().count(), name(path)))
    });
    if let Some((lines, path)) = largest.max() {
        println!("\nlargest file: {path}, {lines} lines");
    }
    for name in WIDE {
        let files: usize = all
            .iter()
            .map(|code| code.wide.iter().filter(|(n, _)| n == name).count())
            .sum();
        println!("files with `impl {name}`: {files}");
    }
    let circles = circles::found(&crates)?;
    println!("\ncircles of files: {}", circles.len());
    for circle in &circles {
        println!("  {}: {} files", circle.krate, circle.files.len());
    }
    let long: Vec<_> = all.iter().flat_map(|code| &code.long).collect();
    println!("\nfunctions of more than {LONG} lines: {}", long.len());
    for (lines, name) in long {
        println!("  {lines:>4}  {name}");
    }
    let places = duplicated(&all);
    println!(
        "\nplaces of {DUPLICATED} or more lines that stand elsewhere, too: {}",
        places.len()
    );
    for (place, lines) in places {
        println!("  {lines:>4}  {place}");
    }
    Ok(())
}

/// What is counted in one crate.
#[derive(Debug, Default)]
struct Code {
    /// Lines of code, numbered from 1, by the file's path within the project.
    files: BTreeMap<String, Vec<(usize, String)>>,
    /// Names of [`WIDE`] types with the files that implement them.
    wide: BTreeSet<(String, String)>,
    /// Functions of more than [`LONG`] lines: the lines, the place and the name.
    long: Vec<(usize, String)>,
}

fn measure(krate: &Crate) -> Result<Code, String> {
    let mut code = Code::default();
    let mut parsed = Vec::new();
    let mut tests = Vec::new();
    for (path, text) in &krate.sources {
        let file = syn::parse_file(text)
            .map_err(|e| format!("crates/{}/{}: {e}", krate.name, path.display()))?;
        find_tests(&file.items, &folder_of(path), &krate.sources, &mut tests);
        parsed.push((path, text, file));
    }
    for (path, text, file) in parsed {
        let is_test = path.starts_with("tests")
            || tests
                .iter()
                .any(|t| path == t || path.starts_with(folder_of(t)));
        if is_test || for_tests(&file.attrs) {
            continue;
        }
        let place = format!("crates/{}/{}", krate.name, path.display());
        let mut reader = Reader {
            place: place.clone(),
            code: &mut code,
            tests: Vec::new(),
        };
        reader.visit_file(&file);
        let tests = reader.tests;
        let lines = (1..).zip(text.lines().map(str::to_string));
        let lines = lines.filter(|(n, _)| !tests.iter().any(|(from, to)| (from..=to).contains(&n)));
        code.files.insert(place, lines.collect());
    }
    Ok(code)
}

/// Adds the files of modules that are compiled for tests alone.
fn find_tests(
    items: &[syn::Item],
    folder: &Path,
    sources: &[(PathBuf, String)],
    out: &mut Vec<PathBuf>,
) {
    for item in items {
        let syn::Item::Mod(module) = item else {
            continue;
        };
        match &module.content {
            Some((_, items)) => {
                find_tests(items, &folder.join(module.ident.to_string()), sources, out)
            }
            None if for_tests(&module.attrs) => out.extend(file_of(module, folder, sources)),
            None => {}
        }
    }
}

/// Reads one file.
struct Reader<'a> {
    place: String,
    code: &'a mut Code,
    /// First and last lines of what is compiled for tests alone.
    tests: Vec<(usize, usize)>,
}

impl Reader<'_> {
    fn function(&mut self, signature: &syn::Signature, body: &syn::Block) {
        let first = signature.span().start().line;
        let lines = body.span().end().line - first + 1;
        if lines > LONG {
            let name = format!("{}:{first} {}", self.place, signature.ident);
            self.code.long.push((lines, name));
        }
    }
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        if for_tests(attributes(item)) {
            self.tests
                .push((item.span().start().line, item.span().end().line));
            return;
        }
        visit::visit_item(self, item);
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.function(&item.sig, &item.block);
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.function(&item.sig, &item.block);
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        if let (None, syn::Type::Path(ty)) = (&item.trait_, &*item.self_ty) {
            let name = ty.path.segments.last().map(|s| s.ident.to_string());
            if let Some(name) = name.filter(|n| WIDE.contains(&n.as_str())) {
                self.code.wide.insert((name, self.place.clone()));
            }
        }
        visit::visit_item_impl(self, item);
    }
}

/// Places whose lines, without comments and `use`, stand elsewhere, too, and their lengths.
fn duplicated(all: &[Code]) -> Vec<(String, usize)> {
    let mut windows: BTreeMap<Vec<&str>, usize> = BTreeMap::new();
    let files: Vec<_> = all
        .iter()
        .flat_map(|code| &code.files)
        .map(|(path, lines)| (path, telling(lines)))
        .collect();
    for (_, lines) in &files {
        for window in lines.windows(DUPLICATED) {
            *windows
                .entry(window.iter().map(|(_, l)| *l).collect())
                .or_default() += 1;
        }
    }
    let mut places = Vec::new();
    for (path, lines) in &files {
        let twice: Vec<_> = lines
            .windows(DUPLICATED)
            .map(|w| windows[&texts(w)] > 1)
            .collect();
        let mut at = 0;
        while let Some(start) = twice[at..].iter().position(|t| *t).map(|p| p + at) {
            let run = twice[start..].iter().take_while(|t| **t).count();
            places.push((format!("{path}:{}", lines[start].0), run + DUPLICATED - 1));
            at = start + run;
        }
    }
    places
}

/// Lines without their numbers.
fn texts<'a>(lines: &[(usize, &'a str)]) -> Vec<&'a str> {
    lines.iter().map(|(_, line)| *line).collect()
}

/// The lines that say something, with their numbers.
fn telling(lines: &[(usize, String)]) -> Vec<(usize, &str)> {
    let trimmed = lines.iter().map(|(n, line)| (*n, line.trim()));
    trimmed
        .filter(|(_, l)| {
            !l.is_empty() && !l.starts_with("//") && !l.starts_with("use ") && !l.starts_with("#[")
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn krate(sources: &[(&str, &str)]) -> Crate {
        let sources = sources
            .iter()
            .map(|(p, t)| (PathBuf::from(p), t.to_string()));
        Crate {
            name: "x".into(),
            manifest: String::new(),
            sources: sources.collect(),
        }
    }

    #[test]
    fn tests_are_no_code() {
        let code = measure(&krate(&[
            (
                "src/lib.rs",
                "mod a;\n#[cfg(test)]\nmod tests;\n#[cfg(test)]\nmod more {\n}\n",
            ),
            (
                "src/a.rs",
                "struct A;\n\nimpl World {}\nimpl Clone for World {}\n",
            ),
            ("src/tests.rs", "fn t() {}\n"),
            ("src/tests/deep.rs", "fn t() {}\n"),
            ("tests/all.rs", "fn t() {}\n"),
        ]))
        .unwrap();
        let lines: Vec<_> = code
            .files
            .iter()
            .map(|(p, l)| (p.as_str(), l.len()))
            .collect();
        assert_eq!(
            lines,
            [("crates/x/src/a.rs", 4), ("crates/x/src/lib.rs", 1)]
        );
        assert_eq!(code.wide.len(), 1);
    }

    #[test]
    fn long_functions_are_named() {
        let body = "\n".repeat(79);
        let text = format!("fn short() {{{body}}}\n/// Words.\npub fn long() {{{body}\n}}");
        let code = measure(&krate(&[("src/lib.rs", &text)])).unwrap();
        assert_eq!(code.long, [(81, "crates/x/src/lib.rs:82 long".to_string())]);
    }

    #[test]
    fn duplicated_places_are_found_whole() {
        let lines: String = (0..14)
            .map(|i| format!("const X{i}: u8 = {i};\n"))
            .collect();
        let other = format!("fn f() {{}}\n\n// Words.\n{lines}");
        let code = measure(&krate(&[("src/a.rs", &lines), ("src/b.rs", &other)])).unwrap();
        let places = duplicated(&[code]);
        assert_eq!(
            places,
            [
                ("crates/x/src/a.rs:1".into(), 14),
                ("crates/x/src/b.rs:4".into(), 14)
            ]
        );
    }
}

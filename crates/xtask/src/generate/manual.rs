//! Pages for man(1), of what the commands say of themselves: the help of `mpirun` and of the
//! commands of `catena`, and the heads of the compiler wrappers.

use std::fmt::Write;
use std::fs;
use std::path::Path;

/// A command, what it is for, and where its text comes from.
struct Command {
    name: &'static str,
    about: &'static str,
    usage: &'static str,
    wrapper: &'static str,
}

const WRAPPERS: [Command; 2] = [
    Command {
        name: "mpicc",
        about: "compile and link MPI programs in C and C++ (mpicxx, mpic++)",
        usage: "mpicc [options] file...",
        wrapper: "share/mpicc.in",
    },
    Command {
        name: "mpifort",
        about: "compile and link MPI programs in Fortran (mpif90, mpif77)",
        usage: "mpifort [options] file...",
        wrapper: "share/mpifort.in",
    },
];

/// A command of `catena`: its page, what it is for, and the file of which its help consists.
const COMMANDS: [(&str, &str, &str); 10] = [
    (
        "share/man/catena.1",
        "MPI programs: run them, measure, and look at settings",
        "crates/cli/src/help/catena.txt",
    ),
    (
        "share/man/catena-info.1",
        "show settings, with their values and where these come from",
        "crates/cli/src/help/info.txt",
    ),
    (
        "share/man/catena-coll.1",
        "show which algorithm a collective takes, and why",
        "crates/cli/src/help/coll.txt",
    ),
    (
        "share/man/catena-ps.1",
        "show the jobs of this host",
        "crates/cli/src/help/ps.txt",
    ),
    (
        "share/man/catena-hang.1",
        "say what a job waits for, and whose doing that is",
        "crates/cli/src/help/hang.txt",
    ),
    (
        "share/man/catena-trace.1",
        "show the last MPI calls of each rank of a job",
        "crates/cli/src/help/trace.txt",
    ),
    (
        "share/man/catena-explain.1",
        "say how the messages and collectives of a job have gone, and try settings",
        "crates/cli/src/help/explain.txt",
    ),
    (
        "share/man/catena-fortran.1",
        "make the modules mpi and mpi_f08 for a Fortran compiler",
        "crates/cli/src/help/fortran.txt",
    ),
    (
        "share/man/catena-bench.1",
        "measure MPI libraries, and compare them",
        "crates/bench/src/help.txt",
    ),
    (
        "share/man/catena-tune.1",
        "measure which settings are faster on this machine, and follow that",
        "crates/bench/src/tune.txt",
    ),
];

/// Those whose help the launcher makes.
const CHANGES: [(&str, &str, &str); 2] = [
    (
        "share/man/catena-grow.1",
        "grow",
        "add processes to a job of mpirun --elastic that runs",
    ),
    (
        "share/man/catena-shrink.1",
        "shrink",
        "have processes leave a job of mpirun --elastic that runs",
    ),
];

/// The name of the command of a page.
fn name(path: &'static str) -> &'static str {
    let file = path.rsplit('/').next().unwrap_or(path);
    file.trim_end_matches(".1")
}

/// The page at `path` of a command that says `help` of itself.
fn of_help(path: &'static str, about: &str, help: &str) -> (&'static str, String) {
    let (usage, text) = help.split_once("\n\n").unwrap_or(("", help));
    (
        path,
        page(name(path), about, usage.trim_start_matches("usage: "), text),
    )
}

/// The pages, by their paths.
///
/// # Errors
/// If a wrapper cannot be read.
pub fn pages(root: &Path) -> Result<Vec<(&'static str, String)>, String> {
    let about = "run a program as several ranks (mpiexec)";
    let mut pages = vec![of_help(
        "share/man/mpirun.1",
        about,
        &catena_launcher::help(),
    )];
    for (path, about, file) in COMMANDS {
        let help = fs::read_to_string(root.join(file)).map_err(|e| format!("{file}: {e}"))?;
        pages.push(of_help(path, about, &help));
    }
    for (path, verb, about) in CHANGES {
        pages.push(of_help(path, about, &catena_launcher::elastic_usage(verb)));
    }
    for (command, path) in WRAPPERS
        .iter()
        .zip(["share/man/mpicc.1", "share/man/mpifort.1"])
    {
        let script = fs::read_to_string(root.join(command.wrapper))
            .map_err(|e| format!("{}: {e}", command.wrapper))?;
        let head: Vec<&str> = script
            .lines()
            .skip(1)
            .map_while(|line| line.strip_prefix('#'))
            .map(|line| line.strip_prefix(' ').unwrap_or(line))
            .collect();
        let text = page(command.name, command.about, command.usage, &head.join("\n"));
        pages.push((path, text));
    }
    Ok(pages)
}

/// A page in the language of man(7).
fn page(name: &str, about: &str, usage: &str, text: &str) -> String {
    // Each line is a form of the command.
    let usage: Vec<String> = usage
        .lines()
        .map(|line| {
            let (form, what) = line.trim().split_once("  ").unwrap_or((line, ""));
            match what.trim() {
                "" => plain(form.trim()),
                what => format!("{}: {}", plain(form), plain(what)),
            }
        })
        .collect();
    let mut out = format!(
        ".\\\" Made by `cargo xtask gen`: change what the command says of itself.\n\
         .TH {} 1 \"\" \"Catena {}\" \"User Commands\"\n.SH NAME\n{name} \\- {}\n.SH \
         SYNOPSIS\n{}\n.SH DESCRIPTION\n",
        name.to_uppercase(),
        env!("CARGO_PKG_VERSION"),
        plain(about),
        usage.join("\n.br\n"),
    );
    out += &body(text);
    out += ".SH SEE ALSO\n`catena help` lists the pages of the book, and shows them.\n";
    out
}

/// Paragraphs, titles and lists of options, as help has them.
fn body(text: &str) -> String {
    let mut out = String::new();
    let mut lines = text.lines().peekable();
    // The names of an option whose text has not come yet.
    let mut head = String::new();
    while let Some(line) = lines.next() {
        let words = line.trim();
        let indent = line.len() - line.trim_start().len();
        let before_list = lines.peek().is_some_and(|next| next.starts_with("  "));
        match indent {
            _ if words.is_empty() => out += ".PP\n",
            0 if before_list && !words.ends_with('.') => {
                let _ = writeln!(out, ".SH {}", plain(&words.to_uppercase()));
            }
            0 => out += &format!("{}\n", plain(words)),
            // The margin of texts begins further right than any name.
            1..=7 => {
                // Long names reach to the margin, where the text begins, or take a line.
                let margin = lines
                    .peek()
                    .map_or(0, |next| next.len() - next.trim_start().len());
                let at_margin = (margin > 7 && line.as_bytes().get(margin - 1) == Some(&b' '))
                    .then(|| line.split_at_checked(margin))
                    .flatten()
                    .map(|(names, text)| (names.trim(), text));
                let (names, text) = words.split_once("  ").or(at_margin).unwrap_or((words, ""));
                if !head.is_empty() {
                    head.push(' ');
                }
                head += names;
                if !text.is_empty() || lines.peek().is_none_or(|next| !next.starts_with("  ")) {
                    option(&mut out, &mut head, text.trim());
                }
            }
            _ if head.is_empty() => out += &format!("{}\n", plain(words)),
            _ => option(&mut out, &mut head, words),
        }
    }
    out
}

/// An option with the first line of its text.
fn option(out: &mut String, head: &mut String, text: &str) {
    let _ = writeln!(out, ".TP\n.B {}", plain(head));
    if !text.is_empty() {
        let _ = writeln!(out, "{}", plain(text));
    }
    head.clear();
}

/// Text in which nothing is a command of the formatter.
fn plain(text: &str) -> String {
    let text = text.replace('\\', "\\e").replace('-', "\\-");
    match text.starts_with(['.', '\'']) {
        true => format!("\\&{text}"),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_become_lists_and_titles_sections() {
        let text = "What it does.\n\nwhat to run\n  -n, -np N   number\n              of ranks\n  \
                    --long-option, --other FILE\n              the same\n";
        assert_eq!(
            body(text),
            "What it does.\n.PP\n.SH WHAT TO RUN\n.TP\n.B \\-n, \\-np N\nnumber\nof ranks\n\
             .TP\n.B \\-\\-long\\-option, \\-\\-other FILE\nthe same\n"
        );
    }

    #[test]
    fn a_name_may_reach_to_the_margin() {
        let text = "  --lib A,B libraries\n            of two\n";
        assert_eq!(body(text), ".TP\n.B \\-\\-lib A,B\nlibraries\nof two\n");
    }

    #[test]
    fn no_text_is_a_command() {
        assert_eq!(plain(".so x"), "\\&.so x");
        assert_eq!(plain("a\\b"), "a\\eb");
    }
}

//! Pages for man(1), of what the commands say of themselves: the help of `mpirun`, and the heads of the compiler
//! wrappers.

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

/// The pages, by their paths.
///
/// # Errors
/// If a wrapper cannot be read.
pub fn pages(root: &Path) -> Result<Vec<(&'static str, String)>, String> {
    let help = catena_launcher::help();
    let (usage, text) = help.split_once("\n\n").unwrap_or(("", &help));
    let about = "run a program as several ranks (mpiexec)";
    let mut pages = vec![(
        "share/man/mpirun.1",
        page("mpirun", about, usage.trim_start_matches("usage: "), text),
    )];
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
    let mut out = format!(
        ".\\\" Made by `cargo xtask gen`: change what the command says of itself.\n\
         .TH {} 1 \"\" \"Catena {}\" \"User Commands\"\n.SH NAME\n{name} \\- {}\n.SH SYNOPSIS\n{}\n.SH DESCRIPTION\n",
        name.to_uppercase(),
        env!("CARGO_PKG_VERSION"),
        plain(about),
        plain(&usage.split_whitespace().collect::<Vec<_>>().join(" ")),
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
                let (names, text) = words.split_once("  ").unwrap_or((words, ""));
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
        let text = "What it does.\n\nwhat to run\n  -n, -np N   number\n              of ranks\n  --long-option, --other FILE\n              the same\n";
        assert_eq!(
            body(text),
            "What it does.\n.PP\n.SH WHAT TO RUN\n.TP\n.B \\-n, \\-np N\nnumber\nof ranks\n\
             .TP\n.B \\-\\-long\\-option, \\-\\-other FILE\nthe same\n"
        );
    }

    #[test]
    fn no_text_is_a_command() {
        assert_eq!(plain(".so x"), "\\&.so x");
        assert_eq!(plain("a\\b"), "a\\eb");
    }
}

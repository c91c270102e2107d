//! What the library has and what it lacks: `docs/functions.md`, and the part of the README that
//! names what is missing.

use catena_abi::table::{self, Function, State};
use std::fmt::Write;

/// First line of the part of the README that is made here.
const BEGIN: &str = "<!-- made by `cargo xtask gen`: what is missing -->\n";
/// The line after that part.
const END: &str = "<!-- end -->\n";
/// Widest line of the README.
const WIDTH: usize = 100;

/// A chapter, and its functions in the order of the table.
struct Chapter {
    title: &'static str,
    there: Vec<&'static str>,
    missing: Vec<&'static str>,
}

fn chapters() -> Vec<Chapter> {
    let all = table::functions();
    let chapters = table::chapters().into_iter().map(|chapter| {
        let (there, missing): (Vec<&Function>, Vec<&Function>) = all
            .iter()
            .filter(|f| f.chapter == chapter.name)
            .partition(|f| f.state == State::Implemented);
        Chapter {
            title: chapter.title,
            there: there.iter().map(|f| f.name).collect(),
            missing: missing.iter().map(|f| f.name).collect(),
        }
    });
    chapters.collect()
}

/// `docs/functions.md`.
pub fn page() -> String {
    let chapters = chapters();
    let count = |of: fn(&Chapter) -> usize| chapters.iter().map(of).sum::<usize>();
    let (there, missing) = (count(|c| c.there.len()), count(|c| c.missing.len()));
    let supported = match missing {
        0 => format!("Catena supports all {there} functions of the MPI 5 ABI."),
        _ => format!(
            "Of the {} functions of the MPI 5 ABI, Catena supports {there}. The other {missing} \
             are exported, too, and\nreturn `MPI_ERR_UNSUPPORTED_OPERATION`.",
            there + missing
        ),
    };
    let mut out = format!(
        "# Functions\n\n\
         <!-- Made by `cargo xtask gen` from crates/abi/tables/functions.tbl: edit that. -->\n\n\
         {supported} Fortran has all that the standard\ngives it (`mpif.h`, `mpi`, `mpi_f08`): its \
         procedures call these functions.\n\n\
         | chapter | supported | missing |\n|---|---:|---:|\n",
    );
    for c in &chapters {
        let _ = writeln!(
            out,
            "| {} | {} | {} |",
            c.title,
            c.there.len(),
            c.missing.len()
        );
    }
    let _ = writeln!(out, "| **all** | **{there}** | **{missing}** |");
    for c in &chapters {
        let _ = writeln!(out, "\n## {}", c.title);
        for (state, names) in [("Supported", &c.there), ("Missing", &c.missing)] {
            if !names.is_empty() {
                let names: Vec<String> = names.iter().map(|n| format!("`{n}`")).collect();
                let _ = write!(
                    out,
                    "\n{}",
                    fill(&format!("{state}: {}.", names.join(", ")))
                );
            }
        }
    }
    out
}

/// The README, in which the part that names what is missing is made anew.
///
/// # Errors
/// If it has no such part.
pub fn readme(old: &str) -> Result<String, String> {
    let parts = old.split_once(BEGIN).and_then(|(before, rest)| {
        let (_, after) = rest.split_once(END)?;
        Some((before, after))
    });
    match parts {
        Some((before, after)) => Ok(format!(
            "{before}{BEGIN}{}{END}{after}",
            missing(&chapters())
        )),
        None => Err(format!(
            "README.md has no lines \"{}\" and \"{}\", between which the missing functions stand: \
             put them back",
            BEGIN.trim_end(),
            END.trim_end()
        )),
    }
}

/// The sentence that names what is missing: a chapter by its title where most of it is missing,
/// else the functions.
fn missing(chapters: &[Chapter]) -> String {
    let (mut whole, mut single) = (Vec::new(), Vec::new());
    for c in chapters.iter().filter(|c| !c.missing.is_empty()) {
        let (missing, all) = (c.missing.len(), c.missing.len() + c.there.len());
        if missing * 2 < all {
            single.extend(c.missing.iter().map(|name| format!("`{name}`")));
        } else {
            let of = if missing == all {
                String::new()
            } else {
                format!(" of {all}")
            };
            let noun = if all == 1 { "function" } else { "functions" };
            whole.push(format!("{} ({missing}{of} {noun})", lower(c.title)));
        }
    }
    let mut text = match whole.is_empty() {
        true => format!("All {} functions of MPI 5", table::functions().len()),
        false => format!("Not there yet: {}.", whole.join(", ")),
    };
    match (whole.is_empty(), single.is_empty()) {
        (true, true) => text += " are there.",
        (true, false) => _ = write!(text, " are there but {}.", single.join(", ")),
        (false, true) => {}
        (false, false) => _ = write!(text, " Also missing: {}.", single.join(", ")),
    }
    text += " [Every function](docs/functions.md) is listed by chapter.";
    if !(whole.is_empty() && single.is_empty()) {
        text += " A function that is missing returns `MPI_ERR_UNSUPPORTED_OPERATION` and its name; \
                 it never pretends to have worked.";
    }
    fill(&text)
}

/// A title within a sentence.
fn lower(title: &str) -> String {
    let mut chars = title.chars();
    let first = chars.next().map(|c| c.to_ascii_lowercase());
    first.into_iter().chain(chars).collect()
}

/// The words in lines of at most [`WIDTH`].
fn fill(text: &str) -> String {
    let mut out = String::new();
    let mut width = 0;
    for word in text.split(' ') {
        if width > 0 && width + 1 + word.len() > WIDTH {
            out.push('\n');
            width = 0;
        } else if width > 0 {
            out.push(' ');
            width += 1;
        }
        out += word;
        width += word.len();
    }
    out.push('\n');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chapter(title: &'static str, there: &[&'static str], missing: &[&'static str]) -> Chapter {
        Chapter {
            title,
            there: there.to_vec(),
            missing: missing.to_vec(),
        }
    }

    #[test]
    fn what_is_missing_is_named() {
        let text = missing(&[
            chapter("Info objects", &["MPI_A"], &[]),
            chapter("Files", &["MPI_B"], &["MPI_C", "MPI_D"]),
            chapter("One-sided communication", &[], &["MPI_E"]),
            chapter("Error handling", &["MPI_F", "MPI_G"], &["MPI_H"]),
        ]);
        let words: Vec<&str> = text.split_whitespace().collect();
        let text = words.join(" ");
        assert!(text.starts_with(
            "Not there yet: files (2 of 3 functions), one-sided communication (1 function). \
             Also missing: `MPI_H`."
        ));
        assert!(!text.contains("info objects"));
    }

    #[test]
    fn nothing_missing_is_said_as_well() {
        let text = missing(&[chapter("Info objects", &["MPI_A"], &[])]);
        assert!(text.contains("functions of MPI 5 are there.") && !text.contains("missing"));
        let text = missing(&[chapter("Files", &["MPI_B", "MPI_C"], &["MPI_D"])]);
        assert!(text.contains("are there but `MPI_D`."));
    }

    #[test]
    fn every_missing_function_is_on_the_page() {
        let page = page();
        for f in table::functions() {
            assert!(page.contains(&format!("`{}`", f.name)), "{}", f.name);
        }
    }

    #[test]
    fn only_the_part_between_the_marks_is_made() {
        let old = format!("one\n{BEGIN}stale\n{END}two\n");
        let new = readme(&old).unwrap();
        assert!(new.starts_with(&format!("one\n{BEGIN}")));
        assert!(new.ends_with(&format!("{END}two\n")) && !new.contains("stale"));
        assert_eq!(readme(&new).unwrap(), new);
        assert!(readme("no marks").unwrap_err().contains("put them back"));
    }
}

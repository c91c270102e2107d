//! Wraps comments, as rustfmt does with code: no line of one is wider than 100 columns.
//!
//! A paragraph is wrapped from its first line on that is too wide; what stands above stays as it
//! is. Tables, code, headings, links and what is laid out by several spaces stay, too, and so does
//! a word that is too long by itself.

use std::fs;
use std::path::Path;

use crate::sources::{self, Crate};

/// Columns of a comment, with what stands before it.
const WIDTH: usize = 100;

/// A line of a comment: what stands before its mark, the mark, and the text behind it and a space.
type Line<'a> = (&'a str, &'a str, &'a str);

/// Wraps the comments of all crates, or of one.
///
/// # Errors
/// If a file cannot be read or written.
pub fn write(root: &Path, only: Option<&str>) -> Result<(), String> {
    let crates = sources::read(root).map_err(|e| format!("crates cannot be read: {e}"))?;
    for krate in (crates.iter()).filter(|krate| only.is_none_or(|name| name == krate.name)) {
        for (path, text) in &krate.sources {
            let wrapped = wrapped(text);
            if wrapped != *text {
                let path = root.join("crates").join(&krate.name).join(path);
                fs::write(&path, wrapped).map_err(|e| format!("{}: {e}", path.display()))?;
                println!("wrapped {}", path.display());
            }
        }
    }
    Ok(())
}

/// The files of a crate with comments that are too wide, a line for each.
pub fn check(krate: &Crate) -> Vec<String> {
    let name = &krate.name;
    let wide = (krate.sources.iter()).filter(|(_, text)| wrapped(text) != *text);
    let told = wide.map(|(path, _)| {
        format!(
            "crates/{name}/{}: a comment is wider than {WIDTH} columns: run `cargo xtask wrap \
             {name}`",
            path.display()
        )
    });
    told.collect()
}

/// The text of a file with all its comments wrapped.
fn wrapped(text: &str) -> String {
    let lines: Vec<&str> = text.split('\n').collect();
    let mut made = Vec::with_capacity(lines.len());
    let (mut at, mut in_code) = (0, false);
    while at < lines.len() {
        let Some((indent, mark, text)) = comment(lines[at]) else {
            in_code = false;
            made.push(lines[at].to_string());
            at += 1;
            continue;
        };
        in_code ^= text.starts_with("```");
        if in_code || stays(text) {
            made.push(lines[at].to_string());
            at += 1;
            continue;
        }
        let end = paragraph(&lines, at);
        let width = WIDTH - (indent.len() + mark.len() + 1).min(WIDTH);
        let texts: Vec<&str> = (lines[at..end].iter())
            .map(|line| comment(line).map_or("", |(_, _, text)| text))
            .collect();
        let filled = filled(&texts, width);
        made.extend(filled.iter().map(|text| format!("{indent}{mark} {text}")));
        at = end;
    }
    made.join("\n")
}

/// A line of a comment that has a line of its own.
fn comment(line: &str) -> Option<Line<'_>> {
    let comment = line.trim_start();
    let mark = ["///", "//!", "//"]
        .into_iter()
        .find(|mark| comment.starts_with(mark))?;
    let indent = &line[..line.len() - comment.len()];
    let text = &comment[mark.len()..];
    (text.is_empty() || text.starts_with(' ')).then(|| (indent, mark, text.get(1..).unwrap_or("")))
}

/// How many bytes of a text are the mark of a list's item.
fn item(text: &str) -> usize {
    let mark = match text.split_once(' ') {
        Some(("-" | "*", _)) => 1,
        Some((number, _)) if number.ends_with('.') => {
            let digits = &number[..number.len() - 1];
            let is_number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
            if is_number { number.len() } else { 0 }
        }
        _ => 0,
    };
    let rest = &text[mark..];
    match mark {
        0 => 0,
        _ => mark + rest.len() - rest.trim_start().len(),
    }
}

/// Whether a line is not text that flows.
fn stays(text: &str) -> bool {
    let is_link = text.starts_with('[') && text.contains("]: ");
    let is_laid_out = text.trim().contains("  ");
    let marks = ["|", "#", "```", "    ", "<"];
    text.is_empty() || is_link || is_laid_out || marks.iter().any(|mark| text.starts_with(mark))
}

/// Where the paragraph or item ends that begins at a line.
fn paragraph(lines: &[&str], at: usize) -> usize {
    let first = comment(lines[at]);
    let hang = first.map_or(0, |(_, _, text)| hang(text));
    let goes_on = |line: &&str| {
        let Some((indent, mark, text)) = comment(line) else {
            return false;
        };
        let before = text.len() - text.trim_start().len();
        let belongs = if hang == 0 {
            before == 0
        } else {
            before >= hang
        };
        let is_alike = first.is_some_and(|(i, m, _)| (i, m) == (indent, mark));
        is_alike && belongs && !stays(text.trim_start()) && item(text.trim_start()) == 0
    };
    at + 1
        + lines[at + 1..]
            .iter()
            .take_while(|line| goes_on(line))
            .count()
}

/// How far the further lines of a paragraph or item stand in.
fn hang(text: &str) -> usize {
    match item(text) {
        0 => text.len() - text.trim_start().len(),
        mark => mark,
    }
}

/// The lines of a paragraph, none wider than `width` where words allow it.
fn filled(texts: &[&str], width: usize) -> Vec<String> {
    let kept = || texts.iter().map(ToString::to_string);
    let Some(wide) = texts.iter().position(|text| text.chars().count() > width) else {
        return kept().collect();
    };
    let hang = hang(texts[0]);
    let begin = match wide {
        0 => item(texts[0]).max(hang),
        _ => hang,
    };
    let first = texts[wide];
    let mut made: Vec<String> = texts[..wide].iter().map(ToString::to_string).collect();
    let mut line = first[..begin.min(first.len())].to_string();
    let mut columns = line.chars().count();
    let words = first[line.len()..].split_whitespace();
    let words = words.chain(
        texts[wide + 1..]
            .iter()
            .flat_map(|text| text.split_whitespace()),
    );
    let mut is_new = true;
    for word in words {
        let length = word.chars().count();
        if !is_new && columns + 1 + length > width {
            made.push(std::mem::replace(&mut line, " ".repeat(hang)));
            (columns, is_new) = (hang, true);
        }
        if !is_new {
            line.push(' ');
            columns += 1;
        }
        line.push_str(word);
        columns += length;
        is_new = false;
    }
    made.push(line);
    // No line may become an item, a heading or a table by the word that it begins with.
    let turns =
        |text: &String| stays(text.trim_start()) || item(&format!("{} ", text.trim_start())) > 0;
    if made[wide + 1..].iter().any(turns) {
        return kept().collect();
    }
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words of ten columns with the space behind each.
    fn words(number: usize) -> String {
        "nine-long ".repeat(number).trim_end().to_string()
    }

    #[test]
    fn paragraphs_are_wrapped_from_the_wide_line_on() {
        let text = format!("/// Short.\n/// {}\n/// end.\nfn f() {{}}\n", words(10));
        let made = format!(
            "/// Short.\n/// {}\n/// nine-long end.\nfn f() {{}}\n",
            words(9)
        );
        assert_eq!(wrapped(&text), made);
        assert_eq!(wrapped(&made), made);
        // 100 columns fit.
        let fits = format!("    // {}xyz\n", words(9) + " ");
        assert_eq!(fits.trim_end().len(), 100);
        assert_eq!(wrapped(&fits), fits);
    }

    #[test]
    fn columns_are_characters() {
        let fits = format!("// {}\n", "é".repeat(97));
        assert_eq!(wrapped(&fits), fits);
        let text = format!("// {} é\n", "é".repeat(96));
        assert_eq!(wrapped(&text), format!("// {}\n// é\n", "é".repeat(96)));
    }

    #[test]
    fn items_hang() {
        let text = format!("//! 1. {}\n//!    more\n//! 2. end\n", words(10));
        let made = format!("//! 1. {}\n//!    nine-long more\n//! 2. end\n", words(9));
        assert_eq!(wrapped(&text), made);
        let text = format!("    /// * {}\n", words(10));
        let made = format!("    /// * {}\n    ///   nine-long\n", words(9));
        assert_eq!(wrapped(&text), made);
        assert_eq!(
            [item("12. a"), item("-  a"), item("1.5 a"), item("a - b")],
            [4, 3, 0, 0]
        );
    }

    #[test]
    fn what_does_not_flow_stays() {
        let long = words(12);
        for stays in [
            format!("/// | {long} |\n"),
            format!("/// # {long}\n"),
            format!("/// [link]: {long}\n"),
            format!("/// ```\n/// {long}\n/// ```\n"),
            format!("///     {long}\n"),
            format!("// a  {long}\n"),
            format!("let x = 1; // {long}\n"),
            format!("//{long}\n"),
            format!("// {}\n", "x".repeat(120)),
        ] {
            assert_eq!(wrapped(&stays), stays);
        }
        // Behind code, text flows again.
        let code = format!("/// ```\n/// a\n/// ```\n/// {}\n", words(10));
        assert!(wrapped(&code).ends_with("\n/// nine-long\n"));
    }

    #[test]
    fn no_line_becomes_an_item() {
        let text = format!("/// {}xyzabc - no item\n", words(9) + " ");
        assert_eq!(wrapped(&text), text);
    }

    #[test]
    fn wide_files_are_told() {
        let source = |text: String| Crate {
            name: "link".to_string(),
            manifest: String::new(),
            sources: vec![("src/a.rs".into(), text)],
        };
        assert!(check(&source(format!("// {}\n", words(9)))).is_empty());
        assert_eq!(
            check(&source(format!("// {}\n", words(10)))),
            [
                "crates/link/src/a.rs: a comment is wider than 100 columns: run `cargo xtask wrap \
                 link`"
            ]
        );
    }
}

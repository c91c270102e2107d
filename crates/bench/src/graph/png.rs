//! Charts as PNG, by a program that makes it of SVG: letters take fonts, which those programs have.

use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::chart::Chart;
use super::svg;

/// As many charts are on a picture at most: more could not be read on a screen.
const ROOM: usize = 24;

/// Programs that read SVG; the name of the file comes last.
pub const PROGRAMS: [&[&str]; 4] = [
    &["rsvg-convert", "--zoom=2", "--output"],
    &[
        "inkscape",
        "--pipe",
        "--export-type=png",
        "--export-dpi=192",
        "-o",
    ],
    &["magick", "-density", "192", "svg:-"],
    &["convert", "-density", "192", "svg:-"],
];

/// The drawings of all charts, and where each belongs: `raw.png`, or, of several, `raw-1.png` and
/// so on.
pub fn pictures(raw: &Path, charts: &[Chart]) -> Vec<(PathBuf, String)> {
    let stem = raw.file_stem().unwrap_or_default().to_string_lossy();
    let place = |number: usize| match charts.len() > ROOM {
        true => raw.with_file_name(format!("{stem}-{}.png", number + 1)),
        false => raw.with_extension("png"),
    };
    let parts = charts.chunks(ROOM).map(svg::draw).enumerate();
    parts.map(|(i, drawing)| (place(i), drawing)).collect()
}

/// Writes the drawing into the file by the first of `programs` that is there.
///
/// # Errors
/// In words: none is there, or it fails.
pub fn write(svg: &str, path: &Path, programs: &[&[&str]]) -> Result<(), String> {
    for words in programs {
        let [name, options @ ..] = words else {
            continue;
        };
        let started = Command::new(name)
            .args(options)
            .arg(path)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn();
        let mut child = match started {
            Ok(child) => child,
            Err(e) if e.kind() == ErrorKind::NotFound => continue,
            Err(e) => return Err(format!("{name} cannot be started: {e}")),
        };
        if let Some(mut input) = child.stdin.take() {
            // A program that fails may not have read all; what it says then counts.
            let _ = input.write_all(svg.as_bytes());
        }
        let done = child.wait_with_output().map_err(|e| e.to_string())?;
        let last_words = String::from_utf8_lossy(&done.stderr);
        return match done.status.success() && path.exists() {
            true => Ok(()),
            false => Err(format!("{name} makes no PNG: {}", last_words.trim_end())),
        };
    }
    let names: Vec<&str> = PROGRAMS.iter().map(|words| words[0]).collect();
    Err(format!(
        "for PNG one of {} is needed (rsvg-convert is in librsvg2-bin); take -G svg",
        names.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::chart::charts;
    use crate::graph::data::tests::results;

    #[test]
    fn many_charts_are_several_pictures() {
        let charts = charts(&results());
        let raw = Path::new("x/run.jsonl");
        let names = |charts: &[Chart]| -> Vec<String> {
            let pictures = pictures(raw, charts).into_iter();
            pictures
                .map(|(path, _)| path.display().to_string())
                .collect()
        };
        assert_eq!(names(&charts), ["x/run.png"]);
        let many: Vec<Chart> = charts.iter().cycle().take(ROOM + 1).cloned().collect();
        assert_eq!(names(&many), ["x/run-1.png", "x/run-2.png"]);
        let drawing = &pictures(raw, &many)[0].1;
        assert_eq!(drawing.matches("<g ").count(), ROOM);
    }

    #[test]
    fn the_first_program_that_is_there_makes_it() {
        let path = std::env::temp_dir().join(format!("catena-{}.png", std::process::id()));
        let missing: &[&str] = &["/nonexistent/rsvg", "-o"];
        let here: &[&str] = &["sh", "-c", "cat >$0"];
        write("<svg/>", &path, &[missing, here]).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "<svg/>");
        let fails: &[&str] = &["sh", "-c", "echo no fonts >&2; exit 1"];
        assert!(
            write("", &path, &[fails])
                .unwrap_err()
                .contains("sh makes no PNG: no fonts")
        );
        assert!(
            write("", &path, &[missing])
                .unwrap_err()
                .contains("rsvg-convert")
        );
        let why = write("", &path, &[missing]).unwrap_err();
        for words in PROGRAMS {
            let name = words[0];
            assert!(
                why.contains(name) && crate::help::HELP.contains(name),
                "{name}: {why}"
            );
        }
        std::fs::remove_file(&path).unwrap();
    }
}

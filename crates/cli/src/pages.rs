//! `catena help PAGE`: the pages of the book that an installation has.

use std::fs;
use std::path::{Path, PathBuf};

use catena_settings::nearest;

/// The folder of the pages; nothing where this command does not know its place.
fn folder() -> Option<PathBuf> {
    Some(crate::place::prefix()?.join("share/doc/catena"))
}

/// The names of the pages in a folder, in order.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            Some(name.strip_suffix(".md")?.to_string())
        })
        .collect();
    names.sort();
    names
}

/// What `catena help` says of the pages after everything else; empty where there are none.
pub fn list() -> String {
    let names = folder().map(|folder| names(&folder)).unwrap_or_default();
    if names.is_empty() {
        return String::new();
    }
    let mut text = String::from("\npages, which `catena help PAGE` shows:\n");
    let mut line = String::from(" ");
    for name in &names {
        if line.len() + 1 + name.len() > 78 {
            text += &line;
            text.push('\n');
            line = String::from(" ");
        }
        line.push(' ');
        line += name;
    }
    text + &line + "\n"
}

/// Shows a page; the result is the exit status.
pub fn show(name: &str) -> i32 {
    let Some(folder) = folder() else {
        eprintln!(
            "catena help: this command does not know where it is installed: /proc is missing"
        );
        return 1;
    };
    let names = names(&folder);
    let known = names.iter().map(String::as_str);
    if !names.iter().any(|known| known == name) {
        let remedy = match nearest(name, known) {
            Some(near) => format!("did you mean `catena help {near}`?"),
            None if names.is_empty() => format!("there are no pages in {}", folder.display()),
            None => "`catena help` lists the pages".to_string(),
        };
        eprintln!("catena help: there is no page {name}; {remedy}");
        return catena_launcher::USAGE;
    }
    let path = folder.join(format!("{name}.md"));
    match fs::read_to_string(&path) {
        Ok(text) => {
            print!("{text}");
            0
        }
        Err(error) => {
            eprintln!("catena help: {} cannot be read: {error}", path.display());
            1
        }
    }
}

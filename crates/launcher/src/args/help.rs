//! What `mpirun --help` says, and the page of options: made from the table.

use super::table::{DIFFERENT, Does, Group, PEERS, Peer, Row, TABLE, Takes};

/// Characters of a line.
const WIDTH: usize = 80;

/// Where the text of an option begins.
const MARGIN: usize = 26;

const HEAD: &str = "\
usage: mpirun [options] program [arguments] [: [options] program [arguments]]...

Runs an MPI program, or any other, as several processes (ranks), on this host or
on others. What stands between colons belongs to that program: number of ranks,
directory, variables and hosts. Other options stand before the first program.
";

const FOOT: &str = "
Ranks find CATENA_RANK, CATENA_SIZE, CATENA_LOCAL_RANK and CATENA_LOCAL_SIZE in
their environment, and these numbers in the variables of Open MPI, MPICH and
MVAPICH, unless --set LAUNCH_ALIASES=no. There can be at most 32768 ranks. The
status is that of the first rank that failed (128 + number for a signal; the
code of MPI_Abort; 1 for one that ended without MPI_Finalize), 2 for a wrong
command line, 127 or 126 if a program cannot be found or started, and 1 if
mpirun itself cannot go on. SIGINT, SIGQUIT and SIGTERM reach the ranks, which
are killed CATENA_LAUNCH_GRACE (5 s) later.
Options of other MPI libraries: mpirun --help open-mpi, mpich, intel, slurm or mpi.
Pages about hosts, placement, faults and more: catena help.
";

/// An option as users write it.
fn written(name: &str) -> String {
    let dashes = if name.len() > 2 && !["ppn", "wdir", "env", "genv"].contains(&name) {
        "--"
    } else {
        "-"
    };
    format!("{dashes}{name}")
}

/// The names of a row, and what follows them.
fn head(row: &Row, names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| written(name)).collect();
    let value = match row.takes {
        Takes::Nothing => "",
        Takes::Word(value) | Takes::Pair(value) => value,
        Takes::Maybe(value) => return format!("{}[={value}]", names.join(", ")),
    };
    format!("{} {value}", names.join(", "))
        .trim_end()
        .to_string()
}

/// What `mpirun --help` says of one option.
pub fn of_row(row: &Row) -> String {
    entry(&head(row, row.names), &meaning(row))
}

/// A paragraph with a margin, behind a head that may reach into it.
fn entry(head: &str, text: &str) -> String {
    let mut lines = Vec::new();
    let mut line = format!("  {head}");
    if line.chars().count() + 2 > MARGIN {
        lines.push(std::mem::take(&mut line));
    }
    for word in text.split_whitespace() {
        let length = line.chars().count();
        if length > MARGIN && length + 1 + word.chars().count() > WIDTH {
            lines.push(std::mem::take(&mut line));
        }
        let gap = if line.chars().count() < MARGIN {
            MARGIN - line.chars().count()
        } else {
            1
        };
        line += &" ".repeat(gap);
        line += word;
    }
    lines.push(line);
    lines.retain(|line| !line.is_empty());
    lines.join("\n") + "\n"
}

/// What `mpirun --help` says.
pub fn general() -> String {
    let mut text = HEAD.to_string();
    for (group, title) in Group::SHOWN {
        text += &format!("\n{title}\n");
        for row in TABLE.iter().filter(|row| row.group == group) {
            text += &entry(&head(row, row.names), row.text);
        }
        if group == Group::What {
            text += &entry(
                ":",
                "begins the next program; its ranks follow the last ones",
            );
        }
    }
    text + FOOT
}

/// What a row does, in words.
fn meaning(row: &Row) -> String {
    match (row.does, row.text) {
        (Does::Own(_), text) => text.to_string(),
        (Does::Means(words), "") => format!("the same as {}", words.replace("{}", "N")),
        (Does::Means(words), text) => format!("the same as {}: {text}", words.replace("{}", "N")),
        (Does::Ignored, text) => format!("passed over with a warning: {text}"),
        (Does::Moot, text) => format!("not needed: {text}"),
    }
}

/// What `mpirun --help` says of the options of another library.
pub fn of_peer(peer: Peer) -> String {
    let title = peer.title;
    let mut text = format!("Options of {title}, and what they do here\n\n");
    for row in TABLE.iter().filter(|row| row.is_of(peer)) {
        text += &entry(&head(row, row.names), &meaning(row));
    }
    let mut different = DIFFERENT
        .iter()
        .filter(|(of, ..)| *of == peer.word)
        .peekable();
    if different.peek().is_some() {
        text += "\nwhat means something else here, and what to write instead\n";
        different.for_each(|(_, theirs, ours)| text += &entry(theirs, ours));
    }
    text
}

/// `docs/options.md`.
pub fn page() -> String {
    let mut text = "\
# Options of mpirun, and those of others

<!-- Made from crates/launcher/src/args/table.rs by `cargo xtask gen`: change it there. -->

`mpirun` takes its own options and those that scripts for other MPI libraries have. Those that mean nothing here are passed
over, with a warning where that may matter. `mpirun --help open-mpi` (`mpich`, `intel`, `slurm`, `mpi`) shows those of one. Long
options may have one dash or two, and `=` or a blank before their value. What stands between colons belongs to that program:
number of ranks, directory, variables and hosts; other options stand before the first program.

| option | of | what it does |
|---|---|---|
"
    .to_string();
    let cell = |text: &str| text.replace('|', "\\|");
    for row in TABLE {
        let of: Vec<&str> = PEERS
            .iter()
            .filter(|peer| row.is_of(**peer))
            .map(|peer| peer.title)
            .collect();
        let of = match of.is_empty() {
            true => "Catena".to_string(),
            false => of.join(", "),
        };
        text += &format!(
            "| `{}` | {of} | {} |\n",
            cell(&head(row, row.names)),
            cell(&meaning(row))
        );
    }
    text += "\n## What means something else here\n\n| option | of | what to write here \
             |\n|---|---|---|\n";
    for (of, theirs, ours) in DIFFERENT {
        let title = PEERS
            .iter()
            .find(|peer| peer.word == *of)
            .map_or("", |peer| peer.title);
        text += &format!("| `{}` | {title} | {} |\n", cell(theirs), cell(ours));
    }
    text
}

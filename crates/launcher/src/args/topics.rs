//! What a user may ask about, and what is said of options that there are not.

use catena_job::UsageError;
use catena_settings::nearest;

use super::help;
use super::table::{DIFFERENT, PEERS, Peer, Row, TABLE, Takes};

/// What the user wants to read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Topic {
    /// About mpirun.
    General,
    /// About the options of another library.
    Of(Peer),
    /// About an option.
    Option(&'static Row),
}

impl Topic {
    /// The one of that name: a library, or an option with or without its dashes.
    ///
    /// # Errors
    /// The topics, if it is none.
    pub fn find(name: &str) -> Result<Topic, UsageError> {
        if ["all", "general"].contains(&name) {
            return Ok(Topic::General);
        }
        let is_it = |peer: &Peer| peer.word == name || peer.others.contains(&name);
        if let Some(peer) = PEERS.into_iter().find(is_it) {
            return Ok(Topic::Of(peer));
        }
        let option = name.trim_start_matches('-');
        let row = TABLE.iter().find(|row| row.names.contains(&option));
        row.map(Topic::Option).ok_or_else(|| {
            let topics: Vec<&str> = PEERS.iter().map(|peer| peer.word).collect();
            UsageError(format!(
                "--help {name}: there is help about {} and each option; --help alone lists \
                 mpirun's own",
                topics.join(", ")
            ))
        })
    }

    /// The text.
    pub fn text(self) -> String {
        match self {
            Topic::General => help::general(),
            Topic::Of(peer) => help::of_peer(peer),
            Topic::Option(row) => help::of_row(row),
        }
    }
}

/// What to write in place of an option of another launcher that means something else here, or
/// nothing.
pub fn instead(shown: &str) -> Option<String> {
    let is_it = |(_, theirs, _): &&(&str, &str, &str)| {
        let mut words = theirs.split([' ', ',']);
        words.any(|word| word == shown)
    };
    let in_words = |(of, theirs, ours): &(&str, &str, &str)| {
        let title = PEERS.iter().find(|peer| peer.word == *of)?.title;
        let theirs = match theirs.len() > 40 {
            true => shown,
            false => theirs,
        };
        let text = format!("in place of {theirs} of {title} write {ours}");
        Some(text.replace("write nothing: ", "write nothing, as "))
    };
    // One name may be of several libraries, and mean another thing in each.
    let all: Vec<String> = DIFFERENT
        .iter()
        .filter(is_it)
        .filter_map(in_words)
        .collect();
    (!all.is_empty()).then(|| all.join("; "))
}

/// How to write an option of one letter whose value stands right behind it, as `-n2`.
fn apart(shown: &str) -> Option<String> {
    let word = shown
        .strip_prefix('-')
        .filter(|word| !word.starts_with('-'))?;
    let (name, value) = word.split_at_checked(1)?;
    let is_value = value.starts_with(|c: char| c.is_ascii_digit());
    let row = TABLE.iter().find(|row| row.names.contains(&name))?;
    match row.takes {
        Takes::Word(_) if is_value => Some(format!("did you mean -{name} {value}?")),
        Takes::Maybe(_) if is_value => Some(format!("did you mean -{name}={value}?")),
        _ => None,
    }
}

/// That there is no option of that name, and what the user may have meant.
pub fn unknown(shown: &str) -> UsageError {
    let name = shown.trim_start_matches('-');
    let all = TABLE.iter().flat_map(|row| row.names).copied();
    let hint = match (
        instead(shown),
        nearest(name, all.filter(|name| name.len() > 2)),
    ) {
        (Some(instead), _) => instead,
        _ if apart(shown).is_some() => apart(shown).unwrap_or_default(),
        (None, Some(near)) => format!("did you mean --{near}?"),
        (None, None) => "see mpirun --help".to_string(),
    };
    UsageError(format!("there is no option {shown}; {hint}"))
}

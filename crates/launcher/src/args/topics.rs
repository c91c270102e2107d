//! What a user may ask about, and what is said of options that there are not.

use catena_job::UsageError;
use catena_settings::nearest;

use super::help;
use super::table::{DIFFERENT, PEERS, Peer, Row, TABLE};

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
        if let Some(peer) = PEERS.into_iter().find(|peer| peer.word == name) {
            return Ok(Topic::Of(peer));
        }
        let option = name.trim_start_matches('-');
        let row = TABLE.iter().find(|row| row.names.contains(&option));
        row.map(Topic::Option).ok_or_else(|| {
            let topics: Vec<&str> = PEERS.iter().map(|peer| peer.word).collect();
            UsageError(format!(
                "--help {name}: there is help about {} and each option; --help alone lists mpirun's own",
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
    let (of, theirs, ours) = DIFFERENT.iter().find(is_it)?;
    let title = PEERS.iter().find(|peer| peer.word == *of)?.title;
    let theirs = match theirs.len() > 40 {
        true => shown,
        false => theirs,
    };
    Some(
        format!("in place of {theirs} of {title} write {ours}")
            .replace("write nothing: ", "write nothing, as "),
    )
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
        (None, Some(near)) => format!("did you mean --{near}?"),
        (None, None) => "see mpirun --help".to_string(),
    };
    UsageError(format!("there is no option {shown}; {hint}"))
}

//! Where what ranks write goes, and how.

use catena_job::UsageError;

use super::values::usage;
use crate::output::Tag;

/// Where what ranks write goes, and how.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Output {
    /// Whether lines begin with the rank that wrote them.
    pub tag: bool,
    /// Whether they begin with the time at which they are shown.
    pub stamp: bool,
    /// Whether stderr goes where stdout does.
    pub merge: bool,
    /// Patterns of the names of files for stdout and stderr, as the supervisor reads them; `None`:
    /// none.
    pub files: [Option<String>; 2],
    /// Whether what goes into files is not shown by mpirun.
    pub only_files: bool,
}

impl Output {
    /// What lines of a rank begin with.
    pub fn tag(&self, rank: &str) -> Tag {
        let text = match self.tag {
            true => format!("[{rank}] "),
            false => String::new(),
        };
        Tag {
            stamp: self.stamp,
            text: text.into_bytes(),
        }
    }

    /// Which of stdout (0) and stderr (1) takes what comes of one of them.
    pub fn target(&self, which: usize) -> usize {
        match self.merge {
            true => 0,
            false => which,
        }
    }

    /// Whether mpirun shows what comes of stdout (0) or stderr (1).
    pub fn is_shown(&self, which: usize) -> bool {
        !self.only_files || self.files[which].is_none()
    }

    /// Takes in `DIR`, with `:nocopy` and `:nojobid` behind it: files for each rank in a folder.
    pub(super) fn set_folder(&mut self, option: &str, text: &str) -> Result<(), UsageError> {
        let (folder, words) = text.split_once(':').unwrap_or((text, ""));
        let mut job = "%j/";
        for word in words.split([',', ':']).filter(|word| !word.is_empty()) {
            match word.to_ascii_lowercase().as_str() {
                "nocopy" => self.only_files = true,
                "copy" => self.only_files = false,
                "nojobid" => job = "",
                _ => {
                    return usage(format!(
                        "{option} {text}: behind the folder there can be nocopy and nojobid"
                    ));
                }
            }
        }
        let folder = named(option, folder)?.replace('%', "%%");
        let name = |stream| Some(format!("{folder}/{job}rank.%R/{stream}"));
        self.files = [name("stdout"), name("stderr")];
        Ok(())
    }

    /// Takes in the pattern of files for one stream, which mpirun does not show then.
    pub(super) fn set_file(
        &mut self,
        option: &str,
        which: usize,
        text: &str,
    ) -> Result<(), UsageError> {
        self.files[which] = Some(named(option, text)?.to_string());
        self.only_files = true;
        Ok(())
    }

    /// Takes in words such as `tag,file=NAME`.
    pub(super) fn set_words(&mut self, option: &str, text: &str) -> Result<(), UsageError> {
        let mut copy = false;
        for word in text.split([',', ':']) {
            let (word, value) = word.split_once('=').unwrap_or((word, ""));
            match word.to_ascii_lowercase().as_str() {
                "tag" | "tag-detailed" | "tag-fullname" | "rank" => self.tag = true,
                "timestamp" => self.stamp = true,
                "merge" | "merge-stderr-to-stdout" => self.merge = true,
                "dir" | "directory" => {
                    self.set_folder(option, value)?;
                    self.only_files = true;
                }
                "file" | "filename" => {
                    let name = named(option, value)?.replace('%', "%%");
                    self.set_file(option, 0, &format!("{name}.%r.out"))?;
                    self.set_file(option, 1, &format!("{name}.%r.err"))?;
                }
                "copy" => copy = true,
                "nocopy" | "raw" | "pattern" => {}
                _ => {
                    return usage(format!(
                        "{option} {text}: '{word}' is not known; it can be tag, timestamp, merge, \
                         dir=DIR, file=NAME or copy"
                    ));
                }
            }
        }
        self.only_files &= !copy;
        Ok(())
    }
}

/// A name that is not empty.
fn named<'a>(option: &str, name: &'a str) -> Result<&'a str, UsageError> {
    match name {
        "" => usage(format!("{option}: the name is empty")),
        name => Ok(name),
    }
}

//! Process sets that the user defines (`--pset NAME=RANKS`), for programs with
//! MPI sessions.

use std::ops::RangeInclusive;

use catena_abi::consts::MAX_PSET_NAME_LEN;
use catena_job::UsageError;

/// Names that begin so are given by MPI and by the launcher itself.
const RESERVED: [&str; 3] = ["mpi://", "app://", "catena://"];

/// A process set as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessSet {
    /// Its name.
    pub name: String,
    /// Ranks, from first to last, in the order given.
    parts: Vec<RangeInclusive<u32>>,
}

impl ProcessSet {
    /// Reads `NAME=RANKS`, where ranks are numbers and ranges between commas.
    ///
    /// # Errors
    /// If it is not of that form, or the name is taken or too long.
    pub fn parse(option: &str, text: &str) -> Result<ProcessSet, UsageError> {
        let wrong = |cause: String| Err(UsageError(format!("{option} {text}: {cause}")));
        let Some((name, ranks)) = text.rsplit_once('=') else {
            return wrong("write NAME=RANKS, such as workers=0-3,8".to_string());
        };
        let most = MAX_PSET_NAME_LEN as usize - 1;
        if name.is_empty() || name.len() > most {
            return wrong(format!("the name must have 1 to {most} bytes"));
        }
        let lower = name.to_ascii_lowercase();
        if let Some(prefix) = RESERVED.into_iter().find(|p| lower.starts_with(p)) {
            return wrong(format!("names that begin with {prefix} are given already"));
        }
        let mut parts = Vec::new();
        for part in ranks.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            match (first.trim().parse::<u32>(), last.trim().parse::<u32>()) {
                (Ok(first), Ok(last)) if first <= last => parts.push(first..=last),
                _ => return wrong(format!("'{part}' is neither a rank nor a range FIRST-LAST")),
            }
        }
        Ok(ProcessSet {
            name: name.to_string(),
            parts,
        })
    }

    /// Its ranks, each once, ascending.
    ///
    /// # Errors
    /// If the job does not have them all.
    pub fn ranks(&self, size: u32) -> Result<Vec<u32>, UsageError> {
        if let Some(part) = self.parts.iter().find(|part| *part.end() >= size) {
            return Err(UsageError(format!(
                "--pset {}: rank {} is not in this job, whose ranks are 0 to {}",
                self.name,
                part.end(),
                size - 1
            )));
        }
        let mut ranks: Vec<u32> = self.parts.iter().cloned().flatten().collect();
        ranks.sort_unstable();
        ranks.dedup();
        Ok(ranks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<ProcessSet, String> {
        ProcessSet::parse("--pset", text).map_err(|e| e.0)
    }

    #[test]
    fn ranks_are_listed_once_and_in_order() {
        for (text, name, ranks) in [
            ("a=3", "a", &[3][..]),
            ("hot=8,0-3,2", "hot", &[0, 1, 2, 3, 8]),
            ("user://a=b= 0 - 1 , 4", "user://a=b", &[0, 1, 4]),
        ] {
            let set = parse(text).unwrap();
            assert_eq!((&*set.name, &set.ranks(9).unwrap()[..]), (name, ranks));
        }
    }

    #[test]
    fn mistakes_are_told() {
        for (text, words) in [
            ("workers", "write NAME=RANKS"),
            ("=0", "1 to 1023 bytes"),
            ("mpi://workers=0", "begin with mpi://"),
            ("APP://7=0", "begin with app://"),
            ("catena://elastic/1=0", "begin with catena://"),
            ("a=", "'' is neither"),
            ("a=0,", "'' is neither"),
            ("a=0-", "'0-' is neither"),
            ("a=3-1", "'3-1' is neither"),
            ("a=-1", "'-1' is neither"),
            ("a=1-2-3", "'1-2-3' is neither"),
            ("a=all", "'all' is neither"),
            ("a=4294967296", "'4294967296' is neither"),
        ] {
            let told = parse(text).unwrap_err();
            assert!(told.contains(words), "{text}: {told}");
        }
        let told = parse("a=0,2-4294967295").unwrap().ranks(4).unwrap_err().0;
        assert!(
            told.contains("rank 4294967295 is not in this job"),
            "{told}"
        );
    }
}

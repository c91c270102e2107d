//! What is wrong, for the user.

use catena_trace::quoted;

use crate::cause::Finding;
use crate::words::{Names, span};

/// Most groups that are shown.
const GROUPS: usize = 10;

impl Finding {
    /// In lines: the culprit and the cause, what to do, what each rank does, and what the culprits
    /// have called last.
    pub fn lines(&self) -> Vec<String> {
        let how = match self.definite {
            true => "the job hangs",
            false => "no progress",
        };
        let mut lines = vec![
            format!("{how}: {}", self.cause),
            format!("  what to do: {}", self.remedy),
        ];
        for group in self.groups.iter().take(GROUPS) {
            let does = match group.ranks.len() {
                1 => group.does.clone(),
                _ => several(&group.does),
            };
            let waited = match group.waited.as_secs() {
                0 => String::new(),
                _ => format!(" (for {})", span(group.waited)),
            };
            lines.push(format!("  {} {does}{waited}", group.who));
        }
        let more = self.groups.len().saturating_sub(GROUPS);
        if more > 0 {
            lines.push(format!("  and {more} groups of other ranks"));
        }
        for (who, calls) in &self.calls {
            lines.push(format!("  the last calls of {who}: {}", calls.join(", ")));
        }
        lines
    }

    /// As JSON, one object: `definite`, `culprits`, `cause`, `remedy`, `groups` with `ranks`,
    /// `does` and `seconds`, and `calls` with `rank` and `last`, the oldest call first.
    pub fn json(&self, names: &Names) -> String {
        let all = |members: &[crate::Member]| {
            let each: Vec<_> = members.iter().map(|it| quoted(&names.one(*it))).collect();
            format!("[{}]", each.join(","))
        };
        let groups: Vec<_> = self
            .groups
            .iter()
            .map(|group| {
                format!(
                    "{{\"ranks\":{},\"does\":{},\"seconds\":{:.3}}}",
                    all(&group.ranks),
                    quoted(&group.does),
                    group.waited.as_secs_f64()
                )
            })
            .collect();
        let calls: Vec<_> = self
            .calls
            .iter()
            .map(|(who, calls)| {
                let each: Vec<_> = calls.iter().map(|it| quoted(it)).collect();
                format!("{{\"rank\":{},\"last\":[{}]}}", quoted(who), each.join(","))
            })
            .collect();
        format!(
            "{{\"definite\":{},\"culprits\":{},\"cause\":{},\"remedy\":{},\"groups\":[{}],\"calls\":[{}]}}",
            self.definite,
            all(&self.culprits),
            quoted(&self.cause),
            quoted(&self.remedy),
            groups.join(","),
            calls.join(",")
        )
    }
}

/// What one does, of several.
fn several(does: &str) -> String {
    let does = does.replacen(": its last call was", ": their last call was", 1);
    let does = does.replacen(", and it is at", ", and they are at", 1);
    for (one, many) in [
        ("waits ", "wait "),
        ("has ", "have "),
        ("is ", "are "),
        ("does not ", "do not "),
    ] {
        if let Some(rest) = does.strip_prefix(one) {
            return format!("{many}{rest}");
        }
    }
    does
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_do_what_one_does() {
        assert_eq!(several("waits in MPI_Recv"), "wait in MPI_Recv");
        assert_eq!(several("has finalized MPI"), "have finalized MPI");
        assert_eq!(several("does not wait in MPI"), "do not wait in MPI");
        assert_eq!(
            several("does not wait in MPI: its last call was MPI_Send, and it is at a.c:3"),
            "do not wait in MPI: their last call was MPI_Send, and they are at a.c:3"
        );
    }
}

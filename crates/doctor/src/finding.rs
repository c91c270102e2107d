//! What was found: what is the matter, and what helps.

use std::fmt::Write;

use catena_trace::quoted;

/// How much a finding matters, what matters most first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weight {
    /// Jobs fail for it.
    Broken,
    /// Jobs are slower for it.
    Slow,
    /// It may explain what somebody sees.
    Note,
}

impl Weight {
    const ALL: [Weight; 3] = [Weight::Broken, Weight::Slow, Weight::Note];

    /// As it is shown.
    pub fn word(self) -> &'static str {
        match self {
            Weight::Broken => "broken",
            Weight::Slow => "slow",
            Weight::Note => "note",
        }
    }

    fn named(word: &str) -> Option<Weight> {
        Weight::ALL.into_iter().find(|it| it.word() == word)
    }
}

/// Something that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// How much it matters.
    pub weight: Weight,
    /// What was looked at.
    pub about: String,
    /// The cause, as a clause.
    pub cause: String,
    /// What to do, in the imperative; empty where the cause says it.
    pub remedy: String,
}

impl Finding {
    /// One with a remedy.
    pub fn new(
        weight: Weight,
        about: &str,
        cause: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Finding {
        Finding {
            weight,
            about: about.to_string(),
            cause: cause.into(),
            remedy: remedy.into(),
        }
    }

    /// Cause and remedy.
    pub fn sentence(&self) -> String {
        match self.remedy.is_empty() {
            true => self.cause.clone(),
            false => format!("{}; {}", self.cause, self.remedy),
        }
    }

    /// The words of a line that [`Finding::parse`] reads.
    pub fn to_line(&self) -> String {
        // Lines and tabs end what they are in.
        let flat = |text: &str| text.replace(['\t', '\n', '\r'], " ");
        let fields = [&self.about, &self.cause, &self.remedy].map(|text| flat(text));
        format!("{}\t{}", self.weight.word(), fields.join("\t"))
    }

    /// Reads what [`Finding::to_line`] wrote; `None` for anything else.
    pub fn parse(line: &str) -> Option<Finding> {
        let fields: Vec<&str> = line.split('\t').collect();
        let &[weight, about, cause, remedy] = &fields[..] else {
            return None;
        };
        Some(Finding::new(Weight::named(weight)?, about, cause, remedy))
    }
}

/// A finding on a host; none for what concerns all of them, or the program.
pub type Placed = (Option<String>, Finding);

/// All findings as they are shown, what matters most first, each once with all of its hosts;
/// `several` says that there are more hosts than one.
pub fn shown(findings: &[Placed], several: bool) -> String {
    let mut text = String::new();
    for (number, (_, finding)) in findings.iter().enumerate() {
        if findings[..number].iter().any(|(_, other)| other == finding) {
            continue;
        }
        let alike = findings.iter().filter(|(_, other)| other == finding);
        let hosts: Vec<&str> = alike.filter_map(|(host, _)| host.as_deref()).collect();
        let place = match several && !hosts.is_empty() {
            true => format!("{}: ", some_of(&hosts)),
            false => String::new(),
        };
        let (weight, about) = (finding.weight.word(), &finding.about);
        let sentence = finding.sentence();
        _ = writeln!(text, "{weight:<6}  {place}{about}: {sentence}");
    }
    text
}

/// The names of hosts, or of many the first.
pub fn some_of(hosts: &[&str]) -> String {
    match hosts {
        [first, second, _, _, ..] => format!("{first}, {second} and {} more", hosts.len() - 2),
        all => all.join(", "),
    }
}

/// All findings as a list of JSON: `weight`, `host` or null, `about`, `cause`, `remedy`.
pub fn in_json(findings: &[Placed]) -> String {
    let one = |(host, finding): &Placed| {
        let host = host.as_deref().map_or("null".to_string(), quoted);
        format!(
            r#"{{"weight":{},"host":{host},"about":{},"cause":{},"remedy":{}}}"#,
            quoted(finding.weight.word()),
            quoted(&finding.about),
            quoted(&finding.cause),
            quoted(&finding.remedy)
        )
    };
    let all: Vec<String> = findings.iter().map(one).collect();
    format!("[{}]", all.join(",\n "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_back_as_they_were() {
        let finding = Finding::new(Weight::Slow, "limits", "a\tb\nc", "raise it");
        let back = Finding::parse(&finding.to_line()).unwrap();
        assert_eq!(back.cause, "a b c");
        assert_eq!(
            Finding {
                cause: finding.cause.clone(),
                ..back
            },
            finding
        );
        for wrong in ["", "slow", "slow\ta\tb", "bad\ta\tb\tc", "slow\ta\tb\tc\td"] {
            assert_eq!(Finding::parse(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn cause_and_remedy_stand_in_one_line() {
        let all = [
            (
                Some("h1".into()),
                Finding::new(Weight::Broken, "memory", "it is full", "free some"),
            ),
            (
                None,
                Finding::new(Weight::Note, "program", "it says \"no\"", ""),
            ),
        ];
        let alike = [&all[..], &[(Some("h2".into()), all[0].1.clone())]].concat();
        let text = shown(&alike, true);
        assert_eq!(
            text.lines().next(),
            Some("broken  h1, h2: memory: it is full; free some")
        );
        assert_eq!(text.lines().count(), 2);
        assert!(shown(&all, false).starts_with("broken  memory: "));
        let json = in_json(&all);
        assert!(
            json.contains(r#""host":null,"about":"program","cause":"it says \"no\"""#),
            "{json}"
        );
    }
}

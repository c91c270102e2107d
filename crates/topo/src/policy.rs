//! How ranks are to be mapped to hardware, ordered and bound, as users say it.
//!
//! The words are those of Open MPI (`--map-by`, `--rank-by`, `--bind-to`) and,
//! for mapping, of MVAPICH:
//!
//! | of MVAPICH        | here                                                    |
//! |-------------------|---------------------------------------------------------|
//! | `bunch`           | cores one after the other: `core`                       |
//! | `scatter`         | packages in turn, bound to a core                       |
//! | `hybrid:linear`   | as `core`, with a core for each thread                  |
//! | `hybrid:compact`  | the threads of a rank on hardware threads               |
//! | `hybrid:spread`   | an equal share of the node for each rank: the default   |
//! | `hybrid:numa`     | NUMA nodes in turn, with a core for each thread         |

use crate::Resource;

/// Where the next rank goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// Onto the same node, until its slots are used up.
    Slot,
    /// To the next instance of a resource, in turn; `Machine` is a node.
    Each(Resource),
    /// Always that many onto each instance of a resource.
    Ppr(u32, Resource),
    /// Every rank of a node gets an equal share of it.
    Spread,
}

/// What a rank is bound to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bind {
    /// Nothing: it may run anywhere on its node.
    Nothing,
    /// An instance of a resource; of cores and hardware threads as many as it
    /// has threads.
    To(Resource),
}

/// Which number a mapped rank gets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// The numbers follow the mapping.
    #[default]
    Slot,
    /// One of each node in turn.
    Node,
    /// All of one instance of the resource it is mapped by, then all of the
    /// next.
    Fill,
    /// One of each instance in turn, over all nodes.
    Span,
}

/// A way to map, order and bind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    /// `None`: [`By::Spread`], or [`By::Slot`] if `bind` is given.
    pub by: Option<By>,
    /// Which number each gets.
    pub order: Order,
    /// `None`: to what it is mapped by; to a core if that is a slot.
    pub bind: Option<Bind>,
    /// How many cores or hardware threads a rank takes, if given.
    pub width: Option<u32>,
    /// Whether there are to be no ranks on the host of the launcher.
    pub no_local: bool,
    /// Whether there are to be no more ranks than slots.
    pub no_oversubscribe: bool,
    /// Whether ranks are bound although they have to share cores.
    pub overload: bool,
    /// Whether each hardware thread counts as a core.
    pub threads_are_cores: bool,
}

/// Words of `--map-by` and `--bind-to` for resources.
const WORDS: [(&str, Resource); 17] = [
    ("hwthread", Resource::Pu),
    ("core", Resource::Core),
    ("l1cache", Resource::L1Cache),
    ("l2cache", Resource::L2Cache),
    ("l3cache", Resource::L3Cache),
    ("numa", Resource::NumaNode),
    ("package", Resource::Package),
    ("socket", Resource::Package),
    ("node", Resource::Machine),
    ("board", Resource::Machine),
    // As Slurm and MPICH say it.
    ("threads", Resource::Pu),
    ("cores", Resource::Core),
    ("sockets", Resource::Package),
    ("ldoms", Resource::NumaNode),
    ("numanode", Resource::NumaNode),
    ("l1", Resource::L1Cache),
    ("l3", Resource::L3Cache),
];

/// The resource that users call so.
fn resource(word: &str) -> Option<Resource> {
    let known = WORDS.iter().find(|(name, _)| *name == word);
    known.map(|(_, resource)| *resource)
}

/// What users call a resource.
pub(crate) fn word(resource: Resource) -> &'static str {
    let known = WORDS.iter().find(|(_, of)| *of == resource);
    known.map_or("node", |(name, _)| name)
}

impl Policy {
    /// Takes in the value of `--map-by`: `slot`, `core`, `l1cache` …, `numa`,
    /// `package`, `node`, `ppr:N:OBJ`, `bunch`, `scatter`, `spread` or
    /// `hybrid[:linear|compact|spread|numa]`, and after it, with colons or commas between them,
    /// `PE=K`, `NOLOCAL`, `OVERSUBSCRIBE`, `NOOVERSUBSCRIBE`, `HWTCPUS` and others of Open MPI's
    /// that change nothing here. These can also stand alone, behind a colon.
    ///
    /// # Errors
    /// What is wrong and what can be written.
    pub fn map_by(&mut self, value: &str) -> Result<(), String> {
        let value = value.to_ascii_lowercase();
        if value.contains("pe-list=") {
            return Err("PE-LIST is not known; --cpu-set names the CPUs to use".to_string());
        }
        let mut words: Vec<&str> = value.split([':', ',']).collect();
        while let Some(last) = words.last() {
            if !self.modify(last)? {
                break;
            }
            words.pop();
        }
        if words.iter().all(|word| word.is_empty()) && words.len() < value.split([':', ',']).count()
        {
            return Ok(());
        }
        let what = words.join(":");
        let what = what.as_str();
        let (by, bind) = match words[..] {
            ["slot"] => (By::Slot, None),
            ["spread" | "hybrid"] | ["hybrid", "spread"] => (By::Spread, None),
            ["bunch"] | ["hybrid", "bunch" | "linear"] => (By::Each(Resource::Core), None),
            ["hybrid", "compact"] => (By::Slot, Some(Bind::To(Resource::Pu))),
            ["scatter"] | ["hybrid", "scatter"] => {
                (By::Each(Resource::Package), Some(Bind::To(Resource::Core)))
            }
            ["hybrid", "numa"] => (By::Each(Resource::NumaNode), Some(Bind::To(Resource::Core))),
            ["ppr", number, object] => {
                let per = resource(object).ok_or_else(|| unknown(object))?;
                (By::Ppr(positive(number, "ppr")?, per), None)
            }
            ["ppr", ..] => return Err("write ppr:N:OBJECT, such as ppr:1:l3cache".to_string()),
            [object] => (
                By::Each(resource(object).ok_or_else(|| unknown(object))?),
                None,
            ),
            _ => return Err(unknown(what)),
        };
        self.by = Some(by);
        self.bind = self.bind.or(bind);
        Ok(())
    }

    /// Takes in a word that stands behind what ranks are mapped by; whether it is one.
    fn modify(&mut self, word: &str) -> Result<bool, String> {
        match word {
            "nolocal" => self.no_local = true,
            "oversubscribe" => self.no_oversubscribe = false,
            "nooversubscribe" => self.no_oversubscribe = true,
            "hwtcpus" => self.threads_are_cores = true,
            "corecpus" => self.threads_are_cores = false,
            // So it is, or it is about what is not here.
            "span" | "inherit" | "noinherit" | "ordered" => {}
            _ => match word.strip_prefix("pe=") {
                Some(number) => self.width = Some(positive(number, "PE")?),
                None => return Ok(false),
            },
        }
        Ok(true)
    }

    /// Takes in the value of `--rank-by`: `slot`, `node`, `fill` or `span`.
    ///
    /// # Errors
    /// As [`Policy::map_by`].
    pub fn rank_by(&mut self, value: &str) -> Result<(), String> {
        self.order = match value.to_ascii_lowercase().as_str() {
            "slot" => Order::Slot,
            "node" => Order::Node,
            "fill" => Order::Fill,
            "span" => Order::Span,
            word if resource(word).is_some() => {
                return Err(
                    "it must be slot, node, fill or span; to number ranks round what they are \
                     mapped by, write span"
                        .to_string(),
                );
            }
            _ => return Err("it must be slot, node, fill or span".to_string()),
        };
        Ok(())
    }

    /// Takes in the value of `--bind-to`: `none` or a resource, and after it `:overload-allowed`,
    /// or words of Open MPI's that change nothing here.
    ///
    /// # Errors
    /// As [`Policy::map_by`].
    pub fn bind_to(&mut self, value: &str) -> Result<(), String> {
        let value = value.to_ascii_lowercase();
        let words = value.split([':', ',']);
        // Slurm's come first.
        let mut words = words.skip_while(|word| ["verbose", "v", "quiet", "q"].contains(word));
        let what = words.next().unwrap_or_default();
        if ["user", "map_cpu", "mask_cpu"].contains(&what) {
            return Err(
                "CPUs are named by --set CPU_MAPPING=0:1:4-5, a set for each rank of a host"
                    .to_string(),
            );
        }
        for word in words {
            match word {
                "overload-allowed" => self.overload = true,
                "no-overload" => self.overload = false,
                "if-supported" | "ordered" | "report" => {}
                // As MPICH says how many of them.
                _ => match word.parse::<u32>() {
                    Ok(width @ 1..) => self.width = Some(width),
                    _ => {
                        return Err(format!(
                            "{word:?} is not known; overload-allowed, or a number of cores, can \
                             stand behind the colon"
                        ));
                    }
                },
            }
        }
        self.bind = match what {
            // What was said before stays.
            "" if value.starts_with(':') => self.bind,
            "none" | "no" => Some(Bind::Nothing),
            // As MPICH calls one core after the other.
            "rr" => Some(Bind::To(Resource::Core)),
            word => Some(Bind::To(resource(word).ok_or_else(|| {
                "it must be none, hwthread, core, l1cache, l2cache, l3cache, numa or package"
                    .to_string()
            })?)),
        };
        Ok(())
    }
}

fn positive(text: &str, what: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(number) if number > 0 => Ok(number),
        _ => Err(format!(
            "{what} needs a whole number, 1 or more, not {text:?}"
        )),
    }
}

fn unknown(word: &str) -> String {
    format!(
        "{word:?} is not known; it can be slot, hwthread, core, l1cache, l2cache, l3cache, numa, \
         package, node, ppr:N:OBJECT, bunch, scatter, spread, or hybrid: with linear, compact, \
         spread or numa"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_understood() {
        let parsed = |text: &str| {
            let mut policy = Policy::default();
            policy
                .map_by(text)
                .map(|()| (policy.by, policy.bind, policy.width))
        };
        let core = Some(Bind::To(Resource::Core));
        for (text, by, bind, width) in [
            ("slot", By::Slot, None, None),
            ("L3cache", By::Each(Resource::L3Cache), None, None),
            ("numa:PE=4", By::Each(Resource::NumaNode), None, Some(4)),
            ("ppr:2:socket", By::Ppr(2, Resource::Package), None, None),
            (
                "ppr:1:l3cache:pe=2",
                By::Ppr(1, Resource::L3Cache),
                None,
                Some(2),
            ),
            ("scatter", By::Each(Resource::Package), core, None),
            ("hybrid", By::Spread, None, None),
            ("hybrid:linear", By::Each(Resource::Core), None, None),
            (
                "hybrid:compact",
                By::Slot,
                Some(Bind::To(Resource::Pu)),
                None,
            ),
            ("hybrid:numa", By::Each(Resource::NumaNode), core, None),
        ] {
            assert_eq!(parsed(text), Ok((Some(by), bind, width)), "{text}");
        }
        for (text, words) in [
            ("corez", "ppr:N:OBJECT"),
            ("core:pe-list=0,1:ordered", "--cpu-set"),
            ("", "is not known"),
            ("ppr:2", "such as ppr:1:l3cache"),
            ("ppr:0:core", "1 or more"),
            ("core:pe=x", "1 or more"),
            ("hybrid:other", "is not known"),
        ] {
            let error = parsed(text).expect_err(text);
            assert!(error.contains(words), "{text}: {error}");
        }
    }

    #[test]
    fn words_may_stand_behind() {
        let with = |text: &str| {
            let mut policy = Policy::default();
            policy.map_by(text).map(|()| policy)
        };
        let core = Policy {
            by: Some(By::Each(Resource::Core)),
            ..Policy::default()
        };
        assert_eq!(with("core:OVERSUBSCRIBE"), Ok(core));
        let local = Policy {
            no_local: true,
            width: Some(2),
            ..core
        };
        assert_eq!(with("core:PE=2,NOLOCAL"), Ok(local));
        let alone = Policy {
            width: Some(2),
            ..Policy::default()
        };
        assert_eq!(with(":PE=2"), Ok(alone));
        let threads = Policy {
            threads_are_cores: true,
            no_oversubscribe: true,
            ..Policy::default()
        };
        assert_eq!(with(":hwtcpus:nooversubscribe"), Ok(threads));
        let mut policy = Policy::default();
        policy.bind_to("core:overload-allowed").expect("words");
        assert!(policy.overload && policy.bind == Some(Bind::To(Resource::Core)));
        assert!(policy.bind_to("core:loose").is_err());
        assert!(
            policy
                .bind_to("user:0,1")
                .unwrap_err()
                .contains("CPU_MAPPING")
        );
        assert!(policy.rank_by("socket").unwrap_err().contains("write span"));
        let bound = |text: &str| {
            let mut policy = Policy::default();
            policy.bind_to(text).map(|()| (policy.bind, policy.width))
        };
        assert_eq!(
            bound("core:2"),
            Ok((Some(Bind::To(Resource::Core)), Some(2)))
        );
        assert_eq!(
            bound("verbose,cores"),
            Ok((Some(Bind::To(Resource::Core)), None))
        );
        assert_eq!(bound("q,none"), Ok((Some(Bind::Nothing), None)));
    }

    #[test]
    fn what_is_said_of_binding_counts_whatever_stands_first() {
        let mut policy = Policy::default();
        policy.bind_to("numa").expect("a resource");
        policy.map_by("scatter").expect("a policy");
        assert_eq!(policy.bind, Some(Bind::To(Resource::NumaNode)));
        policy.bind_to("none").expect("nothing");
        assert_eq!(policy.bind, Some(Bind::Nothing));
        assert!(policy.bind_to("slot").is_err());
        assert!(policy.rank_by("core").is_err());
    }
}

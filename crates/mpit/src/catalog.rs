//! Everything that exists, in the order of its index. It never changes.

use std::sync::LazyLock;

use catena_coll::Collective;
use catena_core::coll;
use catena_core::events::{COLLECTIVES, SLEEPS, UNEXPECTED};
use catena_objects::table::ObjectKind;
use catena_settings::{Change, Plain, Scope, Setting};

use crate::pvars::{self, STATES};
use crate::{Audience, Bind, Class, Error, Pvar, Result, Type};

/// Names of values.
#[derive(Debug)]
pub struct Enumeration {
    /// Unique among enumerations.
    pub name: String,
    /// The value of an item is its index.
    pub items: Vec<String>,
}

/// A control variable: a setting.
#[derive(Debug)]
pub struct Cvar {
    /// As in the environment.
    pub name: String,
    /// With what must be known to write it.
    pub doc: String,
    /// Whom it is for.
    pub audience: Audience,
    /// How its value lies in memory.
    pub ty: Type,
    /// Index of its enumeration.
    pub enumeration: Option<usize>,
    /// Whether all processes must have the same value.
    pub scope: Scope,
    area: String,
    pub(crate) setting: SettingRef,
}

/// A setting that can be printed.
pub(crate) struct SettingRef(pub &'static dyn Setting);

impl std::fmt::Debug for SettingRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0.name())
    }
}

/// A type of events.
#[derive(Debug)]
pub struct EventType {
    /// Unique among event types.
    pub name: String,
    /// What happens when it is raised.
    pub doc: String,
    /// Whom it is for.
    pub audience: Audience,
    /// What a registration has to be bound to.
    pub bind: Bind,
    /// Types of the elements of its data; the enumeration names them.
    pub elements: Vec<Type>,
    /// Index of that enumeration.
    pub enumeration: usize,
    area: String,
    /// Its bit in `core`.
    pub(crate) bit: u32,
}

/// A group of variables.
#[derive(Debug)]
pub struct Category {
    /// Unique among categories.
    pub name: String,
    /// What they are about.
    pub doc: String,
    /// Indices of control variables.
    pub cvars: Vec<usize>,
    /// Indices of performance variables.
    pub pvars: Vec<usize>,
    /// Indices of event types.
    pub events: Vec<usize>,
    /// Indices of categories within it.
    pub categories: Vec<usize>,
}

/// All of it.
#[derive(Debug)]
pub struct Catalog {
    /// Enumerations.
    pub enumerations: Vec<Enumeration>,
    /// Control variables.
    pub cvars: Vec<Cvar>,
    /// Performance variables.
    pub pvars: Vec<Pvar>,
    /// Event types.
    pub events: Vec<EventType>,
    /// Categories; the first holds all others.
    pub categories: Vec<Category>,
}

/// The catalog of this process.
pub fn catalog() -> &'static Catalog {
    static CATALOG: LazyLock<Catalog> = LazyLock::new(Catalog::new);
    &CATALOG
}

/// Index of the enumeration of `state`.
pub(crate) const STATE: usize = 0;
const BOOL: usize = 1;

impl Catalog {
    fn new() -> Catalog {
        let mut catalog = Catalog {
            enumerations: vec![
                enumeration("state", &STATES),
                enumeration("bool", &["false", "true"]),
            ],
            cvars: Vec::new(),
            pvars: pvars::all(),
            events: Vec::new(),
            categories: Vec::new(),
        };
        for setting in catena_core::settings::registry().iter() {
            catalog.add_cvar(setting);
        }
        catalog.add_events();
        catalog.add_categories();
        catalog
    }

    fn add_cvar(&mut self, setting: &'static dyn Setting) {
        let name = format!("{}{}", catena_settings::PREFIX, setting.name());
        let (ty, enumeration) = match setting.plain() {
            Plain::Choice(_) if setting.kind() == "bool" => (Type::Int, Some(BOOL)),
            Plain::Choice(_) => {
                self.enumerations
                    .push(enumeration(&name, setting.choices()));
                (Type::Int, Some(self.enumerations.len() - 1))
            }
            Plain::Number(_) => (Type::Unsigned, None),
            Plain::Long(_) => (Type::Long, None),
            Plain::Real(_) => (Type::Double, None),
            Plain::Text(_) => (Type::Text, None),
        };
        self.cvars.push(Cvar {
            name,
            doc: describe(setting),
            audience: setting.level().into(),
            ty,
            enumeration,
            scope: setting.scope(),
            area: area_of(setting),
            setting: SettingRef(setting),
        });
    }

    /// `bit` is that of `core`.
    fn add_event(
        &mut self,
        (name, area): (&str, &str),
        doc: &str,
        bind: Bind,
        bit: u32,
        elements: &[(&str, Type)],
    ) {
        let names: Vec<&str> = elements.iter().map(|(name, _)| *name).collect();
        let enumeration = enumeration(&format!("elements of {name}"), &names);
        self.enumerations.push(enumeration);
        self.events.push(EventType {
            name: name.to_owned(),
            doc: doc.to_owned(),
            audience: Audience::Tuner,
            bind,
            elements: elements.iter().map(|(_, ty)| *ty).collect(),
            enumeration: self.enumerations.len() - 1,
            area: area.to_owned(),
            bit,
        });
    }

    fn add_events(&mut self) {
        let doc = "A message of the program arrived on the communicator before its receive was \
            posted. Elements: rank of the sender, tag, length in bytes.";
        let elements = [
            ("source", Type::Int),
            ("tag", Type::Int),
            ("bytes", Type::Long),
        ];
        let name = ("unexpected_message", "matching");
        self.add_event(
            name,
            doc,
            Bind::Object(ObjectKind::Comm),
            UNEXPECTED,
            &elements,
        );
        let doc = "The process woke from a sleep while it waited. Element: how long it slept, in \
            nanoseconds.";
        let elements = [("nanoseconds", Type::Long)];
        let name = ("sleep", "waiting");
        self.add_event(name, doc, Bind::Process, SLEEPS, &elements);
        for what in Collective::ALL {
            let ways: Vec<String> = coll::ways(what)
                .enumerate()
                .map(|(at, way)| format!("{at} {way}"))
                .collect();
            let name = format!("coll_{}", what.name());
            let doc = format!(
                "{} began on the communicator. Element: the way it goes ({}).",
                what.name(),
                ways.join(", ")
            );
            let bit = COLLECTIVES << what as u32;
            self.add_event(
                (&name, &name),
                &doc,
                Bind::Object(ObjectKind::Comm),
                bit,
                &[("way", Type::Int)],
            );
        }
    }

    fn add_categories(&mut self) {
        const AREAS: [(&str, &str); 12] = [
            ("catena", "Everything."),
            ("process", "Start, end and errors of the process."),
            ("messages", "How much was sent and received, and where to."),
            ("protocols", "How messages travelled."),
            ("matching", "How messages and receives found each other."),
            ("waiting", "What the process did while it waited."),
            (
                "beside",
                "What a thread of the library did while the program computed.",
            ),
            ("shm", "The shared memory of a node."),
            ("network", "The network beyond a node."),
            ("objects", "How many objects there are."),
            ("buffers", "Buffers of buffered sends."),
            ("files", "What was read from files and written to them."),
        ];
        let mut categories: Vec<Category> = AREAS.map(|(name, doc)| category(name, doc)).into();
        let collectives = categories.len();
        categories.push(category("collectives", "Collective operations."));
        categories[0].categories = (1..=collectives).collect();
        for what in Collective::ALL {
            let at = categories.len();
            categories[collectives].categories.push(at);
            let doc = format!("How {} is done.", what.name());
            categories.push(category(&format!("coll_{}", what.name()), &doc));
        }
        for c in &mut categories {
            c.cvars = members(self.cvars.iter().map(|v| &v.area), &c.name);
            c.pvars = members(self.pvars.iter().map(|v| &v.area), &c.name);
            c.events = members(self.events.iter().map(|e| &e.area), &c.name);
        }
        self.categories = categories;
    }

    /// The index of a control variable.
    ///
    /// # Errors
    /// [`Error::InvalidName`]; so with the other two.
    pub fn cvar_index(&self, name: &str) -> Result<usize> {
        found(self.cvars.iter().position(|v| v.name == name))
    }

    /// The index of a performance variable.
    ///
    /// # Errors
    /// [`Error::InvalidName`].
    pub fn pvar_index(&self, name: &str, class: Option<Class>) -> Result<usize> {
        let same = |v: &Pvar| v.name == name && Some(v.class) == class;
        found(self.pvars.iter().position(same))
    }

    /// The index of an event type.
    ///
    /// # Errors
    /// [`Error::InvalidName`].
    pub fn event_index(&self, name: &str) -> Result<usize> {
        found(self.events.iter().position(|e| e.name == name))
    }

    /// The index of a category.
    ///
    /// # Errors
    /// [`Error::InvalidName`].
    pub fn category_index(&self, name: &str) -> Result<usize> {
        found(self.categories.iter().position(|c| c.name == name))
    }

    /// Index of the enumeration of a performance variable.
    pub fn pvar_enumeration(&self, pvar: &Pvar) -> Option<usize> {
        (pvar.class == Class::State).then_some(STATE)
    }
}

fn found(at: Option<usize>) -> Result<usize> {
    at.ok_or(Error::InvalidName)
}

fn enumeration(name: &str, items: &[&str]) -> Enumeration {
    Enumeration {
        name: name.to_owned(),
        items: items.iter().map(|&item| item.to_owned()).collect(),
    }
}

/// The category of a setting.
fn area_of(setting: &dyn Setting) -> String {
    let name = setting.name().to_ascii_lowercase();
    let coll = |c: &Collective| name.strip_prefix("coll_") == Some(c.name());
    match name.split_once('_') {
        Some(("shm", _)) => "shm".to_owned(),
        Some((word, _)) if catena_net::Network::NAMES.contains(&word) => "network".to_owned(),
        Some(("coll", _)) if Collective::ALL.iter().any(coll) => name,
        Some(("coll", _)) => "collectives".to_owned(),
        _ => "process".to_owned(),
    }
}

/// Indices of those whose category has this name.
fn members<'a>(areas: impl Iterator<Item = &'a String>, name: &str) -> Vec<usize> {
    let numbered = areas.enumerate();
    numbered
        .filter(|(_, area)| *area == name)
        .map(|(at, _)| at)
        .collect()
}

fn category(name: &str, doc: &str) -> Category {
    Category {
        name: name.to_owned(),
        doc: doc.to_owned(),
        cvars: Vec::new(),
        pvars: Vec::new(),
        events: Vec::new(),
        categories: Vec::new(),
    }
}

/// The documentation of a setting, and what must be known to write it.
fn describe(setting: &dyn Setting) -> String {
    let lines = setting.doc().lines().map(str::trim);
    let mut text = lines
        .filter(|line| !line.is_empty())
        .collect::<Vec<_>>()
        .join(" ");
    if setting.kind() == "duration" {
        text += " In nanoseconds.";
    }
    if let Some((least, most)) = setting.range() {
        text += &format!(" From {least} to {most}.");
    }
    text += match setting.scope() {
        Scope::AllEqual => " All processes must have the same value",
        Scope::Local => " Each process may have its own value",
    };
    text += match setting.change() {
        Change::BeforeInit => "; it can be written until MPI is initialised.",
        Change::Anytime => "; it can be written at any time between two collectives.",
    };
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn all_differ(names: impl Iterator<Item = String>) {
        let mut seen = HashSet::new();
        for name in names {
            assert!(!name.is_empty());
            assert!(seen.insert(name.clone()), "{name} occurs twice");
        }
    }

    #[test]
    fn names_are_unique() {
        let c = catalog();
        all_differ(c.cvars.iter().map(|v| v.name.clone()));
        all_differ(c.pvars.iter().map(|v| format!("{v:?}")));
        all_differ(c.events.iter().map(|v| v.name.clone()));
        all_differ(c.enumerations.iter().map(|v| v.name.clone()));
        all_differ(c.categories.iter().map(|v| v.name.clone()));
        for e in &c.enumerations {
            all_differ(e.items.iter().cloned());
        }
    }

    #[test]
    fn everything_is_in_one_category() {
        let c = catalog();
        let once = |members: fn(&Category) -> &Vec<usize>, n: usize| {
            let mut all: Vec<usize> = c.categories.iter().flat_map(members).copied().collect();
            all.sort_unstable();
            all.iter().copied().eq(0..n)
        };
        assert!(once(|k| &k.cvars, c.cvars.len()));
        assert!(once(|k| &k.pvars, c.pvars.len()));
        assert!(once(|k| &k.events, c.events.len()));
        let mut inner: Vec<usize> = c
            .categories
            .iter()
            .flat_map(|k| &k.categories)
            .copied()
            .collect();
        inner.sort_unstable();
        assert!(inner.into_iter().eq(1..c.categories.len()), "a tree");
        for pvar in &c.pvars {
            assert!(c.categories.iter().any(|k| k.name == pvar.area), "{pvar:?}");
        }
    }
}

//! Where values come from, and what is said about wrong ones.

use std::time::Duration;

use catena_settings::{
    Bytes, Change, Level, Origin, Plain, Registry, Scope, Setting, Sources, Text, Value, changes,
    choice, setting, unknown,
};

choice! {
    /// How to wait.
    pub enum Wait {
        /// Spin.
        Spin = "spin",
        /// Sleep.
        Sleep = "sleep",
    }
}

setting! {
    /// Largest message sent eagerly.
    ///
    /// Longer ones use rendezvous.
    pub static EAGER_MAX: Bytes = Bytes::kib(8);
    range: Bytes::ZERO..=Bytes::kib(64),
    scope: AllEqual,
    level: Tuner,

    /// How to wait.
    static WAIT: Wait = Wait::Spin;
    scope: Local,
    level: User,

    /// How long to wait.
    static PATIENCE: Duration = Duration::from_millis(20);
    scope: Local,
    level: Developer,

    /// Routes to use.
    static ROUTES: Text = Text("auto");
    scope: AllEqual,
    level: User,

    /// Set by a test.
    static TO_BE_SET: u32 = 3;
    range: 1..=9,
    scope: Local,
    level: User,
}

static SETTINGS: &[&dyn Setting] = &[&EAGER_MAX, &WAIT, &PATIENCE, &ROUTES, &TO_BE_SET];

fn environment(vars: &[(&str, &str)]) -> Sources {
    Sources::from_environment(vars.iter().map(|(n, v)| (n.to_string(), v.to_string())))
}

#[test]
fn the_strongest_origin_wins() {
    let none = environment(&[]);
    assert_eq!(
        EAGER_MAX.resolve(&none),
        (Bytes::kib(8), Origin::Default, None)
    );

    let file = environment(&[]).with_file("c.conf", "EAGER_MAX = 1k # small\n\n# WAIT = sleep\n");
    assert_eq!(
        EAGER_MAX.resolve(&file),
        (Bytes::kib(1), Origin::File, None)
    );
    assert_eq!(WAIT.resolve(&file).1, Origin::Default);

    let both = environment(&[("CATENA_EAGER_MAX", "2k"), ("EAGER_MAX", "9k")])
        .with_file("c.conf", "CATENA_EAGER_MAX = 1k");
    assert_eq!(
        EAGER_MAX.resolve(&both),
        (Bytes::kib(2), Origin::Environment, None)
    );

    let told = environment(&[
        ("CATENA_EAGER_MAX", "4k"),
        ("CATENA_COMMAND_LINE", "WAIT,EAGER_MAX"),
        ("CATENA_PATIENCE", "1s"),
    ]);
    assert_eq!(
        EAGER_MAX.resolve(&told),
        (Bytes::kib(4), Origin::CommandLine, None)
    );
    assert_eq!(
        PATIENCE.resolve(&told),
        (Duration::from_secs(1), Origin::Environment, None)
    );
}

#[test]
fn bad_values_are_told_and_the_default_is_used() {
    let bad = environment(&[
        ("CATENA_EAGER_MAX", "1g"),
        ("CATENA_WAIT", "dance"),
        ("CATENA_PATIENCE", "soon"),
    ]);
    let (value, origin, warning) = EAGER_MAX.resolve(&bad);
    assert_eq!((value, origin), (Bytes::kib(8), Origin::Default));
    assert_eq!(
        warning.unwrap().to_string(),
        "CATENA_EAGER_MAX=1g: it must be from 0 to 64KiB; \
         correct it or leave it out; the default, 8KiB, is used"
    );
    let (value, _, warning) = WAIT.resolve(&bad);
    assert_eq!(value, Wait::Spin);
    assert!(warning.unwrap().to_string().contains("one of: spin, sleep"));
    assert!(PATIENCE.resolve(&bad).2.is_some());
    assert_eq!(Registry::default().with(SETTINGS).check_in(&bad).len(), 3);
}

#[test]
fn unknown_names_get_a_hint_and_internal_ones_do_not_warn() {
    let registry = Registry::default().with(SETTINGS);
    let names = [
        "CATENA_EAGRE_MAX",
        "CATENA_EAGER_MAX",
        "CATENA_QQQQ",
        "CATENA_BOOT",
        "CATENA_BOOT_X",
        "CATENA_CONF",
        "CATENA_RANK",
        "CATENA_COMMAND_LINE",
        "PATH",
    ];
    let warnings: Vec<String> = unknown(&registry, names)
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    assert!(
        warnings[0].contains("did you mean CATENA_EAGER_MAX?"),
        "{}",
        warnings[0]
    );
    assert!(
        warnings[1].starts_with("CATENA_QQQQ: no setting has this name"),
        "{}",
        warnings[1]
    );
}

#[test]
fn bad_lines_of_the_file_are_told() {
    let sources = environment(&[]).with_file("c.conf", "hello\nROUTE = shm\n= 3\nROUTES = shm");
    let warnings: Vec<String> = Registry::default()
        .with(SETTINGS)
        .check_in(&sources)
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(warnings.len(), 3, "{warnings:?}");
    assert!(warnings.iter().any(
        |w| w.starts_with("ROUTE in c.conf: no setting") && w.contains("did you mean ROUTES?")
    ));
    assert!(
        warnings
            .iter()
            .any(|w| w.starts_with("c.conf:1: `hello` is no setting"))
    );
    assert!(warnings.iter().any(|w| w.starts_with("c.conf:3: ")));
}

#[test]
fn settings_describe_themselves() {
    let registry = Registry::default().with(SETTINGS);
    let eager = registry.find("catena_eager_max").unwrap();
    assert_eq!(eager.summary(), "Largest message sent eagerly.");
    assert!(eager.doc().contains("rendezvous"));
    assert_eq!(eager.kind(), "bytes");
    assert_eq!(eager.range(), Some(("0".to_string(), "64KiB".to_string())));
    assert_eq!(eager.default_text(), "8KiB");
    assert_eq!(
        (eager.scope(), eager.level()),
        (Scope::AllEqual, Level::Tuner)
    );
    assert_eq!(registry.find("WAIT").unwrap().choices(), ["spin", "sleep"]);
    assert!(registry.find("WAITS").is_none());
    assert_eq!(Wait::from_bits(Wait::Sleep.to_bits()), Wait::Sleep);
}

#[test]
fn a_program_can_set_it() {
    assert_eq!((TO_BE_SET.get(), TO_BE_SET.origin()), (3, Origin::Default));
    assert!(TO_BE_SET.set(10).is_err());
    assert!(Setting::set_text(&TO_BE_SET, "many").is_err());
    Setting::set_text(&TO_BE_SET, " 7 ").unwrap();
    assert_eq!((TO_BE_SET.get(), TO_BE_SET.origin()), (7, Origin::Program));

    let setting: &dyn Setting = &TO_BE_SET;
    assert_eq!(setting.plain(), Plain::Number(7));
    assert!(setting.set_plain(Plain::Long(8)).is_err());
    assert!(setting.set_plain(Plain::Number(10)).is_err());
    let before = changes();
    setting.set_plain(Plain::Number(8)).unwrap();
    assert_eq!(setting.plain(), Plain::Number(8));
    assert_ne!(changes(), before);
    assert_eq!(setting.change(), Change::BeforeInit);
}

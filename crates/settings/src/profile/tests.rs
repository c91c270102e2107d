use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};

use super::*;
use crate::{Bytes, Origin, Registry, Setting, Sources, setting};

setting! {
    /// Longest of these.
    static TUNE_MAX: Bytes = Bytes::kib(8);
    range: Bytes::ZERO..=Bytes::kib(64),
    scope: AllEqual,
    level: Tuner,
    tuned: Alone,

    /// Which of these all take.
    static TUNE_WAY: u32 = 0;
    range: 0..=3,
    scope: AllEqual,
    level: Tuner,
    tuned: Together,

    /// What results depend on.
    static TUNE_NEVER: u32 = 0;
    scope: AllEqual,
    level: Tuner,
}

static SETTINGS: &[&dyn Setting] = &[&TUNE_MAX, &TUNE_WAY, &TUNE_NEVER];

pub(super) fn measured(name: &str, value: &str) -> Measured {
    Measured {
        name: name.into(),
        value: value.into(),
        gain: "0.84 of the time, bandwidth".into(),
    }
}

pub(super) fn one(program: Option<&str>) -> Jobs {
    Jobs {
        are_on_several: false,
        program: program.map(str::to_string),
    }
}

fn several() -> Jobs {
    Jobs {
        are_on_several: true,
        program: None,
    }
}

/// One of this machine.
pub(super) fn profile() -> Profile {
    let mut profile = Profile {
        fitness: Fitness::here(),
        ..Profile::default()
    };
    profile.keep(&one(None), vec![measured("TUNE_MAX", "32KiB")]);
    profile.keep(&several(), vec![measured("TUNE_WAY", "2")]);
    profile.keep(&one(Some("stencil")), vec![measured("TUNE_MAX", "4KiB")]);
    profile
}

/// A folder that lasts as long as the test.
pub(super) struct Folder(pub PathBuf);

impl Folder {
    pub fn new(name: &str) -> Folder {
        let name = format!("catena-profile-{name}-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir(&folder).unwrap();
        Folder(folder)
    }

    fn find(&self, name: &str) -> Followed {
        Followed::find(self.0.join(name).to_str(), Job::default())
    }

    /// Why what that file has is not followed.
    fn refusal(&self, name: &str) -> String {
        let found = self.find(name);
        assert_eq!(found.values, [], "{name}");
        let Verdict::Broken(why) = found.verdict else {
            panic!("{name}: {:?}", found.verdict);
        };
        why
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn what_is_written_is_read() {
    let profile = profile();
    assert_eq!(Profile::parse(&profile.text()), Ok(profile));
}

#[test]
fn a_job_has_what_was_measured_for_it() {
    let values = |hosts, program| {
        let job = Job { hosts, program };
        let all = profile().values_for(job).into_iter();
        all.map(|it| format!("{}={}", it.name, it.value))
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(values(Some(1), None), "TUNE_MAX=32KiB");
    assert_eq!(values(Some(2), None), "TUNE_WAY=2");
    assert_eq!(values(Some(1), Some("stencil")), "TUNE_MAX=4KiB");
    assert_eq!(values(Some(1), Some("other")), "TUNE_MAX=32KiB");
    assert_eq!(values(None, None), "TUNE_MAX=32KiB TUNE_WAY=2");
}

#[test]
fn every_beginning_of_a_profile_is_refused() {
    let text = profile().text();
    let whole = text.trim_end().len();
    for at in 0..whole {
        assert!(Profile::parse(&text[..at]).is_err(), "{}", &text[..at]);
    }
    let more = text.clone() + "TUNE_MAX = 1\n";
    assert!(
        Profile::parse(&more)
            .unwrap_err()
            .contains("behind its end")
    );
    let newer = text.replace("format = 1", "format = 2");
    assert_eq!(
        Profile::parse(&newer).unwrap_err(),
        "its format is 2, and not 1"
    );
    let longer: String = (0..=MOST).map(|at| format!("A{at} = 1\n")).collect();
    let longer = text.replace("[one host]\n", &format!("[one host]\n{longer}"));
    assert!(Profile::parse(&longer).unwrap_err().contains("more than"));
}

#[test]
fn what_is_no_profile_is_told_and_not_followed() {
    let folder = Folder::new("broken");
    let path = |name: &str| folder.0.join(name);
    assert!(folder.refusal("absent").contains("cannot be read"));
    fs::write(path("empty"), "").unwrap();
    assert!(folder.refusal("empty").contains("nothing of a profile"));
    fs::write(path("garbage"), [0xff, 0, b'=', b'\n', 7, b'#']).unwrap();
    assert!(!folder.refusal("garbage").is_empty());
    fs::write(path("truncated"), &profile().text()[..200]).unwrap();
    assert!(!folder.refusal("truncated").is_empty());
    // Nothing of it is read, or it would take a while.
    let long = fs::File::create(path("long")).unwrap();
    long.set_len(1 << 30).unwrap();
    assert!(folder.refusal("long").contains("longer than"));
    fs::create_dir(path("folder")).unwrap();
    assert!(folder.refusal("folder").contains("no regular file"));
    rustix::fs::mkfifoat(rustix::fs::CWD, path("pipe"), rustix::fs::Mode::RUSR).unwrap();
    assert!(folder.refusal("pipe").contains("no regular file"));
    symlink("loop", path("loop")).unwrap();
    assert!(folder.refusal("loop").contains("cannot be read"));
    symlink("/dev/zero", path("device")).unwrap();
    assert!(folder.refusal("device").contains("no regular file"));
    // A link to a profile of this user is one.
    fs::write(path("whole"), profile().text()).unwrap();
    symlink("whole", path("link")).unwrap();
    assert_eq!(folder.find("link").verdict, Verdict::Followed);
    fs::set_permissions(path("whole"), fs::Permissions::from_mode(0o666)).unwrap();
    assert!(folder.refusal("link").contains("everybody can write"));
    if !rustix::process::geteuid().is_root() {
        fs::set_permissions(path("whole"), fs::Permissions::from_mode(0o000)).unwrap();
        assert!(folder.refusal("whole").contains("cannot be read"));
    }
}

#[test]
fn a_profile_of_something_else_is_not_followed() {
    let folder = Folder::new("unfit");
    for (field, word) in [
        ("catena", "Catena was "),
        ("processor", "processor was "),
        ("cores", "number of processors was "),
        ("kernel", "kernel was "),
    ] {
        let text = profile().text();
        let lines = text.lines().map(|line| match line.starts_with(field) {
            true => format!("{field} = 9 of another\n"),
            false => format!("{line}\n"),
        });
        fs::write(folder.0.join(field), lines.collect::<String>()).unwrap();
        let found = folder.find(field);
        assert_eq!(found.values, []);
        let Verdict::Unfit(why) = &found.verdict else {
            panic!("{found:?}");
        };
        assert!(why.starts_with(word) && !why.contains(", "), "{why}");
        assert!(
            found
                .words()
                .unwrap()
                .contains("another machine or version")
        );
        let sources = Sources::default().with_profile(found);
        assert_eq!(
            TUNE_MAX.resolve(&sources),
            (Bytes::kib(8), Origin::Default, None)
        );
        // That is no mistake.
        assert_eq!(Registry::default().with(SETTINGS).check_in(&sources), []);
    }
}

#[test]
fn a_profile_counts_less_than_all_else_and_only_where_it_may() {
    let mut profile = profile();
    profile.keep(
        &one(None),
        vec![measured("TUNE_NEVER", "1"), measured("TUNE_NONE", "1")],
    );
    let folder = Folder::new("counts");
    fs::write(folder.0.join("p"), profile.text()).unwrap();
    let found = folder.find("p");
    let alone = Sources::default().with_profile(found.clone());
    assert_eq!(
        TUNE_MAX.resolve(&alone),
        (Bytes::kib(32), Origin::Tuned, None)
    );
    assert_eq!(TUNE_WAY.resolve(&alone).0, 0, "others may not have it");
    assert_eq!(TUNE_NEVER.resolve(&alone).0, 0);
    let warnings = Registry::default().with(SETTINGS).check_in(&alone);
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    let handed = Followed::from_handed(&found.to_handed()).unwrap();
    assert!(handed.is_handed && handed.values == found.values);
    let handed = Sources::default().with_profile(handed);
    assert_eq!(TUNE_WAY.resolve(&handed), (2, Origin::Tuned, None));
    let file = alone.clone().with_file("c.conf", "TUNE_MAX = 1KiB");
    assert_eq!(TUNE_MAX.resolve(&file).1, Origin::File);
    let given = [("CATENA_TUNE_MAX".to_string(), "2KiB".to_string())];
    let given = Sources::from_environment(given).with_profile(found);
    assert_eq!(TUNE_MAX.resolve(&given).1, Origin::Environment);
}

#[test]
fn an_absurd_value_is_told_and_the_default_is_used() {
    let mut profile = profile();
    for value in ["1TiB", "-3", "", "much", "99999999999999999999999"] {
        profile.keep(&one(None), vec![measured("TUNE_MAX", value)]);
        let followed = Followed {
            path: "p".into(),
            verdict: Verdict::Followed,
            values: profile.values_for(Job::default()),
            is_handed: true,
        };
        let sources = Sources::default().with_profile(followed);
        let (found, origin, warning) = TUNE_MAX.resolve(&sources);
        assert_eq!((found, origin), (Bytes::kib(8), Origin::Default), "{value}");
        assert_eq!(warning.unwrap().subject, format!("TUNE_MAX={value} in p"));
    }
}

#[test]
fn what_is_handed_on_comes_back() {
    let all = [
        Verdict::Absent,
        Verdict::Followed,
        Verdict::Unfit("kernel was a and is b".into()),
        Verdict::Broken("its end is missing".into()),
    ];
    for verdict in all {
        let followed = Followed {
            path: "/a b/p".into(),
            verdict,
            values: vec![measured("A", "1")],
            is_handed: true,
        };
        assert_eq!(Followed::from_handed(&followed.to_handed()), Some(followed));
    }
    for text in ["", "x", "p\nodd"] {
        assert_eq!(Followed::from_handed(text), None);
    }
}

#[test]
fn programs_have_names_without_folders() {
    let of = |words: &[&str]| program(words[0].as_ref(), &words[1..]);
    assert_eq!(of(&["/a/b/stencil", "3"]).as_deref(), Some("stencil"));
    assert_eq!(
        of(&["python3", "/x/run.py"]).as_deref(),
        Some("python3 run.py")
    );
    assert_eq!(of(&["python3", "-m", "x"]), None);
    assert_eq!(of(&["sh", "-c", "exec x"]), None);
    assert_eq!(of(&["a]b"]), None);
    assert_eq!(of(&[""]), None);
}

#[test]
fn processors_are_counted_in_lists() {
    assert_eq!(["", "0", "0-3", "0-1,4,8-11\n"].map(count_of), [0, 1, 4, 7]);
    let here = Fitness::here();
    assert_ne!(here.cores, "0");
    assert!(!here.kernel.is_empty() && !here.processor.is_empty());
}

#[test]
fn a_name_that_is_no_text_is_told() {
    let name = OsStr::from_bytes(b"/tmp/\xff");
    let found = Followed::find_named(Some(name), Job::default());
    let problem = found.problem().unwrap();
    assert!(problem.cause.contains("no UTF-8"), "{problem:?}");
    let error = Place::named(Some(name)).unwrap_err();
    assert!(
        error.contains("no UTF-8") && error.contains(PROFILE),
        "{error}"
    );
    assert_eq!(
        Followed::find_named(Some("none".as_ref()), Job::default()),
        Followed::default()
    );
}

/// Under a launcher that says nothing of profiles.
#[test]
fn where_the_number_of_hosts_is_unknown_values_that_differ_do_not_count() {
    let mut profile = Profile::default();
    let both = |max, way| vec![measured("TUNE_MAX", max), measured("TUNE_WAY", way)];
    profile.keep(&one(None), both("32KiB", "1"));
    profile.keep(&several(), both("16KiB", "1"));
    let values = |hosts| {
        let job = Job {
            hosts,
            program: None,
        };
        let values = profile.values_for(job);
        values.into_iter().map(|it| it.value).collect::<Vec<_>>()
    };
    assert_eq!(values(None), ["1"]);
    assert_eq!(values(Some(1)), ["32KiB", "1"]);
    assert_eq!(values(Some(2)), ["16KiB", "1"]);
}

/// A rank that was given another value than its launcher's profile has, be it the default, is told
/// from the others.
#[test]
fn what_a_job_has_of_its_profile_must_be_equal() {
    let registry = Registry::new(SETTINGS.to_vec());
    let handed = "/p\nfollowed\nTUNE_WAY = 2 # 0.9\nTUNE_MAX = 4KiB # 0.9";
    let handed = Followed::from_handed(handed).unwrap();
    let sources = Sources::default().with_profile(handed);
    assert_eq!(registry.equal_in_job(&sources), "TUNE_WAY=0\n");
    assert_eq!(registry.equal_in_job(&Sources::default()), "");
    assert_eq!(registry.equal(), "");
}

//! Which build of a library figures are of: a digest of its shared object and of the measuring
//! program, kept with each variant, so that figures of two builds are never taken for those of one.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::raw::{Launch, Plan, Run, Variant};
use crate::show;

/// The shared objects of a library under its prefix; of these the first that is there.
const OBJECTS: [&str; 3] = [
    "lib/libmpi_abi.so.1",
    "lib/libmpi.so.40",
    "lib/libmpi.so.12",
];

/// What tells this build of a library and of the measuring program from any other; empty if neither
/// can be read.
pub fn digest(prefix: &Path, program: &Path) -> String {
    let objects = OBJECTS.iter().map(|name| prefix.join(name));
    let object = objects.into_iter().find_map(|path| fs::read(path).ok());
    match (object, fs::read(program).ok()) {
        (None, None) => String::new(),
        (object, program) => {
            let object = hash(SEED, &object.unwrap_or_default());
            format!("{:016x}", hash(object, &program.unwrap_or_default()))
        }
    }
}

const SEED: u64 = 0xcbf2_9ce4_8422_2325;

/// FNV-1a of 64 bits, over words of eight bytes and what is left: it has to tell builds apart, and
/// nobody forges them.
fn hash(seed: u64, bytes: &[u8]) -> u64 {
    const PRIME: u64 = 0x100_0000_01b3;
    let mix = |hash: u64, word: u64| {
        let hash = (hash ^ word).wrapping_mul(PRIME);
        hash ^ (hash >> 32)
    };
    let (words, rest) = bytes.as_chunks::<8>();
    let hash = words
        .iter()
        .fold(seed, |hash, word| mix(hash, u64::from_le_bytes(*word)));
    let hash = rest
        .iter()
        .fold(hash, |hash, byte| mix(hash, u64::from(*byte)));
    mix(hash, bytes.len() as u64)
}

/// The digests of the builds that figures are of, by the label of the session and the name of the
/// variant; what a file does not tell, as older ones, is not among them.
pub type Builds = BTreeMap<(String, String), BTreeSet<String>>;

/// Every build of every variant whose figures a run has: what the first lines of its files name,
/// and what later launches were of (`--rebuilt`).
pub fn of(run: &Run) -> Builds {
    // What the first line names counts unless all launches were of other builds.
    let counts = |session: usize, name: &str| {
        let of =
            |l: &&Launch| l.session == session && run.plan.variants[l.begin.variant].name == name;
        let mut launches = run.launches.iter().filter(of).peekable();
        launches.peek().is_none() || launches.any(|l| l.begin.digest.is_empty())
    };
    let sessions = run.sessions.iter().enumerate();
    let named = sessions.flat_map(|(number, session)| {
        let label = &session.plan.label;
        let variants = session.plan.variants.iter();
        let counting = variants.filter(move |v| counts(number, &v.name));
        counting.map(move |v| (label, &v.name, &v.digest))
    });
    let launched = run.launches.iter().map(|launch| {
        let begin = &launch.begin;
        let name = &run.plan.variants[begin.variant].name;
        (&begin.place.label, name, &begin.digest)
    });
    let mut builds = Builds::new();
    for (label, name, digest) in named.chain(launched).filter(|(_, _, d)| !d.is_empty()) {
        let known = builds.entry((label.clone(), name.clone())).or_default();
        known.insert(digest.clone());
    }
    builds
}

/// The builds that variants are of now, in their order.
pub fn now(plan: &Plan) -> Vec<String> {
    let variants = plan.variants.iter();
    variants.map(|v| digest(&v.prefix, &v.program)).collect()
}

/// Refuses to measure on where a library is another build by now than that which the file's first
/// line names; `now`: see [`now`].
///
/// # Errors
/// In words: which library, and what to do.
pub fn unchanged(plan: &Plan, now: &[String]) -> Result<(), String> {
    for (variant, now) in plan.variants.iter().zip(now) {
        if ![variant.digest.as_str(), now].contains(&"") && variant.digest != *now {
            return Err(refusal(&variant.name, &variant.digest, now));
        }
    }
    Ok(())
}

/// Refuses to take figures of `more` together with those of `known`, of what has one label and one
/// name, unless all are of one build.
///
/// # Errors
/// In words: which library, and what to do.
pub fn together(known: &Builds, more: &Builds) -> Result<(), String> {
    for (key, more) in more {
        let known = known.get(key).into_iter().flatten();
        let pairs = known.flat_map(|before| more.iter().map(move |now| (before, now)));
        for (before, now) in pairs {
            if before != now {
                return Err(refusal(&key.1, before, now));
            }
        }
    }
    Ok(())
}

/// Refuses to measure `variants` unless they are among the builds that figures of `run` are of,
/// whatever its label; `rebuilt`: only says what differs.
///
/// # Errors
/// In words, also if the run has none of these libraries, so that nothing is known of any.
pub fn among(run: &Run, variants: &[Variant], rebuilt: bool) -> Result<(), String> {
    let builds = of(run);
    if !variants
        .iter()
        .any(|v| run.plan.variants.iter().any(|known| known.name == v.name))
    {
        return Err("it has figures of none of the libraries that are to be measured".into());
    }
    for variant in variants.iter().filter(|v| !v.digest.is_empty()) {
        let of_name = builds.iter().filter(|((_, name), _)| *name == variant.name);
        let known: BTreeSet<&String> = of_name.flat_map(|(_, digests)| digests).collect();
        if let Some(before) = known.first()
            && !known.contains(&variant.digest)
        {
            let why = refusal(&variant.name, before, &variant.digest);
            if !rebuilt {
                return Err(why);
            }
            show::tell(format_args!("catena bench: {why}\n"));
        }
    }
    Ok(())
}

/// Why figures of two builds are not taken together.
fn refusal(name: &str, before: &str, now: &str) -> String {
    format!(
        "{name} is not the build that was measured before (digest {before} then, {now} now): \
         figures of the two would be taken for those of one. Measure anew into another file, or \
         give each its name by --lib; --rebuilt takes them together all the same"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::raw::tests::header;

    #[test]
    fn a_rebuilt_library_is_refused() {
        let place = std::env::temp_dir().join(format!("catena-builds-{}", std::process::id()));
        fs::create_dir_all(place.join("lib")).unwrap();
        let object = place.join("lib/libmpi_abi.so.1");
        let program = place.join("bench");
        let write = |path: &Path, text: &str| fs::write(path, text).unwrap();
        write(&object, "the first build");
        write(&program, "a program");
        let mut plan = header(&["a"]).plan;
        let variant = &mut plan.variants[0];
        (variant.prefix, variant.program) = (place.clone(), program.clone());
        let check = |plan: &Plan| unchanged(plan, &now(plan));
        assert_eq!(check(&plan), Ok(()), "files of before tell nothing");
        plan.variants[0].digest = digest(&place, &program);
        assert_eq!(check(&plan), Ok(()));
        write(&object, "the other build");
        let why = check(&plan).unwrap_err();
        assert!(
            why.starts_with("a is not the build") && why.contains("--rebuilt"),
            "{why}"
        );
        write(&object, "the first build");
        write(&program, "b program");
        assert!(check(&plan).is_err());
        fs::remove_dir_all(&place).unwrap();
        assert_eq!(digest(&place, &program), "");
    }

    #[test]
    fn libraries_are_those_of_a_file() {
        let run = |digest: &str| {
            let mut header = header(&["a", "b"]);
            header.plan.variants[0].digest = digest.into();
            Run::of(header, Vec::new())
        };
        let variant = |name: &str, digest: &str| Variant {
            name: name.into(),
            digest: digest.into(),
            ..Variant::default()
        };
        assert_eq!(among(&run("1"), &[variant("a", "1")], false), Ok(()));
        let why = among(&run("1"), &[variant("a", "2")], false).unwrap_err();
        assert!(why.contains("digest 1 then, 2 now"), "{why}");
        assert_eq!(among(&run("1"), &[variant("a", "2")], true), Ok(()));
        assert_eq!(among(&run(""), &[variant("a", "2")], false), Ok(()));
        assert_eq!(
            among(&run("1"), &[variant("b", "2"), variant("c", "3")], false),
            Ok(())
        );
        for rebuilt in [false, true] {
            let why = among(&run("1"), &[variant("c", "1")], rebuilt).unwrap_err();
            assert!(why.contains("none of the libraries"), "{why}");
        }
        // Launches of another build, as --rebuilt leaves them.
        let mut mixed = run("1");
        mixed.launches.push(crate::raw::Launch::default());
        let builds = |run: &Run| of(run)[&(String::new(), "a".to_string())].len();
        mixed.launches[0].begin.digest = "2".into();
        assert_eq!(builds(&mixed), 1, "none is of what the first line names");
        mixed.launches.push(crate::raw::Launch::default());
        assert_eq!(among(&mixed, &[variant("a", "2")], false), Ok(()));
        assert_eq!(builds(&mixed), 2);
    }

    #[test]
    fn digests_tell_bytes_apart_wherever_they_are() {
        let bytes: Vec<u8> = (0..100).collect();
        let whole = hash(SEED, &bytes);
        for at in 0..bytes.len() {
            let mut other = bytes.clone();
            other[at] ^= 1;
            assert_ne!(hash(SEED, &other), whole, "byte {at}");
        }
        assert_ne!(hash(SEED, &[0; 8]), hash(SEED, &[0; 16]));
        assert_ne!(hash(SEED, b""), hash(SEED, b"\0"));
    }
}

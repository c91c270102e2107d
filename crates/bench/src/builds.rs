//! Which build of a library figures are of: a digest of its shared object and of the measuring program, kept with each
//! variant, so that figures of two builds are never taken for those of one.

use std::fs;
use std::path::Path;

use crate::raw::{Plan, Variant};

/// The shared objects of a library under its prefix; of these the first that is there.
const OBJECTS: [&str; 3] = [
    "lib/libmpi_abi.so.1",
    "lib/libmpi.so.40",
    "lib/libmpi.so.12",
];

/// What tells this build of a library and of the measuring program from any other; empty if neither can be read.
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

/// FNV-1a of 64 bits, over words of eight bytes and what is left: it has to tell builds apart, and nobody forges them.
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

/// Whether figures of both may be of one build: where a file does not tell, as older ones, they may.
pub fn may_be_one(a: &Variant, b: &Variant) -> bool {
    a.digest == b.digest || a.digest.is_empty() || b.digest.is_empty()
}

/// Refuses to measure on where a library is another build by now than that whose figures a file has.
///
/// # Errors
/// In words: which library, and what to do.
pub fn unchanged(plan: &Plan) -> Result<(), String> {
    for variant in &plan.variants {
        let now = Variant {
            digest: digest(&variant.prefix, &variant.program),
            ..variant.clone()
        };
        if !may_be_one(variant, &now) {
            return Err(refusal(variant, &now));
        }
    }
    Ok(())
}

/// Refuses to measure something else than what `others` have measured, of those with one name.
///
/// # Errors
/// In words: which library, and what to do.
pub fn same(others: &[Variant], variants: &[Variant]) -> Result<(), String> {
    for variant in variants {
        let other = others.iter().find(|other| other.name == variant.name);
        if let Some(other) = other.filter(|other| !may_be_one(other, variant)) {
            return Err(refusal(other, variant));
        }
    }
    Ok(())
}

/// Why figures of two builds are not taken together.
pub fn refusal(before: &Variant, now: &Variant) -> String {
    format!(
        "{} is not the build that was measured before (digest {} then, {} now): figures of the two would be taken for those \
         of one. Measure anew into another file, or give each its name by --lib; --rebuilt takes them together all the same",
        now.name, before.digest, now.digest
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
        assert_eq!(unchanged(&plan), Ok(()), "files of before tell nothing");
        plan.variants[0].digest = digest(&place, &program);
        assert_eq!(unchanged(&plan), Ok(()));
        write(&object, "the other build");
        let why = unchanged(&plan).unwrap_err();
        assert!(
            why.starts_with("a is not the build") && why.contains("--rebuilt"),
            "{why}"
        );
        assert!(same(&plan.variants, &plan.variants).is_ok());
        let mut other = plan.variants.clone();
        other[0].digest = digest(&place, &program);
        assert!(same(&plan.variants, &other).is_err());
        other[0].name = "b".into();
        assert!(same(&plan.variants, &other).is_ok());
        write(&object, "the first build");
        write(&program, "b program");
        assert!(unchanged(&plan).is_err());
        fs::remove_dir_all(&place).unwrap();
        assert_eq!(digest(&place, &program), "");
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

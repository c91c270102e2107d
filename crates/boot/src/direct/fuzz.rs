//! Targets for fuzzing: see [`crate::fuzz`].

use std::collections::HashMap;

use super::card::{self, Card};
use super::manager::MAX_SIZE;
use super::pmi1::Pmi1;
use super::pmi2::Pmi2;
use super::{About, Manager, mapping, parts};
use crate::BootError;
use crate::fuzz::check_job;

type Env<'a> = &'a dyn Fn(&str) -> Option<String>;

/// What every process manager must have told once it is connected.
fn check(manager: Result<impl Manager, BootError>) {
    let Ok(mut manager) = manager else { return };
    let about = manager.about();
    assert!(about.rank < about.size && about.size <= MAX_SIZE);
    if let Some(nodes) = &about.nodes {
        assert_eq!(nodes.len(), about.size as usize);
    }
    let _ = manager.put("key", b"value");
    if manager.begin_fence().is_ok() {
        let _ = manager.fence_done(true);
    }
    let _ = manager.get(0, "key");
    let _ = manager.depart();
}

/// Connects by PMI-1, over the socket that `PMI_FD` in `env` names.
pub fn pmi1(env: Env<'_>) {
    check(Pmi1::connect(env));
}

/// Connects by PMI-2, over the socket that `PMI_FD` in `env` names.
pub fn pmi2(env: Env<'_>) {
    check(Pmi2::connect(env));
}

/// The value of `PMI_process_mapping`: the first byte is the number of ranks.
pub fn mapping(data: &[u8]) {
    let Some((&size, text)) = data.split_first() else {
        return;
    };
    if let Some(nodes) = mapping::nodes(&String::from_utf8_lossy(text), size.into()) {
        assert_eq!(nodes.len(), usize::from(size));
    }
}

/// What two ranks tell of themselves, and the job that follows.
pub fn card(data: &[u8]) {
    let half = data.iter().position(|&b| b == 0).unwrap_or(data.len());
    let (one, two) = data.split_at(half);
    let one = Card::parse(one);
    let two = Card::parse(two.get(1..).unwrap_or_default()).or_else(|| one.clone());
    let (Some(one), Some(two)) = (one, two) else {
        return;
    };
    for card in [&one, &two] {
        assert_eq!(Card::parse(card.to_text().as_bytes()).as_ref(), Some(card));
    }
    let about = About::new(1, 2).expect("rank 1 of 2");
    check_job(&card::job(&about, &[one, two]));
}

/// A value that comes in parts, which are lines here.
pub fn parts(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let lines: Vec<&str> = text.split('\n').collect();
    let get = |key: &str| {
        let at = key.strip_prefix("k-").expect("a part of k");
        let at = usize::from_str_radix(at, 16).expect("a number");
        Ok(lines.get(at).map(|line| line.to_string()))
    };
    let Ok(Some(value)) = parts::join("k", get) else {
        return;
    };
    assert!(2 * value.len() < data.len());
    let limit = 10 + data.len() % 50;
    let kept: HashMap<_, _> = parts::split("k", &value, limit).into_iter().collect();
    let back = parts::join("k", |key| Ok(kept.get(key).cloned()));
    assert_eq!(back.ok().flatten(), Some(value));
}

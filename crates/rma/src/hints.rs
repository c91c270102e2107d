//! Hints of windows (MPI-5, chapter 12.2.1 and on), each with its default.

use std::sync::Arc;

use catena_objects::error::Result;
use catena_objects::fail;
use catena_objects::info::Info;

/// What `accumulate_ordering` may name, in the order in which it is told.
const ORDERS: [&str; 4] = ["rar", "raw", "war", "waw"];

/// The hints of a window.
#[derive(Clone, Debug)]
pub struct Hints {
    /// Nobody locks, as the program promises; whoever does gets a lock all the same.
    pub no_locks: bool,
    /// What order accumulates keep; all is kept, whatever it says.
    accumulate_ordering: String,
    accumulate_ops: String,
    granularity: String,
    same_size: bool,
    same_disp_unit: bool,
    /// Each member's part of a shared window lies by itself.
    pub noncontiguous: bool,
}

impl Default for Hints {
    fn default() -> Self {
        Hints {
            no_locks: false,
            accumulate_ordering: ORDERS.join(","),
            accumulate_ops: "same_op_no_op".to_owned(),
            granularity: "0".to_owned(),
            same_size: false,
            same_disp_unit: false,
            noncontiguous: false,
        }
    }
}

fn truth(info: &Info, key: &str, old: bool) -> Result<bool> {
    match info.hint(key).as_deref().map(str::trim) {
        None => Ok(old),
        Some("true" | "1" | "yes") => Ok(true),
        Some("false" | "0" | "no") => Ok(false),
        Some(other) => fail!(InfoValue, "{key} is '{other}': it must be true or false"),
    }
}

impl Hints {
    /// These hints, changed by what an info object says. Keys that no window has are passed over.
    ///
    /// # Errors
    /// `InfoValue` for a value that its key does not allow.
    pub fn with(&self, info: &Info) -> Result<Hints> {
        let mut new = self.clone();
        new.no_locks = truth(info, "no_locks", self.no_locks)?;
        new.same_size = truth(info, "same_size", self.same_size)?;
        new.same_disp_unit = truth(info, "same_disp_unit", self.same_disp_unit)?;
        new.noncontiguous = truth(info, "alloc_shared_noncontig", self.noncontiguous)?;
        if let Some(orders) = info.hint("accumulate_ordering") {
            let mut named = orders.split(',').map(str::trim);
            if orders.trim() != "none" && !named.all(|it| ORDERS.contains(&it)) {
                fail!(
                    InfoValue,
                    "accumulate_ordering is '{orders}': it must be 'none', or some of {} with \
                     commas",
                    ORDERS.join(", ")
                );
            }
            new.accumulate_ordering = orders;
        }
        if let Some(ops) = info.hint("accumulate_ops") {
            if !["same_op", "same_op_no_op"].contains(&ops.as_str()) {
                fail!(
                    InfoValue,
                    "accumulate_ops is '{ops}': it must be same_op or same_op_no_op"
                );
            }
            new.accumulate_ops = ops;
        }
        if let Some(bytes) = info.hint("mpi_accumulate_granularity") {
            if bytes.parse::<u64>().is_err() {
                fail!(
                    InfoValue,
                    "mpi_accumulate_granularity is '{bytes}': it must be a number of bytes"
                );
            }
            new.granularity = bytes;
        }
        Ok(new)
    }

    /// All of them with their values.
    pub fn info(&self, is_shared: bool) -> Arc<Info> {
        let truth = |it: bool| it.to_string();
        let mut pairs = vec![
            ("no_locks", truth(self.no_locks)),
            ("accumulate_ordering", self.accumulate_ordering.clone()),
            ("accumulate_ops", self.accumulate_ops.clone()),
            ("mpi_accumulate_granularity", self.granularity.clone()),
            ("same_size", truth(self.same_size)),
            ("same_disp_unit", truth(self.same_disp_unit)),
        ];
        if is_shared {
            pairs.push(("alloc_shared_noncontig", truth(self.noncontiguous)));
        }
        Info::from_pairs(pairs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_hint_has_a_default_and_bad_values_are_refused() {
        let defaults = Hints::default().info(true);
        assert_eq!(defaults.len(), 7);
        assert_eq!(defaults.hint("no_locks").as_deref(), Some("false"));
        let given = [
            ("no_locks", "true"),
            ("accumulate_ordering", "rar,war"),
            ("unknown", "x"),
        ];
        let hints = Hints::default().with(&Info::from_pairs(given)).unwrap();
        assert!(hints.no_locks);
        let told = hints.info(false);
        assert_eq!(told.hint("accumulate_ordering").as_deref(), Some("rar,war"));
        assert!(told.get("unknown").is_none() && told.get("alloc_shared_noncontig").is_none());
        for (key, value) in [
            ("no_locks", "maybe"),
            ("accumulate_ordering", "rar,xyz"),
            ("accumulate_ops", "any"),
            ("mpi_accumulate_granularity", "-1"),
        ] {
            let info = Info::from_pairs([(key, value)]);
            assert!(Hints::default().with(&info).is_err(), "{key}");
        }
    }
}

//! Hints of files: the standard's reserved ones (MPI-5, chapter 14.2.8), and those of ROMIO that
//! programs set.

use std::sync::Arc;

use catena_objects::error::Result;
use catena_objects::fail;
use catena_objects::info::Info;

use crate::driver::{Direction, Fault};

/// When something is done: always, never, or where it pays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// Always.
    Enable,
    /// Never.
    Disable,
    /// Where it pays.
    Automatic,
}

impl Choice {
    const fn name(self) -> &'static str {
        match self {
            Choice::Enable => "enable",
            Choice::Disable => "disable",
            Choice::Automatic => "automatic",
        }
    }
}

/// The hints of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hints {
    /// How the file is used, as the program says.
    pub access_style: Option<String>,
    /// Whether collective calls gather before they write.
    pub collective_buffering: bool,
    /// Bytes that an aggregator has at most besides the program's memory.
    pub cb_buffer_size: u64,
    /// Bytes that an aggregator takes from the file at a time.
    pub cb_block_size: u64,
    /// How many aggregators there are at most; 0 for as many as pay.
    pub cb_nodes: u32,
    /// Whether collective reads use aggregators.
    pub cb_read: Choice,
    /// Whether collective writes use aggregators.
    pub cb_write: Choice,
    /// Whether independent reads fetch what lies between the pieces.
    pub ds_read: Choice,
    /// Whether independent writes store short pieces through maps.
    pub ds_write: Choice,
    /// Bytes that an independent read fetches at once for that.
    pub read_buffer_size: u64,
    /// Bytes of the file that an independent write maps at once for that.
    pub write_buffer_size: u64,
    /// No independent access will come: all but the lowest member open the file when they first use
    /// it, and collective calls exchange, so that aggregators alone do.
    pub no_independent: bool,
    /// Permissions of a file that is made.
    pub permissions: u32,
    /// On how many devices a file that is made lies; 0 for what the file system thinks.
    pub striping_factor: u64,
    /// Bytes on one of them before the next; 0 for what the file system thinks.
    pub striping_unit: u64,
    /// What goes wrong, for tests.
    pub(crate) faults: Vec<Fault>,
}

impl Default for Hints {
    fn default() -> Self {
        Hints {
            access_style: None,
            collective_buffering: true,
            cb_buffer_size: 16 << 20,
            cb_block_size: 1 << 20,
            cb_nodes: 0,
            cb_read: Choice::Automatic,
            cb_write: Choice::Automatic,
            ds_read: Choice::Automatic,
            ds_write: Choice::Automatic,
            read_buffer_size: 512 << 10,
            write_buffer_size: 512 << 10,
            no_independent: false,
            permissions: 0o666,
            striping_factor: 0,
            striping_unit: 0,
            faults: Vec::new(),
        }
    }
}

/// What access styles there are.
const STYLES: [&str; 7] = [
    "read_once",
    "write_once",
    "read_mostly",
    "write_mostly",
    "sequential",
    "reverse_sequential",
    "random",
];

/// The value of a key as a number from `least` on, or `old`.
fn number(info: &Info, key: &str, least: u64, old: u64) -> Result<u64> {
    let Some(text) = info.hint(key) else {
        return Ok(old);
    };
    match text.trim().parse::<u64>() {
        Ok(n) if n >= least && i64::try_from(n).is_ok() => Ok(n),
        _ => fail!(
            InfoValue,
            "{key} is '{text}': it must be a number from {least} on"
        ),
    }
}

fn choice(info: &Info, key: &str, old: Choice) -> Result<Choice> {
    let Some(text) = info.hint(key) else {
        return Ok(old);
    };
    match text.trim().to_ascii_lowercase().as_str() {
        "enable" | "true" => Ok(Choice::Enable),
        "disable" | "false" => Ok(Choice::Disable),
        "automatic" => Ok(Choice::Automatic),
        _ => fail!(
            InfoValue,
            "{key} is '{text}': it must be enable, disable or automatic"
        ),
    }
}

fn truth(info: &Info, key: &str, old: bool) -> Result<bool> {
    let Some(text) = info.hint(key) else {
        return Ok(old);
    };
    match text.trim().to_ascii_lowercase().as_str() {
        "true" | "yes" | "1" => Ok(true),
        "false" | "no" | "0" => Ok(false),
        _ => fail!(InfoValue, "{key} is '{text}': it must be true or false"),
    }
}

impl Hints {
    /// These hints, changed by what an info object says. Keys that no file has are passed over.
    ///
    /// # Errors
    /// `InfoValue` for a value that its key does not allow.
    pub fn with(&self, info: &Info) -> Result<Hints> {
        let mut new = self.clone();
        if let Some(style) = info.hint("access_style") {
            if !style.split(',').all(|it| STYLES.contains(&it.trim())) {
                fail!(
                    InfoValue,
                    "access_style is '{style}': it must be some of {} with commas",
                    STYLES.join(", ")
                );
            }
            new.access_style = Some(style);
        }
        new.collective_buffering = truth(info, "collective_buffering", new.collective_buffering)?;
        new.cb_buffer_size = number(info, "cb_buffer_size", 1, new.cb_buffer_size)?;
        new.cb_block_size = number(info, "cb_block_size", 1, new.cb_block_size)?;
        new.cb_nodes = number(info, "cb_nodes", 0, new.cb_nodes.into())?
            .try_into()
            .unwrap_or(u32::MAX);
        new.cb_read = choice(info, "romio_cb_read", new.cb_read)?;
        new.cb_write = choice(info, "romio_cb_write", new.cb_write)?;
        new.ds_read = choice(info, "romio_ds_read", new.ds_read)?;
        new.ds_write = choice(info, "romio_ds_write", new.ds_write)?;
        new.read_buffer_size = number(info, "ind_rd_buffer_size", 1, new.read_buffer_size)?;
        new.write_buffer_size = number(info, "ind_wr_buffer_size", 1, new.write_buffer_size)?;
        new.no_independent = truth(info, "romio_no_indep_rw", new.no_independent)?;
        new.striping_factor = number(info, "striping_factor", 0, new.striping_factor)?;
        new.striping_unit = number(info, "striping_unit", 0, new.striping_unit)?;
        if let Some(text) = info.hint("file_perm") {
            match u32::from_str_radix(text.trim(), 8) {
                Ok(mode @ 0..=0o7777) => new.permissions = mode,
                _ => fail!(
                    InfoValue,
                    "file_perm is '{text}': it must be permissions in octal, as 644"
                ),
            }
        }
        if let Some(text) = info.hint("catena_io_faults") {
            match Fault::parse(&text) {
                Ok(faults) => new.faults = faults,
                Err(word) => fail!(
                    InfoValue,
                    "catena_io_faults has '{word}': it takes short=N, eintr, enospc=OFFSET, \
                     edquot=OFFSET, eio=OFFSET"
                ),
            }
        }
        Ok(new)
    }

    /// Bytes of a window of the file that an independent transfer of short pieces takes at once; 0
    /// for none.
    pub fn window(&self, direction: Direction) -> u64 {
        let (choice, bytes) = match direction {
            Direction::Read => (self.ds_read, self.read_buffer_size),
            Direction::Write => (self.ds_write, self.write_buffer_size),
        };
        match choice {
            Choice::Disable => 0,
            _ => bytes,
        }
    }

    /// All of them with their values.
    pub fn info(&self) -> Arc<Info> {
        let truth = |it: bool| it.to_string();
        let mut pairs = vec![
            ("collective_buffering", truth(self.collective_buffering)),
            ("cb_block_size", self.cb_block_size.to_string()),
            ("cb_buffer_size", self.cb_buffer_size.to_string()),
            ("file_perm", format!("{:o}", self.permissions)),
            ("romio_cb_read", self.cb_read.name().to_owned()),
            ("romio_cb_write", self.cb_write.name().to_owned()),
            ("romio_ds_read", self.ds_read.name().to_owned()),
            ("romio_ds_write", self.ds_write.name().to_owned()),
            ("ind_rd_buffer_size", self.read_buffer_size.to_string()),
            ("ind_wr_buffer_size", self.write_buffer_size.to_string()),
            ("romio_no_indep_rw", truth(self.no_independent)),
            // What one member has written the others read; no client of Catena keeps data back.
            ("romio_visibility_immediate", truth(true)),
        ];
        if let Some(style) = &self.access_style {
            pairs.push(("access_style", style.clone()));
        }
        for (key, value) in [
            ("cb_nodes", u64::from(self.cb_nodes)),
            ("striping_factor", self.striping_factor),
            ("striping_unit", self.striping_unit),
        ] {
            if value != 0 {
                pairs.push((key, value.to_string()));
            }
        }
        Info::from_pairs(pairs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_set_is_told_and_bad_values_are_refused() {
        let given = [
            ("cb_nodes", "2"),
            ("romio_cb_write", "enable"),
            ("file_perm", "600"),
            ("access_style", "read_once,sequential"),
            ("unknown", "x"),
        ];
        let hints = Hints::default().with(&Info::from_pairs(given)).unwrap();
        assert_eq!((hints.cb_nodes, hints.permissions), (2, 0o600));
        let told = hints.info();
        for (key, value) in &given[..4] {
            assert_eq!(told.hint(key).as_deref(), Some(*value));
        }
        assert!(told.get("unknown").is_none());
        let visible = told.hint("romio_visibility_immediate");
        assert_eq!(visible.as_deref(), Some("true"));
        for (key, value) in [
            ("cb_nodes", "-2"),
            ("cb_buffer_size", "-1"),
            ("romio_cb_read", "maybe"),
            ("file_perm", "8"),
            ("access_style", "wild"),
            ("collective_buffering", "2"),
            ("catena_io_faults", "short=0"),
        ] {
            let info = Info::from_pairs([(key, value)]);
            assert!(Hints::default().with(&info).is_err(), "{key}");
        }
    }
}

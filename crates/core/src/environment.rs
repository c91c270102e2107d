//! `MPI_INFO_ENV` (MPI-5, chapter 11.2.2).

use std::os::unix::ffi::OsStringExt;
use std::sync::{Arc, OnceLock};

use catena_objects::errhandler::INITIAL_ERRHANDLER;
use catena_objects::info::{Info, MAX_VALUE, Pair, fitting};
use catena_settings::Value;

use crate::memory_kinds::{MEMORY_ALLOC_KINDS, MEMORY_KINDS};

/// How many processes the job has, once that is known.
static JOB_SIZE: OnceLock<u32> = OnceLock::new();

/// The process has come up in a job of that many.
pub(crate) fn note_job_size(size: u32) {
    let _ = JOB_SIZE.set(size);
}

/// `MPI_INFO_ENV` (MPI-5, 11.2.2): what is known of how the program was
/// started.
pub fn info_env() -> Arc<Info> {
    static ENV: OnceLock<Vec<Pair>> = OnceLock::new();
    let pairs = ENV.get_or_init(|| {
        let mut args = std::env::args_os().map(OsStringExt::into_vec);
        let mut pairs = Vec::new();
        let mut push = |key: &str, value: Vec<u8>| pairs.push((key.into(), clip(value)));
        if let Some(command) = args.next() {
            push("command", command);
        }
        push("argv", args.collect::<Vec<_>>().join(&b' '));
        if let Some(size) = JOB_SIZE.get() {
            push("maxprocs", size.to_string().into());
        }
        if let Ok(dir) = std::env::current_dir() {
            push("wdir", dir.into_os_string().into_vec());
        }
        push("arch", std::env::consts::ARCH.into());
        push("thread_level", "MPI_THREAD_MULTIPLE".into());
        push(
            "mpi_initial_errhandler",
            INITIAL_ERRHANDLER.get().show().into(),
        );
        let kinds = MEMORY_ALLOC_KINDS.get();
        if !kinds.is_empty() {
            push(MEMORY_KINDS, kinds.as_bytes().into());
        }
        pairs
    });

    Info::from_pairs(pairs.clone())
}

/// Shortens a string to what an info value may have.
pub fn clip(mut s: Vec<u8>) -> Vec<u8> {
    s.truncate(fitting(&s, MAX_VALUE));
    s
}

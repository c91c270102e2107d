//! A launcher does not outlive this command, however that ends: it is started through this very
//! program, which asks the kernel for that and then becomes the launcher.

use std::env;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::process::{Signal, getpid, getppid, set_parent_process_death_signal};

/// The first word after `catena bench`, followed by the process that starts it and the command.
pub const WORD: &str = "--guarded-by";

/// The words before the command; none if it cannot be told where this program is.
pub fn words() -> Vec<String> {
    let exe = env::current_exe().ok();
    let exe = exe.and_then(|exe| exe.into_os_string().into_string().ok());
    let pid = getpid().as_raw_nonzero().to_string();
    exe.map_or_else(Vec::new, |exe| vec![exe, "bench".into(), WORD.into(), pid])
}

/// Becomes the command of `words`, the process that starts it before it.
///
/// # Errors
/// In words; it does not return otherwise.
pub fn start(words: &[OsString]) -> Result<i32, String> {
    let [parent, command, args @ ..] = words else {
        return Err(format!("{WORD} needs a process and a command"));
    };
    set_parent_process_death_signal(Some(Signal::TERM)).map_err(|e| e.to_string())?;
    let now = getppid().map(|pid| pid.as_raw_nonzero().to_string());
    if now.as_deref() != parent.to_str() {
        return Err("who started this is gone".into());
    }
    let why = Command::new(command).args(args).exec();
    Err(format!("{} cannot be started: {why}", command.display()))
}

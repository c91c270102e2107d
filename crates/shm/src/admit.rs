//! Leave for others to read and write this process's memory.
//!
//! Linux lets any process of the same user do so, unless Yama, a security
//! module, restricts that to ancestors (`kernel.yama.ptrace_scope` is 1, the
//! default of some distributions). A process can then name one other, which may
//! do so with all of *its* descendants (`PR_SET_PTRACER` in prctl(2), and Yama in the
//! kernel's Documentation/admin-guide/LSM). That is as long as the process lives,
//! as a neighbour may have a message to read at any time. The process that started all
//! ranks of the node is an ancestor of every rank and, as a rule, of nothing else.

use std::{fs, io};

use crate::settings::{SHM_SINGLE_COPY, SingleCopy};

/// Where Yama tells what it restricts.
const SCOPE: &str = "/proc/sys/kernel/yama/ptrace_scope";

/// Lets the other ranks of the node at the memory of this process, where that
/// takes a word. `ancestor` is a process of which all of them are descendants;
/// without one all processes of the user are let in, as the kernel knows nothing
/// between. To be called before [`Shm::attach`](crate::Shm::attach), by a
/// process that is not the only one of its job on the node.
pub fn admit(ancestor: Option<u32>) {
    if SHM_SINGLE_COPY.get() == SingleCopy::Never {
        return;
    }
    let scope = fs::read_to_string(SCOPE);
    if let Some(tracer) = tracer(&scope, ancestor) {
        // Refused if the ancestor has just ended; then messages are streamed.
        // SAFETY: plain numbers.
        unsafe { libc::prctl(libc::PR_SET_PTRACER, tracer, 0, 0, 0) };
    }
}

/// Whom to name; `None` if that is not needed, or of no use.
fn tracer(scope: &io::Result<String>, ancestor: Option<u32>) -> Option<libc::c_ulong> {
    let restricted = scope.as_ref().is_ok_and(|scope| scope.trim() == "1");
    restricted.then(|| ancestor.map_or(libc::PR_SET_PTRACER_ANY, libc::c_ulong::from))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_let_in_but_where_it_is_needed() {
        let scope = |text: &str| Ok(text.to_string());
        assert_eq!(tracer(&scope("1\n"), Some(7)), Some(7));
        assert_eq!(tracer(&scope("1\n"), None), Some(libc::PR_SET_PTRACER_ANY));
        for free in ["0\n", "2\n", "3\n", ""] {
            assert_eq!(tracer(&scope(free), None), None, "{free:?}");
        }
        assert_eq!(tracer(&Err(io::ErrorKind::NotFound.into()), None), None);
    }
}

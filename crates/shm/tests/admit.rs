//! Who may read a process that has let in the others of its node.

use std::fs;
use std::io::{self, PipeReader, PipeWriter, Read, Write};

/// What the process that is read has at an address that it tells.
const WORD: u64 = 0x6361_7465_6e61;

/// A process of its own, no longer root, that does `act` and ends.
fn child(act: impl FnOnce()) -> i32 {
    // SAFETY: the child uses only what it made itself or nobody else uses, and
    // leaves by _exit.
    unsafe {
        match libc::fork() {
            -1 => panic!("fork: {}", io::Error::last_os_error()),
            0 => {
                if libc::geteuid() == 0 {
                    assert_eq!(libc::setresuid(65_534, 65_534, 65_534), 0);
                }
                // A change of user had taken that away.
                libc::prctl(libc::PR_SET_DUMPABLE, 1, 0, 0, 0);
                act();
                libc::_exit(0)
            }
            pid => pid,
        }
    }
}

fn tell(to: &mut PipeWriter, number: u64) {
    to.write_all(&number.to_ne_bytes()).expect("a reader");
}

fn hear(from: &mut PipeReader) -> u64 {
    let mut bytes = [0; 8];
    from.read_exact(&mut bytes).expect("a writer");
    u64::from_ne_bytes(bytes)
}

/// Whether the word at `addr` of a process can be read.
fn can_read(pid: i32, addr: u64) -> bool {
    let mut word = 0u64;
    let local = libc::iovec {
        iov_base: (&raw mut word).cast(),
        iov_len: 8,
    };
    let remote = libc::iovec {
        iov_base: addr as *mut libc::c_void,
        iov_len: 8,
    };
    // SAFETY: eight bytes of our own; the kernel checks the other's.
    let read = unsafe { libc::process_vm_readv(pid, &local, 1, &remote, 1, 0) };
    read == 8 && word == WORD
}

#[test]
fn siblings_are_let_in_and_strangers_are_not() {
    let (mut at, mut place) = io::pipe().expect("a pipe");
    let (mut answer, mut say) = io::pipe().expect("a pipe");
    let me = std::process::id();
    let word = Box::new(WORD);
    let read = child(|| {
        catena_shm::admit(Some(me));
        tell(&mut place, std::ptr::from_ref(&*word) as u64);
        loop {
            // SAFETY: waits until it is killed.
            unsafe { libc::pause() };
        }
    });
    let addr = hear(&mut at);
    let sibling = child(|| tell(&mut say, can_read(read, addr).into()));
    assert_eq!(hear(&mut answer), 1, "a sibling");
    // A grandchild whose parent has ended descends from this process no more.
    let parent = child(|| {
        let parent = std::process::id();
        // SAFETY: as in `child`.
        if unsafe { libc::fork() } == 0 {
            while std::os::unix::process::parent_id() == parent {
                std::thread::yield_now();
            }
            tell(&mut say, can_read(read, addr).into());
        }
    });
    let stranger = hear(&mut answer);
    for pid in [sibling, parent] {
        // SAFETY: our own children, and nothing to be told.
        unsafe { libc::waitpid(pid, std::ptr::null_mut(), 0) };
    }
    // SAFETY: our own child, which has not been waited for.
    unsafe {
        libc::kill(read, libc::SIGKILL);
        libc::waitpid(read, std::ptr::null_mut(), 0);
    }
    let scope = fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope").unwrap_or_default();
    match scope.trim() {
        "1" => assert_eq!(stranger, 0, "a process of the same user, not of the job"),
        // Elsewhere the kernel has no such rule: either it asks for the user alone, or for more
        // than this test's processes have.
        "" | "0" => assert_eq!(stranger, 1, "a process of the same user"),
        more => catena_testing::skip("strangers", &format!("ptrace_scope is {more}")),
    }
}

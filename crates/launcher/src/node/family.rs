//! The processes of the ranks of a node: all that their first ones have started, in whichever
//! groups and sessions.
//!
//! Those whose parents have ended are children of this process ([`sys::adopt`]). They are known by
//! the group of their rank, or by what stands in their environment.

use std::cell::RefCell;
use std::collections::HashMap;
use std::process;

use crate::foreign;
use crate::sys;

/// How often the walk through the processes may begin anew, because some of them have ended and
/// left children, which are this process's since then.
const WALKS: usize = 8;

/// A process of a rank that runs, besides its first one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    pub pid: u32,
    /// The first process of the rank.
    pub first: i32,
}

/// Which rank those are of whose parents have ended, by their numbers: the first processes of these
/// ranks.
#[derive(Debug, Default)]
pub(super) struct Orphans(RefCell<HashMap<u32, i32>>);

impl Orphans {
    /// The first process of the rank that an orphan is of, if one is known.
    fn first_of(&self, pid: u32, ranks: &HashMap<String, i32>) -> Option<i32> {
        let known = self.0.borrow().get(&pid).copied();
        let group = || sys::group(pid as i32).filter(|group| ranks.values().any(|it| it == group));
        let first = known.or_else(group).or_else(|| {
            let vars = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            let vars = vars.split(|&byte| byte == 0);
            let mut vars = vars.filter_map(|var| std::str::from_utf8(var).ok());
            vars.find_map(|var| ranks.get(var).copied())
        })?;
        self.0.borrow_mut().insert(pid, first);
        Some(first)
    }

    /// Its number may be another one's from now on; the first process of its rank.
    pub(super) fn forget(&self, pid: u32) -> Option<i32> {
        let known = self.0.borrow_mut().remove(&pid);
        known.or_else(|| sys::group(pid as i32))
    }
}

/// All processes of ranks that run, besides the first ones. None if processes have ended during the
/// walk and left children.
fn walk(ranks: &HashMap<String, i32>, orphans: &Orphans) -> Option<Vec<Member>> {
    let own = foreign::children(process::id());
    let begin = own.iter().filter_map(|&pid| {
        let first = match sys::is_claimed(pid as i32) {
            true => ranks.values().copied().find(|&first| first == pid as i32),
            false => orphans.first_of(pid, ranks),
        };
        let first = first?;
        Some(Member { pid, first })
    });
    let (mut next, mut found): (Vec<_>, _) = (begin.collect(), Vec::new());
    while let Some(member @ Member { pid, first }) = next.pop() {
        if pid as i32 != first && foreign::is_running(pid) {
            found.push(member);
        }
        let children = foreign::children(pid).into_iter();
        next.extend(children.map(|pid| Member { pid, first }));
    }
    let again = foreign::children(process::id());
    again.iter().all(|pid| own.contains(pid)).then_some(found)
}

/// All processes that run of the ranks with these first ones, by what stands in their environment;
/// without the first ones. None if they end faster than they can be looked at.
pub(super) fn members(ranks: &HashMap<String, i32>, orphans: &Orphans) -> Option<Vec<Member>> {
    (0..WALKS).find_map(|_| walk(ranks, orphans))
}

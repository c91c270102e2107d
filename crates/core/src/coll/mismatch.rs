//! What is wrong where members of a communicator have called different things, in words.

use catena_board::{Meta, Refused, Skipped, Trouble};
use catena_coll::Collective;
use catena_objects::error::{Error, Kind, no_memory};

use super::membership::STARTED;
use super::signature::CallSignature;
use super::tag::{Label, function};
use crate::comm::Comm;
use crate::loss::kind_of_death;

impl CallSignature {
    /// What is wrong if another member, for which this one waits, says that of the same call.
    pub fn differs(&self, comm: &Comm, who: &str, theirs: CallSignature) -> Option<Error> {
        let (me, what) = (comm.rank, function(self.label.what));
        let rooted = self.label.what.is_some_and(Collective::is_rooted);
        // Between two groups those beside the root do not know it.
        let detail = !(comm.is_inter() && rooted);
        if self.label.what != theirs.label.what
            || detail && self.label.detail != theirs.label.detail
            || self.is_persistent != theirs.is_persistent
        {
            return Some(different(&format!(
                "{who} called {theirs}, and rank {me} called {self}"
            )));
        }
        if self.bytes != theirs.bytes {
            let text = format!(
                "the arguments of {what} differ: {who} passed {} bytes, and rank {me} {}. \
                 Counts and types must agree on all ranks",
                theirs.bytes, self.bytes
            );
            return Some(Error::new(Kind::Truncate, text));
        }
        if theirs.is_idle {
            return Some(skipped(me, self.label, who));
        }
        let form = |on_board| match on_board {
            true => "the blocking form",
            false => "another form (or one for other types)",
        };
        (self.on_board != theirs.on_board).then(|| {
            different(&format!(
                "{who} called {} of {what}, and rank {me} {}",
                form(theirs.on_board),
                form(self.on_board)
            ))
        })
    }
}

/// Members called different things.
pub fn different(what: &str) -> Error {
    let text = format!("the members of the communicator called different collectives: {what}");
    Error::new(Kind::Other, text)
}

/// A member waits for one from which nothing will come.
pub fn skipped(me: u32, call: Label, who: &str) -> Error {
    different(&format!(
        "rank {me} waits in {call} for {who}, which called something else, or had nothing for anybody"
    ))
}

/// What a record says of a call.
fn signature(meta: Meta) -> CallSignature {
    CallSignature {
        label: Label {
            what: meta.what(),
            detail: meta.detail & !STARTED,
        },
        bytes: meta.bytes.into(),
        on_board: meta.detail & STARTED == 0,
        is_persistent: false,
        is_idle: false,
    }
}

#[cold]
pub(super) fn explain(comm: &Comm, trouble: &Trouble) -> Error {
    let kind = match trouble {
        Trouble::NoMemory(bytes) => return no_memory(*bytes),
        Trouble::Mismatch(it) if it.me != comm.rank => {
            let (theirs, others) = (signature(it.theirs).label, signature(it.mine).label);
            return different(&format!(
                "rank {} called {theirs}, and rank {} called {others}",
                it.rank, it.me
            ));
        }
        Trouble::Mismatch(it) => {
            let who = format!("rank {}", it.rank);
            let differs = signature(it.mine).differs(comm, &who, signature(it.theirs));
            return differs.unwrap_or_else(|| different(&it.to_string()));
        }
        Trouble::Skipped(Skipped { rank, me, mine }) => {
            let call = signature(*mine).label;
            return skipped(*me, call, &format!("rank {rank}"));
        }
        Trouble::Failed(_) | Trouble::Parted { .. } | Trouble::WithoutData(_) => Kind::Other,
        Trouble::Refused(Refused { errno, .. }) if *errno == libc::ESRCH => kind_of_death(),
        Trouble::Refused(_) => Kind::Buffer,
    };
    let remedy = match trouble {
        Trouble::Refused(_) => {
            "; if it is memory that no process can share, set CATENA_COLL_DIRECT=unlimited"
        }
        _ => "",
    };
    Error::new(kind, format!("{trouble}{remedy}"))
}

//! What is wrong where members of a communicator have called different things, in words.

use catena_board::{Meta, Refused, Skipped, Trouble};
use catena_coll::Collective;
use catena_datatype::Kinds;
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
            let mine = (format!("rank {me}"), *self);
            return Some(calls_differ((who.to_string(), theirs), mine));
        }
        if self.bytes != theirs.bytes {
            let mine = (format!("rank {me}"), self.bytes);
            return Some(lengths_differ(self, (who.to_string(), theirs.bytes), mine));
        }
        // Where lengths need not be alike kinds need not, either.
        if self.bytes != 0 && self.label.clashes(theirs.label) {
            let mine = (&*format!("rank {me}"), self.label);
            return Some(kinds_differ((who, theirs.label), mine));
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

/// Some members have called something else than others; the former come first, unless the latter
/// are at their end.
pub fn calls_differ(a: (String, CallSignature), b: (String, CallSignature)) -> Error {
    // A member that has nothing for anybody does not come to the first collective of the others.
    let meets = |it: &CallSignature| it.label.is(Label::FIRST);
    if a.1.is_idle && meets(&b.1) || b.1.is_idle && meets(&a.1) {
        let (idle, other) = if a.1.is_idle { (a, b) } else { (b, a) };
        return Error::new(
            Kind::Truncate,
            format!(
                "the arguments of {} differ: {} passed 0 bytes, and {} more, or called something \
                 else. {AGREE}",
                function(idle.1.label.what),
                idle.0,
                other.0
            ),
        );
    }
    let is_end = b.1.label.is(Label::FINALIZE);
    let (a, b) = if is_end { (b, a) } else { (a, b) };
    different(&format!(
        "{} called {}, and {} called {}",
        a.0, a.1, b.0, b.1
    ))
}

/// Some members have passed other lengths than others; the former come first.
pub fn lengths_differ(call: &CallSignature, few: (String, u64), most: (String, u64)) -> Error {
    let text = format!(
        "the arguments of {} differ: {} passed {} bytes, and {} {}. {AGREE}",
        call.words()
            .map_or_else(|| function(call.label.what), str::to_string),
        few.0,
        few.1,
        most.0,
        most.1
    );
    Error::new(Kind::Truncate, text)
}

const AGREE: &str = "Counts and types must agree on all ranks";

impl Label {
    /// Whether calls with these labels, which are alike otherwise, cannot have the same elements:
    /// data are moved to and from bytes, whatever they are.
    pub fn clashes(self, other: Label) -> bool {
        let (a, b) = (self.kinds, other.kinds);
        let moves = !self.what.is_some_and(Collective::reduces);
        a != b && !(moves && (a.take_all() || b.take_all())) && a != Kinds::ANY && b != Kinds::ANY
    }
}

/// Some members have passed elements of other kinds than others; the former come first.
#[cold]
pub fn kinds_differ((few, theirs): (&str, Label), (most, mine): (&str, Label)) -> Error {
    let text = format!(
        "the arguments of {} differ: {few} passed {}, and {most} {}. Types must agree on all ranks",
        function(mine.what),
        theirs.kinds,
        mine.kinds
    );
    Error::new(Kind::Type, text)
}

/// A member that `who` names has called something else than rank `me`, or the same for other
/// elements.
pub fn unlike(who: &str, theirs: Label, me: u32, mine: Label) -> Error {
    if (mine.what, mine.detail) == (theirs.what, theirs.detail) {
        return kinds_differ((who, theirs), (&format!("rank {me}"), mine));
    }
    labels_differ((who, theirs), (&format!("rank {me}"), mine))
}

/// Two have called something else, the one that is at its end first.
fn labels_differ(a: (&str, Label), b: (&str, Label)) -> Error {
    let (a, b) = if b.1.is(Label::FINALIZE) {
        (b, a)
    } else {
        (a, b)
    };
    different(&format!(
        "{} called {}, and {} called {}",
        a.0, a.1, b.0, b.1
    ))
}

/// What [`different`] errors begin with.
const DIFFERENT: &str = "the members of the communicator called different collectives: ";

/// Whether a text says that members have called different things, or with arguments that do not
/// fit: then it says all, whoever has noticed.
pub fn is_of_all(text: &str) -> bool {
    text.starts_with(DIFFERENT) || text.starts_with("the arguments of ")
}

/// Members called different things.
pub fn different(what: &str) -> Error {
    Error::new(Kind::Other, format!("{DIFFERENT}{what}"))
}

/// A member waits for one from which nothing will come.
pub fn skipped(me: u32, call: Label, who: &str) -> Error {
    different(&format!(
        "rank {me} waits in {call} for {who}, which called something else, or had nothing for \
         anybody"
    ))
}

/// What a record says of a call.
pub(super) fn signature(meta: Meta) -> CallSignature {
    CallSignature {
        label: Label {
            what: meta.what(),
            detail: meta.detail & !STARTED,
            kinds: meta.kinds,
        },
        bytes: meta.bytes.into(),
        on_board: meta.detail & STARTED == 0,
        is_persistent: false,
        is_idle: false,
        function: 0,
    }
}

/// Whether others can say more: they, too, were in the call in which members differ.
pub(super) fn is_of_this_call(comm: &Comm, trouble: &Trouble) -> bool {
    match trouble {
        Trouble::Mismatch(it) => it.me == comm.rank,
        Trouble::Skipped(_) => true,
        _ => false,
    }
}

#[cold]
pub(super) fn explain(comm: &Comm, trouble: &Trouble) -> Error {
    let kind = match trouble {
        Trouble::NoMemory(bytes) => return no_memory(*bytes),
        Trouble::Mismatch(it) if it.me != comm.rank => {
            let (theirs, others) = (signature(it.theirs).label, signature(it.mine).label);
            let [who, me] = [it.rank, it.me].map(|rank| format!("rank {rank}"));
            return labels_differ((&who, theirs), (&me, others));
        }
        Trouble::Mismatch(it) => {
            let who = format!("rank {}", it.rank);
            let (mine, theirs) = (signature(it.mine), signature(it.theirs));
            let what = |it: &CallSignature| (it.label.what, it.label.detail, it.bytes);
            if what(&mine) == what(&theirs) && mine.label.clashes(theirs.label) {
                let me = format!("rank {}", it.me);
                return kinds_differ((&who, theirs.label), (&me, mine.label));
            }
            let differs = mine.differs(comm, &who, theirs);
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

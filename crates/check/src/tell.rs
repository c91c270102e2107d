//! What a user is told, and that only once.
//!
//! ```text
//! catena: check: error [overlap]: rank 1: MPI_Irecv (halo.c:24): its buffer has 96 bytes in common ...
//!   what to do: ...
//!   the other request: MPI_Irecv (halo.c:23)
//! ```
//!
//! The same fault at the same place of the program is told once on a host, however often it
//! happens, and on however many ranks. A finding is one write, so those of several ranks do not
//! mix.

use std::collections::{HashMap, HashSet};
use std::ffi::{c_int, c_void};
use std::fmt::Write;
use std::sync::atomic::{AtomicI32, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use catena_symbols::{Maps, Symbols};
use catena_trace::quoted;

use crate::once;
use crate::site::Site;

/// Whether a program is wrong, or does what is seldom meant.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Weight {
    Error,
    Warning,
}

/// Kinds of faults, as users see them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    /// A call with an argument that it may not have.
    Argument,
    /// Memory that is smaller than a call takes it to be.
    Bounds,
    /// Memory that cannot be read or written, or is gone.
    Memory,
    /// Buffers of operations at the same time that have bytes in common.
    Overlap,
    /// A buffer that is changed while an operation uses it.
    Written,
    /// Memory that is given back while an operation uses it.
    Freed,
    /// A request in a state that the call does not allow.
    Request,
    /// A handle of an object that is gone.
    Handle,
    /// What is left at the end.
    Leak,
    /// A message that nobody has received.
    Unmatched,
    /// Types of a message that do not fit.
    Type,
    /// Operations on the same memory of a window that conflict.
    Conflict,
    /// A call that the epoch of a window does not allow.
    Epoch,
    /// A call from a thread that may not call.
    Thread,
    /// A call before the beginning, or after the end, or an end that is missing.
    Order,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Argument => "argument",
            Kind::Bounds => "bounds",
            Kind::Memory => "memory",
            Kind::Overlap => "overlap",
            Kind::Written => "written",
            Kind::Freed => "freed",
            Kind::Request => "request",
            Kind::Handle => "handle",
            Kind::Leak => "leak",
            Kind::Unmatched => "unmatched",
            Kind::Type => "type",
            Kind::Conflict => "conflict",
            Kind::Epoch => "epoch",
            Kind::Thread => "thread",
            Kind::Order => "order",
        }
    }
}

/// A fault.
#[derive(Debug)]
pub struct Finding {
    weight: Weight,
    kind: Kind,
    site: Site,
    text: String,
    remedy: &'static str,
    /// Other calls that have to do with it, and what they are.
    besides: Vec<(&'static str, Site)>,
}

impl Finding {
    /// One at a call; `text` begins behind the name of the call.
    pub fn new(weight: Weight, kind: Kind, site: Site, text: String) -> Finding {
        Finding {
            weight,
            kind,
            site,
            text,
            remedy: "",
            besides: Vec::new(),
        }
    }

    pub fn error(kind: Kind, site: Site, text: String) -> Finding {
        Finding::new(Weight::Error, kind, site, text)
    }

    pub fn warning(kind: Kind, site: Site, text: String) -> Finding {
        Finding::new(Weight::Warning, kind, site, text)
    }

    /// What the user can do.
    pub fn remedy(mut self, remedy: &'static str) -> Finding {
        self.remedy = remedy;
        self
    }

    /// Another call, and what it is.
    pub fn besides(mut self, what: &'static str, site: &Site) -> Finding {
        self.besides.push((what, site.clone()));
        self
    }

    /// Tells the user, unless that was done before. Cost: some ten milliseconds for a program with
    /// much debug information.
    pub fn tell(self) {
        tell(vec![self]);
    }
}

/// This process's rank in `MPI_COMM_WORLD`; -1 as long as it is not known.
static RANK: AtomicI32 = AtomicI32::new(-1);

pub fn set_rank(rank: c_int) {
    RANK.store(rank, Relaxed);
}

/// Tells some at once, which takes less time than each by itself.
pub fn tell(findings: Vec<Finding>) {
    type Key = (Kind, (&'static str, u64, u64), u64);
    static TOLD: Mutex<Option<HashSet<Key>>> = Mutex::new(None);
    let is_new = |it: &Finding| {
        let besides = it.besides.iter().map(|(_, site)| site.key().1);
        let besides = besides.fold(0, u64::wrapping_add);
        let mut told = TOLD.lock().unwrap_or_else(PoisonError::into_inner);
        let told = told.get_or_insert_default();
        told.insert((it.kind, it.site.key(), besides))
    };
    let new: Vec<_> = findings.into_iter().filter(is_new).collect();
    if new.is_empty() {
        return;
    }
    let mut places = Places::new();
    for finding in new {
        write(&finding, &mut places);
    }
}

/// Tells one, unless another one was told with the same calls in the same lines: a compiler makes
/// several calls of one in a loop.
fn write(finding: &Finding, places: &mut Places) {
    static LINES: Mutex<Option<HashSet<String>>> = Mutex::new(None);
    let weight = match finding.weight {
        Weight::Error => "error",
        Weight::Warning => "warning",
    };
    let who = match RANK.load(Relaxed) {
        -1 => format!("process {}", std::process::id()),
        rank => format!("rank {rank}"),
    };
    let kind = finding.kind.name();
    let call = places.call(&finding.site);
    let mut behind = String::new();
    if !finding.remedy.is_empty() {
        let _ = writeln!(behind, "  what to do: {}", finding.remedy);
    }
    for (what, site) in &finding.besides {
        let _ = writeln!(behind, "  {what}: {}", places.call(site));
    }
    let told = format!("{kind} {call}\n{behind}");
    let mut lines = LINES.lock().unwrap_or_else(PoisonError::into_inner);
    let sum = sum(told.as_bytes());
    if lines.get_or_insert_default().insert(told) && once::is_first(sum) {
        print(&format!(
            "catena: check: {weight} [{kind}]: {who}: {call}: {}\n{behind}",
            finding.text
        ));
        once::note(&in_json(finding, places));
    }
}

/// A finding for programs: a byte that is 0 for an error and 1 for a warning, and an object of
/// JSON.
fn in_json(finding: &Finding, places: &mut Places) -> Vec<u8> {
    let (mark, weight) = match finding.weight {
        Weight::Error => (0, "error"),
        Weight::Warning => (1, "warning"),
    };
    let mut call = |site: &Site| {
        let place = places.place(site).unwrap_or_default();
        format!(
            "\"call\":{},\"place\":{}",
            quoted(site.call),
            quoted(&place)
        )
    };
    let rank = match RANK.load(Relaxed) {
        -1 => "null".to_string(),
        rank => rank.to_string(),
    };
    let at = call(&finding.site);
    let besides = finding.besides.iter();
    let besides =
        besides.map(|(what, site)| format!("{{\"what\":{},{}}}", quoted(what), call(site)));
    let besides: Vec<_> = besides.collect();
    let text = format!(
        "{{\"weight\":\"{weight}\",\"kind\":\"{}\",\"host\":{},\"rank\":{rank},{at},\"text\":{},\"remedy\":{},\"besides\":[{}]}}",
        finding.kind.name(),
        quoted(&host()),
        quoted(&finding.text),
        quoted(finding.remedy),
        besides.join(",")
    );
    [&[mark], text.as_bytes()].concat()
}

/// The name of this host.
fn host() -> String {
    let mut name = [0_u8; 256];
    // SAFETY: memory of that length, of which the last byte stays 0.
    unsafe { libc::gethostname(name.as_mut_ptr().cast(), name.len() - 1) };
    let name = name.split(|&byte| byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(name).into_owned()
}

fn sum(bytes: &[u8]) -> u64 {
    let add = |sum: u64, &byte: &u8| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, add)
}

/// Writes a text to the standard error, in one piece.
fn print(text: &str) {
    let mut rest = text.as_bytes();
    while !rest.is_empty() {
        // SAFETY: bytes of that length.
        let written = unsafe { libc::write(2, rest.as_ptr().cast::<c_void>(), rest.len()) };
        match usize::try_from(written) {
            Ok(written) => rest = &rest[written.min(rest.len())..],
            Err(_) if std::io::Error::last_os_error().kind() == std::io::ErrorKind::Interrupted => {
            }
            Err(_) => return,
        }
    }
}

/// Names places of the program.
struct Places {
    maps: Option<Maps>,
    symbols: Symbols,
}

impl Places {
    fn new() -> Places {
        Places {
            maps: Maps::read(std::process::id()).ok(),
            symbols: Symbols::new(),
        }
    }

    /// A call and where it stands: `MPI_Send (solver.c:88)`.
    fn call(&mut self, site: &Site) -> String {
        match self.place(site) {
            Some(place) => format!("{} ({place})", site.call),
            None => site.call.into(),
        }
    }

    /// Where a call stands: `solver.c:88`.
    fn place(&mut self, site: &Site) -> Option<String> {
        let maps = self.maps.as_ref()?;
        let place = self.symbols.place(maps, site.frames(), site.python())?;
        Some(place.to_string())
    }
}

/// A call and where it stands, as it is told to other ranks: `MPI_Put (solver.c:88)`. Cost: some
/// milliseconds for a new place.
pub fn place_of(site: &Site) -> String {
    type Key = (&'static str, u64, u64);
    static KNOWN: Mutex<Option<HashMap<Key, String>>> = Mutex::new(None);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let known = known.get_or_insert_default();
    let place = known.entry(site.key());
    place.or_insert_with(|| Places::new().call(site)).clone()
}

/// Where the call stands that is under way; empty if that cannot be told.
pub fn place_in_full() -> String {
    let site = Site::in_full("");
    Places::new().place(&site).unwrap_or_default()
}

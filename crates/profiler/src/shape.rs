//! What matters in the arguments of each function.
//!
//! It is found once, from the table of `catena-tool`: by the names that the standard gives to
//! arguments, and by what they mean.

use std::sync::OnceLock;

use catena_profile::layout::{Class, kind};
use catena_tool::call::{CALLS, Call, Class as Handle, Direction, Means, PLACES, Told, is_quick};

/// Chapters whose functions only ask or make something on this rank.
const MESSAGES: [&str; 2] = ["p2p", "partitioned"];

/// What is done around a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Act {
    /// It is counted.
    Plain,
    /// It waits for the other side of a message or lock, which the arguments name.
    Waits,
    /// It makes a request that somebody waits for later.
    Begins,
    /// It starts the persistent request that its argument points to.
    Start,
    /// It starts several.
    StartAll,
    /// It waits for the request that its first argument points to.
    Wait,
    /// It waits for some of the requests in its second argument.
    WaitMany,
    /// It looks whether requests or messages are done, which matters where calls are written one by
    /// one.
    Tests,
    /// It gives back the communicator, window or file that its first argument points to.
    Gives(u32),
    /// It gives back a datatype.
    GivesType,
    /// It gives back a request.
    GivesRequest,
    /// It makes a communicator, that the second argument from behind points to once its request has
    /// ended.
    MakesLater,
    /// It opens a file.
    Opens,
    /// It makes a communicator or window, that its argument at this place points to.
    Makes(u8, u32),
    /// It names what it is on.
    Names,
}

/// A buffer whose bytes a call moves, and what tells of it.
#[derive(Clone, Copy, Debug)]
pub struct Buffer {
    pub at: u8,
    pub told: &'static Told,
}

/// What matters of a function.
#[derive(Debug)]
pub struct Shape {
    /// One more than its place among the names of all functions.
    pub what: u32,
    pub class: Class,
    pub act: Act,
    /// Whether it only asks what is known here, and takes next to no time.
    pub is_quick: bool,
    /// Whether its first arguments are all that it has, as far as these are handed on together.
    pub is_few: bool,
    /// Whether it is a collective, whose time is noted by itself.
    pub is_logged: bool,
    /// The argument that is a communicator, window or file, and which of these.
    pub group: Option<(u8, u32)>,
    /// Whether that is the address of the handle.
    pub is_pointer: bool,
    /// The buffer that this rank gives to the call, or that is moved by it.
    pub buffer: Option<Buffer>,
    /// The one that tells instead, if that is `MPI_IN_PLACE`.
    pub instead: Option<Buffer>,
    /// The rank that bytes go to.
    pub to: Option<u8>,
    /// The rank that bytes come from, or that is waited for.
    pub from: Option<u8>,
    /// Whether it only prepares what is started later.
    pub is_persistent: bool,
    /// Whether what it moves comes from the other rank's window.
    pub is_get: bool,
    /// The request that it makes.
    pub request: Option<u8>,
    /// Whether there are as many blocks as ranks in the group of this one, not in the other group
    /// of an intercommunicator.
    pub is_of_own: bool,
    /// Where it tells of the message.
    pub status: Option<u8>,
    /// Whether it receives a message, or takes one out of those that can be received.
    pub receives: bool,
    /// The tag of what it sends.
    pub sent_tag: Option<u8>,
    /// The tag of what it receives.
    pub received_tag: Option<u8>,
    /// Whether it makes a request that receives in parts: then what it receives from is called
    /// `dest`.
    pub is_partitioned_receive: bool,
    /// The requests whose end it sees.
    pub ends: Option<Ends>,
    /// Whether messages are partitioned.
    pub is_partitioned: bool,
    /// Where it tells whether it has seen anything, if it may be called again and again for that.
    pub polls: Option<u8>,
    /// What tells calls apart that make communicators at the same time.
    pub apart: Option<(u8, bool)>,
    /// Whether both groups of what it makes call it with communicators of their own.
    pub is_of_two: bool,
}

/// The arguments of a function that sees the end of requests.
#[derive(Clone, Copy, Debug)]
pub struct Ends {
    /// How many requests there are, if there may be several.
    pub count: Option<u8>,
    /// Where they are.
    pub requests: u8,
    /// Where it is told whether any has ended.
    pub flag: Option<u8>,
    /// Where the number of the one is told that has.
    pub index: Option<u8>,
    /// Where it is told how many have.
    pub outcount: Option<u8>,
    /// Where the numbers of these are told.
    pub indices: Option<u8>,
    /// Where messages are told of, if there may be several.
    pub statuses: Option<u8>,
}

impl Shape {
    /// That of the function of this number.
    #[inline]
    pub fn of(number: u16) -> &'static Shape {
        static ALL: OnceLock<Vec<Shape>> = OnceLock::new();
        let all = ALL.get_or_init(|| (0..CALLS.len()).map(Shape::new).collect());
        &all[usize::from(number)]
    }

    fn new(number: usize) -> Shape {
        let call = &CALLS[number];
        let bare = call
            .name
            .trim_start_matches("MPI_")
            .trim_start_matches("MPIX_");
        let bare = bare.trim_end_matches("_c");
        let is_message = MESSAGES.contains(&call.chapter);
        let named = |name: &str| {
            let at = call.args.iter().position(|it| it.name == name)?;
            Some(at as u8)
        };
        let is_neighbor = bare.contains("eighbor_all");
        let class = match call.chapter {
            _ if is_message => Class::Message,
            "io" => Class::File,
            "rma" | "notify" => Class::OneSided,
            _ if call.is_collective || is_neighbor => Class::Collective,
            _ => Class::Other,
        };
        let request = call.args.iter().position(|it| {
            matches!(it.means, Means::Handle(Handle::Request)) && it.direction == Direction::Out
        });
        let request = request.map(|at| at as u8);
        let begins = bare.ends_with("_init") || bare == "Grequest_start";
        let to = match class {
            Class::Message => named("dest"),
            Class::OneSided => named("target_rank"),
            _ => None,
        };
        let from = match class {
            Class::Message => named("source"),
            Class::OneSided if bare.starts_with("Win_") => named("rank"),
            _ => None,
        };
        let given_back = given_kind(bare).map(Act::Gives);
        let act = given_back.unwrap_or(match bare {
            "Wait" => Act::Wait,
            "Waitall" | "Waitany" | "Waitsome" => Act::WaitMany,
            "Start" => Act::Start,
            "Startall" => Act::StartAll,
            "Type_free" => Act::GivesType,
            "Request_free" => Act::GivesRequest,
            "Comm_idup" | "Comm_idup_with_info" => Act::MakesLater,
            "File_open" => Act::Opens,
            "Comm_set_name" | "Win_set_name" => Act::Names,
            _ if is_message && request.is_some() => Act::Begins,
            "Test" | "Testall" | "Testany" | "Testsome" | "Improbe" => Act::Tests,
            "Iprobe" => Act::Plain,
            _ if is_message && (to.is_some() || from.is_some()) => Act::Waits,
            _ if class == Class::OneSided && from.is_some() => Act::Waits,
            // What is made later is not asked for now.
            _ if request.is_none() => made(call).unwrap_or(Act::Plain),
            _ => Act::Plain,
        });
        let sees_ends = bare.starts_with("Wait") || act == Act::Tests && bare.starts_with("Test");
        let several = named("array_of_requests");
        let ends = sees_ends.then(|| Ends {
            count: several.map(|_| 0),
            requests: several.unwrap_or(0),
            flag: named("flag"),
            index: named("index").or(named("indx")),
            outcount: named("outcount"),
            indices: named("array_of_indices"),
            statuses: named("array_of_statuses"),
        });
        let (buffer, instead) = match begins && !is_message {
            // Nothing moves when a persistent collective is made.
            true => (None, None),
            false => buffers(call, class),
        };
        Shape {
            what: u32::from(PLACES[number]) + 1,
            class,
            act,
            is_quick: is_quick(number as u16),
            is_few: call.args.len() <= 6,
            is_logged: (class == Class::Collective || is_collective(bare)) && !begins,
            group: given_kind(bare).map_or(group(call), |kind| Some((0, kind))),
            is_pointer: given_back.is_some(),
            buffer,
            instead,
            to,
            from,
            is_persistent: begins,
            is_get: matches!(bare, "Get" | "Rget" | "Get_notify"),
            request,
            is_of_own: bare.starts_with("Reduce_scatter") || bare.starts_with("Ireduce_scatter"),
            status: named("status"),
            receives: matches!(
                bare,
                "Recv" | "Sendrecv" | "Sendrecv_replace" | "Mprobe" | "Improbe"
            ),
            sent_tag: named("sendtag").or(named("tag")),
            received_tag: named("recvtag").or(named("tag")),
            is_partitioned_receive: bare == "Precv_init",
            ends,
            is_partitioned: call.chapter == "partitioned",
            polls: polls(bare)
                .then(|| named("flag").or(named("outcount")))
                .flatten(),
            apart: match act {
                Act::Makes(..) => named("stringtag")
                    .map(|at| (at, true))
                    .or_else(|| named("tag").map(|at| (at, false))),
                _ => None,
            },
            is_of_two: bare == "Intercomm_create",
        }
    }
}

/// Whether a function may be called again and again until it has seen something.
fn polls(bare: &str) -> bool {
    let is_test = bare.starts_with("Test") && bare != "Test_cancelled";
    is_test
        || bare.starts_with("Request_get_status")
        || matches!(bare, "Iprobe" | "Improbe" | "Parrived" | "Win_test")
}

/// Whether all ranks take part in a function of windows or files, whose group is known.
fn is_collective(bare: &str) -> bool {
    let makes = ["Win_create", "Win_allocate"];
    let is_other = matches!(bare, "Win_create_keyval" | "Win_create_errhandler");
    (makes.iter().any(|it| bare.starts_with(it)) && !is_other)
        || matches!(bare, "Win_fence" | "Win_free" | "File_open")
}

/// Which kind of object a function gives back, if it does.
fn given_kind(bare: &str) -> Option<u32> {
    match bare {
        "Comm_free" | "Comm_disconnect" => Some(kind::COMM),
        "Win_free" => Some(kind::WIN),
        "File_close" => Some(kind::FILE),
        _ => None,
    }
}

/// The communicator, window or file that a call is on.
fn group(call: &Call) -> Option<(u8, u32)> {
    let kind_of = |handle: &Handle| match handle {
        Handle::Comm => Some(kind::COMM),
        Handle::Win => Some(kind::WIN),
        Handle::File => Some(kind::FILE),
        _ => None,
    };
    (0..).zip(call.args).find_map(|(at, arg)| match &arg.means {
        Means::Handle(handle) if !arg.is_pointer && arg.direction == Direction::In => {
            Some((at, kind_of(handle)?))
        }
        _ => None,
    })
}

/// The communicator or window that a function makes.
fn made(call: &Call) -> Option<Act> {
    let mut args = (0..).zip(call.args);
    args.find_map(|(at, arg)| match &arg.means {
        Means::Handle(Handle::Comm) if arg.direction == Direction::Out => {
            Some(Act::Makes(at, kind::COMM))
        }
        Means::Handle(Handle::Win) if arg.direction == Direction::Out => {
            Some(Act::Makes(at, kind::WIN))
        }
        _ => None,
    })
}

/// The buffer whose bytes count, and the one that tells of it if there is none.
fn buffers(call: &Call, class: Class) -> (Option<Buffer>, Option<Buffer>) {
    let all = (0..)
        .zip(call.args)
        .filter_map(|(at, arg)| match &arg.means {
            Means::Buffer(told) => Some((Buffer { at, told }, arg.direction)),
            _ => None,
        });
    let all: Vec<_> = all.collect();
    let given = all
        .iter()
        .find(|(_, direction)| *direction != Direction::Out);
    let taken = all
        .iter()
        .find(|(_, direction)| *direction == Direction::Out);
    match (given, taken) {
        (Some((given, _)), taken) => (Some(*given), taken.map(|it| it.0)),
        // A message is counted where it is sent.
        (None, Some((taken, _))) if class != Class::Message => (Some(*taken), None),
        _ => (None, None),
    }
}

#[cfg(test)]
mod tests {
    use catena_tool::call::number;

    use super::*;

    #[test]
    fn functions_are_known_by_their_arguments() {
        let send = Shape::of(number::Send);
        assert_eq!((send.class, send.act), (Class::Message, Act::Waits));
        assert_eq!(
            (send.to, send.from, send.group),
            (Some(3), None, Some((5, kind::COMM)))
        );
        assert_eq!(send.buffer.map(|it| it.at), Some(0));
        assert!(send.is_few);

        let recv = Shape::of(number::Recv);
        assert_eq!((recv.from, recv.status), (Some(3), Some(6)));
        assert!(recv.buffer.is_none() && !recv.is_few);

        let begins = Shape::of(number::Irecv_c);
        assert_eq!((begins.act, begins.request), (Act::Begins, Some(6)));
        assert_eq!(Shape::of(number::Psend_init).act, Act::Begins);
        assert_eq!(Shape::of(number::Wait).act, Act::Wait);
        assert_eq!(Shape::of(number::Startall).act, Act::StartAll);
        assert_eq!(Shape::of(number::Iprobe).act, Act::Plain);
        assert_eq!(Shape::of(number::Improbe).act, Act::Tests);
        let tests = Shape::of(number::Testsome).ends.unwrap();
        let places = (tests.count, tests.requests, tests.outcount, tests.indices);
        assert_eq!(places, (Some(0), 1, Some(2), Some(3)));
        let ends = Shape::of(number::Waitany).ends.unwrap();
        assert_eq!(
            (ends.index, ends.flag, ends.statuses),
            (Some(2), None, None)
        );
        let one = Shape::of(number::Test).ends.unwrap();
        assert_eq!((one.count, one.requests, one.flag), (None, 0, Some(1)));
        assert!(Shape::of(number::Test_cancelled).ends.is_none());
        assert_eq!(
            (one.flag, Shape::of(number::Test).polls),
            (Some(1), Some(1))
        );
        assert_eq!(Shape::of(number::Testsome).polls, Some(2));
        assert_eq!(Shape::of(number::Test_cancelled).polls, None);
        assert_eq!(Shape::of(number::Mprobe).act, Act::Waits);

        let reduce = Shape::of(number::Allreduce);
        assert_eq!((reduce.class, reduce.is_logged), (Class::Collective, true));
        assert_eq!(reduce.instead.map(|it| it.at), Some(1));
        let init = Shape::of(number::Allreduce_init);
        assert!(!init.is_logged && init.buffer.is_none());

        assert!(Shape::of(number::Ireduce_scatter_c).is_of_own);
        assert!(Shape::of(number::Reduce_scatter_block).is_of_own && !reduce.is_of_own);
        for other in [
            number::Comm_create_keyval,
            number::Comm_create_errhandler,
            number::Win_create_keyval,
            number::Win_create_errhandler,
        ] {
            assert!(!Shape::of(other).is_logged);
            assert_ne!(Shape::of(other).class, Class::Collective);
        }
        let split = Shape::of(number::Comm_split);
        assert_eq!(
            (split.act, split.is_logged),
            (Act::Makes(3, kind::COMM), true)
        );
        assert_eq!(Shape::of(number::Win_create).act, Act::Makes(5, kind::WIN));
        assert_eq!(Shape::of(number::Comm_idup).act, Act::MakesLater);

        let get = Shape::of(number::Get);
        assert_eq!(
            (get.class, get.is_get, get.to),
            (Class::OneSided, true, Some(3))
        );
        assert_eq!(get.group, Some((7, kind::WIN)));
        assert_eq!(Shape::of(number::Win_lock).from, Some(1));

        let read = Shape::of(number::File_read_at);
        assert_eq!(
            (read.class, read.group),
            (Class::File, Some((0, kind::FILE)))
        );
        assert_eq!(read.buffer.map(|it| it.at), Some(2));
    }

    #[test]
    fn names_are_those_of_the_table() {
        let names = catena_abi::table::names();
        for (number, call) in CALLS.iter().enumerate() {
            assert_eq!(names[Shape::of(number as u16).what as usize - 1], call.name);
        }
    }
}

//! What the arguments of the functions mean: direction, kind and length.
//!
//! The head of `tables/arguments.tbl` describes the notation that is read here.

/// Whether MPI reads or writes what an argument names.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Direction {
    /// MPI reads it. Arguments that are passed by value are read.
    In,
    /// MPI writes it.
    Out,
    /// MPI reads and writes it.
    InOut,
}

/// What an argument is.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    /// A choice buffer, of any type. The arguments that tell of its elements are named in
    /// the order counts, displacements, types. One type alone means one element, and no
    /// names at all that an earlier call, as `MPI_File_read_all_begin`, told them. In
    /// collectives the buffer may be `MPI_IN_PLACE`.
    Buffer(Vec<&'static str>),
    /// Bytes of memory.
    Memory,
    /// An address; if MPI writes it, the place where it stores one.
    Address,
    /// A handle. [`crate::table::Arg::base`] is its type.
    Handle,
    /// A handle as an integer, as `MPI_Comm_fromint` takes it.
    HandleNumber,
    /// The address of a handle whose type depends on what the call is about.
    Object,
    /// A status. It may be `MPI_STATUS_IGNORE` or `MPI_STATUSES_IGNORE` where MPI writes it.
    Status,
    /// A function of the program. [`crate::table::Arg::base`] is its type.
    Callback,
    /// What the program's functions are given with each call.
    State,
    /// The value of an attribute; if MPI writes it, the place where it stores one.
    Attribute,
    /// Characters up to a zero. If MPI writes them, the length is the room for them.
    String,
    /// An array of strings. Without a length it ends with a null pointer.
    Strings,
    /// A number of characters.
    Length,
    /// A number of elements, ranks or entries. MPI may write `MPI_UNDEFINED`.
    Count,
    /// A distance in memory or in elements.
    Displacement,
    /// A size in bytes.
    Bytes,
    /// A position in a file.
    Offset,
    /// A rank. It may be a constant, as `MPI_ANY_SOURCE`, `MPI_PROC_NULL` or `MPI_ROOT`.
    Rank,
    /// A tag. It may be `MPI_ANY_TAG`.
    Tag,
    /// An error class or code.
    Error,
    /// A key of attributes. It may be predefined, as `MPI_TAG_UB`.
    Keyval,
    /// A weight of an edge. The array may be `MPI_UNWEIGHTED` or `MPI_WEIGHTS_EMPTY`.
    Weight,
    /// An integer with named values, as a level of thread support.
    Constant,
    /// A position from 0 on. MPI may write `MPI_UNDEFINED`.
    Index,
    /// A number without a further meaning for other arguments.
    Integer,
    /// A truth value.
    Logical,
    /// Further arguments.
    Varargs,
}

/// How many entries an array has, characters a string, bytes a piece of memory. Of a
/// buffer it is the number of blocks of which each has as many elements as the arguments
/// of [`Kind::Buffer`] say.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Length {
    /// The value of an argument; where MPI writes the argument as well, that on entry; where
    /// it is significant only at the root, the root's.
    Argument(&'static str),
    /// The value of an argument, and one more for the zero behind a string.
    AndZero(&'static str),
    /// Three times the value of an argument.
    Triples(&'static str),
    /// The value of a constant.
    Constant(&'static str),
    /// The number of ranks of a communicator; of an intercommunicator, in the remote group.
    Ranks(&'static str),
    /// The number of neighbours that send to this rank on a communicator.
    Sources(&'static str),
    /// The number of neighbours to which this rank sends on a communicator.
    Destinations(&'static str),
    /// The number of dimensions of a communicator's grid.
    Dimensions(&'static str),
    /// The sum of an array.
    Sum(&'static str),
    /// The last entry of an array.
    Last(&'static str),
    /// One block alone: that of this rank on a communicator.
    Own(&'static str),
    /// What the object of a handle says: a variable or an event.
    Of(&'static str),
}

impl Length {
    /// The argument that it names.
    pub fn argument(self) -> Option<&'static str> {
        match self {
            Length::Constant(_) => None,
            Length::Argument(name)
            | Length::AndZero(name)
            | Length::Triples(name)
            | Length::Ranks(name)
            | Length::Sources(name)
            | Length::Destinations(name)
            | Length::Dimensions(name)
            | Length::Sum(name)
            | Length::Last(name)
            | Length::Own(name)
            | Length::Of(name) => Some(name),
        }
    }

    fn read(text: &'static str) -> Option<Length> {
        let words: Vec<_> = text.split(' ').collect();
        Some(match words[..] {
            [name] if name.starts_with("MPI_MAX_") => Length::Constant(name),
            [name] => Length::Argument(name),
            [name, "+1"] => Length::AndZero(name),
            [name, "3"] => Length::Triples(name),
            ["ranks", name] => Length::Ranks(name),
            ["sources", name] => Length::Sources(name),
            ["destinations", name] => Length::Destinations(name),
            ["dims", name] => Length::Dimensions(name),
            ["sum", name] => Length::Sum(name),
            ["last", name] => Length::Last(name),
            ["own", name] => Length::Own(name),
            ["of", name] => Length::Of(name),
            _ => return None,
        })
    }
}

impl Kind {
    fn read(text: &'static str) -> Option<Kind> {
        if let Some(names) = text.strip_prefix("buffer(") {
            let names = names.strip_suffix(')')?.split(' ');
            return Some(Kind::Buffer(names.filter(|n| !n.is_empty()).collect()));
        }
        Some(match text {
            "memory" => Kind::Memory,
            "address" => Kind::Address,
            "handle" => Kind::Handle,
            "handle_number" => Kind::HandleNumber,
            "object" => Kind::Object,
            "status" => Kind::Status,
            "callback" => Kind::Callback,
            "state" => Kind::State,
            "attribute" => Kind::Attribute,
            "string" => Kind::String,
            "strings" => Kind::Strings,
            "length" => Kind::Length,
            "count" => Kind::Count,
            "displacement" => Kind::Displacement,
            "bytes" => Kind::Bytes,
            "offset" => Kind::Offset,
            "rank" => Kind::Rank,
            "tag" => Kind::Tag,
            "error" => Kind::Error,
            "keyval" => Kind::Keyval,
            "weight" => Kind::Weight,
            "constant" => Kind::Constant,
            "index" => Kind::Index,
            "integer" => Kind::Integer,
            "logical" => Kind::Logical,
            "varargs" => Kind::Varargs,
            _ => return None,
        })
    }
}

/// What an argument means to those who call the function.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Meaning {
    /// Whether MPI reads or writes it.
    pub direction: Direction,
    /// What it is.
    pub kind: Kind,
    /// How many there are; `None` for one, or for a string that ends with a zero.
    pub length: Option<Length>,
    /// Whether only the root's is looked at. Elsewhere it may be anything.
    pub root_only: bool,
}

/// One argument in the table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Entry {
    pub(crate) name: &'static str,
    /// Whether the direction is written, as it has to be for a pointer.
    pub(crate) has_direction: bool,
    pub(crate) meaning: Meaning,
}

impl Entry {
    /// Reads `name [direction] kind[length] [root]`.
    pub(crate) fn read(text: &'static str) -> Option<Entry> {
        let (name, rest) = text.split_once(' ')?;
        let (direction, rest) = match rest.split_once(' ') {
            Some(("in", rest)) => (Some(Direction::In), rest),
            Some(("out", rest)) => (Some(Direction::Out), rest),
            Some(("inout", rest)) => (Some(Direction::InOut), rest),
            _ => (None, rest),
        };
        let (rest, root_only) = match rest.strip_suffix(" root") {
            Some(rest) => (rest, true),
            None => (rest, false),
        };
        let (kind, length) = match rest.strip_suffix(']') {
            Some(rest) => {
                let (kind, length) = rest.split_once('[')?;
                (kind, Some(Length::read(length)?))
            }
            None => (rest, None),
        };
        Some(Entry {
            name,
            has_direction: direction.is_some(),
            meaning: Meaning {
                direction: direction.unwrap_or(Direction::In),
                kind: Kind::read(kind)?,
                length,
                root_only,
            },
        })
    }
}

//! The functions that tools stand before, and the arguments of a call of one.

use std::ffi::c_int;

use catena_abi::{Comm, Datatype};

/// Most arguments that a function has.
pub const MOST: usize = 13;

/// A function of MPI.
#[derive(Debug)]
pub struct Call {
    /// With its prefix, as in `MPI_Send`.
    pub name: &'static str,
    /// The chapter of the standard, as the table calls it: `p2p`, `coll`, `io`.
    pub chapter: &'static str,
    /// Its arguments.
    pub args: &'static [Arg],
    /// Which argument is the communicator of the call.
    pub comm: Option<u8>,
    /// Which one is the root.
    pub root: Option<u8>,
    /// Whether all ranks of the communicator take part.
    pub is_collective: bool,
}

/// One of its arguments.
#[derive(Debug)]
pub struct Arg {
    /// Its name in the standard.
    pub name: &'static str,
    /// What is looked at in it.
    pub means: Means,
    /// Whether MPI reads or writes it.
    pub direction: Direction,
    /// Whether it has 32 bits.
    pub is_int: bool,
    /// Whether the entries of an array of numbers have 64 bits.
    pub is_wide: bool,
    /// Whether it is the address of what is meant.
    pub is_pointer: bool,
    /// Of an array, how many entries there are.
    pub length: Length,
}

/// Whether MPI reads or writes what an argument names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// It is read.
    In,
    /// It is written.
    Out,
    /// It is read and written.
    InOut,
}

/// What tools look at in an argument.
#[derive(Debug)]
pub enum Means {
    /// Elements, told by other arguments.
    Buffer(Told),
    /// An object.
    Handle(Class),
    /// Bytes that MPI keeps or reads.
    Memory,
    /// Anything else.
    Other,
}

/// Kinds of objects behind handles.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Class {
    /// A communicator.
    Comm,
    /// A datatype.
    Type,
    /// An operation.
    Op,
    /// A group.
    Group,
    /// An info object.
    Info,
    /// A window.
    Win,
    /// A file.
    File,
    /// A request.
    Request,
    /// An error handler.
    Errhandler,
    /// A session.
    Session,
    /// A message that was matched.
    Message,
}

/// How many entries an array has, or blocks a buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Length {
    /// One, or none.
    One,
    /// As many as the argument at this place says.
    Argument(u8),
    /// As many as a collective reaches ranks.
    Ranks,
    /// One block alone: that of this rank.
    Own,
    /// As many as there are neighbours that send.
    Sources,
    /// As many as there are neighbours that are sent to.
    Destinations,
    /// Something else says it.
    Other,
}

/// Which arguments tell of the elements of a buffer.
#[derive(Debug)]
pub struct Told {
    /// How the blocks lie.
    pub style: Style,
    /// At which ranks it means something.
    pub at: At,
    /// How many blocks there are.
    pub blocks: Length,
    /// None: one element.
    pub count: Option<u8>,
    /// Displacements, or a number by which the count is multiplied.
    pub more: Option<u8>,
    /// The type, or types.
    pub ty: u8,
}

/// How the blocks of a buffer lie.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Style {
    /// They have the same count and lie behind each other.
    Alike,
    /// They have counts of their own and lie behind each other.
    Behind,
    /// They lie at displacements in elements.
    Displaced,
    /// They lie at displacements in bytes, and have types of their own.
    Apart,
}

/// At which ranks a buffer means something.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum At {
    /// At all.
    All,
    /// At the root.
    Root,
    /// The root of an intracommunicator is one of them.
    Others,
}

include!(concat!(env!("OUT_DIR"), "/calls.rs"));

/// Numbers of the functions in [`CALLS`].
#[allow(
    non_upper_case_globals,
    dead_code,
    reason = "the names of the functions, all of them"
)]
pub mod number {
    include!(concat!(env!("OUT_DIR"), "/numbers.rs"));
}

/// Functions that ask what is known here, of which programs may make millions of calls.
const QUICK: [u16; 24] = [
    number::Comm_rank,
    number::Comm_size,
    number::Comm_remote_size,
    number::Comm_test_inter,
    number::Group_rank,
    number::Group_size,
    number::Type_size,
    number::Type_size_c,
    number::Type_size_x,
    number::Type_get_extent,
    number::Type_get_extent_c,
    number::Type_get_extent_x,
    number::Type_get_true_extent,
    number::Type_get_true_extent_c,
    number::Type_get_true_extent_x,
    number::Get_count,
    number::Get_count_c,
    number::Get_elements,
    number::Get_elements_c,
    number::Get_elements_x,
    number::Test_cancelled,
    number::Topo_test,
    number::Cart_rank,
    number::Cart_coords,
];

/// Whether a function only asks what is known here.
#[inline]
pub fn is_quick(number: u16) -> bool {
    const IS_QUICK: [bool; CALLS.len()] = {
        let mut is_quick = [false; CALLS.len()];
        let mut i = 0;
        while i < QUICK.len() {
            is_quick[QUICK[i] as usize] = true;
            i += 1;
        }
        is_quick
    };
    IS_QUICK[usize::from(number)]
}

/// The arguments of a call as words: integers with their sign, and addresses.
#[derive(Clone, Debug)]
pub struct Args {
    /// The function.
    pub call: &'static Call,
    /// Its number in [`CALLS`].
    pub number: u16,
    words: [usize; MOST],
}

impl Args {
    /// `words` has one for each argument.
    pub fn new(number: u16, words: [usize; MOST]) -> Args {
        let call = &CALLS[usize::from(number)];
        let mut args = Args {
            call,
            number,
            words,
        };
        for (arg, word) in call.args.iter().zip(&mut args.words) {
            if arg.is_int {
                // What stands in the upper half means nothing.
                *word = *word as c_int as isize as usize;
            }
        }
        args
    }

    /// All of them.
    pub fn words(&self) -> &[usize; MOST] {
        &self.words
    }

    /// The one at a place.
    pub fn word(&self, at: usize) -> usize {
        self.words[at]
    }

    /// Gives the function behind another word.
    pub fn set(&mut self, at: usize, word: usize) {
        self.words[at] = word;
    }

    /// An integer.
    pub fn int(&self, at: usize) -> i64 {
        self.words[at] as i64
    }

    /// What an argument points to; `None` for a null pointer.
    ///
    /// # Safety
    /// If the argument is not null, a `T` has to be there.
    pub unsafe fn at<T: Copy>(&self, at: usize) -> Option<T> {
        // SAFETY: the caller's promise.
        unsafe { (self.words[at] as *const T).as_ref() }.copied()
    }

    /// The argument of that name; functions of the same kind have it at different places.
    pub fn named(&self, name: &str) -> Option<usize> {
        let at = self.call.args.iter().position(|it| it.name == name)?;
        Some(self.words[at])
    }

    /// The communicator of the call.
    pub fn comm(&self) -> Option<Comm> {
        Some(Comm(self.words[usize::from(self.call.comm?)]))
    }

    /// A datatype.
    pub fn datatype(&self, at: u8) -> Datatype {
        Datatype(self.words[usize::from(at)])
    }

    /// The entry of an array of counts or displacements; zero where there is no array.
    ///
    /// # Safety
    /// The array has that entry.
    pub unsafe fn entry(&self, at: u8, entry: usize) -> i64 {
        let at = usize::from(at);
        let array = self.words[at];
        if array <= catena_abi::consts::BUFFER_AUTOMATIC {
            return 0;
        }
        // SAFETY: the caller's promise.
        unsafe {
            match self.call.args[at].is_wide {
                true => *(array as *const i64).add(entry),
                false => i64::from(*(array as *const c_int).add(entry)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(name: &str) -> &'static Call {
        CALLS.iter().find(|it| it.name == name).unwrap()
    }

    fn told(name: &str, buffer: &str) -> &'static Told {
        let mut args = find(name).args.iter();
        match &args.find(|it| it.name == buffer).unwrap().means {
            Means::Buffer(told) => told,
            _ => panic!("{buffer} of {name} is no buffer"),
        }
    }

    #[test]
    fn every_function_is_there_that_makes_requests_or_objects() {
        for name in [
            "MPI_Isend",
            "MPI_Ialltoallw_c",
            "MPI_Wait",
            "MPI_Comm_dup",
            "MPI_Win_fence",
            "MPI_File_iread_at",
            "MPI_Psend_init",
            "MPI_Finalize",
            "MPIX_Comm_shrink",
        ] {
            find(name);
        }
        let is_there = |name: &str| CALLS.iter().any(|it| it.name == name);
        for name in [
            "MPI_Wtime",
            "MPI_T_init_thread",
            "MPI_Comm_toint",
            "MPI_Pcontrol",
        ] {
            assert!(!is_there(name), "{name}");
        }
        assert_eq!(CALLS[usize::from(number::Send)].name, "MPI_Send");
        assert!(CALLS.iter().all(|it| it.args.len() <= MOST));
    }

    #[test]
    fn a_buffer_is_told_by_the_right_arguments() {
        let send = told("MPI_Send", "buf");
        assert_eq!(
            (send.style, send.count, send.ty),
            (Style::Alike, Some(1), 2)
        );
        let gather = told("MPI_Igatherv", "recvbuf");
        assert_eq!((gather.style, gather.at), (Style::Displaced, At::Root));
        assert_eq!((gather.blocks, gather.more), (Length::Ranks, Some(5)));
        let reduce = told("MPI_Ireduce_scatter", "recvbuf");
        assert_eq!((reduce.style, reduce.blocks), (Style::Behind, Length::Own));
        let alltoall = told("MPI_Neighbor_alltoallw_init", "recvbuf");
        assert_eq!(
            (alltoall.style, alltoall.blocks),
            (Style::Apart, Length::Sources)
        );
        let partitions = told("MPI_Psend_init", "buf");
        assert_eq!((partitions.count, partitions.more), (Some(2), Some(1)));
        assert_eq!(told("MPI_Bcast", "buffer").at, At::All);
    }

    #[test]
    fn integers_have_their_sign() {
        let mut words = [0; MOST];
        words[1] = 0xdead_beef_ffff_ffff;
        let args = Args::new(number::Send, words);
        assert_eq!(args.int(1), -1);
    }
}

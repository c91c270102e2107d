//! What Fortran sees of a function: its arguments, their roles and shapes.

use catena_abi::meaning::{Direction, Kind, Length};
use catena_abi::table::{self, Arg, Function};

/// What an argument is in Fortran.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// A choice buffer, or memory of any type.
    Choice,
    /// A place where an address is written: an integer or a `TYPE(C_PTR)`.
    Place,
    /// A handle of the type in [`FortranArg::base`].
    Handle,
    /// A status.
    Status,
    /// Characters.
    Text,
    /// An array of texts.
    Texts,
    /// A truth value.
    Logical,
    /// `INTEGER`.
    Integer,
    /// `INTEGER` whose value is a position, which Fortran counts from 1.
    Position,
    /// `INTEGER` of the kind for addresses.
    Address,
    /// `INTEGER` of the kind for counts.
    Count,
    /// `INTEGER` of the kind for offsets.
    Offset,
    /// Weights of edges, which may be a sentinel.
    Weights,
    /// Error codes of spawned processes, which may be a sentinel.
    Errcodes,
    /// A procedure of the program; [`FortranArg::base`] is its abstract interface.
    Callback,
}

/// One argument of a procedure.
#[derive(Clone, Debug)]
pub struct FortranArg {
    /// Its name.
    pub name: String,
    /// What it is.
    pub role: Role,
    /// Whether MPI reads or writes it.
    pub direction: Direction,
    /// The type of a handle without its prefix, as in `Comm`, or the name of an abstract interface.
    pub base: String,
    /// The number of entries; `None` for a single value.
    pub length: Option<Length>,
    /// Whether it is an array in Fortran.
    pub array: bool,
    /// Whether C takes a pointer.
    pub pointer: bool,
    /// What tells of a buffer's elements.
    pub of: Vec<&'static str>,
    /// Whether only the root's is looked at.
    pub root_only: bool,
}

/// One procedure.
#[derive(Clone, Debug)]
pub struct Procedure {
    /// The function of C, with its prefix.
    pub name: &'static str,
    /// The chapter of the table.
    pub chapter: &'static str,
    /// The parameters in C.
    pub declarations: Vec<String>,
    /// The arguments, without `ierror`.
    pub args: Vec<FortranArg>,
    /// The type of the result in Fortran, if it is a function.
    pub result: Option<&'static str>,
    /// Whether it has `ierror`.
    pub has_error: bool,
    /// Whether what it does goes on after it has returned.
    pub goes_on: bool,
    /// Whether the body stands in `lib` and is not generated.
    pub by_hand: bool,
}

impl Procedure {
    /// The name without `MPI_` or `MPIX_`.
    pub fn bare(&self) -> &'static str {
        self.name
            .split_once('_')
            .map_or(self.name, |(_, bare)| bare)
    }

    /// Whether no version of the standard has it.
    pub fn is_extension(&self) -> bool {
        self.name.starts_with("MPIX_")
    }

    /// Whether the argument is written once the request is complete that the procedure gives.
    pub fn is_written_later(&self, arg: &FortranArg) -> bool {
        let request = self
            .arg("request")
            .is_some_and(|it| it.direction == Direction::Out);
        let made = arg.base == "Comm" && arg.direction == Direction::Out;
        let both = arg.role == Role::Integer && arg.direction == Direction::InOut;
        request && !arg.array && (made || both)
    }

    /// Whether its counts are large.
    pub fn is_large(&self) -> bool {
        self.name.ends_with("_c")
    }

    /// Whether an argument is a buffer of any type.
    pub fn has_choice(&self) -> bool {
        self.args.iter().any(|a| a.role == Role::Choice)
    }

    /// The argument of this name.
    pub fn arg(&self, name: &str) -> Option<&FortranArg> {
        self.args.iter().find(|a| a.name == name)
    }

    /// Whether `mpif.h` and the module `mpi` have it.
    pub fn is_old(&self) -> bool {
        !self.is_large()
    }

    /// Whether the module `mpi_f08` has it.
    pub fn is_new(&self) -> bool {
        let deprecated = self.name.starts_with("MPI_Attr_") || self.name.starts_with("MPI_Keyval_");
        self.chapter != "removed" && !deprecated
    }
}

/// Functions whose bodies are written by hand, in `lib`.
const BY_HAND: &[&str] = &[
    "MPI_Abi_get_fortran_booleans",
    "MPI_Abi_set_fortran_booleans",
    "MPI_Address",
    "MPI_Aint_add",
    "MPI_Aint_diff",
    "MPI_Attr_get",
    "MPI_Attr_put",
    "MPI_Buffer_detach",
    "MPI_Comm_create_errhandler",
    "MPI_Comm_create_keyval",
    "MPI_Comm_detach_buffer",
    "MPI_Comm_get_attr",
    "MPI_Comm_set_attr",
    "MPI_Comm_spawn",
    "MPI_Comm_spawn_multiple",
    "MPI_Errhandler_create",
    "MPI_Errhandler_get",
    "MPI_Errhandler_set",
    "MPI_File_create_errhandler",
    "MPI_Grequest_start",
    "MPI_Info_create_env",
    "MPI_Info_get_string",
    "MPI_Init",
    "MPI_Init_thread",
    "MPI_Keyval_create",
    "MPI_Op_create",
    "MPI_Pcontrol",
    "MPI_Register_datarep",
    "MPI_Session_create_errhandler",
    "MPI_Session_detach_buffer",
    "MPI_Session_get_nth_pset",
    "MPI_Session_init",
    "MPI_Type_create_keyval",
    "MPI_Type_extent",
    "MPI_Type_get_attr",
    "MPI_Type_hindexed",
    "MPI_Type_hvector",
    "MPI_Type_lb",
    "MPI_Type_set_attr",
    "MPI_Type_struct",
    "MPI_Type_ub",
    "MPI_Win_create_errhandler",
    "MPI_Win_create_keyval",
    "MPI_Win_get_attr",
    "MPI_Win_set_attr",
    "MPI_Wtick",
    "MPI_Wtime",
];

/// All procedures, in the order of the table.
pub fn procedures() -> Vec<Procedure> {
    let all = table::functions();
    all.iter()
        .filter(|f| in_fortran(f))
        .map(procedure)
        .collect()
}

/// Those that no version of the standard has, in the order of their table.
pub fn extensions() -> Vec<Procedure> {
    table::extensions().iter().map(procedure).collect()
}

/// Whether Fortran has the function: the tool interface and the handles as integers are C's.
fn in_fortran(f: &Function) -> bool {
    let numbers = f.name.ends_with("_fromint") || f.name.ends_with("_toint");
    !f.name.starts_with("MPI_T_") && !numbers
}

fn procedure(f: &Function) -> Procedure {
    let plain = f.name.trim_end_matches("_c");
    let skipped = skipped(f.name);
    let args: Vec<FortranArg> = f
        .args
        .iter()
        .filter(|a| !skipped.contains(&a.name) && a.meaning.kind != Kind::Varargs)
        .map(|a| argument(f, a))
        .collect();
    let result = match f.returns {
        "double" => Some("DOUBLE PRECISION"),
        "MPI_Aint" => Some("INTEGER(KIND=MPI_ADDRESS_KIND)"),
        _ => None,
    };
    Procedure {
        name: f.name,
        chapter: f.chapter,
        goes_on: goes_on(f),
        declarations: f.args.iter().map(|a| a.declaration.to_string()).collect(),
        args,
        result,
        has_error: result.is_none() && f.name != "MPI_Pcontrol",
        by_hand: BY_HAND.contains(&plain),
    }
}

/// The arguments of C that Fortran does not have.
fn skipped(name: &str) -> &'static [&'static str] {
    match name {
        "MPI_Init" | "MPI_Init_thread" | "MPI_Info_create_env" => &["argc", "argv"],
        _ => &[],
    }
}

/// Whether the buffers are in use after the call: of all that leave a request, of the one-sided
/// calls, of split collectives, and of attached buffers and windows.
fn goes_on(f: &Function) -> bool {
    let request = f.args.iter().any(|a| {
        let made = a.meaning.direction == Direction::Out && a.meaning.length.is_none();
        a.base() == "MPI_Request" && made
    });
    let plain = f.name.trim_end_matches("_c");
    let attached = plain.contains("attach") || plain.contains("detach");
    request
        || (["rma", "notify"].contains(&f.chapter) && !f.name.contains("query"))
        || plain.ends_with("_begin")
        || plain.ends_with("_end")
        || attached
        || matches!(plain, "MPI_Free_mem" | "MPI_Get_address")
}

fn argument(f: &Function, arg: &Arg) -> FortranArg {
    let meaning = &arg.meaning;
    let role = role(f, arg);
    let base = match role {
        Role::Handle => arg.base().trim_start_matches("MPI_"),
        Role::Callback => arg.base(),
        _ => "",
    };
    FortranArg {
        name: arg.name.to_string(),
        role,
        direction: meaning.direction,
        base: base.to_string(),
        length: meaning.length,
        array: meaning.length.is_some() && !matches!(role, Role::Choice | Role::Text),
        pointer: arg.is_pointer(),
        of: match &meaning.kind {
            Kind::Buffer(of) => of.clone(),
            _ => Vec::new(),
        },
        root_only: meaning.root_only,
    }
}

fn role(f: &Function, arg: &Arg) -> Role {
    let out = arg.meaning.direction == Direction::Out;
    match arg.meaning.kind {
        Kind::Buffer(_) | Kind::Memory => Role::Choice,
        Kind::Address if out => Role::Place,
        Kind::Address => Role::Choice,
        Kind::Handle => Role::Handle,
        Kind::Status => Role::Status,
        Kind::Callback => Role::Callback,
        // The old functions give the program's state and attributes as default integers.
        Kind::State | Kind::Attribute if is_narrow(f.name) => Role::Integer,
        Kind::State | Kind::Attribute => Role::Address,
        Kind::String => Role::Text,
        // A single string may come where there are many processes, none or one.
        Kind::Strings => Role::Texts,
        Kind::Logical => Role::Logical,
        Kind::Weight => Role::Weights,
        Kind::Error if arg.name == "array_of_errcodes" => Role::Errcodes,
        Kind::Index if f.chapter == "p2p" && is_position(arg) => Role::Position,
        _ if f.chapter == "removed" => Role::Integer,
        _ => match arg.base() {
            "MPI_Aint" => Role::Address,
            "MPI_Count" => Role::Count,
            "MPI_Offset" => Role::Offset,
            "int" => Role::Integer,
            other => panic!("{}: {} has the type {other}", f.name, arg.name),
        },
    }
}

/// Whether addresses, states and attributes are default integers: in what older standards had.
fn is_narrow(name: &str) -> bool {
    name.starts_with("MPI_Attr_") || name.starts_with("MPI_Keyval_")
}

/// Positions in an array of requests begin at 1; other indices are C's.
fn is_position(arg: &Arg) -> bool {
    arg.meaning.direction == Direction::Out && matches!(arg.name, "indx" | "array_of_indices")
}

//! Representations of data in files (MPI-5, chapter 14.5): `native`, `internal`, `external32`, and
//! those that the program registers.
//!
//! `internal` is `native` here: all processes of a job have one machine language. What it promises,
//! that the same library reads it everywhere, holds for that of one architecture.

mod convert;
mod scale;

use std::ffi::c_void;
use std::fmt;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use catena_abi::{Aint, Datatype as Handle, consts};
use catena_datatype::TypeRef;
use catena_objects::callback::{
    DatarepConversionFunction, DatarepConversionFunctionC, DatarepExtentFunction, Foreign,
};
use catena_objects::error::{Error, Kind, Result};
use catena_objects::fail;

pub(crate) use convert::{Elements, from_file, to_file, zeroed};

/// A function of the program that converts; nothing stands for data as they are.
#[derive(Clone, Copy, Debug)]
pub enum Conversion {
    /// With `int` counts.
    Int(Foreign<DatarepConversionFunction>),
    /// With `MPI_Count` counts.
    Count(Foreign<DatarepConversionFunctionC>),
}

impl Conversion {
    pub(crate) fn is_null(self) -> bool {
        match self {
            Conversion::Int(f) => f.is_none(),
            Conversion::Count(f) => f.is_none(),
        }
    }
}

/// The functions of a registered representation.
#[derive(Clone, Copy, Debug)]
pub struct Registered {
    /// Converts what was read.
    pub read: Conversion,
    /// Converts what is to be written.
    pub write: Conversion,
    /// Tells the bytes of a predefined type in a file.
    pub extent: Foreign<DatarepExtentFunction>,
    /// What they are given.
    pub extra_state: *mut c_void,
}

// SAFETY: the functions are called by threads that call MPI only; the state is the program's
// matter.
unsafe impl Send for Registered {}
// SAFETY: as above.
unsafe impl Sync for Registered {}

#[derive(Debug)]
enum Format {
    Native,
    External32,
    Registered(Registered),
}

/// A representation.
pub struct Datarep {
    name: String,
    way: Format,
}

impl fmt::Debug for Datarep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

static ALL: LazyLock<Mutex<Vec<Arc<Datarep>>>> = LazyLock::new(|| {
    let new = |name: &str, way| {
        Arc::new(Datarep {
            name: name.to_owned(),
            way,
        })
    };
    Mutex::new(vec![
        new("native", Format::Native),
        new("internal", Format::Native),
        new("external32", Format::External32),
    ])
});

/// Makes a representation known under a name (`MPI_Register_datarep`).
///
/// # Errors
/// `DupDatarep` if there is one of that name, `Arg` for names that are empty or too long, and
/// without the function that tells extents.
pub fn register(name: &str, functions: Registered) -> Result<()> {
    if name.is_empty() || name.len() >= consts::MAX_DATAREP_STRING as usize {
        fail!(
            Arg,
            "the name of a representation has 1 to {} bytes, this one has {}",
            consts::MAX_DATAREP_STRING - 1,
            name.len()
        );
    }
    if functions.extent.is_none() {
        fail!(Arg, "the argument dtype_file_extent_fn is a null pointer");
    }
    let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
    if all.iter().any(|it| it.name == name) {
        fail!(DupDatarep, "there is a representation '{name}' already");
    }
    all.push(Arc::new(Datarep {
        name: name.to_owned(),
        way: Format::Registered(functions),
    }));
    Ok(())
}

impl Datarep {
    /// That of memory.
    pub fn native() -> Arc<Self> {
        let all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
        all[0].clone()
    }

    /// The one of that name; letters of either case.
    ///
    /// # Errors
    /// `UnsupportedDatarep`, with the names that there are.
    pub fn find(name: &str) -> Result<Arc<Self>> {
        let all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
        let found = all.iter().find(|it| it.name == name);
        let found = found.or_else(|| all.iter().find(|it| it.name.eq_ignore_ascii_case(name)));
        found.cloned().ok_or_else(|| {
            let names: Vec<&str> = all.iter().map(|it| it.name.as_str()).collect();
            let text = format!(
                "there is no representation '{name}'; there are {}",
                names.join(", ")
            );
            Error::new(Kind::UnsupportedDatarep, text)
        })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether bytes of a file are those of memory.
    #[inline]
    pub fn is_native(&self) -> bool {
        matches!(self.way, Format::Native)
    }

    /// Whether the library converts, value by value.
    pub fn is_external(&self) -> bool {
        matches!(self.way, Format::External32)
    }

    /// A type as its values lie in a file: without conversion that is the type itself.
    ///
    /// # Errors
    /// `Type` where that would be longer than 63 bits can say; what the program's function returns.
    pub fn in_file(&self, ty: &TypeRef) -> Result<TypeRef> {
        match &self.way {
            Format::Native => Ok(ty.clone()),
            Format::External32 => scale::scaled(ty, &|leaf| {
                leaf.external_size(1).map_err(|e| scale::wrong(&e))
            }),
            Format::Registered(functions) => scale::scaled(ty, &|leaf| functions.extent_of(leaf)),
        }
    }
}

impl Registered {
    /// What the program says of a predefined type.
    fn extent_of(&self, leaf: &TypeRef) -> Result<u64> {
        let handle = Handle(leaf.code().unwrap_or(consts::BYTE.0 as u16).into());
        // A predefined type without a name is told by its bytes.
        let times = if leaf.code().is_some() {
            1
        } else {
            leaf.size()
        };
        let mut extent: Aint = 0;
        if self.extent.is_none() {
            return Ok(leaf.size());
        }
        let call = |f: DatarepExtentFunction| match f {
            // SAFETY: the program registered the function for this state; the extent outlives the
            // call.
            Some(f) => unsafe { f(handle, &raw mut extent, self.extra_state) },
            None => 0,
        };
        let code = self.extent.call(call);
        if code != 0 {
            let text = format!("the extent function of the representation returned {code}");
            return Err(Error::new(Kind::Code(code), text));
        }
        match u64::try_from(extent) {
            Ok(extent) => Ok(extent * times),
            Err(_) => fail!(
                Conversion,
                "the extent function of the representation gave {extent}: extents are not negative"
            ),
        }
    }
}

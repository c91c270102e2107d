//! Datatypes (MPI-5, chapter 5) by their handles, with what programs attach to
//! them. What a datatype is, is in the crate `datatype`.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use catena_abi::{self as abi, consts};
use catena_datatype::{Datatype, TypeRef};

use crate::attr::Attributes;
use crate::error::{Error, Kind, Result};
use crate::table::{ObjectKind, Table};

/// A datatype that the program made.
#[derive(Debug)]
pub struct TypeObj {
    /// Layout.
    pub ty: TypeRef,
    /// Name, empty at first.
    pub name: RefCell<Vec<u8>>,
    /// Cached attributes.
    pub attrs: Attributes,
    /// How many operations may still give its handle to functions of the program.
    held: Cell<u32>,
}

/// Keeps a handle of a datatype alive, though the program frees it.
#[derive(Debug)]
pub struct Hold(Arc<TypeObj>);

impl Hold {
    fn new(obj: Arc<TypeObj>) -> Self {
        obj.held.set(obj.held.get() + 1);
        Hold(obj)
    }
}

impl Clone for Hold {
    fn clone(&self) -> Self {
        Hold::new(self.0.clone())
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.0.held.set(self.0.held.get() - 1);
    }
}

impl TypeObj {
    /// An unnamed type without attributes.
    pub fn new(ty: TypeRef) -> Arc<Self> {
        Arc::new(TypeObj {
            ty,
            name: RefCell::default(),
            attrs: Attributes::default(),
            held: Cell::default(),
        })
    }
}

/// Name and attributes of a predefined type, made when first asked for.
type NamedTypes = RefCell<Vec<(usize, Arc<TypeObj>)>>;

/// The datatypes of a process.
#[derive(Debug)]
pub struct Datatypes {
    /// All but the predefined ones.
    pub table: Table<Arc<TypeObj>>,
    named: NamedTypes,
    /// Predefined types without a name.
    unnamed: RefCell<Vec<(TypeRef, abi::Datatype)>>,
    /// Handles that the program has freed while they were [held](Datatypes::hold), and how many of
    /// these there may be before they are looked through.
    freed: RefCell<Vec<abi::Datatype>>,
    looked: Cell<usize>,
}

impl Default for Datatypes {
    fn default() -> Self {
        Datatypes {
            table: Table::new(ObjectKind::Datatype),
            named: RefCell::default(),
            unnamed: RefCell::default(),
            freed: RefCell::default(),
            looked: Cell::new(1),
        }
    }
}

impl Datatypes {
    /// The layout behind a datatype handle.
    ///
    /// # Errors
    /// `Type` for `MPI_DATATYPE_NULL`, freed and made-up handles, and for
    /// predefined types that this platform lacks.
    #[inline]
    pub fn layout(&self, h: abi::Datatype) -> Result<&TypeRef> {
        if h.0 < 0x1000 {
            if let Some(ty) = Datatype::predefined(h.0 as u16) {
                return Ok(ty);
            }
        } else {
            // SAFETY: callers hold the layout only until they have copied what
            // they need or cloned it; no callback runs in between.
            if let Some(obj) = unsafe { self.table.borrow(h.0) } {
                return Ok(&obj.ty);
            }
        }
        Err(bad_type(h))
    }

    /// The layout, which must be committed, for communication.
    ///
    /// # Errors
    /// As [`Datatypes::layout`], and `Type` if it is not committed.
    #[inline]
    pub fn committed(&self, h: abi::Datatype) -> Result<&TypeRef> {
        let ty = self.layout(h)?;
        if !ty.is_committed() {
            return Err(uncommitted());
        }
        Ok(ty)
    }

    /// The datatype with its name and attributes.
    ///
    /// # Errors
    /// As [`Datatypes::layout`].
    pub fn object(&self, h: abi::Datatype) -> Result<Arc<TypeObj>> {
        if h.0 >= 0x1000 {
            return self.table.get(h.0).ok_or_else(|| bad_type(h));
        }
        let ty = self.layout(h)?;
        let mut named = self.named.borrow_mut();
        if let Some((_, obj)) = named.iter().find(|(code, _)| *code == h.0) {
            return Ok(obj.clone());
        }
        let obj = TypeObj::new(ty.clone());
        *obj.name.borrow_mut() = abi::datatype_name(h).unwrap_or_default().into();
        named.push((h.0, obj.clone()));
        Ok(obj)
    }

    /// Keeps a handle alive as long as what is returned; `None` for one that lives anyway, or does
    /// not.
    pub fn hold(&self, h: abi::Datatype) -> Option<Hold> {
        self.table.get(h.0).map(Hold::new)
    }

    /// The program frees a handle, whose attributes are deleted. While it is held it stays, as
    /// functions of the program may be given it. Cost: constant, over many.
    pub fn free(&self, h: abi::Datatype) {
        let is_held = |h: abi::Datatype| self.table.get(h.0).is_some_and(|it| it.held.get() != 0);
        if !is_held(h) {
            self.table.remove(h.0);
        }
        let mut freed = self.freed.borrow_mut();
        if is_held(h) && !freed.contains(&h) {
            freed.push(h);
        }
        if freed.len() >= self.looked.get() {
            freed.retain(|&it| {
                let stays = is_held(it);
                if !stays {
                    self.table.remove(it.0);
                }
                stays
            });
            self.looked.set(2 * freed.len() + 1);
        }
    }

    /// Stores a datatype.
    pub fn add(&self, ty: TypeRef) -> abi::Datatype {
        abi::Datatype(self.table.insert(TypeObj::new(ty)))
    }

    /// The handle of a predefined datatype. One without a name is stored when
    /// it is first asked for: programs ask often, and cannot free it.
    pub fn predefined(&self, ty: TypeRef) -> abi::Datatype {
        if let Some(code) = ty.code() {
            return abi::Datatype(code.into());
        }
        let mut unnamed = self.unnamed.borrow_mut();
        if let Some((_, handle)) = unnamed.iter().find(|(t, _)| t.is_same_unnamed(&ty)) {
            return *handle;
        }
        let handle = self.add(ty.clone());
        unnamed.push((ty, handle));
        handle
    }
}

#[cold]
fn uncommitted() -> Error {
    let text = "the datatype is not committed: call MPI_Type_commit before it is used in \
        communication";
    Error::new(Kind::Type, text)
}

#[cold]
fn bad_type(h: abi::Datatype) -> Error {
    let text = match abi::datatype_name(h) {
        _ if h == consts::DATATYPE_NULL => "the datatype is MPI_DATATYPE_NULL".to_owned(),
        Some(name) => format!("{name} does not exist on this platform"),
        None => format!("{:#x} is not a datatype, or was freed", h.0),
    };
    Error::new(Kind::Type, text)
}

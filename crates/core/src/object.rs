//! The objects of a process and their handles: everything that exists with or
//! without `MPI_Init`.

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::AcqRel};

use catena_abi::{self as abi, consts};
use catena_datatype::{Datatype, OpKind, TypeRef};

use crate::comm::Comm;
use crate::p2p::Message;
use crate::request::RequestObj;
use crate::session::Session;
use catena_objects::attr::{Attributes, Keyvals};
use catena_objects::errhandler::{Errhandler, ErrhandlerRef, Named};
use catena_objects::error::{Error, Kind, Result};
use catena_objects::fail;
use catena_objects::group::Group;
use catena_objects::info::Info;
use catena_objects::op::{Kernel, Op, kernel};
use catena_objects::table::{Guarded, ObjectKind, Table};

/// How a predefined operation combines a predefined type.
#[derive(Clone, Copy, Debug)]
struct LastKernel {
    op: abi::Op,
    ty: abi::Datatype,
    /// See [`Objects::kernel`].
    found: Kernel,
}

/// A datatype that the program made.
#[derive(Debug)]
pub struct TypeObj {
    /// Layout.
    pub ty: TypeRef,
    /// Name, empty at first.
    pub name: RefCell<Vec<u8>>,
    /// Cached attributes.
    pub attrs: Attributes,
}

impl TypeObj {
    /// An unnamed type without attributes.
    pub fn new(ty: TypeRef) -> Arc<Self> {
        Arc::new(TypeObj {
            ty,
            name: RefCell::default(),
            attrs: Attributes::default(),
        })
    }
}

/// Name and attributes of a predefined type, made when first asked for.
type NamedTypes = RefCell<Vec<(usize, Arc<TypeObj>)>>;

/// All tables.
#[derive(Debug)]
pub struct Objects {
    /// Communicators but the predefined ones.
    pub comms: Table<Arc<Comm>>,
    /// Groups but the empty one.
    pub groups: Table<Arc<Group>>,
    /// Datatypes but the predefined ones.
    pub types: Table<Arc<TypeObj>>,
    named_types: NamedTypes,
    /// Predefined types without a name.
    unnamed_types: RefCell<Vec<(TypeRef, abi::Datatype)>>,
    /// Operations but the predefined ones.
    pub ops: Table<Arc<Op>>,
    /// Error handlers but the predefined ones.
    pub errhandlers: Guarded<Arc<Named>>,
    /// Info objects but `MPI_INFO_ENV`.
    pub infos: Guarded<Arc<Info>>,
    /// Sessions.
    pub sessions: Guarded<Arc<Session>>,
    /// Requests that are not plain transfers.
    pub requests: Table<Arc<RequestObj>>,
    /// Messages between a matched probe and their receive.
    pub messages: Table<Arc<Message>>,
    /// Attribute keys.
    pub keyvals: Keyvals,
    /// The one that was looked up last: most often the next is the same.
    last_kernel: Cell<Option<LastKernel>>,
    empty_group: Arc<Group>,
    fatal: ErrhandlerRef,
    abort: ErrhandlerRef,
    returning: ErrhandlerRef,
}

impl Default for Objects {
    fn default() -> Self {
        Objects {
            comms: Table::new(ObjectKind::Comm),
            groups: Table::new(ObjectKind::Group),
            types: Table::new(ObjectKind::Datatype),
            named_types: RefCell::default(),
            unnamed_types: RefCell::default(),
            ops: Table::new(ObjectKind::Op),
            errhandlers: Guarded::new(ObjectKind::Errhandler),
            infos: Guarded::new(ObjectKind::Info),
            sessions: Guarded::new(ObjectKind::Session),
            requests: Table::new(ObjectKind::Request),
            messages: Table::new(ObjectKind::Message),
            keyvals: Keyvals::default(),
            last_kernel: Cell::new(None),
            empty_group: Group::new([], catena_fabric::Peer(u32::MAX)),
            fatal: Arc::new(Errhandler::Fatal),
            abort: Arc::new(Errhandler::Abort),
            returning: Arc::new(Errhandler::Return),
        }
    }
}

impl Objects {
    /// The group behind a handle.
    ///
    /// # Errors
    /// `Group` for `MPI_GROUP_NULL`, freed and made-up handles.
    pub fn group(&self, h: abi::Group) -> Result<Arc<Group>> {
        match h {
            consts::GROUP_EMPTY => Ok(self.empty_group.clone()),
            consts::GROUP_NULL => fail!(Group, "the group is MPI_GROUP_NULL"),
            _ => match self.groups.get(h.0) {
                Some(group) => Ok(group),
                None => fail!(Group, "{:#x} is not a group, or was freed", h.0),
            },
        }
    }

    /// The session behind a handle.
    ///
    /// # Errors
    /// `Session` for `MPI_SESSION_NULL`, finalized and made-up handles.
    pub fn session(&self, h: abi::Session) -> Result<Arc<Session>> {
        match self.sessions.get(h.0) {
            Some(session) => Ok(session),
            None if h == consts::SESSION_NULL => fail!(Session, "the session is MPI_SESSION_NULL"),
            None => fail!(Session, "{:#x} is not a session, or was finalized", h.0),
        }
    }

    /// Stores a group; the empty one has a handle already.
    pub fn add_group(&self, group: Arc<Group>) -> abi::Group {
        if group.size() == 0 {
            consts::GROUP_EMPTY
        } else {
            abi::Group(self.groups.insert(group))
        }
    }

    /// The layout behind a datatype handle.
    ///
    /// # Errors
    /// `Type` for `MPI_DATATYPE_NULL`, freed and made-up handles, and for
    /// predefined types that this platform lacks.
    #[inline]
    pub fn datatype(&self, h: abi::Datatype) -> Result<&TypeRef> {
        if h.0 < 0x1000 {
            if let Some(ty) = Datatype::predefined(h.0 as u16) {
                return Ok(ty);
            }
        } else {
            // SAFETY: callers hold the layout only until they have copied what
            // they need or cloned it; no callback runs in between.
            if let Some(obj) = unsafe { self.types.borrow(h.0) } {
                return Ok(&obj.ty);
            }
        }
        Err(bad_type(h))
    }

    /// The layout, which must be committed, for communication.
    ///
    /// # Errors
    /// As [`Objects::datatype`], and `Type` if it is not committed.
    #[inline]
    pub fn committed(&self, h: abi::Datatype) -> Result<&TypeRef> {
        let ty = self.datatype(h)?;
        if !ty.is_committed() {
            return Err(uncommitted());
        }
        Ok(ty)
    }

    /// The datatype with its name and attributes.
    ///
    /// # Errors
    /// As [`Objects::datatype`].
    pub fn type_object(&self, h: abi::Datatype) -> Result<Arc<TypeObj>> {
        if h.0 >= 0x1000 {
            return self.types.get(h.0).ok_or_else(|| bad_type(h));
        }
        let ty = self.datatype(h)?;
        let mut named = self.named_types.borrow_mut();
        if let Some((_, obj)) = named.iter().find(|(code, _)| *code == h.0) {
            return Ok(obj.clone());
        }
        let obj = TypeObj::new(ty.clone());
        *obj.name.borrow_mut() = abi::datatype_name(h).unwrap_or_default().into();
        named.push((h.0, obj.clone()));
        Ok(obj)
    }

    /// Stores a datatype.
    pub fn add_type(&self, ty: TypeRef) -> abi::Datatype {
        abi::Datatype(self.types.insert(TypeObj::new(ty)))
    }

    /// The handle of a predefined datatype. One without a name is stored when
    /// it is first asked for: programs ask often, and cannot free it.
    pub fn predefined_type(&self, ty: TypeRef) -> abi::Datatype {
        if let Some(code) = ty.code() {
            return abi::Datatype(code.into());
        }
        let mut unnamed = self.unnamed_types.borrow_mut();
        if let Some((_, handle)) = unnamed.iter().find(|(t, _)| t.is_same_unnamed(&ty)) {
            return *handle;
        }
        let handle = self.add_type(ty.clone());
        unnamed.push((ty, handle));
        handle
    }

    /// The predefined operation behind a handle, if it is of one.
    #[inline]
    pub fn predefined_op(&self, h: abi::Op) -> Option<OpKind> {
        Some(match h {
            consts::SUM => OpKind::Sum,
            consts::MIN => OpKind::Min,
            consts::MAX => OpKind::Max,
            consts::PROD => OpKind::Prod,
            consts::BAND => OpKind::Band,
            consts::BOR => OpKind::Bor,
            consts::BXOR => OpKind::Bxor,
            consts::LAND => OpKind::Land,
            consts::LOR => OpKind::Lor,
            consts::LXOR => OpKind::Lxor,
            consts::MINLOC => OpKind::MinLoc,
            consts::MAXLOC => OpKind::MaxLoc,
            consts::REPLACE => OpKind::Replace,
            consts::NO_OP => OpKind::NoOp,
            _ => return None,
        })
    }

    /// The kernel of a predefined operation for the type of that handle; none if
    /// the operation is not predefined.
    ///
    /// # Errors
    /// `Op` if it is not defined on that type.
    #[inline]
    pub fn kernel(
        &self,
        op: abi::Op,
        handle: abi::Datatype,
        ty: &TypeRef,
    ) -> Result<Option<Kernel>> {
        match self.last_kernel.get() {
            Some(last) if (last.op, last.ty) == (op, handle) => Ok(Some(last.found)),
            _ => self.find_kernel(op, handle, ty),
        }
    }

    #[inline(never)]
    fn find_kernel(
        &self,
        op: abi::Op,
        handle: abi::Datatype,
        ty: &TypeRef,
    ) -> Result<Option<Kernel>> {
        let Some(kind) = self.predefined_op(op) else {
            return Ok(None);
        };
        let found = kernel(kind, handle, ty)?;
        if handle.0 < 0x1000 {
            let ty = handle;
            self.last_kernel.set(Some(LastKernel { op, ty, found }));
        }
        Ok(Some(found))
    }

    /// The operation behind a handle.
    ///
    /// # Errors
    /// `Op` for `MPI_OP_NULL`, freed and made-up handles.
    pub fn op(&self, h: abi::Op) -> Result<Op> {
        if let Some(kind) = self.predefined_op(h) {
            return Ok(Op::Builtin(kind));
        }
        if h == consts::OP_NULL {
            fail!(Op, "the operation is MPI_OP_NULL");
        }
        match self.ops.get(h.0) {
            Some(op) => Ok((*op).clone()),
            None => fail!(Op, "{:#x} is not an operation, or was freed", h.0),
        }
    }

    /// The error handler behind a handle.
    ///
    /// # Errors
    /// `Errhandler` for `MPI_ERRHANDLER_NULL`, freed and made-up handles.
    pub fn errhandler(&self, h: abi::Errhandler) -> Result<ErrhandlerRef> {
        match h {
            consts::ERRORS_ARE_FATAL => Ok(self.fatal.clone()),
            consts::ERRORS_ABORT => Ok(self.abort.clone()),
            consts::ERRORS_RETURN => Ok(self.returning.clone()),
            consts::ERRHANDLER_NULL => {
                fail!(Errhandler, "the error handler is MPI_ERRHANDLER_NULL")
            }
            _ => match self.errhandlers.get(h.0) {
                Some(named) => Ok(named.handler.clone()),
                None => fail!(
                    Errhandler,
                    "{:#x} is not an error handler, or was freed",
                    h.0
                ),
            },
        }
    }

    /// Stores a new error handler.
    pub fn add_errhandler(&self, handler: ErrhandlerRef) -> abi::Errhandler {
        let named = Named {
            handler,
            holders: AtomicU32::new(1),
        };
        abi::Errhandler(self.errhandlers.insert(named.into()))
    }

    /// Lets go of a handle once. Predefined ones are what `MPI_Comm_get_errhandler`
    /// gives, and a program frees what it got.
    ///
    /// # Errors
    /// As [`Objects::errhandler`].
    pub fn free_errhandler(&self, h: abi::Errhandler) -> Result<()> {
        self.errhandler(h)?;
        if let Some(named) = self.errhandlers.get(h.0)
            && named.holders.fetch_sub(1, AcqRel) == 1
        {
            self.errhandlers.remove(h.0);
        }
        Ok(())
    }

    /// A handle for an error handler that some object has: the one that it is
    /// known by, if the program has not freed that.
    pub fn errhandler_handle(&self, handler: &ErrhandlerRef) -> abi::Errhandler {
        match **handler {
            Errhandler::Fatal => consts::ERRORS_ARE_FATAL,
            Errhandler::Abort => consts::ERRORS_ABORT,
            Errhandler::Return => consts::ERRORS_RETURN,
            Errhandler::User { .. } => {
                let mut all = self.errhandlers.all().into_iter();
                match all.find(|(_, named)| Arc::ptr_eq(&named.handler, handler)) {
                    Some((handle, named)) => {
                        named.holders.fetch_add(1, AcqRel);
                        abi::Errhandler(handle)
                    }
                    None => self.add_errhandler(handler.clone()),
                }
            }
        }
    }

    /// The info object behind a handle; `None` for `MPI_INFO_NULL`.
    ///
    /// # Errors
    /// `Info` for freed and made-up handles.
    pub fn info(&self, h: abi::Info) -> Result<Option<Arc<Info>>> {
        match h {
            consts::INFO_NULL => Ok(None),
            consts::INFO_ENV => Ok(Some(crate::init::info_env())),
            _ => match self.infos.get(h.0) {
                Some(info) => Ok(Some(info)),
                None => fail!(Info, "{:#x} is not an info object, or was freed", h.0),
            },
        }
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

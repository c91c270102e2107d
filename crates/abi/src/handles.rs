//! Opaque handles.
//!
//! In C a handle is a pointer to an incomplete struct; the values below 0x1000
//! are predefined by the ABI and no object lies behind them.

macro_rules! handles {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[repr(transparent)]
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub struct $name(pub usize);
    )*};
}

handles! {
    /// `MPI_Comm`
    Comm;
    /// `MPI_Datatype`
    Datatype;
    /// `MPI_Op`
    Op;
    /// `MPI_Group`
    Group;
    /// `MPI_Win`
    Win;
    /// `MPI_File`
    File;
    /// `MPI_Session`
    Session;
    /// `MPI_Message`
    Message;
    /// `MPI_Info`
    Info;
    /// `MPI_Errhandler`
    Errhandler;
    /// `MPI_Request`
    Request;
    /// `MPI_T_enum`
    TEnum;
    /// `MPI_T_cvar_handle`
    TCvarHandle;
    /// `MPI_T_pvar_handle`
    TPvarHandle;
    /// `MPI_T_pvar_session`
    TPvarSession;
    /// `MPI_T_event_registration`
    TEventRegistration;
    /// `MPI_T_event_instance`
    TEventInstance;
}

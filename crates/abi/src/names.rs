//! Names of the predefined handles, and names and texts of the error classes.
//!
//! Made from `tables/constants.tbl` by `cargo xtask gen`.

use crate::*;

/// Error classes: code, name, and the text that `MPI_Error_string` gives.
pub const CLASSES: &[(i32, &str, &str)] = &[
    (0, "MPI_SUCCESS", "no error"),
    (1, "MPI_ERR_BUFFER", "invalid buffer pointer"),
    (2, "MPI_ERR_COUNT", "invalid count"),
    (3, "MPI_ERR_TYPE", "invalid datatype"),
    (4, "MPI_ERR_TAG", "invalid tag"),
    (5, "MPI_ERR_COMM", "invalid communicator"),
    (6, "MPI_ERR_RANK", "invalid rank"),
    (7, "MPI_ERR_REQUEST", "invalid request"),
    (8, "MPI_ERR_ROOT", "invalid root rank"),
    (9, "MPI_ERR_GROUP", "invalid group"),
    (10, "MPI_ERR_OP", "invalid reduction operation"),
    (11, "MPI_ERR_TOPOLOGY", "invalid process topology"),
    (12, "MPI_ERR_DIMS", "invalid dimensions"),
    (13, "MPI_ERR_ARG", "invalid argument"),
    (14, "MPI_ERR_UNKNOWN", "unknown error"),
    (15, "MPI_ERR_TRUNCATE", "message longer than the receive buffer"),
    (16, "MPI_ERR_OTHER", "other error"),
    (17, "MPI_ERR_INTERN", "internal error of the MPI library"),
    (18, "MPI_ERR_PENDING", "operation is still pending"),
    (19, "MPI_ERR_IN_STATUS", "error code is in the status"),
    (20, "MPI_ERR_ACCESS", "permission denied"),
    (21, "MPI_ERR_AMODE", "invalid file access mode"),
    (22, "MPI_ERR_ASSERT", "invalid assertion"),
    (23, "MPI_ERR_BAD_FILE", "invalid file name"),
    (24, "MPI_ERR_BASE", "invalid base address"),
    (25, "MPI_ERR_CONVERSION", "data conversion failed"),
    (26, "MPI_ERR_DISP", "invalid displacement"),
    (27, "MPI_ERR_DUP_DATAREP", "data representation is already defined"),
    (28, "MPI_ERR_FILE_EXISTS", "file exists"),
    (29, "MPI_ERR_FILE_IN_USE", "file is in use"),
    (30, "MPI_ERR_FILE", "invalid file handle"),
    (31, "MPI_ERR_INFO_KEY", "info key is too long"),
    (32, "MPI_ERR_INFO_NOKEY", "info key is not set"),
    (33, "MPI_ERR_INFO_VALUE", "invalid info value"),
    (34, "MPI_ERR_INFO", "invalid info object"),
    (35, "MPI_ERR_IO", "input/output error"),
    (36, "MPI_ERR_KEYVAL", "invalid attribute key"),
    (37, "MPI_ERR_LOCKTYPE", "invalid lock type"),
    (38, "MPI_ERR_NAME", "service name is not published"),
    (39, "MPI_ERR_NO_MEM", "out of memory"),
    (40, "MPI_ERR_NOT_SAME", "arguments differ between the processes"),
    (41, "MPI_ERR_NO_SPACE", "not enough space on the device"),
    (42, "MPI_ERR_NO_SUCH_FILE", "file does not exist"),
    (43, "MPI_ERR_PORT", "invalid port name"),
    (44, "MPI_ERR_QUOTA", "quota exceeded"),
    (45, "MPI_ERR_READ_ONLY", "file or file system is read-only"),
    (46, "MPI_ERR_RMA_ATTACH", "memory cannot be attached to the window"),
    (47, "MPI_ERR_RMA_CONFLICT", "conflicting accesses to the window"),
    (48, "MPI_ERR_RMA_RANGE", "target memory is not part of the window"),
    (49, "MPI_ERR_RMA_SHARED", "memory cannot be shared"),
    (50, "MPI_ERR_RMA_SYNC", "wrong synchronisation of one-sided calls"),
    (51, "MPI_ERR_SERVICE", "invalid service name"),
    (52, "MPI_ERR_SIZE", "invalid size"),
    (53, "MPI_ERR_SPAWN", "processes could not be started"),
    (54, "MPI_ERR_UNSUPPORTED_DATAREP", "data representation is not supported"),
    (55, "MPI_ERR_UNSUPPORTED_OPERATION", "operation is not supported"),
    (56, "MPI_ERR_WIN", "invalid window"),
    (57, "MPI_ERR_RMA_FLAVOR", "window has the wrong flavour"),
    (58, "MPI_ERR_PROC_ABORTED", "a peer process has aborted"),
    (59, "MPI_ERR_VALUE_TOO_LARGE", "value does not fit into the result"),
    (60, "MPI_ERR_SESSION", "invalid session"),
    (61, "MPI_ERR_ERRHANDLER", "invalid error handler"),
    (62, "MPI_ERR_ABI", "ABI request cannot be fulfilled"),
    (16321, "MPIX_ERR_PROC_FAILED", "a process has failed"),
    (
        16322,
        "MPIX_ERR_PROC_FAILED_PENDING",
        "a process that might send has failed; the receive is still pending",
    ),
    (16323, "MPIX_ERR_REVOKED", "the communicator was revoked"),
    (1001, "MPI_T_ERR_CANNOT_INIT", "tool interface cannot be initialised"),
    (1002, "MPI_T_ERR_NOT_ACCESSIBLE", "variable is not accessible"),
    (1003, "MPI_T_ERR_NOT_INITIALIZED", "tool interface is not initialised"),
    (1004, "MPI_T_ERR_NOT_SUPPORTED", "not supported by the tool interface"),
    (1005, "MPI_T_ERR_MEMORY", "tool interface is out of memory"),
    (1006, "MPI_T_ERR_INVALID", "invalid use of the tool interface"),
    (1007, "MPI_T_ERR_INVALID_INDEX", "index is out of range"),
    (1008, "MPI_T_ERR_INVALID_ITEM", "item index is out of range"),
    (1009, "MPI_T_ERR_INVALID_SESSION", "invalid tool session"),
    (1010, "MPI_T_ERR_INVALID_HANDLE", "invalid tool handle"),
    (1011, "MPI_T_ERR_INVALID_NAME", "name is not known"),
    (1012, "MPI_T_ERR_OUT_OF_HANDLES", "no more tool handles"),
    (1013, "MPI_T_ERR_OUT_OF_SESSIONS", "no more tool sessions"),
    (1014, "MPI_T_ERR_CVAR_SET_NOT_NOW", "control variable cannot be set now"),
    (1015, "MPI_T_ERR_CVAR_SET_NEVER", "control variable cannot be set"),
    (1016, "MPI_T_ERR_PVAR_NO_WRITE", "performance variable cannot be written or reset"),
    (1017, "MPI_T_ERR_PVAR_NO_STARTSTOP", "performance variable cannot be started or stopped"),
    (1018, "MPI_T_ERR_PVAR_NO_ATOMIC", "performance variable cannot be read and reset at once"),
    (16383, "MPI_ERR_LASTCODE", "last error code of the standard"),
];

/// Name of an error class, as in `MPI_ERR_RANK`.
pub fn class_name(class: i32) -> Option<&'static str> {
    CLASSES.iter().find(|c| c.0 == class).map(|c| c.1)
}

/// Text of an error class, as in "invalid rank".
pub fn class_text(class: i32) -> Option<&'static str> {
    CLASSES.iter().find(|c| c.0 == class).map(|c| c.2)
}

impl Op {
    /// The predefined values and their names.
    pub const PREDEFINED: &[(Self, &str)] = &[
        (Op(0x020), "MPI_OP_NULL"),
        (Op(0x021), "MPI_SUM"),
        (Op(0x022), "MPI_MIN"),
        (Op(0x023), "MPI_MAX"),
        (Op(0x024), "MPI_PROD"),
        (Op(0x028), "MPI_BAND"),
        (Op(0x029), "MPI_BOR"),
        (Op(0x02a), "MPI_BXOR"),
        (Op(0x030), "MPI_LAND"),
        (Op(0x031), "MPI_LOR"),
        (Op(0x032), "MPI_LXOR"),
        (Op(0x038), "MPI_MINLOC"),
        (Op(0x039), "MPI_MAXLOC"),
        (Op(0x03c), "MPI_REPLACE"),
        (Op(0x03d), "MPI_NO_OP"),
    ];

    /// Name of a predefined value, as in `MPI_OP_NULL`.
    pub fn name(self) -> Option<&'static str> {
        let entry = Self::PREDEFINED.iter().find(|e| e.0 == self);
        entry.map(|e| e.1)
    }
}

impl Comm {
    /// The predefined values and their names.
    pub const PREDEFINED: &[(Self, &str)] = &[
        (Comm(0x100), "MPI_COMM_NULL"),
        (Comm(0x101), "MPI_COMM_WORLD"),
        (Comm(0x102), "MPI_COMM_SELF"),
    ];

    /// Name of a predefined value, as in `MPI_COMM_NULL`.
    pub fn name(self) -> Option<&'static str> {
        let entry = Self::PREDEFINED.iter().find(|e| e.0 == self);
        entry.map(|e| e.1)
    }
}

impl Group {
    /// The predefined values and their names.
    pub const PREDEFINED: &[(Self, &str)] = &[
        (Group(0x108), "MPI_GROUP_NULL"),
        (Group(0x109), "MPI_GROUP_EMPTY"),
    ];

    /// Name of a predefined value, as in `MPI_GROUP_NULL`.
    pub fn name(self) -> Option<&'static str> {
        let entry = Self::PREDEFINED.iter().find(|e| e.0 == self);
        entry.map(|e| e.1)
    }
}

impl Win {
    /// The predefined values and their names.
    pub const PREDEFINED: &[(Self, &str)] = &[(Win(0x110), "MPI_WIN_NULL")];

    /// Name of a predefined value, as in `MPI_WIN_NULL`.
    pub fn name(self) -> Option<&'static str> {
        let entry = Self::PREDEFINED.iter().find(|e| e.0 == self);
        entry.map(|e| e.1)
    }
}

impl File {
    /// The predefined values and their names.
    pub const PREDEFINED: &[(Self, &str)] = &[(File(0x118), "MPI_FILE_NULL")];

    /// Name of a predefined value, as in `MPI_FILE_NULL`.
    pub fn name(self) -> Option<&'static str> {
        let entry = Self::PREDEFINED.iter().find(|e| e.0 == self);
        entry.map(|e| e.1)
    }
}

impl Session {
    /// The predefined values and their names.
    pub const PREDEFINED: &[(Self, &str)] = &[(Session(0x120), "MPI_SESSION_NULL")];

    /// Name of a predefined value, as in `MPI_SESSION_NULL`.
    pub fn name(self) -> Option<&'static str> {
        let entry = Self::PREDEFINED.iter().find(|e| e.0 == self);
        entry.map(|e| e.1)
    }
}

impl Message {
    /// The predefined values and their names.
    pub const PREDEFINED: &[(Self, &str)] = &[
        (Message(0x128), "MPI_MESSAGE_NULL"),
        (Message(0x129), "MPI_MESSAGE_NO_PROC"),
    ];

    /// Name of a predefined value, as in `MPI_MESSAGE_NULL`.
    pub fn name(self) -> Option<&'static str> {
        let entry = Self::PREDEFINED.iter().find(|e| e.0 == self);
        entry.map(|e| e.1)
    }
}

impl Info {
    /// The predefined values and their names.
    pub const PREDEFINED: &[(Self, &str)] = &[
        (Info(0x130), "MPI_INFO_NULL"),
        (Info(0x131), "MPI_INFO_ENV"),
    ];

    /// Name of a predefined value, as in `MPI_INFO_NULL`.
    pub fn name(self) -> Option<&'static str> {
        let entry = Self::PREDEFINED.iter().find(|e| e.0 == self);
        entry.map(|e| e.1)
    }
}

impl Errhandler {
    /// The predefined values and their names.
    pub const PREDEFINED: &[(Self, &str)] = &[
        (Errhandler(0x140), "MPI_ERRHANDLER_NULL"),
        (Errhandler(0x141), "MPI_ERRORS_ARE_FATAL"),
        (Errhandler(0x142), "MPI_ERRORS_ABORT"),
        (Errhandler(0x143), "MPI_ERRORS_RETURN"),
    ];

    /// Name of a predefined value, as in `MPI_ERRHANDLER_NULL`.
    pub fn name(self) -> Option<&'static str> {
        let entry = Self::PREDEFINED.iter().find(|e| e.0 == self);
        entry.map(|e| e.1)
    }
}

impl Request {
    /// The predefined values and their names.
    pub const PREDEFINED: &[(Self, &str)] = &[(Request(0x180), "MPI_REQUEST_NULL")];

    /// Name of a predefined value, as in `MPI_REQUEST_NULL`.
    pub fn name(self) -> Option<&'static str> {
        let entry = Self::PREDEFINED.iter().find(|e| e.0 == self);
        entry.map(|e| e.1)
    }
}

impl Datatype {
    /// The predefined values and their names.
    pub const PREDEFINED: &[(Self, &str)] = &[
        (Datatype(0x200), "MPI_DATATYPE_NULL"),
        (Datatype(0x201), "MPI_AINT"),
        (Datatype(0x202), "MPI_COUNT"),
        (Datatype(0x203), "MPI_OFFSET"),
        (Datatype(0x207), "MPI_PACKED"),
        (Datatype(0x208), "MPI_SHORT"),
        (Datatype(0x209), "MPI_INT"),
        (Datatype(0x20a), "MPI_LONG"),
        (Datatype(0x20b), "MPI_LONG_LONG"),
        (Datatype(0x20c), "MPI_UNSIGNED_SHORT"),
        (Datatype(0x20d), "MPI_UNSIGNED"),
        (Datatype(0x20e), "MPI_UNSIGNED_LONG"),
        (Datatype(0x20f), "MPI_UNSIGNED_LONG_LONG"),
        (Datatype(0x210), "MPI_FLOAT"),
        (Datatype(0x212), "MPI_C_COMPLEX"),
        (Datatype(0x213), "MPI_CXX_FLOAT_COMPLEX"),
        (Datatype(0x214), "MPI_DOUBLE"),
        (Datatype(0x216), "MPI_C_DOUBLE_COMPLEX"),
        (Datatype(0x217), "MPI_CXX_DOUBLE_COMPLEX"),
        (Datatype(0x218), "MPI_LOGICAL"),
        (Datatype(0x219), "MPI_INTEGER"),
        (Datatype(0x21a), "MPI_REAL"),
        (Datatype(0x21b), "MPI_COMPLEX"),
        (Datatype(0x21c), "MPI_DOUBLE_PRECISION"),
        (Datatype(0x21d), "MPI_DOUBLE_COMPLEX"),
        (Datatype(0x21e), "MPI_CHARACTER"),
        (Datatype(0x220), "MPI_LONG_DOUBLE"),
        (Datatype(0x224), "MPI_C_LONG_DOUBLE_COMPLEX"),
        (Datatype(0x225), "MPI_CXX_LONG_DOUBLE_COMPLEX"),
        (Datatype(0x228), "MPI_FLOAT_INT"),
        (Datatype(0x229), "MPI_DOUBLE_INT"),
        (Datatype(0x22a), "MPI_LONG_INT"),
        (Datatype(0x22b), "MPI_2INT"),
        (Datatype(0x22c), "MPI_SHORT_INT"),
        (Datatype(0x22d), "MPI_LONG_DOUBLE_INT"),
        (Datatype(0x230), "MPI_2REAL"),
        (Datatype(0x231), "MPI_2DOUBLE_PRECISION"),
        (Datatype(0x232), "MPI_2INTEGER"),
        (Datatype(0x238), "MPI_C_BOOL"),
        (Datatype(0x239), "MPI_CXX_BOOL"),
        (Datatype(0x23c), "MPI_WCHAR"),
        (Datatype(0x240), "MPI_INT8_T"),
        (Datatype(0x241), "MPI_UINT8_T"),
        (Datatype(0x243), "MPI_CHAR"),
        (Datatype(0x244), "MPI_SIGNED_CHAR"),
        (Datatype(0x245), "MPI_UNSIGNED_CHAR"),
        (Datatype(0x247), "MPI_BYTE"),
        (Datatype(0x248), "MPI_INT16_T"),
        (Datatype(0x249), "MPI_UINT16_T"),
        (Datatype(0x250), "MPI_INT32_T"),
        (Datatype(0x251), "MPI_UINT32_T"),
        (Datatype(0x258), "MPI_INT64_T"),
        (Datatype(0x259), "MPI_UINT64_T"),
        (Datatype(0x2c0), "MPI_LOGICAL1"),
        (Datatype(0x2c1), "MPI_INTEGER1"),
        (Datatype(0x2c8), "MPI_LOGICAL2"),
        (Datatype(0x2c9), "MPI_INTEGER2"),
        (Datatype(0x2ca), "MPI_REAL2"),
        (Datatype(0x2d0), "MPI_LOGICAL4"),
        (Datatype(0x2d1), "MPI_INTEGER4"),
        (Datatype(0x2d2), "MPI_REAL4"),
        (Datatype(0x2d3), "MPI_COMPLEX4"),
        (Datatype(0x2d8), "MPI_LOGICAL8"),
        (Datatype(0x2d9), "MPI_INTEGER8"),
        (Datatype(0x2da), "MPI_REAL8"),
        (Datatype(0x2db), "MPI_COMPLEX8"),
        (Datatype(0x2e0), "MPI_LOGICAL16"),
        (Datatype(0x2e1), "MPI_INTEGER16"),
        (Datatype(0x2e2), "MPI_REAL16"),
        (Datatype(0x2e3), "MPI_COMPLEX16"),
        (Datatype(0x2eb), "MPI_COMPLEX32"),
    ];

    /// Name of a predefined value, as in `MPI_DATATYPE_NULL`.
    pub fn name(self) -> Option<&'static str> {
        let entry = Self::PREDEFINED.iter().find(|e| e.0 == self);
        entry.map(|e| e.1)
    }
}

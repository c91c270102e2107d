//! The functions of the standard, which the build script makes.

use std::ffi::{c_char, c_int, c_void};
use std::ptr::null_mut;

use catena_abi::{Aint, Count, Offset, consts};
use catena_layer::Abi;
use catena_layer::code::{Codes, code, code_in, code_out};
use catena_layer::core;
use catena_layer::handle::Handle;
use catena_layer::number as to;
use catena_layer::place::{HandleArray, InOut, Out};
use catena_layer::status::{StatusIn, StatusOut, StatusRoom};
use catena_layer::text::Text;

use crate::handle::*;
use crate::interface::Mpich as A;
use crate::status::Status;

include!(concat!(env!("OUT_DIR"), "/functions.rs"));

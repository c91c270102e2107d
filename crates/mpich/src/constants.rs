//! Constants, from the table in `catena_foreign`.
#![allow(dead_code, reason = "not all of them are needed")]

include!(concat!(env!("OUT_DIR"), "/constants.rs"));

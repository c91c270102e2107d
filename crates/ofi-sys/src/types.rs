//! Structures and tables of functions of `fi_domain(3)`, `fi_endpoint(3)`,
//! `fi_cq(3)`, `fi_getinfo(3)` and their neighbours. Fields that Catena never
//! touches keep their place and lose their type.

mod attributes;
mod objects;

pub use attributes::*;
pub use objects::*;

#[cfg(target_pointer_width = "64")]
const _: () = {
    // As a C compiler lays out the headers of 1.17.
    assert!(size_of::<Info>() == 120 && size_of::<TxAttr>() == 80);
    assert!(size_of::<RxAttr>() == 64 && size_of::<EpAttr>() == 96);
    assert!(size_of::<FabricAttr>() == 32 && size_of::<AvAttr>() == 48);
    assert!(size_of::<CqAttr>() == 40 && size_of::<CqEntry>() == 40);
    assert!(size_of::<MsgRma>() == 64 && size_of::<RmaIov>() == 24);
    assert!(size_of::<Msg>() == 48 && size_of::<Context2>() == 64);
    assert!(std::mem::offset_of!(CqErrEntry, src_addr) == 80);
    assert!(std::mem::offset_of!(DomainAttr, mr_key_size) == 40);
};

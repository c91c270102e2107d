//! Operations and kinds of elements, as records name them.

use std::collections::HashMap;
use std::sync::LazyLock;

use catena_datatype::{Basic, Datatype, OpKind};

/// All predefined operations, by their number in records.
pub(super) const OPERATIONS: [OpKind; 14] = [
    OpKind::Sum,
    OpKind::Min,
    OpKind::Max,
    OpKind::Prod,
    OpKind::Band,
    OpKind::Bor,
    OpKind::Bxor,
    OpKind::Land,
    OpKind::Lor,
    OpKind::Lxor,
    OpKind::MinLoc,
    OpKind::MaxLoc,
    OpKind::Replace,
    OpKind::NoOp,
];

/// The number of a kind of elements in records.
pub(super) fn code(basic: Basic) -> u8 {
    static CODES: LazyLock<HashMap<Basic, u8>> = LazyLock::new(|| {
        let mut all: Vec<u16> = Datatype::predefined_codes().collect();
        all.sort_unstable_by(|a, b| b.cmp(a));
        let basic = |code: u16| Some((Datatype::predefined(code)?.basic()?, code as u8));
        all.into_iter().filter_map(basic).collect()
    });
    CODES.get(&basic).copied().unwrap_or(BYTE)
}

/// That of bytes.
pub(crate) const BYTE: u8 = 0x47;

/// The numbers of an operation and of the kind of its elements in records.
pub(crate) fn codes(kind: OpKind, ty: &Datatype) -> (u8, u8) {
    let operation = OPERATIONS.iter().position(|it| *it == kind);
    let basic = ty.basic().filter(|_| kind != OpKind::NoOp);
    (
        operation.unwrap_or_default() as u8,
        basic.map_or(BYTE, code),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_elements_have_numbers() {
        assert_eq!(
            Datatype::predefined(0x247).unwrap().basic(),
            Some(Basic::Scalar(catena_datatype::Scalar::Byte))
        );
        for handle in Datatype::predefined_codes() {
            if let Some(basic) = Datatype::predefined(handle).and_then(|it| it.basic()) {
                let back = Datatype::predefined(0x200 | u16::from(code(basic))).expect("a type");
                assert_eq!(back.basic(), Some(basic), "{handle:#x}");
            }
        }
    }
}

//! Memory of functions that have returned: what lies in the stack below the caller's part of it.

use crate::site::Site;
use crate::tell::{Finding, Kind};
use crate::{requests, stack, windows};

/// Memory in use that belonged to a function which has returned: `top` is the address in the stack
/// up to which others than the caller have it.
pub fn find(top: usize, site: impl Fn() -> Site) -> Vec<Finding> {
    if !requests::may_use_below(top) && !windows::may_use_below(top) {
        return Vec::new();
    }
    let own = stack::own();
    if !own.contains(&top) {
        return Vec::new();
    }
    let mut found = Vec::new();
    if let Some(met) = requests::within(own.start, top - own.start) {
        let text = format!(
            "the buffer {} of a pending {} lies in the stack of a function that has returned",
            met.arg, met.site.call
        );
        let finding = Finding::error(Kind::Memory, site(), text);
        found.push(finding.besides("the operation began in", &met.site).remedy(
            "complete the operation before the function returns, or use memory that stays",
        ));
    }
    if let Some((_, made)) = windows::between(own.start, top) {
        let text = "the memory of a window lies in the stack of a function that has returned";
        let finding = Finding::error(Kind::Memory, site(), text.into());
        found.push(
            finding.besides("the window was made by", &made).remedy(
                "give windows memory that stays until MPI_Win_free, as of MPI_Win_allocate",
            ),
        );
    }
    found
}

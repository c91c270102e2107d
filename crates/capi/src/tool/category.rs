//! Categories (MPI-5, chapter 15.3.9).

use std::ffi::{c_char, c_int};

use catena_mpit::{Category, Error, Result, catalog};

use super::{at, give, give_string, name as text, needed, put, tool_fn};

/// The category never changes.
const CHANGES: c_int = 0;

/// Stores the first `len` of some indices.
fn indices(all: &[usize], len: c_int, to: *mut c_int) -> Result<()> {
    let len = usize::try_from(len).map_err(|_| Error::Invalid)?;
    let len = len.min(all.len());
    if len > 0 {
        needed(to)?;
    }
    for (i, &index) in all[..len].iter().enumerate() {
        // SAFETY: the program's array has at least `len` elements.
        unsafe { to.add(i).write(index as c_int) };
    }
    Ok(())
}

fn category(index: c_int) -> Result<&'static Category> {
    at(&catalog().categories, index)
}

tool_fn! {
    fn MPI_T_category_get_num(num_cat: *mut c_int) {
        put(num_cat, catalog().categories.len() as c_int)
    }

    fn MPI_T_category_get_info(cat_index: c_int, name: *mut c_char, name_len: *mut c_int,
        desc: *mut c_char, desc_len: *mut c_int, num_cvars: *mut c_int, num_pvars: *mut c_int,
        num_categories: *mut c_int)
    {
        let c = category(cat_index)?;
        give_string(name, name_len, &c.name);
        give_string(desc, desc_len, &c.doc);
        give(num_cvars, c.cvars.len() as c_int);
        give(num_pvars, c.pvars.len() as c_int);
        give(num_categories, c.categories.len() as c_int);
        Ok(())
    }

    fn MPI_T_category_get_num_events(cat_index: c_int, num_events: *mut c_int) {
        put(num_events, category(cat_index)?.events.len() as c_int)
    }

    fn MPI_T_category_get_index(name: *const c_char, cat_index: *mut c_int) {
        needed(cat_index)?;
        put(cat_index, catalog().category_index(text(name)?)? as c_int)
    }

    fn MPI_T_category_get_cvars(cat_index: c_int, len: c_int, to: *mut c_int) {
        indices(&category(cat_index)?.cvars, len, to)
    }

    fn MPI_T_category_get_pvars(cat_index: c_int, len: c_int, to: *mut c_int) {
        indices(&category(cat_index)?.pvars, len, to)
    }

    fn MPI_T_category_get_events(cat_index: c_int, len: c_int, to: *mut c_int) {
        indices(&category(cat_index)?.events, len, to)
    }

    fn MPI_T_category_get_categories(cat_index: c_int, len: c_int, to: *mut c_int) {
        indices(&category(cat_index)?.categories, len, to)
    }

    fn MPI_T_category_changed(update_number: *mut c_int) {
        put(update_number, CHANGES)
    }
}

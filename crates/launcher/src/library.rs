//! Catena's own library, which ranks are offered last of all.
//!
//! It lies in a folder of its own, `lib/catena`, so that nothing else is found
//! there that a program might take for the system's.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Name of the library with the standard binary interface.
pub const NAME: &str = "libmpi_abi.so.1";

/// The folders in which the dynamic loader looks before those of the system.
const SEARCH: &str = "LD_LIBRARY_PATH";

/// The folder that holds nothing but the library that belongs to this launcher;
/// none if it is not installed, as in the folder where Cargo builds.
pub fn folder() -> Option<PathBuf> {
    beside(&std::env::current_exe().ok()?)
}

/// That folder for a launcher at `launcher`.
fn beside(launcher: &Path) -> Option<PathBuf> {
    let folder = launcher.parent()?.parent()?.join("lib/catena");
    // Which end an element of a search path, or stand for something else in it.
    let special = |byte: &u8| b":;$".contains(byte);
    let usable = !folder.as_os_str().as_bytes().iter().any(special);
    (usable && folder.join(NAME).is_file()).then_some(folder)
}

/// Has ranks with variables `vars` find the library in `folder`, unless they
/// find one in the folders that the variables name themselves.
pub fn offer(folder: &Path, vars: &mut Vec<(OsString, OsString)>) {
    let folder = folder.as_os_str();
    let Some((_, value)) = vars.iter_mut().find(|(name, _)| name == SEARCH) else {
        return vars.push((SEARCH.into(), folder.into()));
    };
    if elements(value).any(|element| element == folder) {
        return;
    }
    // An empty element would be the working directory.
    if !value.is_empty() {
        value.push(":");
    }
    value.push(folder);
}

/// Whether the loader comes upon another file of that name before the one in
/// `folder`, if it begins with the folders that `vars` name. The same file in another
/// folder, such as `lib`, is no other one; a folder that is not known may hold one.
pub fn is_behind(folder: &Path, vars: &[(OsString, OsString)]) -> bool {
    let search = vars.iter().find(|(name, _)| name == SEARCH);
    let Some((_, search)) = search else {
        return true;
    };
    let file = |folder: &Path| {
        let about = folder.join(NAME).metadata().ok()?;
        Some((about.dev(), about.ino()))
    };
    let own = file(folder);
    let before = elements(search).take_while(|element| *element != folder.as_os_str());
    let holds = |element: &OsStr| {
        let relative = !element.as_bytes().starts_with(b"/");
        let known = !relative && !element.as_bytes().contains(&b'$');
        !known || file(Path::new(element)).is_some_and(|it| Some(it) != own)
    };
    before.into_iter().any(holds)
}

fn elements(search: &OsStr) -> impl Iterator<Item = &OsStr> {
    let parts = search.as_bytes().split(|byte| b":;".contains(byte));
    parts.map(OsStr::from_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offered(value: Option<&str>) -> String {
        let mut vars = vec![("OTHER".into(), "/other".into())];
        vars.extend(value.map(|value| (SEARCH.into(), value.into())));
        offer(Path::new("/opt/lib/catena"), &mut vars);
        assert_eq!(vars.len(), 2);
        vars.pop().unwrap().1.into_string().unwrap()
    }

    #[test]
    fn the_folder_comes_last_and_once() {
        assert_eq!(offered(None), "/opt/lib/catena");
        assert_eq!(offered(Some("/a:/b")), "/a:/b:/opt/lib/catena");
        assert_eq!(offered(Some("/a;/b")), "/a;/b:/opt/lib/catena");
        let there = "/opt/lib/catena:/b";
        assert_eq!(offered(Some(there)), there);
    }

    #[test]
    fn the_working_directory_is_not_searched_unless_the_user_says_so() {
        assert_eq!(offered(Some("")), "/opt/lib/catena");
        assert_eq!(offered(Some("/a:")), "/a::/opt/lib/catena");
    }

    #[test]
    fn it_is_offered_only_where_it_is() {
        let home = std::env::temp_dir().join(format!("catena-library-{}", std::process::id()));
        let launcher = home.join("bin/mpirun");
        std::fs::create_dir_all(home.join("lib/catena")).unwrap();
        assert_eq!(beside(&launcher), None);
        std::fs::write(home.join("lib/catena").join(NAME), "").unwrap();
        let folder = home.join("lib/catena");
        assert_eq!(beside(&launcher).as_ref(), Some(&folder));

        let search = |value: String| [(OsString::from(SEARCH), OsString::from(value))];
        let own = folder.display();
        assert!(!is_behind(&folder, &search(format!("/nonexistent:{own}"))));
        std::os::unix::fs::symlink(folder.join(NAME), home.join("lib").join(NAME)).unwrap();
        let lib = home.join("lib");
        assert!(!is_behind(
            &folder,
            &search(format!("{}:{own}", lib.display()))
        ));
        assert!(is_behind(&folder, &search(format!("relative:{own}"))));
        assert!(is_behind(&folder, &search(format!("{own}/$LIB:{own}"))));
        let other = home.join("other");
        std::fs::create_dir_all(&other).unwrap();
        std::fs::write(other.join(NAME), "").unwrap();
        let with_other = format!("{}:{own}", other.display());
        assert!(is_behind(&folder, &search(with_other)));

        // A name that the loader would take for two folders.
        let odd = home.join("a:b");
        std::fs::create_dir_all(odd.join("lib/catena")).unwrap();
        std::fs::write(odd.join("lib/catena").join(NAME), "").unwrap();
        assert_eq!(beside(&odd.join("bin/mpirun")), None);
        std::fs::remove_dir_all(&home).unwrap();
    }
}

//! Catena's own library, which ranks are offered last of all.
//!
//! It lies in a folder of its own, `lib/catena`, so that nothing else is found
//! there that a program might take for the system's.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Name of the library with the standard binary interface.
pub const NAME: &str = "libmpi_abi.so.1";

/// What the dynamic loader loads before all others.
pub const PRELOAD: &str = "LD_PRELOAD";

/// A tool that ranks load before all other libraries.
#[derive(Clone, Copy, Debug)]
pub struct Tool {
    /// The option that asks for it.
    option: &'static str,
    /// The name of its file.
    file: &'static str,
}

impl Tool {
    /// The option that asks for it.
    pub fn option(&self) -> &'static str {
        self.option
    }
}

/// What finds faults of programs.
pub const CHECKER: Tool = Tool {
    option: "--check",
    file: "libcatena_check.so",
};

/// What counts where the time goes.
pub const PROFILER: Tool = Tool {
    option: "--profile",
    file: "libcatena_profile.so",
};

/// What writes the calls of a program one by one: it counts them as well.
pub const TRACER: Tool = Tool {
    option: "--trace",
    ..PROFILER
};

/// What notes how messages and collectives went.
pub const EXPLAINER: Tool = Tool {
    option: "--explain",
    ..PROFILER
};

/// The folders in which the dynamic loader looks before those of the system.
const SEARCH: &str = "LD_LIBRARY_PATH";

/// The folder that holds nothing but the library that belongs to this launcher;
/// none if it is not installed, as in the folder where Cargo builds.
pub fn folder() -> Option<PathBuf> {
    beside(&std::env::current_exe().ok()?)
}

/// The folder `lib/catena` beside a launcher at `launcher`.
fn beside(launcher: &Path) -> Option<PathBuf> {
    let folder = launcher.parent()?.parent()?.join("lib/catena");
    // Which end an element of a search path, or stand for something else in it.
    let special = |byte: &u8| b":;$".contains(byte);
    let usable = !folder.as_os_str().as_bytes().iter().any(special);
    (usable && folder.join(NAME).is_file()).then_some(folder)
}

/// The variable with which ranks load a tool before all other libraries: what they have of that
/// variable, among `vars` or from the launcher, comes after it.
///
/// # Errors
/// If the library is not installed, or the loader cannot be told its name; says what to do.
pub fn preload(tool: Tool, vars: &[(OsString, OsString)]) -> Result<(OsString, OsString), String> {
    let Tool { option, file: name } = tool;
    let own = std::env::current_exe().ok();
    let prefix = own.as_deref().and_then(|own| own.parent()?.parent());
    let file = prefix.map(|prefix| prefix.join("libexec/catena").join(name));
    let Some(file) = file.filter(|file| file.is_file()) else {
        return Err(format!(
            "{option}: libexec/catena/{name} is missing: install Catena anew"
        ));
    };
    if file
        .as_os_str()
        .as_bytes()
        .iter()
        .any(|byte| b" :".contains(byte))
    {
        let shown = file.display();
        return Err(format!(
            "{option}: the loader takes no name with blanks or colons: {shown}: move Catena"
        ));
    }
    let given = vars.iter().rev().find(|(name, _)| name == PRELOAD);
    let given = given
        .map(|(_, value)| value.clone())
        .or_else(|| std::env::var_os(PRELOAD));
    let mut value = file.into_os_string();
    if let Some(given) = given.filter(|given| !given.is_empty()) {
        value.push(":");
        value.push(given);
    }
    Ok((PRELOAD.into(), value))
}

/// The name by which programs ask for the library whose file is called `name`: of the numbers of
/// its version, the first.
pub fn asked_for(name: &str) -> &str {
    let Some((stem, version)) = name.split_once(".so.") else {
        return name;
    };
    let first = version.split('.').next().unwrap_or_default();
    &name[..stem.len() + ".so.".len() + first.len()]
}

/// The value of `LD_LIBRARY_PATH` among `vars`.
pub fn search(vars: &[(OsString, OsString)]) -> &OsStr {
    let found = vars.iter().find(|(name, _)| name == SEARCH);
    found.map_or(OsStr::new(""), |(_, value)| value)
}

/// Has `vars` say that libraries are looked for in `search` first.
pub fn set_search(vars: &mut Vec<(OsString, OsString)>, search: OsString) {
    match vars.iter_mut().find(|(name, _)| name == SEARCH) {
        Some((_, value)) => *value = search,
        None if search.is_empty() => {}
        None => vars.push((SEARCH.into(), search)),
    }
}

/// `search` with `folder` after all others, unless it is there already.
pub fn offer_last(mut search: OsString, folder: &Path) -> OsString {
    let folder = folder.as_os_str();
    if elements(&search).any(|element| element == folder) {
        return search;
    }
    // An empty element would be the working directory.
    if !search.is_empty() {
        search.push(":");
    }
    search.push(folder);
    search
}

/// `search` with `folder` before the first folder that `holds` what it is to come before, or
/// as the last one.
pub fn offer_before(search: &OsStr, folder: &Path, holds: impl Fn(&Path) -> bool) -> OsString {
    let known = |element: &OsStr| {
        let bytes = element.as_bytes();
        bytes.starts_with(b"/") && !bytes.contains(&b'$')
    };
    let all: Vec<&OsStr> = elements(search).collect();
    let at = all
        .iter()
        .position(|element| known(element) && holds(Path::new(element)));
    let there = all
        .iter()
        .position(|element| *element == folder.as_os_str());
    match (at, there) {
        (Some(at), there) if there.is_none_or(|there| there > at) => {
            let (before, after) = all.split_at(at);
            let after = after
                .iter()
                .filter(|element| **element != folder.as_os_str());
            let own = [folder.as_os_str()];
            join(before.iter().chain(&own).chain(after))
        }
        _ => offer_last(search.to_os_string(), folder),
    }
}

/// `search` without `folder`.
pub fn without(search: &OsStr, folder: &Path) -> OsString {
    let rest = elements(search).filter(|element| *element != folder.as_os_str());
    let rest: Vec<&OsStr> = rest.collect();
    match rest.len() == elements(search).count() {
        true => search.to_os_string(),
        false => join(rest.iter()),
    }
}

fn join<'a>(elements: impl Iterator<Item = &'a &'a OsStr>) -> OsString {
    let bytes: Vec<&[u8]> = elements.map(|element| element.as_bytes()).collect();
    OsString::from_vec(bytes.join(&b':'))
}

/// Whether the loader comes upon another file of that name before the one in
/// `folder`, if it begins with the folders that `vars` name. The same file in another
/// folder, such as `lib`, is no other one; a folder that is not known may hold one.
pub fn is_behind(folder: &Path, vars: &[(OsString, OsString)]) -> bool {
    let search = search(vars);
    if search.is_empty() {
        return true;
    }
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

    #[test]
    fn files_are_known_by_the_names_that_programs_ask_for() {
        for (file, name) in [
            ("libmpi.so.40.30.4", "libmpi.so.40"),
            ("libmpi_abi.so.1", "libmpi_abi.so.1"),
            ("libmpi.so", "libmpi.so"),
        ] {
            assert_eq!(asked_for(file), name);
        }
    }

    fn offered(value: Option<&str>) -> String {
        let mut vars = vec![("OTHER".into(), "/other".into())];
        vars.extend(value.map(|value| (SEARCH.into(), value.into())));
        let given = search(&vars).to_os_string();
        set_search(&mut vars, offer_last(given, Path::new("/opt/lib/catena")));
        assert_eq!(vars.len(), 2);
        vars.pop().unwrap().1.into_string().unwrap()
    }

    #[test]
    fn what_is_taken_over_comes_before_what_it_replaces() {
        let own = Path::new("/own");
        let before = |search: &str| {
            let found = offer_before(OsStr::new(search), own, |folder| folder.ends_with("lib"));
            found.into_string().unwrap()
        };
        assert_eq!(before(""), "/own");
        assert_eq!(before("/a:/b"), "/a:/b:/own");
        assert_eq!(before("/a:/b/lib:/c/lib"), "/a:/own:/b/lib:/c/lib");
        assert_eq!(before("/a:/b/lib:/own"), "/a:/own:/b/lib");
        assert_eq!(before("/own:/b/lib"), "/own:/b/lib");
        assert_eq!(before("lib:$X/lib"), "lib:$X/lib:/own");
        let without = |search: &str| without(OsStr::new(search), own).into_string().unwrap();
        assert_eq!(without("/a;/b"), "/a;/b");
        assert_eq!(without("/a:/own:/b:/own"), "/a:/b");
        assert_eq!(without("/own"), "");
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

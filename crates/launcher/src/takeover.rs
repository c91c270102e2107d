//! Programs that were built for another MPI, and run on Catena.
//!
//! Beside the library with the standard interface, an installation may have those with the
//! interfaces of MPICH and of Open MPI. Each interface has a folder of its own below `lib/catena`,
//! so that offering one hides nothing else. Ranks find these folders in `LD_LIBRARY_PATH`.
//!
//! With *takeover*, which is the default, they come before what the loader would find elsewhere.
//! Without it, only what is not found elsewhere is offered. A program keeps its own MPI where
//! Catena could not be all of it: if it needs another library of that MPI which Catena does not
//! have, or names the folder of its MPI itself.

use std::ffi::{OsStr, OsString};
use std::iter;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::foreign::is_catena;
use crate::library;
use crate::linked::{Linked, Listing, Origin};
use crate::outdated;

/// An interface of another MPI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interface {
    /// `libmpi.so.12`, `libmpich.so.12`: also those of Intel MPI, MVAPICH and HPE.
    Mpich,
    /// `libmpi.so.40`.
    OpenMpi,
}

use Interface::{Mpich, OpenMpi};

impl Interface {
    /// Its folder below `lib/catena`.
    fn folder(self) -> &'static str {
        match self {
            Mpich => "mpich",
            OpenMpi => "openmpi",
        }
    }

    /// Whose it is, for users.
    fn title(self) -> &'static str {
        match self {
            Mpich => "MPICH",
            OpenMpi => "Open MPI",
        }
    }

    /// Whether a library of this name is the one with the functions of C.
    fn is_main(self, name: &str) -> bool {
        match self {
            Mpich => matches!(name, "libmpi.so.12" | "libmpich.so.12"),
            OpenMpi => name == "libmpi.so.40",
        }
    }

    /// Whether a library of this name is a part of such an MPI.
    fn has(self, name: &str) -> bool {
        let mpi = name.starts_with("libmpi");
        match self {
            Mpich => mpi && name.contains(".so.12"),
            OpenMpi => {
                let inner = ["liboshmem.so", "libopen-pal.so", "libopen-rte.so"];
                mpi && name.contains(".so.40") || inner.iter().any(|part| name.starts_with(part))
            }
        }
    }
}

/// Where the libraries of this installation are.
#[derive(Clone, Debug)]
pub struct Home {
    /// The folder with the standard interface.
    pub own: PathBuf,
    others: Vec<(Interface, PathBuf)>,
}

impl Home {
    /// That of this launcher; none if it is not installed.
    pub fn find() -> Option<Home> {
        library::folder().map(Home::at)
    }

    /// One whose libraries are in `own`.
    fn at(own: PathBuf) -> Home {
        let folders = [Mpich, OpenMpi].map(|other| (other, own.join(other.folder())));
        let others = folders.into_iter().filter(|(_, folder)| folder.is_dir());
        let others = others.collect();
        Home { own, others }
    }

    /// Its library of this name.
    pub fn library(&self, name: &str) -> Option<PathBuf> {
        let others = self.others.iter().map(|(_, folder)| folder);
        let files = [&self.own].into_iter().chain(others);
        files
            .map(|folder| folder.join(name))
            .find(|file| file.is_file())
    }
}

/// The library of this installation that takes the place of the one at `library`.
pub fn in_place_of(library: &str) -> Option<PathBuf> {
    let name = library.rsplit('/').next().unwrap_or_default();
    Home::find()?.library(library::asked_for(name))
}

/// What is wanted.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// Whether to take over programs that find their own MPI.
    pub takeover: bool,
    /// Whether the user has asked for a PMIx server, and so for Open MPI's own library.
    pub pmix: bool,
}

/// Something that users may want to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// In words.
    pub text: String,
    /// Whether it stands in the way of the program.
    pub matters: bool,
}

/// What the ranks of one program get.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    /// Their `LD_LIBRARY_PATH`.
    pub search: OsString,
    /// Whether Catena takes the place of Open MPI.
    pub open_mpi: bool,
    /// Whether it takes the place of Open MPI or of MPICH.
    pub layered: bool,
    /// What there is to be said.
    pub notes: Vec<Note>,
}

/// What to do about one interface.
enum Verdict {
    Offer,
    Keep,
}

/// A program, as it is going to be started.
pub struct Candidate<'a> {
    /// Its name for users.
    pub name: &'a str,
    /// The files that may be MPI programs: what is run, and what that is told to run.
    pub files: &'a [PathBuf],
    /// Where it is started.
    pub wdir: &'a Path,
    /// Its variables, without what is offered.
    pub vars: &'a [(OsString, OsString)],
}

impl Candidate<'_> {
    /// What its ranks get of the libraries in `home`.
    pub fn choose(&self, home: &Home, wanted: Wanted) -> Choice {
        let mut choice = Choice::default();
        // All at first, to see what the loader makes of it.
        let mut offered: Vec<&(Interface, PathBuf)> = home.others.iter().collect();
        if wanted.pmix {
            offered.retain(|(interface, _)| *interface != OpenMpi);
        }
        let listing = self.listing(&self.search(home, &offered));
        if let Some((_, listing)) = &listing {
            choice.notes.extend(self.outdated(listing));
        }
        let kept = |(interface, folder): &&(Interface, PathBuf)| {
            let verdict = match &listing {
                Some((file, listing)) if listing.names(*interface) => {
                    let plain = || self.listed(*file, self.search_without(folder), false);
                    self.judge(*interface, folder, listing, plain, wanted, &mut choice)
                }
                // What a script or an interpreter loads later.
                _ if wanted.takeover || !self.finds(*interface, folder) => Verdict::Offer,
                _ => Verdict::Keep,
            };
            matches!(verdict, Verdict::Offer)
        };
        let offered: Vec<_> = offered.into_iter().filter(kept).collect();
        choice.search = self.search(home, &offered);
        choice
    }

    /// What there is to be said of an older MPI that the program needs.
    fn outdated(&self, listing: &Listing) -> Option<Note> {
        let (name, mpi, file) = listing.outdated()?;
        let program = self.name;
        let outcome = match file {
            Some(file) => format!(
                "so it keeps {}, and its ranks may not find each other",
                file.display()
            ),
            None => "and which is not found here".to_string(),
        };
        Some(Note {
            text: format!(
                "{program} needs {name} of {mpi}, whose binary interface Catena does not have, \
                 {outcome}: {}",
                outdated::REMEDY
            ),
            matters: true,
        })
    }

    /// What is said if the program needs a symbol of MPI that Catena lacks, and whether it keeps
    /// its own library for that, which the loader would find (`has_own`).
    fn lacks(
        &self,
        interface: Interface,
        listing: &Listing,
        has_own: bool,
    ) -> Option<(String, bool)> {
        let (title, program) = (interface.title(), self.name);
        let mut lacking = listing.lacking.iter();
        let (symbol, file) = lacking.find(|(symbol, _)| is_of_mpi(symbol))?;
        let file = file.display();
        if let (Mpich, Some(mpi)) = (interface, outdated::mpi_with(symbol)) {
            let text = format!(
                "{file} needs {symbol}, so it was built for {mpi}, whose library has the name \
                 libmpi.so.12 as MPICH's has, and whose binary interface Catena does not have: {}",
                outdated::REMEDY
            );
            return Some((text, true));
        }
        let keeps = interface == OpenMpi && has_own;
        let outcome = match keeps {
            true => format!("so {program} keeps {title}'s"),
            false => "and whatever calls it will fail".to_string(),
        };
        let text =
            format!("{file} needs {symbol} of {title}, which Catena does not have, {outcome}");
        Some((text, keeps))
    }

    /// Decides about an interface that one of the files is linked to. `listing` is with the
    /// libraries in `folder`, and `plain` makes one without them.
    fn judge(
        &self,
        interface: Interface,
        folder: &Path,
        listing: &Listing,
        plain: impl FnOnce() -> Option<Listing>,
        wanted: Wanted,
        choice: &mut Choice,
    ) -> Verdict {
        let (title, program) = (interface.title(), self.name);
        let parts = listing
            .libraries
            .iter()
            .filter(|(name, _)| interface.has(name));
        let foreign: Vec<(&str, &Path)> = parts
            .filter_map(|(name, file)| Some((name.as_str(), file.as_deref()?)))
            .filter(|(_, file)| !is_in(folder, file) && is_catena(file) == Some(false))
            .collect();
        // MPICH's programs cannot run under this launcher with their own library.
        let mut note = |text: String, matters: bool| choice.notes.push(Note { text, matters });
        let main = foreign.iter().find(|(name, _)| interface.is_main(name));
        if let Some((_, file)) = main {
            let file = file.display();
            let text = format!(
                "{program} names the folder of {title} itself, so it keeps {file} (DT_RPATH); \
                 to run it on Catena, add -x LD_PRELOAD={}",
                folder.join(main.map_or("", |(name, _)| name)).display()
            );
            note(text, interface == Mpich);
            return Verdict::Keep;
        }
        if let Some((name, file)) = foreign.first() {
            let text = format!(
                "{program} needs {name} ({}), for which Catena has no library, so it keeps \
                 {title}'s",
                file.display()
            );
            note(text, interface == Mpich);
            return Verdict::Keep;
        }
        let elsewhere = plain().and_then(|listing| listing.main(interface));
        if let (Some(elsewhere), false) = (&elsewhere, wanted.takeover) {
            note(format!("{program} keeps {}", elsewhere.display()), false);
            return Verdict::Keep;
        }
        if let Some((text, keeps)) = self.lacks(interface, listing, elsewhere.is_some()) {
            note(text, true);
            if keeps {
                return Verdict::Keep;
            }
        }
        choice.open_mpi |= interface == OpenMpi;
        choice.layered = true;
        let text = match elsewhere {
            Some(elsewhere) => format!(
                "{program} runs on Catena in place of {} (--no-takeover leaves it that)",
                elsewhere.display()
            ),
            None => format!("{program}, which was built for {title}, runs on Catena"),
        };
        choice.notes.push(Note {
            text,
            matters: false,
        });
        Verdict::Offer
    }

    /// The `LD_LIBRARY_PATH` that offers the standard interface and those in `offered`.
    fn search(&self, home: &Home, offered: &[&(Interface, PathBuf)]) -> OsString {
        let mut search = library::search(self.vars).to_os_string();
        for (_, folder) in &home.others {
            search = library::without(&search, folder);
        }
        search = library::offer_last(search, &home.own);
        for (interface, folder) in offered {
            let replaced = |other: &Path| holds_other(*interface, folder, other);
            search = library::offer_before(&search, folder, replaced);
        }
        search
    }

    /// The one that does not offer `folder`, nor anything else.
    fn search_without(&self, folder: &Path) -> OsString {
        library::without(library::search(self.vars), folder)
    }

    /// The first of the files that is linked to an MPI of another interface, or to an older one,
    /// and what the loader would do for it.
    fn listing(&self, search: &OsStr) -> Option<((&Path, Origin), Listing)> {
        let of = |file: (&Path, Origin)| {
            if !may_be_linked(&Linked::read(file.0)?) {
                return None;
            }
            let listing = self.listed(file, search.to_os_string(), false)?;
            if ![Mpich, OpenMpi].iter().any(|other| listing.names(*other)) {
                return listing.outdated().is_some().then_some(listing);
            }
            // Now with the symbols, for which all libraries are relocated.
            let listing = self.listed(file, search.to_os_string(), true)?;
            Some(listing)
        };
        let origins = [Origin::Program]
            .into_iter()
            .chain(iter::repeat(Origin::Argument));
        let mut files = self.files.iter().map(PathBuf::as_path).zip(origins);
        files.find_map(|file| Some((file, of(file)?)))
    }

    fn listed(&self, file: (&Path, Origin), search: OsString, symbols: bool) -> Option<Listing> {
        let mut vars = self.vars.to_vec();
        library::set_search(&mut vars, search);
        Listing::of(file, self.wdir, &vars, symbols)
    }

    /// Whether the loader finds libraries of that interface by their names alone: those that
    /// it is told to load before a program, here this one, are looked for like any other.
    fn finds(&self, interface: Interface, folder: &Path) -> bool {
        let Ok(own) = std::env::current_exe() else {
            return false;
        };
        let mut vars = self.vars.to_vec();
        vars.retain(|(name, _)| name != "LD_PRELOAD");
        let names = "libmpi.so.12 libmpich.so.12 libmpi.so.40";
        vars.push(("LD_PRELOAD".into(), names.into()));
        library::set_search(&mut vars, self.search_without(folder));
        let own = (own.as_path(), Origin::Program);
        let listing = Listing::of(own, self.wdir, &vars, false).unwrap_or_default();
        listing.main(interface).is_some()
    }
}

impl Listing {
    /// Whether a library of that interface is needed.
    fn names(&self, interface: Interface) -> bool {
        self.libraries.iter().any(|(name, _)| interface.has(name))
    }

    /// An older MPI's library that is needed, whose it is, and the file, if one is found.
    fn outdated(&self) -> Option<(&str, &'static str, Option<&Path>)> {
        let mut libraries = self.libraries.iter();
        libraries.find_map(|(name, file)| {
            Some((name.as_str(), outdated::mpi_of(name)?, file.as_deref()))
        })
    }

    /// The file with the functions of C, if one is found.
    fn main(&self, interface: Interface) -> Option<PathBuf> {
        let main = self
            .libraries
            .iter()
            .filter(|(name, _)| interface.is_main(name));
        main.filter_map(|(_, file)| file.clone()).next()
    }
}

/// Whether a program that is linked so may need an MPI of another interface: directly, or by a
/// library that is not one of the system's.
fn may_be_linked(linked: &Linked) -> bool {
    const SYSTEM: [&str; 11] = [
        "ld-linux",
        "libc.",
        "libm.",
        "libdl.",
        "librt.",
        "libutil.",
        "libpthread.",
        "libz.",
        "libgcc_s.",
        "libstdc++.",
        "libexpat.",
    ];
    let plain = |name: &String| SYSTEM.iter().any(|system| name.starts_with(system));
    let standard = linked.needed.iter().any(|name| name == library::NAME);
    !standard && !linked.needed.iter().all(plain)
}

/// Whether a symbol is one of MPI's libraries.
fn is_of_mpi(symbol: &str) -> bool {
    const PREFIXES: [&str; 6] = ["mpi_", "mpix_", "mpir_", "ompi_", "pmpi_", "pmpix_"];
    let symbol = symbol.to_ascii_lowercase();
    PREFIXES.iter().any(|prefix| symbol.starts_with(prefix))
}

/// Whether `other` is another folder than `folder`, and has a library of that interface that is
/// not Catena's.
fn holds_other(interface: Interface, folder: &Path, other: &Path) -> bool {
    let Ok(files) = folder.read_dir() else {
        return false;
    };
    files.flatten().any(|file| {
        let name = file.file_name();
        let file = other.join(&name);
        interface.has(&name.to_string_lossy())
            && !is_in(folder, &file)
            && is_catena(&file) == Some(false)
    })
}

/// Whether `file` is the file of its name in `folder`, by whatever path.
fn is_in(folder: &Path, file: &Path) -> bool {
    let number = |path: &Path| path.metadata().map(|about| (about.dev(), about.ino())).ok();
    let name = file.file_name().unwrap_or_default();
    number(file).is_some_and(|found| number(&folder.join(name)) == Some(found))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_an_mpi_are_known_by_their_names() {
        for name in [
            "libmpi.so.12",
            "libmpich.so.12",
            "libmpichfort.so.12",
            "libmpicxx.so.12",
        ] {
            assert!(Mpich.has(name) && !OpenMpi.has(name), "{name}");
        }
        for name in [
            "libmpi.so.40",
            "libmpi_mpifh.so.40",
            "libopen-pal.so.80",
            "liboshmem.so.40",
        ] {
            assert!(OpenMpi.has(name) && !Mpich.has(name), "{name}");
        }
        for name in ["libmpi_abi.so.1", "libm.so.6", "libhwloc.so.15"] {
            assert!(!OpenMpi.has(name) && !Mpich.has(name), "{name}");
        }
        assert!(Mpich.is_main("libmpich.so.12") && !Mpich.is_main("libmpichfort.so.12"));
    }

    #[test]
    fn only_programs_with_libraries_of_their_own_are_looked_at() {
        let linked = |needed: &[&str]| {
            let mut linked = Linked::read(&std::env::current_exe().unwrap()).unwrap();
            linked.needed = needed.iter().map(ToString::to_string).collect();
            may_be_linked(&linked)
        };
        assert!(!linked(&["libc.so.6", "libm.so.6"]));
        assert!(!linked(&["libmpi_abi.so.1", "libfftw3.so.3", "libc.so.6"]));
        assert!(linked(&["libmpi.so.40", "libc.so.6"]));
        assert!(linked(&["libgromacs_mpi.so.9", "libc.so.6"]));
    }
}

//! Row 8: Fortran's interfaces of MPI 5.0 (chapter 19), generated from the table of functions.
//!
//! Owns the generator, and in `lib` the C code that the generated code stands on. Three
//! things are made from the table in `catena-abi`:
//!
//! | file                      | what it is                                                  |
//! |---------------------------|-------------------------------------------------------------|
//! | `made/mpif.h`             | constants, for programs without modules                     |
//! | `made/mpi_*.f90`, `mpi.f90` | the modules: interfaces and constants, no code            |
//! | `made/calls.c`            | what a call by address does: `mpi_allgatherv_`              |
//! | `made/sections.c`         | what a call with descriptors does: `mpi_allgatherv_f08ts`   |
//! | `made/mpi_ext.f90`, `mpi_f08_ext.f90`, `failures.c`, `notify.c` | what no version of the standard has |
//! | `made/*_often.c`          | those of both that programs call most often                 |
//!
//! The C files and those in `lib` together are `libmpifort_abi.so.1`. It needs nothing but
//! the C ABI, so it serves every MPI library that has it, and nothing of a Fortran compiler,
//! so one file serves all of them. Decision 18 tells why it is C.
//!
//! A Fortran handle is the integer that `MPI_Comm_toint` gives, in `mpi_f08` as the only
//! component of a type, so that procedures of the three interfaces are called alike.
//!
//! Over the layers of other interfaces the same sources make `libmpifort.so.12` and
//! `libmpi_mpifh.so.40` (decision 19).
//!
//! `mpifort` makes the modules for the compiler at hand when they are first used, as does the
//! command `catena fortran`.

#![forbid(unsafe_code)]

mod calls;
mod constants;
mod modules;
mod view;

/// The generated files: the path from the root of the repository, and the text.
pub fn files() -> Vec<(&'static str, String)> {
    let procedures = view::procedures();
    let extensions = view::extensions();
    vec![
        ("crates/fortran/made/mpif.h", constants::include_file()),
        ("crates/fortran/made/mpi_abi_base.f90", constants::base()),
        ("crates/fortran/made/mpi.f90", modules::mpi(&procedures)),
        (
            "crates/fortran/made/mpi_f08.f90",
            modules::mpi_f08(&procedures),
        ),
        (
            "crates/fortran/made/mpi_ext.f90",
            modules::extensions(&extensions, false),
        ),
        (
            "crates/fortran/made/mpi_f08_ext.f90",
            modules::extensions(&extensions, true),
        ),
        (
            "crates/fortran/made/failures.c",
            calls::extensions(
                &extensions,
                "ft",
                "Procedures of programs that go on when processes die.",
            ),
        ),
        (
            "crates/fortran/made/notify.c",
            calls::extensions(&extensions, "notify", "One-sided operations that notify."),
        ),
        (
            "crates/fortran/made/calls.c",
            calls::by_address(&procedures, false),
        ),
        (
            "crates/fortran/made/calls_often.c",
            calls::by_address(&procedures, true),
        ),
        (
            "crates/fortran/made/sections.c",
            calls::by_descriptor(&procedures, false),
        ),
        (
            "crates/fortran/made/sections_often.c",
            calls::by_descriptor(&procedures, true),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(name: &str) -> String {
        let found = files().into_iter().find(|(path, _)| path.ends_with(name));
        found.unwrap().1
    }

    #[test]
    fn every_procedure_has_code_and_an_interface() {
        let both = |name: &str| text(&format!("{name}.c")) + &text(&format!("{name}_often.c"));
        let (calls, sections) = (both("calls"), both("sections"));
        let (mpi, f08) = (text("mpi.f90"), text("mpi_f08.f90"));
        let has = |text: &str, name: &str| {
            [format!(" {name}("), format!(" P{name}(")]
                .iter()
                .all(|n| text.contains(n))
        };
        for p in view::procedures() {
            let name = p.bare().to_lowercase();
            let by_address = calls.contains(&format!("void F({name})("));
            let described = match name.strip_suffix("_c") {
                Some(small) if p.is_large() => format!("void D_LARGE({small})("),
                _ => format!("void D({name})("),
            };
            let by_descriptor = sections.contains(&described);
            if !p.by_hand {
                let large_sections = p.is_large() && p.has_choice();
                assert_eq!(by_address, !large_sections, "{}", p.name);
                assert_eq!(by_descriptor, p.has_choice(), "{}", p.name);
            }
            if p.is_old() {
                assert!(has(&mpi, p.name), "{} in mpi", p.name);
            }
            if p.is_old() && p.is_new() {
                let suffix = if p.has_choice() { "ts" } else { "" };
                let name = format!("{}_f08{suffix}", p.name);
                assert!(has(&f08, &name), "{} in mpi_f08", p.name);
            }
        }
    }

    #[test]
    fn lines_are_as_long_as_compilers_take_them() {
        for (name, longest) in [("mpif.h", 72), ("mpi.f90", 132), ("mpi_f08.f90", 132)] {
            let text = text(name);
            let long = text.lines().find(|l| l.len() > longest);
            assert_eq!(long, None, "{name}");
        }
    }

    #[test]
    fn names_are_as_long_as_the_standard_allows() {
        for p in view::procedures() {
            assert!(p.name.len() + "P_c_f08ts".len() <= 63, "{}", p.name);
        }
    }

    #[test]
    fn strings_lose_the_zero_and_statuses_keep_their_layout() {
        let text = text("mpif.h");
        for line in [
            "PARAMETER (MPI_MAX_OBJECT_NAME=127)",
            "PARAMETER (MPI_STATUS_SIZE=8)",
            "PARAMETER (MPI_COMM_WORLD=257)",
            "BIND(C,NAME='mpifort_bottom')::/MPIFORT_BOTTOM/",
        ] {
            assert!(text.contains(line), "{line}");
        }
        assert!(!text.contains("MPI_T_"), "the tool interface is C's");
    }
}

//! The commands of MPI that a shell finds here, and what a batch system offers.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::finding::{Finding, Weight};

/// What belongs together.
const COMMANDS: [&str; 3] = ["mpirun", "mpiexec", "mpicc"];

/// Whether the commands that are found are those of this installation, and whether Slurm will start
/// processes that find each other.
pub fn commands() -> Vec<Finding> {
    let path = env::var_os("PATH").unwrap_or_default();
    let own = env::current_exe().and_then(|own| own.canonicalize());
    let own = own.ok().and_then(|own| own.parent().map(Path::to_path_buf));
    let mut found: Vec<Finding> = Vec::new();
    if let Some(own) = own {
        let strangers = COMMANDS
            .iter()
            .filter_map(|name| stranger(name, &path, &own));
        let strangers: Vec<String> = strangers.map(|it| it.display().to_string()).collect();
        if !strangers.is_empty() {
            let cause = format!(
                "PATH leads to another installation first: {}",
                strangers.join(", ")
            );
            let remedy = format!("put {} in front (export PATH={0}:$PATH)", own.display());
            found.push(Finding::new(Weight::Note, "commands", cause, remedy));
        }
    }
    let var = |name: &str| env::var(name).unwrap_or_default();
    if !var("SLURM_JOB_ID").is_empty() && var("SLURM_MPI_TYPE") == "none" {
        let cause = "SLURM_MPI_TYPE is `none`, so each process that srun starts is rank 0 of 1";
        let remedy = "use `srun --mpi=pmi2` (or pmix), or mpirun in the place of srun";
        found.push(Finding::new(Weight::Broken, "commands", cause, remedy));
    }
    found
}

/// The command `name` that comes first in `path`, if it does not lie in `own`, nor leads there.
fn stranger(name: &str, path: &OsStr, own: &Path) -> Option<PathBuf> {
    let mut files = env::split_paths(path).map(|folder| folder.join(name));
    let first = files.find(|file| file.is_file())?;
    let is_in = |file: &Path| file.parent() == Some(own);
    let is_own = first.canonicalize().is_ok_and(|it| is_in(&it))
        || first
            .parent()
            .and_then(|it| it.canonicalize().ok())
            .is_some_and(|it| it == own);
    (!is_own).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_of_another_installation_is_known() {
        let root = env::temp_dir().join(format!("catena-doctor-commands-{}", std::process::id()));
        let folder = |name: &str| {
            let folder = root.join(name);
            std::fs::create_dir_all(&folder).unwrap();
            folder.canonicalize().unwrap()
        };
        let (own, other, links) = (folder("own"), folder("other"), folder("links"));
        for folder in [&own, &other] {
            std::fs::write(folder.join("mpirun"), "").unwrap();
        }
        std::os::unix::fs::symlink(own.join("mpirun"), links.join("mpirun")).unwrap();
        let found =
            |folders: &[&PathBuf]| stranger("mpirun", &env::join_paths(folders).unwrap(), &own);
        assert_eq!(found(&[&own, &other]), None);
        assert_eq!(found(&[&links, &other]), None);
        assert_eq!(found(&[&other, &own]), Some(other.join("mpirun")));
        assert_eq!(found(&[]), None);
        std::fs::remove_dir_all(&root).unwrap();
    }
}

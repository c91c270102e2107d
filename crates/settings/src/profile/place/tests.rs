use std::os::unix::fs::symlink;

use super::super::tests::{Folder, measured, one, profile};
use super::*;

/// The place of that name, as the environment names it.
fn place(folder: &Folder, name: &str) -> Result<Place, String> {
    Place::named(Some(folder.0.join(name).as_os_str()))
}

/// What stands in a file that is refused, and everything beside it.
fn refused(folder: &Folder, name: &str, why: &str) {
    let error = place(folder, name).unwrap_err();
    assert!(error.contains(why) && error.contains(PROFILE), "{error}");
    assert_eq!(left(&folder.0), Vec::<String>::new());
}

/// Files that begin with a point or end in `.old`.
fn left(folder: &Path) -> Vec<String> {
    let all = fs::read_dir(folder).unwrap();
    let names = all.map(|it| it.unwrap().file_name().into_string().unwrap());
    names
        .filter(|name| name.starts_with('.') || name.ends_with(".old"))
        .collect()
}

#[test]
fn what_is_no_profile_is_refused_before_anything_is_measured() {
    let folder = Folder::new("refused");
    let path = |name: &str| folder.0.join(name);
    fs::write(path("thesis"), "all my work\n").unwrap();
    refused(&folder, "thesis", "no NAME = value");
    assert_eq!(fs::read_to_string(path("thesis")).unwrap(), "all my work\n");
    fs::write(
        path("newer"),
        profile().text().replace("format = 1", "format = 2"),
    )
    .unwrap();
    refused(&folder, "newer", "its format is 2");
    fs::write(path("cut"), &profile().text()[..200]).unwrap();
    refused(&folder, "cut", "");
    let long = fs::File::create(path("long")).unwrap();
    long.set_len(1 << 30).unwrap();
    refused(&folder, "long", "longer than");
    fs::create_dir(path("folder")).unwrap();
    refused(&folder, "folder", "no regular file");
    rustix::fs::mkfifoat(rustix::fs::CWD, path("pipe"), rustix::fs::Mode::RUSR).unwrap();
    refused(&folder, "pipe", "no regular file");
    symlink("pipe", path("to pipe")).unwrap();
    refused(&folder, "to pipe", "no regular file");
    let error = Place::named(Some("/dev/null".as_ref())).unwrap_err();
    assert!(error.contains("no regular file"), "{error}");
    symlink("nothing", path("dangling")).unwrap();
    refused(&folder, "dangling", "a link to what does not exist");
    symlink("loop", path("loop")).unwrap();
    refused(&folder, "loop", "cannot be read");
    refused(&folder, "thesis/p", "cannot be read");
    assert!(Place::named(Some("none".as_ref())).is_err());
    if !rustix::process::geteuid().is_root() {
        fs::write(path("secret"), profile().text()).unwrap();
        fs::set_permissions(path("secret"), fs::Permissions::from_mode(0o000)).unwrap();
        refused(&folder, "secret", "cannot be read");
        fs::set_permissions(path("folder"), fs::Permissions::from_mode(0o500)).unwrap();
        refused(&folder, "folder/p", "cannot be written");
    }
}

#[test]
fn a_file_is_refused_that_comes_while_it_is_measured() {
    let folder = Folder::new("meanwhile");
    let place = place(&folder, "p").unwrap();
    fs::write(place.path(), "somebody else's\n").unwrap();
    let error = place
        .keep(&one(None), &[measured("TUNE_MAX", "1KiB")])
        .unwrap_err();
    assert!(error.contains("left as it is"), "{error}");
    assert_eq!(
        fs::read_to_string(place.path()).unwrap(),
        "somebody else's\n"
    );
}

#[test]
fn a_profile_is_written_as_a_whole_and_through_links() {
    let folder = Folder::new("write");
    let path = folder.0.join("deep/p");
    let value = [measured("TUNE_MAX", "4KiB")];
    let written = place(&folder, "deep/p").unwrap().keep(&one(None), &value);
    assert_eq!(written, Ok(Change::Written));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    let link = folder.0.join("link");
    symlink("deep/p", &link).unwrap();
    let link = place(&folder, "link").unwrap();
    let of_program = one(Some("stencil"));
    assert_eq!(
        link.keep(&of_program, &[measured("TUNE_WAY", "1")]),
        Ok(Change::Written)
    );
    assert!(fs::symlink_metadata(link.path()).unwrap().is_symlink());
    let all = read(&path, true).unwrap().unwrap();
    assert_eq!(all.fitness, Fitness::here());
    assert_eq!(all.values[&one(None)], value);
    assert_eq!(all.values[&of_program], [measured("TUNE_WAY", "1")]);
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o640);
    let files = fs::read_dir(folder.0.join("deep")).unwrap();
    assert_eq!(files.count(), 1, "nothing is left beside it");
}

#[test]
fn nothing_is_written_where_nothing_changes() {
    let folder = Folder::new("same");
    let usual = |name: &str| Place {
        is_named: false,
        ..place(&folder, name).unwrap()
    };
    assert_eq!(usual("a/p").change(|_| {}), Ok(Change::None));
    assert!(!folder.0.join("a").exists());
    // A name of a file that does not exist would be told at each start.
    assert_eq!(
        place(&folder, "named").unwrap().change(|_| {}),
        Ok(Change::Written)
    );
    let named = read(&folder.0.join("named"), true).unwrap().unwrap();
    assert_eq!((named.fitness, named.values.len()), (Fitness::here(), 0));
    // What a user has written into it stays as it is.
    let text = profile().text() + "# mine\n";
    fs::write(folder.0.join("p"), &text).unwrap();
    assert_eq!(usual("p").change(|_| {}), Ok(Change::None));
    assert_eq!(fs::read_to_string(folder.0.join("p")).unwrap(), text);
}

#[test]
fn a_profile_of_another_machine_stays_beside_the_new_one() {
    let folder = Folder::new("aside");
    let mut other = profile();
    other.fitness.kernel = "2.4".into();
    let text = other.text();
    for name in ["p.old", "p.2.old"] {
        fs::write(folder.0.join("p"), &text).unwrap();
        let found = place(&folder, "p").unwrap();
        let warning = found.warning().unwrap();
        assert!(warning.contains("kernel was 2.4 and is "), "{warning}");
        assert_eq!(found.change(|_| {}), Ok(Change::None));
        let old = folder.0.join(name);
        assert!(!old.exists());
        assert_eq!(
            found.keep(&one(None), &[measured("TUNE_MAX", "1KiB")]),
            Ok(Change::Replaced(old.clone()))
        );
        assert_eq!(fs::read_to_string(old).unwrap(), text);
        let new = read(found.path(), true).unwrap().unwrap();
        assert_eq!((new.fitness, new.values.len()), (Fitness::here(), 1));
    }
    assert_eq!(place(&folder, "p").unwrap().warning(), None);
}

#[test]
fn commands_that_write_at_once_lose_nothing() {
    let folder = Folder::new("at-once");
    const EACH: usize = 12;
    std::thread::scope(|scope| {
        for writer in 0..8 {
            let place = place(&folder, "p").unwrap();
            scope.spawn(move || {
                for number in 0..EACH {
                    let name = format!("TUNE_{writer}_{number}");
                    let kept = place.keep(&one(None), &[measured(&name, "1")]);
                    assert_eq!(kept, Ok(Change::Written));
                }
            });
        }
    });
    let all = read(&folder.0.join("p"), true).unwrap().unwrap();
    assert_eq!(all.values[&one(None)].len(), 8 * EACH);
}

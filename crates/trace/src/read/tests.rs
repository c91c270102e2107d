use std::fs::File;
use std::os::fd::{AsFd, FromRawFd};
use std::sync::Mutex;
use std::thread;

use super::*;
use crate::{AREA, Area, Notice, OFFSET, begin, end, enter, enter_beside, set_threaded};

/// Tests share the process's area.
static ALONE: Mutex<()> = Mutex::new(());

/// The file of a node with room for one process.
fn file() -> File {
    // SAFETY: a string that ends, and no flags; the descriptor is nobody else's.
    let file = unsafe { File::from_raw_fd(libc::memfd_create(c"node".as_ptr(), 0)) };
    file.set_len(OFFSET + AREA as u64).unwrap();
    file
}

/// This process begins in a new file.
fn begun() -> File {
    let file = file();
    let who = Who {
        job: 1 << 40,
        rank: 3,
        ranks: 4,
        pid: 77,
        space: 1 << 33,
    };
    begin(Area::map(file.as_fd(), 0).unwrap(), who);
    file
}

fn threads(file: &File) -> Vec<Thread> {
    let view = View::open(file, 0).unwrap().expect("it is used");
    view.threads(usize::MAX).unwrap()
}

fn calls(thread: &Thread) -> Vec<u16> {
    thread.entries.iter().map(|entry| entry.function).collect()
}

#[test]
fn who_it_is_and_how_far_it_has_come_is_told() {
    let _alone = ALONE.lock();
    let unused = file();
    assert!(View::open(&unused, 0).unwrap().is_none());
    assert!(View::open(&unused, 1).is_err(), "there is no second place");
    let file = begun();
    let view = View::open(&file, 0).unwrap().expect("it is used");
    let who = Who {
        job: 1 << 40,
        rank: 3,
        ranks: 4,
        pid: 77,
        space: 1 << 33,
    };
    assert_eq!((view.who(), view.phase()), (who, Phase::Running));
    crate::set_phase(Phase::Left);
    let view = View::open(&file, 0).unwrap().expect("it is used");
    assert_eq!(view.phase(), Phase::Left);
    end();
}

#[test]
fn the_last_calls_are_kept_with_their_arguments() {
    let _alone = ALONE.lock();
    let file = begun();
    for number in 0..1000 {
        enter(number, [u32::from(number), 1, 2]);
    }
    enter(7, [70, 71, 72]);
    let threads = threads(&file);
    assert_eq!(threads.len(), 1);
    let expected = Entry {
        function: 7,
        arguments: [70, 71, 72],
    };
    assert_eq!(threads[0].entries.last(), Some(&expected));
    let calls = calls(&threads[0]);
    assert!(calls.len() > 100, "{}", calls.len());
    let numbers = calls[..calls.len() - 1].iter();
    let expected = (0..1000).rev().take(calls.len() - 1).collect::<Vec<u16>>();
    assert!(numbers.rev().eq(&expected));
    let view = View::open(&file, 0).unwrap().expect("it is used");
    assert_eq!(view.threads(3).unwrap()[0].entries.len(), 3);
    assert_eq!(view.threads(0).unwrap()[0].entries, []);
    end();
}

#[test]
fn threads_have_rings_of_their_own_and_give_them_back() {
    let _alone = ALONE.lock();
    let file = begun();
    set_threaded(true);
    thread::scope(|scope| {
        let each = (1..4).map(|number| {
            let file = &file;
            scope.spawn(move || {
                for _ in 0..10_000 {
                    enter(number, [0; 3]);
                }
                let threads = threads(file);
                let mine = threads.iter().find(|it| it.thread == crate::thread());
                let mine = mine.expect("this thread has a ring");
                assert!(calls(mine).iter().all(|&it| it == number));
            })
        });
        let each: Vec<_> = each.collect();
        // Only who joins a thread waits until it has left its ring.
        each.into_iter().for_each(|it| it.join().unwrap());
    });
    assert_eq!(threads(&file).len(), 1, "only this one is left");
    set_threaded(false);
    end();
}

#[test]
fn what_other_threads_may_always_call_is_not_told_of_the_one_that_waits() {
    let _alone = ALONE.lock();
    let file = begun();
    enter(5, [0; 3]);
    let beside = |number| move || enter_beside(number, [0; 3]);
    thread::scope(|scope| scope.spawn(beside(6)).join().unwrap());
    let all = threads(&file);
    assert_eq!((all.len(), calls(&all[0]).last()), (1, Some(&5)));
    beside(7)();
    assert_eq!(calls(&threads(&file)[0]).last(), Some(&7), "it is its own");
    set_threaded(true);
    thread::scope(|scope| {
        let other = scope.spawn(|| {
            beside(8)();
            threads(&file).iter().any(|it| calls(it) == [8])
        });
        assert!(other.join().unwrap(), "each has a ring of its own");
    });
    set_threaded(false);
    end();
}

#[test]
fn a_notice_is_read_whole_or_not_at_all() {
    let _alone = ALONE.lock();
    let file = begun();
    let notice = Notice::of(crate::thread()).expect("a place");
    let notices = || {
        let view = View::open(&file, 0).unwrap().expect("it is used");
        view.notices().unwrap()
    };
    thread::scope(|scope| {
        scope.spawn(|| {
            for length in (1..200).cycle().take(20_000) {
                notice.write(&vec![length as u8; length]);
            }
        });
        for _ in 0..2_000 {
            for bytes in notices().into_iter().filter_map(|(_, bytes)| bytes) {
                assert!(bytes.iter().all(|&it| usize::from(it) == bytes.len()));
            }
        }
    });
    notice.write(&[1, 2, 3]);
    assert_eq!(notices(), [(crate::thread(), Some(vec![1, 2, 3]))]);
    drop(notice);
    assert_eq!(notices(), []);
    end();
}

#[test]
fn what_makes_no_sense_is_read_within_bounds() {
    let file = file();
    file.write_all_at(&vec![0xff; AREA], OFFSET).unwrap();
    assert!(View::open(&file, 0).unwrap().is_none());
    file.write_all_at(&MARK.to_ne_bytes(), OFFSET).unwrap();
    let view = View::open(&file, 0).unwrap().expect("it says so");
    assert_eq!(view.threads(usize::MAX).unwrap().len(), RINGS);
    assert!(view.notices().unwrap().iter().all(|(_, it)| it.is_none()));
}

#[test]
fn who_asks_is_told_once_what_was_counted() {
    let _alone = ALONE.lock();
    let file = begun();
    let view = View::open(&file, 0).unwrap().expect("it is used");
    crate::count_by(|| "messages 3\n".to_string());
    assert!(!crate::is_asked_for_counters());
    view.ask_for_counters(7).unwrap();
    assert_eq!(view.counters(7).unwrap(), None, "it has not looked");
    assert!(crate::is_asked_for_counters());
    crate::tell_counters();
    assert!(!crate::is_asked_for_counters());
    assert_eq!(view.counters(7).unwrap().as_deref(), Some("messages 3\n"));
    assert_eq!(view.counters(8).unwrap(), None);
    let area = crate::thread::area().expect("it has begun");
    // The process that had the area before was killed while it told something.
    area.counters()
        .changes
        .as_ref()
        .fetch_or(1, std::sync::atomic::Ordering::Relaxed);
    view.ask_for_counters(8).unwrap();
    crate::tell_counters();
    assert_eq!(view.counters(8).unwrap().as_deref(), Some("messages 3\n"));
    assert_eq!(view.counters(9).unwrap(), None);
    // A line that has no room is left out.
    area.counters().write(8, &"0123456\n".repeat(5000));
    let told = view.counters(8).unwrap().expect("it was told");
    assert_eq!((told.len(), told.len() % 8), (4094 * 8, 0));
    end();
    assert!(!crate::is_asked_for_counters());
}

#[test]
fn what_it_has_counted_is_told() {
    let _alone = ALONE.lock();
    let file = begun();
    let counted = || {
        let view = View::open(&file, 0).unwrap().expect("it is used");
        view.counts().unwrap()
    };
    assert_eq!(counted(), None);
    let counts = Counts {
        at: 9,
        asleep: 5,
        networks: "tcp".into(),
        ..Counts::default()
    };
    crate::tell_counts(&counts);
    assert_eq!(counted(), Some(counts.clone()));
    end();
    crate::tell_counts(&Counts::default());
    assert_eq!(counted(), Some(counts));
}

#[test]
fn one_of_another_version_is_known() {
    let _alone = ALONE.lock();
    let file = begun();
    assert!(!View::is_of_another_version(&file).unwrap());
    let set = |mark: u64| file.write_all_at(&mark.to_ne_bytes(), OFFSET).unwrap();
    set(MARK + 1);
    assert!(View::is_of_another_version(&file).unwrap());
    assert!(View::open(&file, 0).unwrap().is_none());
    set(7);
    assert!(!View::is_of_another_version(&file).unwrap());
}

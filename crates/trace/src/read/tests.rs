use std::sync::Mutex;
use std::thread;

use super::*;
use crate::{AREA, Notice, begin, end, enter, set_threaded};

/// Tests share the process's area.
static ALONE: Mutex<()> = Mutex::new(());

fn area() -> Area {
    #[repr(align(64))]
    struct Memory([u8; AREA]);
    let memory: &mut Memory = Box::leak(Box::new(Memory([0; AREA])));
    // SAFETY: aligned, as large as an area, and it stays.
    unsafe { Area::new(memory.0.as_mut_ptr()) }
}

fn calls(thread: &Thread) -> Vec<u16> {
    thread.entries.iter().map(|entry| entry.function).collect()
}

#[test]
fn the_last_calls_are_kept_with_their_arguments() {
    let _alone = ALONE.lock();
    let area = area();
    begin(area);
    for number in 0..1000 {
        enter(number, [u32::from(number), 1, 2]);
    }
    enter(7, [70, 71, 72]);
    let threads = View::of(area).threads();
    assert_eq!(threads.len(), 1);
    let last = threads[0].entries.last();
    let expected = Entry {
        function: 7,
        arguments: [70, 71, 72],
    };
    assert_eq!(last, Some(&expected));
    let calls = calls(&View::of(area).threads()[0]);
    assert!(calls.len() > 100, "{}", calls.len());
    let numbers = calls[..calls.len() - 1].iter();
    let expected = (0..1000).rev().take(calls.len() - 1).collect::<Vec<u16>>();
    assert!(numbers.rev().eq(&expected));
    end();
}

#[test]
fn threads_have_rings_of_their_own_and_give_them_back() {
    let _alone = ALONE.lock();
    let area = area();
    begin(area);
    set_threaded(true);
    thread::scope(|scope| {
        for number in 1..4 {
            scope.spawn(move || {
                for _ in 0..10_000 {
                    enter(number, [0; 3]);
                }
                let threads = View::of(area).threads();
                let mine = threads
                    .iter()
                    .find(|it| it.thread == unsafe { libc::gettid() } as u32);
                let mine = mine.expect("this thread has a ring");
                assert!(calls(mine).iter().all(|&it| it == number));
            });
        }
    });
    assert_eq!(View::of(area).threads().len(), 1, "only this one is left");
    set_threaded(false);
    end();
}

#[test]
fn a_notice_is_read_whole_or_not_at_all() {
    let _alone = ALONE.lock();
    let area = area();
    begin(area);
    let notice = Notice::of(crate::thread()).expect("a place");
    thread::scope(|scope| {
        scope.spawn(|| {
            for length in (1..200).cycle().take(20_000) {
                notice.write(&vec![length as u8; length]);
            }
        });
        for _ in 0..20_000 {
            for (_, bytes) in View::of(area).notices() {
                assert!(bytes.iter().all(|&it| usize::from(it) == bytes.len()));
            }
        }
    });
    drop(notice);
    assert_eq!(View::of(area).notices(), []);
    end();
}

#[test]
fn what_makes_no_sense_is_read_within_bounds() {
    let _alone = ALONE.lock();
    #[repr(align(64))]
    struct Memory([u8; AREA]);
    let memory: &mut Memory = Box::leak(Box::new(Memory([0xff; AREA])));
    // SAFETY: as above.
    let area = unsafe { Area::new(memory.0.as_mut_ptr()) };
    assert!(!area.is_used());
    let view = View::of(area);
    assert_eq!(view.threads().len(), RINGS);
    assert_eq!(view.notices(), []);
}

//! Model of a mailbox: the owner carries out what its origin wrote, once, or its origin takes it
//! back; nobody gets the answer to another one's letter.
#![cfg(loom)]

use catena_base::mailbox::{Mailbox, Outcome};
use loom::sync::Arc;

/// What becomes of a letter: how often it was carried out.
fn ask(mailbox: &Mailbox, me: u64) -> u64 {
    if !mailbox.put(&[me; 6]) {
        return 0;
    }
    let mut may_take_back = true;
    loop {
        match mailbox.look() {
            Outcome::Done(answer) => {
                assert_eq!(answer, [10 * me; 4]);
                return 1;
            }
            Outcome::Refused => return 0,
            Outcome::Open => {}
        }
        if std::mem::take(&mut may_take_back) && mailbox.take_back() {
            return 0;
        }
        loom::thread::yield_now();
    }
}

/// Explores origins that post `letters` each, while the owner looks `looks` times and refuses the
/// letters of `refuses`.
fn model(letters: &'static [u64], looks: u32, refuses: u64) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(move || {
        let mailbox = Arc::new(Mailbox::default());
        let origins: Vec<_> = (1..)
            .zip(letters)
            .map(|(me, count)| {
                let mailbox = mailbox.clone();
                loom::thread::spawn(move || (0..*count).map(|_| ask(&mailbox, me)).sum::<u64>())
            })
            .collect();
        let mut carried_out = vec![0; letters.len()];
        for _ in 0..looks {
            mailbox.serve(|letter| {
                assert_eq!(letter, &[letter[0]; 6], "one origin wrote all of it");
                (letter[0] != refuses).then(|| {
                    carried_out[letter[0] as usize - 1] += 1;
                    [10 * letter[0]; 4]
                })
            });
        }
        for (origin, count) in origins.into_iter().zip(carried_out) {
            assert_eq!(origin.join().unwrap(), count);
        }
        assert!(!mailbox.is_full() && mailbox.put(&[0; 6]), "it is free");
    });
}

#[test]
fn one_origin_with_two_letters() {
    model(&[2], 2, 0);
}

#[test]
fn two_origins() {
    model(&[1, 1], 2, 0);
}

#[test]
fn one_of_two_is_refused() {
    model(&[1, 1], 2, 2);
}

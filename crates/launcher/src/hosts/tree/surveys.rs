//! Questions that have gone down the tree from here, and the answers that have come so far.

use std::collections::BTreeSet;

use catena_job::Question;

/// A question whose answers are gathered.
#[derive(Debug)]
struct Survey {
    number: u32,
    question: Question,
    /// The parts of the tree that have not answered, by their first node.
    waiting: BTreeSet<u32>,
    answer: Vec<u8>,
}

/// Questions whose answers are gathered.
#[derive(Debug, Default)]
pub struct Surveys {
    all: Vec<Survey>,
}

impl Surveys {
    /// These parts of the tree, by their first nodes, are asked a question.
    pub fn begin(&mut self, number: u32, question: Question, parts: BTreeSet<u32>) {
        self.all.push(Survey {
            number,
            question,
            waiting: parts,
            answer: Vec::new(),
        });
    }

    /// A part of the tree answers. One that was not waited for says nothing.
    pub fn answer(&mut self, number: u32, part: u32, answer: &[u8]) {
        let mut all = self.all.iter_mut();
        let survey = all.find(|it| it.number == number);
        if let Some(survey) = survey.filter(|it| it.waiting.contains(&part)) {
            survey.waiting.remove(&part);
            survey.question.merge(&mut survey.answer, answer);
        }
    }

    /// A question that waits for none of the parts any more that `is_there` says may still answer:
    /// its number, and the answer of all.
    pub fn take_complete(&mut self, is_there: impl Fn(u32) -> bool) -> Option<(u32, Vec<u8>)> {
        let complete = self.all.iter_mut().position(|survey| {
            survey.waiting.retain(|part| is_there(*part));
            survey.waiting.is_empty()
        })?;
        let survey = self.all.remove(complete);
        Some((survey.number, survey.answer))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_gathered_of_all_that_are_there() {
        let mut surveys = Surveys::default();
        surveys.begin(7, Question::Hear, BTreeSet::from([u32::MAX, 1, 4]));
        surveys.begin(8, Question::Hear, BTreeSet::from([1]));
        surveys.answer(7, 1, b"one");
        // Twice, by nobody who was asked, and to nothing that was asked.
        surveys.answer(7, 1, b"again");
        surveys.answer(7, 2, b"two");
        surveys.answer(9, 1, b"nine");
        assert_eq!(surveys.take_complete(|_| true), None);
        surveys.answer(7, u32::MAX, b" own");
        assert_eq!(surveys.take_complete(|_| true), None);
        // A host is lost.
        let complete = surveys.take_complete(|part| part != 4);
        assert_eq!(complete, Some((7, b"one own".to_vec())));
        assert_eq!(surveys.take_complete(|_| true), None);
        surveys.answer(8, 1, b"");
        assert_eq!(surveys.take_complete(|_| true), Some((8, Vec::new())));
        assert_eq!(surveys.take_complete(|_| false), None);
    }
}

//! What the servers of several nodes tell each other, in messages: parts of what
//! some ranks meet for, and questions for what a rank has put. Does no input or
//! output.
//!
//! A fence of the whole job is not among it: the launcher has fences of its own.

use std::collections::{BTreeMap, HashMap, VecDeque};

use catena_boot::wire::{Malformed, Reader, Writer};
use catena_job::NodeEvent;

/// Kinds of messages; the node that sent it follows.
const PART: u32 = 0;
const QUESTION: u32 = 1;
const ANSWER: u32 = 2;

/// Something to do. `R` is who waits for an answer.
#[derive(Debug, PartialEq)]
pub enum Act<R> {
    /// Send this.
    Tell(NodeEvent),
    /// Answer so; nothing if there is no answer.
    Answer(R, Option<Vec<u8>>),
    /// Find what a rank of this node has put, for [`Meetings::found`].
    Find(Find),
}

/// A question of another node.
#[derive(Debug, PartialEq)]
pub struct Find {
    node: u32,
    number: u32,
    /// Whose values are wanted.
    pub rank: u32,
}

/// Ranks that meet under a name, any number of times. Parts of a node arrive in
/// order, so the first of each belong together.
struct NamedFence<R> {
    /// Their nodes, once those of this one have come.
    nodes: Vec<u32>,
    waiting: VecDeque<R>,
    /// By node.
    parts: BTreeMap<u32, VecDeque<Vec<u8>>>,
}

/// All meetings and questions of a node.
pub struct Meetings<R> {
    node: u32,
    node_of: Vec<u32>,
    meetings: HashMap<Vec<u8>, NamedFence<R>>,
    questions: HashMap<u32, R>,
    asked: u32,
}

impl<R> Meetings<R> {
    /// For one of the nodes of a job; `node_of` has that of each rank.
    pub fn new(node: u32, node_of: Vec<u32>) -> Meetings<R> {
        Meetings {
            node,
            node_of,
            meetings: HashMap::new(),
            questions: HashMap::new(),
            asked: 0,
        }
    }

    /// How many ranks the job has.
    pub fn size(&self) -> usize {
        self.node_of.len()
    }

    fn message(&self, node: u32, kind: u32, more: impl FnOnce(&mut Writer)) -> NodeEvent {
        let mut w = Writer::new(0);
        w.u32(kind);
        w.u32(self.node);
        more(&mut w);
        let bytes = w.into_body();
        NodeEvent::ServerMessage { node, bytes }
    }

    /// The members of `ranks` that are on this node have come to the meeting `name` and
    /// bring `part`; `who` gets the parts of all nodes, in the order of these.
    pub fn join(&mut self, name: Vec<u8>, ranks: &[u32], part: Vec<u8>, who: R) -> Vec<Act<R>> {
        let of = |&rank: &u32| self.node_of.get(rank as usize).copied();
        let mut nodes: Vec<u32> = ranks.iter().filter_map(of).collect();
        nodes.sort_unstable();
        nodes.dedup();
        let others = nodes.iter().filter(|&&node| node != self.node);
        let mut acts: Vec<Act<R>> = others
            .map(|&node| {
                Act::Tell(self.message(node, PART, |w| {
                    w.bytes(&name);
                    w.bytes(&part);
                }))
            })
            .collect();
        let meeting = self.meeting(&name);
        meeting.nodes = nodes;
        meeting.waiting.push_back(who);
        self.bring(name, self.node, part, &mut acts);
        acts
    }

    fn meeting(&mut self, name: &[u8]) -> &mut NamedFence<R> {
        self.meetings
            .entry(name.to_vec())
            .or_insert_with(|| NamedFence {
                nodes: Vec::new(),
                waiting: VecDeque::new(),
                parts: BTreeMap::new(),
            })
    }

    /// A node brings its part; ends the meeting if all have.
    fn bring(&mut self, name: Vec<u8>, node: u32, part: Vec<u8>, acts: &mut Vec<Act<R>>) {
        let meeting = self.meeting(&name);
        meeting.parts.entry(node).or_default().push_back(part);
        let there = |node| {
            meeting
                .parts
                .get(node)
                .is_some_and(|parts| !parts.is_empty())
        };
        if meeting.waiting.is_empty() || !meeting.nodes.iter().all(there) {
            return;
        }
        let parts = meeting.parts.values_mut().filter_map(VecDeque::pop_front);
        let all = parts.flatten().collect();
        let who = meeting.waiting.pop_front();
        acts.extend(who.map(|who| Act::Answer(who, Some(all))));
        if meeting.waiting.is_empty() && meeting.parts.values().all(VecDeque::is_empty) {
            self.meetings.remove(&name);
        }
    }

    /// `who` wants what `rank`, of another node, has put.
    pub fn ask(&mut self, rank: u32, who: R) -> Act<R> {
        let Some(&node) = self.node_of.get(rank as usize) else {
            return Act::Answer(who, None);
        };
        let question = self.asked;
        self.asked = self.asked.wrapping_add(1);
        self.questions.insert(question, who);
        Act::Tell(self.message(node, QUESTION, |w| {
            w.u32(question);
            w.u32(rank);
        }))
    }

    /// The answer to a question.
    pub fn found(&self, find: &Find, found: Option<&[u8]>) -> NodeEvent {
        self.message(find.node, ANSWER, |w| {
            w.u32(find.number);
            w.u32(u32::from(found.is_some()));
            w.bytes(found.unwrap_or_default());
        })
    }

    /// Takes in what another node has sent.
    ///
    /// # Errors
    /// If it makes no sense.
    pub fn take(&mut self, message: &[u8]) -> Result<Vec<Act<R>>, Malformed> {
        let r = &mut Reader::new(message);
        let mut acts = Vec::new();
        match (r.u32()?, r.u32()?) {
            (PART, node) => {
                let (name, part) = (r.bytes()?.to_vec(), r.bytes()?.to_vec());
                self.bring(name, node, part, &mut acts);
            }
            (QUESTION, node) => acts.push(Act::Find(Find {
                node,
                number: r.u32()?,
                rank: r.u32()?,
            })),
            (ANSWER, _) => {
                let who = self.questions.remove(&r.u32()?);
                let found = r.u32()? != 0;
                let bytes = r.bytes()?.to_vec();
                acts.extend(who.map(|who| Act::Answer(who, found.then_some(bytes))));
            }
            _ => return Err(Malformed("a message of an unknown kind")),
        }
        Ok(acts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two nodes with two ranks each, and what is on its way between them.
    struct Pair {
        nodes: [Meetings<&'static str>; 2],
        answers: Vec<(&'static str, Option<Vec<u8>>)>,
    }

    impl Pair {
        fn new() -> Pair {
            Pair {
                nodes: [0, 1].map(|node| Meetings::new(node, vec![0, 0, 1, 1])),
                answers: Vec::new(),
            }
        }

        fn act(&mut self, node: usize, acts: Vec<Act<&'static str>>) {
            for act in acts {
                match act {
                    Act::Tell(NodeEvent::ServerMessage { node: to, bytes }) => {
                        assert_ne!(to as usize, node);
                        let acts = self.nodes[to as usize].take(&bytes).unwrap();
                        self.act(to as usize, acts);
                    }
                    Act::Answer(who, bytes) => self.answers.push((who, bytes)),
                    Act::Find(find) => {
                        let put = [find.rank as u8];
                        let found = (find.rank == 3).then_some(&put[..]);
                        let event = self.nodes[node].found(&find, found);
                        self.act(node, vec![Act::Tell(event)]);
                    }
                    Act::Tell(other) => panic!("{other:?}"),
                }
            }
        }

        fn join(
            &mut self,
            node: usize,
            name: &[u8],
            ranks: &[u32],
            part: &[u8],
            who: &'static str,
        ) {
            let acts = self.nodes[node].join(name.to_vec(), ranks, part.to_vec(), who);
            self.act(node, acts);
        }
    }

    #[test]
    fn whoever_meets_gets_all_parts_in_the_order_of_nodes() {
        let mut pair = Pair::new();
        pair.join(1, b"a", &[1, 2], b"two", "late");
        assert_eq!(pair.answers, []);
        // Another one, of ranks of one node, is over at once.
        pair.join(1, b"b", &[2, 3], b"own", "alone");
        assert_eq!(pair.answers, [("alone", Some(b"own".to_vec()))]);
        pair.answers.clear();
        pair.join(0, b"a", &[1, 2], b"one", "first");
        let all = Some(b"onetwo".to_vec());
        assert_eq!(pair.answers, [("late", all.clone()), ("first", all)]);
        assert!(pair.nodes.iter().all(|node| node.meetings.is_empty()));
    }

    #[test]
    fn meetings_of_one_name_follow_each_other() {
        let mut pair = Pair::new();
        pair.join(0, b"a", &[0, 3], b"1", "p");
        pair.join(0, b"a", &[0, 3], b"2", "q");
        pair.join(1, b"a", &[0, 3], b"x", "r");
        pair.join(1, b"a", &[0, 3], b"y", "s");
        let text = |text: &str| Some(text.as_bytes().to_vec());
        let answers = [
            ("p", text("1x")),
            ("r", text("1x")),
            ("q", text("2y")),
            ("s", text("2y")),
        ];
        for answer in &answers {
            assert!(pair.answers.contains(answer), "{:?}", pair.answers);
        }
        assert_eq!(pair.answers.len(), 4);
    }

    #[test]
    fn questions_are_answered_even_if_nothing_is_found() {
        let mut pair = Pair::new();
        for (rank, answer) in [(3, Some(vec![3])), (2, None), (9, None)] {
            let act = pair.nodes[0].ask(rank, "who");
            pair.act(0, vec![act]);
            assert_eq!(pair.answers.pop(), Some(("who", answer)));
        }
        assert!(pair.nodes[0].questions.is_empty());
    }

    #[test]
    fn nonsense_is_told() {
        let mut node = Meetings::<()>::new(0, vec![0]);
        for bytes in [&b""[..], &[9; 8], &[0; 11], &[1, 0, 0, 0, 0, 0, 0, 0, 1]] {
            assert!(node.take(bytes).is_err(), "{bytes:?}");
        }
    }
}

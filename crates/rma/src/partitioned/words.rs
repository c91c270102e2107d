//! What the two ends of a partitioned message tell each other, once: the sender what it has, the
//! receiver how it comes there. Words of another process are checked here.

use crate::heap::Card;

/// A card as words of a control message.
fn split(card: Card) -> impl Iterator<Item = u32> {
    card.words()
        .into_iter()
        .flat_map(|word| [word as u32, (word >> 32) as u32])
}

/// Two words as one.
fn join(words: &[u32]) -> u64 {
    u64::from(words[0]) | u64::from(words[1]) << 32
}

fn card(words: &[u32]) -> Card {
    Card::from_words(std::array::from_fn(|i| join(&words[2 * i..])))
}

const CARD: usize = 2 * Card::WORDS;

/// What the sender has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offer {
    /// Its partitions.
    pub partitions: u32,
    /// Bytes of each.
    pub bytes: u64,
    /// Its channel, if there is one.
    pub channel: Option<Card>,
}

impl Offer {
    /// As words.
    pub fn words(&self) -> Vec<u32> {
        let head = [
            self.partitions,
            self.bytes as u32,
            (self.bytes >> 32) as u32,
        ];
        let card = split(self.channel.unwrap_or(Card::NONE));
        head.into_iter().chain(card).collect()
    }

    /// From words; `None` if they are none.
    pub fn from_words(words: &[u32]) -> Option<Offer> {
        let words: &[u32; 3 + CARD] = words.try_into().ok()?;
        let offer = Offer {
            partitions: words[0],
            bytes: join(&words[1..]),
            channel: Some(card(&words[3..])).filter(|card| card.pid != 0),
        };
        let total = offer.bytes.checked_mul(offer.partitions.into())?;
        (offer.partitions != 0 && i64::try_from(total).is_ok()).then_some(offer)
    }
}

/// How the partitions come to the receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The first of the tags of their messages, if they are some; `None` if the receiver cannot
    /// have them.
    pub tags: Option<u32>,
    /// Whether it has mapped the sender's channel.
    pub has_channel: bool,
    /// Where its buffer is, if that is one run of bytes with room for all.
    pub buffer: Option<u64>,
    /// How neighbours map it, if they can.
    pub card: Option<Card>,
}

impl Answer {
    /// As words.
    pub fn words(&self) -> Vec<u32> {
        let flags = [self.has_channel, self.buffer.is_some(), self.tags.is_some()];
        let flags = (0..)
            .zip(flags)
            .fold(0, |all, (bit, is)| all | u32::from(is) << bit);
        let at = self.buffer.unwrap_or(0);
        let tags = self.tags.unwrap_or(0);
        let head = [tags, flags, at as u32, (at >> 32) as u32];
        let card = split(self.card.unwrap_or(Card::NONE));
        head.into_iter().chain(card).collect()
    }

    /// From words; `None` if they are none.
    pub fn from_words(words: &[u32]) -> Option<Answer> {
        let words: &[u32; 4 + CARD] = words.try_into().ok()?;
        Some(Answer {
            tags: (words[1] & 4 != 0).then_some(words[0]),
            has_channel: words[1] & 1 != 0,
            buffer: (words[1] & 2 != 0).then(|| join(&words[2..])),
            card: Some(card(&words[4..])).filter(|card| card.pid != 0),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_back_and_others_are_refused() {
        let card = Card {
            pid: 77,
            fd: 5,
            stamp: 1 << 60,
            len: 1 << 33,
            at: 4096,
        };
        for channel in [None, Some(card)] {
            let offer = Offer {
                partitions: 9,
                bytes: 1 << 40,
                channel,
            };
            assert_eq!(Offer::from_words(&offer.words()), Some(offer));
            for buffer in [None, Some(0x7fff_0000_1000)] {
                let answer = Answer {
                    tags: buffer.map(|_| 12),
                    has_channel: channel.is_some(),
                    buffer,
                    card: channel,
                };
                assert_eq!(Answer::from_words(&answer.words()), Some(answer));
                assert_eq!(Answer::from_words(&answer.words()[1..]), None);
            }
        }
        let mut words = Offer {
            partitions: 1,
            bytes: 8,
            channel: None,
        }
        .words();
        words[2] = u32::MAX;
        assert_eq!(Offer::from_words(&words), None, "more bytes than memory");
        words[2] = 0;
        words[0] = 0;
        assert_eq!(Offer::from_words(&words), None, "no partitions");
        assert_eq!(Offer::from_words(&words[1..]), None);
    }
}

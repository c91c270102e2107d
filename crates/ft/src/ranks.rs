//! Sets of ranks, as bits.

/// A set of ranks below a size that all who exchange it know.
///
/// # Examples
/// ```
/// use catena_ft::ranks::Ranks;
///
/// let mut dead = Ranks::new(40);
/// dead.add(3);
/// dead.add(39);
/// assert_eq!(dead.iter().collect::<Vec<_>>(), [3, 39]);
/// assert!(Ranks::all(40).contains_all(&dead) && !dead.contains_all(&Ranks::all(40)));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Ranks {
    size: u32,
    words: Box<[u32]>,
}

impl Ranks {
    /// None of `size` ranks.
    pub fn new(size: u32) -> Self {
        Ranks {
            size,
            words: vec![0; Self::words_of(size)].into(),
        }
    }

    /// All of `size` ranks.
    pub fn all(size: u32) -> Self {
        let mut all = Ranks::new(size);
        (0..size).for_each(|rank| all.add(rank));
        all
    }

    /// How many words a set of that size has.
    pub fn words_of(size: u32) -> usize {
        size.div_ceil(u32::BITS) as usize
    }

    /// The set that these words say; words that are missing are zero, and bits beyond the size
    /// are ignored.
    pub fn from_words(size: u32, words: &[u32]) -> Self {
        let mut set = Ranks::new(size);
        set.words.iter_mut().zip(words).for_each(|(a, b)| *a = *b);
        if let (Some(last), over @ 1..) = (set.words.last_mut(), size % u32::BITS) {
            *last &= (1 << over) - 1;
        }
        set
    }

    /// As words.
    pub fn words(&self) -> &[u32] {
        &self.words
    }

    /// Adds a rank, which is below the size.
    pub fn add(&mut self, rank: u32) {
        debug_assert!(rank < self.size);
        self.words[(rank / u32::BITS) as usize] |= 1 << (rank % u32::BITS);
    }

    /// Whether a rank is among them.
    pub fn has(&self, rank: u32) -> bool {
        let word = self.words.get((rank / u32::BITS) as usize);
        word.is_some_and(|word| word >> (rank % u32::BITS) & 1 != 0)
    }

    /// Adds those of another set of the size.
    pub fn unite(&mut self, other: &Ranks) {
        self.words
            .iter_mut()
            .zip(&other.words)
            .for_each(|(a, b)| *a |= b);
    }

    /// Keeps those that are in another set of the size, too.
    pub fn intersect(&mut self, other: &Ranks) {
        self.words
            .iter_mut()
            .zip(&other.words)
            .for_each(|(a, b)| *a &= b);
    }

    /// Whether all of another set of the size are among them.
    pub fn contains_all(&self, other: &Ranks) -> bool {
        let mut pairs = self.words.iter().zip(&other.words);
        pairs.all(|(a, b)| b & !a == 0)
    }

    /// In order.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.size).filter(|&rank| self.has(rank))
    }
}

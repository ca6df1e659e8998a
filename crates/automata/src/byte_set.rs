//! A set of byte values as four machine words.

use std::{fmt, ops::RangeInclusive};

/// A set of bytes. All operations are constant time.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ByteSet([u64; 4]);

impl ByteSet {
    /// No byte.
    pub const EMPTY: Self = Self([0; 4]);
    /// Every byte.
    pub const FULL: Self = Self([u64::MAX; 4]);

    /// One byte.
    #[must_use]
    pub const fn single(byte: u8) -> Self {
        let mut words = [0; 4];
        words[(byte >> 6) as usize] = 1 << (byte & 63);
        Self(words)
    }

    /// All bytes of an inclusive range; empty when the range is.
    #[must_use]
    pub fn range(range: RangeInclusive<u8>) -> Self {
        range.collect()
    }

    /// Whether the byte is a member.
    #[must_use]
    pub const fn contains(&self, byte: u8) -> bool {
        self.0[(byte >> 6) as usize] & (1 << (byte & 63)) != 0
    }

    /// Adds a byte.
    pub const fn insert(&mut self, byte: u8) {
        self.0[(byte >> 6) as usize] |= 1 << (byte & 63);
    }

    /// Number of members.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Whether there is no member.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0 == [0; 4]
    }

    /// The smallest member.
    #[must_use]
    pub fn first(&self) -> Option<u8> {
        self.iter().next()
    }

    /// Members, ascending.
    pub fn iter(&self) -> impl Iterator<Item = u8> + use<> {
        let words = self.0;
        (0..4_usize).flat_map(move |index| {
            let mut word = words[index];
            std::iter::from_fn(move || {
                let bit = word.trailing_zeros();
                (word != 0).then(|| {
                    word &= word - 1;
                    u8::try_from(index as u32 * 64 + bit).expect("four words hold 256 bits")
                })
            })
        })
    }

    /// Members of either.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        self.zip(other, |a, b| a | b)
    }

    /// Members of both.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        self.zip(other, |a, b| a & b)
    }

    /// Members of this set only.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Self {
        self.zip(other, |a, b| a & !b)
    }

    /// Every byte that is not a member.
    #[must_use]
    pub fn complement(&self) -> Self {
        Self::FULL.difference(self)
    }

    fn zip(&self, other: &Self, combine: impl Fn(u64, u64) -> u64) -> Self {
        Self(std::array::from_fn(|i| combine(self.0[i], other.0[i])))
    }
}

impl FromIterator<u8> for ByteSet {
    fn from_iter<I: IntoIterator<Item = u8>>(bytes: I) -> Self {
        let mut set = Self::EMPTY;
        for byte in bytes {
            set.insert(byte);
        }
        set
    }
}

impl fmt::Debug for ByteSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[")?;
        let mut bytes = self.iter().peekable();
        while let Some(start) = bytes.next() {
            let mut end = start;
            while bytes.peek().is_some_and(|&next| next == end + 1) {
                end = bytes.next().expect("peeked");
            }
            write!(f, "{}", start.escape_ascii())?;
            if end > start {
                write!(f, "-{}", end.escape_ascii())?;
            }
        }
        write!(f, "]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_and_operations() {
        let digits = ByteSet::range(b'0'..=b'9');
        assert_eq!(digits.len(), 10);
        assert_eq!(digits.complement().len(), 246);
        assert_eq!(digits.iter().collect::<Vec<_>>(), b"0123456789");
        assert!(ByteSet::FULL.contains(255) && ByteSet::FULL.contains(0));
        assert_eq!(digits.intersection(&digits.complement()), ByteSet::EMPTY);
        assert_eq!(format!("{:?}", digits.union(&ByteSet::single(b'x'))), "[0-9x]");
        #[expect(clippy::reversed_empty_ranges, reason = "an empty range is what is tested")]
        let empty = ByteSet::range(9..=3);
        assert!(empty.is_empty() && empty.first().is_none());
    }
}

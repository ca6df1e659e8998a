//! Byte equivalence classes: bytes that no transition tells apart share a column.

use crate::ByteSet;

/// A partition of the 256 byte values. Classes are numbered by their smallest byte, so equal
/// partitions are equal values.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct ByteClasses {
    class_of: [u8; 256],
    /// 1 to 256.
    count: u16,
}

impl ByteClasses {
    /// The partition in which all bytes are alike.
    #[must_use]
    pub fn coarsest() -> Self {
        Self { class_of: [0; 256], count: 1 }
    }

    /// The coarsest partition that respects every given set: two bytes share a class exactly when
    /// each set holds both or neither. Cost: 256 steps a set.
    #[must_use]
    pub fn from_sets<'a>(sets: impl IntoIterator<Item = &'a ByteSet>) -> Self {
        let mut classes = Self::coarsest();
        for set in sets {
            if classes.count == 256 {
                break;
            }
            classes.refine(2, |byte| usize::from(set.contains(byte)));
        }
        classes
    }

    /// The coarsest partition that refines both.
    #[must_use]
    pub fn meet(&self, other: &Self) -> Self {
        let mut classes = self.clone();
        classes.refine(other.count(), |byte| other.class(byte));
        classes
    }

    /// The coarsest partition in which bytes with different keys are apart. Keys are below 256.
    #[must_use]
    pub fn from_keys(key: impl Fn(u8) -> usize) -> Self {
        let mut classes = Self::coarsest();
        classes.refine(256, key);
        classes
    }

    /// Splits every class by `key` (below `keys`) and renumbers by smallest byte.
    fn refine(&mut self, keys: usize, key: impl Fn(u8) -> usize) {
        let mut pairs = [(0_u8, 0_u8); 256];
        let mut count = 0_usize;
        let mut renumbered = vec![None::<u8>; usize::from(self.count) * keys];
        for byte in 0..=255_u8 {
            let old = usize::from(self.class_of[usize::from(byte)]);
            let slot = &mut renumbered[old * keys + key(byte)];
            let new = *slot.get_or_insert_with(|| {
                count += 1;
                u8::try_from(count - 1).expect("at most 256 classes")
            });
            pairs[usize::from(byte)] = (byte, new);
        }
        for (byte, new) in pairs {
            self.class_of[usize::from(byte)] = new;
        }
        self.count = u16::try_from(count).expect("at most 256 classes");
    }

    /// The class of a byte, below [`Self::count`].
    #[must_use]
    pub fn class(&self, byte: u8) -> usize {
        usize::from(self.class_of[usize::from(byte)])
    }

    /// The whole map, indexed by byte.
    #[must_use]
    pub fn map(&self) -> &[u8; 256] {
        &self.class_of
    }

    /// Number of classes, 1 to 256.
    #[must_use]
    pub fn count(&self) -> usize {
        usize::from(self.count)
    }

    /// The smallest byte of each class, by class.
    #[must_use]
    pub fn representatives(&self) -> Vec<u8> {
        let mut representatives = Vec::with_capacity(self.count());
        for byte in 0..=255 {
            if self.class(byte) == representatives.len() {
                representatives.push(byte);
            }
        }
        representatives
    }

    /// All bytes of a class.
    #[must_use]
    pub fn members(&self, class: usize) -> ByteSet {
        (0..=255).filter(|&byte| self.class(byte) == class).collect()
    }
}

impl std::fmt::Debug for ByteClasses {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries((0..self.count()).map(|class| self.members(class))).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separates_exactly_what_a_set_separates() {
        let classes =
            ByteClasses::from_sets(&[ByteSet::range(b'0'..=b'9'), ByteSet::range(b'5'..=b'z')]);
        assert_eq!(classes.count(), 4);
        assert_eq!(classes.class(b'0'), classes.class(b'4'));
        assert_ne!(classes.class(b'4'), classes.class(b'5'));
        assert_eq!(classes.representatives(), [0, b'0', b'5', b':']);
        assert_eq!(classes.members(classes.class(b'9')), ByteSet::range(b'5'..=b'9'));
    }

    #[test]
    fn goes_up_to_256_classes_and_meets() {
        let singles: Vec<_> = (0..=255).map(ByteSet::single).collect();
        let finest = ByteClasses::from_sets(&singles);
        assert_eq!(finest.count(), 256);
        assert_eq!(finest.meet(&ByteClasses::coarsest()), finest);
        assert_eq!(ByteClasses::from_keys(|byte| usize::from(byte >> 4)).count(), 16);
    }
}

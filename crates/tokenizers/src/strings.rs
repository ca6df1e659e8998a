//! A sorted list of strings that tells which of them a text begins with.

/// Strings with a number each, sorted.
#[derive(Debug, Default)]
pub(crate) struct Strings(Vec<(Box<[u8]>, u32)>);

impl Strings {
    /// Of equal strings the one with the smallest number is kept. Empty ones are left out.
    pub(crate) fn new(mut strings: Vec<(Box<[u8]>, u32)>) -> Self {
        strings.retain(|(string, _)| !string.is_empty());
        strings.sort_unstable();
        strings.dedup_by(|next, kept| next.0 == kept.0);
        Self(strings)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Calls `found` with length and number of each string that `text` begins with, shortest
    /// first, and says whether `text` is a proper prefix of one. Two searches by halves a byte, up
    /// to the first byte that leads to no string.
    pub(crate) fn prefixes(&self, text: &[u8], mut found: impl FnMut(usize, u32)) -> bool {
        let mut range = &self.0[..];
        for (depth, &byte) in text.iter().enumerate() {
            let start = range.partition_point(|(string, _)| string.get(depth) < Some(&byte));
            let end = range.partition_point(|(string, _)| string.get(depth) <= Some(&byte));
            range = &range[start..end];
            let Some((first, number)) = range.first() else { return false };
            if first.len() == depth + 1 {
                found(first.len(), *number);
                range = &range[1..];
            }
        }
        !range.is_empty()
    }

    /// Length of the longest string that `text` begins with.
    pub(crate) fn longest(&self, text: &[u8]) -> Option<(usize, u32)> {
        let mut longest = None;
        self.prefixes(text, |len, number| longest = Some((len, number)));
        longest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn prefixes_are_those_that_comparing_each_string_finds(
            strings in prop::collection::vec("[ab]{0,4}", 0..12),
            text in "[abc]{0,6}",
        ) {
            let list: Vec<(Box<[u8]>, u32)> =
                (0..).zip(&strings).map(|(n, s)| (s.as_bytes().into(), n)).collect();
            let mut found = Vec::new();
            let open = Strings::new(list).prefixes(text.as_bytes(), |len, n| found.push((len, n)));
            let mut expected: Vec<(usize, u32)> = (0..).zip(&strings)
                .filter(|(_, s)| !s.is_empty() && text.starts_with(s.as_str()))
                .map(|(n, s)| (s.len(), n))
                .collect();
            expected.sort_unstable();
            expected.dedup_by_key(|entry| entry.0);
            prop_assert_eq!(found, expected);
            prop_assert_eq!(
                open,
                strings.iter().any(|s| s.len() > text.len() && s.starts_with(&text))
            );
        }
    }
}

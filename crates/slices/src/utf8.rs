//! Well-formed UTF-8 as an automaton (The Unicode Standard, table 3-7).

/// Where a text stands in a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Utf8 {
    /// Between characters.
    Boundary,
    /// Before the last byte.
    OneMore,
    /// Before the last two, which may be any.
    TwoMore,
    /// Before the last three, which may be any.
    ThreeMore,
    /// After E0: no overlong form.
    AfterE0,
    /// After ED: no surrogate.
    AfterEd,
    /// After F0: no overlong form.
    AfterF0,
    /// After F4: nothing past the last plane.
    AfterF4,
}

impl Utf8 {
    /// The state after a byte.
    pub(crate) const fn next(self, byte: u8) -> Option<Self> {
        Some(match (self, byte) {
            (Self::Boundary, 0x00..=0x7f) => Self::Boundary,
            (Self::Boundary, 0xc2..=0xdf) => Self::OneMore,
            (Self::Boundary, 0xe0) => Self::AfterE0,
            (Self::Boundary, 0xed) => Self::AfterEd,
            (Self::Boundary, 0xe1..=0xef) => Self::TwoMore,
            (Self::Boundary, 0xf0) => Self::AfterF0,
            (Self::Boundary, 0xf1..=0xf3) => Self::ThreeMore,
            (Self::Boundary, 0xf4) => Self::AfterF4,
            (Self::OneMore, 0x80..=0xbf) => Self::Boundary,
            (Self::TwoMore, 0x80..=0xbf)
            | (Self::AfterE0, 0xa0..=0xbf)
            | (Self::AfterEd, 0x80..=0x9f) => Self::OneMore,
            (Self::ThreeMore, 0x80..=0xbf)
            | (Self::AfterF0, 0x90..=0xbf)
            | (Self::AfterF4, 0x80..=0x8f) => Self::TwoMore,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Utf8;

    #[test]
    fn it_reads_what_the_standard_library_reads() {
        let read = |bytes: &[u8]| {
            let mut state = Some(Utf8::Boundary);
            for &byte in bytes {
                state = state.and_then(|state| state.next(byte));
            }
            state == Some(Utf8::Boundary)
        };
        let lead = (0..=255_u8).flat_map(|a| (0..=255_u8).map(move |b| [a, b]));
        for [a, b] in lead {
            for tail in [&[][..], &[0x80], &[0xbf], &[0x80, 0x80], &[0xbf, 0xbf], &[0x7f]] {
                let bytes = [&[a, b], tail].concat();
                assert_eq!(read(&bytes), std::str::from_utf8(&bytes).is_ok(), "{bytes:x?}");
            }
        }
    }
}

//! Character classes as sets of atoms.
//!
//! Patterns that occur tell apart the digits, the letters by case (and those of hexadecimal
//! numbers), each ASCII punctuation mark, each common white space, and everything past ASCII. These
//! are the atoms: few enough for one machine word, so that the characters of a token are one word
//! too, and "made of the class alone" is one instruction.

use crate::utf8::Utf8;
use formwork_automata::ByteSet;

/// Bit of everything past ASCII.
const BEYOND_ASCII: u64 = 1 << 43;

/// The atom of each ASCII byte.
const ATOMS: [u8; 128] = atoms();

const fn atoms() -> [u8; 128] {
    let mut atoms = [0; 128];
    let mut next_mark = 10;
    let mut byte = 0;
    while byte < 128 {
        atoms[byte] = match byte as u8 {
            b'\t' => 1,
            b'\n' => 2,
            b'\r' => 3,
            b' ' => 4,
            b'0'..=b'9' => 5,
            b'a'..=b'f' => 6,
            b'g'..=b'z' => 7,
            b'A'..=b'F' => 8,
            b'G'..=b'Z' => 9,
            0x7f => 42,
            0..=0x1f => 0,
            _ => {
                next_mark += 1;
                next_mark - 1
            }
        };
        byte += 1;
    }
    atoms
}

/// A set of characters that is a union of atoms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CharacterClass(u64);

impl CharacterClass {
    /// The atoms whose ASCII characters are all members, and nothing past ASCII.
    #[must_use]
    pub fn ascii(is_member: impl Fn(u8) -> bool) -> Self {
        let outside = (0..128).filter(|&byte| !is_member(byte)).map(atom).fold(0, |a, b| a | b);
        let all = (0..128).map(atom).fold(0, |a, b| a | b);
        Self(all & !outside)
    }

    /// The same with every character past ASCII.
    #[must_use]
    pub const fn with_all_beyond_ascii(self) -> Self {
        Self(self.0 | BEYOND_ASCII)
    }

    /// Whether characters past ASCII are members.
    #[must_use]
    pub const fn has_all_beyond_ascii(self) -> bool {
        self.0 & BEYOND_ASCII != 0
    }

    /// The characters of a text, and how many begin in it. `None` when it is no UTF-8; a last
    /// character that is cut short counts as one.
    #[must_use]
    pub fn of_text(text: &[u8]) -> Option<(Self, usize)> {
        let mut state = Utf8::Boundary;
        let mut class = 0;
        let mut count = 0;
        for &byte in text {
            count += usize::from(state == Utf8::Boundary);
            state = state.next(byte)?;
            class |= atom(byte);
        }
        Some((Self(class), count))
    }

    /// Whether every member is a member of `other`.
    #[must_use]
    pub const fn is_subset_of(self, other: Self) -> bool {
        self.0 & !other.0 == 0
    }

    /// The bytes that members begin with. Where everything past ASCII is a member, bytes that begin
    /// no character count among them: they are refused wherever text of the class is.
    #[must_use]
    pub fn first_bytes(self) -> ByteSet {
        (0..=255).filter(|&byte| self.0 & atom(byte) != 0).collect()
    }

    /// Whether a byte can follow in a text of the class, by the state of its UTF-8.
    pub(crate) fn next(self, state: Utf8, byte: u8) -> Option<Utf8> {
        if self.0 & atom(byte) == 0 {
            return None;
        }
        state.next(byte)
    }
}

const fn atom(byte: u8) -> u64 {
    match byte {
        0..=127 => 1 << ATOMS[byte as usize],
        _ => BEYOND_ASCII,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn atoms_are_as_fine_as_they_say() {
        let word = CharacterClass::ascii(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        assert_eq!(word.first_bytes().len(), 63);
        for byte in 0..128_u8 {
            let single = CharacterClass::ascii(|other| other == byte).first_bytes();
            let expected =
                usize::from(byte.is_ascii_punctuation() || b" \t\n\r\x7f".contains(&byte));
            assert_eq!(single.len(), expected, "{byte}");
        }
        // Half an atom is no member.
        assert!(CharacterClass::ascii(|byte| byte == b'5').first_bytes().is_empty());
    }

    #[test]
    fn a_text_has_the_class_of_its_characters() {
        let (class, count) = CharacterClass::of_text("a1 é".as_bytes()).unwrap();
        assert!(class.has_all_beyond_ascii());
        assert_eq!(count, 4);
        let text = CharacterClass::ascii(|byte| byte != b'"').with_all_beyond_ascii();
        assert!(class.is_subset_of(text));
        assert!(!CharacterClass::of_text(b"a\"").unwrap().0.is_subset_of(text));
        assert_eq!(CharacterClass::of_text(b"a\xc3").unwrap().1, 2);
        assert_eq!(CharacterClass::of_text(b"\xa9"), None);
        assert_eq!(CharacterClass::of_text(b"\xed\xa0\x80"), None);
    }
}

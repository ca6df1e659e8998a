//! Where in the user's text something stands.

use std::fmt;

/// A place in the text of a constraint.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Location {
    /// The constraint as a whole.
    #[default]
    Whole,
    /// A stretch of text.
    Text(SourcePosition),
    /// A JSON pointer (RFC 6901) into a JSON document; empty for its root.
    Pointer(String),
}

/// A stretch of text, for people (line, column) and for tools (offset, length).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SourcePosition {
    /// Byte offset of the first byte.
    pub offset: usize,
    /// Bytes covered; 0 for a point.
    pub length: usize,
    /// 1-based line.
    pub line: usize,
    /// 1-based column, in characters.
    pub column: usize,
}

impl SourcePosition {
    /// The position of `offset..offset + length` in `text`. An offset past the end means the end;
    /// one inside a character means that character's start.
    #[must_use]
    pub fn in_text(text: &str, offset: usize, length: usize) -> Self {
        let offset = (0..=offset.min(text.len()))
            .rev()
            .find(|&at| text.is_char_boundary(at))
            .unwrap_or_default();
        let before = &text[..offset];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        Self {
            offset,
            length,
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
        }
    }
}

impl Location {
    /// Where this place of an embedded text is in the text around it, in which the embedded one
    /// stands at `base`: pointers are joined, and otherwise `base` is all that can be said.
    #[must_use]
    pub fn within(&self, base: &Self) -> Self {
        match (base, self) {
            (Self::Whole, inner) => inner.clone(),
            (Self::Pointer(base), Self::Pointer(inner)) => Self::Pointer(format!("{base}{inner}")),
            _ => base.clone(),
        }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole => write!(f, "the constraint"),
            Self::Text(position) => {
                write!(f, "line {}, column {}", position.line, position.column)
            }
            Self::Pointer(pointer) if pointer.is_empty() => write!(f, "the root of the schema"),
            Self::Pointer(pointer) => match middle(pointer) {
                Some((begin, end)) => write!(f, "{begin}…{end}"),
                None => write!(f, "{pointer}"),
            },
        }
    }
}

/// Longest pointer that is shown whole, in bytes.
const SHOWN: usize = 200;

/// Begin and end of a pointer too long to be shown: it can be as deep as the document.
fn middle(pointer: &str) -> Option<(&str, &str)> {
    let boundary = |from: usize| (from..).find(|&at| pointer.is_char_boundary(at));
    (pointer.len() > SHOWN).then(|| {
        let begin = boundary(SHOWN / 2).unwrap_or(pointer.len());
        let end = boundary(pointer.len() - SHOWN / 4).unwrap_or(pointer.len());
        (&pointer[..begin], &pointer[end..])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_count_from_one_in_characters() {
        let text = "a\néb c\n";
        let at = |offset| {
            let position = SourcePosition::in_text(text, offset, 1);
            (position.line, position.column)
        };
        assert_eq!(at(0), (1, 1));
        assert_eq!(at(2), (2, 1));
        assert_eq!(at(4), (2, 2));
        assert_eq!(at(3), (2, 1), "inside a character means its start");
        assert_eq!(at(99), (3, 1));
    }

    #[test]
    fn places_of_embedded_texts_are_places_of_the_text_around_them() {
        let pointer = |text: &str| Location::Pointer(text.into());
        let text = Location::Text(SourcePosition::in_text("ab", 1, 1));
        assert_eq!(pointer("/b").within(&pointer("/a")), pointer("/a/b"));
        assert_eq!(Location::Whole.within(&pointer("/a")), pointer("/a"));
        assert_eq!(pointer("/b").within(&Location::Whole), pointer("/b"));
        assert_eq!(pointer("/b").within(&text), text);
        assert_eq!(text.within(&pointer("/a")), pointer("/a"));
    }

    #[test]
    fn a_pointer_of_any_length_is_shown_in_a_line() {
        let short = Location::Pointer("/properties/é".into());
        assert_eq!(short.to_string(), "/properties/é");
        let deep = Location::Pointer("/ééé".repeat(10_000)).to_string();
        assert!(deep.len() < 200 && deep.starts_with("/ééé/") && deep.contains('…'), "{deep}");
    }
}

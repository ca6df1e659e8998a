//! Tokens with their groups: which bracket closes which, and what lies between commas.

use super::lex::{Kind, Token};
use std::ops::Range;

/// Tokens, and the partner of every bracket.
#[derive(Debug)]
pub(crate) struct Tokens<'a> {
    tokens: &'a [Token<'a>],
    /// For an opening bracket the index of its closing one and the other way round; for any other
    /// token, and for a bracket without partner, its own index.
    partners: Vec<usize>,
    /// Index of the innermost bracket open around a token.
    enclosing: Vec<Option<usize>>,
}

impl<'a> Tokens<'a> {
    /// Pairs the brackets. One pass.
    pub(crate) fn new(tokens: &'a [Token<'a>]) -> Self {
        let mut partners: Vec<usize> = (0..tokens.len()).collect();
        let mut enclosing = vec![None; tokens.len()];
        let mut open = Vec::new();
        for (index, token) in tokens.iter().enumerate() {
            if token.kind == Kind::Close
                && let Some(partner) = open.pop()
            {
                partners[partner] = index;
                partners[index] = partner;
            }
            enclosing[index] = open.last().copied();
            if token.kind == Kind::Open {
                open.push(index);
            }
        }
        Self { tokens, partners, enclosing }
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.tokens.len()
    }

    /// The token at an index below [`Self::len`].
    pub(crate) fn at(&self, index: usize) -> Token<'a> {
        self.tokens[index]
    }

    /// Whether there is a token at an index and this is its text. Strings are never meant.
    pub(crate) fn is(&self, index: usize, text: &str) -> bool {
        self.tokens.get(index).is_some_and(|token| token.text == text)
    }

    /// Whether there is a token of a kind at an index.
    pub(crate) fn is_kind(&self, index: usize, kind: Kind) -> bool {
        self.tokens.get(index).is_some_and(|token| token.kind == kind)
    }

    /// Index of a bracket's partner; of anything else its own.
    pub(crate) fn partner(&self, index: usize) -> usize {
        self.partners[index]
    }

    /// Index of the innermost bracket open around a token.
    pub(crate) fn enclosing(&self, index: usize) -> Option<usize> {
        self.enclosing[index]
    }

    /// Index behind the token, or behind the whole group that opens there.
    pub(crate) fn behind(&self, index: usize) -> usize {
        match self.is_kind(index, Kind::Open) {
            true => self.partners[index].max(index) + 1,
            false => index + 1,
        }
    }

    /// Index behind `<...>` where that stands here, otherwise the index itself. For places where
    /// types stand: there `<` is never a comparison.
    pub(crate) fn behind_angles(&self, index: usize) -> usize {
        if !self.is(index, "<") {
            return index;
        }
        let (mut at, mut depth) = (index, 0_usize);
        while at < self.len() {
            match self.at(at).text {
                "<" => depth += 1,
                ">" => depth -= 1,
                _ => {}
            }
            at = self.behind(at);
            if depth == 0 {
                break;
            }
        }
        at
    }

    /// What lies between the commas of the group that opens at an index, commas within `<...>` or
    /// inner groups apart. For places where types stand. Empty parts are left out.
    pub(crate) fn parts(&self, open: usize) -> Vec<Range<usize>> {
        let end = self.partner(open).max(open);
        let (mut parts, mut start, mut at) = (Vec::new(), open + 1, open + 1);
        while at < end {
            if self.is(at, ",") {
                parts.push(start..at);
                start = at + 1;
            }
            at = match self.is(at, "<") {
                true => self.behind_angles(at),
                false => self.behind(at),
            };
        }
        parts.push(start..end);
        parts.retain(|part| !part.is_empty());
        parts
    }

    /// How many lines have a token of a range on them.
    pub(crate) fn code_lines(&self, range: Range<usize>) -> usize {
        let (mut count, mut counted) = (0, 0);
        for token in &self.tokens[range] {
            count += (token.last_line + 1).saturating_sub(token.line.max(counted + 1));
            counted = counted.max(token.last_line);
        }
        count
    }
}

#[cfg(test)]
mod tests {
    //! Groups within groups, and brackets that nothing closes.

    use super::*;
    use crate::source::lex::lex;

    fn parts(text: &str) -> Vec<String> {
        let lexed = lex(text);
        let tokens = Tokens::new(&lexed.tokens);
        let text = |part: Range<usize>| part.map(|at| tokens.at(at).text).collect::<String>();
        tokens.parts(0).into_iter().map(text).collect()
    }

    #[test]
    fn commas_within_types_do_not_split() {
        assert_eq!(
            parts("(a: Map<K, Vec<(V, W)>>, b: [u8; 2], c: impl Fn(A, B) -> C,)"),
            ["a:Map<K,Vec<(V,W)>>", "b:[u8;2]", "c:implFn(A,B)->C"]
        );
        assert_eq!(parts("(f: Box<dyn Fn(u8) -> Option<u8>>, g: A<{ 1 > 0 }>)").len(), 2);
        assert!(parts("( )").is_empty());
    }

    #[test]
    fn lines_are_counted_once() {
        let lexed = lex("{\n a b\n\n // c\n \"d\ne\" f\n}\n");
        let tokens = Tokens::new(&lexed.tokens);
        assert_eq!(tokens.code_lines(1..tokens.partner(0)), 3);
        assert_eq!(tokens.code_lines(0..tokens.len()), 5);
        assert_eq!(tokens.code_lines(1..1), 0);
    }

    #[test]
    fn unpaired_brackets_are_their_own_partners() {
        for text in ["((", "))", "(]", "<<", "< (", "fn f<"] {
            let lexed = lex(text);
            let tokens = Tokens::new(&lexed.tokens);
            for index in 0..tokens.len() {
                assert!(tokens.behind(index) > index);
                assert!(tokens.behind_angles(index) >= index);
                assert!(tokens.parts(index).iter().all(|part| part.end <= tokens.len()));
            }
        }
    }
}

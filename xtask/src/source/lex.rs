//! Rust text to tokens and comments, each with its lines.
//!
//! The pieces of a text, spaces and comments included, are the text; every loop takes at least one
//! character of it, so that any text at all is read in linear time.

/// The tokens and comments of a text, in order.
#[derive(Debug)]
pub(crate) struct Lexed<'a> {
    /// The tokens.
    pub(crate) tokens: Vec<Token<'a>>,
    /// The comments, documentation included.
    pub(crate) comments: Vec<Comment<'a>>,
}

/// A token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token<'a> {
    /// What sort of token.
    pub(crate) kind: Kind,
    /// As it is written.
    pub(crate) text: &'a str,
    /// Its first line, from 1.
    pub(crate) line: usize,
    /// Its last line; strings may have several.
    pub(crate) last_line: usize,
}

/// Sorts of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An identifier or keyword.
    Word,
    /// `'a`.
    Lifetime,
    /// A number, character or string.
    Literal,
    /// One of `(`, `[`, `{`.
    Open,
    /// One of `)`, `]`, `}`.
    Close,
    /// One character of punctuation, or one of `->`, `=>`, `::`.
    Sign,
}

/// A comment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Comment<'a> {
    /// As it is written, without the end of line.
    pub(crate) text: &'a str,
    /// Its first line, from 1.
    pub(crate) line: usize,
    /// Its last line.
    pub(crate) last_line: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Piece {
    Space,
    Comment,
    Token(Kind),
}

/// Splits a text. Text that is not Rust gives some tokens or other.
pub(crate) fn lex(text: &str) -> Lexed<'_> {
    let mut lexed = Lexed { tokens: Vec::new(), comments: Vec::new() };
    let (mut rest, mut line) = (text, 1);
    while let Some(first) = rest.chars().next() {
        let (piece, length) = first_piece(rest, first);
        let (text, behind) = rest.split_at(length);
        let last_line = line + text.matches('\n').count();
        match piece {
            Piece::Space => {}
            Piece::Comment => lexed.comments.push(Comment { text, line, last_line }),
            Piece::Token(kind) => lexed.tokens.push(Token { kind, text, line, last_line }),
        }
        (rest, line) = (behind, last_line);
    }
    lexed
}

/// The piece that a text begins with, and its length in bytes.
fn first_piece(rest: &str, first: char) -> (Piece, usize) {
    let end_of_run = |belongs: fn(char) -> bool| rest.find(|c| !belongs(c)).unwrap_or(rest.len());
    if first.is_whitespace() {
        return (Piece::Space, end_of_run(char::is_whitespace));
    }
    if rest.starts_with("//") {
        return (Piece::Comment, rest.find('\n').unwrap_or(rest.len()));
    }
    if rest.starts_with("/*") {
        return (Piece::Comment, block_comment(rest));
    }
    if let Some(length) = string(rest) {
        return (Piece::Token(Kind::Literal), length);
    }
    if first == '\'' || rest.starts_with("b'") {
        return quote(rest);
    }
    if first.is_ascii_digit() {
        return (Piece::Token(Kind::Literal), number(rest));
    }
    if starts_word(first) {
        return (Piece::Token(Kind::Word), word(rest));
    }
    let sign = match first {
        '(' | '[' | '{' => (Kind::Open, 1),
        ')' | ']' | '}' => (Kind::Close, 1),
        _ if ["->", "=>", "::"].iter().any(|sign| rest.starts_with(sign)) => (Kind::Sign, 2),
        _ => (Kind::Sign, first.len_utf8()),
    };
    (Piece::Token(sign.0), sign.1)
}

fn starts_word(c: char) -> bool {
    c == '_' || c.is_alphabetic()
}

fn continues_word(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

/// Length of a word, `r#` in front of it included.
fn word(rest: &str) -> usize {
    let raw = rest.strip_prefix("r#").filter(|name| name.starts_with(starts_word));
    let name = raw.unwrap_or(rest);
    rest.len() - name.len() + name.find(|c| !continues_word(c)).unwrap_or(name.len())
}

/// Length of a number. A signed exponent ends it early, which harms nobody here.
fn number(rest: &str) -> usize {
    let whole = rest.find(|c| !continues_word(c)).unwrap_or(rest.len());
    match rest[whole..].strip_prefix('.') {
        Some(fraction) if fraction.starts_with(|c: char| c.is_ascii_digit()) => {
            let digits = fraction.find(|c| !continues_word(c)).unwrap_or(fraction.len());
            whole + 1 + digits
        }
        _ => whole,
    }
}

/// Length of a comment between `/*` and `*/`, which nest.
fn block_comment(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    let (mut at, mut depth) = (0, 0);
    while at < bytes.len() {
        match bytes[at..] {
            [b'/', b'*', ..] => (at, depth) = (at + 2, depth + 1),
            [b'*', b'/', ..] => (at, depth) = (at + 2, depth - 1),
            _ => at += 1,
        }
        if depth == 0 {
            return at;
        }
    }
    rest.len()
}

/// Length of a string of any sort, if one stands here.
fn string(rest: &str) -> Option<usize> {
    let prefixed = rest.strip_prefix(['b', 'c']).unwrap_or(rest);
    if let Some(body) = prefixed.strip_prefix('"') {
        return Some(rest.len() - body.len() + until_quote(body, b'"'));
    }
    let raw = prefixed.strip_prefix('r')?;
    let hashes = raw.len() - raw.trim_start_matches('#').len();
    let body = raw[hashes..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    let length = body.find(&end).map_or(body.len(), |at| at + end.len());
    Some(rest.len() - body.len() + length)
}

/// Length up to and including a quote that no backslash stands before.
fn until_quote(body: &str, quote: u8) -> usize {
    let bytes = body.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            byte if byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    body.len()
}

/// A character literal or a lifetime.
fn quote(rest: &str) -> (Piece, usize) {
    let body = rest.strip_prefix('b').unwrap_or(rest);
    let body = &body[1..];
    let before = rest.len() - body.len();
    let mut characters = body.chars();
    let first = characters.next();
    if first == Some('\\') {
        return (Piece::Token(Kind::Literal), before + until_quote(body, b'\''));
    }
    match (first, characters.next()) {
        (Some(c), Some('\'')) => (Piece::Token(Kind::Literal), before + c.len_utf8() + 1),
        _ => {
            let name = body.find(|c| !continues_word(c)).unwrap_or(body.len());
            (Piece::Token(Kind::Lifetime), before + name)
        }
    }
}

#[cfg(test)]
mod tests {
    //! Tables of what is hard to split, and the law that nothing is lost.

    use super::*;
    use proptest::prelude::*;

    fn texts(text: &str) -> Vec<&str> {
        lex(text).tokens.iter().map(|token| token.text).collect()
    }

    #[test]
    fn tokens_that_are_easily_mistaken() {
        assert_eq!(
            texts("'a' 'b 'static '\\'' '\\u{7f}'"),
            ["'a'", "'b", "'static", "'\\''", "'\\u{7f}'"]
        );
        assert_eq!(
            texts("b'\"' br#\"a\"b\"# r\"\\\" c\"x\""),
            ["b'\"'", "br#\"a\"b\"#", "r\"\\\"", "c\"x\""]
        );
        assert_eq!(texts("r#fn break r b c"), ["r#fn", "break", "r", "b", "c"]);
        assert_eq!(
            texts("0..5 1.5f32 t.0.1 1.max(2)"),
            ["0", ".", ".", "5", "1.5f32", "t", ".", "0.1", "1", ".", "max", "(", "2", ")"]
        );
        assert_eq!(texts("a->b=>c::d>>e"), ["a", "->", "b", "=>", "c", "::", "d", ">", ">", "e"]);
        assert_eq!(texts("\"a\\\"b\" // \"\nx /* /* y */ z */ w"), ["\"a\\\"b\"", "x", "w"]);
    }

    #[test]
    fn lines_count_through_strings_and_comments() {
        let lexed = lex("a\n\"b\nc\" d\n/* e\n*/ f // g");
        let lines: Vec<_> = lexed.tokens.iter().map(|t| (t.text, t.line, t.last_line)).collect();
        assert_eq!(lines, [("a", 1, 1), ("\"b\nc\"", 2, 3), ("d", 3, 3), ("f", 5, 5)]);
        let comments: Vec<_> = lexed.comments.iter().map(|c| (c.line, c.last_line)).collect();
        assert_eq!(comments, [(4, 5), (5, 5)]);
    }

    proptest! {
        #[test]
        fn any_text_is_tokens_comments_and_space(
            text in r#"([a-z_'"/*#\\(){}\[\]<>=:!0-9 \n\t-]|//|/\*|\*/|r#|b'|é){0,60}"#
        ) {
            let lexed = lex(&text);
            let mut pieces: Vec<&str> = lexed.tokens.iter().map(|token| token.text).collect();
            pieces.extend(lexed.comments.iter().map(|comment| comment.text));
            pieces.sort_by_key(|piece| piece.as_ptr());
            let mut rest = text.as_str();
            for piece in pieces {
                rest = rest.trim_start().strip_prefix(piece).unwrap_or_else(|| {
                    panic!("{piece:?} is not what comes next in {text:?}")
                });
            }
            prop_assert_eq!(rest.trim(), "");
        }
    }
}

//! Where white space may stand, as pieces of grammar.

use super::text::automaton;
use crate::{Fixed, Options, SchemaError, SchemaErrorKind, Separators, WhiteSpace};
use formwork_automata::{BooleanOp, ByteSet, Dfa, Fuel};
use formwork_grammar::{BodyBuilder, ExprId, Limits};
use formwork_regex::{Dialect, MatchMode};
use std::sync::Arc;

/// The white space of JSON.
const BLANKS: &[u8] = b" \t\n\r";

/// White space as the options have it, checked.
#[derive(Clone, Debug)]
pub(crate) enum Layout {
    /// A run of so many bytes at most, or of any number.
    Run(Option<u32>),
    /// Words of automata: inside brackets, between items, between key and value.
    Words([Arc<Dfa>; 3]),
    /// The same every time.
    Fixed(Fixed),
}

impl Layout {
    /// What the options ask for.
    ///
    /// # Errors
    /// [`SchemaErrorKind::NotWhiteSpace`] when something else could stand between tokens,
    /// [`SchemaErrorKind::Pattern`] for a pattern that is none.
    pub(crate) fn new(
        options: &Options,
        limits: &Limits,
        fuel: &mut Fuel,
    ) -> Result<Self, SchemaError> {
        match &options.white_space {
            WhiteSpace::Bounded { max } => Ok(Self::Run(Some(*max))),
            WhiteSpace::Compact => Ok(Self::Run(Some(0))),
            WhiteSpace::Unbounded => Ok(Self::Run(None)),
            WhiteSpace::Pattern(pattern) => {
                let gap = Self::words("the white space pattern", pattern, "", (limits, fuel))?;
                let around = |mark: &[u8], fuel: &mut Fuel| {
                    let around = automaton(
                        |nfa, from, to| {
                            let (before, after) = (nfa.state()?, nfa.state()?);
                            nfa.automaton(from, &gap, before)?;
                            nfa.literal(before, mark, after)?;
                            nfa.automaton(after, &gap, to)
                        },
                        fuel,
                    );
                    around.map(Arc::new).map_err(SchemaError::whole)
                };
                let (item, key) = (around(b",", fuel)?, around(b":", fuel)?);
                Ok(Self::Words([gap, item, key]))
            }
            WhiteSpace::Separators(Separators { inside, item, key }) => Ok(Self::Words([
                Self::words("the pattern inside brackets", inside, "", (limits, &mut *fuel))?,
                Self::words("the pattern between items", item, ",", (limits, &mut *fuel))?,
                Self::words("the pattern between key and value", key, ":", (limits, fuel))?,
            ])),
            WhiteSpace::Fixed(fixed) => {
                check_separator("the item separator", &fixed.item_separator, ',')?;
                check_separator("the key separator", &fixed.key_separator, ':')?;
                if !fixed.indent.as_deref().unwrap_or_default().bytes().all(is_blank) {
                    return Err(not_white_space("the indentation", ""));
                }
                Ok(Self::Fixed(fixed.clone()))
            }
        }
    }

    /// The words of a pattern that are white space around a mark; one at least. What is none could
    /// not stand in JSON and is left out: `\\s` has more characters than JSON knows as white space.
    fn words(
        what: &'static str,
        pattern: &str,
        mark: &str,
        (limits, fuel): (&Limits, &mut Fuel),
    ) -> Result<Arc<Dfa>, SchemaError> {
        let mut options = formwork_regex::Options::default();
        options.mode = MatchMode::Whole;
        options.dialect = Dialect::Ecma262;
        let mut language = |pattern: &str| {
            formwork_regex::language(pattern, &options, limits, fuel)
                .map_err(|error| SchemaError::whole(SchemaErrorKind::Pattern(Box::new(error))))
        };
        let words = language(pattern)?;
        let allowed = language(&format!("[ \\t\\n\\r]*{mark}[ \\t\\n\\r]*"))?;
        let words = words.combine(&allowed, BooleanOp::Intersection, fuel);
        let words = words.map_err(SchemaError::whole)?.canonical();
        if words.is_empty() {
            return Err(not_white_space(what, beside(mark)));
        }
        Ok(Arc::new(words))
    }

    /// So many levels where lines are indented; otherwise none, since depth then changes nothing.
    pub(super) fn levels(&self, levels: u32) -> u32 {
        match self {
            Self::Fixed(Fixed { indent: Some(_), .. }) => levels,
            _ => 0,
        }
    }

    /// The pieces for a container that stands inside `depth` others.
    pub(super) fn pieces(&self, body: &mut BodyBuilder, depth: u32) -> Pieces {
        let nothing = body.empty();
        let gap = match self {
            Self::Run(max) => {
                let blank = body.bytes(BLANKS.iter().copied().collect());
                body.repeat(blank, 0, *max)
            }
            Self::Words([inside, item, key]) => {
                let inside = body.automaton(inside.clone());
                return Pieces {
                    opened: inside,
                    before_items: nothing,
                    after_items: inside,
                    item_separator: body.automaton(item.clone()),
                    key_separator: body.automaton(key.clone()),
                };
            }
            Self::Fixed(fixed) => return fixed_pieces(fixed, body, depth),
        };
        let comma = body.bytes(ByteSet::single(b','));
        let colon = body.bytes(ByteSet::single(b':'));
        Pieces {
            opened: gap,
            before_items: nothing,
            after_items: gap,
            item_separator: body.seq(&[gap, comma, gap]),
            key_separator: body.seq(&[gap, colon, gap]),
        }
    }
}

fn fixed_pieces(fixed: &Fixed, body: &mut BodyBuilder, depth: u32) -> Pieces {
    let line = |depth: u32| match &fixed.indent {
        Some(indent) => format!("\n{}", indent.repeat(depth as usize)),
        None => String::new(),
    };
    let (inner, outer) = (line(depth + 1), line(depth));
    Pieces {
        opened: body.empty(),
        before_items: body.literal(inner.as_bytes()),
        after_items: body.literal(outer.as_bytes()),
        item_separator: body.literal(format!("{}{inner}", fixed.item_separator).as_bytes()),
        key_separator: body.literal(fixed.key_separator.as_bytes()),
    }
}

fn is_blank(byte: u8) -> bool {
    BLANKS.contains(&byte)
}

fn check_separator(what: &'static str, text: &str, mark: char) -> Result<(), SchemaError> {
    match text.split_once(mark) {
        Some((before, after)) if before.bytes().chain(after.bytes()).all(is_blank) => Ok(()),
        _ => Err(not_white_space(what, beside(mark.encode_utf8(&mut [0; 4])))),
    }
}

/// What white space must stand around, and that it must be something at all.
fn beside(mark: &str) -> &'static str {
    match mark {
        "," => ", around one comma",
        ":" => ", around one colon",
        _ => ", and something",
    }
}

fn not_white_space(what: &'static str, beside: &'static str) -> SchemaError {
    SchemaError::whole(SchemaErrorKind::NotWhiteSpace { what, beside })
}

/// What stands between the tokens of one container.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pieces {
    /// After the opening bracket, always.
    pub(super) opened: ExprId,
    /// Before the first item, if there is one.
    pub(super) before_items: ExprId,
    /// After the last item, if there is one.
    pub(super) after_items: ExprId,
    /// Between two items, with its comma.
    pub(super) item_separator: ExprId,
    /// Between key and value, with its colon.
    pub(super) key_separator: ExprId,
}

/// What may be in a container.
#[derive(Clone, Copy, Debug)]
pub(super) enum Content {
    /// Nothing.
    Empty,
    /// These items.
    Items(ExprId),
    /// These items, or nothing.
    Optional(ExprId),
}

impl Pieces {
    /// A container between two brackets.
    pub(super) fn container(
        &self,
        body: &mut BodyBuilder,
        [open, close]: [u8; 2],
        content: Content,
    ) -> ExprId {
        let open = body.bytes(ByteSet::single(open));
        let close = body.bytes(ByteSet::single(close));
        let inside = match content {
            Content::Empty => body.empty(),
            Content::Items(items) | Content::Optional(items) => {
                let items = body.seq(&[self.before_items, items, self.after_items]);
                match content {
                    Content::Optional(_) => body.optional(items),
                    _ => items,
                }
            }
        };
        body.seq(&[open, self.opened, inside, close])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use formwork_automata::CancellationToken;

    fn layout(inside: &str, item: &str, key: &str) -> Result<Layout, SchemaError> {
        let (inside, item, key) = (inside.into(), item.into(), key.into());
        let white_space = WhiteSpace::Separators(Separators { inside, item, key });
        let limits = Limits::default();
        let mut fuel = limits.fuel(&CancellationToken::new());
        Layout::new(&Options::default().with_white_space(white_space), &limits, &mut fuel)
    }

    #[test]
    fn separators_are_white_space_around_their_mark() {
        let Ok(Layout::Words([inside, item, key])) = layout(" ?", "[ \\n]{0,2},", ": ") else {
            panic!("separators")
        };
        assert!(inside.accepts(b"") && inside.accepts(b" ") && !inside.accepts(b"  "));
        assert!(item.accepts(b"\n ,") && !item.accepts(b", ") && !item.accepts(b"   ,"));
        assert!(key.accepts(b": ") && !key.accepts(b":"));
        let Ok(Layout::Words([inside, item, key])) = layout(r"\s?", ",?", ":|=") else {
            panic!("separators")
        };
        assert!(inside.accepts(b"\n") && !inside.accepts("\u{A0}".as_bytes()));
        assert!(item.accepts(b",") && !item.accepts(b"") && !key.accepts(b"="));
        for (inside, item, key) in
            [("x", ",", ":"), ("", ";", ":"), ("", ",", "="), ("", ",,", ":"), ("[]", ",", ":")]
        {
            let error = layout(inside, item, key).expect_err("something else");
            assert!(matches!(error.kind, SchemaErrorKind::NotWhiteSpace { .. }), "{item} {key}");
        }
    }
}

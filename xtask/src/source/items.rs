//! Functions and structs, with what is measured of them.

use super::{groups::Tokens, lex::Kind};
use std::ops::Range;

/// Where an item stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Item<'a> {
    /// Its name.
    pub(crate) name: &'a str,
    /// Index of its keyword.
    pub(crate) index: usize,
    /// Line of its first attribute or qualifier.
    pub(crate) first_line: usize,
    /// Line of its keyword.
    pub(crate) line: usize,
}

/// A function, associated or not, with or without a body.
#[derive(Clone, Debug)]
pub(crate) struct Function<'a> {
    /// Where it stands.
    pub(crate) item: Item<'a>,
    /// Whether it is `pub`, or belongs to a `pub` trait.
    pub(crate) public: bool,
    /// How many parameters it has, `self` not counted.
    pub(crate) parameters: usize,
    /// The patterns of its parameters of type `bool`.
    pub(crate) bool_parameters: Vec<String>,
    /// Lines of code between the braces of its body; 0 without one.
    pub(crate) body_lines: usize,
}

/// A struct.
#[derive(Clone, Debug)]
pub(crate) struct Struct<'a> {
    /// Where it stands.
    pub(crate) item: Item<'a>,
    /// How many fields it has.
    pub(crate) fields: usize,
}

/// The functions of a file, by the place of their keyword; those inside macro calls too.
pub(crate) fn functions<'a>(tokens: &Tokens<'a>) -> Vec<Function<'a>> {
    let public_traits = public_traits(tokens);
    named(tokens, "fn").filter_map(|index| function(tokens, index, &public_traits)).collect()
}

/// The structs of a file, by the place of their keyword; those inside macro calls too.
pub(crate) fn structs<'a>(tokens: &Tokens<'a>) -> Vec<Struct<'a>> {
    named(tokens, "struct")
        .map(|index| {
            let behind_name = tokens.behind_angles(index + 2);
            let open = match tokens.is(behind_name, "(") {
                true => Some(behind_name),
                false => opening_brace(tokens, behind_name),
            };
            let fields = open.map_or(0, |open| tokens.parts(open).len());
            Struct { item: head(tokens, index).0, fields }
        })
        .collect()
}

/// Indices of a keyword with a name behind it. The keyword alone is a type or a macro's pattern.
fn named<'t>(tokens: &'t Tokens<'_>, keyword: &'t str) -> impl Iterator<Item = usize> + 't {
    (0..tokens.len())
        .filter(move |&at| tokens.is(at, keyword) && tokens.is_kind(at + 1, Kind::Word))
}

fn function<'a>(
    tokens: &Tokens<'a>,
    index: usize,
    public_traits: &[usize],
) -> Option<Function<'a>> {
    let open = tokens.behind_angles(index + 2);
    if !tokens.is(open, "(") {
        return None;
    }
    let mut parameters = tokens.parts(open);
    // `...` of a foreign function is no parameter either.
    parameters.retain(|part| !is_receiver(tokens, part) && !tokens.is(part.start, "."));
    let (item, is_pub) = head(tokens, index);
    let in_public_trait = tokens.enclosing(index).is_some_and(|at| public_traits.contains(&at));
    Some(Function {
        item,
        public: is_pub || in_public_trait,
        parameters: parameters.len(),
        bool_parameters: parameters.iter().filter_map(|part| bool_pattern(tokens, part)).collect(),
        body_lines: body_lines(tokens, tokens.behind(open)),
    })
}

/// Lines inside the body of a function whose parameters end before an index.
fn body_lines(tokens: &Tokens<'_>, behind_parameters: usize) -> usize {
    opening_brace(tokens, behind_parameters).map_or(0, |open| {
        let close = tokens.partner(open).max(open + 1).min(tokens.len());
        tokens.code_lines(open + 1..close)
    })
}

/// The brace that opens an item's body, sought from an index behind its name, past types and
/// bounds; none where the item ends without.
fn opening_brace(tokens: &Tokens<'_>, mut at: usize) -> Option<usize> {
    while at < tokens.len() && !tokens.is(at, ";") && !tokens.is_kind(at, Kind::Close) {
        if tokens.is(at, "{") {
            return Some(at);
        }
        at = match tokens.is(at, "<") {
            true => tokens.behind_angles(at),
            false => tokens.behind(at),
        };
    }
    None
}

/// Whether a parameter is `self` in one of its forms.
fn is_receiver(tokens: &Tokens<'_>, part: &Range<usize>) -> bool {
    let pattern = part.clone().take_while(|&at| !tokens.is(at, ":"));
    pattern.into_iter().any(|at| tokens.is(at, "self"))
}

/// The pattern of a parameter whose type is `bool`.
fn bool_pattern(tokens: &Tokens<'_>, part: &Range<usize>) -> Option<String> {
    let colon = part.clone().find(|&at| tokens.is(at, ":"))?;
    let is_bool = colon + 2 == part.end && tokens.is(colon + 1, "bool");
    is_bool.then(|| (part.start..colon).map(|at| tokens.at(at).text).collect::<Vec<_>>().join(" "))
}

/// The opening braces of `pub` traits.
fn public_traits(tokens: &Tokens<'_>) -> Vec<usize> {
    named(tokens, "trait")
        .filter(|&index| head(tokens, index).1)
        .filter_map(|index| opening_brace(tokens, tokens.behind_angles(index + 2)))
        .collect()
}

/// Where the item with a keyword at an index stands, and whether it is `pub` without restriction.
fn head<'a>(tokens: &Tokens<'a>, index: usize) -> (Item<'a>, bool) {
    let (mut first, mut is_pub) = (index, false);
    while let Some(before) = first.checked_sub(1) {
        let token = tokens.at(before);
        let partner = tokens.partner(before);
        first = match (token.kind, token.text) {
            (Kind::Word, "const" | "async" | "unsafe" | "safe" | "extern" | "default" | "auto") => {
                before
            }
            (Kind::Word, "pub") => {
                is_pub = true;
                before
            }
            (Kind::Literal, _) if before > 0 && tokens.is(before - 1, "extern") => before,
            (Kind::Close, ")") if partner > 0 && tokens.is(partner - 1, "pub") => partner - 1,
            (Kind::Close, "]") if partner > 0 && tokens.is(partner - 1, "#") => partner - 1,
            _ => break,
        };
    }
    let keyword = tokens.at(index);
    let item = Item {
        name: tokens.at(index + 1).text,
        index,
        first_line: tokens.at(first).line,
        line: keyword.line,
    };
    (item, is_pub)
}

#[cfg(test)]
mod tests;

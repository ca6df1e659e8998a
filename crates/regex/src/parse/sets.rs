//! Sets of characters: the named ones, case folding, and one number for each distinct set.
//!
//! # Cost
//! The tables of Unicode hold hundreds of ranges, and a hostile pattern can ask for them millions
//! of times: each range copied is a step of fuel, and what was made once is remembered.

use crate::{Case, Classes, Dialect, Dot, Folding, Options, tree::Ranges, tree::SetId};
use formwork_automata::{Exhausted, Fuel};
use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, HirKind};
use rustc_hash::FxHashMap;

/// A set that a pattern names.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Name {
    /// `\d`.
    Digit,
    /// `\w`.
    Word,
    /// `\s`.
    Space,
    /// `.`, and `[^]`.
    Dot(Dot),
    /// `\p{…}`: letters, digits, `_` and `=` only.
    Property(Box<str>),
}

/// Whether a set or its complement is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Sign {
    Plain,
    Negated,
}

/// The sets of one pattern.
#[derive(Debug)]
pub(crate) struct Sets<'f> {
    options: Options,
    fuel: &'f mut Fuel,
    distinct: Vec<Ranges>,
    ids: FxHashMap<Ranges, SetId>,
    named: FxHashMap<(Name, Sign, Case), ClassUnicode>,
    named_ids: FxHashMap<(Name, Sign, Case), SetId>,
}

impl<'f> Sets<'f> {
    pub(crate) fn new(options: Options, fuel: &'f mut Fuel) -> Self {
        Self {
            options,
            fuel,
            distinct: Vec::new(),
            ids: FxHashMap::default(),
            named: FxHashMap::default(),
            named_ids: FxHashMap::default(),
        }
    }

    /// The distinct sets, by number.
    pub(crate) fn finish(self) -> Vec<Ranges> {
        self.distinct
    }

    /// The number of a set.
    pub(crate) fn intern(&mut self, set: &ClassUnicode) -> Result<SetId, Exhausted> {
        self.fuel.steps(set.ranges().len())?;
        let ranges: Ranges = set.iter().map(|range| (range.start(), range.end())).collect();
        if let Some(&id) = self.ids.get(&ranges) {
            return Ok(id);
        }
        // A set that is kept pays for its memory, eight bytes a range.
        self.fuel.steps(16 * ranges.len())?;
        let id = SetId::try_from(self.distinct.len()).expect("fewer sets than nodes");
        self.distinct.push(ranges.clone());
        self.ids.insert(ranges, id);
        Ok(id)
    }

    /// The number of a named set; `None` when there is no such property.
    pub(crate) fn intern_named(
        &mut self,
        name: Name,
        sign: Sign,
        case: Case,
    ) -> Result<Option<SetId>, Exhausted> {
        self.fuel.steps(1)?;
        let key = (name, sign, case);
        if let Some(&id) = self.named_ids.get(&key) {
            return Ok(Some(id));
        }
        let Some(set) = self.named(key.0.clone(), sign, case)? else { return Ok(None) };
        let id = self.intern(&set)?;
        self.named_ids.insert(key, id);
        Ok(Some(id))
    }

    /// A named set; `None` when there is no such property.
    pub(crate) fn named(
        &mut self,
        name: Name,
        sign: Sign,
        case: Case,
    ) -> Result<Option<ClassUnicode>, Exhausted> {
        let key = (name, sign, case);
        if let Some(set) = self.named.get(&key) {
            self.fuel.steps(set.ranges().len())?;
            return Ok(Some(set.clone()));
        }
        let Some(mut set) = base(&key.0, &self.options) else { return Ok(None) };
        // Folded before it is negated: what has the case folding of a member is not outside.
        self.fold(&mut set, case)?;
        if sign == Sign::Negated {
            set.negate();
        }
        self.fuel.steps(set.ranges().len())?;
        self.named.insert(key, set.clone());
        Ok(Some(set))
    }

    /// Adds whatever has the case folding of a member, if `case` asks for it.
    pub(crate) fn fold(&mut self, set: &mut ClassUnicode, case: Case) -> Result<(), Exhausted> {
        if case == Case::Sensitive {
            return Ok(());
        }
        if self.options.folding == Folding::Ascii {
            self.fuel.steps(set.ranges().len())?;
            fold_ascii(set);
            return Ok(());
        }
        // Folding looks at every character of a range, at perhaps a nanosecond each.
        let characters: usize = set.iter().map(ClassUnicodeRange::len).sum();
        self.fuel.steps(set.ranges().len() + characters / 64)?;
        set.case_fold_simple();
        Ok(())
    }
}

/// Adds the ASCII letters that are members in the other case.
fn fold_ascii(set: &mut ClassUnicode) {
    let within = |first: char, last: char| {
        let mut letters = ClassUnicode::new([ClassUnicodeRange::new(first, last)]);
        letters.intersect(set);
        letters
    };
    let (capitals, smalls) = (within('A', 'Z'), within('a', 'z'));
    let range = |start: char, end: char| ClassUnicodeRange::new(start, end);
    for letters in capitals.ranges() {
        set.push(range(letters.start().to_ascii_lowercase(), letters.end().to_ascii_lowercase()));
    }
    for letters in smalls.ranges() {
        set.push(range(letters.start().to_ascii_uppercase(), letters.end().to_ascii_uppercase()));
    }
}

/// One character.
pub(crate) fn single(character: char) -> ClassUnicode {
    ClassUnicode::new([ClassUnicodeRange::new(character, character)])
}

fn base(name: &Name, options: &Options) -> Option<ClassUnicode> {
    let ecma = options.dialect == Dialect::Ecma262;
    let ascii = match options.classes {
        Classes::Dialect => ecma,
        Classes::Ascii => true,
        Classes::Unicode => false,
    };
    match name {
        Name::Digit if ascii => Some(set(&[('0', '9')])),
        Name::Word if ascii => Some(set(&[('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')])),
        Name::Space if options.classes == Classes::Ascii => Some(set(ASCII_SPACE)),
        Name::Space if ascii => Some(set(ECMA_SPACE)),
        Name::Digit => table(r"\d"),
        Name::Word => table(r"\w"),
        Name::Space => table(r"\s"),
        Name::Dot(Dot::Any) => Some(set(&[('\0', char::MAX)])),
        Name::Dot(Dot::ExceptLineBreaks) => {
            let breaks: &[_] = if ecma {
                &[('\n', '\n'), ('\r', '\r'), ('\u{2028}', '\u{2029}')]
            } else {
                &[('\n', '\n')]
            };
            let mut dot = set(breaks);
            dot.negate();
            Some(dot)
        }
        Name::Property(property) => table(&format!(r"\p{{{property}}}")),
    }
}

const ASCII_SPACE: &[(char, char)] = &[('\t', '\r'), (' ', ' ')];

/// ECMA-262, `WhiteSpace` and `LineTerminator`.
const ECMA_SPACE: &[(char, char)] = &[
    ('\t', '\r'),
    (' ', ' '),
    ('\u{a0}', '\u{a0}'),
    ('\u{1680}', '\u{1680}'),
    ('\u{2000}', '\u{200a}'),
    ('\u{2028}', '\u{2029}'),
    ('\u{202f}', '\u{202f}'),
    ('\u{205f}', '\u{205f}'),
    ('\u{3000}', '\u{3000}'),
    ('\u{feff}', '\u{feff}'),
];

fn set(ranges: &[(char, char)]) -> ClassUnicode {
    ClassUnicode::new(ranges.iter().map(|&(start, end)| ClassUnicodeRange::new(start, end)))
}

/// What `regex-syntax` knows under a name that is written as an escape.
fn table(escape: &str) -> Option<ClassUnicode> {
    let class = regex_syntax::parse(escape).ok()?;
    match class.kind() {
        HirKind::Class(Class::Unicode(class)) => Some(class.clone()),
        HirKind::Class(Class::Bytes(class)) => class.to_unicode_class(),
        // A class of one character is simplified to that character.
        HirKind::Literal(literal) => {
            std::str::from_utf8(&literal.0).ok()?.chars().next().map(single)
        }
        _ => None,
    }
}

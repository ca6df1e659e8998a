//! The strings of a language in any spelling.
//!
//! # Idea
//! A state of the automaton of texts leads to other states by characters. By how the texts are
//! encoded these are *runs*: ranges of code points with one target. For the escapes `\uXXXX` the same
//! runs are cut into a tree of hexadecimal digits, four for a character of the first plane and two
//! times four (with `\u` in between) for the others; equal parts of all trees are one state.
//!
//! ```text
//! state --unescaped bytes--> as before
//! state --\--> --letter of a short escape--> target of that character
//!              --u--> tree of the runs up to U+FFFF; tree of the others
//! ```
//!
//! # Cost
//! A state with one letter takes about seven more; one that all characters leave, about twenty, which
//! it shares with all others whose characters lead to the same place.

use super::{must_be_escaped, short_escape};
use formwork_automata::{
    ByteSet, Dfa, Exhausted, Fuel, NfaBuilder, NfaStateId, StateId, determinize,
};
use rustc_hash::FxHashMap;

/// Code points, relative to some first one, that lead to one state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Run {
    first: u32,
    last: u32,
    target: StateId,
}

/// How many values each digit of `\uXXXX` has.
const PLANE: &[u32] = &[16, 16, 16, 16];
/// The same for the last three digits of a leading surrogate and those of the other: the digits
/// before them are `d8` to `db` and `dc` to `df`.
const SURROGATES: &[u32] = &[4, 16, 16, 4, 16, 16];
/// Where the second surrogate begins.
const SECOND: usize = 3;

/// The strings, quotation marks included, whose text is in a language of UTF-8 texts.
pub(in crate::lower) fn escaped(texts: &Dfa, fuel: &mut Fuel) -> Result<Dfa, Exhausted> {
    if texts.is_empty() {
        return Ok(Dfa::never());
    }
    let mut nfa = NfaBuilder::new(fuel);
    let mut states = vec![nfa.state()?; texts.len()];
    for state in texts.live_states() {
        states[state.index()] = nfa.state()?;
    }
    let (from, to) = (nfa.state()?, nfa.state()?);
    let mark = ByteSet::single(b'"');
    nfa.byte(from, mark, states[texts.start().index()])?;
    let mut pouring =
        Pouring { texts, nfa, states, runs: FxHashMap::default(), trees: FxHashMap::default() };
    for state in texts.live_states() {
        if texts.is_accepting(state) {
            let image = pouring.states[state.index()];
            pouring.nfa.byte(image, mark, to)?;
        }
        pouring.unescaped(state)?;
        pouring.escapes(state)?;
    }
    let nfa = pouring.nfa.finish(from, to);
    Ok(determinize(&nfa, fuel)?.canonical())
}

struct Pouring<'a> {
    texts: &'a Dfa,
    nfa: NfaBuilder<'a>,
    /// By state of the texts.
    states: Vec<NfaStateId>,
    /// By state and how many bytes continue a character: where they lead.
    runs: FxHashMap<(StateId, u32), std::rc::Rc<[Run]>>,
    /// By kind of tree, depth and runs: the state where the tree begins.
    trees: FxHashMap<(bool, usize, Vec<Run>), NfaStateId>,
}

type Built = Result<(), Exhausted>;

impl Pouring<'_> {
    /// The bytes that stand for themselves.
    fn unescaped(&mut self, state: StateId) -> Built {
        let classes = self.texts.classes();
        let mut by_target: Vec<(StateId, ByteSet)> = Vec::new();
        for (class, target) in self.texts.byte_edges(state) {
            let members = classes.members(class).iter().filter(|&byte| !must_be_escaped(byte));
            let members: ByteSet = members.collect();
            match by_target.iter_mut().find(|entry| entry.0 == target) {
                Some(entry) => entry.1 = entry.1.union(&members),
                None => by_target.push((target, members)),
            }
        }
        for (target, members) in by_target {
            let (from, to) = (self.states[state.index()], self.states[target.index()]);
            self.nfa.byte(from, members, to)?;
        }
        Ok(())
    }

    /// All escapes of the characters that lead on from a state.
    fn escapes(&mut self, state: StateId) -> Built {
        let (plane, others) = self.characters(state)?;
        if plane.is_empty() && others.is_empty() {
            return Ok(());
        }
        let (escape, code) = (self.nfa.state()?, self.nfa.state()?);
        let from = self.states[state.index()];
        self.nfa.byte(from, ByteSet::single(b'\\'), escape)?;
        self.nfa.byte(escape, ByteSet::single(b'u'), code)?;
        let ascii = (0..0x80).filter_map(|byte| Some((byte, letter(byte)?)));
        for (byte, letter) in ascii {
            let target = self.texts.next(state, byte);
            if !target.is_dead() {
                let to = self.states[target.index()];
                self.nfa.byte(escape, ByteSet::single(letter), to)?;
            }
        }
        if !plane.is_empty() {
            let tree = self.tree(PLANE, 0, plane)?;
            self.nfa.empty(code, tree)?;
        }
        if !others.is_empty() {
            let tree = self.tree(SURROGATES, 0, others)?;
            self.nfa.byte(code, digit(13), tree)?;
        }
        Ok(())
    }

    /// The runs of the first plane, and those of the others relative to U+10000.
    fn characters(&mut self, state: StateId) -> Result<(Vec<Run>, Vec<Run>), Exhausted> {
        let (mut plane, mut others) = (Vec::new(), Vec::new());
        for byte in 0..0x80_u8 {
            let target = self.texts.next(state, byte);
            push(&mut plane, Run { first: byte.into(), last: byte.into(), target });
        }
        // (leading bytes, bits of the code point in them, bytes that continue)
        for (leading, bits, rest) in [(0xC2..=0xDF, 0x1F, 1), (0xE0..=0xEF, 0x0F, 2)] {
            for byte in leading {
                let after = self.texts.next(state, byte);
                self.append(&mut plane, (u32::from(byte) & bits) << (6 * rest), after, rest)?;
            }
        }
        for byte in 0xF0..=0xF4_u8 {
            let after = self.texts.next(state, byte);
            // Texts hold no encoding of what is below U+10000 in four bytes.
            self.append(&mut others, (u32::from(byte) & 7) << 18, after, 3)?;
        }
        for run in &mut others {
            run.first = run.first.saturating_sub(0x1_0000);
            run.last = run.last.saturating_sub(0x1_0000);
        }
        Ok((plane, others))
    }

    fn append(&mut self, runs: &mut Vec<Run>, base: u32, after: StateId, rest: u32) -> Built {
        if after.is_dead() {
            return Ok(());
        }
        for run in &*self.continued(after, rest)? {
            let Run { first, last, target } = *run;
            push(runs, Run { first: base + first, last: base + last, target });
        }
        Ok(())
    }

    /// Where so many continuing bytes lead; the recursion is three deep.
    fn continued(&mut self, state: StateId, bytes: u32) -> Result<std::rc::Rc<[Run]>, Exhausted> {
        if let Some(known) = self.runs.get(&(state, bytes)) {
            return Ok(known.clone());
        }
        self.nfa.fuel().steps(64)?;
        let mut runs = Vec::new();
        for byte in 0x80..=0xBF_u8 {
            let target = self.texts.next(state, byte);
            let base = (u32::from(byte) & 0x3F) << (6 * (bytes - 1));
            if bytes == 1 {
                push(&mut runs, Run { first: base, last: base, target });
            } else {
                self.append(&mut runs, base, target, bytes - 1)?;
            }
        }
        let runs: std::rc::Rc<[Run]> = runs.into();
        self.runs.insert((state, bytes), runs.clone());
        Ok(runs)
    }

    /// The tree of the digits from `depth` on, for runs relative to what the digits before it say;
    /// the recursion is as deep as there are digits.
    fn tree(
        &mut self,
        radices: &'static [u32],
        depth: usize,
        runs: Vec<Run>,
    ) -> Result<NfaStateId, Exhausted> {
        let Some(&radix) = radices.get(depth) else {
            return Ok(self.states[runs[0].target.index()]);
        };
        let key = (radices.len() == SURROGATES.len(), depth, runs);
        if let Some(&known) = self.trees.get(&key) {
            return Ok(known);
        }
        let (surrogates, _, runs) = &key;
        let begin = self.nfa.state()?;
        let mut from = begin;
        if *surrogates && depth == SECOND {
            from = self.nfa.state()?;
            let second = self.nfa.state()?;
            self.nfa.literal(begin, b"\\u", second)?;
            self.nfa.byte(second, digit(13), from)?;
        }
        // Of a surrogate the first of three digits is 8 to b, or c to f.
        let offset = match (*surrogates, depth) {
            (true, 0) => 8,
            (true, SECOND) => 12,
            _ => 0,
        };
        let size: u32 = radices[depth + 1..].iter().product();
        let mut by_target: Vec<(NfaStateId, ByteSet)> = Vec::new();
        let mut at = 0;
        for value in 0..radix {
            let (low, high) = (value * size, value * size + (size - 1));
            let part = part_of(runs, &mut at, (low, high));
            self.nfa.fuel().steps(1 + part.len())?;
            if part.is_empty() {
                continue;
            }
            let target = self.tree(radices, depth + 1, part)?;
            match by_target.iter_mut().find(|entry| entry.0 == target) {
                Some(entry) => entry.1 = entry.1.union(&digit(offset + value)),
                None => by_target.push((target, digit(offset + value))),
            }
        }
        for (target, digits) in by_target {
            self.nfa.byte(from, digits, target)?;
        }
        self.trees.insert(key, begin);
        Ok(begin)
    }
}

/// The runs within a block, relative to its beginning; `at` is the first run that can be in it, and
/// moves on.
fn part_of(runs: &[Run], at: &mut usize, (low, high): (u32, u32)) -> Vec<Run> {
    while runs.get(*at).is_some_and(|run| run.last < low) {
        *at += 1;
    }
    let within = runs[*at..].iter().take_while(|run| run.first <= high);
    within
        .map(|run| Run {
            first: run.first.max(low) - low,
            last: run.last.min(high) - low,
            target: run.target,
        })
        .collect()
}

/// Appends a run, joined with the last one where both are one.
fn push(runs: &mut Vec<Run>, run: Run) {
    if run.target.is_dead() {
        return;
    }
    match runs.last_mut() {
        Some(last) if last.target == run.target && last.last + 1 == run.first => {
            last.last = run.last;
        }
        _ => runs.push(run),
    }
}

/// The letter of the short escape of a byte: in any spelling the slash has one as well.
fn letter(byte: u8) -> Option<u8> {
    if byte == b'/' { Some(byte) } else { short_escape(byte) }
}

/// A hexadecimal digit in both cases.
fn digit(value: u32) -> ByteSet {
    let digit = char::from_digit(value, 16).expect("below 16");
    [digit, digit.to_ascii_uppercase()].into_iter().map(|digit| digit as u8).collect()
}

#[cfg(test)]
mod tests {
    use super::{super::*, *};
    use proptest::prelude::*;

    fn language(words: &[&str]) -> Dfa {
        let mut fuel = Fuel::unlimited();
        let texts = Dfa::from_strings(words, &mut fuel).expect("without a limit");
        escaped(&texts, &mut fuel).expect("without a limit")
    }

    #[test]
    fn spellings_of_words() {
        let words = language(&["a/b", "é\n", "😀", ""]);
        for yes in [
            r#""a/b""#,
            r#""a\/b""#,
            r#""\u0061\u002F\u0062""#,
            r#""é\n""#,
            r#""\u00e9\u000a""#,
            r#""\u00E9\n""#,
            r#""😀""#,
            r#""\ud83d\ude00""#,
            r#""\uD83D\uDE00""#,
            r#""""#,
        ] {
            assert!(words.accepts(yes.as_bytes()), "{yes}");
        }
        for no in
            [r#""b""#, r#""\u0062""#, "\"é\n\"", r#""\ud83d""#, r#""\ud83d\ude01""#, r#""\a/b""#]
        {
            assert!(!words.accepts(no.as_bytes()), "{no}");
        }
    }

    #[test]
    fn all_texts_have_all_spellings() {
        let mut fuel = Fuel::unlimited();
        let texts = super::super::automaton(
            |nfa, from, to| {
                nfa.characters(from, &[('\0', char::MAX)], from)?;
                nfa.empty(from, to)
            },
            &mut fuel,
        );
        let all = escaped(&texts.expect("without a limit"), &mut fuel).expect("without a limit");
        assert_eq!(all, **ANY_STRING);
    }

    proptest! {
        /// Each character of a random text escaped or not: the string is accepted, and that of
        /// another text is not.
        #[test]
        fn means_the_text(text in "\\PC{0,4}", other in "\\PC{0,4}", escapes in any::<u64>()) {
            let words = language(&[&text]);
            let spell = |text: &str| {
                let mut out = String::from("\"");
                for (index, character) in text.chars().enumerate() {
                    let mut units = [0; 2];
                    if escapes >> (index % 64) & 1 == 1 || matches!(character, '"' | '\\') {
                        for unit in character.encode_utf16(&mut units) {
                            out.push_str(&format!("\\u{unit:04x}"));
                        }
                    } else {
                        out.push(character);
                    }
                }
                out + "\""
            };
            prop_assert!(words.accepts(spell(&text).as_bytes()));
            prop_assert_eq!(words.accepts(spell(&other).as_bytes()), text == other);
        }
    }
}

//! JSON strings as languages.
//!
//! The *plain* spelling escapes only what must be escaped, in one way each: `\"` and `\\`, the
//! short forms `\b \f \n \r \t`, and `\u00` with two lower-case digits for the other control
//! characters. *Any* spelling has every escape of RFC 8259 that stands for a character: a surrogate
//! is escaped together with its partner, or not at all.

mod escaped;

use crate::model::Count;
pub(super) use escaped::escaped;
use formwork_automata::{
    ByteSet, Counted, Dfa, Exhausted, Fuel, NfaBuilder, NfaStateId, StateId, determinize,
};
use std::sync::{Arc, LazyLock};

/// One character in plain spelling.
pub(super) static PLAIN_CHARACTER: LazyLock<Arc<Dfa>> = LazyLock::new(|| build(plain_character));
/// One character in any spelling.
pub(super) static ANY_CHARACTER: LazyLock<Arc<Dfa>> = LazyLock::new(|| build(any_character));
/// A whole string in plain spelling, with its quotation marks.
pub(super) static PLAIN_STRING: LazyLock<Arc<Dfa>> =
    LazyLock::new(|| build(|nfa, from, to| string(nfa, &PLAIN_CHARACTER, from, to)));
/// A whole string in any spelling, with its quotation marks.
pub(super) static ANY_STRING: LazyLock<Arc<Dfa>> =
    LazyLock::new(|| build(|nfa, from, to| string(nfa, &ANY_CHARACTER, from, to)));

/// Every text: any characters.
pub(super) static ANY_TEXT: LazyLock<Arc<Dfa>> = LazyLock::new(|| {
    build(|nfa, from, to| {
        nfa.characters(from, &[('\0', char::MAX)], from)?;
        nfa.empty(from, to)
    })
});

type Built = Result<(), Exhausted>;

/// The constants above have a few dozen states: nothing runs out.
fn build(pour: impl FnOnce(&mut NfaBuilder<'_>, NfaStateId, NfaStateId) -> Built) -> Arc<Dfa> {
    let mut fuel = Fuel::unlimited();
    Arc::new(automaton(pour, &mut fuel).expect("without a limit"))
}

/// The canonical automaton of what is poured between two states.
pub(super) fn automaton(
    pour: impl FnOnce(&mut NfaBuilder<'_>, NfaStateId, NfaStateId) -> Built,
    fuel: &mut Fuel,
) -> Result<Dfa, Exhausted> {
    let mut nfa = NfaBuilder::new(fuel);
    let (from, to) = (nfa.state()?, nfa.state()?);
    pour(&mut nfa, from, to)?;
    let nfa = nfa.finish(from, to);
    Ok(determinize(&nfa, fuel)?.canonical())
}

/// The canonical automaton of a finite set of texts, in any order.
pub(super) fn words<S: AsRef<[u8]>>(
    words: impl IntoIterator<Item = S>,
    fuel: &mut Fuel,
) -> Result<Dfa, Exhausted> {
    // It is minimal from the start: only the columns and the numbers of states are not canonical.
    Ok(Dfa::from_strings(words, fuel)?.with_coarsest_classes().trimmed())
}

/// The letter of the short escape of a character, if it has one that is plain.
fn short_escape(byte: u8) -> Option<u8> {
    Some(match byte {
        b'"' | b'\\' => byte,
        8 => b'b',
        9 => b't',
        10 => b'n',
        12 => b'f',
        13 => b'r',
        _ => return None,
    })
}

/// Whether a byte must not stand for itself inside a string.
fn must_be_escaped(byte: u8) -> bool {
    byte < 0x20 || matches!(byte, b'"' | b'\\')
}

/// Appends the plain spelling of a text, quotation marks included.
pub(super) fn quote(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    for &byte in text.as_bytes() {
        match short_escape(byte) {
            Some(letter) => out.extend([b'\\', letter]),
            None if must_be_escaped(byte) => {
                out.extend(*b"\\u00");
                out.extend([byte >> 4, byte & 15].map(hexadecimal));
            }
            None => out.push(byte),
        }
    }
    out.push(b'"');
}

fn hexadecimal(digit: u8) -> u8 {
    b"0123456789abcdef"[usize::from(digit)]
}

fn unescaped_characters(nfa: &mut NfaBuilder<'_>, from: NfaStateId, to: NfaStateId) -> Built {
    nfa.characters(from, &[(' ', '!'), ('#', '['), (']', char::MAX)], to)
}

fn plain_character(nfa: &mut NfaBuilder<'_>, from: NfaStateId, to: NfaStateId) -> Built {
    unescaped_characters(nfa, from, to)?;
    let mut text = Vec::new();
    for byte in (0..=255).filter(|&byte| must_be_escaped(byte)) {
        text.clear();
        quote(&char::from(byte).to_string(), &mut text);
        nfa.literal(from, &text[1..text.len() - 1], to)?;
    }
    Ok(())
}

fn any_character(nfa: &mut NfaBuilder<'_>, from: NfaStateId, to: NfaStateId) -> Built {
    unescaped_characters(nfa, from, to)?;
    let escape = nfa.state()?;
    nfa.byte(from, ByteSet::single(b'\\'), escape)?;
    nfa.byte(escape, b"\"\\/bfnrt".iter().copied().collect(), to)?;
    let hex: ByteSet = b"0123456789abcdefABCDEF".iter().copied().collect();
    let d: ByteSet = b"dD".iter().copied().collect();
    let low: ByteSet = b"cdefCDEF".iter().copied().collect();
    let high: ByteSet = b"89abAB".iter().copied().collect();
    let not_surrogate = hex.difference(&low).difference(&high);
    sequence(nfa, escape, &[&[ByteSet::single(b'u')], &[hex.difference(&d), hex, hex, hex]], to)?;
    sequence(nfa, escape, &[&[ByteSet::single(b'u')], &[d, not_surrogate, hex, hex]], to)?;
    let marks = [ByteSet::single(b'\\'), ByteSet::single(b'u')];
    let first = [d, high, hex, hex];
    sequence(nfa, escape, &[&marks[1..], &first, &marks, &[d, low, hex, hex]], to)
}

fn sequence(
    nfa: &mut NfaBuilder<'_>,
    from: NfaStateId,
    parts: &[&[ByteSet]],
    to: NfaStateId,
) -> Built {
    let mut at = from;
    for &set in parts.iter().copied().flatten() {
        let next = nfa.state()?;
        nfa.byte(at, set, next)?;
        at = next;
    }
    nfa.empty(at, to)
}

fn string(nfa: &mut NfaBuilder<'_>, character: &Dfa, from: NfaStateId, to: NfaStateId) -> Built {
    let inside = nfa.state()?;
    let quotation_mark = ByteSet::single(b'"');
    nfa.byte(from, quotation_mark, inside)?;
    nfa.automaton(inside, character, inside)?;
    nfa.byte(inside, quotation_mark, to)
}

/// The strings in plain spelling, quotation marks included, whose text is in a language of UTF-8
/// texts: every edge on a byte that must be escaped becomes its escape sequence. Up to seven states
/// for each state with such an edge.
pub(super) fn quoted(texts: &Dfa, fuel: &mut Fuel) -> Result<Dfa, Exhausted> {
    automaton(
        |nfa, from, to| {
            let mut image: Vec<Option<NfaStateId>> = vec![None; texts.len()];
            for state in texts.live_states() {
                image[state.index()] = Some(nfa.state()?);
            }
            let image = |state: StateId| image[state.index()].expect("a live state");
            let quotation_mark = ByteSet::single(b'"');
            if !texts.is_empty() {
                nfa.byte(from, quotation_mark, image(texts.start()))?;
            }
            for state in texts.live_states() {
                if texts.is_accepting(state) {
                    nfa.byte(image(state), quotation_mark, to)?;
                }
                let mut escaped = Vec::new();
                for (class, target) in texts.byte_edges(state) {
                    let members = texts.classes().members(class);
                    let special = members.iter().filter(|&byte| must_be_escaped(byte));
                    escaped.extend(special.map(|byte| (byte, image(target))));
                    let plain = members.iter().filter(|&byte| !must_be_escaped(byte)).collect();
                    nfa.byte(image(state), plain, image(target))?;
                }
                escape_edges(nfa, image(state), &escaped)?;
            }
            Ok(())
        },
        fuel,
    )
}

/// The escape sequences of some bytes out of one state, each to its own target.
fn escape_edges(nfa: &mut NfaBuilder<'_>, from: NfaStateId, escaped: &[(u8, NfaStateId)]) -> Built {
    if escaped.is_empty() {
        return Ok(());
    }
    let escape = nfa.state()?;
    nfa.byte(from, ByteSet::single(b'\\'), escape)?;
    let (short, long): (Vec<(u8, NfaStateId)>, Vec<_>) =
        escaped.iter().partition(|(byte, _)| short_escape(*byte).is_some());
    for (byte, target) in short {
        nfa.byte(escape, short_escape(byte).into_iter().collect(), target)?;
    }
    for high in 0..2 {
        let low: Vec<_> = long.iter().filter(|(byte, _)| byte >> 4 == high).collect();
        if !low.is_empty() {
            let digits = nfa.state()?;
            nfa.literal(escape, &[b'u', b'0', b'0', hexadecimal(high)], digits)?;
            for (byte, target) in low {
                nfa.byte(digits, ByteSet::single(hexadecimal(byte & 15)), *target)?;
            }
        }
    }
    Ok(())
}

/// Whether some text of the language has a number of characters between `min` and `max`.
///
/// Sets of states are stepped character by character. When the language is infinite its lengths
/// leave no gap wider than the number of states (a longer word can be shortened by a loop), so a
/// window at least that wide needs no search.
pub(super) fn has_length(
    texts: &Dfa,
    (min, max): (u32, Option<u32>),
    fuel: &mut Fuel,
) -> Result<bool, Exhausted> {
    let wide = max.is_none_or(|max| max.saturating_sub(min) as usize >= texts.len());
    if wide && max.is_none_or(|max| max >= min) && !texts.is_finite() {
        return Ok(true);
    }
    let mut current = if texts.is_empty() { Vec::new() } else { vec![texts.start()] };
    let mut length = 0_u32;
    loop {
        fuel.steps(1 + current.len())?;
        if length >= min && current.iter().any(|&state| texts.is_accepting(state)) {
            return Ok(true);
        }
        if current.is_empty() || max == Some(length) {
            return Ok(false);
        }
        current = after_one_character(texts, &current, fuel)?;
        length = length.saturating_add(1);
    }
}

/// Whether all texts of the language have a number of characters between `min` and `max`. Costs as
/// [`has_length`].
pub(super) fn has_only_lengths(
    texts: &Dfa,
    (min, max): (u32, Option<u32>),
    fuel: &mut Fuel,
) -> Result<bool, Exhausted> {
    if max.is_some() && !texts.is_finite() {
        return Ok(false);
    }
    let mut current = if texts.is_empty() { Vec::new() } else { vec![texts.start()] };
    let mut length = 0_u32;
    // Live states can be completed: those that are left beyond the longest length are too many.
    while !current.is_empty() && (max.is_some() || length < min) {
        fuel.steps(1 + current.len())?;
        let accepting = current.iter().any(|&state| texts.is_accepting(state));
        if accepting && length < min || max.is_some_and(|max| length > max) {
            return Ok(false);
        }
        current = after_one_character(texts, &current, fuel)?;
        length = length.saturating_add(1);
    }
    Ok(true)
}

/// The texts of so many characters. One to four states for each character.
pub(super) fn unrolled(count: Count, fuel: &mut Fuel) -> Result<Dfa, Exhausted> {
    let character =
        automaton(|nfa, from, to| nfa.characters(from, &[('\0', char::MAX)], to), fuel)?;
    match Counted::new(character, count.min, count.max) {
        Ok(counted) => Ok(counted.unrolled(fuel)?.canonical()),
        // So many there cannot be.
        Err(_) => Ok(Dfa::never()),
    }
}

/// The states after one more character: a byte that begins one, then all that continue it.
fn after_one_character(
    texts: &Dfa,
    states: &[StateId],
    fuel: &mut Fuel,
) -> Result<Vec<StateId>, Exhausted> {
    let representatives = texts.classes().representatives();
    let continues = |class: usize| (0x80..0xC0).contains(&representatives[class]);
    let mut seen = vec![false; texts.len()];
    let mut reached = Vec::new();
    let mut done = 0;
    let mut visit = |reached: &mut Vec<StateId>, target: StateId| {
        if !std::mem::replace(&mut seen[target.index()], true) {
            reached.push(target);
        }
    };
    for &state in states {
        for (class, target) in texts.byte_edges(state) {
            fuel.steps(1)?;
            if !continues(class) {
                visit(&mut reached, target);
            }
        }
    }
    while let Some(&state) = reached.get(done) {
        done += 1;
        for (class, target) in texts.byte_edges(state) {
            fuel.steps(1)?;
            if continues(class) {
                visit(&mut reached, target);
            }
        }
    }
    Ok(reached)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(words: &[&str]) -> Dfa {
        Dfa::from_strings(words, &mut Fuel::unlimited()).expect("without a limit")
    }

    #[test]
    fn spellings_of_strings() {
        for plain in [r#""""#, r#""a\"\\\n\u0000\u001fé😀/""#, "\"\u{7f}\""] {
            assert!(PLAIN_STRING.accepts(plain.as_bytes()), "{plain}");
            assert!(ANY_STRING.accepts(plain.as_bytes()), "{plain}");
        }
        for escaped in [r#""\/""#, r#""\u00e9""#, r#""\u001F""#, r#""\ud83d\uDE00""#, r#""\ud7ff""#]
        {
            assert!(!PLAIN_STRING.accepts(escaped.as_bytes()), "{escaped}");
            assert!(ANY_STRING.accepts(escaped.as_bytes()), "{escaped}");
        }
        for wrong in
            [r#""\ud83d""#, r#""\ude00""#, r#""\ud83d\ud83d""#, r#""\x""#, "\"\n\"", "\"\0\""]
        {
            assert!(!ANY_STRING.accepts(wrong.as_bytes()), "{wrong:?}");
        }
        assert!(!ANY_STRING.accepts(b"\"\xff\""));
        assert!(!ANY_STRING.accepts(b"\"\xed\xa0\x80\""), "an encoded surrogate is no character");
    }

    #[test]
    fn a_character_is_one_character_however_it_is_spelt() {
        for one in ["a", "é", "😀", r"\n", r"\u0000", r#"\""#] {
            assert!(PLAIN_CHARACTER.accepts(one.as_bytes()), "{one}");
        }
        assert!(ANY_CHARACTER.accepts(br"\uD83D\uDE00"));
        assert!(!ANY_CHARACTER.accepts(b"ab") && !ANY_CHARACTER.accepts(b""));
    }

    #[test]
    fn quoting_an_automaton_quotes_its_words() {
        let words = ["", "a", "a\"b", "\\", "\u{0}", "\u{1f}x", "\t\n", "é\r", "😀"];
        let language = quoted(&texts(&words), &mut Fuel::unlimited()).expect("without a limit");
        assert_eq!(language.count_words(language.start(), 100), words.len() as u64);
        for word in words {
            let mut text = Vec::new();
            quote(word, &mut text);
            assert!(language.accepts(&text), "{word:?}");
        }
    }

    #[test]
    fn lengths_count_characters() {
        let language = texts(&["é😀", "abcdef"]);
        let has = |min, max| has_length(&language, (min, max), &mut Fuel::unlimited()).unwrap();
        assert!(has(2, Some(2)) && has(6, None) && has(0, Some(2)));
        assert!(!has(3, Some(5)) && !has(7, None) && !has(0, Some(1)));
    }

    #[test]
    fn lengths_of_infinite_languages() {
        // (aaa)*
        let thirds = automaton(
            |nfa, from, to| {
                nfa.literal(from, b"aaa", from)?;
                nfa.empty(from, to)
            },
            &mut Fuel::unlimited(),
        )
        .unwrap();
        let has = |min, max| has_length(&thirds, (min, max), &mut Fuel::unlimited()).unwrap();
        assert!(has(4_000_000_000, None) && has(4_000_000_000, Some(4_000_000_010)));
        assert!(has(9, Some(9)) && !has(10, Some(11)));
    }
}

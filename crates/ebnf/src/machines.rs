//! Automata that are made from other automata, edge by edge.

use formwork_automata::{Dfa, Exhausted, Fuel, NfaBuilder, NfaStateId, StateId, determinize};

/// Concatenations of consecutive chunks, the empty one among them.
pub(crate) fn substring(chunks: &[String], fuel: &mut Fuel) -> Result<Dfa, Exhausted> {
    let mut nfa = NfaBuilder::new(fuel);
    let (start, accept) = (nfa.state()?, nfa.state()?);
    nfa.empty(start, accept)?;
    let mut at = nfa.state()?;
    nfa.empty(start, at)?;
    for chunk in chunks {
        let next = nfa.state()?;
        nfa.literal(at, chunk.as_bytes(), next)?;
        nfa.empty(start, next)?;
        nfa.empty(next, accept)?;
        at = next;
    }
    let nfa = nfa.finish(start, accept);
    Ok(determinize(&nfa, fuel)?.canonical())
}

/// The words of which no shorter beginning is a word.
pub(crate) fn shortest_words(dfa: &Dfa, fuel: &mut Fuel) -> Result<Dfa, Exhausted> {
    rewritten(dfa, fuel, |copy, state| {
        if dfa.is_accepting(state) { copy.accept(state) } else { copy.edges(state) }
    })
}

/// The shortest texts that neither begin with a word nor are the begin of one: what contradicts the
/// promise that a word follows. The end of the output contradicts nothing.
pub(crate) fn contradictions(dfa: &Dfa, fuel: &mut Fuel) -> Result<Dfa, Exhausted> {
    rewritten(dfa, fuel, |copy, state| {
        if dfa.is_accepting(state) {
            return Ok(());
        }
        copy.edges(state)?;
        let outside = dfa.out_bytes(state).complement();
        copy.nfa.byte(copy.states[state.index()], outside, copy.accept)
    })
}

/// The words as they stand between the quotes of a JSON string: what must be escaped is, in every
/// way there is, and nothing else.
pub(crate) fn json_spelling(dfa: &Dfa, fuel: &mut Fuel) -> Result<Dfa, Exhausted> {
    rewritten(dfa, fuel, |copy, state| {
        if dfa.is_accepting(state) {
            copy.accept(state)?;
        }
        for (class, target) in dfa.byte_edges(state) {
            let (from, to) = (copy.states[state.index()], copy.states[target.index()]);
            for byte in dfa.classes().members(class).iter() {
                match byte {
                    b'"' | b'\\' | 0..=0x1f => copy.escaped(from, byte, to)?,
                    _ => copy.nfa.byte(from, formwork_automata::ByteSet::single(byte), to)?,
                }
            }
        }
        Ok(())
    })
}

/// Characters of the shortest word in characters; `None` when there is no word.
pub(crate) fn least_characters(dfa: &Dfa) -> Option<usize> {
    let mut seen = vec![false; dfa.len()];
    let mut level = vec![dfa.start()];
    let mut characters = 0;
    while !level.is_empty() {
        let mut next = Vec::new();
        while let Some(state) = level.pop() {
            if state.is_dead() || std::mem::replace(&mut seen[state.index()], true) {
                continue;
            }
            if dfa.is_accepting(state) {
                return Some(characters);
            }
            for (class, target) in dfa.byte_edges(state) {
                for byte in dfa.classes().members(class).iter() {
                    // A continuation byte begins no character.
                    let same = (0x80..0xc0).contains(&byte);
                    if same { level.push(target) } else { next.push(target) }
                }
            }
        }
        level = next;
        characters += 1;
    }
    None
}

/// A copy of an automaton in the making.
struct Copy<'d, 'f> {
    dfa: &'d Dfa,
    nfa: NfaBuilder<'f>,
    /// By state of the automaton.
    states: Vec<NfaStateId>,
    accept: NfaStateId,
}

impl Copy<'_, '_> {
    fn accept(&mut self, state: StateId) -> Result<(), Exhausted> {
        self.nfa.empty(self.states[state.index()], self.accept)
    }

    fn edges(&mut self, state: StateId) -> Result<(), Exhausted> {
        for (class, target) in self.dfa.byte_edges(state) {
            let (from, to) = (self.states[state.index()], self.states[target.index()]);
            self.nfa.byte(from, self.dfa.classes().members(class), to)?;
        }
        Ok(())
    }

    /// The escapes of RFC 8259, section 7.
    fn escaped(&mut self, from: NfaStateId, byte: u8, to: NfaStateId) -> Result<(), Exhausted> {
        let short = match byte {
            b'"' | b'\\' => Some(byte),
            0x08 => Some(b'b'),
            0x0c => Some(b'f'),
            b'\n' => Some(b'n'),
            b'\r' => Some(b'r'),
            b'\t' => Some(b't'),
            _ => None,
        };
        if let Some(short) = short {
            self.nfa.literal(from, &[b'\\', short], to)?;
        }
        let lower = format!("\\u{byte:04x}");
        let upper = format!("\\u{byte:04X}");
        self.nfa.literal(from, lower.as_bytes(), to)?;
        if upper != lower { self.nfa.literal(from, upper.as_bytes(), to) } else { Ok(()) }
    }
}

/// The automaton that `rewrite` makes, state by state.
fn rewritten(
    dfa: &Dfa,
    fuel: &mut Fuel,
    mut rewrite: impl FnMut(&mut Copy<'_, '_>, StateId) -> Result<(), Exhausted>,
) -> Result<Dfa, Exhausted> {
    if dfa.is_empty() {
        return Ok(Dfa::never());
    }
    let mut nfa = NfaBuilder::new(fuel);
    let accept = nfa.state()?;
    let states = (0..dfa.len()).map(|_| nfa.state()).collect::<Result<_, _>>()?;
    let mut copy = Copy { dfa, nfa, states, accept };
    for state in dfa.live_states() {
        rewrite(&mut copy, state)?;
    }
    let start = copy.states[dfa.start().index()];
    let nfa = copy.nfa.finish(start, accept);
    Ok(determinize(&nfa, fuel)?.canonical())
}

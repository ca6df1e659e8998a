//! Strings written without quotation marks, and characters written as entities.

use formwork_automata::{ByteSet, Dfa, Exhausted, Fuel, NfaBuilder, StateId, determinize};

/// How a byte of a string is spelled in JSON where nothing but the byte must be spelled otherwise.
fn spelled(byte: u8) -> Vec<u8> {
    match byte {
        b'"' | b'\\' => vec![b'\\', byte],
        8 => b"\\b".to_vec(),
        9 => b"\\t".to_vec(),
        10 => b"\\n".to_vec(),
        12 => b"\\f".to_vec(),
        13 => b"\\r".to_vec(),
        0..=0x1F => format!("\\u{byte:04x}").into_bytes(),
        _ => vec![byte],
    }
}

/// The strings whose JSON texts, plainly spelled, are words of `json`: the automaton reads for every
/// byte what `json` reads for its spelling.
pub(super) fn unquoted(json: &Dfa, fuel: &mut Fuel) -> Result<Dfa, Exhausted> {
    let spellings: Vec<Vec<u8>> = (0..=255).map(spelled).collect();
    let start = json.next(json.start(), b'"');
    let mut nfa = NfaBuilder::new(fuel);
    let (end, mut states) = (nfa.state()?, vec![nfa.state()?]);
    let (mut sources, mut number) = (vec![start], rustc_hash::FxHashMap::default());
    number.insert(start, 0);
    let mut at = 0;
    while at < sources.len() && !start.is_dead() {
        let (source, state) = (sources[at], states[at]);
        at += 1;
        nfa.fuel().steps(spellings.len())?;
        if json.is_accepting(json.next(source, b'"')) {
            nfa.empty(state, end)?;
        }
        // Bytes by where they lead, in the order in which targets are first seen.
        let mut edges: Vec<(StateId, ByteSet)> = Vec::new();
        for (byte, spelling) in (0..=255).zip(&spellings) {
            let target = json.next_bytes(source, spelling);
            if target.is_dead() {
                continue;
            }
            match edges.iter_mut().find(|edge| edge.0 == target) {
                Some(edge) => edge.1 = edge.1.union(&ByteSet::single(byte)),
                None => edges.push((target, ByteSet::single(byte))),
            }
        }
        for (target, bytes) in edges {
            let next = match number.get(&target) {
                Some(&next) => next,
                None => {
                    number.insert(target, sources.len());
                    sources.push(target);
                    states.push(nfa.state()?);
                    sources.len() - 1
                }
            };
            nfa.byte(state, bytes, states[next])?;
        }
    }
    let nfa = nfa.finish(states[0], end);
    Ok(determinize(&nfa, fuel)?.canonical())
}

/// The words of `text` with these ASCII characters written as entities.
pub(super) fn with_entities(
    text: &Dfa,
    entities: &[(char, &str)],
    fuel: &mut Fuel,
) -> Result<Dfa, Exhausted> {
    if entities.is_empty() {
        return Ok(text.clone());
    }
    let mut special = ByteSet::EMPTY;
    for &(character, _) in entities {
        special = special.union(&ByteSet::single(ascii(character)));
    }
    let mut nfa = NfaBuilder::new(fuel);
    let mut states = Vec::new();
    for _ in 0..=text.len() {
        states.push(nfa.state()?);
    }
    let end = nfa.state()?;
    for state in text.live_states() {
        let from = states[state.index()];
        if text.is_accepting(state) {
            nfa.empty(from, end)?;
        }
        for (class, target) in text.byte_edges(state) {
            let plain = text.classes().members(class).difference(&special);
            nfa.byte(from, plain, states[target.index()])?;
        }
        for &(character, entity) in entities {
            let target = text.next(state, ascii(character));
            if !target.is_dead() {
                nfa.literal(from, entity.as_bytes(), states[target.index()])?;
            }
        }
    }
    let nfa = nfa.finish(states[text.start().index()], end);
    Ok(determinize(&nfa, fuel)?.canonical())
}

fn ascii(character: char) -> u8 {
    u8::try_from(character).expect("entities stand for ASCII characters")
}

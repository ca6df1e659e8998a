//! Parts of regular languages, by what words begin with and how they could go on.

use formwork_automata::{
    ByteSet, Dfa, Exhausted, Fuel, NfaBuilder, NfaStateId, StateId, determinize,
};
use rustc_hash::FxHashMap;

/// The words that begin with no other word of the language.
pub(crate) fn shortest(dfa: &Dfa, fuel: &mut Fuel) -> Result<Dfa, Exhausted> {
    let goes_on = |state: StateId| !dfa.is_accepting(state);
    Ok(rebuilt(dfa, dfa.start(), goes_on, |state| dfa.is_accepting(state), fuel)?.minimized())
}

/// What the words of the language begin with.
pub(crate) fn begins(dfa: &Dfa, fuel: &mut Fuel) -> Result<Dfa, Exhausted> {
    Ok(rebuilt(dfa, dfa.start(), |_| true, |_| true, fuel)?.minimized())
}

/// The words of the language but the empty one.
pub(crate) fn without_empty(dfa: &Dfa, fuel: &mut Fuel) -> Result<Dfa, Exhausted> {
    let mut nfa = NfaBuilder::new(fuel);
    let (start, accept) = (nfa.state()?, nfa.state()?);
    let images = states(dfa, &mut nfa)?;
    for state in dfa.live_states() {
        edges(dfa, state, images[&state], &images, &mut nfa)?;
        if dfa.is_accepting(state) {
            nfa.empty(images[&state], accept)?;
        }
    }
    if !dfa.is_empty() {
        edges(dfa, dfa.start(), start, &images, &mut nfa)?;
    }
    Ok(determinize(&nfa.finish(start, accept), fuel)?.minimized())
}

/// Every word that is not empty, followed by `least` or more bytes.
pub(crate) fn extensions(dfa: &Dfa, least: usize, fuel: &mut Fuel) -> Result<Dfa, Exhausted> {
    let dfa = without_empty(dfa, fuel)?;
    let mut nfa = NfaBuilder::new(fuel);
    let (start, accept) = (nfa.state()?, nfa.state()?);
    let mut at = nfa.state()?;
    nfa.automaton(start, &dfa, at)?;
    for _ in 0..least {
        let next = nfa.state()?;
        nfa.byte(at, ByteSet::EMPTY.complement(), next)?;
        at = next;
    }
    nfa.empty(at, accept)?;
    nfa.byte(accept, ByteSet::EMPTY.complement(), accept)?;
    Ok(determinize(&nfa.finish(start, accept), fuel)?.minimized())
}

/// For each set of bytes that may be all that prefixes can go on with: those prefixes.
pub(crate) fn by_live_bytes(dfa: &Dfa, fuel: &mut Fuel) -> Result<Vec<(ByteSet, Dfa)>, Exhausted> {
    let mut sets: Vec<ByteSet> = Vec::new();
    for state in dfa.live_states().filter(|&state| dfa.is_accepting(state)) {
        fuel.steps(256)?;
        let live = dfa.out_bytes(state);
        if !sets.contains(&live) {
            fuel.steps(sets.len())?;
            sets.push(live);
        }
    }
    let mut parts = Vec::new();
    for live in sets {
        let ends = |state: StateId| dfa.out_bytes(state) == live;
        parts.push((live, rebuilt(dfa, dfa.start(), |_| true, ends, fuel)?));
    }
    Ok(parts)
}

/// The automaton with other ends, and without the edges of states that do not go on.
fn rebuilt(
    dfa: &Dfa,
    from: StateId,
    goes_on: impl Fn(StateId) -> bool,
    ends: impl Fn(StateId) -> bool,
    fuel: &mut Fuel,
) -> Result<Dfa, Exhausted> {
    let mut nfa = NfaBuilder::new(fuel);
    let (start, accept) = (nfa.state()?, nfa.state()?);
    let images = states(dfa, &mut nfa)?;
    if let Some(&image) = images.get(&from) {
        nfa.empty(start, image)?;
    }
    for state in dfa.live_states() {
        if goes_on(state) {
            edges(dfa, state, images[&state], &images, &mut nfa)?;
        }
        if ends(state) {
            nfa.empty(images[&state], accept)?;
        }
    }
    determinize(&nfa.finish(start, accept), fuel)
}

fn states(
    dfa: &Dfa,
    nfa: &mut NfaBuilder<'_>,
) -> Result<FxHashMap<StateId, NfaStateId>, Exhausted> {
    dfa.live_states().map(|state| Ok((state, nfa.state()?))).collect()
}

/// Copies the edges of a state to `from`.
fn edges(
    dfa: &Dfa,
    state: StateId,
    from: NfaStateId,
    images: &FxHashMap<StateId, NfaStateId>,
    nfa: &mut NfaBuilder<'_>,
) -> Result<(), Exhausted> {
    for (class, target) in dfa.byte_edges(state) {
        nfa.byte(from, dfa.classes().members(class), images[&target])?;
    }
    Ok(())
}

//! What rides along with the input, whatever construct is reading it.
//!
//! A monitor holds: where in a token the input stands (for futures, where tokens are free to be
//! chosen), the look-aheads that are still open, and the token limits that are in force. Every
//! letter moves it, or refuses. Monitors are interned, so that equal ones are one number.

use super::spelling::{BOUNDARY, Next, SpellId, Spelling};
use formwork_automata::{Dfa, StateId};
use formwork_grammar::Polarity;
use rustc_hash::FxHashMap;

/// An interned monitor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct MonitorId(u32);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Monitor {
    spell: SpellId,
    /// Open look-aheads with the states of their automata, sorted, each once.
    looks: Vec<(u32, StateId)>,
    /// Token limits in force, outermost first, each stricter than the one before it.
    limits: Vec<Limit>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Limit {
    /// Tokens that may yet contribute, besides the one at hand if that is counted.
    remaining: u32,
    /// Whether the token at hand has been counted.
    counted: bool,
}

impl Limit {
    /// Whether a new limit of `max` inside this one could never be the first to refuse.
    fn covers(self, max: u32) -> bool {
        match self.counted {
            true => max > self.remaining,
            false => max >= self.remaining,
        }
    }
}

/// How bytes are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Reading {
    /// As bytes of a token that is known; its end is told.
    Known,
    /// As bytes of tokens yet to be chosen.
    Free,
}

/// All monitors of one grammar and vocabulary.
#[derive(Debug)]
pub(super) struct Monitors {
    list: Vec<Monitor>,
    ids: FxHashMap<Monitor, MonitorId>,
    moves: FxHashMap<(MonitorId, u8, Reading), Option<MonitorId>>,
    looks: Vec<(Dfa, Polarity)>,
    spelling: Spelling,
}

impl Monitors {
    pub(super) fn new(looks: Vec<(Dfa, Polarity)>, spelling: Spelling) -> Self {
        let (list, ids, moves) = (Vec::new(), FxHashMap::default(), FxHashMap::default());
        let mut monitors = Self { list, ids, moves, looks, spelling };
        monitors.intern(Monitor { spell: BOUNDARY, looks: Vec::new(), limits: Vec::new() });
        monitors
    }

    /// Before anything was read.
    pub(super) fn initial() -> MonitorId {
        MonitorId(0)
    }

    fn intern(&mut self, monitor: Monitor) -> MonitorId {
        if let Some(&id) = self.ids.get(&monitor) {
            return id;
        }
        let id = MonitorId(u32::try_from(self.list.len()).expect("monitors are u32"));
        self.list.push(monitor.clone());
        self.ids.insert(monitor, id);
        id
    }

    fn monitor(&self, id: MonitorId) -> &Monitor {
        &self.list[id.0 as usize]
    }

    /// After a byte, if nothing refuses it. In a free reading a token that nothing extends ends.
    pub(super) fn byte(&mut self, id: MonitorId, byte: u8, reading: Reading) -> Option<MonitorId> {
        if let Some(&known) = self.moves.get(&(id, byte, reading)) {
            return known;
        }
        let moved = self.byte_anew(id, byte, reading);
        self.moves.insert((id, byte, reading), moved);
        moved
    }

    fn byte_anew(&mut self, id: MonitorId, byte: u8, reading: Reading) -> Option<MonitorId> {
        let mut monitor = self.monitor(id).clone();
        let next = match reading {
            Reading::Known => Next::Inside(monitor.spell),
            Reading::Free => self.spelling.next(monitor.spell, byte)?,
        };
        count(&mut monitor.limits)?;
        let open = std::mem::take(&mut monitor.looks);
        for (look, state) in open {
            let state = self.looks[look as usize].0.next(state, byte);
            monitor.looks.extend(self.settle(look, state)?.map(|state| (look, state)));
        }
        monitor.looks.sort_unstable();
        monitor.looks.dedup();
        match next {
            Next::Inside(spell) => monitor.spell = spell,
            Next::End => end(&mut monitor),
        }
        Some(self.intern(monitor))
    }

    /// After a token symbol and the end of that token, if nothing refuses it.
    pub(super) fn symbol(&mut self, id: MonitorId) -> Option<MonitorId> {
        let mut monitor = self.monitor(id).clone();
        if monitor.spell != BOUNDARY || !self.may_stay_open(&monitor) {
            return None;
        }
        count(&mut monitor.limits)?;
        monitor.looks.clear();
        end(&mut monitor);
        Some(self.intern(monitor))
    }

    /// After the end of a token.
    pub(super) fn end(&mut self, id: MonitorId) -> MonitorId {
        let mut monitor = self.monitor(id).clone();
        end(&mut monitor);
        self.intern(monitor)
    }

    /// Whether a token yet to be chosen may end here.
    pub(super) fn may_end(&self, id: MonitorId) -> bool {
        self.spelling.ends(self.monitor(id).spell)
    }

    /// Whether the output may be complete here.
    pub(super) fn is_final(&self, id: MonitorId) -> bool {
        let monitor = self.monitor(id);
        monitor.spell == BOUNDARY && self.may_stay_open(monitor)
    }

    /// A token symbol, or the end, meets no requirement and breaks no prohibition.
    fn may_stay_open(&self, monitor: &Monitor) -> bool {
        monitor.looks.iter().all(|&(look, _)| self.looks[look as usize].1 == Polarity::Forbidden)
    }

    /// With one more look-ahead, if it can hold.
    pub(super) fn look(&mut self, id: MonitorId, look: u32) -> Option<MonitorId> {
        let start = self.looks[look as usize].0.start();
        let mut monitor = self.monitor(id).clone();
        if let Some(state) = self.settle(look, start)? {
            monitor.looks.push((look, state));
            monitor.looks.sort_unstable();
            monitor.looks.dedup();
        }
        Some(self.intern(monitor))
    }

    /// A look-ahead in a state of its automaton: failed (`None`), met (`Some(None)`), or open.
    fn settle(&self, look: u32, state: StateId) -> Option<Option<StateId>> {
        let (dfa, polarity) = &self.looks[look as usize];
        match polarity {
            Polarity::Required if dfa.is_accepting(state) => Some(None),
            Polarity::Required if state.is_dead() => None,
            Polarity::Forbidden if dfa.is_accepting(state) => None,
            Polarity::Forbidden if state.is_dead() => Some(None),
            _ => Some(Some(state)),
        }
    }

    /// Inside one more token limit, or `None` where those in force are as strict: so the list stays
    /// bounded whatever the recursion.
    pub(super) fn limit(&mut self, id: MonitorId, max: u32) -> Option<MonitorId> {
        let mut monitor = self.monitor(id).clone();
        if monitor.limits.last().is_some_and(|limit| limit.covers(max)) {
            return None;
        }
        monitor.limits.push(Limit { remaining: max, counted: false });
        Some(self.intern(monitor))
    }

    /// Outside the innermost token limit.
    pub(super) fn unlimit(&mut self, id: MonitorId) -> MonitorId {
        let mut monitor = self.monitor(id).clone();
        monitor.limits.pop();
        self.intern(monitor)
    }
}

/// Counts the token at hand once in every limit.
fn count(limits: &mut [Limit]) -> Option<()> {
    for limit in limits.iter_mut().filter(|limit| !limit.counted) {
        limit.remaining = limit.remaining.checked_sub(1)?;
        limit.counted = true;
    }
    Some(())
}

fn end(monitor: &mut Monitor) {
    monitor.spell = BOUNDARY;
    monitor.limits.iter_mut().for_each(|limit| limit.counted = false);
}

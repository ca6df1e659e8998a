//! Permutations, unrolled: a state per set of members seen and number of items.
//!
//! `2^members` states, so this is for a handful of members; the fuel says when it is not. Distinct
//! rest items come from a finite set of keys here, and each key is then one more optional member.

use super::{
    RegularError,
    compile::{Build, Task},
};
use crate::{ExprId, Permute, RuleId, Uniqueness};
use formwork_automata::NfaStateId;
use rustc_hash::FxHashMap;

/// Distinct keys from a larger language than this are not unrolled.
pub(super) const MAX_KEYS: usize = 16;

/// More items than this are not unrolled: even a few dozen exceed any budget of states.
pub(super) const MAX_ITEMS: usize = 64;

/// One item that may occur at most once.
enum Item<'a> {
    Member(ExprId),
    Key(&'a [u8], ExprId),
}

/// Which items occurred (by number), and how many items in all.
type Seen = (u64, u32);

struct Unrolling<'a> {
    permute: &'a Permute,
    items: Vec<Item<'a>>,
    states: FxHashMap<Seen, NfaStateId>,
    pending: Vec<Seen>,
}

/// Pours a permutation between two states.
pub(super) fn unroll(
    build: &mut Build<'_>,
    rule: RuleId,
    permute: &Permute,
    keys: &[Vec<u8>],
    (from, to): (NfaStateId, NfaStateId),
) -> Result<(), RegularError> {
    let members = permute.members.iter().map(|member| Item::Member(member.expr));
    let tail = permute.rest.map(|rest| rest.tail);
    let keys = keys.iter().filter_map(|key| tail.map(|tail| Item::Key(key, tail)));
    let items: Vec<Item<'_>> = members.chain(keys).collect();
    let nothing: Seen = (0, 0);
    let mut unrolling = Unrolling {
        permute,
        items,
        states: FxHashMap::from_iter([(nothing, from)]),
        pending: vec![nothing],
    };
    while let Some(seen) = unrolling.pending.pop() {
        build.nfa.fuel().steps(unrolling.items.len())?;
        unrolling.leave(build, rule, seen, to)?;
    }
    Ok(())
}

impl Unrolling<'_> {
    /// Everything that leaves one state.
    fn leave(
        &mut self,
        build: &mut Build<'_>,
        rule: RuleId,
        seen: Seen,
        to: NfaStateId,
    ) -> Result<(), RegularError> {
        let from = self.states[&seen];
        let has = |index: usize| seen.0 >> index & 1 == 1;
        let required = self.permute.members.iter().enumerate();
        let complete = required.filter(|(_, m)| m.required).all(|(index, _)| has(index));
        if complete && seen.1 >= self.permute.min {
            build.nfa.empty(from, to)?;
        }
        if self.permute.max.is_some_and(|max| seen.1 >= max) {
            return Ok(());
        }
        let before = match seen.1 {
            0 => from,
            _ => {
                let before = build.nfa.state()?;
                let expr = self.permute.separator;
                build.tasks.push(Task { rule, expr, from, to: before });
                before
            }
        };
        for index in (0..self.items.len()).filter(|&index| !has(index)) {
            let after = self.state(build, (seen.0 | 1 << index, self.counted(seen.1)))?;
            match self.items[index] {
                Item::Member(expr) => {
                    build.tasks.push(Task { rule, expr, from: before, to: after });
                }
                Item::Key(key, tail) => {
                    let middle = build.nfa.state()?;
                    build.nfa.literal(before, key, middle)?;
                    build.tasks.push(Task { rule, expr: tail, from: middle, to: after });
                }
            }
        }
        if let Some(rest) = self.permute.rest
            && rest.uniqueness == Uniqueness::Any
        {
            let after = self.state(build, (seen.0, self.counted(seen.1)))?;
            build.sequence(rule, &[rest.key, rest.tail], before, after)?;
        }
        Ok(())
    }

    /// One item more; without a greatest number, what exceeds the least is all the same (but for
    /// the separator, which needs to know one from none).
    fn counted(&self, count: u32) -> u32 {
        match self.permute.max {
            Some(_) => count + 1,
            None => (count + 1).min(self.permute.min.max(1)),
        }
    }

    fn state(&mut self, build: &mut Build<'_>, seen: Seen) -> Result<NfaStateId, RegularError> {
        if let Some(&state) = self.states.get(&seen) {
            return Ok(state);
        }
        let state = build.nfa.state()?;
        self.states.insert(seen, state);
        self.pending.push(seen);
        Ok(state)
    }
}

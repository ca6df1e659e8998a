//! In which order the names of an object come.
//!
//! # Idea
//! Each `properties` of a formula is a list of names. The order is a merge of all these lists that
//! keeps every one of them, and where they leave it open, the one that stands first in the schema
//! goes first (`Model::sequence`); names that nothing declares come last. Where lists contradict each other, that decides as well.

use super::{
    Analysis, Lowered,
    facts::{Fact, FactsId},
    names::NameId,
};
use crate::document::Value;
use rustc_hash::FxHashMap;
use std::{cmp::Reverse, collections::BinaryHeap, sync::Arc};

/// An order of names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct OrderId(u32);

#[derive(Debug)]
struct Order {
    names: Arc<[NameId]>,
    places: FxHashMap<NameId, u32>,
}

/// All orders met so far.
#[derive(Debug)]
pub(super) struct Orders {
    list: Vec<Order>,
    ids: FxHashMap<Arc<[NameId]>, OrderId>,
    /// By formula.
    known: FxHashMap<FactsId, (OrderId, Agreement)>,
}

impl Orders {
    pub(super) fn new() -> Self {
        let mut orders =
            Self { list: Vec::new(), ids: FxHashMap::default(), known: FxHashMap::default() };
        orders.intern(Vec::new());
        orders
    }

    fn intern(&mut self, names: Vec<NameId>) -> OrderId {
        let names: Arc<[NameId]> = names.into();
        if let Some(&id) = self.ids.get(&names) {
            return id;
        }
        let id = OrderId(u32::try_from(self.list.len()).expect("fewer than 2^32"));
        let places = names.iter().copied().zip(0..).collect();
        self.list.push(Order { names: names.clone(), places });
        self.ids.insert(names, id);
        id
    }

    pub(super) fn names(&self, id: OrderId) -> Arc<[NameId]> {
        self.list[id.0 as usize].names.clone()
    }

    /// Whether a name stands before a place.
    pub(super) fn is_before(&self, id: OrderId, name: NameId, at: u32) -> bool {
        self.list[id.0 as usize].places.get(&name).is_some_and(|&place| place < at)
    }
}

/// Whether all lists were kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Agreement {
    Kept,
    Contradictory,
}

/// Names with their rank where nothing else decides, and what must come before what.
#[derive(Default)]
struct Merge {
    names: Vec<NameId>,
    index: FxHashMap<NameId, usize>,
    /// By name: later ones.
    after: Vec<Vec<usize>>,
    /// By name: how many must come first.
    before: Vec<usize>,
}

impl Merge {
    fn name(&mut self, name: NameId) -> usize {
        let next = self.names.len();
        let at = *self.index.entry(name).or_insert(next);
        if at == next {
            self.names.push(name);
            self.after.push(Vec::new());
            self.before.push(0);
        }
        at
    }

    fn list(&mut self, names: &[NameId]) {
        let places: Vec<usize> = names.iter().map(|&name| self.name(name)).collect();
        for pair in places.windows(2) {
            self.after[pair[0]].push(pair[1]);
            self.before[pair[1]] += 1;
        }
    }

    /// Kahn's algorithm, the name met first before others; where only circles are left, it cuts one.
    fn sorted(mut self) -> (Vec<NameId>, Agreement) {
        let mut agreement = Agreement::Kept;
        let mut sorted = Vec::with_capacity(self.names.len());
        let mut done = vec![false; self.names.len()];
        let mut first_open = 0;
        let mut free: BinaryHeap<Reverse<usize>> =
            (0..self.names.len()).filter(|&at| self.before[at] == 0).map(Reverse).collect();
        while sorted.len() < self.names.len() {
            let at = match free.pop() {
                Some(Reverse(at)) if done[at] => continue,
                Some(Reverse(at)) => at,
                None => {
                    agreement = Agreement::Contradictory;
                    while done[first_open] {
                        first_open += 1;
                    }
                    first_open
                }
            };
            done[at] = true;
            sorted.push(self.names[at]);
            for later in std::mem::take(&mut self.after[at]) {
                self.before[later] -= 1;
                if self.before[later] == 0 && !done[later] {
                    free.push(Reverse(later));
                }
            }
        }
        (sorted, agreement)
    }
}

impl Analysis {
    /// The order of all names of a formula about objects.
    pub(super) fn order(&mut self, facts: FactsId) -> Lowered<(OrderId, Agreement)> {
        if let Some(&known) = self.orders.known.get(&facts) {
            return Ok(known);
        }
        let model = self.model.clone();
        let mut schemas = Vec::new();
        let mut objects = Vec::new();
        let mut loose = Vec::new();
        for (_, fact) in self.facts.atoms(facts).iter().copied() {
            match fact {
                Fact::Declared(schema) => schemas.push(schema),
                Fact::Equals(value) => objects.push(value),
                Fact::Has(name) | Fact::Lacks(name) | Fact::Under(name, _) => loose.push(name),
                _ => {}
            }
        }
        schemas.sort_unstable_by_key(|&schema| model.sequence(schema));
        objects.sort_unstable();
        loose.sort_unstable();
        let mut merge = Merge::default();
        let mut required = Vec::new();
        for schema in schemas {
            let declares = self.declares(schema)?;
            self.fuel.steps(1 + declares.names.len() + declares.required.len())?;
            merge.list(&declares.names);
            required.push(declares);
        }
        for object in objects {
            let Value::Object(children) = model.document.value(object) else { continue };
            let members = model.document.members(children).iter();
            let names = members.map(|member| self.names.intern(model.document.text(member.key)));
            let names: Vec<NameId> = names.collect();
            self.fuel.steps(1 + names.len())?;
            merge.list(&names);
        }
        for name in required.iter().flat_map(|declares| &declares.only_required).chain(&loose) {
            merge.name(*name);
        }
        let (names, agreement) = merge.sorted();
        let order = (self.orders.intern(names), agreement);
        self.orders.known.insert(facts, order);
        Ok(order)
    }
}

#[cfg(test)]
mod tests {
    use super::{super::names::Names, *};

    fn merged(lists: &[&str]) -> (String, Agreement) {
        let mut names = Names::default();
        let mut merge = Merge::default();
        for list in lists {
            let list: Vec<NameId> = list.split("").map(|name| names.intern(name)).collect();
            merge.list(&list[1..list.len() - 1]);
        }
        let (sorted, agreement) = merge.sorted();
        (sorted.into_iter().map(|name| names.text(name).to_string()).collect(), agreement)
    }

    #[test]
    fn every_list_is_kept() {
        assert_eq!(merged(&["abc", "xbz"]), ("axbcz".into(), Agreement::Kept));
        assert_eq!(merged(&["ac", "bc", "cd"]), ("abcd".into(), Agreement::Kept));
        assert_eq!(merged(&["", "a"]), ("a".into(), Agreement::Kept));
    }

    #[test]
    fn contradictions_are_settled_by_the_first_list() {
        assert_eq!(merged(&["ab", "ba"]), ("ab".into(), Agreement::Contradictory));
        assert_eq!(merged(&["abc", "cd", "da"]).1, Agreement::Contradictory);
    }
}

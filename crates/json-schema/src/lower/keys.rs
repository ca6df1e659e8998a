//! Sets of keys, and the classes that the keys of an object fall into.
//!
//! # Idea
//! A formula about an object names some keys, which are read one by one. All other keys are told
//! apart only as far as some pattern, `propertyNames` or the like asks: they fall into *classes*,
//! the combinations of these that some key has. A class behaves as one key does.
//!
//! # Declared keys
//! The names of `properties` are looked up in the schema; what a key that is none of them must
//! satisfy is a matter of the patterns it matches, and of `additionalProperties` where it matches none.

use super::{
    Analysis, Lowered,
    facts::{Fact, FactsId, Key},
    names::NameId,
    order::OrderId,
    scalars::{Polarity, TextAtom, TextId},
    sets::{SetId, Sign},
};
use crate::model::{ObjectKeywords, SchemaId};
use rustc_hash::FxHashMap;
use std::{collections::BTreeSet, sync::Arc};

/// A set of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct KeysId(u32);

/// A class of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct ClassId(u32);

/// The keys that are surely inside, and those surely outside: they differ from each other's
/// complement where a format is at stake that has no regular language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Keys {
    pub(super) inside: TextId,
    pub(super) outside: TextId,
}

/// A class, by the keys in it and what is known of them.
#[derive(Clone, Debug)]
pub(super) struct Class {
    pub(super) text: TextId,
    /// The sets that it is a part of; of all others of the formula it is none.
    inside: Arc<BTreeSet<KeysId>>,
}

/// What a schema declares about the keys of an object.
#[derive(Debug)]
pub(super) struct Declares {
    /// Of `properties`, in declared order.
    pub(super) names: Box<[NameId]>,
    pub(super) required: BTreeSet<NameId>,
    /// In the order listed, without those that are declared.
    pub(super) only_required: Box<[NameId]>,
    /// In no order.
    by_name: FxHashMap<NameId, SchemaId>,
    patterns: Box<[(KeysId, SchemaId)]>,
    additional: Option<SchemaId>,
    /// Whether it says nothing about other keys.
    pub(super) nothing_else: bool,
}

/// What is known of keys.
#[derive(Debug, Default)]
pub(super) struct KeyTable {
    sets: Vec<Keys>,
    ids: FxHashMap<Keys, KeysId>,
    holds: FxHashMap<(KeysId, NameId), Option<bool>>,
    classes: Vec<Class>,
    by_sets: FxHashMap<(Vec<KeysId>, OrderId), Arc<[ClassId]>>,
    declares: FxHashMap<SchemaId, Arc<Declares>>,
}

impl KeyTable {
    pub(super) fn class(&self, id: ClassId) -> &Class {
        &self.classes[id.0 as usize]
    }
}

impl Analysis {
    /// The set of these keys.
    pub(super) fn keys(&mut self, keys: Keys) -> KeysId {
        let table = &mut self.keys;
        let next = KeysId(u32::try_from(table.sets.len()).expect("fewer than 2^32"));
        *table.ids.entry(keys).or_insert_with(|| {
            table.sets.push(keys);
            next
        })
    }

    pub(super) fn keys_of(&self, id: KeysId) -> Keys {
        self.keys.sets[id.0 as usize]
    }

    /// The keys in which a pattern is found.
    pub(super) fn pattern_keys(&mut self, pattern: &str) -> KeysId {
        let atom = TextAtom::Pattern(pattern.into());
        let inside = self.scalars.text(atom.clone(), Polarity::Holds);
        let outside = self.scalars.text(atom, Polarity::Fails);
        self.keys(Keys { inside, outside })
    }

    /// All keys but those of `properties` and those that match one of `patternProperties`.
    pub(super) fn additional_keys(&mut self, object: &ObjectKeywords) -> KeysId {
        let model = self.model.clone();
        let text = |text| model.document.text(text);
        let names = object.properties.iter().map(|(name, _)| Box::from(text(*name)));
        let names: BTreeSet<Box<str>> = names.collect();
        let (mut inside, mut outside) = (Vec::new(), Vec::new());
        if !names.is_empty() {
            let atom = TextAtom::Values(Arc::new(names));
            inside.push(self.scalars.text(atom.clone(), Polarity::Fails));
            outside.push(self.scalars.text(atom, Polarity::Holds));
        }
        for (pattern, _) in &object.patterns {
            let keys = self.pattern_keys(text(*pattern));
            let keys = self.keys_of(keys);
            inside.push(keys.outside);
            outside.push(keys.inside);
        }
        let inside = self.scalars.text_and(&inside);
        let outside = self.scalars.text_or(&outside);
        self.keys(Keys { inside, outside })
    }

    /// Whether a key is in a set; none when that is not known.
    pub(super) fn has_key(&mut self, keys: KeysId, key: Key) -> Lowered<Option<bool>> {
        let name = match key {
            Key::Class(class) => return Ok(Some(self.keys.class(class).inside.contains(&keys))),
            Key::Name(name) => name,
        };
        if let Some(&known) = self.keys.holds.get(&(keys, name)) {
            return Ok(known);
        }
        let Keys { inside, outside } = self.keys_of(keys);
        let text = self.names.text(name);
        let holds = if self.scalars.text_holds(inside, &text, &mut self.fuel)? {
            Some(true)
        } else {
            self.scalars.text_holds(outside, &text, &mut self.fuel)?.then_some(false)
        };
        self.keys.holds.insert((keys, name), holds);
        Ok(holds)
    }

    /// What a schema declares.
    pub(super) fn declares(&mut self, schema: SchemaId) -> Lowered<Arc<Declares>> {
        if let Some(known) = self.keys.declares.get(&schema) {
            return Ok(known.clone());
        }
        let model = self.model.clone();
        let none = ObjectKeywords::default();
        let object = model.keywords(schema).and_then(|keywords| keywords.object.as_ref());
        let object = object.unwrap_or(&none);
        self.fuel.steps(object.properties.len() + object.required.len())?;
        let text = |text| model.document.text(text);
        let mut names = Vec::with_capacity(object.properties.len());
        let mut by_name = FxHashMap::default();
        for &(name, schema) in &object.properties {
            let name = self.names.intern(text(name));
            names.push(name);
            by_name.insert(name, schema);
        }
        let required: Vec<NameId> =
            object.required.iter().map(|&name| self.names.intern(text(name))).collect();
        let only_required = required.iter().copied().filter(|name| !by_name.contains_key(name));
        let only_required = only_required.collect();
        let required = required.into_iter().collect();
        let patterns = object.patterns.iter();
        let patterns: Box<[_]> = patterns
            .map(|(pattern, schema)| (self.pattern_keys(text(*pattern)), *schema))
            .collect();
        let always = |schema| self.set_of(schema, Sign::Positive) == SetId::TRUE;
        let nothing_else = patterns.is_empty() && object.additional.is_none_or(always);
        let declares = Arc::new(Declares {
            names: names.into(),
            required,
            only_required,
            by_name,
            patterns,
            additional: object.additional,
            nothing_else,
        });
        self.keys.declares.insert(schema, declares.clone());
        Ok(declares)
    }

    /// What a schema says of the value of one of the names of a formula.
    pub(super) fn declared(&mut self, schema: SchemaId, name: NameId) -> Lowered<SetId> {
        let declares = self.declares(schema)?;
        let property = declares.by_name.get(&name).copied();
        self.matched(&declares, property, Key::Name(name))
    }

    /// What a schema says of the value of a key that is none of the names of a formula, which has all
    /// the names of the schema.
    pub(super) fn undeclared(&mut self, schema: SchemaId, class: ClassId) -> Lowered<SetId> {
        let declares = self.declares(schema)?;
        self.matched(&declares, None, Key::Class(class))
    }

    fn matched(
        &mut self,
        declares: &Declares,
        property: Option<SchemaId>,
        key: Key,
    ) -> Lowered<SetId> {
        let mut schemas: Vec<SchemaId> = property.into_iter().collect();
        for &(keys, schema) in &declares.patterns {
            self.fuel.steps(1)?;
            // Patterns are exact.
            if self.has_key(keys, key)? == Some(true) {
                schemas.push(schema);
            }
        }
        if schemas.is_empty() {
            schemas.extend(declares.additional);
        }
        let sets: Vec<SetId> =
            schemas.into_iter().map(|schema| self.set_of(schema, Sign::Positive)).collect();
        Ok(self.sets.and(sets))
    }

    /// The classes of the keys that are none of the names of an order, as far as a formula tells
    /// them apart.
    pub(super) fn classes(&mut self, facts: FactsId, order: OrderId) -> Lowered<Arc<[ClassId]>> {
        let mut sets = BTreeSet::new();
        for (_, fact) in self.facts.atoms(facts).iter().copied() {
            match fact {
                Fact::EveryMember(keys, _) | Fact::SomeMember(keys, _) => {
                    sets.insert(keys);
                }
                Fact::Declared(schema) => {
                    let declares = self.declares(schema)?;
                    sets.extend(declares.patterns.iter().map(|&(keys, _)| keys));
                }
                _ => {}
            }
        }
        let question = (sets.into_iter().collect::<Vec<_>>(), order);
        if let Some(known) = self.keys.by_sets.get(&question) {
            return Ok(known.clone());
        }
        let classes = self.split(&question.0, order)?;
        self.keys.by_sets.insert(question, classes.clone());
        Ok(classes)
    }

    fn split(&mut self, sets: &[KeysId], order: OrderId) -> Lowered<Arc<[ClassId]>> {
        let names = self.orders.names(order);
        let names: BTreeSet<Box<str>> =
            names.iter().map(|&name| Box::from(&*self.names.text(name))).collect();
        let all = match names.is_empty() {
            true => TextId::ANY,
            false => self.scalars.text(TextAtom::Values(Arc::new(names)), Polarity::Fails),
        };
        let mut classes = vec![(all, BTreeSet::new())];
        for &keys in sets {
            let Keys { inside, outside } = self.keys_of(keys);
            let mut finer = Vec::with_capacity(classes.len() + 1);
            for (text, mut members) in classes {
                let (yes, no) = (
                    self.scalars.text_and(&[text, inside]),
                    self.scalars.text_and(&[text, outside]),
                );
                if self.scalars.has_text(no, &mut self.fuel)? {
                    finer.push((no, members.clone()));
                }
                if self.scalars.has_text(yes, &mut self.fuel)? {
                    members.insert(keys);
                    finer.push((yes, members));
                }
            }
            classes = finer;
        }
        let table = &mut self.keys.classes;
        let mut ids = Vec::with_capacity(classes.len());
        for (text, inside) in classes {
            ids.push(ClassId(u32::try_from(table.len()).expect("fewer than 2^32")));
            table.push(Class { text, inside: Arc::new(inside) });
        }
        Ok(ids.into())
    }
}

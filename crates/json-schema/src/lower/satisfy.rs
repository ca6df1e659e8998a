//! Whether some value satisfies a set of schemas.
//!
//! # Idea
//! A set is satisfiable when one of its clauses is, and a clause when its strings or numbers are
//! not empty, or when all the sets that it makes mandatory (required properties, the least number
//! of items) are satisfiable. That is a system of alternatives of conjunctions, solved as a least
//! fixpoint: a schema that needs itself inside itself for ever has no value.
//!
//! # Cost
//! Linear in the sets reachable over what is mandatory, and only as far as the question is open: a
//! set with an alternative that needs nothing is decided at once.

use super::{Analysis, Clause, Lowered, SetId};
use crate::model::Types;
use rustc_hash::FxHashMap;

/// What must be satisfiable for one alternative to be.
type Needs = Vec<SetId>;

/// The part of the system that a question needs.
#[derive(Default)]
struct System {
    sets: Vec<SetId>,
    index: FxHashMap<SetId, usize>,
    /// By set: the alternatives that need it.
    users: Vec<Vec<usize>>,
    /// By alternative: the set it is one of, and how many of its needs are not proved yet.
    alternatives: Vec<(usize, usize)>,
    proved: Vec<bool>,
}

impl System {
    fn set(&mut self, set: SetId) -> usize {
        let next = self.sets.len();
        *self.index.entry(set).or_insert_with(|| {
            self.sets.push(set);
            self.users.push(Vec::new());
            self.proved.push(false);
            next
        })
    }

    fn prove(&mut self, at: usize) {
        let mut pending = vec![at];
        while let Some(at) = pending.pop() {
            if std::mem::replace(&mut self.proved[at], true) {
                continue;
            }
            for &alternative in &self.users[at] {
                let (owner, missing) = &mut self.alternatives[alternative];
                *missing -= 1;
                if *missing == 0 {
                    pending.push(*owner);
                }
            }
        }
    }
}

impl Analysis {
    /// Whether some value satisfies the set. Remembered.
    pub(super) fn is_satisfiable(&mut self, set: SetId) -> Lowered<bool> {
        if let Some(known) = self.known(set) {
            return Ok(known);
        }
        let mut system = System::default();
        let question = system.set(set);
        let mut done = 0;
        while done < system.sets.len() && !system.proved[question] {
            if !system.proved[done] {
                self.expand(&mut system, done)?;
            }
            done += 1;
        }
        let complete = done == system.sets.len();
        for (&set, &proved) in system.sets.iter().zip(&system.proved) {
            // What is not proved is refuted only when the system was expanded to its end.
            if proved || complete {
                self.satisfiable.insert(set, proved);
            }
        }
        Ok(system.proved[question])
    }

    fn known(&self, set: SetId) -> Option<bool> {
        match set {
            SetId::ANY => Some(true),
            SetId::NEVER => Some(false),
            _ => self.satisfiable.get(&set).copied(),
        }
    }

    /// Adds the alternatives of a set to the system.
    fn expand(&mut self, system: &mut System, at: usize) -> Lowered<()> {
        let set = system.sets[at];
        for kind in Types::KINDS {
            for clause in self.clauses(set, kind)? {
                let Some(mut needs) = self.needs(set, &clause)? else { continue };
                needs.sort_unstable();
                needs.dedup();
                if needs.iter().any(|&need| self.known(need) == Some(false)) {
                    continue;
                }
                needs.retain(|&need| self.known(need).is_none());
                let needs: Vec<usize> = needs.into_iter().map(|need| system.set(need)).collect();
                let open: Vec<usize> =
                    needs.into_iter().filter(|&need| !system.proved[need]).collect();
                if open.is_empty() {
                    system.prove(at);
                    return Ok(());
                }
                let alternative = system.alternatives.len();
                system.alternatives.push((at, open.len()));
                open.into_iter().for_each(|need| system.users[need].push(alternative));
            }
        }
        Ok(())
    }

    /// The sets that must be satisfiable for a clause to be; none when it is not in any case.
    fn needs(&mut self, set: SetId, clause: &Clause) -> Lowered<Option<Needs>> {
        if clause.values.is_some() {
            return Ok((!self.listed(set)?.is_empty()).then(Vec::new));
        }
        match clause.types {
            Types::STRING => Ok(self.has_string(clause)?.then(Vec::new)),
            Types::ARRAY => {
                let shape = self.array_shape(clause)?;
                if shape.count.is_empty() {
                    return Ok(None);
                }
                let least = shape.count.min as usize;
                let mut needs: Needs = shape.prefix.iter().copied().take(least).collect();
                if least > shape.prefix.len() {
                    needs.push(shape.rest);
                }
                Ok(Some(needs))
            }
            Types::OBJECT => {
                let properties = self.object_shape(clause)?.properties;
                let required = properties.iter().filter(|property| property.required);
                Ok(Some(required.map(|property| property.set).collect()))
            }
            types if types.intersects(Types::NUMBER) => {
                let (interval, digits) = self.number_shape(clause);
                let numbers = self.languages.numbers(&interval, digits, &mut self.fuel)?;
                Ok((!numbers.is_empty()).then(Vec::new))
            }
            _ => Ok(Some(Vec::new())),
        }
    }

    /// Whether some string satisfies a clause about strings.
    pub(super) fn has_string(&mut self, clause: &Clause) -> Lowered<bool> {
        let shape = self.string_shape(clause);
        self.languages.has_text(&shape.patterns, shape.length, &mut self.fuel)
    }
}

//! What a set says about the values of one type.
//!
//! # Idea
//! For one type of JSON a set of values is a language of strings or numbers, some of the constants,
//! or a formula over facts. Literals are looked up, references and other keywords about the value
//! itself followed (`compose`), and everything about other types vanishes.
//!
//! # Circles
//! A schema may lead back to itself without going into the value. The meaning is the least fixpoint,
//! for negations too: what holds because it holds, does not hold. So a literal that is met again
//! while it is looked up is false there; what was found on the way is not remembered, as it holds for
//! that place alone.
//!
//! # Cost
//! A step of fuel for each part of a formula; nothing recurses.

use super::{
    Analysis, Lowered,
    facts::{Fact, FactsId, Places},
    formula::{Connective, Id, Node},
    scalars::{NumberId, TextId},
    sets::{Literal, SetId, Sign},
};
use crate::{
    document::{Value, ValueId},
    model::Types,
};
use rustc_hash::FxHashMap;

/// A type of JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    Null,
    Boolean,
    Number,
    String,
    Array,
    Object,
}

impl Kind {
    pub(super) const ALL: [Self; 6] =
        [Self::Null, Self::Boolean, Self::Number, Self::String, Self::Array, Self::Object];

    pub(super) fn types(self) -> Types {
        match self {
            Self::Null => Types::NULL,
            Self::Boolean => Types::BOOLEAN,
            Self::Number => Types::NUMBER,
            Self::String => Types::STRING,
            Self::Array => Types::ARRAY,
            Self::Object => Types::OBJECT,
        }
    }

    /// The constants of the type: their bits and their texts.
    pub(super) fn constants(self) -> &'static [(Constants, &'static str)] {
        match self {
            Self::Null => &[(1, "null")],
            Self::Boolean => &[(1, "false"), (2, "true")],
            _ => &[],
        }
    }

    pub(super) fn of(value: Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Boolean(_) => Self::Boolean,
            Value::Number(_) => Self::Number,
            Value::String(_) => Self::String,
            Value::Array(_) => Self::Array,
            Value::Object(_) => Self::Object,
        }
    }
}

/// Which of the constants of a type: a bit for `null` or `false`, one for `true`.
pub(super) type Constants = u8;

/// Some of the values of one type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    Constants(Constants),
    Text(TextId),
    Number(NumberId),
    Facts(FactsId),
}

impl Meaning {
    /// All values of a type, or none.
    pub(super) fn of(truth: bool, kind: Kind) -> Self {
        match (kind, truth) {
            (Kind::Null | Kind::Boolean, false) => Self::Constants(0),
            (Kind::Null, true) => Self::Constants(1),
            (Kind::Boolean, true) => Self::Constants(3),
            (Kind::Number, true) => Self::Number(NumberId::ANY),
            (Kind::Number, false) => Self::Number(NumberId::NEVER),
            (Kind::String, true) => Self::Text(TextId::ANY),
            (Kind::String, false) => Self::Text(TextId::NEVER),
            (Kind::Array | Kind::Object, _) => Self::Facts(Id::of(truth)),
        }
    }
}

enum Task {
    Set(SetId),
    Join(Connective, usize),
    Close,
}

/// A literal that is being looked up.
struct Open {
    id: SetId,
    sign: Sign,
    /// What the schema says by itself.
    own: Meaning,
    /// The outermost literal that what is found depends on being open.
    outermost: usize,
}

struct Machine {
    kind: Kind,
    tasks: Vec<Task>,
    done: Vec<Meaning>,
    open: Vec<Open>,
    places: FxHashMap<SetId, usize>,
}

impl Analysis {
    /// What a set says about values of a type. Remembered.
    pub(super) fn meaning(&mut self, set: SetId, kind: Kind) -> Lowered<Meaning> {
        if let Some(&known) = self.known.meanings.get(&(set, kind)) {
            return Ok(known);
        }
        let mut machine = Machine {
            kind,
            tasks: vec![Task::Set(set)],
            done: Vec::new(),
            open: Vec::new(),
            places: FxHashMap::default(),
        };
        while let Some(task) = machine.tasks.pop() {
            self.fuel.steps(1)?;
            match task {
                Task::Set(set) => self.look_up(set, &mut machine)?,
                Task::Join(connective, count) => {
                    let parts = machine.done.split_off(machine.done.len() - count);
                    self.fuel.steps(count)?;
                    let joined = self.joined(connective, kind, &parts);
                    machine.done.push(joined);
                }
                Task::Close => self.close(&mut machine),
            }
        }
        let meaning = machine.done.pop().expect("one is left");
        self.known.meanings.insert((set, kind), meaning);
        Ok(meaning)
    }

    fn look_up(&mut self, id: SetId, machine: &mut Machine) -> Lowered<()> {
        let kind = machine.kind;
        if let Some(&known) = self.known.meanings.get(&(id, kind)) {
            machine.done.push(known);
            return Ok(());
        }
        let (connective, parts) = match self.sets.node(id) {
            Node::True | Node::False => {
                machine.done.push(Meaning::of(id == Id::TRUE, kind));
                return Ok(());
            }
            Node::And(parts) => (Connective::And, parts.clone()),
            Node::Or(parts) => (Connective::Or, parts.clone()),
            Node::Atom(Literal::Schema(schema, sign)) => {
                let (schema, sign) = (*schema, *sign);
                if let Some(&at) = machine.places.get(&id) {
                    let top = machine.open.last_mut().expect("one is open");
                    top.outermost = top.outermost.min(at);
                    machine.done.push(Meaning::of(false, kind));
                    return Ok(());
                }
                let own = self.own(schema, sign, kind)?;
                if own == Meaning::of(sign == Sign::Negative, kind) {
                    machine.done.push(own);
                    return Ok(());
                }
                let others = self.composition(schema, kind)?;
                let others = match sign {
                    Sign::Positive => others,
                    Sign::Negative => self.sets.negate(others),
                };
                machine.places.insert(id, machine.open.len());
                machine.open.push(Open { id, sign, own, outermost: usize::MAX });
                machine.tasks.extend([Task::Close, Task::Set(others)]);
                return Ok(());
            }
            Node::Atom(literal) => {
                let literal = *literal;
                let meaning = self.literal_meaning(literal, kind)?;
                machine.done.push(meaning);
                return Ok(());
            }
        };
        machine.tasks.push(Task::Join(connective, parts.len()));
        machine.tasks.extend(parts.iter().rev().map(|&part| Task::Set(part)));
        Ok(())
    }

    /// A literal is looked up.
    fn close(&mut self, machine: &mut Machine) {
        let open = machine.open.pop().expect("what is closed was opened");
        machine.places.remove(&open.id);
        let others = machine.done.pop().expect("what it leads to");
        let meaning = self.joined(open.sign.connective(), machine.kind, &[open.own, others]);
        machine.done.push(meaning);
        if open.outermost < machine.open.len() {
            let top = machine.open.last_mut().expect("one further out");
            top.outermost = top.outermost.min(open.outermost);
        } else {
            self.known.meanings.insert((open.id, machine.kind), meaning);
        }
    }

    /// What is in all of these, or in one of these.
    pub(super) fn joined(
        &mut self,
        connective: Connective,
        kind: Kind,
        parts: &[Meaning],
    ) -> Meaning {
        let is_and = connective == Connective::And;
        match kind {
            Kind::Null | Kind::Boolean => {
                let Meaning::Constants(all) = Meaning::of(true, kind) else { unreachable!() };
                let bits = parts.iter().map(|part| match part {
                    Meaning::Constants(bits) => *bits,
                    _ => 0,
                });
                Meaning::Constants(match connective {
                    Connective::And => bits.fold(all, |all, bits| all & bits),
                    Connective::Or => bits.fold(0, |all, bits| all | bits),
                })
            }
            Kind::String => {
                let ids: Vec<TextId> = parts.iter().filter_map(|part| part.text()).collect();
                let scalars = &mut self.scalars;
                Meaning::Text(if is_and { scalars.text_and(&ids) } else { scalars.text_or(&ids) })
            }
            Kind::Number => {
                let ids: Vec<NumberId> = parts.iter().filter_map(|part| part.number()).collect();
                let scalars = &mut self.scalars;
                Meaning::Number(if is_and {
                    scalars.number_and(&ids)
                } else {
                    scalars.number_or(&ids)
                })
            }
            Kind::Array | Kind::Object => {
                let ids = parts.iter().filter_map(|part| part.facts());
                Meaning::Facts(self.facts.connect(connective, ids))
            }
        }
    }

    /// What a literal that is no schema says.
    fn literal_meaning(&mut self, literal: Literal, kind: Kind) -> Lowered<Meaning> {
        let facts = |truth: bool| Meaning::of(truth, kind);
        Ok(match (literal, kind) {
            (Literal::Schema(..), _) => unreachable!("schemas are opened"),
            (Literal::Equals(value, sign), _) => self.equals(value, sign, kind)?,
            (Literal::Key(name, Sign::Positive), Kind::Object) => {
                Meaning::Facts(self.facts.atom(Fact::Has(name)))
            }
            (Literal::Key(name, Sign::Negative), Kind::Object) => {
                Meaning::Facts(self.facts.atom(Fact::Lacks(name)))
            }
            (Literal::EveryMember(keys, set), Kind::Object) => {
                Meaning::Facts(self.facts.atom(Fact::EveryMember(keys, set)))
            }
            (Literal::SomeMember(keys, set), Kind::Object) => {
                Meaning::Facts(self.facts.atom(Fact::SomeMember(keys, set)))
            }
            (Literal::EveryItem(from, set), Kind::Array) => {
                Meaning::Facts(self.facts.atom(Fact::EveryItem(Places::from(from), set)))
            }
            (Literal::SomeItem(from, set), Kind::Array) => {
                Meaning::Facts(self.facts.atom(Fact::SomeItem(Places::from(from), set)))
            }
            (Literal::Key(_, sign), _) => facts(sign == Sign::Negative),
            (Literal::EveryMember(..) | Literal::EveryItem(..), _) => facts(true),
            (Literal::SomeMember(..) | Literal::SomeItem(..), _) => facts(false),
        })
    }

    /// The values of a type that equal one of the document, or do not.
    pub(super) fn equals(&mut self, value: ValueId, sign: Sign, kind: Kind) -> Lowered<Meaning> {
        let given = self.model.document.value(value);
        if Kind::of(given) != kind {
            return Ok(Meaning::of(sign == Sign::Negative, kind));
        }
        if !matches!(kind, Kind::Array | Kind::Object) {
            return self.listed_scalars(&[value], sign, kind);
        }
        Ok(Meaning::Facts(match sign {
            Sign::Positive => self.facts.atom(Fact::Equals(value)),
            Sign::Negative => self.differs(value)?,
        }))
    }
}

impl Meaning {
    pub(super) fn text(self) -> Option<TextId> {
        match self {
            Self::Text(id) => Some(id),
            _ => None,
        }
    }

    pub(super) fn number(self) -> Option<NumberId> {
        match self {
            Self::Number(id) => Some(id),
            _ => None,
        }
    }

    pub(super) fn facts(self) -> Option<FactsId> {
        match self {
            Self::Facts(id) => Some(id),
            _ => None,
        }
    }

    /// Whether it is known at sight that nothing is meant.
    pub(super) fn is_never(self) -> bool {
        match self {
            Self::Constants(bits) => bits == 0,
            Self::Text(id) => id == TextId::NEVER,
            Self::Number(id) => id == NumberId::NEVER,
            Self::Facts(id) => id == Id::FALSE,
        }
    }
}

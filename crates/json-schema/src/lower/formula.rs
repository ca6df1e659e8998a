//! Monotone formulas over atoms, interned.
//!
//! # Idea
//! There is no negation but that of atoms, so a formula never has to be turned round: whoever needs
//! the negation of something builds it. Nodes are made children first, so whatever depends on all
//! children of a node is computed in the order of the ids, without recursion.
//!
//! # Normal form
//! Connectives of one kind are flattened, their parts sorted and without repeats. A part beside its
//! complement decides the whole; a part of a conjunction is taken for granted in the disjunctions
//! beside it (`a and (a or b)` is `a`, `a and (not a or b)` is `a and b`), and the other way round.

use rustc_hash::{FxHashMap, FxHashSet};
use std::{cell::RefCell, fmt, hash::Hash, marker::PhantomData, sync::Arc};

/// What a formula is about.
pub(super) trait Atom: Copy + Eq + Hash {
    /// The atom that holds exactly when this one does not, where there is such an atom.
    fn complement(&self) -> Option<Self>;
}

/// An interned formula over atoms `A`. Parts have smaller ids than what they are parts of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Id<A>(u32, PhantomData<fn() -> A>);

impl<A> Id<A> {
    pub(super) const TRUE: Self = Self(0, PhantomData);
    pub(super) const FALSE: Self = Self(1, PhantomData);

    pub(super) fn of(truth: bool) -> Self {
        if truth { Self::TRUE } else { Self::FALSE }
    }

    fn index(self) -> usize {
        self.0 as usize
    }
}

// Derived, these would ask the same of `A`.
impl<A: Eq> PartialOrd for Id<A> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<A: Eq> Ord for Id<A> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.cmp(&other.0)
    }
}

impl<A> Hash for Id<A> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

impl<A> fmt::Debug for Id<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// What a formula says.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Node<A> {
    True,
    False,
    Atom(A),
    /// At least two, ascending, none of them an `And`.
    And(Box<[Id<A>]>),
    /// At least two, ascending, none of them an `Or`.
    Or(Box<[Id<A>]>),
}

/// Which connective.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Connective {
    And,
    Or,
}

impl Connective {
    fn other(self) -> Self {
        match self {
            Self::And => Self::Or,
            Self::Or => Self::And,
        }
    }

    /// What a part may be that changes nothing.
    fn neutral<A>(self) -> Id<A> {
        Id::of(self == Self::And)
    }

    /// What a part may be that decides everything.
    fn absorbing<A>(self) -> Id<A> {
        Id::of(self == Self::Or)
    }
}

/// All formulas over one kind of atoms.
#[derive(Debug)]
pub(super) struct Formulas<A> {
    nodes: Vec<Node<A>>,
    ids: FxHashMap<Node<A>, Id<A>>,
    /// By formula. The derivatives of a formula ask for its atoms again and again.
    atoms: RefCell<FxHashMap<Id<A>, Atoms<A>>>,
}

/// The atoms of a formula, with what they are as formulas.
pub(super) type Atoms<A> = Arc<[(Id<A>, A)]>;

impl<A: Atom> Formulas<A> {
    pub(super) fn new() -> Self {
        let nodes = vec![Node::True, Node::False];
        let ids = nodes.iter().cloned().zip([Id::TRUE, Id::FALSE]).collect();
        Self { nodes, ids, atoms: RefCell::default() }
    }

    pub(super) fn node(&self, id: Id<A>) -> &Node<A> {
        &self.nodes[id.index()]
    }

    pub(super) fn atom(&mut self, atom: A) -> Id<A> {
        self.intern(Node::Atom(atom))
    }

    /// All of them.
    pub(super) fn and(&mut self, parts: impl IntoIterator<Item = Id<A>>) -> Id<A> {
        self.connect(Connective::And, parts)
    }

    /// One of them at least.
    pub(super) fn or(&mut self, parts: impl IntoIterator<Item = Id<A>>) -> Id<A> {
        self.connect(Connective::Or, parts)
    }

    /// What a connective joins in a formula; the formula alone when it is none of this kind.
    pub(super) fn parts(&self, connective: Connective, id: Id<A>) -> Vec<Id<A>> {
        match (self.node(id), connective) {
            (Node::And(parts), Connective::And) | (Node::Or(parts), Connective::Or) => {
                parts.to_vec()
            }
            _ if id == connective.neutral() => Vec::new(),
            _ => vec![id],
        }
    }

    /// The formula of this kind with these parts, in normal form.
    pub(super) fn connect(
        &mut self,
        connective: Connective,
        parts: impl IntoIterator<Item = Id<A>>,
    ) -> Id<A> {
        let mut given: Vec<Id<A>> = parts.into_iter().collect();
        loop {
            let Some(parts) = self.flattened(connective, &given) else {
                return connective.absorbing();
            };
            match self.reduced(connective, &parts) {
                Some(fewer) => given = fewer,
                None => return self.joined(connective, parts),
            }
        }
    }

    fn joined(&mut self, connective: Connective, parts: Vec<Id<A>>) -> Id<A> {
        match parts[..] {
            [] => connective.neutral(),
            [only] => only,
            _ => self.intern(match connective {
                Connective::And => Node::And(parts.into()),
                Connective::Or => Node::Or(parts.into()),
            }),
        }
    }

    /// The parts and the parts of parts, in order; none when one of them decides everything.
    fn flattened(&self, connective: Connective, given: &[Id<A>]) -> Option<Vec<Id<A>>> {
        let mut parts: Vec<Id<A>> = Vec::with_capacity(given.len());
        for &part in given {
            match (self.node(part), connective) {
                (Node::And(inner), Connective::And) | (Node::Or(inner), Connective::Or) => {
                    parts.extend_from_slice(inner);
                }
                _ if part == connective.absorbing() => return None,
                _ if part == connective.neutral() => {}
                _ => parts.push(part),
            }
        }
        parts.sort_unstable();
        parts.dedup();
        let opposed = |&part: &Id<A>| self.is_opposed(part, &parts);
        if parts.iter().any(opposed) { None } else { Some(parts) }
    }

    /// Whether the complement of an atom is among these.
    fn is_opposed(&self, id: Id<A>, sorted: &[Id<A>]) -> bool {
        let Node::Atom(atom) = self.node(id) else { return false };
        let complement = atom.complement().and_then(|other| self.ids.get(&Node::Atom(other)));
        complement.is_some_and(|other| sorted.binary_search(other).is_ok())
    }

    /// The parts after one round of taking them for granted in each other; none when that changes
    /// nothing.
    fn reduced(&mut self, connective: Connective, parts: &[Id<A>]) -> Option<Vec<Id<A>>> {
        let mut changed = false;
        let mut result = Vec::with_capacity(parts.len());
        for &part in parts {
            let inner = match (self.node(part), connective) {
                (Node::Or(inner), Connective::And) | (Node::And(inner), Connective::Or) => inner,
                _ => {
                    result.push(part);
                    continue;
                }
            };
            if inner.iter().any(|inner| parts.binary_search(inner).is_ok()) {
                changed = true;
                continue;
            }
            let left = inner.iter().filter(|&&inner| !self.is_opposed(inner, parts));
            let left: Vec<Id<A>> = left.copied().collect();
            if left.len() == inner.len() {
                result.push(part);
            } else {
                changed = true;
                let left = self.joined(connective.other(), left);
                result.push(left);
            }
        }
        changed.then_some(result)
    }

    fn intern(&mut self, node: Node<A>) -> Id<A> {
        if let Some(&id) = self.ids.get(&node) {
            return id;
        }
        let id = Id(u32::try_from(self.nodes.len()).expect("fewer than 2^32"), PhantomData);
        self.nodes.push(node.clone());
        self.ids.insert(node, id);
        id
    }

    /// The formulas below some, themselves included, parts before what they are parts of.
    pub(super) fn below(&self, roots: &[Id<A>]) -> Vec<Id<A>> {
        // Most formulas are one atom, or a conjunction of atoms.
        if let [root] = *roots {
            match self.node(root) {
                Node::And(parts) | Node::Or(parts) => {
                    let is_leaf =
                        |part: &Id<A>| !matches!(self.node(*part), Node::And(_) | Node::Or(_));
                    if parts.iter().all(is_leaf) {
                        return parts.iter().copied().chain([root]).collect();
                    }
                }
                _ => return vec![root],
            }
        }
        let mut seen: FxHashSet<Id<A>> = roots.iter().copied().collect();
        let mut all: Vec<Id<A>> = seen.iter().copied().collect();
        let mut done = 0;
        while let Some(&id) = all.get(done) {
            done += 1;
            if let Node::And(parts) | Node::Or(parts) = self.node(id) {
                all.extend(parts.iter().copied().filter(|&part| seen.insert(part)));
            }
        }
        all.sort_unstable();
        all
    }

    /// The atoms that occur, each once, with what they are as formulas. Remembered.
    pub(super) fn atoms(&self, root: Id<A>) -> Atoms<A> {
        if let Some(known) = self.atoms.borrow().get(&root) {
            return known.clone();
        }
        let below = self.below(&[root]).into_iter();
        let atoms: Atoms<A> = below
            .filter_map(|id| match self.node(id) {
                Node::Atom(atom) => Some((id, *atom)),
                _ => None,
            })
            .collect();
        self.atoms.borrow_mut().insert(root, atoms.clone());
        atoms
    }

    /// The formula with some atoms replaced; those that are not listed stay.
    pub(super) fn replace(&mut self, root: Id<A>, atoms: &FxHashMap<Id<A>, Id<A>>) -> Id<A> {
        let mut replaced: FxHashMap<Id<A>, Id<A>> = FxHashMap::default();
        for id in self.below(&[root]) {
            let new = match self.node(id) {
                Node::True | Node::False => id,
                Node::Atom(_) => atoms.get(&id).copied().unwrap_or(id),
                Node::And(parts) | Node::Or(parts) => {
                    let is_and = matches!(self.node(id), Node::And(_));
                    let new: Vec<Id<A>> = parts.iter().map(|part| replaced[part]).collect();
                    match (new[..] == parts[..], is_and) {
                        (true, _) => id,
                        (_, true) => self.and(new),
                        (_, false) => self.or(new),
                    }
                }
            };
            replaced.insert(id, new);
        }
        replaced[&root]
    }

    /// Computes something for a formula from what it is for its parts.
    pub(super) fn fold<T: Clone>(
        &self,
        root: Id<A>,
        mut compute: impl FnMut(&Node<A>, &[T]) -> T,
    ) -> T {
        let mut values: FxHashMap<Id<A>, T> = FxHashMap::default();
        for id in self.below(&[root]) {
            let node = self.node(id);
            let of_parts: Vec<T> = match node {
                Node::And(parts) | Node::Or(parts) => {
                    parts.iter().map(|part| values[part].clone()).collect()
                }
                _ => Vec::new(),
            };
            values.insert(id, compute(node, &of_parts));
        }
        values.remove(&root).expect("the last one computed")
    }

    /// The formula as a disjunction of conjunctions of atoms, when there are at most `most` of them.
    pub(super) fn clauses(&self, root: Id<A>, most: usize) -> Option<Vec<Vec<Id<A>>>> {
        type Clauses<A> = Option<Vec<Vec<Id<A>>>>;
        let mut known: FxHashMap<Id<A>, Clauses<A>> = FxHashMap::default();
        for id in self.below(&[root]) {
            let clauses: Clauses<A> = match self.node(id) {
                Node::True => Some(vec![Vec::new()]),
                Node::False => Some(Vec::new()),
                Node::Atom(_) => Some(vec![vec![id]]),
                Node::Or(parts) => {
                    let all: Option<Vec<_>> =
                        parts.iter().map(|part| known[part].clone()).collect();
                    all.map(|all| all.concat()).filter(|all| all.len() <= most)
                }
                Node::And(parts) => parts.iter().try_fold(vec![Vec::new()], |done, part| {
                    let choices = known[part].as_ref()?;
                    if done.len() * choices.len() > most {
                        return None;
                    }
                    let joined = done.iter().flat_map(|clause: &Vec<Id<A>>| {
                        choices.iter().map(|choice| [&clause[..], choice].concat())
                    });
                    Some(joined.collect())
                }),
            };
            known.insert(id, clauses);
        }
        let mut clauses = known.remove(&root).flatten()?;
        for clause in &mut clauses {
            clause.sort_unstable();
            clause.dedup();
        }
        clauses.sort();
        clauses.dedup();
        Some(clauses)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    struct Signed(u8, bool);

    impl Atom for Signed {
        fn complement(&self) -> Option<Self> {
            Some(Self(self.0, !self.1))
        }
    }

    /// A formula in postfix form: atoms push, connectives join the last two or three.
    fn build(formulas: &mut Formulas<Signed>, program: &[u8]) -> Id<Signed> {
        let mut stack = Vec::new();
        for &code in program {
            let joined = stack.len().saturating_sub(2 + usize::from(code & 1));
            let id = match code % 4 {
                2 if stack.len() > 1 => {
                    let parts = stack.split_off(joined);
                    formulas.and(parts)
                }
                3 if stack.len() > 1 => {
                    let parts = stack.split_off(joined);
                    formulas.or(parts)
                }
                _ => formulas.atom(Signed(code / 4 % 4, code / 16 % 2 == 0)),
            };
            stack.push(id);
        }
        formulas.or(stack)
    }

    fn holds(formulas: &Formulas<Signed>, id: Id<Signed>, world: u8) -> bool {
        formulas.fold(id, |node, parts: &[bool]| match node {
            Node::True => true,
            Node::False => false,
            Node::Atom(Signed(at, sign)) => (world >> at & 1 == 1) == *sign,
            Node::And(_) => parts.iter().all(|&part| part),
            Node::Or(_) => parts.iter().any(|&part| part),
        })
    }

    #[test]
    fn normal_form() {
        let mut formulas = Formulas::new();
        let [a, b, not_a] =
            [Signed(0, true), Signed(1, true), Signed(0, false)].map(|atom| formulas.atom(atom));
        assert_eq!(formulas.and([a, not_a]), Id::FALSE);
        assert_eq!(formulas.or([a, not_a, b]), Id::TRUE);
        let either = formulas.or([a, b]);
        assert_eq!(formulas.and([a, either]), a);
        let implied = formulas.or([not_a, b]);
        let both = formulas.and([a, b]);
        assert_eq!(formulas.and([a, implied]), both);
        assert_eq!(formulas.and([]), Id::TRUE);
        assert_eq!(formulas.or([]), Id::FALSE);
    }

    proptest! {
        #[test]
        fn connectives_mean_what_they_say(
            left in prop::collection::vec(any::<u8>(), 1..12),
            right in prop::collection::vec(any::<u8>(), 1..12),
        ) {
            let mut formulas = Formulas::new();
            let (left, right) = (build(&mut formulas, &left), build(&mut formulas, &right));
            let (and, or) = (formulas.and([left, right]), formulas.or([left, right]));
            let clauses = formulas.clauses(and, 10_000).expect("few");
            let atom = formulas.atom(Signed(0, true));
            let replaced = formulas.replace(or, &FxHashMap::from_iter([(atom, Id::TRUE)]));
            for world in 0..16 {
                let (l, r) = (holds(&formulas, left, world), holds(&formulas, right, world));
                prop_assert_eq!(holds(&formulas, and, world), l && r);
                prop_assert_eq!(holds(&formulas, or, world), l || r);
                let clause_holds =
                    |clause: &Vec<_>| clause.iter().all(|&atom| holds(&formulas, atom, world));
                prop_assert_eq!(clauses.iter().any(clause_holds), l && r);
                // Replaced by what is true, an atom can only help.
                prop_assert!(!holds(&formulas, or, world) || holds(&formulas, replaced, world));
            }
        }
    }
}

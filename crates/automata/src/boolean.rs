//! Boolean operations: products of automata, and complement.
//!
//! A product state is a pair of states; its columns are the meet of both automata's byte classes
//! and the union of their marks. Pairs from which the operation cannot accept any more are dead at
//! once (both components dead, or the deciding one), so a product walks live edges only.

use crate::{ByteClasses, Dfa, Exhausted, Fuel, Mark, StateId, table::Rows};
use rustc_hash::FxHashMap;

/// Which words of two languages are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BooleanOp {
    /// Words of either.
    Union,
    /// Words of both.
    Intersection,
    /// Words of the first only.
    Difference,
    /// Words of exactly one.
    SymmetricDifference,
}

impl BooleanOp {
    fn accepts(self, left: bool, right: bool) -> bool {
        match self {
            Self::Union => left || right,
            Self::Intersection => left && right,
            Self::Difference => left && !right,
            Self::SymmetricDifference => left != right,
        }
    }

    /// Whether nothing can be accepted from this pair, as far as its dead components tell.
    fn is_dead(self, (left, right): Pair) -> bool {
        match self {
            Self::Union | Self::SymmetricDifference => left.is_dead() && right.is_dead(),
            Self::Intersection => left.is_dead() || right.is_dead(),
            Self::Difference => left.is_dead(),
        }
    }

    /// Whether a pair with a dead left component can be live.
    fn needs_right_edges(self) -> bool {
        matches!(self, Self::Union | Self::SymmetricDifference)
    }
}

/// The automaton carries marks, and what all words over marks would be, nobody can say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[error("an automaton with marks has no complement over bytes; its first mark is {first:?}")]
pub struct MarksPresent {
    /// The smallest mark that the automaton carries.
    pub first: Mark,
}

type Pair = (StateId, StateId);

impl Dfa {
    /// The automaton of `self op other`, trimmed, not minimal.
    ///
    /// Cost: one state of fuel for each pair reached (at most the product of the sizes), one step
    /// for each edge of a pair.
    ///
    /// # Errors
    /// [`Exhausted`] when the fuel does not suffice.
    pub fn combine(&self, other: &Self, op: BooleanOp, fuel: &mut Fuel) -> Result<Self, Exhausted> {
        let mut product = Product::new(self, other, op);
        let mut rows = Rows::new();
        rows.finish_row();
        let mut accepting = vec![false];
        let start = product.number((self.start, other.start), fuel)?;
        let mut edges = Vec::new();
        while let Some(&pair) = product.pairs.get(accepting.len()) {
            product.successors(pair, fuel, &mut edges)?;
            for &(column, pair) in &edges {
                rows.push(column, product.number(pair, fuel)?);
            }
            rows.finish_row();
            accepting.push(product.is_accepting(pair));
        }
        let Product { classes, marks, .. } = product;
        Ok(Self::assemble(classes, marks, rows, accepting, start).trimmed())
    }

    /// All byte strings that are not in the language.
    ///
    /// # Errors
    /// [`MarksPresent`] when the automaton carries marks: the complement is over bytes alone.
    pub fn complement(&self) -> Result<Self, MarksPresent> {
        if let Some(&first) = self.marks.first() {
            return Err(MarksPresent { first });
        }
        if self.is_empty() {
            return Ok(Self::any());
        }
        let sink = StateId(u32::try_from(self.len()).expect("states are u32"));
        let classes = self.classes.count();
        let mut rows = Rows::with_capacity(self.len() + 1, self.len() * classes);
        rows.finish_row();
        let mut accepting = vec![false];
        for state in self.live_states() {
            let mut edges = self.edges(state).peekable();
            for class in 0..classes {
                let live = edges.next_if(|&(column, _)| column == class);
                rows.push(class, live.map_or(sink, |(_, target)| target));
            }
            rows.finish_row();
            accepting.push(!self.is_accepting(state));
        }
        (0..classes).for_each(|class| rows.push(class, sink));
        rows.finish_row();
        accepting.push(true);
        Ok(Self::assemble(self.classes.clone(), [], rows, accepting, self.start).trimmed())
    }

    /// Whether every word of this language is in the other. Stops at the first that is not.
    ///
    /// # Errors
    /// [`Exhausted`] when the fuel does not suffice; costs as [`Self::combine`].
    pub fn is_subset_of(&self, other: &Self, fuel: &mut Fuel) -> Result<bool, Exhausted> {
        // A live state can be completed: one that faces a dead state is a witness.
        let leaves = |(_, right): Pair| right.is_dead();
        Ok(!self.reaches(other, BooleanOp::Difference, fuel, leaves)?)
    }

    /// Whether both languages are equal. Stops at the first difference.
    ///
    /// # Errors
    /// [`Exhausted`] when the fuel does not suffice; costs as [`Self::combine`].
    pub fn equivalent(&self, other: &Self, fuel: &mut Fuel) -> Result<bool, Exhausted> {
        let differs = |(left, right): Pair| left.is_dead() != right.is_dead();
        Ok(!self.reaches(other, BooleanOp::SymmetricDifference, fuel, differs)?)
    }

    /// Whether no word is in both languages. Stops at the first that is.
    ///
    /// # Errors
    /// [`Exhausted`] when the fuel does not suffice; costs as [`Self::combine`].
    pub fn intersection_is_empty(&self, other: &Self, fuel: &mut Fuel) -> Result<bool, Exhausted> {
        Ok(!self.reaches(other, BooleanOp::Intersection, fuel, |_| false)?)
    }

    /// Whether the product reaches a pair that accepts or that `decided` says yes to.
    fn reaches(
        &self,
        other: &Self,
        op: BooleanOp,
        fuel: &mut Fuel,
        decided: impl Fn(Pair) -> bool,
    ) -> Result<bool, Exhausted> {
        let mut product = Product::new(self, other, op);
        product.number((self.start, other.start), fuel)?;
        let mut edges = Vec::new();
        let mut done = 1;
        while let Some(&pair) = product.pairs.get(done) {
            if product.is_accepting(pair) || decided(pair) {
                return Ok(true);
            }
            product.successors(pair, fuel, &mut edges)?;
            for &(_, pair) in &edges {
                product.number(pair, fuel)?;
            }
            done += 1;
        }
        Ok(false)
    }
}

/// The pairs of a product reached so far; 0 is dead.
struct Product<'a> {
    left: &'a Dfa,
    right: &'a Dfa,
    op: BooleanOp,
    classes: ByteClasses,
    marks: Vec<Mark>,
    /// Per column of an operand: the columns of the product that refine it.
    left_columns: Vec<Vec<usize>>,
    right_columns: Vec<Vec<usize>>,
    /// Per column of the product: the column of the right operand, if it has one.
    to_right: Vec<Option<usize>>,
    pairs: Vec<Pair>,
    numbers: FxHashMap<Pair, StateId>,
    /// Targets of the pair at hand in the operands by column of the product.
    targets: Vec<Pair>,
    touched: Vec<usize>,
}

impl<'a> Product<'a> {
    fn new(left: &'a Dfa, right: &'a Dfa, op: BooleanOp) -> Self {
        let classes = left.classes.meet(&right.classes);
        let mut marks = [&*left.marks, &*right.marks].concat();
        marks.sort_unstable();
        marks.dedup();
        let columns = classes.count() + marks.len();
        let representatives = classes.representatives();
        let column_in = |dfa: &Dfa, column: usize| match representatives.get(column) {
            Some(&byte) => Some(dfa.classes.class(byte)),
            None => {
                let index = dfa.marks.binary_search(&marks[column - representatives.len()]).ok()?;
                Some(dfa.classes.count() + index)
            }
        };
        let refining = |dfa: &Dfa| {
            let mut refining = vec![Vec::new(); dfa.columns()];
            for column in 0..columns {
                if let Some(old) = column_in(dfa, column) {
                    refining[old].push(column);
                }
            }
            refining
        };
        let dead = (StateId::DEAD, StateId::DEAD);
        Self {
            left_columns: refining(left),
            right_columns: refining(right),
            to_right: (0..columns).map(|column| column_in(right, column)).collect(),
            left,
            right,
            op,
            classes,
            marks,
            pairs: vec![dead],
            numbers: FxHashMap::default(),
            targets: vec![dead; columns],
            touched: Vec::new(),
        }
    }

    fn is_accepting(&self, (left, right): Pair) -> bool {
        self.op.accepts(self.left.is_accepting(left), self.right.is_accepting(right))
    }

    fn number(&mut self, pair: Pair, fuel: &mut Fuel) -> Result<StateId, Exhausted> {
        if self.op.is_dead(pair) {
            return Ok(StateId::DEAD);
        }
        if let Some(&number) = self.numbers.get(&pair) {
            return Ok(number);
        }
        fuel.state()?;
        let number = u32::try_from(self.pairs.len())
            .map(StateId)
            .map_err(|_| Exhausted::States { limit: u32::MAX as usize })?;
        self.pairs.push(pair);
        self.numbers.insert(pair, number);
        Ok(number)
    }

    /// Fills `edges` with (column, pair), ascending by column: all that may be live.
    fn successors(
        &mut self,
        (left, right): Pair,
        fuel: &mut Fuel,
        edges: &mut Vec<(usize, Pair)>,
    ) -> Result<(), Exhausted> {
        edges.clear();
        self.touched.clear();
        for (old, target) in self.left.edges(left) {
            for &column in &self.left_columns[old] {
                self.targets[column].0 = target;
                self.touched.push(column);
            }
        }
        if self.op.needs_right_edges() {
            for (old, target) in self.right.edges(right) {
                for &column in &self.right_columns[old] {
                    if self.targets[column].0.is_dead() {
                        self.touched.push(column);
                    }
                    self.targets[column].1 = target;
                }
            }
        } else {
            for &column in &self.touched {
                let old = self.to_right[column];
                self.targets[column].1 =
                    old.map_or(StateId::DEAD, |old| self.right.next_column(right, old));
            }
        }
        fuel.steps(self.touched.len())?;
        self.touched.sort_unstable();
        for &column in &self.touched {
            edges.push((column, std::mem::take(&mut self.targets[column])));
        }
        Ok(())
    }
}

//! The automaton of a formula about numbers.
//!
//! # Idea
//! A number is read digit by digit, and a state holds what the atoms of the formula ask about the
//! digits so far: how they compare with those of each bound, the remainder of each divisor, the place
//! in the tree of each list; and, shared by all, where the point stands. At the end the formula is
//! evaluated. Nothing is a float, so bounds are exact to the last digit.
//!
//! ```text
//! value = 0.d1 d2 d3 ... * 10^(point + exponent)        d1 not 0
//! compared with a bound: first the powers of ten, then the digits
//! ```
//! With an exponent `e` the answer depends on `e`, and is constant between a few values of it: those
//! where the power of ten meets that of a bound or of a listed number, and those from which on the
//! digits make a multiple of a divisor. So behind each state stands one of few sets of intervals of
//! exponents (`exponent`).
//!
//! # What cannot be kept in mind
//! With an exponent the exact place of the point and of the last digit that is not 0 must be known,
//! which no automaton can for numbers of any length. Beyond [`Machine::exponent_digits`] there is no exponent;
//! numbers without one are exact at any length.

use super::{
    NumberAtom, Polarity, Writing,
    divisor::Divisor,
    exponent::{FARTHEST, exponents},
    formula::{Formulas, Node, NodeId},
    listed::Tree,
};
use crate::{
    decimal::Decimal,
    lower::Lowered,
    model::{Bound, Interval},
};
use formwork_automata::{ByteSet, Dfa, Exhausted, Fuel, NfaBuilder, NfaStateId, determinize};
use rustc_hash::FxHashMap;
use std::{cmp::Ordering, collections::BTreeSet};

/// The most digits on each side of the point that may stand before an exponent.
pub(super) const EXPONENT_DIGITS: u32 = 20;
/// The same where several atoms must be kept in mind.
const FEWER_DIGITS: u32 = 6;
/// Divisors with more remainders than this leave no room for exponents.
const EXPONENT_MODULUS: u64 = 200;

/// The most states before minimisation, some hundred bytes each.
pub(super) const MAX_STATES: usize = 200_000;

/// What has been read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Phase {
    Start,
    Sign,
    /// A zero before the point, which stands alone.
    Zero,
    Whole,
    Point,
    Fraction,
}

/// How the digits compare with those of a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Digits {
    /// No difference so far.
    Same,
    Less,
    Greater,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    phase: Phase,
    negative: bool,
    /// Whether a digit other than 0 was read.
    nonzero: bool,
    /// Digits before the point from the first that is not 0; zeros between point and that digit
    /// count below 0.
    point: i64,
    /// How many digits were compared, as long as some comparison is open.
    compared: usize,
    /// By bound.
    digits: Vec<Digits>,
    /// By divisor.
    remainders: Vec<u64>,
    /// By list.
    places: Vec<u32>,
    /// Digits behind the point, as far as some divisor looks.
    behind: u32,
    /// Whether the last digit is a needless zero: behind the point, in canonical writing.
    padded: bool,
    exact: Option<Exact>,
}

/// What an exponent needs to be known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Exact {
    /// By divisor: the remainder up to the last digit that is not 0.
    remainders: Vec<u64>,
    /// Zeros since then.
    zeros: u32,
}

/// A formula with what its atoms compare with.
pub(super) struct Machine<'a> {
    formulas: &'a Formulas<NumberAtom>,
    order: Vec<NodeId>,
    positions: FxHashMap<NodeId, usize>,
    writing: Writing,
    /// Magnitudes other than zero, each once.
    bounds: Vec<Decimal>,
    divisors: Vec<Divisor>,
    trees: Vec<Tree>,
    /// By index of the atom: its place among the divisors or the trees.
    places: FxHashMap<usize, usize>,
    /// Powers of ten between which it matters where the point is; none when it never does.
    points: Option<(i64, i64)>,
    /// Digits that may stand on either side of the point before an exponent.
    exponent_digits: Option<u32>,
    /// Whether the sign matters.
    signed: bool,
}

impl<'a> Machine<'a> {
    pub(super) fn new(
        formulas: &'a Formulas<NumberAtom>,
        root: NodeId,
        writing: Writing,
        fuel: &mut Fuel,
    ) -> Lowered<Self> {
        let order = formulas.below(root);
        let positions = order.iter().copied().zip(0..).collect();
        let mut machine = Self {
            formulas,
            order,
            positions,
            writing,
            bounds: Vec::new(),
            divisors: Vec::new(),
            trees: Vec::new(),
            places: FxHashMap::default(),
            points: None,
            exponent_digits: None,
            signed: writing == Writing::Canonical,
        };
        machine.collect(fuel)?;
        machine.measure();
        Ok(machine)
    }

    /// Gathers bounds, divisors and lists.
    fn collect(&mut self, fuel: &mut Fuel) -> Lowered<()> {
        let mut bounds = BTreeSet::new();
        for id in self.order.clone() {
            fuel.steps(1)?;
            let Node::Atom(atom, _) = *self.formulas.node(id) else { continue };
            if self.places.contains_key(&atom) {
                continue;
            }
            match &self.formulas.atoms()[atom] {
                NumberAtom::Interval(Interval { lower, upper }) => {
                    self.signed = true;
                    let values = [lower, upper].into_iter().flatten().map(|bound| &bound.value);
                    bounds.extend(values.filter(|value| !value.is_zero()).map(Decimal::magnitude));
                }
                NumberAtom::MultipleOf(value) => {
                    let divisor = Divisor::new(value)
                        .filter(|divisor| divisor.size() <= MAX_STATES as u64)
                        .ok_or(Exhausted::States { limit: MAX_STATES })?;
                    self.places.insert(atom, self.divisors.len());
                    self.divisors.push(divisor);
                }
                NumberAtom::Integer => {
                    self.places.insert(atom, self.divisors.len());
                    self.divisors.push(Divisor::one());
                }
                NumberAtom::WrittenWhole => {}
                NumberAtom::Values(values) => {
                    self.signed = true;
                    self.places.insert(atom, self.trees.len());
                    self.trees.push(Tree::new(values.iter().map(|(value, _)| value), fuel)?);
                }
            }
        }
        self.bounds = bounds.into_iter().collect();
        Ok(())
    }

    /// Finds out how much must be kept in mind.
    fn measure(&mut self) {
        let powers = self.bounds.iter().map(Decimal::point);
        let powers = powers.chain(self.trees.iter().flat_map(Tree::points));
        self.points = powers.fold(None, |range, power| match range {
            None => Some((power - 1, power + 1)),
            Some((low, high)) => Some((low.min(power - 1), high.max(power + 1))),
        });
        if self.writing != Writing::Any {
            return;
        }
        let size = self.divisors.iter().map(Divisor::exact_size).fold(1, u64::saturating_mul);
        let near = |(low, high): (i64, i64)| low > -FARTHEST / 2 && high < FARTHEST / 2;
        if size <= EXPONENT_MODULUS && self.points.is_none_or(near) {
            let alone = self.divisors.is_empty() || size == 1 && self.points.is_none();
            self.exponent_digits = Some(if alone { EXPONENT_DIGITS } else { FEWER_DIGITS });
        }
    }

    /// The canonical automaton of the numbers that satisfy the formula.
    pub(super) fn automaton(&self, fuel: &mut Fuel) -> Lowered<Dfa> {
        let mut known: FxHashMap<State, usize> = FxHashMap::default();
        let mut representatives: FxHashMap<(usize, u32, u64), u64> = FxHashMap::default();
        let mut states = vec![self.start()];
        known.insert(states[0].clone(), 0);
        let mut edges: Vec<(usize, u8, usize)> = Vec::new();
        let mut done = 0;
        while let Some(state) = states.get(done).cloned() {
            if states.len() > MAX_STATES {
                return Err(Exhausted::States { limit: MAX_STATES }.into());
            }
            fuel.state()?;
            fuel.steps(10 * (1 + state.digits.len() + state.remainders.len()))?;
            for byte in state.letters() {
                let Some(next) = self.next(&state, byte, &mut representatives) else { continue };
                let fresh = states.len();
                let target = *known.entry(next).or_insert_with_key(|next| {
                    states.push(next.clone());
                    fresh
                });
                edges.push((done, byte, target));
            }
            done += 1;
        }
        self.pour(&states, &edges, fuel)
    }

    fn pour(
        &self,
        states: &[State],
        edges: &[(usize, u8, usize)],
        fuel: &mut Fuel,
    ) -> Lowered<Dfa> {
        let mut accepting = Vec::with_capacity(states.len());
        let mut behind = Vec::with_capacity(states.len());
        for state in states {
            fuel.steps(self.order.len())?;
            accepting.push(state.is_complete() && self.may_end(state) && self.holds(state, None));
            behind.push(self.exponents_after(state, fuel)?);
        }
        let mut nfa = NfaBuilder::new(fuel);
        let to = nfa.state()?;
        let mut images = Vec::with_capacity(states.len());
        for _ in states {
            images.push(nfa.state()?);
        }
        let mut of_exponents: FxHashMap<&Intervals, NfaStateId> = FxHashMap::default();
        for (index, intervals) in behind.iter().enumerate() {
            if accepting[index] {
                nfa.empty(images[index], to)?;
            }
            if intervals.is_empty() {
                continue;
            }
            let begin = match of_exponents.get(intervals) {
                Some(&begin) => begin,
                None => {
                    let texts = exponents(intervals, nfa.fuel())?;
                    let begin = nfa.state()?;
                    nfa.automaton(begin, &texts, to)?;
                    of_exponents.insert(intervals, begin);
                    begin
                }
            };
            nfa.byte(images[index], b"eE".iter().copied().collect(), begin)?;
        }
        for edges in edges.chunk_by(|left, right| left.0 == right.0) {
            let mut by_target: Vec<(usize, ByteSet)> = Vec::new();
            for &(_, byte, target) in edges {
                match by_target.iter_mut().find(|entry| entry.0 == target) {
                    Some(entry) => entry.1.insert(byte),
                    None => by_target.push((target, ByteSet::single(byte))),
                }
            }
            for (target, bytes) in by_target {
                nfa.byte(images[edges[0].0], bytes, images[target])?;
            }
        }
        let nfa = nfa.finish(images[0], to);
        Ok(determinize(&nfa, fuel)?.canonical())
    }

    fn start(&self) -> State {
        let exact = self
            .exponent_digits
            .map(|_| Exact { remainders: vec![0; self.divisors.len()], zeros: 0 });
        State {
            phase: Phase::Start,
            negative: false,
            nonzero: false,
            point: 0,
            compared: 0,
            digits: vec![Digits::Same; self.bounds.len()],
            remainders: vec![0; self.divisors.len()],
            places: self.trees.iter().map(|_| Tree::ROOT).collect(),
            behind: 0,
            padded: false,
            exact,
        }
    }

    fn next(
        &self,
        state: &State,
        byte: u8,
        representatives: &mut FxHashMap<(usize, u32, u64), u64>,
    ) -> Option<State> {
        let mut next = state.clone();
        match byte {
            b'-' => {
                next.phase = Phase::Sign;
                next.negative = self.signed;
            }
            b'.' => {
                next.phase = Phase::Point;
                for (remainder, divisor) in next.remainders.iter_mut().zip(&self.divisors) {
                    *remainder = divisor.at_point(*remainder);
                }
            }
            _ => {
                let digit = byte - b'0';
                next.phase = match state.phase {
                    Phase::Start | Phase::Sign if digit == 0 => Phase::Zero,
                    Phase::Point | Phase::Fraction => Phase::Fraction,
                    _ => Phase::Whole,
                };
                self.push(&mut next, digit);
            }
        }
        self.normalise(&mut next, representatives);
        Some(next)
    }

    /// Takes a digit in; the phase is that after it.
    fn push(&self, state: &mut State, digit: u8) {
        let fraction = state.phase == Phase::Fraction;
        let significant = state.nonzero || digit != 0;
        state.padded = self.writing == Writing::Canonical && fraction && digit == 0;
        state.behind += u32::from(fraction);
        if significant {
            for (bound, digits) in self.bounds.iter().zip(&mut state.digits) {
                if *digits == Digits::Same {
                    *digits = match digit.cmp(&bound.significant(state.compared)) {
                        Ordering::Less => Digits::Less,
                        Ordering::Equal => Digits::Same,
                        Ordering::Greater => Digits::Greater,
                    };
                }
            }
            state.compared += 1;
            for (tree, place) in self.trees.iter().zip(&mut state.places) {
                *place = tree.next(*place, digit);
            }
        }
        if significant && !fraction {
            state.point += 1;
        } else if fraction && !significant {
            state.point -= 1;
        }
        for (remainder, divisor) in state.remainders.iter_mut().zip(&self.divisors) {
            *remainder = divisor.push(*remainder, digit, state.behind.min(divisor.scale() + 1));
        }
        if let Some(exact) = &mut state.exact {
            if digit != 0 {
                for (remainder, divisor) in exact.remainders.iter_mut().zip(&self.divisors) {
                    *remainder = divisor.push_exact(*remainder, exact.zeros, digit);
                }
                exact.zeros = 0;
            } else if state.nonzero {
                exact.zeros += 1;
            }
        }
        state.nonzero |= digit != 0;
    }

    /// Forgets what makes no difference any more.
    fn normalise(
        &self,
        state: &mut State,
        representatives: &mut FxHashMap<(usize, u32, u64), u64>,
    ) {
        if let (Some(exact), Some(most)) = (&mut state.exact, self.exponent_digits) {
            if self.divisors.is_empty() {
                exact.zeros = 0;
            }
            let far = self.points.is_some() && state.point.abs() > i64::from(most);
            let long = !self.divisors.is_empty() && exact.zeros.max(state.behind) > most;
            if far || long {
                state.exact = None;
            }
        }
        let looked_at = self.divisors.iter().map(Divisor::scale).max().unwrap_or(0) + 1;
        if state.exact.is_none() || self.divisors.is_empty() {
            state.behind = state.behind.min(looked_at);
        }
        if self.divisors.is_empty() {
            state.behind = 0;
        }
        match self.points {
            None => state.point = 0,
            Some(range) if state.exact.is_none() => state.point = clamped(state, range),
            Some(_) => {}
        }
        if state.exact.is_none() {
            self.settle(state);
            if state.phase == Phase::Whole {
                for (index, divisor) in self.divisors.iter().enumerate() {
                    let remainder = &mut state.remainders[index];
                    let (depth, rest) = divisor.key(*remainder);
                    *remainder = *representatives.entry((index, depth, rest)).or_insert(*remainder);
                }
            }
        }
        let lengths = self.bounds.iter().zip(&state.digits);
        let open = lengths.filter(|(_, digits)| **digits == Digits::Same);
        // Beyond the digits of a bound all its digits are zeros.
        let most = open.map(|(bound, _)| bound.scaled().0.len()).max().unwrap_or(0);
        state.compared = state.compared.min(most);
    }

    /// Without an exponent: where the powers of ten differ for good, digits do not matter.
    fn settle(&self, state: &mut State) {
        let fixed = matches!(state.phase, Phase::Point | Phase::Fraction);
        for (bound, digits) in self.bounds.iter().zip(&mut state.digits) {
            let power = bound.point();
            if state.nonzero && (state.point > power || fixed && state.point != power) {
                *digits = Digits::Less;
            }
        }
    }

    /// Canonical writing: no needless zero, and zero has no sign.
    fn may_end(&self, state: &State) -> bool {
        self.writing != Writing::Canonical
            || !state.padded && (state.nonzero || !state.negative && state.phase == Phase::Zero)
    }

    /// The exponents that may follow, as intervals.
    fn exponents_after(&self, state: &State, fuel: &mut Fuel) -> Result<Intervals, Exhausted> {
        let Some(exact) = state.exact.as_ref().filter(|_| state.is_complete()) else {
            return Ok(Vec::new());
        };
        // Where the answer may change.
        let mut cuts = BTreeSet::new();
        if state.nonzero {
            let powers = self.bounds.iter().map(Decimal::point);
            let listed = self.trees.iter().zip(&state.places);
            let listed = listed.flat_map(|(tree, &place)| tree.points_at(place));
            for power in powers.chain(listed) {
                cuts.extend([power - state.point, power - state.point + 1]);
            }
            for (divisor, &remainder) in self.divisors.iter().zip(&exact.remainders) {
                cuts.extend(first_multiple(state, exact, divisor, remainder));
            }
        }
        let starts = std::iter::once(None).chain(cuts.iter().copied().map(Some));
        let ends = cuts.iter().map(|cut| Some(cut - 1)).chain([None]);
        let mut intervals: Intervals = Vec::new();
        for (low, high) in starts.zip(ends) {
            fuel.steps(1 + self.order.len())?;
            let sample = low.or(high).unwrap_or(0);
            if !self.holds(state, Some(sample)) {
                continue;
            }
            match intervals.last_mut() {
                Some(last) if last.1.map(|end| end + 1) == low => last.1 = high,
                _ => intervals.push((low, high)),
            }
        }
        Ok(intervals)
    }

    /// Whether the formula holds if the number ends here, or with this exponent.
    fn holds(&self, state: &State, exponent: Option<i64>) -> bool {
        let mut truths: Vec<bool> = Vec::with_capacity(self.order.len());
        for &id in &self.order {
            let truth = |part: &NodeId| truths[self.positions[part]];
            let truth = match self.formulas.node(id) {
                Node::True => true,
                Node::False => false,
                Node::And(parts) => parts.iter().all(truth),
                Node::Or(parts) => parts.iter().any(truth),
                Node::Atom(atom, polarity) => match polarity {
                    Polarity::Holds => self.atom_holds(*atom, state, exponent),
                    Polarity::Fails => !self.value_holds(*atom, state, exponent),
                },
            };
            truths.push(truth);
        }
        truths.last() == Some(&true)
    }

    /// In minimal writing an integer is written without a point.
    fn atom_holds(&self, atom: usize, state: &State, exponent: Option<i64>) -> bool {
        let integer = matches!(self.formulas.atoms()[atom], NumberAtom::Integer);
        if integer && self.writing == Writing::Minimal {
            return state.is_whole();
        }
        self.value_holds(atom, state, exponent)
    }

    fn value_holds(&self, atom: usize, state: &State, exponent: Option<i64>) -> bool {
        let power = state.point + exponent.unwrap_or(0);
        match &self.formulas.atoms()[atom] {
            NumberAtom::WrittenWhole => state.is_whole() && exponent.is_none(),
            NumberAtom::Interval(Interval { lower, upper }) => {
                let inside = |bound: &Bound, outside: Ordering| {
                    let ordering = self.compare(state, power, &bound.value);
                    ordering != outside && (bound.inclusive || ordering != Ordering::Equal)
                };
                lower.as_ref().is_none_or(|bound| inside(bound, Ordering::Less))
                    && upper.as_ref().is_none_or(|bound| inside(bound, Ordering::Greater))
            }
            NumberAtom::Values(_) => {
                let tree = self.places[&atom];
                match state.nonzero {
                    false => self.trees[tree].has_zero(),
                    true => self.trees[tree].ends(state.places[tree], state.negative, power),
                }
            }
            NumberAtom::MultipleOf(_) | NumberAtom::Integer => {
                let index = self.places[&atom];
                match (exponent, &state.exact) {
                    (Some(exponent), Some(exact)) => {
                        let remainder = exact.remainders[index];
                        let divisor = &self.divisors[index];
                        let first = first_multiple(state, exact, divisor, remainder);
                        !state.nonzero || first.is_some_and(|first| exponent >= first)
                    }
                    _ => Divisor::accepts(state.remainders[index]),
                }
            }
        }
    }

    /// The number, with this power of ten, compared with a bound.
    fn compare(&self, state: &State, power: i64, bound: &Decimal) -> Ordering {
        let zero = if bound.is_zero() {
            Ordering::Equal
        } else if bound.is_negative() {
            Ordering::Greater
        } else {
            Ordering::Less
        };
        if !state.nonzero {
            return zero;
        }
        if bound.is_zero() || bound.is_negative() != state.negative {
            return if state.negative { Ordering::Less } else { Ordering::Greater };
        }
        let magnitude = bound.magnitude();
        let at = self.bounds.binary_search(&magnitude).expect("all bounds are here");
        let digits = match state.digits[at] {
            Digits::Less => Ordering::Less,
            Digits::Greater => Ordering::Greater,
            // The last digit of a bound is not 0.
            Digits::Same if state.compared < magnitude.scaled().0.len() => Ordering::Less,
            Digits::Same => Ordering::Equal,
        };
        let ordering = power.cmp(&magnitude.point()).then(digits);
        if state.negative { ordering.reverse() } else { ordering }
    }
}

/// The least exponent with which the digits make a multiple.
fn first_multiple(state: &State, exact: &Exact, divisor: &Divisor, remainder: u64) -> Option<i64> {
    Some(divisor.power_needed(remainder)? - i64::from(exact.zeros) + i64::from(state.behind))
}

/// The point of a state, as far as it matters: beyond the range all are alike. Before the point it
/// can only grow, behind it only zeros can make it less.
fn clamped(state: &State, (low, high): (i64, i64)) -> i64 {
    match (state.nonzero, state.phase) {
        (true, Phase::Point | Phase::Fraction) => state.point.clamp(low, high),
        (true, _) => state.point.min(high),
        (false, Phase::Fraction) => state.point.max(low),
        (false, _) => 0,
    }
}

/// Ends that are missing are without bound.
type Intervals = Vec<(Option<i64>, Option<i64>)>;

impl State {
    /// The bytes that may follow, but for exponents.
    fn letters(&self) -> impl Iterator<Item = u8> + use<> {
        let digits = match self.phase {
            Phase::Zero => None,
            _ => Some(b'0'..=b'9'),
        };
        let other = match self.phase {
            Phase::Start => Some(b'-'),
            Phase::Zero | Phase::Whole => Some(b'.'),
            _ => None,
        };
        digits.into_iter().flatten().chain(other)
    }

    fn is_complete(&self) -> bool {
        self.is_whole() || self.phase == Phase::Fraction
    }

    fn is_whole(&self) -> bool {
        matches!(self.phase, Phase::Zero | Phase::Whole)
    }
}

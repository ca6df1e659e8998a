//! Counted repetition with a register instead of copies: `body{min,max}` for any numbers.
//!
//! # Idea
//! A configuration says, for each state that the body may be in, which numbers of finished
//! repetitions are possible there: a *counting set*, after Turoňová, Holík, Lengál, Saarikivi,
//! Veanes and Vojnar, "Regex matching with counting-set automata", OOPSLA 2020. A byte moves whole
//! sets from state to state; a finished repetition adds one to a whole set, which an offset does in
//! constant time.
//!
//! # Departures
//! 1. A set is a list of intervals, and neighbouring intervals are joined when the numbers between
//!    them allow nothing new. From c finished repetitions between `min - c` and `max - c` more may
//!    follow; two counts at most `max - min + 1` apart cover every count between them. The
//!    inclusion holds for the languages that may follow, so it stays true after any further byte.
//!    Hence a set has at most `max / (max - min + 2) + 1` intervals whatever the body: `{1,5000}`
//!    and `{0,1000000}` have one or two, and only nearly exact counts of ambiguous bodies have many.
//! 2. Without `max` only the greatest count matters, and it stops at `min`; with a `min` of 0 only
//!    the smallest does. Then a set is one number.
//! 3. The empty word as a repetition changes no count: where the body accepts it, `min` is 0 and
//!    repetitions are not empty.

use crate::{Dfa, Exhausted, Fuel, Mark, NfaBuilder, StateId, determinize};
use smallvec::{SmallVec, smallvec};
use std::hash::{Hash, Hasher};

/// `min` is greater than `max`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[error("a repetition of at least {min} and at most {max}")]
pub struct CountsReversed {
    /// The fewest repetitions.
    pub min: u32,
    /// The most repetitions.
    pub max: u32,
}

/// The language `body{min,max}`, never unrolled.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Counted {
    body: Dfa,
    min: u32,
    max: Option<u32>,
    /// 0 where the body accepts the empty word, else `min`.
    needed: u32,
    /// By state of the body: can a repetition go on from here by a letter?
    goes_on: Box<[bool]>,
}

/// Where the reading of a [`Counted`] stands: for each live state of the body the possible counts.
/// Equal configurations are equal values.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CountedState {
    /// Counts with which a repetition may just have been finished.
    boundary: CountingSet,
    /// Counts of finished repetitions inside a further one that goes on by at least one letter, by
    /// state of the body, ascending; no set is empty.
    inside: SmallVec<[(StateId, CountingSet); 1]>,
}

/// How many repetitions a [`CountedState`] can still take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Remaining {
    /// The fewest to be finished before the whole can end; one that is under way counts.
    pub at_least: u32,
    /// The most that can still be finished, the one under way included; none without a bound.
    pub at_most: Option<u32>,
}

impl Counted {
    /// `body{min,max}`; without `max` there is no upper bound. The body is trimmed, as every public
    /// construction gives.
    ///
    /// # Errors
    /// [`CountsReversed`] when `min` is greater than `max`.
    pub fn new(body: Dfa, min: u32, max: Option<u32>) -> Result<Self, CountsReversed> {
        if let Some(max) = max.filter(|&max| max < min) {
            return Err(CountsReversed { min, max });
        }
        let needed = if body.is_accepting(body.start()) { 0 } else { min };
        let goes_on = body.live_states().map(|state| body.edges(state).next().is_some());
        let goes_on = std::iter::once(false).chain(goes_on).collect();
        Ok(Self { body, min, max, needed, goes_on })
    }

    /// What is repeated.
    #[must_use]
    pub fn body(&self) -> &Dfa {
        &self.body
    }

    /// The fewest repetitions.
    #[must_use]
    pub fn min(&self) -> u32 {
        self.min
    }

    /// The most repetitions.
    #[must_use]
    pub fn max(&self) -> Option<u32> {
        self.max
    }

    /// The configuration before the first byte.
    #[must_use]
    pub fn start(&self) -> CountedState {
        let mut state = CountedState { boundary: CountingSet::default(), inside: SmallVec::new() };
        if self.needed == 0 || !self.body.is_empty() {
            state.boundary = CountingSet::zero();
        }
        state
    }

    /// Reads a byte; whether the configuration can still be completed. If not, nothing ever can.
    ///
    /// Cost: one look-up for each body state with a count; one number each for an unambiguous body.
    pub fn step(&self, state: &mut CountedState, byte: u8) -> bool {
        let class = self.body.classes().class(byte);
        self.advance(state, |from| self.body.next_class(from, class))
    }

    /// Reads a mark, as [`Self::step`] reads a byte.
    pub fn step_mark(&self, state: &mut CountedState, mark: Mark) -> bool {
        self.advance(state, |from| self.body.next_mark(from, mark))
    }

    fn advance(&self, state: &mut CountedState, next: impl Fn(StateId) -> StateId) -> bool {
        let mut started = std::mem::take(&mut state.boundary);
        started.keep_below(self.max);
        for (at, _) in &mut state.inside {
            *at = next(*at);
        }
        let first = next(self.body.start());
        if !started.is_empty() {
            state.inside.push((first, started));
        }
        state.inside.retain(|(at, _)| !at.is_dead());
        state.inside.sort_unstable_by_key(|&(at, _)| at);
        let mut merged: SmallVec<[(StateId, CountingSet); 1]> = SmallVec::new();
        for (at, set) in state.inside.drain(..) {
            match merged.last_mut().filter(|last| last.0 == at) {
                Some((_, counts)) => counts.unite(&set, self.covering()),
                None => merged.push((at, set)),
            }
        }
        for (at, counts) in &merged {
            if self.body.is_accepting(*at) {
                let mut finished = counts.clone();
                finished.increment(self.max.unwrap_or(self.needed));
                state.boundary.unite(&finished, self.covering());
            }
        }
        merged.retain(|(at, _)| self.goes_on[at.index()]);
        state.inside = merged;
        !state.is_dead()
    }

    /// Which counts make others superfluous.
    fn covering(&self) -> Covering {
        match self.max {
            None => Covering::Greatest,
            Some(_) if self.needed == 0 => Covering::Smallest,
            Some(max) => Covering::Between { reach: i64::from(max - self.needed) + 1 },
        }
    }

    /// Whether what was read is in the language.
    #[must_use]
    pub fn is_accepting(&self, state: &CountedState) -> bool {
        state.boundary.bounds().is_some_and(|(_, most)| most >= self.needed)
    }

    /// How many repetitions may and must still come; none when the configuration is dead. With more
    /// to come than a caller looks ahead, the numbers do not matter to it.
    #[must_use]
    pub fn remaining(&self, state: &CountedState) -> Option<Remaining> {
        let inside = state.inside.iter().filter_map(|(_, set)| set.bounds());
        let inside = inside.map(|(fewest, most)| (fewest, self.needed.saturating_sub(most).max(1)));
        let boundary = state.boundary.bounds();
        let boundary = boundary.map(|(fewest, most)| (fewest, self.needed.saturating_sub(most)));
        let (fewest, at_least) =
            inside.chain(boundary).reduce(|a, b| (a.0.min(b.0), a.1.min(b.1)))?;
        Some(Remaining { at_least, at_most: self.max.map(|max| max - fewest) })
    }

    /// The same language as an ordinary automaton: `max` copies of the body, or `min` and a loop.
    ///
    /// # Errors
    /// [`Exhausted`] when the fuel does not suffice for the copies and their determinisation.
    pub fn unrolled(&self, fuel: &mut Fuel) -> Result<Dfa, Exhausted> {
        let mut builder = NfaBuilder::new(fuel);
        let (start, accept) = (builder.state()?, builder.state()?);
        let mut at = start;
        for _ in 0..self.min {
            let next = builder.state()?;
            builder.automaton(at, &self.body, next)?;
            at = next;
        }
        match self.max {
            None => {
                let hub = builder.state()?;
                builder.empty(at, hub)?;
                builder.automaton(hub, &self.body, hub)?;
                at = hub;
            }
            Some(max) => {
                for _ in self.min..max {
                    builder.empty(at, accept)?;
                    let next = builder.state()?;
                    builder.automaton(at, &self.body, next)?;
                    at = next;
                }
            }
        }
        builder.empty(at, accept)?;
        let nfa = builder.finish(start, accept);
        determinize(&nfa, fuel)
    }
}

impl CountedState {
    /// Whether nothing can be accepted any more.
    #[must_use]
    pub fn is_dead(&self) -> bool {
        self.boundary.is_empty() && self.inside.is_empty()
    }

    /// The states of the body that a repetition under way may be in, ascending.
    pub fn body_states(&self) -> impl Iterator<Item = StateId> + '_ {
        self.inside.iter().map(|&(state, _)| state)
    }

    /// Whether a repetition may just have been finished, or none begun: then the next may begin,
    /// unless there were `max` already.
    #[must_use]
    pub fn is_between_repetitions(&self) -> bool {
        !self.boundary.is_empty()
    }

    /// Intervals of counts held: what a step costs at most, and 1 or 2 for most bodies.
    #[must_use]
    pub fn interval_count(&self) -> usize {
        self.boundary.intervals.len()
            + self.inside.iter().map(|(_, set)| set.intervals.len()).sum::<usize>()
    }
}

/// Which counts allow all that others allow.
#[derive(Clone, Copy, Debug)]
enum Covering {
    /// The greatest: there is no upper bound.
    Greatest,
    /// The smallest: there is no lower bound.
    Smallest,
    /// Two counts at most `reach` apart cover those between them.
    Between { reach: i64 },
}

/// A set of counts as ascending disjoint inclusive intervals, relative to an offset. Up to 2³² - 1
/// increments of a number below 2³² fit an `i64` many times over.
#[derive(Clone, Debug, Default)]
struct CountingSet {
    offset: i64,
    intervals: SmallVec<[(i64, i64); 1]>,
}

impl CountingSet {
    fn zero() -> Self {
        Self { offset: 0, intervals: smallvec![(0, 0)] }
    }

    fn is_empty(&self) -> bool {
        self.intervals.is_empty()
    }

    /// The intervals themselves.
    fn absolute(&self) -> impl Iterator<Item = (i64, i64)> + '_ {
        self.intervals.iter().map(|&(start, end)| (start + self.offset, end + self.offset))
    }

    /// The smallest and the greatest count.
    fn bounds(&self) -> Option<(u32, u32)> {
        let (first, last) = (self.intervals.first()?, self.intervals.last()?);
        let count = |value: i64| u32::try_from(value + self.offset).expect("counts are u32");
        Some((count(first.0), count(last.1)))
    }

    /// Drops the counts that have reached `max`: no further repetition may begin there.
    fn keep_below(&mut self, max: Option<u32>) {
        if let Some(max) = max {
            self.clip(i64::from(max) - 1);
        }
    }

    /// Drops what is greater than `most`. Amortised constant: what is dropped was added once.
    fn clip(&mut self, most: i64) {
        let most = most - self.offset;
        while let Some(last) = self.intervals.last_mut() {
            if last.0 <= most {
                last.1 = last.1.min(most);
                return;
            }
            self.intervals.pop();
        }
    }

    /// Adds one to every count; what would be greater than `most` becomes `most`. Constant time.
    fn increment(&mut self, most: u32) {
        self.offset += 1;
        let most = i64::from(most) - self.offset;
        // Counts were at most `most`, so only one of them can be greater now.
        if let Some(last) = self.intervals.last_mut() {
            last.1 = last.1.min(most);
            last.0 = last.0.min(most);
        }
    }

    /// Adds the counts of `other`, and joins and drops what the others cover.
    fn unite(&mut self, other: &Self, covering: Covering) {
        let mut joined = self.joined(other, covering);
        if let [(start, end)] = &mut joined[..] {
            match covering {
                Covering::Greatest => *start = *end,
                Covering::Smallest => *end = *start,
                Covering::Between { .. } => {}
            }
        }
        *self = Self { offset: 0, intervals: joined };
    }

    /// The intervals of both, without gaps that are covered.
    fn joined(&self, other: &Self, covering: Covering) -> SmallVec<[(i64, i64); 1]> {
        let reach = match covering {
            Covering::Between { reach } => reach,
            Covering::Greatest | Covering::Smallest => i64::MAX,
        };
        let (mut left, mut right) = (self.absolute().peekable(), other.absolute().peekable());
        let mut joined: SmallVec<[(i64, i64); 1]> = SmallVec::new();
        loop {
            let from_left = match (left.peek(), right.peek()) {
                (Some(left), Some(right)) => left.0 <= right.0,
                (left, _) => left.is_some(),
            };
            let Some((start, end)) = (if from_left { left.next() } else { right.next() }) else {
                return joined;
            };
            match joined.last_mut().filter(|last| start - last.1 <= reach) {
                Some(last) => last.1 = last.1.max(end),
                None => joined.push((start, end)),
            }
        }
    }
}

impl PartialEq for CountingSet {
    fn eq(&self, other: &Self) -> bool {
        self.absolute().eq(other.absolute())
    }
}

impl Eq for CountingSet {}

impl Hash for CountingSet {
    fn hash<H: Hasher>(&self, state: &mut H) {
        for interval in self.absolute() {
            interval.hash(state);
        }
    }
}

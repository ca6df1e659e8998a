//! Sets of states of a nondeterministic automaton, interned: the states of the subset construction,
//! eager ([`determinize`](crate::determinize)) or lazy ([`LazyDfa`](crate::LazyDfa)).

use crate::{Exhausted, Fuel, Letter, Nfa, NfaStateId, interner::ListInterner, nfa::Label};
use std::ops::Deref;

/// The subsets reached so far; number 0 is the empty one, from which nothing is accepted.
///
/// A subset is the ascending list of its *important* members: those with an edge that reads
/// something, and the accepting state. The others are implied by them or lead nowhere.
#[derive(Clone, Debug)]
pub(crate) struct Subsets<N> {
    nfa: N,
    subsets: ListInterner,
    accepting: Vec<bool>,
    /// Targets before closure, and the subset that each such list leads to: equal lists are closed
    /// once.
    buckets: ListInterner,
    bucket_subset: Vec<u32>,
    /// The round in which a state was last visited.
    visited: Vec<u32>,
    round: u32,
    stack: Vec<NfaStateId>,
    closure: Vec<u32>,
    bucket: Vec<u32>,
}

impl<N: Deref<Target = Nfa>> Subsets<N> {
    /// The empty subset alone.
    pub(crate) fn new(nfa: N) -> Self {
        let mut subsets = ListInterner::new();
        subsets.intern(&[]);
        let mut buckets = ListInterner::new();
        buckets.intern(&[]);
        Self {
            visited: vec![0; nfa.len()],
            nfa,
            subsets,
            accepting: vec![false],
            buckets,
            bucket_subset: vec![0],
            round: 0,
            stack: Vec::new(),
            closure: Vec::new(),
            bucket: Vec::new(),
        }
    }

    /// How many subsets there are.
    pub(crate) fn len(&self) -> usize {
        self.subsets.len()
    }

    pub(crate) fn members(&self, subset: u32) -> &[u32] {
        self.subsets.list(subset)
    }

    pub(crate) fn is_accepting(&self, subset: u32) -> bool {
        self.accepting[subset as usize]
    }

    /// The subset that reading begins in.
    pub(crate) fn start(&mut self, fuel: &mut Fuel) -> Result<u32, Exhausted> {
        self.close(&[self.nfa.start.0], fuel)
    }

    /// The subset of everything that these states reach by empty edges. A new subset costs one
    /// state of fuel, a visited state and an empty edge one step each.
    pub(crate) fn close(&mut self, bucket: &[u32], fuel: &mut Fuel) -> Result<u32, Exhausted> {
        fuel.steps(bucket.len())?;
        if let Some(number) = self.buckets.find(bucket) {
            return Ok(self.bucket_subset[number as usize]);
        }
        self.collect_closure(bucket, fuel)?;
        let (subset, new) = self.subsets.intern(&self.closure);
        if new {
            self.accepting.push(self.closure.binary_search(&self.nfa.accept.0).is_ok());
        }
        self.buckets.intern(bucket);
        self.bucket_subset.push(subset);
        if new {
            fuel.state()?;
        }
        Ok(subset)
    }

    /// Fills `closure` with the important members, ascending.
    fn collect_closure(&mut self, bucket: &[u32], fuel: &mut Fuel) -> Result<(), Exhausted> {
        self.next_round();
        self.closure.clear();
        self.stack.clear();
        let nfa = &*self.nfa;
        for &state in bucket.iter().rev() {
            visit(NfaStateId(state), &mut self.visited, self.round, &mut self.stack);
        }
        while let Some(state) = self.stack.pop() {
            let data = &nfa.states[state.index()];
            fuel.steps(1 + data.empty_edges.len())?;
            if !data.edges.is_empty() || state == nfa.accept {
                self.closure.push(state.0);
            }
            for &target in &data.empty_edges {
                visit(target, &mut self.visited, self.round, &mut self.stack);
            }
        }
        self.closure.sort_unstable();
        Ok(())
    }

    fn next_round(&mut self) {
        self.round = self.round.wrapping_add(1);
        if self.round == 0 {
            self.visited.fill(0);
            self.round = 1;
        }
    }

    /// The subset after one letter. One step of fuel for each edge of each member.
    pub(crate) fn step(
        &mut self,
        subset: u32,
        letter: Letter,
        fuel: &mut Fuel,
    ) -> Result<u32, Exhausted> {
        let mut bucket = std::mem::take(&mut self.bucket);
        bucket.clear();
        let mut edges_seen = 0;
        for &member in self.subsets.list(subset) {
            let edges = &self.nfa.states[member as usize].edges;
            edges_seen += edges.len();
            let reads = |label| match (label, letter) {
                (Label::Set(set), Letter::Byte(byte)) => self.nfa.sets[set as usize].contains(byte),
                (Label::Mark(mark), Letter::Mark(read)) => mark == read,
                _ => false,
            };
            bucket.extend(edges.iter().filter(|edge| reads(edge.0)).map(|edge| edge.1.0));
        }
        let target = fuel.steps(edges_seen).and_then(|()| self.close(&bucket, fuel));
        self.bucket = bucket;
        target
    }

    /// Forgets every subset but the empty one.
    pub(crate) fn clear(&mut self) {
        self.subsets = ListInterner::new();
        self.subsets.intern(&[]);
        self.buckets = ListInterner::new();
        self.buckets.intern(&[]);
        self.accepting = vec![false];
        self.bucket_subset = vec![0];
    }

    /// The subset with these members, which were a subset's members before [`Self::clear`].
    pub(crate) fn restore(&mut self, members: &[u32]) -> u32 {
        let (subset, new) = self.subsets.intern(members);
        if new {
            self.accepting.push(members.binary_search(&self.nfa.accept.0).is_ok());
        }
        subset
    }

    /// Heap bytes held.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.subsets.memory_bytes()
            + self.buckets.memory_bytes()
            + self.accepting.capacity()
            + 4 * (self.bucket_subset.capacity() + self.visited.capacity())
    }
}

fn visit(state: NfaStateId, visited: &mut [u32], round: u32, stack: &mut Vec<NfaStateId>) {
    let last = &mut visited[state.index()];
    if *last != round {
        *last = round;
        stack.push(state);
    }
}

//! A recogniser by definition: for each node and place, all places where it can end. Slow, and
//! recursive, but every line is a line of what the constructs mean.

use formwork_grammar::{Body, ExprId, Grammar, Node, Permute, Repeat, RuleId, Uniqueness};
use std::{
    collections::{BTreeSet, HashMap, HashSet},
    rc::Rc,
    sync::Arc,
};

type Ends = Rc<BTreeSet<usize>>;

struct Recogniser<'a> {
    grammar: &'a Grammar,
    text: &'a [u8],
    known: HashMap<(RuleId, ExprId, usize), Ends>,
}

/// Whether the text as a whole is in the language of the grammar, which must not be left-recursive.
pub(super) fn accepts(grammar: &Grammar, text: &[u8]) -> bool {
    let mut recogniser = Recogniser { grammar, text, known: HashMap::new() };
    recogniser.rule(grammar.root(), 0).contains(&text.len())
}

impl Recogniser<'_> {
    fn rule(&mut self, rule: RuleId, at: usize) -> Ends {
        let body = self.grammar.body(rule).expect("lowered");
        self.node(rule, &body, body.root(), at)
    }

    fn node(&mut self, rule: RuleId, body: &Arc<Body>, expr: ExprId, at: usize) -> Ends {
        if let Some(known) = self.known.get(&(rule, expr, at)) {
            return known.clone();
        }
        let ends: Ends = match &body[expr] {
            Node::Rule(callee) => self.rule(*callee, at),
            node => Rc::new(self.ends(rule, body, node, at)),
        };
        self.known.insert((rule, expr, at), ends.clone());
        ends
    }

    fn ends(&mut self, rule: RuleId, body: &Arc<Body>, node: &Node, at: usize) -> BTreeSet<usize> {
        let rest = &self.text[at..];
        match node {
            Node::Never => BTreeSet::new(),
            Node::Empty => BTreeSet::from([at]),
            Node::Literal(bytes) => {
                rest.starts_with(bytes).then_some(at + bytes.len()).into_iter().collect()
            }
            Node::Bytes(set) => {
                let first = rest.first().filter(|byte| set.contains(**byte));
                first.map(|_| at + 1).into_iter().collect()
            }
            Node::Automaton(dfa) => {
                let mut ends = BTreeSet::new();
                let mut state = dfa.start();
                for index in 0..=rest.len() {
                    if dfa.is_accepting(state) {
                        ends.insert(at + index);
                    }
                    if let Some(&byte) = rest.get(index) {
                        state = dfa.next(state, byte);
                    }
                }
                ends
            }
            Node::Seq(parts) => parts.iter().fold(BTreeSet::from([at]), |starts, &part| {
                self.after_all(rule, body, part, &starts)
            }),
            Node::Alt(choices) => {
                choices.iter().flat_map(|&c| (*self.node(rule, body, c, at)).clone()).collect()
            }
            Node::And(operands) => {
                let mut all = operands.iter().map(|&o| (*self.node(rule, body, o, at)).clone());
                let first = all.next().expect("two or more");
                all.fold(first, |both, ends| both.intersection(&ends).copied().collect())
            }
            Node::Repeat(Repeat { expr, min, max }) => {
                let mut starts = BTreeSet::from([at]);
                let mut ends = BTreeSet::new();
                // Nothing here repeats what can be empty, so every round goes on in the text.
                for count in 0..=max.unwrap_or(u32::MAX) {
                    if count >= *min {
                        ends.extend(&starts);
                    }
                    starts = self.after_all(rule, body, *expr, &starts);
                    if starts.is_empty() {
                        break;
                    }
                }
                ends
            }
            Node::Permute(permute) => self.permute(rule, body, permute, at),
            other => panic!("no schema becomes {other:?}"),
        }
    }

    /// Every order of members and rest items: which were met, which keys, where one can be.
    fn permute(
        &mut self,
        rule: RuleId,
        body: &Arc<Body>,
        permute: &Permute,
        at: usize,
    ) -> BTreeSet<usize> {
        type Met = (BTreeSet<usize>, BTreeSet<Vec<u8>>, u32, usize);
        let mut ends = BTreeSet::new();
        let mut pending: Vec<Met> = vec![(BTreeSet::new(), BTreeSet::new(), 0, at)];
        let mut seen: HashSet<Met> = HashSet::new();
        while let Some(met) = pending.pop() {
            if !seen.insert(met.clone()) {
                continue;
            }
            let (members, keys, count, at) = met;
            let required = permute.members.iter().enumerate().filter(|(_, member)| member.required);
            if count >= permute.min && required.clone().all(|(index, _)| members.contains(&index)) {
                ends.insert(at);
            }
            if permute.max == Some(count) {
                continue;
            }
            let starts = match count {
                0 => BTreeSet::from([at]),
                _ => (*self.node(rule, body, permute.separator, at)).clone(),
            };
            for &start in &starts {
                for (index, member) in permute.members.iter().enumerate() {
                    if members.contains(&index) {
                        continue;
                    }
                    let members = &members | &BTreeSet::from([index]);
                    for &end in &*self.node(rule, body, member.expr, start) {
                        pending.push((members.clone(), keys.clone(), count + 1, end));
                    }
                }
                let Some(rest) = permute.rest else { continue };
                for &middle in &*self.node(rule, body, rest.key, start) {
                    let mut keys = keys.clone();
                    let key = self.text[start..middle].to_vec();
                    if rest.uniqueness == Uniqueness::Distinct && !keys.insert(key) {
                        continue;
                    }
                    for &end in &*self.node(rule, body, rest.tail, middle) {
                        pending.push((members.clone(), keys.clone(), count + 1, end));
                    }
                }
            }
        }
        ends
    }

    fn after_all(
        &mut self,
        rule: RuleId,
        body: &Arc<Body>,
        expr: ExprId,
        starts: &BTreeSet<usize>,
    ) -> BTreeSet<usize> {
        starts.iter().flat_map(|&at| (*self.node(rule, body, expr, at)).clone()).collect()
    }
}

//! A recogniser by definition: for each node and place, all places where it can end. Slow, and
//! recursive, but every line is a line of what the constructs mean.

use formwork_grammar::{Body, ExprId, Grammar, Node, Repeat, RuleId};
use std::{
    collections::{BTreeSet, HashMap},
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
            other => panic!("no schema becomes {other:?}"),
        }
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

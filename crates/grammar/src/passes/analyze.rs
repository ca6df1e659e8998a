//! Pass 4: recursion. Strongly connected components of the rules, and which of them are regular.
//!
//! A component is *strongly regular* when all its rules are right-linear or all are left-linear in
//! the component's own rules (Mohri and Nederhof, "Regular approximation of context-free grammars
//! through transformation", 2001): then it generates a regular language, and an automaton of about
//! its own size does. A component that is neither may be regular all the same; that is undecidable
//! in general and not looked for.
//!
//! Rewrites nothing. Cost: linear in the size of the grammar (Tarjan's algorithm, iterative).

use super::Rules;
use crate::{Body, Node, Repeat, RuleId};

/// How a rule refers to the rules of its own component.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Linearity {
    /// Not at all.
    NonRecursive,
    /// Only as the last thing.
    Right,
    /// Only as the first thing.
    Left,
    /// Otherwise: in the middle, repeated, or under an operator that needs a regular operand.
    SelfEmbedding,
}

impl Linearity {
    /// Whether the rule generates a regular language as far as its own recursion goes.
    #[must_use]
    pub fn is_regular(self) -> bool {
        self != Self::SelfEmbedding
    }
}

/// What is known of every rule.
#[derive(Clone, Debug)]
pub struct Analysis {
    /// Components in an order in which referenced ones come first.
    pub components: Vec<Vec<RuleId>>,
    /// Component by rule.
    pub component_of: Vec<usize>,
    /// Linearity by rule; the same for all rules of a component.
    pub linearity: Vec<Linearity>,
    /// How often a rule is referred to, by nodes reachable in bodies (shared nodes count by use).
    pub references: Vec<u32>,
    /// By rule: whether it and everything it refers to is strongly regular: an *island*.
    pub regular: Vec<bool>,
}

impl Analysis {
    /// Whether a rule refers, however indirectly, to itself.
    #[must_use]
    pub fn is_recursive(&self, rule: RuleId) -> bool {
        self.linearity[rule.index()] != Linearity::NonRecursive
    }
}

/// Finds components and classifies them.
#[must_use]
pub fn analyze(rules: &Rules) -> Analysis {
    let (components, component_of) = components(rules);
    let mut linearity = vec![Linearity::NonRecursive; rules.len()];
    let mut regular = vec![true; rules.len()];
    for (index, component) in components.iter().enumerate() {
        let inside = |rule: RuleId| component_of[rule.index()] == index;
        let shapes = component.iter().map(|&rule| body_shape(rules.body(rule), &inside));
        let shape = shapes.fold(Shape::PLAIN, Shape::join).linearity();
        let callees_regular = component.iter().all(|&rule| {
            rules.body(rule).references().iter().all(|&r| inside(r) || regular[r.index()])
        });
        for &rule in component {
            linearity[rule.index()] = shape;
            regular[rule.index()] = shape.is_regular() && callees_regular;
        }
    }
    let references = count_references(rules);
    Analysis { components, component_of, linearity, references, regular }
}

/// How something refers to the rules of the component at hand.
#[derive(Clone, Copy)]
struct Shape {
    refers: bool,
    /// Only as the last thing; true when it does not refer at all.
    right: bool,
    /// Only as the first thing; likewise.
    left: bool,
}

impl Shape {
    const PLAIN: Self = Self { refers: false, right: true, left: true };
    const REFERENCE: Self = Self { refers: true, right: true, left: true };
    const EMBEDS: Self = Self { refers: true, right: false, left: false };

    fn join(self, other: Self) -> Self {
        Self {
            refers: self.refers || other.refers,
            right: self.right && other.right,
            left: self.left && other.left,
        }
    }

    fn linearity(self) -> Linearity {
        match self {
            Self { refers: false, .. } => Linearity::NonRecursive,
            Self { right: true, .. } => Linearity::Right,
            Self { left: true, .. } => Linearity::Left,
            _ => Linearity::SelfEmbedding,
        }
    }
}

/// Classifies the in-component references of one body, children before parents.
fn body_shape(body: &Body, inside: &dyn Fn(RuleId) -> bool) -> Shape {
    let mut shapes: Vec<Shape> = Vec::with_capacity(body.nodes().len());
    for node in body.nodes() {
        let shape = match node {
            Node::Rule(rule) if inside(*rule) => Shape::REFERENCE,
            Node::Seq(parts) => {
                let last = parts.len() - 1;
                let referring = parts.iter().map(|part| shapes[part.index()]).enumerate();
                referring.filter(|(_, part)| part.refers).fold(Shape::PLAIN, |shape, (at, part)| {
                    shape.join(Shape {
                        refers: true,
                        right: at == last && part.right,
                        left: at == 0 && part.left,
                    })
                })
            }
            Node::Alt(choices) => {
                let choices = choices.iter().map(|choice| shapes[choice.index()]);
                choices.fold(Shape::PLAIN, Shape::join)
            }
            Node::Annotated { expr, .. } | Node::Repeat(Repeat { expr, max: Some(1), .. }) => {
                shapes[expr.index()]
            }
            other => {
                let mut refers = false;
                other.for_each_child(|child| refers |= shapes[child.index()].refers);
                if refers { Shape::EMBEDS } else { Shape::PLAIN }
            }
        };
        shapes.push(shape);
    }
    *shapes.last().expect("a body has a root")
}

fn count_references(rules: &Rules) -> Vec<u32> {
    let mut references = vec![0_u32; rules.len()];
    for body in &rules.bodies {
        // Uses of a node: those of its parents, summed from the root down.
        let mut uses = vec![0_u32; body.nodes().len()];
        uses[body.root().index()] = 1;
        for (id, node) in body.iter().rev() {
            let count = uses[id.index()];
            node.for_each_child(|child| {
                let slot = &mut uses[child.index()];
                *slot = slot.saturating_add(count);
            });
            if let Node::Rule(rule) = node {
                let slot = &mut references[rule.index()];
                *slot = slot.saturating_add(count);
            }
        }
    }
    references
}

/// Tarjan, "Depth-first search and linear graph algorithms", SIAM J. Comput. 1(2), 1972, with an
/// explicit stack. Components are completed callees first.
fn components(rules: &Rules) -> (Vec<Vec<RuleId>>, Vec<usize>) {
    const UNSEEN: usize = usize::MAX;
    let references: Vec<Vec<RuleId>> = rules.bodies.iter().map(|body| body.references()).collect();
    let mut order = vec![UNSEEN; rules.len()];
    let mut low = vec![UNSEEN; rules.len()];
    let mut component_of = vec![UNSEEN; rules.len()];
    let mut components: Vec<Vec<RuleId>> = Vec::new();
    let mut open: Vec<RuleId> = Vec::new();
    let mut next = 0;
    for root in rules.ids() {
        if order[root.index()] != UNSEEN {
            continue;
        }
        let mut calls: Vec<(RuleId, usize)> = vec![(root, 0)];
        while let Some((rule, child)) = calls.last_mut() {
            let at = rule.index();
            if *child == 0 {
                order[at] = next;
                low[at] = next;
                next += 1;
                open.push(*rule);
            }
            if let Some(&reference) = references[at].get(*child) {
                *child += 1;
                if order[reference.index()] == UNSEEN {
                    calls.push((reference, 0));
                } else if component_of[reference.index()] == UNSEEN {
                    low[at] = low[at].min(order[reference.index()]);
                }
                continue;
            }
            if low[at] == order[at] {
                let start = open.iter().rposition(|&r| r == *rule).expect("opened above");
                let component = open.split_off(start);
                for member in &component {
                    component_of[member.index()] = components.len();
                }
                components.push(component);
            }
            let finished = low[at];
            calls.pop();
            if let Some((caller, _)) = calls.last() {
                let caller = caller.index();
                low[caller] = low[caller].min(finished);
            }
        }
    }
    (components, component_of)
}

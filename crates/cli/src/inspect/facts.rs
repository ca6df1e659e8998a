//! What there is to say of a constraint, and how it is printed.

use formwork::{CompiledGrammar, Stats, grammar::passes::Linearity};
use serde::{Serialize, Serializer, ser::SerializeMap};
use std::fmt;

/// Everything. Times are in microseconds, sizes in bytes.
#[derive(Debug, Serialize)]
pub(super) struct Facts {
    pub(super) constraint: &'static str,
    pub(super) warnings: Vec<String>,
    pub(super) vocabulary: VocabularyFacts,
    pub(super) grammar: GrammarFacts,
    /// The whole grammar as one automaton over bytes.
    pub(super) automaton: Outcome<AutomatonFacts>,
    pub(super) compiled: Outcome<CompiledFacts>,
    pub(super) times: Times,
}

/// Something, or why there is none.
#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case", untagged)]
pub(super) enum Outcome<T> {
    Done(T),
    Refused { refused: String },
}

/// What is computed once for all constraints.
#[derive(Debug, Serialize)]
pub(super) struct VocabularyFacts {
    pub(super) tokens: usize,
    pub(super) row_bits: usize,
    pub(super) longest_token: usize,
    pub(super) trie_nodes: usize,
    pub(super) trie_bytes: usize,
    pub(super) trie_us: f64,
    pub(super) class_rows: usize,
    pub(super) class_row_bytes: usize,
    pub(super) class_rows_us: f64,
}

/// The rules that the root needs, those left out that generate nothing.
#[derive(Debug, Serialize)]
pub(super) struct GrammarFacts {
    pub(super) rules: usize,
    pub(super) nodes: usize,
    pub(super) recursive_rules: usize,
    /// Rules that are strongly regular with everything they refer to.
    pub(super) regular_rules: usize,
    /// Whether the root is: the whole grammar is then one regular island.
    pub(super) one_island: bool,
    pub(super) rule: Vec<RuleFacts>,
}

#[derive(Debug, Serialize)]
pub(super) struct RuleFacts {
    pub(super) name: String,
    pub(super) nodes: usize,
    /// How often other rules and itself refer to it.
    pub(super) references: u32,
    pub(super) recursion: Recursion,
    pub(super) regular: bool,
}

/// How a rule refers to itself, however indirectly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Recursion {
    None,
    Right,
    Left,
    Embedding,
}

#[derive(Debug, Serialize)]
pub(super) struct AutomatonFacts {
    pub(super) states: usize,
    pub(super) accepting_states: usize,
    pub(super) byte_classes: usize,
    pub(super) bytes: usize,
}

#[derive(Debug, Serialize)]
pub(super) struct CompiledFacts {
    pub(super) backend: String,
    pub(super) bytes: usize,
    #[serde(serialize_with = "counters")]
    pub(super) counts: Stats,
    pub(super) first_mask_us: f64,
    pub(super) walk: Walk,
}

/// A generated text, and how much of it the constraint decided.
#[derive(Debug, Serialize)]
pub(super) struct Walk {
    pub(super) tokens: usize,
    pub(super) bytes: usize,
    /// Tokens that lie wholly inside bytes that were forced.
    pub(super) forced_tokens: usize,
    pub(super) forced_share: f64,
}

/// Time by phase.
#[derive(Debug, Default, Serialize)]
pub(super) struct Times {
    /// The text of the constraint to a grammar.
    pub(super) front_end_us: f64,
    /// Bodies of all rules.
    pub(super) lowering_us: f64,
    /// Pruning and analysis.
    pub(super) passes_us: f64,
    /// The automaton by itself, which not every backend builds.
    pub(super) automaton_us: f64,
    /// All that the backend does, after the bodies of the rules are known.
    pub(super) backend_us: f64,
    /// A matcher.
    pub(super) start_us: f64,
}

impl From<Linearity> for Recursion {
    fn from(linearity: Linearity) -> Self {
        match linearity {
            Linearity::NonRecursive => Self::None,
            Linearity::Right => Self::Right,
            Linearity::Left => Self::Left,
            Linearity::SelfEmbedding => Self::Embedding,
        }
    }
}

impl CompiledFacts {
    pub(super) fn new(
        backend: &str,
        compiled: &dyn CompiledGrammar,
        walk: Walk,
        first_mask_us: f64,
    ) -> Self {
        Self {
            backend: backend.to_owned(),
            bytes: compiled.memory_bytes(),
            counts: compiled.stats(),
            first_mask_us,
            walk,
        }
    }
}

/// Counters as an object, in their order.
fn counters<S: Serializer>(stats: &Stats, serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(stats.counters.len()))?;
    for counter in &stats.counters {
        map.serialize_entry(counter.name, &counter.value)?;
    }
    map.end()
}

/// Rules shown to people; JSON has all of them.
const SHOWN_RULES: usize = 20;

impl fmt::Display for Facts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "constraint  {}", self.constraint)?;
        for warning in &self.warnings {
            writeln!(f, "warning     {warning}")?;
        }
        writeln!(f, "grammar     {}", self.grammar)?;
        match &self.automaton {
            Outcome::Done(automaton) => writeln!(f, "automaton   {automaton}")?,
            Outcome::Refused { refused } => writeln!(f, "automaton   none: {refused}")?,
        }
        match &self.compiled {
            Outcome::Done(compiled) => writeln!(f, "compiled    {compiled}")?,
            Outcome::Refused { refused } => writeln!(f, "compiled    no: {refused}")?,
        }
        writeln!(f, "times       {}", self.times)?;
        write!(f, "vocabulary  {}", self.vocabulary)
    }
}

impl fmt::Display for GrammarFacts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} rules, {} nodes; {} rules recursive, {} strongly regular; {}",
            self.rules,
            self.nodes,
            self.recursive_rules,
            self.regular_rules,
            if self.one_island { "one regular island" } else { "not one regular island" }
        )?;
        for rule in self.rule.iter().take(SHOWN_RULES) {
            let recursion = match rule.recursion {
                Recursion::None => "",
                Recursion::Right => ", right-recursive",
                Recursion::Left => ", left-recursive",
                Recursion::Embedding => ", self-embedding",
            };
            let regular = if rule.regular { "regular" } else { "not regular" };
            let (name, nodes, references) = (&rule.name, rule.nodes, rule.references);
            write!(f, "\n  {name:<40} {nodes:>5} nodes, {references} uses, {regular}{recursion}")?;
        }
        match self.rule.len().checked_sub(SHOWN_RULES) {
            None | Some(0) => Ok(()),
            Some(more) => write!(f, "\n  and {more} more (--json has all)"),
        }
    }
}

impl fmt::Display for AutomatonFacts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} states ({} accepting), {} byte classes, {} bytes",
            self.states, self.accepting_states, self.byte_classes, self.bytes
        )
    }
}

impl fmt::Display for CompiledFacts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "by {}: {} bytes", self.backend, self.bytes)?;
        for counter in &self.counts.counters {
            write!(f, "\n  {:<20} {}", counter.name, counter.value)?;
        }
        write!(f, "\n  {:<20} {:.1} us", "first mask", self.first_mask_us)?;
        let walk = &self.walk;
        write!(
            f,
            "\n  {:<20} {:.0}% of {} generated tokens ({} bytes)",
            "forced",
            100.0 * walk.forced_share,
            walk.tokens,
            walk.bytes
        )
    }
}

impl fmt::Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "front end {:.0} us, lowering {:.0} us, passes {:.0} us, automaton {:.0} us, backend \
             {:.0} us, start {:.1} us",
            self.front_end_us,
            self.lowering_us,
            self.passes_us,
            self.automaton_us,
            self.backend_us,
            self.start_us
        )
    }
}

impl fmt::Display for VocabularyFacts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} tokens, {} bits a row; once: trie of {} nodes ({} bytes, {:.0} us), {} class rows \
             ({} bytes, {:.0} us)",
            self.tokens,
            self.row_bits,
            self.trie_nodes,
            self.trie_bytes,
            self.trie_us,
            self.class_rows,
            self.class_row_bytes,
            self.class_rows_us
        )
    }
}

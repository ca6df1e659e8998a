//! `formwork inspect`: what a constraint became, at what cost.
//!
//! Each part is made by itself and timed by itself, so that a constraint that the backend refuses
//! still shows its rules.

mod facts;
mod graph;
mod svg;

use crate::{args::Inspect, generate::decode, sampler::Sampler, summary::Summary};
use anyhow::{Context, Result};
use facts::{
    AutomatonFacts, CompiledFacts, Facts, GrammarFacts, Outcome, RuleFacts, Times, VocabularyFacts,
    Walk,
};
use formwork::{
    CancellationToken, CompileRequest, CompiledGrammar, Grammar, Limits, Prepared, RowId,
    SharedBackend, StartOptions, Vocabulary,
    automata::Dfa,
    grammar::{
        passes,
        regular::{self, BytesOnly, RegularError},
    },
    lower,
};
use graph::Graph;
use std::{
    io::{self, Write},
    path::Path,
    process::ExitCode,
    sync::Arc,
    time::Instant,
};

/// Runs the command.
pub(crate) fn run(arguments: &Inspect) -> Result<ExitCode> {
    let vocabulary = arguments.engine.vocabulary("o200k_base")?;
    let backend = arguments.engine.backend()?;
    let constraint = arguments.constraint.constraint()?;
    let options = arguments.constraint.options()?;
    let prepared = formwork::prepare(&vocabulary);
    let limits = Limits::default();
    let mut times = Times::default();
    let grammar =
        timed(&mut times.front_end_us, || lower(&constraint, &options, &limits)).map(Arc::new)?;
    let grammar_facts = grammar_facts(&grammar, &limits, &mut times)?;
    let cancellation = CancellationToken::new();
    let dfa = timed(&mut times.automaton_us, || {
        regular::dfa(&grammar, &BytesOnly, &limits, &cancellation)
    });
    draw(arguments, &dfa)?;
    if [&arguments.dot, &arguments.svg].into_iter().flatten().any(|path| is_standard(path)) {
        // The drawing has standard output to itself.
        return Ok(ExitCode::SUCCESS);
    }
    let vocabulary_facts = vocabulary_facts(&vocabulary, prepared);
    let request = CompileRequest::new(grammar.clone(), vocabulary);
    let facts = Facts {
        constraint: constraint.key(),
        warnings: grammar
            .warnings()
            .iter()
            .map(|warning| format!("{}: {}", warning.location, warning.message))
            .collect(),
        vocabulary: vocabulary_facts,
        grammar: grammar_facts,
        automaton: Outcome::new(dfa.as_ref().map(automaton_facts)),
        compiled: Outcome::new(compiled_facts(&backend, &request, arguments, &mut times)),
        times,
    };
    let mut output = io::stdout().lock();
    match arguments.json {
        true => writeln!(output, "{}", serde_json::to_string_pretty(&facts)?)?,
        false => writeln!(output, "{facts}")?,
    }
    Ok(ExitCode::SUCCESS)
}

impl<T> Outcome<T> {
    fn new<E: std::fmt::Display>(result: Result<T, E>) -> Self {
        match result {
            Ok(done) => Self::Done(done),
            Err(error) => Self::Refused { refused: format!("{error:#}") },
        }
    }
}

/// Runs `work` and says how long it took, in microseconds.
fn timed<T>(microseconds: &mut f64, work: impl FnOnce() -> T) -> T {
    let started = Instant::now();
    let done = work();
    *microseconds = started.elapsed().as_secs_f64() * 1e6;
    done
}

fn grammar_facts(grammar: &Grammar, limits: &Limits, times: &mut Times) -> Result<GrammarFacts> {
    let rules = timed(&mut times.lowering_us, || passes::reach(grammar, limits))?;
    let mut fuel = limits.fuel(&CancellationToken::new());
    let pruned = timed(&mut times.passes_us, || {
        let rules = passes::prune_unproductive(&rules, &mut fuel)?;
        let analysis = passes::analyze(&rules);
        anyhow::Ok((rules, analysis))
    });
    let (rules, analysis) = pruned?;
    let facts = rules.ids().map(|rule| RuleFacts {
        name: rules.names[rule.index()].to_string(),
        nodes: rules.body(rule).nodes().len(),
        references: analysis.references[rule.index()],
        recursion: analysis.linearity[rule.index()].into(),
        regular: analysis.regular[rule.index()],
    });
    let facts: Vec<RuleFacts> = facts.collect();
    Ok(GrammarFacts {
        rules: facts.len(),
        nodes: facts.iter().map(|rule| rule.nodes).sum(),
        recursive_rules: rules.ids().filter(|&rule| analysis.is_recursive(rule)).count(),
        regular_rules: facts.iter().filter(|rule| rule.regular).count(),
        one_island: facts.first().is_some_and(|root| root.regular),
        rule: facts,
    })
}

fn automaton_facts(dfa: &Dfa) -> AutomatonFacts {
    AutomatonFacts {
        states: dfa.live_states().count(),
        accepting_states: dfa.live_states().filter(|&state| dfa.is_accepting(state)).count(),
        byte_classes: dfa.classes().count(),
        bytes: dfa.memory_bytes(),
    }
}

fn vocabulary_facts(vocabulary: &Vocabulary, prepared: Prepared) -> VocabularyFacts {
    VocabularyFacts {
        tokens: vocabulary.tokenizer_len(),
        row_bits: vocabulary.model_len(),
        longest_token: vocabulary.longest_token(),
        trie_nodes: prepared.trie_nodes,
        trie_bytes: prepared.trie_bytes,
        trie_us: prepared.trie_time.as_secs_f64() * 1e6,
        class_rows: prepared.class_rows,
        class_row_bytes: prepared.class_row_bytes,
        class_rows_us: prepared.class_row_time.as_secs_f64() * 1e6,
    }
}

fn compiled_facts(
    backend: &SharedBackend,
    request: &CompileRequest,
    arguments: &Inspect,
    times: &mut Times,
) -> Result<CompiledFacts> {
    let compiled = timed(&mut times.backend_us, || backend.compile_blocking(request))?;
    let mut matcher =
        timed(&mut times.start_us, || compiled.clone().start(&StartOptions::default()))?;
    let mut row = vec![0; matcher.vocabulary().row_words()];
    let mut first_mask_us = 0.0;
    timed(&mut first_mask_us, || matcher.fill_bitmask(&mut row, RowId::NONE))?;
    let walk = walk(&compiled, arguments)?;
    Ok(CompiledFacts::new(backend.name(), &*compiled, walk, first_mask_us))
}

/// Generates a text and throws it away.
fn walk(compiled: &Arc<dyn CompiledGrammar>, arguments: &Inspect) -> Result<Walk> {
    let mut matcher = compiled.clone().start(&StartOptions::default())?;
    let mut sampler = Sampler::new(matcher.vocabulary(), arguments.seed);
    let mut summary = Summary::default();
    decode(&mut *matcher, &mut sampler, arguments.steps, &mut io::sink(), &mut summary)?;
    Ok(Walk {
        tokens: summary.tokens,
        bytes: summary.bytes,
        forced_tokens: summary.forced_tokens,
        forced_share: summary.forced_tokens as f64 / summary.tokens.max(1) as f64,
    })
}

fn draw(arguments: &Inspect, dfa: &Result<Dfa, RegularError>) -> Result<()> {
    if arguments.dot.is_none() && arguments.svg.is_none() {
        return Ok(());
    }
    let dfa = dfa.as_ref().map_err(Clone::clone).context("there is no automaton to draw")?;
    let graph = Graph::new(dfa, arguments.max_states)?;
    if let Some(path) = &arguments.dot {
        write_to(path, &graph.dot())?;
    }
    if let Some(path) = &arguments.svg {
        write_to(path, &svg::svg(&graph).context("this automaton cannot be drawn")?)?;
    }
    Ok(())
}

fn is_standard(path: &Path) -> bool {
    path == Path::new("-")
}

fn write_to(path: &Path, text: &str) -> Result<()> {
    if is_standard(path) {
        return Ok(io::stdout().write_all(text.as_bytes())?);
    }
    std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

#[cfg(test)]
mod tests;

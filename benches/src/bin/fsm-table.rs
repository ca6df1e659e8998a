//! The table of a published study of automata in an inference engine: four schemas of given numbers
//! of states, Llama-3 vocabulary, time and memory of the compile.
//!
//! The study's schemas are not public; the ones here have as many states (white space as an optional
//! space, the way of that engine). Its figures are printed beside ours, so the ratio crosses
//! machines: read it as an order of magnitude. What is computed once per vocabulary is listed apart.

use anyhow::{Context, Result, bail};
use formwork::{
    CompileRequest, FrontEndOptions, Limits, StructuredOutputBackend, Vocabulary,
    dfa::DfaBackend,
    json_schema::{self, WhiteSpace},
};
use std::{sync::Arc, time::Instant};

/// A row of the study.
struct Study {
    name: &'static str,
    schema: &'static str,
    states: u64,
    milliseconds: f64,
    megabytes: f64,
}

const STUDY: [Study; 4] = [
    Study {
        name: "flat object",
        schema: include_str!("../../data/fsm/flat.json"),
        states: 87,
        milliseconds: 42.0,
        megabytes: 1.4,
    },
    Study {
        name: "nested object",
        schema: include_str!("../../data/fsm/nested.json"),
        states: 340,
        milliseconds: 168.0,
        megabytes: 5.4,
    },
    Study {
        name: "array of objects",
        schema: include_str!("../../data/fsm/array.json"),
        states: 1_240,
        milliseconds: 612.0,
        megabytes: 19.8,
    },
    Study {
        name: "tool call",
        schema: include_str!("../../data/fsm/tool.json"),
        states: 890,
        milliseconds: 440.0,
        megabytes: 14.2,
    },
];

/// Runs of which the shortest counts.
const RUNS: usize = 5;

#[expect(clippy::print_stdout, reason = "the table is this program's output")]
fn main() -> Result<()> {
    let path = std::env::var_os("FORMWORK_VOCAB")
        .context("FORMWORK_VOCAB must name a raw vocabulary table")?;
    let file = std::fs::File::open(&path)?;
    let vocabulary = Arc::new(formwork_tokenizers::raw_table(std::io::BufReader::new(file))?);
    let started = Instant::now();
    vocabulary.trie();
    let trie = started.elapsed();
    let started = Instant::now();
    let slices = formwork_slices::Slices::of(&vocabulary);
    let classes = started.elapsed();
    println!(
        "once per vocabulary: trie {:.1} ms, {:.1} MB; {} class rows {:.1} ms, {:.1} MB\n",
        trie.as_secs_f64() * 1e3,
        vocabulary.trie().memory_bytes() as f64 / 1e6,
        slices.all().len(),
        classes.as_secs_f64() * 1e3,
        slices.memory_bytes() as f64 / 1e6,
    );
    println!(
        "schema              states  (study)      ms  (study)  ratio       MB  (study)  ratio"
    );
    for study in &STUDY {
        let measured = measure(study, &vocabulary)?;
        println!(
            "{:18} {:7} {:8} {:7.2} {:8.0} {:6.3} {:8.3} {:8.1} {:6.3}",
            study.name,
            measured.states,
            study.states,
            measured.milliseconds,
            study.milliseconds,
            measured.milliseconds / study.milliseconds,
            measured.megabytes,
            study.megabytes,
            measured.megabytes / study.megabytes,
        );
    }
    Ok(())
}

struct Measured {
    states: u64,
    milliseconds: f64,
    megabytes: f64,
}

/// From the schema's text to a compiled grammar.
fn measure(study: &Study, vocabulary: &Arc<Vocabulary>) -> Result<Measured> {
    let mut options = json_schema::Options::default();
    options.white_space = WhiteSpace::Pattern("[ ]?".into());
    let mut front_ends = FrontEndOptions::default();
    front_ends.json_schema = options;
    let limits = Limits::default();
    let mut shortest = f64::INFINITY;
    let mut compiled = None;
    for _ in 0..RUNS {
        let started = Instant::now();
        let constraint = formwork::Constraint::JsonSchema(study.schema.into());
        let grammar = Arc::new(formwork::lower(&constraint, &front_ends, &limits)?);
        let request = CompileRequest::new(grammar, vocabulary.clone());
        compiled = Some(DfaBackend.compile_blocking(&request)?);
        shortest = shortest.min(started.elapsed().as_secs_f64() * 1e3);
    }
    let compiled = compiled.context("no run")?;
    let stats = compiled.stats();
    let Some(states) = stats.counters.iter().find(|counter| counter.name == "states") else {
        bail!("the backend counts no states");
    };
    if states.value.abs_diff(study.states) * 10 > study.states {
        bail!("{}: {} states, where the study has {}", study.name, states.value, study.states);
    }
    Ok(Measured {
        states: states.value,
        milliseconds: shortest,
        megabytes: compiled.memory_bytes() as f64 / 1e6,
    })
}

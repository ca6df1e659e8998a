//! Measures Formwork beside its peers: one process, one thread, the same cases, in turns.
//!
//! Reading order: `engine` (what is asked of an engine), `measure` (the protocol), `outcome` (what
//! is kept), `summary` (what is shown); `engines` for how each one is driven.

mod args;
mod charts;
mod engine;
mod engines;
mod input;
mod measure;
mod outcome;
mod probe;
mod report;
mod statistics;
mod summary;
mod table;
mod tools;
mod vocabulary;

use anyhow::{Context, Result};
use args::Args;
use clap::Parser;
use engine::Engine;
use engines::Ready;
use input::{Case, Choice};
use measure::Protocol;
use outcome::Outcome;
use probe::Probe;
use report::Setting;
use std::{
    collections::HashMap,
    fs::{self, File},
    io::{BufWriter, Write, stderr, stdout},
    time::{Duration, Instant},
};
use summary::Group;
use vocabulary::Vocabularies;

fn main() -> Result<()> {
    let args = Args::parse();
    // Engines that share work out among threads get one, and it is this one.
    rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build_global()?;
    // A panic of an engine is an outcome; its words are in the results.
    std::panic::set_hook(Box::new(|_| {}));
    let vocabularies = Vocabularies::load(&args.vocab)?;
    let sets = sets(&args, &vocabularies)?;
    if let Some(name) = &args.answer_probes_for {
        let ready = engines::build(&vocabularies, std::slice::from_ref(name))?;
        let engines: Vec<Box<dyn Engine>> = ready.into_iter().map(|ready| ready.engine).collect();
        return probe::answer(&engines, &sets, &protocol(&args, &vocabularies));
    }
    let ready = engines::build(&vocabularies, &args.engines)?;
    let about = |ready: &Ready| {
        let milliseconds = ready.preparation.as_millis();
        let about = ready.engine.about();
        let about = format!("{about}; vocabulary prepared in {milliseconds} ms");
        (ready.engine.name().to_owned(), about)
    };
    let mut facts: Vec<(String, String)> = ready.iter().map(about).collect();
    let engines: Vec<Box<dyn Engine>> = ready.into_iter().map(|ready| ready.engine).collect();
    let protocol = protocol(&args, &vocabularies);
    let names: Vec<&str> = engines.iter().map(|engine| engine.name()).collect();
    let is_probed = |name: &&&str| args.probe.is_empty() || args.probe.iter().any(|p| p == **name);
    let probed = names.iter().filter(is_probed);
    let mut probes: Vec<Probe> = probed.map(|name| Probe::new(name, args.allowance())).collect();
    fs::create_dir_all(&args.out).with_context(|| format!("cannot make {}", args.out.display()))?;
    let mut results = BufWriter::new(File::create(args.out.join("results.jsonl"))?);
    let mut measured = Vec::new();
    for (number, (name, cases)) in sets.iter().enumerate() {
        let outcomes =
            measure_set(&engines, (number, cases), &mut probes, &protocol, &mut results)?;
        measured.push((*name, outcomes));
    }
    facts.extend(facts_of_run(&sets, &protocol, &args));
    let setting = Setting { facts };
    let group = |(name, outcomes)| Group { name, engines: names.clone(), outcomes };
    let groups: Vec<Group<'_>> =
        measured.iter().map(|(name, outcomes)| group((*name, outcomes.as_slice()))).collect();
    fs::write(args.out.join("report.html"), report::page(&setting, &groups)?)?;
    let tables = groups.iter().flat_map(Group::tables);
    for table in [setting.table()].into_iter().chain(tables) {
        writeln!(stdout(), "{}", table.to_text())?;
    }
    Ok(())
}

fn protocol(args: &Args, vocabularies: &Vocabularies) -> Protocol {
    Protocol {
        runs: args.runs.into(),
        time_limit: args.allowance().time,
        caps: args.caps(),
        row_words: vocabularies.own.row_words(),
        eos: vocabularies.eos,
    }
}

/// The cases the arguments name, in sets with a name.
fn sets(args: &Args, vocabularies: &Vocabularies) -> Result<Vec<(&'static str, Vec<Case>)>> {
    let mut sets = Vec::new();
    if let Some(path) = &args.cases {
        sets.push(("Schemas", input::schemas(path, &args.choice()?)?));
    }
    if let Some(path) = &args.regexes {
        sets.push(("Regular expressions", input::regexes(path, &Choice::All, vocabularies)?));
    }
    if let Some(path) = &args.grammatical.grammars {
        sets.push(("Grammars", input::grammars(path, vocabularies)?));
    }
    if let Some(path) = &args.grammatical.tools {
        let schemas = input::schemas(path, &args.tools())?;
        sets.push(("Tools", vec![tools::case(&schemas, vocabularies)?]));
    }
    Ok(sets)
}

fn measure_set(
    engines: &[Box<dyn Engine>],
    (number, cases): (usize, &[Case]),
    probes: &mut [Probe],
    protocol: &Protocol,
    results: &mut impl Write,
) -> Result<Vec<Outcome>> {
    const SIGN_OF_LIFE: Duration = Duration::from_secs(10);
    let mut said = Instant::now();
    let mut outcomes = Vec::with_capacity(engines.len() * cases.len());
    for (place, case) in cases.iter().enumerate() {
        let mut stopped = HashMap::new();
        for probe in probes.iter_mut() {
            if protocol.caps_out(probe.engine(), case) {
                continue;
            }
            if let Some(excess) = probe.try_case(number, place)? {
                stopped.insert(probe.engine(), excess);
            }
        }
        for outcome in measure::case(engines, (case, place), &stopped, protocol) {
            serde_json::to_writer(&mut *results, &outcome)?;
            writeln!(results)?;
            outcomes.push(outcome);
        }
        // A case that ends the process, by memory for one, is the one after the last line written.
        results.flush()?;
        if said.elapsed() > SIGN_OF_LIFE {
            writeln!(stderr(), "{} of {} cases", place + 1, cases.len())?;
            said = Instant::now();
        }
    }
    Ok(outcomes)
}

/// What a reader of the figures should know, as names and sentences.
fn facts_of_run(
    sets: &[(&str, Vec<Case>)],
    protocol: &Protocol,
    args: &Args,
) -> Vec<(String, String)> {
    let mut facts = Vec::new();
    for (name, cases) in sets {
        facts.push(((*name).to_owned(), format!("{} cases", cases.len())));
    }
    let mut fact = |name: &str, text: String| facts.push((name.to_owned(), text));
    if args.choice().is_ok_and(|choice| matches!(choice, Choice::Sample { .. })) {
        fact("sample", format!("of the schemas, seed {}", args.seed));
    }
    fact("runs", format!("the shortest of {}", protocol.runs));
    let limit = protocol.time_limit.as_secs_f64();
    fact("time limit", format!("{limit} s, then no further run"));
    let gibibytes = args.allowance().memory_bytes >> 30;
    let probed = match args.probe.is_empty() {
        true => "any engine".into(),
        false => args.probe.join(", "),
    };
    fact("stopped", format!("{probed}: after {limit} s or {gibibytes} GiB, in a second process"));
    fact("clock", format!("an empty timed region: {:.0} ns", measure::clock_ns()));
    if std::env::var_os("RUST_BACKTRACE").is_some() {
        fact("careful", "RUST_BACKTRACE is set: it makes refusals slow".into());
    }
    fact("processor", processor().unwrap_or_else(|| "unknown".into()));
    facts
}

/// The processor's name and the load of the last minutes, where the system tells them.
fn processor() -> Option<String> {
    let info = fs::read_to_string("/proc/cpuinfo").ok()?;
    let model = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let load = fs::read_to_string("/proc/loadavg").ok()?;
    let load = load.split(' ').take(3).collect::<Vec<_>>().join(" ");
    Some(format!("{}; load at the end {load}", model.map_or("unnamed", |(_, name)| name)))
}

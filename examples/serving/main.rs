//! A serving loop without a model: what constraints add to a step.
//!
//! Requests come and go (continuous batching). A forward pass is a time span on another thread,
//! asleep or busy; rows are filled meanwhile, and what that takes beyond the pass is added to the
//! step, as is what accepting takes. The model takes allowed tokens at random; it is given drafts
//! that are right about half of the time.
//!
//! ```text
//! cargo run --release -p formwork-examples --example serving -- requests=64 forward_us=10000 \
//!     steps=300 drafts=0 pass=asleep fresh=0 conformance/real/*.json
//! ```
//! Files hold a schema, or a list of objects that have one under `schema`. One request in `fresh`
//! has a schema that nobody has seen (0: none has). One in 50 is given up half-way.

mod device;
mod model;

use anyhow::{Context, ensure};
use device::{Device, Pass};
use formwork::{Constraint, Vocabulary};
use formwork_engine::{Engine, EngineConfig, Request, RequestSpec, Slot, Status, Step};
use formwork_examples::say;
use model::{Random, drafts_of, pick};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

/// What is simulated.
#[derive(Debug)]
struct Setting {
    requests: usize,
    forward: Duration,
    steps: usize,
    drafts: usize,
    pass: Pass,
    fresh: u64,
    schemas: Vec<String>,
}

impl Setting {
    fn read() -> anyhow::Result<Self> {
        let mut setting = Self {
            requests: 64,
            forward: Duration::from_millis(10),
            steps: 300,
            drafts: 0,
            pass: Pass::Asleep,
            fresh: 0,
            schemas: Vec::new(),
        };
        for argument in std::env::args().skip(1) {
            match argument.split_once('=') {
                Some(("requests", value)) => setting.requests = value.parse()?,
                Some(("forward_us", value)) => {
                    setting.forward = Duration::from_micros(value.parse()?);
                }
                Some(("steps", value)) => setting.steps = value.parse()?,
                Some(("drafts", value)) => setting.drafts = value.parse()?,
                Some(("fresh", value)) => setting.fresh = value.parse()?,
                Some(("pass", "asleep")) => setting.pass = Pass::Asleep,
                Some(("pass", "busy")) => setting.pass = Pass::Busy,
                _ => read_schemas(&argument, &mut setting.schemas)?,
            }
        }
        ensure!(!setting.schemas.is_empty(), "no schema was given");
        Ok(setting)
    }
}

/// The schemas of a file.
fn read_schemas(path: &str, schemas: &mut Vec<String>) -> anyhow::Result<()> {
    let text = std::fs::read_to_string(path).with_context(|| path.to_owned())?;
    let value: serde_json::Value = serde_json::from_str(&text).with_context(|| path.to_owned())?;
    match value.as_array() {
        Some(list) => {
            let found = list.iter().filter_map(|entry| entry.get("schema"));
            schemas.extend(found.map(ToString::to_string));
        }
        None => schemas.push(value.get("schema").map_or(text, ToString::to_string)),
    }
    Ok(())
}

/// A sequence of the batch.
struct Sequence {
    request: Request,
    /// Tokens until it is over, whatever the constraint says.
    left: usize,
    draft: Vec<i32>,
    /// Whether it takes part in this step.
    is_ready: bool,
}

/// What the steps took.
#[derive(Default)]
struct Times {
    step: Vec<Duration>,
    fill: Vec<Duration>,
    added: Vec<Duration>,
    tokens: u64,
    rows: u64,
    failed: u64,
}

struct Server {
    engine: Engine,
    setting: Setting,
    random: Random,
    made: u64,
}

impl Server {
    /// A new sequence. What nobody has seen is a schema with one more definition.
    fn sequence(&mut self, is_constrained: bool) -> Sequence {
        self.made += 1;
        let schema = &self.setting.schemas[self.random.below(self.setting.schemas.len())];
        let is_fresh = self.setting.fresh > 0 && self.made.is_multiple_of(self.setting.fresh);
        let schema = match (is_fresh, schema.rfind('}')) {
            (true, Some(end)) => {
                let unseen = format!(",\"$defs\":{{\"unseen{}\":true}}}}", self.made);
                format!("{}{unseen}", &schema[..end])
            }
            _ => schema.clone(),
        };
        let spec = match is_constrained {
            true => RequestSpec::new(Constraint::JsonSchema(schema)),
            false => RequestSpec::unconstrained(),
        };
        let given_up = self.random.below(50) == 0;
        let left = if given_up { 20 } else { 40 + self.random.below(200) };
        let request = self.engine.request(spec);
        Sequence { request, left, draft: Vec::new(), is_ready: false }
    }

    fn run(&mut self, is_constrained: bool) -> Times {
        let (rows, width) = (self.setting.drafts + 1, self.engine.vocabulary().row_words());
        let mut sequences: Vec<Sequence> =
            (0..self.setting.requests).map(|_| self.sequence(is_constrained)).collect();
        let mut words = vec![0; self.setting.requests * rows * width];
        let mut step = Step::new(self.setting.drafts);
        let device = Device::start(self.setting.pass, self.setting.forward);
        let mut times = Times::default();
        for _ in 0..self.setting.steps {
            let started = Instant::now();
            device.launch();
            let filled = self.fill(&mut sequences, &mut words, &mut step, &mut times);
            device.wait();
            let passed = Instant::now();
            let picked = self.choose(&sequences, &words, rows * width);
            let sampled = Instant::now();
            for (sequence, tokens) in sequences.iter_mut().zip(&picked) {
                sequence.request.accept_tokens(tokens).ok();
                sequence.left = sequence.left.saturating_sub(tokens.len().max(1));
                times.tokens += tokens.len() as u64;
            }
            let accepted = sampled.elapsed();
            let late = filled.saturating_sub(self.setting.forward);
            times.fill.push(filled);
            times.added.push(late + accepted);
            times.step.push(passed.duration_since(started) + accepted);
            self.replace(&mut sequences, is_constrained, &mut times);
        }
        times
    }

    /// Fills all rows; those of sequences that wait are nobody's.
    fn fill(
        &mut self,
        sequences: &mut [Sequence],
        words: &mut [i32],
        step: &mut Step,
        times: &mut Times,
    ) -> Duration {
        for sequence in sequences.iter_mut() {
            sequence.is_ready = matches!(sequence.request.poll(), Status::Ready);
            sequence.draft = match sequence.is_ready && self.setting.drafts > 0 {
                true => drafts_of(&mut sequence.request, self.setting.drafts, &mut self.random),
                false => Vec::new(),
            };
        }
        let mut slots: Vec<Slot<'_>> = sequences
            .iter_mut()
            .map(|Sequence { request, draft, is_ready, .. }| Slot {
                request: is_ready.then_some(request),
                draft,
            })
            .collect();
        let started = Instant::now();
        self.engine.fill_batch(&mut slots, words, step);
        let took = started.elapsed();
        times.rows += step.needs_apply().iter().filter(|&&needs| needs).count() as u64;
        took
    }

    /// What the model says.
    fn choose(
        &mut self,
        sequences: &[Sequence],
        words: &[i32],
        words_per_slot: usize,
    ) -> Vec<Vec<formwork::TokenId>> {
        let width = self.engine.vocabulary().row_words();
        let known = self.engine.vocabulary().tokenizer_len();
        let chunks = sequences.iter().zip(words.chunks(words_per_slot));
        chunks
            .map(|(sequence, rows)| match sequence.is_ready {
                true => pick(&rows[..width], known, &mut self.random).into_iter().collect(),
                false => Vec::new(),
            })
            .collect()
    }

    /// What has ended makes room.
    fn replace(&mut self, sequences: &mut [Sequence], is_constrained: bool, times: &mut Times) {
        for sequence in sequences {
            let is_failed = matches!(sequence.request.poll(), Status::Failed(_));
            times.failed += u64::from(is_failed);
            if is_failed || sequence.left == 0 || sequence.request.is_terminated() {
                *sequence = self.sequence(is_constrained);
            }
        }
    }
}

fn share(times: &mut [Duration], percent: usize) -> Duration {
    times.sort_unstable();
    times[(times.len() * percent / 100).min(times.len() - 1)]
}

fn report(name: &str, mut times: Times) -> anyhow::Result<()> {
    for (what, times) in [
        ("step", &mut times.step),
        ("rows", &mut times.fill),
        ("added to the step", &mut times.added),
    ] {
        let [half, most, all] = [50, 99, 100].map(|percent| share(times, percent));
        say(format_args!(
            "{name:14} {what:18} p50 {half:>9.1?}  p99 {most:>9.1?}  max {all:>9.1?}"
        ))?;
    }
    let Times { rows, tokens, failed, fill, .. } = times;
    say(format_args!("{name:14} {rows} constrained rows, {tokens} tokens, {failed} failed"))?;
    if rows > 0 {
        let total: Duration = fill.iter().sum();
        let each = total.checked_div(u32::try_from(rows)?).unwrap_or_default();
        say(format_args!("{name:14} {each:.2?} a constrained row"))?;
    }
    Ok(())
}

fn main() -> anyhow::Result<()> {
    let setting = Setting::read()?;
    let vocabulary: Arc<Vocabulary> = formwork_tokenizers::o200k_base()?;
    let engine = Engine::new(EngineConfig::default(), vocabulary)?;
    let mut server = Server { engine, setting, random: Random::new(1), made: 0 };
    report("unconstrained", server.run(false))?;
    report("cold", server.run(true))?;
    report("warm", server.run(true))?;
    say(format_args!("{:#?}", server.engine.stats()))?;
    Ok(())
}

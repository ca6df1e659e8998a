//! The configuration: one structure, read from TOML or JSON.
//!
//! Every field has a default, and a field that nobody knows is an error, so that a misspelt one is
//! not passed over.

use formwork::{FrontEndOptions, Limits, OptionError};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::{collections::BTreeMap, thread, time::Duration};

/// Everything about an engine that is chosen, but for the vocabulary and the backends, which are
/// values of the program.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct EngineConfig {
    /// Which backend compiles, unless a request says otherwise.
    pub backend: BackendChoice,
    /// What `auto` expects of a constraint.
    pub demand: Demand,
    /// When a constraint is compiled once more, for speed.
    pub tiers: TierConfig,
    /// What compiled constraints may hold.
    pub cache: CacheConfig,
    /// Who compiles, and for how long.
    pub pool: PoolConfig,
    /// How rows of a batch are filled.
    pub step: StepConfig,
    /// What one constraint may cost.
    pub limits: LimitsConfig,
    /// Options of the front ends by name, as [`FrontEndOptions::set`] takes them: white space,
    /// spelling, dialects.
    pub options: OptionValues,
}

/// Options of the front ends by name.
pub type OptionValues = BTreeMap<String, Value>;

/// Which backend compiles a constraint. In text `"auto"` or the name of a registered backend.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum BackendChoice {
    /// Whichever is expected to cost least; see [`Backends`](crate::Backends).
    #[default]
    Auto,
    /// This one, and no other in its place.
    Named(String),
}

impl From<String> for BackendChoice {
    fn from(name: String) -> Self {
        match name.as_str() {
            "auto" => Self::Auto,
            _ => Self::Named(name),
        }
    }
}

impl From<BackendChoice> for String {
    fn from(choice: BackendChoice) -> Self {
        match choice {
            BackendChoice::Auto => "auto".to_owned(),
            BackendChoice::Named(name) => name,
        }
    }
}

/// How much a constraint is expected to be used, over which the cost of compiling is spread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Demand {
    /// Requests with the same constraint. Default 4.
    pub uses: u64,
    /// Tokens of one output. Default 200.
    pub tokens: u64,
}

impl Default for Demand {
    fn default() -> Self {
        Self { uses: 4, tokens: 200 }
    }
}

/// When a constraint that proved hot is compiled for a backend with quicker steps. Under `auto`
/// only.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct TierConfig {
    /// Whether there are tiers.
    pub mode: TierMode,
    /// The backend that everything starts on. Default `earley`, which has next to nothing to
    /// compile.
    pub start: String,
    /// Requests after which a constraint is hot. Default 8.
    pub uses: u64,
    /// Tokens, of all requests together, after which a constraint is hot. Default 2,000; not looked
    /// at in [`TierMode::Deterministic`].
    pub tokens: u64,
    /// Tokens of one output past which it stays where it is: moving replays them all, about a
    /// microsecond each. Default 4,096.
    pub replay_tokens: usize,
}

/// Whether there are tiers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TierMode {
    /// No: what `auto` chooses stays.
    Off,
    /// A hot constraint is compiled in the background; running requests move over at their next
    /// step, new ones start there.
    #[default]
    Background,
    /// The request that makes a constraint hot waits for the second compile, and no running request
    /// moves. Which backend a request is on is then a function of the requests before it, the same
    /// for all ranks that see the same requests in the same order.
    Deterministic,
}

impl Default for TierConfig {
    fn default() -> Self {
        Self {
            mode: TierMode::default(),
            start: "earley".to_owned(),
            uses: 8,
            tokens: 2_000,
            replay_tokens: 4_096,
        }
    }
}

/// What compiled constraints may hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct CacheConfig {
    /// Heap bytes of everything that is kept: compiled constraints, keys, failures. Default
    /// 512 MiB. What running requests hold beyond that is theirs.
    pub bytes: usize,
}

impl Default for CacheConfig {
    fn default() -> Self {
        Self { bytes: 512 << 20 }
    }
}

/// Who compiles, and for how long.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct PoolConfig {
    /// Whether a request waits for its constraint where it is made.
    pub mode: CompileMode,
    /// Threads that compile; 0, the default, is half the cores.
    pub threads: usize,
    /// Cores that one compile may use where a backend works in parallel. Default 1: compiles do
    /// not take more cores than there are threads, and one large one does not hold up others.
    pub cores_per_compile: usize,
    /// Milliseconds that one compile may take, from its start. Default 30,000.
    pub deadline_ms: u64,
    /// Milliseconds that validating may take. Default 5,000.
    pub validation_deadline_ms: u64,
    /// Compiles that may wait for a thread; one more is refused. Default 10,000.
    pub queue: usize,
}

/// Whether a request waits for its constraint where it is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CompileMode {
    /// No: it is ready later.
    #[default]
    Background,
    /// Yes, for ranks that must not diverge: the constraint is compiled on the caller's thread.
    Synchronous,
}

impl Default for PoolConfig {
    fn default() -> Self {
        Self {
            mode: CompileMode::default(),
            threads: 0,
            cores_per_compile: 1,
            deadline_ms: 30_000,
            validation_deadline_ms: 5_000,
            queue: 10_000,
        }
    }
}

impl PoolConfig {
    /// How many threads compile.
    #[must_use]
    pub fn thread_count(&self) -> usize {
        match self.threads {
            0 => (cores() / 2).max(1),
            threads => threads,
        }
    }

    /// What one compile may take.
    #[must_use]
    pub fn deadline(&self) -> Duration {
        Duration::from_millis(self.deadline_ms)
    }

    /// What validating may take.
    #[must_use]
    pub fn validation_deadline(&self) -> Duration {
        Duration::from_millis(self.validation_deadline_ms)
    }
}

fn cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// How rows of a batch are filled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct StepConfig {
    /// Threads that fill rows, the caller's own not counted; 0, the default, is half the cores.
    /// They are not those that compile.
    pub threads: usize,
    /// Constrained rows from which on they are filled in parallel; fewer are filled on the caller's
    /// thread. Default 64: waking a thread costs about as much as 30 warm rows.
    pub parallel_rows: usize,
}

impl Default for StepConfig {
    fn default() -> Self {
        Self { threads: 0, parallel_rows: 64 }
    }
}

impl StepConfig {
    /// How many threads fill rows.
    #[must_use]
    pub fn thread_count(&self) -> usize {
        match self.threads {
            0 => (cores() / 2).max(1),
            threads => threads,
        }
    }
}

/// [`Limits`], those that are given; the others are the defaults.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
#[expect(missing_docs, reason = "each is the field of the same name of `Limits`")]
pub struct LimitsConfig {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_bytes: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nesting: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rules: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodes: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub automaton_states: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub automaton_steps: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compiled_bytes: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mask_steps: Option<u64>,
}

impl LimitsConfig {
    /// The limits meant.
    #[must_use]
    pub fn limits(&self) -> Limits {
        let mut limits = Limits::default();
        let mut give = |value: Option<usize>, field: fn(&mut Limits) -> &mut usize| {
            value.into_iter().for_each(|value| *field(&mut limits) = value);
        };
        give(self.source_bytes, |limits| &mut limits.source_bytes);
        give(self.nesting, |limits| &mut limits.nesting);
        give(self.rules, |limits| &mut limits.rules);
        give(self.nodes, |limits| &mut limits.nodes);
        give(self.automaton_states, |limits| &mut limits.automaton_states);
        give(self.compiled_bytes, |limits| &mut limits.compiled_bytes);
        limits.automaton_steps = self.automaton_steps.unwrap_or(limits.automaton_steps);
        limits.mask_steps = self.mask_steps.unwrap_or(limits.mask_steps);
        limits
    }
}

/// The options that the values mean.
///
/// # Errors
/// [`OptionError`] for the first name or value that is unknown.
pub(crate) fn front_end_options(values: &OptionValues) -> Result<FrontEndOptions, OptionError> {
    let mut options = FrontEndOptions::default();
    for (name, value) in values {
        options.set(name, value)?;
    }
    Ok(options)
}

#[cfg(test)]
mod tests {
    use super::*;
    use formwork::json_schema::WhiteSpace;

    #[test]
    fn every_field_has_a_default_and_goes_through_both_formats() {
        let default = EngineConfig::default();
        assert_eq!(toml::from_str::<EngineConfig>("").unwrap(), default);
        let text = toml::to_string(&default).unwrap();
        assert_eq!(toml::from_str::<EngineConfig>(&text).unwrap(), default);
        let text = serde_json::to_string(&default).unwrap();
        assert_eq!(serde_json::from_str::<EngineConfig>(&text).unwrap(), default);
        assert_eq!(default.limits.limits(), Limits::default());
    }

    #[test]
    fn what_is_said_is_meant() {
        let config: EngineConfig = toml::from_str(
            "backend = \"mine\"\n[tiers]\nmode = \"deterministic\"\nuses = 3\n[limits]\nrules = 7\n\
             mask_steps = 9\n[pool]\nmode = \"synchronous\"\nthreads = 5\n[options]\nwhite_space = \
             { bounded = 3 }\n",
        )
        .unwrap();
        assert_eq!(config.backend, BackendChoice::Named("mine".into()));
        assert_eq!((config.tiers.mode, config.tiers.uses), (TierMode::Deterministic, 3));
        assert_eq!((config.limits.limits().rules, config.limits.limits().mask_steps), (7, 9));
        assert_eq!((config.pool.mode, config.pool.thread_count()), (CompileMode::Synchronous, 5));
        let options = front_end_options(&config.options).unwrap();
        assert_eq!(options.json_schema.white_space, WhiteSpace::Bounded { max: 3 });
    }

    #[test]
    fn what_nobody_knows_is_an_error() {
        assert!(toml::from_str::<EngineConfig>("backends = \"dfa\"").is_err());
        assert!(toml::from_str::<EngineConfig>("[cache]\nbyte = 3").is_err());
        let unknown = OptionValues::from([("whitespace".to_owned(), Value::Null)]);
        assert!(matches!(front_end_options(&unknown), Err(OptionError::Unknown { .. })));
    }
}

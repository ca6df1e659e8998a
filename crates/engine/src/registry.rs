//! The backends that configuration can name.

use crate::EngineError;
use formwork::SharedBackend;
use std::time::Duration;

/// Backends by name: those of this build and those of others.
#[derive(Clone, Debug)]
pub struct Backends {
    entries: Vec<Registered>,
}

/// A backend and what it is expected to cost.
#[derive(Clone, Debug)]
pub(crate) struct Registered {
    pub(crate) backend: SharedBackend,
    pub(crate) profile: Option<Profile>,
}

/// What compiling and stepping cost with a backend, for `auto`. Times are of one core; only their
/// proportions matter.
///
/// The cost of a constraint that is used by `u` requests of `t` tokens is
///
/// ```text
/// compile + source bytes * compile_byte + first visits * (first_visit - step) + u * t * step
/// ```
///
/// where the first visits are the steps that a state's row is made in: `t` of them, since the
/// requests of one constraint mostly come through the same states. A backend whose assessment says
/// how many states it will have pays [`Profile::compile_state`] for each instead of for the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Profile {
    /// For any constraint.
    pub compile: Duration,
    /// For each byte of the constraint's text.
    pub compile_byte: Duration,
    /// For each automaton state, where the assessment knows how many.
    pub compile_state: Duration,
    /// A step to a state whose row is not made yet.
    pub first_visit: Duration,
    /// Any other step.
    pub step: Duration,
    /// Automaton states that compiling may take under `auto`; [`usize::MAX`] for no bound but the
    /// configured one. What needs more goes to the next backend.
    pub states: usize,
}

const fn micros(value: u64) -> Duration {
    Duration::from_micros(value)
}

const fn nanos(value: u64) -> Duration {
    Duration::from_nanos(value)
}

/// Of the backends of this build, from their figures for real schemas of 1 to 12 KB on the Llama-3
/// vocabulary; those of `dfa` are for regular expressions, choices and small closed schemas, since
/// most schemas are not regular or exceed its states.
const PROFILES: [(&str, Profile); 4] = [
    (
        "dfa",
        Profile {
            compile: micros(500),
            compile_byte: micros(20),
            compile_state: micros(7),
            first_visit: nanos(300),
            step: nanos(300),
            states: 20_000,
        },
    ),
    (
        "earley",
        Profile {
            compile: micros(100),
            compile_byte: nanos(40),
            compile_state: nanos(0),
            first_visit: micros(14),
            step: nanos(1_200),
            states: usize::MAX,
        },
    ),
    (
        "pda",
        Profile {
            compile: micros(500),
            compile_byte: nanos(600),
            compile_state: micros(1),
            first_visit: micros(12),
            step: nanos(900),
            states: usize::MAX,
        },
    ),
    (
        "pda-eager",
        Profile {
            compile: micros(2_000),
            compile_byte: micros(4),
            compile_state: micros(4),
            first_visit: nanos(900),
            step: nanos(900),
            states: usize::MAX,
        },
    ),
];

impl Default for Backends {
    /// The backends of this build.
    fn default() -> Self {
        let profile = |name: &str| {
            PROFILES.iter().find(|(known, _)| *known == name).map(|(_, profile)| *profile)
        };
        let entries = formwork::backends().iter().map(|backend| Registered {
            backend: backend.clone(),
            profile: profile(backend.name()),
        });
        Self { entries: entries.collect() }
    }
}

impl Backends {
    /// The backends of this build.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// No backend at all.
    #[must_use]
    pub fn none() -> Self {
        Self { entries: Vec::new() }
    }

    /// These and one more, selected by its own name; one of the same name gives way. Without a
    /// profile, `auto` comes to it only when every backend that has one refuses.
    #[must_use]
    pub fn with(mut self, backend: SharedBackend, profile: Option<Profile>) -> Self {
        self.entries.retain(|entry| entry.backend.name() != backend.name());
        self.entries.push(Registered { backend, profile });
        self
    }

    /// The names there are, in the order of registration.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|entry| entry.backend.name())
    }

    /// The backend of a name.
    ///
    /// # Errors
    /// [`EngineError::UnknownBackend`], whose text lists the names there are.
    pub fn backend(&self, name: &str) -> Result<&SharedBackend, EngineError> {
        let found = self.entries.iter().find(|entry| entry.backend.name() == name);
        found.map(|entry| &entry.backend).ok_or_else(|| {
            let known: Vec<String> = self.names().map(|name| format!("`{name}`")).collect();
            EngineError::UnknownBackend { name: name.into(), known: known.join(", ").into() }
        })
    }

    pub(crate) fn entries(&self) -> &[Registered] {
        &self.entries
    }
}

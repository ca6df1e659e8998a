//! The engine around the backends: what an inference server talks to.
//!
//! # Idea
//! A server does not want several backends; it wants one object that takes requests, never holds up
//! the step loop, and is right under speculative decoding, reasoning and hostile input. An
//! [`Engine`] is made once per vocabulary. [`Engine::request`] gives a [`Request`] at once; its
//! constraint comes from the cache or is compiled by the pool meanwhile. Every step,
//! [`Engine::fill_batch`] writes the rows of all requests, and [`Request::accept_tokens`] takes what
//! was sampled.
//!
//! ```
//! use formwork::{Constraint, TokenId, Vocabulary};
//! use formwork_engine::{Engine, EngineConfig, RequestSpec, Slot, Step};
//! use std::sync::Arc;
//!
//! let vocabulary = Vocabulary::builder(3)
//!     .token(TokenId::new(0), b"yes")
//!     .token(TokenId::new(1), b"no")
//!     .special(TokenId::new(2), "<end>")
//!     .eos(TokenId::new(2))
//!     .build()?;
//! let engine = Engine::new(EngineConfig::default(), Arc::new(vocabulary))?;
//! let mut request = engine.request(RequestSpec::new(Constraint::Regex("yes|no".into())));
//! request.wait()?;
//!
//! let mut words = vec![0; 2];
//! let mut step = Step::new(0);
//! let mut slots =
//!     [Slot { request: Some(&mut request), draft: &[] }, Slot { request: None, draft: &[] }];
//! engine.fill_batch(&mut slots, &mut words, &mut step);
//! assert_eq!(words, [0b011, -1]);
//! assert_eq!(step.needs_apply(), [true, false]);
//!
//! request.accept_tokens(&[TokenId::new(1)])?;
//! assert!(request.is_accepting());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What can be stopped
//! A compile that nobody waits for any longer, or whose deadline has passed, is told to stop, and
//! its callers are answered at once. The work itself stops within a millisecond or so wherever
//! automata are built or rows are made. Front ends, the first lowering and minimisation are bounded
//! by the limits alone: they run to their end, and keep one thread of the pool until then. In
//! [`CompileMode::Synchronous`] the caller is that thread.
//!
//! # Reading order
//! `config`; `registry`, `router` (which backend); `key`, `cache`, `flight`, `pool` (who compiles,
//! and for whom); `constrained` (the second compile); `engine`; `gate`, `heal`, `request`; `batch`,
//! `draft`; `sampler`.

mod batch;
mod cache;
mod config;
mod constrained;
mod draft;
mod engine;
mod error;
mod flight;
mod gate;
mod heal;
mod key;
mod pool;
mod registry;
mod request;
mod router;
mod sampler;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

pub use batch::{Slot, SlotOutcome, Step};
pub use cache::CacheStats;
pub use config::{
    BackendChoice, CacheConfig, CompileMode, Demand, EngineConfig, LimitsConfig, OptionValues,
    PoolConfig, StepConfig, TierConfig, TierMode,
};
pub use draft::{DraftTree, TreeOutcome};
pub use engine::{Engine, EngineStats, RequestSpec};
pub use error::{EngineError, RequestError};
pub use flight::{Outcome, Ticket};
pub use gate::{EmptyEnd, EndMark, ReasoningEnd};
pub use registry::{Backends, Profile};
pub use request::{Request, Status};
pub use router::{Candidate, Explanation, Verdict};
pub use sampler::{Sampler, Sampling};

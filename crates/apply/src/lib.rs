//! Masks onto logits: what a mask refuses becomes minus infinity, or is passed over by the sampler.
//!
//! # Idea
//! A row of logits has one number per token, a mask one bit. *Applying* a mask writes minus infinity
//! where the bit is zero and touches nothing else, so the logits need not even be read: what must be
//! moved is the mask and the bytes that change. *Sampling under* a mask goes further: it reads only
//! the logits that are allowed and writes one token id, so a mask that allows 400 tokens of 128,256
//! costs about the mask itself.
//!
//! Both exist for the CPU ([`Cpu`]) and for CUDA (`cuda`, behind the feature of that name, which
//! needs no CUDA to build). One meaning stands behind all of them, the scalar functions of
//! [`scalar`]: every level of SIMD and every kernel gives exactly its bits, the random choices of
//! [`SampleKey`] included.
//!
//! # Meaning
//! 1. Minus infinity is `0xff80_0000`, `0xfc00` (f16), `0xff80` (bf16). Allowed logits keep their
//!    bits, NaN payloads too.
//! 2. The best token is the allowed one with the greatest logit; of equals the lowest id; zero and
//!    minus zero are equal; NaN is below minus infinity. A row that allows something always gives a
//!    token that is allowed.
//! 3. Nothing is written at or past `tokens`, even where the stride leaves room; no bit of a mask
//!    at or past `tokens` counts.
//!
//! # Invariants
//! `unsafe` stands only where instructions of a processor or pointers of a device need it; each
//! such module says so with `expect(unsafe_code)`.
//!
//! # Reading order
//! [`Logit`], [`LogitsMut`] and [`Masks`], [`scalar`], [`Cpu`]; `noise`, [`SampleKey`]; [`Message`],
//! [`RowStore`]; [`kernels`]; `cuda`.

mod batch;
mod cpu;
#[cfg(feature = "cuda")]
pub mod cuda;
mod error;
pub mod kernels;
mod logit;
mod message;
mod noise;
mod sample;
pub mod scalar;
mod store;

pub use batch::{Logits, LogitsMut, Masks};
pub use cpu::{Cpu, Level};
pub use error::{ApplyError, Extent};
pub use half::{bf16, f16};
pub use logit::Logit;
pub use message::{Base, Message, MessageBatch};
pub use sample::SampleKey;
pub use store::{RowStore, Slot, StoreError, StoredRow};

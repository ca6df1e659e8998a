//! The laws every backend obeys, an oracle, and random grammars.
//!
//! # Idea
//! A backend is right when its masks are, bit for bit, what the law says. Here the law is executed,
//! slowly and plainly ([`oracle`]), and a backend is walked beside it over cases that people wrote
//! and over random ones ([`suite`]). Write a backend, call [`suite::run`], read the report.
//!
//! # Reading order
//! [`minimal`] (how small a backend can be), [`sample`] (one that does everything by itself), [`suite`], [`random`], [`oracle`], [`membership`].

pub mod membership;
pub mod minimal;
pub mod oracle;
pub mod random;
pub mod sample;
pub mod suite;

pub use suite::{Options, Report, run};

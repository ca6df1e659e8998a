//! Structured output for language models.
//!
//! Given a constraint (a JSON Schema, a regular expression, a grammar, a list of choices, a
//! structural tag) and a model's vocabulary, Formwork says at every decode step exactly which tokens may come next.
//!
//! ```
//! use formwork::{Compiler, Constraint, RowId, StartOptions, TokenId, Vocabulary};
//! use std::sync::Arc;
//!
//! // A vocabulary of three tokens and an end-of-sequence id.
//! let vocabulary = Vocabulary::builder(4)
//!     .token(TokenId::new(0), b"yes")
//!     .token(TokenId::new(1), b"no")
//!     .token(TokenId::new(2), b"maybe")
//!     .special(TokenId::new(3), "<end>")
//!     .eos(TokenId::new(3))
//!     .build()?;
//! let compiler = Compiler::new(Arc::new(vocabulary));
//! let compiled = compiler.compile(&Constraint::Choice(vec!["yes".into(), "no".into()]))?;
//!
//! let mut matcher = compiled.start(&StartOptions::default())?;
//! let mut row = vec![0; matcher.vocabulary().row_words()];
//! matcher.fill_bitmask(&mut row, RowId::NONE)?;
//! assert_eq!(row, [0b0011]);
//!
//! matcher.accept_tokens(&[TokenId::new(1)])?;
//! matcher.fill_bitmask(&mut row, RowId::NONE)?;
//! assert_eq!(row, [0b1000], "only the end may follow");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Reading order
//! [`Constraint`], [`Compiler`], [`backend`], [`FrontEndOptions`], [`StructuredOutputGrammar`]; then the crates behind them:
//! [`grammar`], [`dfa`], [`earley`], [`pda`], [`json_schema`], [`regex`], [`choice`], [`ebnf`], [`lark`],
//! [`structural_tag`].

mod backends;
mod compiler;
mod lower;
mod options;
mod prepare;

pub use backends::{SharedBackend, UnknownBackend, backend, backends};
pub use compiler::{CompilationError, Compiler};
pub use formwork_automata as automata;
pub use formwork_choice as choice;
pub use formwork_core::*;
pub use formwork_dfa as dfa;
pub use formwork_earley as earley;
pub use formwork_ebnf as ebnf;
pub use formwork_grammar as grammar;
pub use formwork_json_schema as json_schema;
pub use formwork_lark as lark;
pub use formwork_mask as mask;
pub use formwork_pda as pda;
pub use formwork_regex as regex;
pub use formwork_structural_tag as structural_tag;
pub use formwork_vocab as vocab;
pub use lower::{ConstraintError, lower};
pub use options::{FrontEndOption, FrontEndOptions, GrammarSyntax, OptionError};
pub use prepare::{Prepared, prepare};

//! llguidance, through its `Matcher`.
//!
//! With the real tokenizer, as its bindings give it, the mask is the one canonical token wherever
//! the grammar forces bytes. With the trie alone it allows every token that the grammar does.

use crate::{
    engine::{Compiled, Engine, Matcher, SchemaForm, Source},
    vocabulary::Vocabularies,
};
use anyhow::{Result, anyhow, bail, ensure};
use llguidance::{
    Matcher as Inner, ParserFactory,
    api::TopLevelGrammar,
    earley::SlicedBiasComputer,
    toktrie::{ApproximateTokEnv, InferenceCapabilities, SimpleVob, TokEnv},
};
use std::sync::Arc;

/// What llguidance knows of the tokenizer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tokenizer {
    /// All of it.
    Real,
    /// The tokens' bytes.
    TrieAlone,
}

impl Tokenizer {
    pub(super) fn engine_name(self) -> &'static str {
        match self {
            Self::Real => "llguidance",
            Self::TrieAlone => "llguidance-greedy",
        }
    }
}

/// The engine.
pub(super) struct LlGuidance {
    factory: ParserFactory,
    tokenizer: Tokenizer,
}

impl LlGuidance {
    /// # Errors
    /// When its trie does not give every token's bytes back.
    pub(super) fn new(vocabularies: &Vocabularies, tokenizer: Tokenizer) -> Result<Self> {
        let real = vocabularies.tiktoken.clone();
        let environment: TokEnv = match tokenizer {
            Tokenizer::Real => real,
            Tokenizer::TrieAlone => Arc::new(ApproximateTokEnv::new(real.tok_trie().clone())),
        };
        let trie = environment.tok_trie();
        ensure!(trie.vocab_size() == vocabularies.own.model_len(), "another vocabulary size");
        ensure!(trie.eos_token() == vocabularies.eos, "another end of sequence");
        for (id, bytes) in vocabularies.tokens() {
            ensure!(trie.token(id) == bytes, "other bytes of token {id}");
        }
        let mut factory = ParserFactory::new(
            &environment,
            InferenceCapabilities::default(),
            &SlicedBiasComputer::general_slices(),
        )?;
        factory.quiet();
        Ok(Self { factory, tokenizer })
    }
}

impl Engine for LlGuidance {
    fn name(&self) -> &str {
        self.tokenizer.engine_name()
    }

    fn about(&self) -> String {
        let tokenizer = match self.tokenizer {
            Tokenizer::Real => "the real tokenizer",
            Tokenizer::TrieAlone => "the token trie alone",
        };
        format!(
            "llguidance 1.9.1, default limits, general slices, {tokenizer}; from a parsed schema; \
             the mask is not copied; matchers of one grammar share its lexer's caches"
        )
    }

    fn reads(&self) -> SchemaForm {
        SchemaForm::Value
    }

    fn compile(&self, source: Source) -> Result<Box<dyn Compiled>> {
        let grammar = match source {
            Source::SchemaValue(value) => TopLevelGrammar::from_json_schema(value),
            Source::Regex(regex) => TopLevelGrammar::from_regex(&regex),
            Source::Lark(text) => TopLevelGrammar::from_lark(text),
            Source::SchemaText(_) | Source::Ebnf(_) | Source::StructuralTag(_) => {
                bail!("asked for a value")
            }
        };
        let matcher = Inner::new(self.factory.create_parser(grammar));
        match matcher.get_error() {
            Some(error) => Err(anyhow!(error)),
            None => Ok(Box::new(Grammar(matcher))),
        }
    }
}

/// A matcher that nothing is fed to, to be cloned.
struct Grammar(Inner);

impl Compiled for Grammar {
    fn start(&self) -> Result<Box<dyn Matcher>> {
        // A plain clone shares the lexer's caches with its original, a deep one has its own.
        Ok(Box::new(State { matcher: self.0.clone(), mask: None }))
    }
}

struct State {
    matcher: Inner,
    mask: Option<SimpleVob>,
}

impl Matcher for State {
    fn mask(&mut self, _row: &mut [i32]) -> Result<()> {
        self.mask = Some(self.matcher.compute_mask_or_eos()?);
        Ok(())
    }

    fn allows(&self, _row: &[i32], token: u32) -> bool {
        self.mask.as_ref().is_some_and(|mask| mask.is_allowed(token))
    }

    fn commit(&mut self, token: u32) -> Result<()> {
        self.matcher.consume_token(token)
    }
}

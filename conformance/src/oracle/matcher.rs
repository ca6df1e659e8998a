//! The law on stop ids, ends and rollback, over the oracle.
//!
//! This is the matcher that backends are compared with. It keeps every prefix it has been in and
//! recomputes nothing cleverly.

use super::{Oracle, OracleError, Prefix};
use formwork_core::StopPolicy;
use formwork_vocab::{TokenId, Vocabulary};
use std::rc::Rc;

/// One output, judged by the oracle.
#[derive(Debug)]
pub struct OracleMatcher {
    oracle: Oracle,
    stops: Vec<TokenId>,
    /// The start, then one entry for each processed token; never empty.
    entries: Vec<Entry>,
}

#[derive(Clone, Debug)]
struct Entry {
    prefix: Prefix,
    /// What may come next, stop ids apart.
    allowed: Rc<[TokenId]>,
    terminated: bool,
}

impl OracleMatcher {
    /// The matcher before any token, after bytes that a prompt has fixed.
    ///
    /// # Errors
    /// As [`Oracle::start`].
    pub fn start(
        mut oracle: Oracle,
        policy: &StopPolicy,
        fixed: &[u8],
    ) -> Result<Self, OracleError> {
        let stops = resolve(policy, oracle.vocabulary());
        let prefix = oracle.start(fixed)?;
        let allowed: Rc<[TokenId]> = oracle.allowed(&prefix)?.into();
        let terminated = stops.is_empty() && allowed.is_empty() && prefix.is_complete();
        Ok(Self { oracle, stops, entries: vec![Entry { prefix, allowed, terminated }] })
    }

    /// The ids that may end the output, ascending.
    #[must_use]
    pub fn stop_ids(&self) -> &[TokenId] {
        &self.stops
    }

    fn now(&self) -> &Entry {
        self.entries.last().expect("there is a start")
    }

    /// Whether the output so far is complete.
    #[must_use]
    pub fn is_accepting(&self) -> bool {
        self.now().prefix.is_complete()
    }

    /// Whether the output has ended.
    #[must_use]
    pub fn is_terminated(&self) -> bool {
        self.now().terminated
    }

    /// Whether no token but a stop id may follow.
    #[must_use]
    pub fn is_exhausted(&self) -> bool {
        self.now().allowed.is_empty()
    }

    /// How many tokens were processed.
    #[must_use]
    pub fn num_processed_tokens(&self) -> usize {
        self.entries.len() - 1
    }

    /// The ids that may come next, ascending; every id of the model after the end.
    #[must_use]
    pub fn allowed(&self) -> Vec<TokenId> {
        let now = self.now();
        if now.terminated {
            let model = u32::try_from(self.oracle.vocabulary().model_len()).expect("ids are u32");
            return (0..model).map(TokenId::new).collect();
        }
        let mut allowed = now.allowed.to_vec();
        if now.prefix.is_complete() {
            allowed.extend(&self.stops);
            allowed.sort_unstable();
            allowed.dedup();
        }
        allowed
    }

    /// Takes one token, and says whether it could be taken. After the end nothing happens.
    ///
    /// # Errors
    /// No answer.
    pub fn accept(&mut self, token: TokenId) -> Result<bool, OracleError> {
        let now = self.now().clone();
        if now.terminated {
            return Ok(true);
        }
        let stops = self.stops.contains(&token);
        let entry = match self.oracle.step(&now.prefix, token)? {
            Some(prefix) => {
                let allowed: Rc<[TokenId]> = self.oracle.allowed(&prefix)?.into();
                let ends = prefix.is_complete() && allowed.is_empty();
                let terminated = ends && (stops || self.stops.is_empty());
                Entry { prefix, allowed, terminated }
            }
            None if stops && now.prefix.is_complete() => Entry { terminated: true, ..now },
            None => return Ok(false),
        };
        self.entries.push(entry);
        Ok(true)
    }

    /// Undoes the last `tokens` tokens, or none when there are fewer.
    pub fn rollback(&mut self, tokens: usize) {
        if tokens < self.entries.len() {
            self.entries.truncate(self.entries.len() - tokens);
        }
    }

    /// The bytes that every completion begins with, at most `limit`; none after the end.
    ///
    /// # Errors
    /// No answer.
    pub fn forced_bytes(&mut self, limit: usize) -> Result<Vec<u8>, OracleError> {
        let now = self.now().clone();
        match now.terminated {
            true => Ok(Vec::new()),
            false => self.oracle.forced_bytes(&now.prefix, limit),
        }
    }
}

/// The ids that a policy means: those that the tokenizer knows and the model can emit.
fn resolve(policy: &StopPolicy, vocabulary: &Vocabulary) -> Vec<TokenId> {
    let eos = vocabulary.eos().iter().copied();
    let mut ids: Vec<TokenId> = match policy {
        StopPolicy::Vocabulary => eos.collect(),
        StopPolicy::VocabularyAnd(more) => eos.chain(more.iter().copied()).collect(),
        StopPolicy::Only(only) => only.clone(),
    };
    let known = vocabulary.tokenizer_len().min(vocabulary.model_len());
    ids.retain(|id| id.index() < known);
    ids.sort_unstable();
    ids.dedup();
    ids
}

//! Token healing: the prompt ends with bytes that its last tokens no longer hold.
//!
//! A prompt that ends inside what would have been a longer token makes the model guess badly. So
//! the caller drops the last token or tokens of the prompt, and the output must begin with their
//! bytes, however it cuts them: the row is intersected with the tokens that go on with what is left
//! of them. That takes one pass over the row, for the one or two steps that it lasts.

use formwork::{TokenId, Vocabulary, mask::RowMut};

/// What is left to be healed.
#[derive(Clone, Debug)]
pub(crate) struct Healing {
    bytes: Vec<u8>,
    /// Bytes healed after each token of the output, until all are.
    healed: Vec<usize>,
}

impl Healing {
    pub(crate) fn new(bytes: Vec<u8>) -> Self {
        Self { bytes, healed: Vec::new() }
    }

    /// All that was to be healed.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    fn rest(&self) -> &[u8] {
        &self.bytes[self.healed.last().copied().unwrap_or(0)..]
    }

    /// Whether there is anything left.
    pub(crate) fn is_open(&self) -> bool {
        !self.rest().is_empty()
    }

    /// How many of the tokens go on with what is left.
    pub(crate) fn validate(&self, tokens: &[TokenId], vocabulary: &Vocabulary) -> usize {
        let mut rest = self.rest();
        for (count, &token) in tokens.iter().enumerate() {
            if rest.is_empty() {
                break;
            }
            match goes_on(rest, token, vocabulary) {
                Some(bytes) => rest = &rest[bytes..],
                None => return count,
            }
        }
        tokens.len()
    }

    /// Takes tokens that were [validated](Self::validate).
    pub(crate) fn accept(&mut self, tokens: &[TokenId], vocabulary: &Vocabulary) {
        for &token in tokens {
            if !self.is_open() {
                return;
            }
            let bytes = goes_on(self.rest(), token, vocabulary).unwrap_or(0);
            let before = self.bytes.len() - self.rest().len();
            self.healed.push(before + bytes);
        }
    }

    /// Forgets all but the first tokens of the output.
    pub(crate) fn truncate(&mut self, tokens: usize) {
        self.healed.truncate(tokens);
    }

    /// Takes from a row what does not go on with what is left.
    pub(crate) fn restrict(&self, row: &mut [i32], vocabulary: &Vocabulary) {
        let mut row = RowMut::new(row, vocabulary.model_len());
        for id in (0..).take(vocabulary.model_len()) {
            if goes_on(self.rest(), TokenId::new(id), vocabulary).is_none() {
                row.clear(id as usize);
            }
        }
    }
}

/// How many bytes of what is left the token takes, if it goes on with it.
fn goes_on(rest: &[u8], token: TokenId, vocabulary: &Vocabulary) -> Option<usize> {
    let bytes = vocabulary.bytes(token)?;
    let common = bytes.len().min(rest.len());
    (bytes[..common] == rest[..common]).then_some(common)
}

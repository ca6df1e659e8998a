//! Shapes of vocabularies, and the vocabularies that they mean.

use super::shape::SPECIAL_NAME;
use formwork_vocab::{TokenId, Vocabulary};
use std::collections::BTreeSet;

/// The bytes that random grammars use.
const USED_BYTES: [u8; 7] = [b'a', b'b', b'c', b',', 0xc3, 0xa9, 0xaa];

/// The shape of a vocabulary. Its first token is special.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VocabularyShape {
    /// The tokens after the first.
    pub tokens: Vec<TokenShape>,
    /// Which single bytes are added as tokens.
    pub completeness: Completeness,
    /// End-of-sequence ids, taken modulo the vocabulary.
    pub eos: Vec<u16>,
    /// How much wider the model's row is than the tokenizer.
    pub extra: i8,
}

/// A token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TokenShape {
    /// A text token.
    Text(Vec<u8>),
    /// A special token.
    Special,
    /// An id that is no token.
    Nothing,
}

/// Which single bytes are tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completeness {
    /// Those that happen to be.
    AsDrawn,
    /// All that random grammars use.
    UsedBytes,
    /// All.
    AllBytes,
}

impl VocabularyShape {
    fn added_bytes(&self) -> Vec<u8> {
        match self.completeness {
            Completeness::AsDrawn => Vec::new(),
            Completeness::UsedBytes => USED_BYTES.to_vec(),
            Completeness::AllBytes => (0..=255).collect(),
        }
    }

    /// Number of ids.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "there is always a first token")]
    pub fn len(&self) -> u32 {
        let len = 1 + self.tokens.len() + self.added_bytes().len();
        u32::try_from(len).expect("vocabularies are small")
    }

    /// A token, by any number: ids that are no token are passed over.
    #[must_use]
    pub fn token(&self, number: u16) -> TokenId {
        let is_token = |id: &u32| {
            let drawn = (*id as usize).checked_sub(1).and_then(|index| self.tokens.get(index));
            drawn != Some(&TokenShape::Nothing)
        };
        let ids: Vec<u32> = (0..self.len()).filter(is_token).collect();
        TokenId::new(ids[usize::from(number) % ids.len()])
    }

    /// The vocabulary.
    #[must_use]
    pub fn vocabulary(&self) -> Vocabulary {
        let len = self.len();
        let model = i64::from(len) + i64::from(self.extra);
        let model = usize::try_from(model.max(1)).expect("positive");
        let mut builder = Vocabulary::builder(len as usize).special(TokenId::new(0), SPECIAL_NAME);
        let mut ids = (1..len).map(TokenId::new);
        for (token, id) in self.tokens.iter().zip(&mut ids) {
            builder = match token {
                TokenShape::Text(bytes) => builder.token(id, bytes),
                TokenShape::Special => builder.special(id, &format!("<s{id}>")),
                TokenShape::Nothing => builder,
            };
        }
        for (byte, id) in self.added_bytes().into_iter().zip(&mut ids) {
            builder = builder.token(id, &[byte]);
        }
        let eos: BTreeSet<TokenId> = self.eos.iter().map(|&number| self.token(number)).collect();
        for id in eos {
            builder = builder.eos(id);
        }
        builder.model_size(model).build().expect("every id is in range and defined once")
    }
}

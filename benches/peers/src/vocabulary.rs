//! One vocabulary file, as each engine wants it.

use anyhow::{Context, Result, ensure};
use formwork::{TokenId, Vocabulary};
use llguidance::toktrie::TokEnv;
use serde::Deserialize;
use std::{
    fs::File,
    io::{BufRead, BufReader},
    path::Path,
    sync::Arc,
};
use toktrie_tiktoken::TikTokenBPE;

/// The forms of one vocabulary.
pub(crate) struct Vocabularies {
    /// Formwork's.
    pub(crate) own: Arc<Vocabulary>,
    /// The tokenizer, for llguidance and for the texts of a regex list.
    pub(crate) tiktoken: TokEnv,
    /// The end of a sequence.
    pub(crate) eos: u32,
}

/// What the tokenizer needs beyond the tokens.
#[derive(Deserialize)]
struct Header {
    /// How text is split before it is encoded.
    pattern: String,
}

impl Vocabularies {
    /// Reads a raw table, as `formwork_tokenizers::raw_table` does, whose header also has the
    /// tokenizer's splitting `pattern`.
    ///
    /// # Errors
    /// When the file is no such table.
    pub(crate) fn load(path: &Path) -> Result<Self> {
        let open = || File::open(path).with_context(|| format!("cannot open {}", path.display()));
        let own = Arc::new(formwork_tokenizers::raw_table(BufReader::new(open()?))?);
        let mut first = String::new();
        BufReader::new(open()?).read_line(&mut first)?;
        let header: Header = serde_json::from_str(&first)
            .context("the header must have the tokenizer's `pattern`")?;
        let eos = *own.eos().first().context("the vocabulary has no end-of-sequence id")?;
        ensure!(own.tokenizer_len() == own.model_len(), "padded vocabularies are not measured");
        let encoder = tokens(&own).map(|(id, bytes)| (bytes.to_vec(), id)).collect();
        let special = ids(&own)
            .filter_map(|id| Some((own.special_name(id)?.to_owned(), id.as_u32())))
            .collect();
        let tiktoken = TikTokenBPE::new(encoder, special, &header.pattern, None, eos.as_u32())?;
        Ok(Self { own, tiktoken: tiktoken.to_env(), eos: eos.as_u32() })
    }

    /// The ordinary tokens and their bytes, by id.
    pub(crate) fn tokens(&self) -> impl Iterator<Item = (u32, &[u8])> {
        tokens(&self.own)
    }

    /// The bytes of an ordinary token.
    pub(crate) fn bytes(&self, token: u32) -> Option<&[u8]> {
        self.own.bytes(TokenId::new(token))
    }

    /// The tokenizer's own tokens of a text.
    pub(crate) fn encode(&self, text: &str) -> Vec<u32> {
        self.tiktoken.tokenize_bytes(text.as_bytes())
    }
}

fn ids(vocabulary: &Vocabulary) -> impl Iterator<Item = TokenId> + use<> {
    let len = u32::try_from(vocabulary.tokenizer_len()).expect("ids are u32");
    (0..len).map(TokenId::new)
}

fn tokens(vocabulary: &Vocabulary) -> impl Iterator<Item = (u32, &[u8])> {
    ids(vocabulary).filter_map(|id| Some((id.as_u32(), vocabulary.bytes(id)?)))
}

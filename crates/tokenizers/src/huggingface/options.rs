//! Which ids end an output, and how wide the logits are.

use super::{
    HuggingFaceError, HuggingFaceErrorKind,
    error::{fault, pointer},
};
use crate::{files::Ids, table::Table};
use formwork_vocab::TokenId;
use serde::Deserialize;

/// What a `tokenizer.json` does not say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HuggingFaceOptions {
    /// The tokens that end an output: names of special tokens, contents of others, or ids in
    /// decimal. Where there are any, the files below are not asked.
    pub eos: Vec<String>,
    /// The text of `generation_config.json`: its `eos_token_id`.
    pub generation_config: Option<String>,
    /// The text of `tokenizer_config.json`: its `eos_token`.
    pub tokenizer_config: Option<String>,
    /// The text of `config.json`: `eos_token_id`, where the other two say nothing, and `vocab_size`,
    /// the width of the logits.
    pub model_config: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
struct GenerationConfig {
    #[serde(default)]
    eos_token_id: Ids,
}

#[derive(Debug, Default, Deserialize)]
struct TokenizerConfig {
    eos_token: Option<Name>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Name {
    Plain(String),
    Token { content: String },
}

#[derive(Debug, Default, Deserialize)]
struct ModelConfig {
    #[serde(default)]
    eos_token_id: Ids,
    vocab_size: Option<usize>,
    /// Of models that see and hear, the part that writes.
    text_config: Option<TextConfig>,
}

#[derive(Debug, Default, Deserialize)]
struct TextConfig {
    #[serde(default)]
    eos_token_id: Ids,
    vocab_size: Option<usize>,
}

impl HuggingFaceOptions {
    /// Puts ends and width into the table.
    pub(super) fn apply(&self, table: &mut Table) -> Result<(), HuggingFaceError> {
        let model: ModelConfig = read(self.model_config.as_ref())?;
        let text = model.text_config.unwrap_or_default();
        table.model_len = model.vocab_size.or(text.vocab_size);
        if !self.eos.is_empty() {
            table.eos = self.eos.iter().map(|name| find(table, name)).collect::<Result<_, _>>()?;
            return Ok(());
        }
        let generation: GenerationConfig = read(self.generation_config.as_ref())?;
        let mut eos = generation.eos_token_id.into_vec();
        let tokenizer: TokenizerConfig = read(self.tokenizer_config.as_ref())?;
        if let Some(Name::Plain(name) | Name::Token { content: name }) = tokenizer.eos_token {
            let id =
                find(table, &name).map_err(|error| fault(&pointer(&["eos_token"]), error.kind))?;
            eos.push(id);
        }
        if eos.is_empty() {
            eos.extend(model.eos_token_id.into_vec());
            eos.extend(text.eos_token_id.into_vec());
        }
        table.eos = eos;
        Ok(())
    }
}

fn read<T: Default + for<'a> Deserialize<'a>>(
    text: Option<&String>,
) -> Result<T, HuggingFaceError> {
    let text = text.map(|text| serde_json::from_str(text)).transpose();
    Ok(text.map_err(|error| fault("", error))?.unwrap_or_default())
}

fn find(table: &Table, name: &str) -> Result<TokenId, HuggingFaceError> {
    let special = table.specials().find(|(_, special)| *special == name).map(|(id, _)| id);
    let text = || table.tokens().find(|(_, bytes)| *bytes == name.as_bytes()).map(|(id, _)| id);
    let number = || name.parse().ok().map(TokenId::new);
    special
        .or_else(number)
        .or_else(text)
        .ok_or_else(|| fault("", HuggingFaceErrorKind::UnknownEos { name: name.to_owned() }))
}

//! What tests share: a vocabulary with tokens that overlap, engines, rows.

use crate::{Engine, EngineConfig, Request, RequestSpec};
use formwork::{Constraint, RowId, TokenId, Vocabulary};
use std::sync::Arc;

/// Longer tokens, after the 256 bytes.
const WORDS: [&str; 16] = [
    "aa", "ab", "aaa", "true", "false", "{\"", "\":", "\",\"", "},", "[[", "]]", "12", " \"",
    "abc", "bc", "\"}",
];

/// Special tokens: the end of the output, the end of the thinking.
pub(crate) const END: TokenId = TokenId::new(272);
pub(crate) const THOUGHT: TokenId = TokenId::new(273);

pub(crate) fn vocabulary() -> Arc<Vocabulary> {
    let mut builder = Vocabulary::builder(274).model_size(290);
    for byte in 0..=u8::MAX {
        builder = builder.token(TokenId::new(byte.into()), &[byte]);
    }
    for (id, word) in (256..).zip(WORDS) {
        builder = builder.token(TokenId::new(id), word.as_bytes());
    }
    let builder = builder.special(END, "<end>").eos(END).special(THOUGHT, "</think>");
    Arc::new(builder.build().unwrap())
}

pub(crate) fn config(text: &str) -> EngineConfig {
    toml::from_str(text).unwrap()
}

pub(crate) fn engine(text: &str) -> Engine {
    Engine::new(config(text), vocabulary()).unwrap()
}

pub(crate) fn schema(text: &str) -> Constraint {
    Constraint::JsonSchema(text.into())
}

/// A recursive schema.
pub(crate) fn nested() -> Constraint {
    schema(
        r##"{"type":"object","properties":{"a":{"type":"array","items":{"$ref":"#"}},
            "b":{"type":["boolean","integer"]}},"required":["b"],"additionalProperties":false}"##,
    )
}

pub(crate) fn ready(engine: &Engine, constraint: Constraint) -> Request {
    let mut request = engine.request(RequestSpec::new(constraint));
    request.wait().unwrap();
    request
}

pub(crate) fn row(request: &mut Request) -> Vec<i32> {
    let mut row = vec![0x5555; request.engine.vocabulary.row_words()];
    request.fill(&mut row, RowId::NONE).unwrap();
    row
}

pub(crate) fn allowed(row: &[i32]) -> Vec<u32> {
    (0..).take(32 * row.len()).filter(|id| row[(id / 32) as usize] >> (id % 32) & 1 == 1).collect()
}

pub(crate) fn ids(text: &str) -> Vec<TokenId> {
    text.bytes().map(|byte| TokenId::new(byte.into())).collect()
}

/// One of the tokens that the row allows, by a random number.
pub(crate) fn pick(row: &[i32], number: u16) -> TokenId {
    let allowed = allowed(row);
    TokenId::new(allowed[usize::from(number) % allowed.len()])
}

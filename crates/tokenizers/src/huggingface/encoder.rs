//! Encoding through the `tokenizers` crate.
//!
//! Special tokens are not given to the crate, so that no text becomes one. Where its model makes one
//! all the same, out of the pieces of its name, the text is cut inside that name and both parts are
//! encoded alone; and so with text that reads `<0x0A>`, which is no line break.

use super::{
    File,
    decoder::{BYTE_CHARACTERS, Decoder, fallback_byte},
    model::Model,
    pipeline::Pipeline,
};
use crate::{
    cuts::{Composing, Cuts, Needles, Stage},
    pairs::BytePairs,
    split::{check_runs, too_hard},
    table::Table,
    text::{TextEncoder, Tokenize},
};
use formwork_vocab::{EncodeError, Encoder, TokenId};
use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::{Value, json};
use std::sync::Arc;
use tokenizers::{
    AddedToken, NormalizedString, Normalizer, NormalizerWrapper, PreTokenizerWrapper, Tokenizer,
    models::{ModelWrapper, bpe::BPE, unigram::Unigram},
};

/// How much of all text the model can take.
struct Coverage {
    /// Every text comes out as tokens, be some of them unknown.
    everything: bool,
    /// Whether what is unknown depends on its neighbours.
    settled: bool,
}

/// The encoder of a file; `None` where its parts are not known, do not fit together, or where some
/// text cannot be encoded.
pub(super) fn encoder(
    file: &File<'_>,
    model: &Model,
    decoder: &Decoder,
    table: &Table,
) -> Option<Arc<dyn Encoder>> {
    let pipeline = Pipeline::read(file.normalizer.as_ref(), file.pre_tokenizer.as_ref())?;
    if decoder.space() != Ok(pipeline.space)
        || matches!(decoder, Decoder::ByteLevel) != pipeline.byte_level
    {
        return None;
    }
    let ids: FxHashSet<&str> = model.tokens().map(|(content, _)| content).collect();
    let coverage = coverage(model, &pipeline, &ids);
    if !coverage.everything || !is_searchable(model) {
        return None;
    }
    let tokenizer = Crate::new(file, model, &pipeline, table)?;
    let cuts = coverage.settled.then(|| cuts(file, model, decoder, pipeline)).flatten();
    Some(Arc::new(TextEncoder { tokenizer, bytes: Arc::new(table.bytes()), cuts }))
}

/// Bytes of a unigram model's piece. A longer one would be compared with the text at each of its
/// places.
const MAX_SEARCHED_BYTES: usize = 1024;

fn is_searchable(model: &Model) -> bool {
    let mut tokens = model.tokens();
    matches!(model, Model::Bpe(_)) || tokens.all(|(token, _)| token.len() <= MAX_SEARCHED_BYTES)
}

fn coverage(model: &Model, pipeline: &Pipeline, ids: &FxHashSet<&str>) -> Coverage {
    let all_bytes = || (0..=255_u8).all(|byte| ids.contains(format!("<0x{byte:02X}>").as_str()));
    let has_unknown = model.unknown().is_some_and(|unknown| ids.contains(unknown));
    let fallback = model.falls_back();
    let has_every_byte = match model {
        Model::Bpe(_) if pipeline.byte_level => BYTE_CHARACTERS
            .iter()
            .all(|character| ids.contains(&*character.encode_utf8(&mut [0; 4]))),
        Model::Bpe(_) => fallback && all_bytes(),
        // What is no token is unknown first.
        Model::Unigram(_) => false,
    };
    Coverage {
        everything: has_every_byte || has_unknown,
        settled: has_every_byte || !fallback || all_bytes(),
    }
}

/// `None` where nothing is known to be decided.
fn cuts(file: &File<'_>, model: &Model, decoder: &Decoder, pipeline: Pipeline) -> Option<Cuts> {
    let text = || file.added_tokens.iter().filter(|token| !token.special);
    let greedy = |token: &super::AddedToken| token.lstrip || token.rstrip || token.single_word;
    if pipeline.patterns_see_space || text().any(greedy) {
        return None;
    }
    let needles = |normalized: bool| {
        let set = text().filter(|token| token.normalized.unwrap_or(true) == normalized);
        Needles::new(set.map(|token| &*token.content))
    };
    // Those of normalised text are as they are: none has what the normaliser changes, or it has
    // what stands for a space, and then is looked for in no text here.
    Some(Cuts {
        composing: pipeline.composing,
        space: pipeline.space,
        stages: pipeline.stages,
        joined: joined(model, decoder),
        added: vec![needles(false)?, needles(true)?],
    })
}

/// Which neighbouring bytes the model may join. `None` when it may join across what has no bytes.
fn joined(model: &Model, decoder: &Decoder) -> Option<BytePairs> {
    let mut pairs = BytePairs::new();
    match model {
        Model::Bpe(bpe) => {
            for (left, right) in bpe.merges() {
                if [left, right].iter().any(|&side| model.unknown() == Some(side)) {
                    return None;
                }
                let (left, right) = (decoder.bytes(left), decoder.bytes(right));
                pairs.insert(*left.last()?, *right.first()?);
            }
            if bpe.ignore_merges {
                // Whole pieces that are tokens are taken as they are.
                model.tokens().for_each(|(token, _)| pairs.insert_inner(&decoder.bytes(token)));
            }
        }
        Model::Unigram(_) => model.tokens().for_each(|(token, _)| {
            pairs.insert_inner(&decoder.bytes(token));
            // A piece for a byte is looked for by its name, too.
            if fallback_byte(token).is_some() {
                pairs.insert_inner(token.as_bytes());
            }
        }),
    }
    Some(pairs)
}

/// A tokenizer of the crate.
struct Crate {
    tokenizer: Tokenizer,
    /// Ids that the crate gave to added tokens, where the file has others.
    renamed: FxHashMap<u32, TokenId>,
    specials: FxHashSet<TokenId>,
    /// Whether there are tokens for bytes.
    falls_back: bool,
    has_patterns: bool,
    composing: Composing,
    space: Option<char>,
}

impl Crate {
    fn new(file: &File<'_>, model: &Model, pipeline: &Pipeline, table: &Table) -> Option<Self> {
        let raw = file.model.get();
        let inner: ModelWrapper = match model {
            Model::Bpe(_) => {
                let mut bpe: BPE = serde_json::from_str(raw).ok()?;
                // Leaving out merges at random is for training.
                bpe.dropout = None;
                bpe.into()
            }
            Model::Unigram(_) => serde_json::from_str::<Unigram>(raw).ok()?.into(),
        };
        let mut tokenizer = Tokenizer::new(inner);
        if let Some(normalizer) = sequence("normalizers", &pipeline.normalizers) {
            let normalizer: NormalizerWrapper = serde_json::from_value(normalizer).ok()?;
            tokenizer.with_normalizer(Some(normalizer));
        }
        if let Some(pre_tokenizer) = sequence("pretokenizers", &pipeline.pre_tokenizers) {
            let pre_tokenizer: PreTokenizerWrapper = serde_json::from_value(pre_tokenizer).ok()?;
            tokenizer.with_pre_tokenizer(Some(pre_tokenizer));
        }
        let renamed = add_tokens(&mut tokenizer, file, model)?;
        let unknown = model.unknown();
        let specials = table.specials().filter(|(_, name)| Some(*name) != unknown);
        Some(Self {
            tokenizer,
            renamed,
            specials: specials.map(|(id, _)| id).collect(),
            falls_back: model.falls_back(),
            has_patterns: pipeline.stages.iter().any(|s| matches!(s, Stage::Pattern(_))),
            composing: pipeline.composing,
            space: pipeline.space,
        })
    }

    fn id(&self, id: u32) -> TokenId {
        self.renamed.get(&id).copied().unwrap_or(TokenId::new(id))
    }

    fn is_special(&self, id: u32) -> bool {
        self.specials.contains(&self.id(id))
    }

    /// Where the first characters end of what was taken for a special token, or a byte, of more than
    /// one character.
    fn inside_names(&self, text: &str) -> Result<Vec<usize>, EncodeError> {
        let encoding = self.tokenizer.encode(text, false).map_err(|_| too_hard(0))?;
        let tokens = encoding.get_ids().iter().zip(encoding.get_offsets());
        let cuts = tokens.filter_map(|(&id, range)| {
            let name = text.get(range.0..range.1)?;
            let first = name.chars().next()?.len_utf8();
            let is_byte = self.falls_back && fallback_byte(name).is_some();
            (first < name.len() && (is_byte || self.is_special(id))).then_some(range.0 + first)
        });
        Ok(cuts.collect())
    }

    /// Whether anything may have been taken for a token by its name.
    fn may_have_names(&self, text: &str, ids: &[u32]) -> bool {
        self.falls_back && text.contains("<0x") || ids.iter().any(|&id| self.is_special(id))
    }
}

impl Tokenize for Crate {
    fn tokens(&self, text: &str) -> Result<Vec<TokenId>, EncodeError> {
        if self.has_patterns {
            check_runs(text)?;
        }
        let mut tokens = Vec::new();
        // What is still to be encoded, last first.
        let mut open = vec![text];
        while let Some(part) = open.pop() {
            // The crate fails on no text once a model takes every one, as this does.
            let encoding = self.tokenizer.encode_fast(part, false).map_err(|_| too_hard(0))?;
            let ids = encoding.get_ids();
            let cuts = match self.may_have_names(part, ids) {
                true => self.inside_names(part)?,
                false => Vec::new(),
            };
            if cuts.is_empty() {
                tokens.extend(ids.iter().map(|&id| self.id(id)));
                continue;
            }
            let starts = std::iter::once(0).chain(cuts.iter().copied());
            let ends = cuts.iter().copied().chain([part.len()]);
            let parts: Vec<&str> = starts.zip(ends).map(|(start, end)| &part[start..end]).collect();
            open.extend(parts.into_iter().rev());
        }
        Ok(tokens)
    }

    fn leaves_unchanged(&self, text: &str) -> bool {
        if self.composing == Composing::No {
            return true;
        }
        let Some(normalizer) = self.tokenizer.get_normalizer() else { return true };
        let mut normalized = NormalizedString::from(text);
        let done = normalizer.normalize(&mut normalized).is_ok();
        let mut expected = text.to_owned();
        if let Some(space) = self.space {
            expected = expected.replace(' ', space.encode_utf8(&mut [0; 4]));
        }
        done && normalized.get() == expected
    }
}

fn sequence(key: &str, members: &[Value]) -> Option<Value> {
    (!members.is_empty()).then(|| json!({ "type": "Sequence", key: members }))
}

/// Adds the added tokens that are text, and says which of them got other ids. `None` when such an id
/// is another token's.
fn add_tokens(
    tokenizer: &mut Tokenizer,
    file: &File<'_>,
    model: &Model,
) -> Option<FxHashMap<u32, TokenId>> {
    let text: Vec<_> = file
        .added_tokens
        .iter()
        .filter(|token| !token.special && !token.content.is_empty())
        .collect();
    let added: Vec<AddedToken> = text
        .iter()
        .map(|token| {
            AddedToken::from(token.content.clone(), false)
                .single_word(token.single_word)
                .lstrip(token.lstrip)
                .rstrip(token.rstrip)
                .normalized(token.normalized.unwrap_or(true))
        })
        .collect();
    tokenizer.add_tokens(&added);
    let known: FxHashSet<u32> = model.tokens().map(|(_, id)| id).collect();
    let mut renamed = FxHashMap::default();
    for token in text {
        let id = tokenizer.token_to_id(&token.content)?;
        if id != token.id {
            if known.contains(&id) {
                return None;
            }
            renamed.insert(id, TokenId::new(token.id));
        }
    }
    Some(renamed)
}

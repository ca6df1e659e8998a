//! The model: which tokens there are.

use super::{
    HuggingFaceError, HuggingFaceErrorKind,
    error::{fault, pointer},
};
use crate::members::Members;
use rustc_hash::FxHashMap;
use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, SeqAccess, Visitor},
};
use serde_json::value::RawValue;
use std::fmt;

/// A model that tokens of definite bytes can be read from.
#[derive(Debug)]
pub(super) enum Model {
    Bpe(Bpe),
    Unigram(Unigram),
}

/// Byte-pair encoding.
#[derive(Debug, Deserialize)]
pub(super) struct Bpe {
    unk_token: Option<String>,
    continuing_subword_prefix: Option<String>,
    end_of_word_suffix: Option<String>,
    #[serde(default, deserialize_with = "null_is_default")]
    pub(super) byte_fallback: bool,
    #[serde(default, deserialize_with = "null_is_default")]
    pub(super) ignore_merges: bool,
    pub(super) vocab: Members<u32>,
    #[serde(default)]
    merges: Vec<Merge>,
}

/// A unigram language model.
#[derive(Debug, Deserialize)]
pub(super) struct Unigram {
    unk_id: Option<usize>,
    #[serde(default, deserialize_with = "null_is_default")]
    pub(super) byte_fallback: bool,
    pub(super) vocab: Vec<(String, f64)>,
}

/// What tells models apart that do not say their type.
#[derive(Debug, Deserialize)]
struct Head {
    r#type: Option<String>,
    merges: Option<IgnoredAny>,
    max_input_chars_per_word: Option<IgnoredAny>,
    unk_id: Option<IgnoredAny>,
}

/// Two tokens, as a list or as a line.
#[derive(Debug)]
enum Merge {
    Pair(String, String),
    Line(String),
}

fn null_is_default<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

impl Model {
    pub(super) fn read(raw: &RawValue) -> Result<Self, HuggingFaceError> {
        fn json<'a, T: Deserialize<'a>>(raw: &'a RawValue) -> Result<T, HuggingFaceError> {
            serde_json::from_str(raw.get()).map_err(|error| fault("/model", error))
        }
        let head: Head = json(raw)?;
        let model = match head.r#type.as_deref() {
            Some("BPE") => Self::Bpe(json(raw)?),
            Some("Unigram") => Self::Unigram(json(raw)?),
            Some("WordPiece") => return Err(fault("/model", HuggingFaceErrorKind::WordPiece)),
            Some("WordLevel") => return Err(fault("/model", HuggingFaceErrorKind::WordLevel)),
            Some(name) => {
                let name = name.to_owned();
                return Err(fault("/model/type", HuggingFaceErrorKind::UnknownModel { name }));
            }
            None if head.merges.is_some() => Self::Bpe(json(raw)?),
            None if head.unk_id.is_some() => Self::Unigram(json(raw)?),
            None if head.max_input_chars_per_word.is_some() => {
                return Err(fault("/model", HuggingFaceErrorKind::WordPiece));
            }
            None => return Err(fault("/model", HuggingFaceErrorKind::WordLevel)),
        };
        model.check()?;
        Ok(model)
    }

    fn check(&self) -> Result<(), HuggingFaceError> {
        match self {
            Self::Bpe(bpe) => bpe.check(),
            Self::Unigram(unigram) => match unigram.unk_id {
                Some(id) if id >= unigram.vocab.len() => {
                    let len = unigram.vocab.len();
                    let kind = HuggingFaceErrorKind::UnknownOutOfRange { id, len };
                    Err(fault("/model/unk_id", kind))
                }
                _ => Ok(()),
            },
        }
    }

    /// Every token and its id.
    pub(super) fn tokens(&self) -> Box<dyn Iterator<Item = (&str, u32)> + '_> {
        match self {
            Self::Bpe(bpe) => Box::new(bpe.vocab.0.iter().map(|(token, id)| (&**token, *id))),
            Self::Unigram(unigram) => {
                Box::new(unigram.vocab.iter().map(|(token, _)| &**token).zip(0..))
            }
        }
    }

    /// The token that stands for what is no token.
    pub(super) fn unknown(&self) -> Option<&str> {
        match self {
            Self::Bpe(bpe) => bpe.unk_token.as_deref(),
            Self::Unigram(unigram) => Some(&unigram.vocab[unigram.unk_id?].0),
        }
    }

    /// Whether what is no token becomes bytes.
    pub(super) fn falls_back(&self) -> bool {
        match self {
            Self::Bpe(bpe) => bpe.byte_fallback,
            Self::Unigram(unigram) => unigram.byte_fallback,
        }
    }

    /// Where a token stands in the file.
    pub(super) fn pointer(&self, content: &str, index: usize) -> String {
        match self {
            Self::Bpe(_) => pointer(&["model", "vocab", content]),
            Self::Unigram(_) => pointer(&["model", "vocab", &index.to_string()]),
        }
    }
}

impl Bpe {
    fn check(&self) -> Result<(), HuggingFaceError> {
        let affixes = [
            ("continuing_subword_prefix", &self.continuing_subword_prefix),
            ("end_of_word_suffix", &self.end_of_word_suffix),
        ];
        for (key, affix) in affixes {
            if affix.as_ref().is_some_and(|affix| !affix.is_empty()) {
                return Err(fault(&pointer(&["model", key]), HuggingFaceErrorKind::Affix));
            }
        }
        let mut ids: FxHashMap<&str, u32> = FxHashMap::default();
        for (content, id) in &self.vocab.0 {
            if ids.insert(content, *id).is_some() {
                let kind = HuggingFaceErrorKind::ContentTwice { content: content.clone() };
                return Err(fault(&pointer(&["model", "vocab", content]), kind));
            }
        }
        let mut made = String::new();
        for (index, merge) in self.merges.iter().enumerate() {
            let fault = |kind: HuggingFaceErrorKind| {
                Err(fault(&pointer(&["model", "merges", &index.to_string()]), kind))
            };
            let Some((left, right)) = merge.parts() else {
                match merge.is_version() {
                    true => continue,
                    false => return fault(HuggingFaceErrorKind::Merge),
                }
            };
            made.clear();
            made.extend([left, right]);
            if let Some(content) = [left, right, &made].into_iter().find(|&t| !ids.contains_key(t))
            {
                let content = content.to_owned();
                return fault(HuggingFaceErrorKind::UnknownMerge { content });
            }
        }
        Ok(())
    }

    /// The two sides of every merge.
    pub(super) fn merges(&self) -> impl Iterator<Item = (&str, &str)> {
        self.merges.iter().filter_map(Merge::parts)
    }
}

impl Merge {
    fn is_version(&self) -> bool {
        matches!(self, Self::Line(line) if line.starts_with("#version"))
    }

    fn parts(&self) -> Option<(&str, &str)> {
        match self {
            Self::Pair(left, right) => Some((left, right)),
            Self::Line(_) if self.is_version() => None,
            Self::Line(line) => line.split_once(' ').filter(|(_, right)| !right.contains(' ')),
        }
    }
}

impl<'de> Deserialize<'de> for Merge {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(MergeVisitor)
    }
}

struct MergeVisitor;

impl<'de> Visitor<'de> for MergeVisitor {
    type Value = Merge;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("two tokens, as a list or with a space between")
    }

    fn visit_str<E>(self, line: &str) -> Result<Merge, E> {
        Ok(Merge::Line(line.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Merge, A::Error> {
        let (left, right) = (list.next_element()?, list.next_element()?);
        match (left, right, list.next_element::<IgnoredAny>()?) {
            (Some(left), Some(right), None) => Ok(Merge::Pair(left, right)),
            _ => Err(serde::de::Error::invalid_length(3, &self)),
        }
    }
}

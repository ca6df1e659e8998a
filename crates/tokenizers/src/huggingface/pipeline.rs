//! Normaliser and pre-tokenizer: what they are, where they are known.
//!
//! Each is read twice: as the `tokenizers` crate runs it, with all that adds to the beginning of a
//! text taken out, and as stages of [`Cuts`](crate::cuts::Cuts). What is not listed here makes the
//! whole unknown, and the vocabulary has no encoder.

use crate::{
    cuts::{Composing, Stage},
    split::{GPT2_PATTERN, Pattern},
};
use serde_json::{Value, json};

/// A known pipeline.
#[derive(Debug)]
pub(super) struct Pipeline {
    /// What the normaliser does, one after the other.
    pub(super) normalizers: Vec<Value>,
    /// What the pre-tokenizer does, one after the other.
    pub(super) pre_tokenizers: Vec<Value>,
    pub(super) composing: Composing,
    /// What spaces become.
    pub(super) space: Option<char>,
    pub(super) stages: Vec<Stage>,
    /// Whether bytes become characters in the end.
    pub(super) byte_level: bool,
    /// Whether a pattern comes after spaces were replaced, so that it sees another text.
    pub(super) patterns_see_space: bool,
}

impl Pipeline {
    /// `None` for one that is not known.
    pub(super) fn read(normalizer: Option<&Value>, pre_tokenizer: Option<&Value>) -> Option<Self> {
        let mut pipeline = Self {
            normalizers: Vec::new(),
            pre_tokenizers: Vec::new(),
            composing: Composing::No,
            space: None,
            stages: Vec::new(),
            byte_level: false,
            patterns_see_space: false,
        };
        for normalizer in flat(normalizer, "normalizers")? {
            pipeline.normalizer(normalizer)?;
        }
        for pre_tokenizer in flat(pre_tokenizer, "pretokenizers")? {
            // Bytes as characters are the last thing that any stage here understands.
            if pipeline.byte_level {
                return None;
            }
            pipeline.pre_tokenizer(pre_tokenizer)?;
        }
        Some(pipeline)
    }

    fn normalizer(&mut self, value: &Value) -> Option<()> {
        match value["type"].as_str()? {
            "NFC" | "NFD" | "NFKC" | "NFKD" => self.composing = Composing::Yes,
            // The space before the first word of a text.
            "Prepend" if value["prepend"] == "▁" => return Some(()),
            "Replace" if value["pattern"]["String"] == " " => {
                self.replace_spaces(value["content"].as_str()?)?;
            }
            _ => return None,
        }
        self.normalizers.push(value.clone());
        Some(())
    }

    fn pre_tokenizer(&mut self, value: &Value) -> Option<()> {
        let mut value = value.clone();
        match value["type"].as_str()? {
            "ByteLevel" => {
                self.byte_level = true;
                value["add_prefix_space"] = Value::Bool(false);
                if value["use_regex"].as_bool().unwrap_or(true) {
                    self.pattern(GPT2_PATTERN)?;
                }
            }
            "Metaspace" => {
                let space = value["replacement"].as_str()?;
                if self.space.is_some() || !self.stages.is_empty() {
                    return None;
                }
                self.replace_spaces(space)?;
                let split = value["split"].as_bool().unwrap_or(true);
                if split {
                    self.stages.push(Stage::Spaces);
                }
                value = json!({
                    "type": "Metaspace", "replacement": space, "prepend_scheme": "never",
                    "split": split,
                });
            }
            "Digits" => self.stages.push(match value["individual_digits"].as_bool()? {
                true => Stage::Digit,
                false => Stage::Digits,
            }),
            "Split" => return self.split(value),
            _ => return None,
        }
        self.pre_tokenizers.push(value);
        Some(())
    }

    fn split(&mut self, value: Value) -> Option<()> {
        let pattern = &value["pattern"];
        // Where no spaces are left, nothing is split at them.
        if pattern["String"] == " " && self.space.is_some() {
            return Some(());
        }
        if value["behavior"] != "Isolated" || value["invert"] == true {
            return None;
        }
        match (pattern["Regex"].as_str(), pattern["String"].as_str()) {
            (Some(regex), _) => self.pattern(regex)?,
            (None, Some(literal)) => self.pattern(&regex_syntax::escape(literal))?,
            (None, None) => return None,
        }
        self.pre_tokenizers.push(value);
        Some(())
    }

    fn replace_spaces(&mut self, by: &str) -> Option<()> {
        let mut characters = by.chars();
        let space = characters.next().filter(|_| characters.next().is_none())?;
        match self.space {
            Some(_) => None,
            None => {
                self.space = Some(space);
                Some(())
            }
        }
    }

    fn pattern(&mut self, pattern: &str) -> Option<()> {
        self.patterns_see_space |= self.space.is_some();
        self.stages.push(Stage::Pattern(Pattern::new(pattern).ok()?));
        Some(())
    }
}

/// The members of sequences, and of sequences in them, in their order.
fn flat<'a>(value: Option<&'a Value>, key: &str) -> Option<Vec<&'a Value>> {
    let mut flat = Vec::new();
    let mut open: Vec<&Value> = value.into_iter().filter(|value| !value.is_null()).collect();
    while let Some(value) = open.pop() {
        match value["type"] == "Sequence" {
            true => open.extend(value[key].as_array()?.iter().rev()),
            false => flat.push(value),
        }
    }
    Some(flat)
}

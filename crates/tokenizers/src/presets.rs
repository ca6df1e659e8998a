//! What is known about the tokenizers whose vocabulary comes as a rank file.
//!
//! Rank files hold neither special tokens nor the pattern; both are in the programs that read them.
//! The lists here are those of the tokenizers' own publishers.

use crate::{
    split::{CL100K_PATTERN, LLAMA3_PATTERN, QWEN_PATTERN},
    tiktoken::TiktokenOptions,
};
use formwork_vocab::TokenId;
use tiktoken_rs::O200K_BASE_PAT_STR;

/// A tokenizer that comes as a rank file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TiktokenPreset {
    /// Llama 3.1 and later: 128,256 ids, of which 256 are special. Outputs end with
    /// `<|end_of_text|>`, `<|eom_id|>` or `<|eot_id|>`. The names are those of Meta's programs;
    /// other distributions give some reserved tokens other names, with the same ids.
    Llama3,
    /// Llama 4: 202,048 ids, of which 2,048 are special. Outputs end with `<|end_of_text|>`,
    /// `<|eom|>` or `<|eot|>`.
    Llama4,
    /// Qwen, first generation: 151,851 ids, of which 208 are special. Outputs end with
    /// `<|endoftext|>` or `<|im_end|>`.
    Qwen,
    /// cl100k_base: 100,277 ids. Outputs end with `<|endoftext|>`.
    Cl100kBase,
    /// o200k_base: 200,019 ids. Outputs end with `<|endoftext|>`.
    O200kBase,
}

/// The names that words of a path hint at, most telling first.
const HINTS: [(&str, TiktokenPreset); 9] = [
    ("cl100k", TiktokenPreset::Cl100kBase),
    ("o200k", TiktokenPreset::O200kBase),
    ("llama-3", TiktokenPreset::Llama3),
    ("llama_3", TiktokenPreset::Llama3),
    ("llama3", TiktokenPreset::Llama3),
    ("llama-4", TiktokenPreset::Llama4),
    ("llama_4", TiktokenPreset::Llama4),
    ("llama4", TiktokenPreset::Llama4),
    ("qwen", TiktokenPreset::Qwen),
];

impl TiktokenPreset {
    /// The preset that the name of a file or folder hints at: `llama3.model`, `qwen.tiktoken`.
    #[must_use]
    pub fn hinted_by(name: &str) -> Option<Self> {
        let name = name.to_lowercase();
        HINTS.iter().find(|(word, _)| name.contains(word)).map(|&(_, preset)| preset)
    }

    /// Special tokens, ends, pattern and number of ranks.
    #[must_use]
    pub fn options(self) -> TiktokenOptions {
        match self {
            Self::Llama3 => llama3(),
            Self::Llama4 => llama4(),
            Self::Qwen => qwen(),
            Self::Cl100kBase => openai(100_256, CL100K_PATTERN, &CL100K_SPECIAL),
            Self::O200kBase => openai(199_998, O200K_BASE_PAT_STR, &O200K_SPECIAL),
        }
    }
}

/// Special tokens that follow the ranks one after the other.
fn following(ranks: u32, names: Vec<String>, eos: &[&str], pattern: &str) -> TiktokenOptions {
    let special: Vec<(String, TokenId)> =
        names.into_iter().zip((ranks..).map(TokenId::new)).collect();
    let ends = special.iter().filter(|(name, _)| eos.contains(&name.as_str()));
    TiktokenOptions {
        eos: ends.map(|&(_, id)| id).collect(),
        special,
        pattern: Some(pattern.to_owned()),
        ranks: Some(ranks as usize),
    }
}

fn owned(names: &[&str]) -> impl Iterator<Item = String> {
    names.iter().map(|&name| name.to_owned())
}

fn numbered(family: &str, numbers: std::ops::Range<usize>) -> impl Iterator<Item = String> {
    numbers.map(move |number| format!("<|{family}_{number}|>"))
}

const LLAMA3_SPECIAL: [&str; 12] = [
    "<|begin_of_text|>",
    "<|end_of_text|>",
    "<|reserved_special_token_0|>",
    "<|reserved_special_token_1|>",
    "<|finetune_right_pad_id|>",
    "<|step_id|>",
    "<|start_header_id|>",
    "<|end_header_id|>",
    "<|eom_id|>",
    "<|eot_id|>",
    "<|python_tag|>",
    "<|image|>",
];

fn llama3() -> TiktokenOptions {
    let reserved = numbered("reserved_special_token", 2..256 - LLAMA3_SPECIAL.len() + 2);
    let names = owned(&LLAMA3_SPECIAL).chain(reserved).collect();
    following(128_000, names, &["<|end_of_text|>", "<|eom_id|>", "<|eot_id|>"], LLAMA3_PATTERN)
}

fn llama4() -> TiktokenOptions {
    let mut names: Vec<String> = owned(&[
        "<|begin_of_text|>",
        "<|end_of_text|>",
        "<|fim_prefix|>",
        "<|fim_middle|>",
        "<|fim_suffix|>",
        "<|header_start|>",
        "<|header_end|>",
        "<|eom|>",
        "<|eot|>",
        "<|step|>",
    ])
    .collect();
    names.extend(numbered("text_post_train_reserved_special_token", 0..6));
    names.extend(owned(&["<|python_start|>", "<|python_end|>", "<|finetune_right_pad|>"]));
    names.extend(numbered("text_post_train_reserved_special_token", 8..69));
    names.extend(owned(&["<|image_start|>", "<|image_end|>"]));
    names.extend(numbered("vision_reserved_special_token", 0..2));
    names.extend(owned(&["<|tile_x_separator|>", "<|tile_y_separator|>"]));
    names.extend(numbered("vision_reserved_special_token", 2..6));
    names.extend(owned(&["<|image|>", "<|vision_reserved_special_token_6|>", "<|patch|>"]));
    names.extend(numbered("vision_reserved_special_token", 7..1048));
    names.extend(numbered("reasoning_reserved_special_token", 0..8));
    names.extend(owned(&["<|reasoning_thinking_start|>", "<|reasoning_thinking_end|>"]));
    names.extend(numbered("reserved_special_token", 0..2048 - names.len()));
    following(200_000, names, &["<|end_of_text|>", "<|eom|>", "<|eot|>"], O200K_BASE_PAT_STR)
}

fn qwen() -> TiktokenOptions {
    let names = owned(&["<|endoftext|>", "<|im_start|>", "<|im_end|>"]);
    let names = names.chain(numbered("extra", 0..205)).collect();
    following(151_643, names, &["<|endoftext|>", "<|im_end|>"], QWEN_PATTERN)
}

const CL100K_SPECIAL: [(&str, u32); 5] = [
    ("<|endoftext|>", 100_257),
    ("<|fim_prefix|>", 100_258),
    ("<|fim_middle|>", 100_259),
    ("<|fim_suffix|>", 100_260),
    ("<|endofprompt|>", 100_276),
];

const O200K_SPECIAL: [(&str, u32); 2] = [("<|endoftext|>", 199_999), ("<|endofprompt|>", 200_018)];

fn openai(ranks: usize, pattern: &str, special: &[(&str, u32)]) -> TiktokenOptions {
    TiktokenOptions {
        special: special.iter().map(|&(name, id)| (name.to_owned(), TokenId::new(id))).collect(),
        eos: vec![TokenId::new(special[0].1)],
        pattern: Some(pattern.to_owned()),
        ranks: Some(ranks),
    }
}

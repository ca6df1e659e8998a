//! The decoder: which bytes a token is in the middle of a text.

use super::{
    HuggingFaceError,
    error::{fault, pointer},
};
use serde_json::Value;
use std::{borrow::Cow, sync::LazyLock};

/// Why no bytes can be given to single tokens.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecoderError {
    /// There is none.
    #[error("without a decoder, tokens are joined by spaces that belong to none of them")]
    Missing,
    /// It is of a type that gives a token other bytes beside other neighbours, or that is not known.
    #[error("under the decoder {name:?} a token has no bytes of its own, or none that are known")]
    Type {
        /// Its type.
        name: String,
    },
    /// A step lacks something, or has something else than known.
    #[error("the decoder's step cannot be read")]
    Malformed,
    /// A step strips the ends of tokens, or of the whole output at its end.
    #[error("a decoder that strips more than the beginning of the output takes bytes from tokens")]
    Strips,
    /// A step replaces text after tokens were put together.
    #[error("a decoder that replaces text across tokens leaves them no bytes of their own")]
    ReplacesAcross,
    /// Bytes as characters cannot be combined with this.
    #[error("no other step can be combined with byte-level decoding")]
    MixedByteLevel,
}

/// What a decoder makes of a token.
#[derive(Debug)]
pub(super) enum Decoder {
    /// Characters that stand for bytes.
    ByteLevel,
    /// Steps one after the other.
    Steps(Vec<Step>),
}

/// One step.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    Replace {
        from: String,
        to: String,
    },
    /// `<0x0A>` is a byte.
    ByteFallback,
}

/// What is known while the steps are read.
#[derive(Default)]
struct Reading {
    steps: Vec<Step>,
    byte_level: bool,
    fused: bool,
}

impl Decoder {
    pub(super) fn read(value: Option<&Value>) -> Result<Self, HuggingFaceError> {
        let Some(value) = value.filter(|value| !value.is_null()) else {
            return Err(fault("/decoder", DecoderError::Missing));
        };
        let mut reading = Reading::default();
        // What is still to be read, last first.
        let mut open = vec![(value, pointer(&["decoder"]))];
        while let Some((value, place)) = open.pop() {
            if value["type"] == "Sequence" {
                let steps = value["decoders"].as_array();
                let steps = steps.ok_or_else(|| fault(&place, DecoderError::Malformed))?;
                let steps = steps.iter().enumerate();
                open.extend(steps.rev().map(|(at, step)| (step, format!("{place}/decoders/{at}"))));
                continue;
            }
            reading.step(value).map_err(|error| fault(&place, error))?;
        }
        match (reading.byte_level, reading.steps.is_empty()) {
            (true, true) => Ok(Self::ByteLevel),
            (true, false) => Err(fault("/decoder", DecoderError::MixedByteLevel)),
            (false, _) => Ok(Self::Steps(reading.steps)),
        }
    }

    /// The bytes of one of the model's tokens.
    pub(super) fn bytes(&self, content: &str) -> Vec<u8> {
        match self {
            Self::ByteLevel => byte_level(content),
            Self::Steps(steps) => run(steps, content),
        }
    }

    /// The bytes of an added token. Byte-level encoding comes after they are taken out of a text, so
    /// they are what they look like.
    pub(super) fn added_bytes(&self, content: &str) -> Vec<u8> {
        match self {
            Self::ByteLevel => content.as_bytes().to_vec(),
            Self::Steps(steps) => run(steps, content),
        }
    }

    /// The character that is decoded to a space, if any; an error when more than that is replaced.
    pub(super) fn space(&self) -> Result<Option<char>, ()> {
        let Self::Steps(steps) = self else { return Ok(None) };
        let mut space = None;
        for step in steps {
            let Step::Replace { from, to } = step else { continue };
            let mut characters = from.chars();
            match (characters.next(), characters.next(), to.as_str(), space) {
                (Some(character), None, " ", None) => space = Some(character),
                _ => return Err(()),
            }
        }
        Ok(space)
    }
}

impl Reading {
    fn step(&mut self, value: &Value) -> Result<(), DecoderError> {
        let name = value["type"].as_str().ok_or(DecoderError::Malformed)?;
        match name {
            "ByteLevel" => self.byte_level = true,
            "Fuse" => self.fused = true,
            "ByteFallback" if self.fused => return Err(DecoderError::ReplacesAcross),
            "ByteFallback" => self.steps.push(Step::ByteFallback),
            "Strip" => self.strip(value)?,
            "Replace" => {
                let from = value["pattern"]["String"].as_str().ok_or(DecoderError::Malformed)?;
                let to = value["content"].as_str().ok_or(DecoderError::Malformed)?;
                self.replace(from, to)?;
            }
            "Metaspace" => {
                let from = value["replacement"].as_str().ok_or(DecoderError::Malformed)?;
                self.replace(from, " ")?;
            }
            name => return Err(DecoderError::Type { name: name.to_owned() }),
        }
        Ok(())
    }

    fn replace(&mut self, from: &str, to: &str) -> Result<(), DecoderError> {
        let mut characters = from.chars();
        let is_one = characters.next().is_some() && characters.next().is_none();
        // Single bytes may together be what is replaced.
        let across = self.steps.contains(&Step::ByteFallback) || self.fused && !is_one;
        match across || from.is_empty() {
            true => Err(DecoderError::ReplacesAcross),
            false => {
                self.steps.push(Step::Replace { from: from.to_owned(), to: to.to_owned() });
                Ok(())
            }
        }
    }

    /// At the beginning of all the output it may strip, since that is not the middle of a text.
    fn strip(&mut self, value: &Value) -> Result<(), DecoderError> {
        let [start, stop] =
            ["start", "stop"].map(|key| value[key].as_u64().ok_or(DecoderError::Malformed));
        match (start?, stop?) {
            (_, stop) if stop > 0 => Err(DecoderError::Strips),
            (start, _) if start > 0 && !self.fused => Err(DecoderError::Strips),
            _ => Ok(()),
        }
    }
}

fn run(steps: &[Step], content: &str) -> Vec<u8> {
    let mut content = Cow::Borrowed(content);
    for step in steps {
        match step {
            Step::Replace { from, to } => content = content.replace(from, to).into(),
            Step::ByteFallback => {
                if let Some(byte) = fallback_byte(&content) {
                    return vec![byte];
                }
            }
        }
    }
    content.into_owned().into_bytes()
}

/// The byte that a token like `<0x0A>` stands for.
pub(crate) fn fallback_byte(content: &str) -> Option<u8> {
    let digits = content.strip_prefix("<0x")?.strip_suffix('>')?;
    match digits.len() {
        2 => u8::from_str_radix(digits, 16).ok(),
        _ => None,
    }
}

/// The character that stands for each byte: the byte's own where that can be seen, and else those
/// from U+0100 on, in turn.
pub(super) static BYTE_CHARACTERS: LazyLock<[char; 256]> = LazyLock::new(|| {
    let mut hidden = (0x100_u32..).filter_map(char::from_u32);
    std::array::from_fn(|byte| match byte {
        0x21..=0x7e | 0xa1..=0xac | 0xae..=0xff => char::from_u32(byte as u32).unwrap_or_default(),
        _ => hidden.next().unwrap_or_default(),
    })
});

/// Which byte each character up to U+01FF stands for.
static CHARACTER_BYTES: LazyLock<[Option<u8>; 512]> = LazyLock::new(|| {
    let mut bytes = [None; 512];
    for (byte, &character) in (0..=255).zip(BYTE_CHARACTERS.iter()) {
        bytes[character as usize] = Some(byte);
    }
    bytes
});

fn byte_level(content: &str) -> Vec<u8> {
    let byte = |character: char| *CHARACTER_BYTES.get(character as usize)?;
    // What holds any other character is what it looks like.
    let bytes: Option<Vec<u8>> = content.chars().map(byte).collect();
    bytes.unwrap_or_else(|| content.as_bytes().to_vec())
}

//! Files of every format, by path.

use super::*;
use crate::testing::ranks;
use base64::{Engine, engine::general_purpose::STANDARD};
use formwork_vocab::TokenId;
use std::{fs, process};

/// A folder that goes away again.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("formwork-load-{}-{name}", process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

const TABLE: &str = "{\"vocab_size\": 3, \"special\": {\"<end>\": 2}, \"eot\": 2}\n[0, \"YQ==\"]\n";

const TOKENIZER: &str = r#"
{ "added_tokens": [{"id": 2, "content": "<end>", "special": true}],
  "decoder": {"type": "ByteLevel"},
  "model": {"type": "BPE", "vocab": {"a": 0, "b": 1}, "merges": []} }"#;

const TEKKEN: &str = r#"{
  "config": {"pattern": "(?s:.)", "default_vocab_size": 4, "default_num_special_tokens": 3},
  "vocab": [{"rank": 0, "token_bytes": "YQ=="}] }"#;

/// One piece, `▁a`.
const PIECES: &[u8] = b"\x0a\x06\x0a\x04\xe2\x96\x81a";

#[test]
fn every_format_is_told_by_its_content() {
    let folder = Folder::new("formats");
    let vocabulary = |name: &str, bytes: &[u8]| load(&folder.write(name, bytes)).unwrap();
    let first = |vocabulary: &Vocabulary| vocabulary.bytes(TokenId::new(0)).map(<[u8]>::to_vec);
    let table = vocabulary("any.name", TABLE.as_bytes());
    assert_eq!(first(&table), Some(b"a".to_vec()));
    assert_eq!(table.eos(), [TokenId::new(2)]);
    assert_eq!(first(&vocabulary("1", TOKENIZER.as_bytes())), Some(b"a".to_vec()));
    let tekken = vocabulary("2", TEKKEN.as_bytes());
    assert_eq!(tekken.bytes(TokenId::new(3)), Some(&b"a"[..]));
    assert_eq!(first(&vocabulary("3", PIECES)), Some(b" a".to_vec()));
    let mut saved = Vec::new();
    table.save(&mut saved).unwrap();
    assert_eq!(vocabulary("4", &saved).fingerprint(), table.fingerprint());
}

#[test]
fn rank_files_are_known_by_their_names() {
    let folder = Folder::new("ranks");
    let lines: String = (0..)
        .zip(ranks(20))
        .map(|(rank, bytes): (u32, _)| format!("{} {rank}\n", STANDARD.encode(bytes)))
        .collect();
    let kind = |name: &str| load(&folder.write(name, &lines)).unwrap_err().kind;
    assert!(matches!(kind("tokenizer.model"), LoadErrorKind::UnknownRanks));
    // It is not Llama 3's number of ranks.
    assert!(matches!(kind("llama3.model"), LoadErrorKind::File(_)));
    assert!(matches!(kind("Llama-3-8B/tokenizer.model"), LoadErrorKind::File(_)));
}

#[test]
fn a_folder_is_read_with_what_lies_beside() {
    let folder = Folder::new("folder");
    let empty = load(&folder.0).unwrap_err();
    assert!(matches!(empty.kind, LoadErrorKind::EmptyFolder));
    assert_eq!(empty.path, folder.0);
    folder.write("tokenizer.model", PIECES);
    assert_eq!(load(&folder.0).unwrap().tokenizer_len(), 1);
    folder.write("tokenizer.json", TOKENIZER);
    folder.write("generation_config.json", r#"{"eos_token_id": 1}"#);
    folder.write("tokenizer_config.json", r#"{"eos_token": "<end>"}"#);
    folder.write("config.json", r#"{"vocab_size": 64}"#);
    let vocabulary = load(&folder.0).unwrap();
    assert_eq!(vocabulary.eos(), [1, 2].map(TokenId::new));
    assert_eq!(vocabulary.model_len(), 64);
}

#[test]
fn everything_else_is_an_error_with_its_path() {
    let folder = Folder::new("errors");
    let absent = folder.0.join("absent");
    assert!(matches!(load(&absent).unwrap_err().kind, LoadErrorKind::Read(_)));
    for (at, bytes) in
        [&b""[..], b"{", b"{}", b"hello world", b"\xff\xfe", b"[1]", b"a b"].into_iter().enumerate()
    {
        let path = folder.write(&at.to_string(), bytes);
        let error = load(&path).unwrap_err();
        assert!(matches!(error.kind, LoadErrorKind::UnknownFormat), "{bytes:?}: {error}");
        assert_eq!(error.path, path);
    }
    let kind = |bytes: &[u8]| load(&folder.write("file", bytes)).unwrap_err().kind;
    assert!(matches!(kind(b"{\"vocab_size\": 1}\n[0]"), LoadErrorKind::File(_)));
    let words = br#"{"model": {"type": "WordPiece", "vocab": {}}}"#;
    assert!(matches!(kind(words), LoadErrorKind::HuggingFace(_)));
    assert!(matches!(kind(b"\x0a\x7f\x0a\x01"), LoadErrorKind::SentencePiece(_)));
    assert!(matches!(kind(b"\x93nothing"), LoadErrorKind::Saved(_)));
    let tekken = TEKKEN.replace("YQ==", "?");
    assert!(matches!(kind(tekken.as_bytes()), LoadErrorKind::Tekken(_)));
}

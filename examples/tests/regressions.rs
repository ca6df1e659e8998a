//! Texts that the fuzz targets begin with, and mutations of them, through the same entry points.

#[path = "../../fuzz/src/follow.rs"]
mod follow;

use follow::FrontEnd;
use std::{fs, path::Path};

/// Mutations of each text.
const MUTATIONS: usize = 12;

fn texts(target: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/regressions").join(target);
    let entries = fs::read_dir(&folder).expect("the folder is there");
    let mut texts: Vec<(String, Vec<u8>)> = entries
        .map(|entry| {
            let path = entry.expect("an entry").path();
            (path.display().to_string(), fs::read(&path).expect("a file"))
        })
        .collect();
    texts.sort();
    assert!(!texts.is_empty(), "{target} has texts");
    texts
}

/// Numbers without sense, the same in every run (Marsaglia, "Xorshift RNGs", 2003).
struct Noise(u64);

impl Noise {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % bound.max(1) as u64).expect("below a usize")
    }
}

/// A text with some pieces left out, doubled, exchanged or put in from another one.
fn mutated(text: &[u8], other: &[u8], noise: &mut Noise) -> Vec<u8> {
    let mut text = text.to_vec();
    for _ in 0..=noise.below(3) {
        let (a, b) = (noise.below(text.len() + 1), noise.below(text.len() + 1));
        let (start, end) = (a.min(b), a.max(b).min(a.min(b) + 24));
        let piece: Vec<u8> = text[start..end].to_vec();
        match noise.below(4) {
            0 => drop(text.drain(start..end)),
            1 => drop(text.splice(start..start, piece)),
            2 => {
                let from = noise.below(other.len() + 1);
                let to = (from + noise.below(24)).min(other.len());
                drop(text.splice(start..end, other[from..to].iter().copied()));
            }
            _ => {
                const SIGNS: &[u8] = b"()[]{}|*+?\\\"'/.,:;=<>!&~%#@^$-_ \n0129aZ";
                text.insert(start, SIGNS[noise.below(SIGNS.len())]);
            }
        }
    }
    text
}

fn replay(target: &str, front_end: FrontEnd) {
    let texts = texts(target);
    let mut noise = Noise(0x9e37_79b9_7f4a_7c15);
    for (name, text) in &texts {
        let run = |text: &[u8]| {
            let outcome = std::panic::catch_unwind(|| follow::text(front_end, text));
            assert!(outcome.is_ok(), "{name}: {:?}", String::from_utf8_lossy(text));
        };
        run(text);
        for _ in 0..MUTATIONS {
            let other = &texts[noise.below(texts.len())].1;
            run(&mutated(text, other, &mut noise));
        }
    }
}

#[test]
fn regular_expressions() {
    replay("regex", FrontEnd::Regex);
}

#[test]
fn ebnf() {
    replay("ebnf", FrontEnd::Ebnf);
}

#[test]
fn lark() {
    replay("lark", FrontEnd::Lark);
}

#[test]
fn structural_tags() {
    replay("structural_tag", FrontEnd::StructuralTag);
}

#[test]
fn json_schemas() {
    replay("json_schema", FrontEnd::JsonSchema);
}

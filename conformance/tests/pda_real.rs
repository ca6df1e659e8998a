//! The pda backend on real schemas over a real vocabulary: masks made in advance, made when first
//! needed, and made by what was saved and loaded are the same.

use formwork_core::{
    CompileRequest, CompiledGrammar, Limits, RowId, StartOptions, StructuredOutputGrammar, TokenId,
    Vocabulary,
};
use formwork_mask::Row;
use formwork_pda::{PdaBackend, Precompute};
use rand::{Rng, SeedableRng, rngs::StdRng};
use std::{fs, path::PathBuf, sync::Arc};

/// Walks over each schema.
const WALKS: u64 = 3;
/// Tokens of a walk at most.
const TOKENS: usize = 40;

/// Compiled grammars that should answer alike.
fn forms(text: &str, vocabulary: &Arc<Vocabulary>) -> Vec<Arc<dyn CompiledGrammar>> {
    let limits = Limits::default();
    let grammar =
        formwork_json_schema::compile(text, &Default::default(), &limits).expect("a schema");
    let request = CompileRequest::new(Arc::new(grammar), vocabulary.clone());
    let (lazy, eager) = (PdaBackend::default(), PdaBackend::new(Precompute::Everything));
    let first = lazy.compile(&request).expect("a grammar");
    let mut saved = Vec::new();
    first.save(&mut saved).expect("memory");
    let loaded = eager.load(&saved, vocabulary.clone()).expect("as saved");
    let advance = eager.compile(&request).expect("a grammar");
    vec![Arc::new(first), Arc::new(advance), loaded]
}

fn row(matcher: &mut dyn StructuredOutputGrammar) -> Vec<i32> {
    let mut row = vec![0x5555; matcher.vocabulary().row_words()];
    matcher.fill_bitmask(&mut row, RowId::NONE).expect("within the limits");
    row
}

#[test]
fn whenever_masks_are_made_they_are_the_same() {
    let vocabulary = formwork_tokenizers::cl100k_base().expect("it is embedded");
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("real");
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    let mut compared = 0;
    for path in paths {
        let forms = forms(&fs::read_to_string(&path).unwrap(), &vocabulary);
        for seed in 0..WALKS {
            let mut random = StdRng::seed_from_u64(seed);
            let mut matchers: Vec<_> = forms
                .iter()
                .map(|form| form.clone().start(&StartOptions::default()).expect("a start"))
                .collect();
            for _ in 0..TOKENS {
                let rows: Vec<Vec<i32>> =
                    matchers.iter_mut().map(|matcher| row(&mut **matcher)).collect();
                assert_eq!(rows[0], rows[1], "{} in advance, walk {seed}", path.display());
                assert_eq!(rows[0], rows[2], "{} loaded, walk {seed}", path.display());
                compared += 1;
                let allowed: Vec<usize> =
                    Row::new(&rows[0], vocabulary.model_len()).ones().collect();
                let token = u32::try_from(allowed[random.random_range(0..allowed.len())]).unwrap();
                for matcher in &mut matchers {
                    matcher.accept_tokens(&[TokenId::new(token)]).expect("it is allowed");
                }
                if matchers[0].is_terminated() {
                    break;
                }
            }
        }
    }
    assert!(compared > 500, "{compared} masks");
}

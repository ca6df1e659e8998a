//! A grammar that is printed and read again generates the same.

use formwork_conformance::{membership::Membership, random};
use formwork_ebnf::{EbnfErrorKind, Options, compile};
use formwork_grammar::{Limits, print};
use formwork_vocab::{TokenId, Vocabulary};
use proptest::prelude::*;
use std::sync::Arc;

/// Longest outputs that are compared, in tokens.
const LONGEST: usize = 2;
/// Tokens they are made of: an output costs two readings a token, each a chart.
const TOKENS: usize = 6;

/// All outputs of up to `LONGEST` of the first `TOKENS` tokens.
fn outputs(vocabulary: &Vocabulary) -> Vec<Vec<TokenId>> {
    let ids: Vec<TokenId> = (0..u32::try_from(vocabulary.model_len()).expect("small"))
        .map(TokenId::new)
        .filter(|&id| vocabulary.is_emittable(id))
        .take(TOKENS)
        .collect();
    let mut all = vec![vec![]];
    let mut last = all.clone();
    for _ in 0..LONGEST {
        last = last
            .iter()
            .flat_map(|output: &Vec<TokenId>| {
                ids.iter().map(|&id| output.iter().copied().chain([id]).collect())
            })
            .collect();
        all.extend_from_slice(&last);
    }
    all
}

fn check(case: &random::Case) -> Result<(), TestCaseError> {
    let (grammar, limits) = (case.grammar(), Limits::default());
    let vocabulary: Arc<Vocabulary> = case.vocabulary();
    let text = print::ebnf(&grammar, &limits).expect("small");
    let read = compile(&text, &Options::default(), &limits);
    let Ok(before) = Membership::new(&grammar, vocabulary.clone(), &limits) else { return Ok(()) };
    let after = match &read {
        Ok(read) => Some(Membership::new(read, vocabulary.clone(), &limits)),
        Err(error) => {
            prop_assert_eq!(&error.kind, &EbnfErrorKind::Unsatisfiable, "{}\n{}", error, text);
            None
        }
    };
    for output in outputs(&vocabulary) {
        let Ok(expected) = before.contains(&output) else { continue };
        let found = match &after {
            Some(Ok(after)) => after.contains(&output).expect("as before"),
            Some(Err(error)) => return Err(TestCaseError::fail(format!("{error}\n{text}"))),
            None => false,
        };
        prop_assert_eq!(found, expected, "{:?}\n{}", output, text);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn of_every_construct(case in random::case(&random::GrammarOptions::everything())) {
        check(&case)?;
    }

    #[test]
    fn of_any_recursion(case in random::case(&random::GrammarOptions::context_free())) {
        check(&case)?;
    }
}

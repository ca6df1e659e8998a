//! Rows of drafts against rows of requests that really went there, and states as before.

use super::*;
use crate::{
    EndMark, ReasoningEnd, RequestSpec, Slot, Step,
    testing::{END, THOUGHT, engine, ids, nested, pick, ready, row},
};
use proptest::prelude::*;

/// The rows of a chain, each from a fork that took the tokens before it.
fn expected_chain(request: &mut Request, draft: &[i32]) -> (Vec<i32>, usize) {
    let mut fork = request.fork().unwrap();
    let mut words = row(&mut fork);
    let (width, mut valid, mut ended) = (words.len(), 0, false);
    for &token in draft {
        let token = u32::try_from(token).ok().map(TokenId::new);
        let is_taken = !ended
            && !fork.is_terminated()
            && token.is_some_and(|token| fork.accept_tokens(&[token]).is_ok());
        ended |= !is_taken;
        valid += usize::from(is_taken);
        match is_taken {
            true => words.extend(row(&mut fork)),
            false => words.extend(vec![-1; width]),
        }
    }
    (words, valid)
}

/// A draft that mostly follows the masks: each number picks an allowed token, but for some.
fn draft(request: &mut Request, numbers: &[u16]) -> Vec<i32> {
    let mut fork = request.fork().unwrap();
    let token = |&number: &u16| {
        let token = match number % 16 {
            0 => return -1,
            1 => return i32::from(number) % 300,
            2 => END,
            3 => THOUGHT,
            _ => pick(&row(&mut fork), number),
        };
        fork.accept_tokens(&[token]).ok();
        i32::try_from(token.as_u32()).unwrap()
    };
    numbers.iter().map(token).collect()
}

fn thinking(engine: &Engine) -> Request {
    let marks = [EndMark::Tokens(vec![THOUGHT]), EndMark::Text("abb".into())];
    let mut spec = RequestSpec::new(nested());
    spec.reasoning = Some(ReasoningEnd::new(&marks).unwrap());
    let mut request = engine.request(spec);
    request.wait().unwrap();
    request
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn chains_are_what_would_come_and_leave_no_trace(
        rounds in prop::collection::vec((prop::collection::vec(any::<u16>(), 0..6), 0..6_usize), 1..8),
        backend in prop::sample::select(vec!["earley", "pda"]),
        thinks in any::<bool>(),
    ) {
        let engine = engine(&format!("backend = \"{backend}\""));
        let mut request =
            if thinks { thinking(&engine) } else { ready(&engine, nested()) };
        for (numbers, accepted) in rounds {
            let draft = draft(&mut request, &numbers);
            let (before, count) = (row(&mut request), request.num_tokens());
            let (expected, valid) = expected_chain(&mut request, &draft);
            let mut words = vec![0; expected.len()];
            let (outcome, needs) = engine.fill_draft_chain(&mut request, &draft, &mut words);
            prop_assert_eq!(&words, &expected);
            prop_assert_eq!(outcome.valid_draft, valid);
            prop_assert!(outcome.error.is_none());
            for (row, needs) in words.chunks(before.len()).zip(needs) {
                prop_assert_eq!(needs, row.iter().any(|&word| word != -1));
            }
            prop_assert_eq!(request.validate_draft(&draft).unwrap(), valid);
            prop_assert_eq!((row(&mut request), request.num_tokens()), (before, count));
            // The model agrees with some of it.
            let taken = accepted.min(valid);
            let tokens = draft[..taken].iter().map(|&id| TokenId::new(id.unsigned_abs()));
            request.accept_tokens(&tokens.collect::<Vec<_>>()).unwrap();
        }
    }

    #[test]
    fn trees_are_chains_with_common_beginnings(
        numbers in prop::collection::vec((any::<u16>(), any::<u16>()), 0..12),
        begin in 0..3_usize,
        thinks in any::<bool>(),
    ) {
        let engine = engine("backend = \"pda\"");
        let mut request = if thinks { thinking(&engine) } else { ready(&engine, nested()) };
        if !thinks {
            request.accept_tokens(&ids("{\"b\":1"[..2 * begin].trim())).unwrap();
        }
        let (mut tokens, mut parents, mut paths) = (Vec::new(), Vec::new(), vec![Vec::new()]);
        for (node, (number, place)) in numbers.into_iter().enumerate() {
            let parent = usize::from(place) % (node + 1);
            let mut path: Vec<i32> = paths[parent].clone();
            let mut fork = request.fork().unwrap();
            let way: Vec<TokenId> =
                path.iter().filter_map(|&id| u32::try_from(id).ok()).map(TokenId::new).collect();
            fork.accept_tokens(&way).ok();
            path.extend(draft(&mut fork, &[number]));
            tokens.push(path[path.len() - 1]);
            parents.push(i32::try_from(parent).unwrap() - 1);
            paths.push(path);
        }
        let before = row(&mut request);
        let width = before.len();
        let mut words = vec![0; paths.len() * width];
        let tree = DraftTree { tokens: &tokens, parents: &parents };
        let outcome = engine.fill_draft_tree(&mut request, tree, &mut words).unwrap();
        for (place, path) in paths.iter().enumerate() {
            let (chain, valid) = expected_chain(&mut request, path);
            let expected = &chain[path.len() * width..];
            prop_assert_eq!(&words[place * width..][..width], expected, "{:?}", path);
            if place > 0 {
                prop_assert_eq!(outcome.valid[place - 1], valid == path.len());
            }
        }
        prop_assert_eq!(row(&mut request), before);
    }
}

#[test]
fn a_tree_out_of_order_is_refused() {
    let engine = engine("backend = \"earley\"");
    let mut request = ready(&engine, nested());
    let tree = DraftTree { tokens: &[123, 34], parents: &[1, -1] };
    let mut words = vec![7; 3 * engine.vocabulary().row_words()];
    let error = engine.fill_draft_tree(&mut request, tree, &mut words).unwrap_err();
    assert!(matches!(error, RequestError::DraftTree { node: 0 }));
    assert!(words.iter().all(|&word| word == 7));
}

#[test]
fn forced_bytes_are_drafts_of_a_batch() {
    let engine = engine("backend = \"earley\"");
    let mut request = ready(&engine, nested());
    let mut other = ready(&engine, nested());
    let (width, mut step) = (engine.vocabulary().row_words(), Step::new(2));
    let mut words = vec![0; 6 * width];
    let good: Vec<i32> = ids("{").iter().map(|id| id.index() as i32).collect();
    let mut slots = [
        Slot { request: Some(&mut request), draft: &good },
        Slot { request: Some(&mut other), draft: &[i32::from(b'x'), 34] },
    ];
    engine.fill_batch(&mut slots, &mut words, &mut step);
    let valid: Vec<usize> = step.outcomes().iter().map(|it| it.valid_draft).collect();
    assert_eq!(valid, [1, 0]);
    assert_eq!(step.needs_apply(), [true, true, false, true, false, false]);
    assert_eq!(words[..width], words[3 * width..4 * width], "both are at the beginning");
}

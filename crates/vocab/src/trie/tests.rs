//! The trie against a plain list of byte strings.

use super::*;
use proptest::prelude::*;

fn vocabulary(tokens: &[Vec<u8>]) -> Vocabulary {
    let builder = (0..)
        .map(TokenId::new)
        .zip(tokens)
        .fold(Vocabulary::builder(tokens.len()), |builder, (id, bytes)| builder.token(id, bytes));
    builder.build().unwrap()
}

fn tokens() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let byte = prop_oneof![Just(b'a'), Just(b'b'), Just(0), Just(255), any::<u8>()];
    prop::collection::vec(prop::collection::vec(byte, 0..6), 0..60)
}

/// Bytes that are refused after so many others.
fn refused() -> impl Strategy<Value = Vec<(usize, u8)>> {
    let byte = prop_oneof![Just(b'a'), Just(b'b'), any::<u8>()];
    prop::collection::vec((0..4_usize, byte), 0..6)
}

/// Runs of siblings of one class below every node that is reached: what a walk by class asks.
fn questions(
    trie: &TokenTrie,
    classes: &[u8; 256],
    step: &impl Fn(usize, u8) -> Option<usize>,
) -> usize {
    let mut asked = 0;
    let mut pending = vec![NodeId::ROOT];
    while let Some(node) = pending.pop() {
        let mut last = None;
        for (byte, child) in trie.children(node) {
            let class = classes[usize::from(byte)];
            asked += usize::from(last != Some(class));
            last = Some(class);
            if step(trie.depth(node), class).is_some() {
                pending.push(child);
            }
        }
    }
    asked
}

/// Takes a byte when (bytes taken so far, byte) is not refused.
struct Refusing<'a> {
    refused: &'a [(usize, u8)],
    taken: Vec<u8>,
}

impl Recognizer for Refusing<'_> {
    fn push(&mut self, byte: u8) -> bool {
        let takes = !self.refused.contains(&(self.taken.len(), byte));
        if takes {
            self.taken.push(byte);
        }
        takes
    }

    fn pop(&mut self, count: usize) {
        let left = self.taken.len().checked_sub(count).expect("only what was taken is undone");
        self.taken.truncate(left);
    }
}

proptest! {
    #[test]
    fn every_walk_tells_exactly_the_tokens_a_filter_keeps(
        tokens in tokens(),
        refused in refused(),
    ) {
        let vocabulary = vocabulary(&tokens);
        let trie = vocabulary.trie();
        let kept = |bytes: &Vec<u8>| {
            !bytes.is_empty()
                && bytes.iter().enumerate().all(|(at, &byte)| !refused.contains(&(at, byte)))
        };
        let mut expected: Vec<TokenId> = (0..).map(TokenId::new).zip(&tokens)
            .filter(|(_, bytes)| kept(bytes)).map(|(id, _)| id).collect();
        expected.sort_unstable();

        let mut walked = Vec::new();
        let mut recognizer = Refusing { refused: &refused, taken: Vec::new() };
        trie.walk(&mut recognizer, |token| walked.push(token));
        prop_assert!(recognizer.taken.is_empty());
        walked.sort_unstable();
        prop_assert_eq!(&walked, &expected);

        let step = |depth: usize, byte: u8| (!refused.contains(&(depth, byte))).then_some(depth + 1);
        let mut by_state = Vec::new();
        let mut scratch = WalkScratch::default();
        let told = |token, depth: usize| by_state.push((token, depth));
        trie.walk_states(0, &mut scratch, step, told);
        by_state.sort_unstable();
        let with_depth: Vec<_> =
            expected.iter().map(|&id| (id, tokens[id.index()].len())).collect();
        prop_assert_eq!(&by_state, &with_depth);
    }

    #[test]
    fn a_walk_from_a_node_tells_what_stands_below_it(
        tokens in tokens(),
        from in prop::collection::vec(prop_oneof![Just(b'a'), Just(b'b')], 0..3),
        refused in refused(),
    ) {
        let vocabulary = vocabulary(&tokens);
        let trie = vocabulary.trie();
        let node = from.iter().try_fold(NodeId::ROOT, |node, &byte| trie.child(node, byte));
        prop_assume!(node.is_some());
        let node = node.unwrap();
        let expected: Vec<TokenId> = (0..).map(TokenId::new).zip(&tokens)
            .filter(|(_, bytes)| bytes.len() > from.len() && bytes.starts_with(&from))
            .filter(|(_, bytes)| !bytes[from.len()..].iter().enumerate()
                .any(|(at, &byte)| refused.contains(&(at, byte))))
            .map(|(id, _)| id).collect();

        let mut walked = Vec::new();
        let mut recognizer = Refusing { refused: &refused, taken: Vec::new() };
        let stats = trie.walk_from(node, &mut recognizer, |token| walked.push(token));
        prop_assert!(recognizer.taken.is_empty());
        walked.sort_unstable();
        prop_assert_eq!(&walked, &expected);

        let step = |depth: usize, byte: u8| (!refused.contains(&(depth, byte))).then_some(depth + 1);
        let mut by_state = Vec::new();
        // A scratch that an earlier, deeper walk has filled must not show.
        let mut scratch = WalkScratch::default();
        trie.walk_states(1_000, &mut scratch, |depth, _| Some(depth + 1), |_, _| ());
        let told = |token, _: usize| by_state.push(token);
        let by_states = trie.walk_states_from(node, 0, &mut scratch, step, told);
        by_state.sort_unstable();
        prop_assert_eq!(&by_state, &expected);
        prop_assert_eq!(stats, by_states, "both look at the same nodes");
    }

    #[test]
    fn classes_change_nothing_but_the_number_of_questions(
        tokens in tokens(),
        seed in prop::collection::vec(0..3_u8, 256),
        refused in prop::collection::vec((0..4_usize, 0..3_u8), 0..5),
    ) {
        let vocabulary = vocabulary(&tokens);
        let trie = vocabulary.trie();
        let classes: [u8; 256] = std::array::from_fn(|byte| seed[byte]);
        let step = |depth: usize, class: u8| (!refused.contains(&(depth, class))).then_some(depth + 1);
        let mut scratch = WalkScratch::default();
        let mut expected = Vec::new();
        trie.walk_states(
            0,
            &mut scratch,
            |depth, byte| step(depth, classes[usize::from(byte)]),
            |token, depth| expected.push((token, depth)),
        );
        for _ in 0..2 {
            let mut told = Vec::new();
            let stats = trie.walk_states_classes(
                0, &classes, &mut scratch, step, |token, depth| told.push((token, depth)),
            );
            prop_assert_eq!(&told, &expected);
            prop_assert_eq!(stats.nodes, questions(trie, &classes, &step));
        }
    }

    #[test]
    fn children_ends_and_tokens_agree_with_the_list(tokens in tokens()) {
        let vocabulary = vocabulary(&tokens);
        let trie = vocabulary.trie();
        let mut pending = vec![(NodeId::ROOT, Vec::new())];
        let mut visited = 0;
        while let Some((node, path)) = pending.pop() {
            visited += 1;
            let spelt: Vec<TokenId> = (0..).map(TokenId::new).zip(&tokens)
                .filter(|(_, bytes)| **bytes == path && !path.is_empty()).map(|(id, _)| id).collect();
            prop_assert_eq!(trie.tokens(node), &spelt);
            let mut below: Vec<TokenId> = (0..).map(TokenId::new).zip(&tokens)
                .filter(|(_, bytes)| bytes.starts_with(&path) && !bytes.is_empty()).map(|(id, _)| id).collect();
            let mut told = trie.tokens_below(node).to_vec();
            below.sort_unstable();
            told.sort_unstable();
            prop_assert_eq!(told, below);
            let children: Vec<(u8, NodeId)> = trie.children(node).collect();
            prop_assert!(children.windows(2).all(|pair| pair[0].0 < pair[1].0));
            for byte in 0..=255 {
                let named = children.iter().find(|child| child.0 == byte).map(|child| child.1);
                prop_assert_eq!(trie.child(node, byte), named);
            }
            for (byte, child) in children {
                prop_assert_eq!(trie.depth(child), path.len() + 1);
                let mut path = path.clone();
                path.push(byte);
                pending.push((child, path));
            }
        }
        prop_assert_eq!(visited, trie.node_count());
        prop_assert_eq!(trie.subtree_end(NodeId::ROOT).index(), trie.node_count());
    }
}

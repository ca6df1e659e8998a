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
        refused in prop::collection::vec((0..4_usize, prop_oneof![Just(b'a'), Just(b'b'), any::<u8>()]), 0..6),
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

        // Classes as fine as bytes, and the same in pairs of bytes that are refused alike.
        let classes: [u8; 256] = std::array::from_fn(|byte| {
            let byte = byte as u8;
            match refused.iter().any(|&(_, other)| other == byte) {
                true => byte,
                false => 1 + u8::from(refused.iter().any(|&(_, other)| other == 1)),
            }
        });
        let mut by_class = Vec::new();
        let step = |depth: usize, class: u8| {
            let hit = refused.iter().any(|&(at, byte)| at == depth && classes[byte as usize] == class && byte == class);
            (!hit).then_some(depth + 1)
        };
        if !refused.iter().any(|&(_, byte)| byte <= 2) {
            trie.walk_states_classes(0, &classes, step, |token, depth| by_class.push((token, depth)));
            by_class.sort_unstable();
            prop_assert_eq!(&by_class, &with_depth);
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

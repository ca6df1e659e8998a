//! The vocabulary as a plain trie: the oracle shares no walk with what it judges.

use formwork_vocab::{TokenId, Vocabulary};

/// Children and tokens by node.
#[derive(Debug)]
pub(super) struct Trie {
    nodes: Vec<Node>,
}

#[derive(Debug, Default)]
struct Node {
    /// Ascending by byte.
    children: Vec<(u8, usize)>,
    tokens: Vec<TokenId>,
}

impl Trie {
    pub(super) const ROOT: usize = 0;

    /// The emittable tokens that have bytes.
    pub(super) fn new(vocabulary: &Vocabulary) -> Self {
        let mut nodes = vec![Node::default()];
        let known = u32::try_from(vocabulary.tokenizer_len()).expect("ids are u32");
        let emittable = (0..known).map(TokenId::new).filter(|&id| vocabulary.is_emittable(id));
        for (id, bytes) in emittable.filter_map(|id| vocabulary.bytes(id).map(|bytes| (id, bytes)))
        {
            let mut at = Self::ROOT;
            for &byte in bytes {
                let children = &nodes[at].children;
                at = match children.binary_search_by_key(&byte, |child| child.0) {
                    Ok(index) => children[index].1,
                    Err(index) => {
                        let child = nodes.len();
                        nodes[at].children.insert(index, (byte, child));
                        nodes.push(Node::default());
                        child
                    }
                };
            }
            nodes[at].tokens.push(id);
        }
        Self { nodes }
    }

    pub(super) fn children(&self, node: usize) -> &[(u8, usize)] {
        &self.nodes[node].children
    }

    pub(super) fn tokens(&self, node: usize) -> &[TokenId] {
        &self.nodes[node].tokens
    }
}

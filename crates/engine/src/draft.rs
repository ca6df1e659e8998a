//! Drafts: the rows behind every token that a draft model proposes.
//!
//! A request is walked along the draft and rolled back; it ends in the state it began in, mask and
//! gate and all.

use crate::{
    Engine, Request, RequestError,
    batch::{Rows, SlotOutcome},
};
use formwork::{RowId, TokenId};

/// A draft with branches: a node for every proposed token.
#[derive(Clone, Copy, Debug)]
pub struct DraftTree<'a> {
    /// The token of every node; a negative one is padding, and nothing behind it is walked.
    pub tokens: &'a [i32],
    /// For every node the node before it, which has a smaller number; negative for those that
    /// directly follow the output.
    pub parents: &'a [i32],
}

/// What a tree told.
#[derive(Clone, Debug, Default)]
pub struct TreeOutcome {
    /// For every row (the state's, then the nodes') whether it constrains anything.
    pub needs_apply: Vec<bool>,
    /// For every node whether all tokens down to it are allowed.
    pub valid: Vec<bool>,
    /// The first reason for which a row could not be made: such rows allow the stop ids alone.
    pub error: Option<RequestError>,
}

/// Walks a chain. Rows behind its end are all ones.
pub(crate) fn fill_chain(request: &mut Request, draft: &[i32], rows: &mut Rows<'_>) -> SlotOutcome {
    let before = request.num_tokens();
    let mut outcome = SlotOutcome::default();
    let mut ended = false;
    for row in 0..rows.held.len() {
        if ended {
            rows.unconstrain(row);
            continue;
        }
        if let Err(error) = rows.fill(row, request) {
            outcome.error = Some(error);
            ended = true;
            continue;
        }
        ended = match draft.get(row) {
            Some(&token) => !advance(request, token, &mut outcome.error),
            None => true,
        };
        outcome.valid_draft += usize::from(!ended);
    }
    undo(request, before, &mut outcome.error);
    outcome
}

/// Takes one token of a draft, if it is one and is allowed.
fn advance(request: &mut Request, token: i32, failure: &mut Option<RequestError>) -> bool {
    let Ok(token) = u32::try_from(token) else { return false };
    if request.is_terminated() {
        return false;
    }
    match request.accept_tokens(&[TokenId::new(token)]) {
        Ok(()) => true,
        // A token that is refused is a matter of course.
        Err(RequestError::Accept(_)) => false,
        Err(error) => {
            failure.get_or_insert(error);
            false
        }
    }
}

/// Back to so many tokens.
fn undo(request: &mut Request, before: usize, failure: &mut Option<RequestError>) {
    let taken = request.num_tokens().saturating_sub(before);
    if taken > 0
        && let Err(error) = request.rollback(taken)
    {
        failure.get_or_insert(error);
    }
}

impl Engine {
    /// Fills `1 + draft.len()` rows for one request: that of its state, and that after each token of
    /// the draft; those after padding (a negative token) or after a token that is not allowed are
    /// all ones. For many requests there is [`Self::fill_batch`].
    ///
    /// # Panics
    /// When `words` does not hold exactly these rows.
    pub fn fill_draft_chain(
        &self,
        request: &mut Request,
        draft: &[i32],
        words: &mut [i32],
    ) -> (SlotOutcome, Vec<bool>) {
        let (rows, width) = (draft.len() + 1, self.vocabulary().row_words());
        assert_eq!(words.len(), rows * width, "words of the rows");
        let mut held = vec![RowId::NONE; rows];
        let mut needs_apply = vec![false; rows];
        let mut rows = Rows { width, words, held: &mut held, needs_apply: &mut needs_apply };
        request.step();
        let outcome = fill_chain(request, draft, &mut rows);
        (outcome, needs_apply)
    }

    /// Fills `1 + nodes` rows for one request: that of its state, and that after every node; those
    /// after nodes that cannot be reached are all ones. The tree is walked depth first, so a node
    /// costs one token taken, one row, and its part of the way back.
    ///
    /// # Errors
    /// [`RequestError::DraftTree`] when a parent does not come before its child; nothing is written
    /// then.
    ///
    /// # Panics
    /// When `words` does not hold exactly these rows, or there are not as many parents as tokens.
    pub fn fill_draft_tree(
        &self,
        request: &mut Request,
        tree: DraftTree<'_>,
        words: &mut [i32],
    ) -> Result<TreeOutcome, RequestError> {
        let (nodes, width) = (tree.tokens.len(), self.vocabulary().row_words());
        assert_eq!(tree.parents.len(), nodes, "parents of the nodes");
        assert_eq!(words.len(), (nodes + 1) * width, "words of the rows");
        let children = children(tree.parents)?;
        request.step();
        let mut held = vec![RowId::NONE; nodes + 1];
        let mut outcome = TreeOutcome {
            needs_apply: vec![false; nodes + 1],
            valid: vec![false; nodes],
            error: None,
        };
        let mut rows =
            Rows { width, words, held: &mut held, needs_apply: &mut outcome.needs_apply };
        let walk = Walk { tree, children: &children, before: request.num_tokens() };
        let (valid, error) = (&mut outcome.valid, &mut outcome.error);
        walk.fill(request, &mut rows, valid, error);
        for (node, valid) in valid.iter().enumerate() {
            if !valid {
                rows.unconstrain(node + 1);
            }
        }
        Ok(outcome)
    }
}

impl Request {
    /// How many tokens of a draft, up to padding, would be accepted. Changes nothing.
    ///
    /// # Errors
    /// [`RequestError`] when the request cannot go on.
    pub fn validate_draft(&mut self, draft: &[i32]) -> Result<usize, RequestError> {
        let tokens = draft.iter().map_while(|&token| u32::try_from(token).ok());
        let tokens: Vec<TokenId> = tokens.map(TokenId::new).collect();
        self.validate_tokens(&tokens)
    }
}

/// For the state, then for every node, the nodes that directly follow.
fn children(parents: &[i32]) -> Result<Vec<Vec<usize>>, RequestError> {
    let mut children = vec![Vec::new(); parents.len() + 1];
    for (node, &parent) in parents.iter().enumerate() {
        let place = usize::try_from(parent).map_or(0, |parent| parent + 1);
        if place > node {
            return Err(RequestError::DraftTree { node });
        }
        children[place].push(node);
    }
    Ok(children)
}

/// A walk over a tree.
struct Walk<'a> {
    tree: DraftTree<'a>,
    children: &'a [Vec<usize>],
    /// Tokens of the request.
    before: usize,
}

impl Walk<'_> {
    fn fill(
        &self,
        request: &mut Request,
        rows: &mut Rows<'_>,
        valid: &mut [bool],
        error: &mut Option<RequestError>,
    ) {
        if let Err(failure) = rows.fill(0, request) {
            *error = Some(failure);
            return;
        }
        // Nodes to be visited, with the number of tokens before each.
        let followers = |place: usize, depth: usize| {
            self.children[place].iter().rev().map(move |&node| (node, depth))
        };
        let mut stack: Vec<(usize, usize)> = followers(0, 0).collect();
        while let Some((node, depth)) = stack.pop() {
            undo(request, self.before + depth, error);
            if !advance(request, self.tree.tokens[node], error) {
                continue;
            }
            valid[node] = true;
            match rows.fill(node + 1, request) {
                Ok(()) => stack.extend(followers(node + 1, depth + 1)),
                Err(failure) => drop(error.get_or_insert(failure)),
            }
        }
        undo(request, self.before, error);
    }
}

#[cfg(test)]
mod tests;

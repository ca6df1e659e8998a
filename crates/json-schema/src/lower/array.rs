//! Arrays: the first items one by one, then a counted repetition.

use super::{Clause, Lowered, body::Lowering, layout::Content};
use formwork_grammar::ExprId;

impl Lowering<'_> {
    /// The arrays that satisfy a clause.
    pub(super) fn array(&mut self, clause: &Clause) -> Lowered<ExprId> {
        let shape = self.analysis.array_shape(clause)?;
        let mut prefix = Vec::with_capacity(shape.prefix.len());
        let (min, mut max) = (shape.count.min, shape.count.max);
        let mut rest = None;
        // The first item that nothing can be is where the array ends at the latest.
        let mut ended = false;
        for &set in &shape.prefix {
            if max.is_some_and(|max| prefix.len() >= max as usize) {
                break;
            }
            if !self.analysis.is_satisfiable(set)? {
                ended = true;
                break;
            }
            prefix.push(self.reference(set)?);
            self.check_nodes(self.body.len())?;
        }
        let fixed = u32::try_from(prefix.len()).expect("fewer items than 2^32");
        if ended || !self.analysis.is_satisfiable(shape.rest)? {
            max = Some(max.unwrap_or(fixed).min(fixed));
        } else if max.is_none_or(|max| max > fixed) {
            rest = Some(self.reference(shape.rest)?);
        }
        if max.is_some_and(|max| max < min) {
            return Ok(self.body.never());
        }
        let content = match self.items(&prefix, rest, (min, max)) {
            None => Content::Empty,
            Some(items) if min == 0 => Content::Optional(items),
            Some(items) => Content::Items(items),
        };
        Ok(self.pieces.container(self.body, *b"[]", content))
    }

    /// At least one item, and `min` of them; none when there can be no item. Not more than `prefix`
    /// without `rest`.
    fn items(
        &mut self,
        prefix: &[ExprId],
        rest: Option<ExprId>,
        (min, max): (u32, Option<u32>),
    ) -> Option<ExprId> {
        let separator = self.pieces.item_separator;
        let Some((&first, further)) = prefix.split_first() else {
            let rest = rest?;
            let more = self.body.seq(&[separator, rest]);
            let more =
                self.body.repeat(more, min.saturating_sub(1), max.map(|max| max.saturating_sub(1)));
            return Some(self.body.seq(&[rest, more]));
        };
        // From the end: what may follow, an option inside the option before it.
        let fixed = u32::try_from(prefix.len()).expect("fewer items than 2^32");
        let mut tail = match rest {
            Some(rest) => {
                let more = self.body.seq(&[separator, rest]);
                self.body.repeat(more, min.saturating_sub(fixed), max.map(|max| max - fixed))
            }
            None => self.body.empty(),
        };
        let mandatory = (min as usize).saturating_sub(1).min(further.len());
        for &item in further[mandatory..].iter().rev() {
            let more = self.body.seq(&[separator, item, tail]);
            tail = self.body.optional(more);
        }
        let mut parts = vec![first];
        for &item in &further[..mandatory] {
            parts.extend([separator, item]);
        }
        parts.push(tail);
        Some(self.body.seq(&parts))
    }
}

//! A step of a batch: all rows, in the caller's order, side by side where that pays.

use crate::{Engine, Request, RequestError, draft::fill_chain};
use formwork::RowId;
use rayon::prelude::*;

/// One sequence of a batch.
#[derive(Debug)]
pub struct Slot<'a> {
    /// The request; without one the rows are all ones.
    pub request: Option<&'a mut Request>,
    /// Tokens that the draft model proposes, as many as there are rows after the first at most. A
    /// negative one is padding and ends the draft.
    pub draft: &'a [i32],
}

/// What a step told of its rows, and what stands in them. One value goes with one buffer of rows:
/// whoever writes to the buffer by other ways, or takes another, [forgets](Self::forget) first.
#[derive(Clone, Debug)]
pub struct Step {
    /// Rows of every slot: one, and one for every draft token.
    rows_per_slot: usize,
    held: Vec<RowId>,
    needs_apply: Vec<bool>,
    outcomes: Vec<SlotOutcome>,
}

/// What a step told of a slot.
#[derive(Clone, Debug, Default)]
pub struct SlotOutcome {
    /// How many tokens of the draft are allowed, from the first on.
    pub valid_draft: usize,
    /// Why a row could not be made: it then allows the stop ids alone, and the rows after it are all
    /// ones.
    pub error: Option<RequestError>,
}

/// The rows of one slot.
#[derive(Debug)]
pub(crate) struct Rows<'a> {
    /// Words of a row.
    pub(crate) width: usize,
    pub(crate) words: &'a mut [i32],
    pub(crate) held: &'a mut [RowId],
    pub(crate) needs_apply: &'a mut [bool],
}

impl Step {
    /// For batches with drafts of at most `draft_tokens`.
    #[must_use]
    pub fn new(draft_tokens: usize) -> Self {
        Self {
            rows_per_slot: draft_tokens + 1,
            held: Vec::new(),
            needs_apply: Vec::new(),
            outcomes: Vec::new(),
        }
    }

    /// Rows of every slot.
    #[must_use]
    pub fn rows_per_slot(&self) -> usize {
        self.rows_per_slot
    }

    /// Nothing is known of the buffer any longer.
    pub fn forget(&mut self) {
        self.held.clear();
    }

    /// For every row whether it constrains anything, so that it must be applied.
    #[must_use]
    pub fn needs_apply(&self) -> &[bool] {
        &self.needs_apply
    }

    /// What was told of every slot.
    #[must_use]
    pub fn outcomes(&self) -> &[SlotOutcome] {
        &self.outcomes
    }

    fn resize(&mut self, slots: usize) {
        let rows = slots * self.rows_per_slot;
        self.held.resize(rows, RowId::NONE);
        self.needs_apply.resize(rows, false);
        self.outcomes.resize_with(slots, SlotOutcome::default);
    }
}

/// Slots that a thread takes at once.
const SLOTS_AT_ONCE: usize = 16;

impl Engine {
    /// Fills the rows of a batch: for slot `i` the rows from `i * rows_per_slot` on, of
    /// [`row_words`](formwork::Vocabulary::row_words) words each. The first is the row of the state,
    /// each further one that after one more token of the draft; rows after the draft's end, or after
    /// a token that is not allowed, are all ones. Requests end in the state that they began in.
    ///
    /// What goes wrong with one request is told of its slot; no other is touched. Nothing is
    /// allocated for steps of the same size, a row that already stands there is not written again.
    ///
    /// # Panics
    /// When `words` does not hold exactly these rows, or a draft is too long.
    pub fn fill_batch(&self, slots: &mut [Slot<'_>], words: &mut [i32], step: &mut Step) {
        let (width, rows) = (self.vocabulary().row_words(), step.rows_per_slot);
        assert_eq!(words.len(), slots.len() * rows * width, "words of the rows");
        assert!(slots.iter().all(|slot| slot.draft.len() < rows), "draft tokens have rows");
        step.resize(slots.len());
        if width == 0 {
            return;
        }
        let _span = tracing::trace_span!("fill_batch", slots = slots.len()).entered();
        let constrained = |slot: &&Slot<'_>| {
            slot.request.as_ref().is_some_and(|request| request.is_constrained())
        };
        let work = rows * slots.iter().filter(constrained).count();
        let held = &mut step.held;
        match work < self.config().step.parallel_rows.max(1) {
            true => {
                let chunks = words.chunks_mut(rows * width).zip(held.chunks_mut(rows));
                let chunks = chunks.zip(step.needs_apply.chunks_mut(rows));
                let slots = slots.iter_mut().zip(&mut step.outcomes).zip(chunks);
                for ((slot, outcome), ((words, held), needs_apply)) in slots {
                    *outcome = fill_slot(slot, Rows { width, words, held, needs_apply });
                }
            }
            false => self.shared.threads.install(|| {
                let chunks = words.par_chunks_mut(rows * width).zip(held.par_chunks_mut(rows));
                let chunks = chunks.zip(step.needs_apply.par_chunks_mut(rows));
                let slots = slots.par_iter_mut().zip(&mut step.outcomes).zip(chunks);
                let slots = slots.with_max_len(SLOTS_AT_ONCE).with_min_len(SLOTS_AT_ONCE / 2);
                slots.for_each(|((slot, outcome), ((words, held), needs_apply))| {
                    *outcome = fill_slot(slot, Rows { width, words, held, needs_apply });
                });
            }),
        }
    }
}

fn fill_slot(slot: &mut Slot<'_>, mut rows: Rows<'_>) -> SlotOutcome {
    match &mut slot.request {
        None => {
            (0..rows.held.len()).for_each(|row| rows.unconstrain(row));
            SlotOutcome::default()
        }
        Some(request) => {
            request.step();
            fill_chain(request, slot.draft, &mut rows)
        }
    }
}

impl Rows<'_> {
    /// The words of a row.
    pub(crate) fn row(&mut self, row: usize) -> &mut [i32] {
        &mut self.words[row * self.width..][..self.width]
    }

    /// Makes a row all ones.
    pub(crate) fn unconstrain(&mut self, row: usize) {
        if self.held[row] != RowId::UNCONSTRAINED {
            self.row(row).fill(-1);
            self.held[row] = RowId::UNCONSTRAINED;
        }
        self.needs_apply[row] = false;
    }

    /// Fills a row from a request.
    pub(crate) fn fill(&mut self, row: usize, request: &mut Request) -> Result<(), RequestError> {
        let held = self.held[row];
        let filled = request.fill(self.row(row), held);
        let id = filled.as_ref().map_or(RowId::NONE, |filled| filled.row(held));
        (self.held[row], self.needs_apply[row]) = (id, id.needs_apply());
        filled.map(drop)
    }
}

//! The tables as a machine that a session runs.

use crate::{
    fill::mask,
    mask::Mask,
    place::{FrameRef, Thread},
    tables::{Configuration, Tables},
    walker::{Level, Walker},
};
use formwork_core::{Machine, MaskDelta, RowId, StepError, StopSets, TokenId, Vocabulary, Warning};
use std::sync::Arc;

impl Tables {
    /// The configuration before the first byte.
    ///
    /// # Errors
    /// What is wrong with the root of the grammar, or a limit.
    pub(crate) fn first(&self) -> Result<u32, StepError> {
        if let Some(&start) = self.start.get() {
            return Ok(start);
        }
        let mut walker = Walker::new(self);
        let place = self.program.start(0);
        let level = walker.start(Thread { place, frame: FrameRef::ROOT })?;
        let start = walker.commit(level)?;
        Ok(*self.start.get_or_init(|| start))
    }

    fn mask(&self, configuration: u32) -> Result<&Mask, StepError> {
        let configuration = self.configuration_at(configuration);
        if let Some(mask) = configuration.mask.get() {
            return Ok(mask);
        }
        let made = mask(self, &configuration.threads)?;
        self.spend(made.memory_bytes());
        Ok(configuration.mask.get_or_init(|| made))
    }

    /// Reads bytes; the offset of the first that cannot be read is the inner error.
    fn read(&self, configuration: u32, bytes: &[u8]) -> Result<Result<u32, usize>, StepError> {
        let Configuration { threads, accepting, .. } = self.configuration_at(configuration);
        let mut walker = Walker::new(self);
        let mut level = walker.level_of(threads, *accepting);
        for (offset, &byte) in bytes.iter().enumerate() {
            level = walker.read(level, byte)?;
            if level.first == level.end && (!level.accepting || offset + 1 < bytes.len()) {
                return Ok(Err(if level.accepting { offset + 1 } else { offset }));
            }
        }
        Ok(Ok(walker.commit(level)?))
    }
}

impl Machine for Tables {
    type State = u32;

    fn vocabulary(&self) -> &Arc<Vocabulary> {
        &self.program.vocabulary
    }

    fn stop_sets(&self) -> &StopSets {
        &self.stop_sets
    }

    fn start(&self) -> u32 {
        *self.start.get().expect("a backend looks at the start before it hands tables out")
    }

    fn step(&self, state: u32, token: TokenId) -> Option<u32> {
        self.try_step(state, token).ok().flatten()
    }

    fn try_step(&self, state: u32, token: TokenId) -> Result<Option<u32>, StepError> {
        let vocabulary = &self.program.vocabulary;
        if !vocabulary.is_emittable(token) {
            return Ok(None);
        }
        let bytes = vocabulary.bytes(token);
        if !self.program.names_tokens() {
            return Ok(match bytes {
                Some(bytes) => self.read(state, bytes)?.ok(),
                None => None,
            });
        }
        let Configuration { threads, accepting, .. } = self.configuration_at(state);
        let mut walker = Walker::new(self);
        let level = walker.level_of(threads, *accepting);
        let is_none = |level: Level| level.first == level.end && !level.accepting;
        let as_symbol = walker.read_token(level, token.as_u32())?;
        let mut as_text = level;
        let mut left = bytes.unwrap_or_default();
        while let Some((&byte, rest)) = left.split_first()
            && as_text.first < as_text.end
        {
            as_text = walker.read(as_text, byte)?;
            left = rest;
        }
        if !left.is_empty() {
            as_text = Level { end: as_text.first, accepting: false, ..as_text };
        }
        let after = match (bytes.is_none() || is_none(as_text), is_none(as_symbol)) {
            (true, true) => return Ok(None),
            (true, false) => as_symbol,
            (false, true) => as_text,
            (false, false) => walker.either(as_text, as_symbol),
        };
        walker.commit(after).map(Some)
    }

    fn prepare_row(&self, state: u32) -> Result<(), StepError> {
        self.mask(state).map(|_| ())
    }

    fn step_bytes(&self, state: u32, bytes: &[u8]) -> Result<u32, usize> {
        self.read(state, bytes).unwrap_or(Err(0))
    }

    fn is_accepting(&self, state: u32) -> bool {
        self.configuration_at(state).accepting
    }

    fn may_continue(&self, state: u32) -> bool {
        !self.configuration_at(state).threads.is_empty()
    }

    fn row(&self, state: u32) -> RowId {
        RowId::stored(self.table, state)
    }

    fn write_row(&self, state: u32, row: &mut [i32]) {
        match self.mask(state) {
            Ok(mask) => mask.write(row, self.program.vocabulary.model_len()),
            // Whoever prepared the row knows that it could not be made.
            Err(_) => row.fill(0),
        }
    }

    fn row_delta(&self, state: u32, delta: &mut MaskDelta) -> bool {
        let mask = self.mask(state);
        mask.is_ok_and(|mask| mask.write_delta(&self.bases, delta))
    }

    fn forced_bytes(&self, state: u32, limit: usize, bytes: &mut Vec<u8>) {
        let Configuration { threads, accepting, .. } = self.configuration_at(state);
        let mut walker = Walker::new(self);
        let mut level = walker.level_of(threads, *accepting);
        for _ in 0..limit {
            let tokens = walker.token_sets(level);
            if tokens.is_ok_and(|tokens| !tokens.is_empty()) {
                return;
            }
            let Ok(next) = walker.exact_bytes(level) else { return };
            let (false, Some(byte), 1) = (level.accepting, next.first(), next.len()) else {
                return;
            };
            match walker.read(level, byte) {
                Ok(after) => level = after,
                Err(_) => return,
            }
            bytes.push(byte);
        }
    }

    fn memory_bytes(&self) -> usize {
        self.bytes() + self.program.memory_bytes()
    }

    fn warnings(&self) -> &[Warning] {
        self.program.grammar.warnings()
    }
}

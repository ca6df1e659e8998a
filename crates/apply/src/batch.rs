//! Rows of logits and rows of masks in the caller's memory, and which belongs to which.

use crate::{
    ApplyError, Extent,
    error::{check_len, check_rows},
};
use formwork_mask::{BatchBitmask, Row, words_for};

/// Rows of logits to read.
#[derive(Clone, Copy, Debug)]
pub struct Logits<'a, T> {
    pub(crate) data: &'a [T],
    pub(crate) rows: usize,
    pub(crate) tokens: usize,
    pub(crate) stride: usize,
}

/// Rows of logits to write: row `i` is `data[i * stride..][..tokens]`, and what lies between rows is
/// never touched.
#[derive(Debug)]
pub struct LogitsMut<'a, T> {
    pub(crate) data: &'a mut [T],
    pub(crate) rows: usize,
    pub(crate) tokens: usize,
    pub(crate) stride: usize,
}

/// Packed masks to read, and which row of logits is under which of them.
///
/// Without a map, row `i` of the logits is under mask `i`. With one, it is under the mask that entry
/// `i` names, so that many rows can share one mask; `None` leaves the row as it is.
#[derive(Clone, Copy, Debug)]
pub struct Masks<'a> {
    words: &'a [i32],
    rows: usize,
    tokens: usize,
    stride: usize,
    map: Option<&'a [Option<u32>]>,
}

impl<'a, T> Logits<'a, T> {
    /// `rows` rows of `tokens` logits, `stride` elements from one to the next.
    ///
    /// # Errors
    /// When rows overlap or do not fit the slice.
    pub fn new(
        data: &'a [T],
        rows: usize,
        tokens: usize,
        stride: usize,
    ) -> Result<Self, ApplyError> {
        check_rows(Extent::Logits, [rows, stride, tokens], data.len())?;
        Ok(Self { data, rows, tokens, stride })
    }

    pub(crate) fn row(&self, row: usize) -> &'a [T] {
        &self.data[row * self.stride..][..self.tokens]
    }
}

impl<'a, T> LogitsMut<'a, T> {
    /// `rows` rows of `tokens` logits, `stride` elements from one to the next.
    ///
    /// # Errors
    /// When rows overlap or do not fit the slice.
    pub fn new(
        data: &'a mut [T],
        rows: usize,
        tokens: usize,
        stride: usize,
    ) -> Result<Self, ApplyError> {
        check_rows(Extent::Logits, [rows, stride, tokens], data.len())?;
        Ok(Self { data, rows, tokens, stride })
    }
}

impl<'a> Masks<'a> {
    /// `rows` packed rows of `tokens` bits, `stride` words from one to the next.
    ///
    /// # Errors
    /// When rows overlap or do not fit the slice.
    pub fn new(
        words: &'a [i32],
        rows: usize,
        tokens: usize,
        stride: usize,
    ) -> Result<Self, ApplyError> {
        check_rows(Extent::Masks, [rows, stride, words_for(tokens)], words.len())?;
        Ok(Self { words, rows, tokens, stride, map: None })
    }

    /// The rows of a batch.
    #[must_use]
    pub fn of_batch(batch: &'a BatchBitmask) -> Self {
        Self {
            words: batch.words(),
            rows: batch.rows(),
            tokens: batch.tokens(),
            stride: words_for(batch.tokens()),
            map: None,
        }
    }

    /// The same masks with entry `i` of `map` naming the one of row `i` of the logits.
    #[must_use]
    pub fn with_map(self, map: &'a [Option<u32>]) -> Self {
        Self { map: Some(map), ..self }
    }

    /// The mask of a row of logits. Only after [`Self::check`] for as many rows.
    pub(crate) fn of_row(&self, row: usize) -> Option<Row<'a>> {
        let mask = match self.map {
            None => row,
            Some(map) => map[row]? as usize,
        };
        let words = &self.words[mask * self.stride..][..words_for(self.tokens)];
        Some(Row::new(words, self.tokens))
    }

    /// Whether each of `rows` rows of `tokens` logits has its mask.
    pub(crate) fn check(&self, rows: usize, tokens: usize) -> Result<(), ApplyError> {
        if tokens != self.tokens {
            return Err(ApplyError::Tokens { logits: tokens, masks: self.tokens });
        }
        let Some(map) = self.map else { return check_len(Extent::Masks, rows, self.rows) };
        check_len(Extent::RowMap, rows, map.len())?;
        for (row, mask) in map[..rows].iter().enumerate() {
            let mask = mask.map_or(0, |mask| mask as usize);
            if map[row].is_some() && mask >= self.rows {
                return Err(ApplyError::NoSuchMask { row, mask, masks: self.rows });
            }
        }
        Ok(())
    }
}

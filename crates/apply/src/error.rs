//! What a caller can get wrong about shapes.

/// A batch whose parts do not fit each other. Nothing has been written when one is returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ApplyError {
    /// A row is longer than the distance between rows.
    #[error("{extent}: rows of {needed} do not fit a stride of {stride}")]
    Stride {
        /// Which of the caller's arrays.
        extent: Extent,
        /// What a row needs, in elements.
        needed: usize,
        /// The distance between rows, in elements.
        stride: usize,
    },
    /// An array is shorter than its shape says.
    #[error("{extent}: has {len}, needs {needed}")]
    Short {
        /// Which of the caller's arrays.
        extent: Extent,
        /// What the shape needs, in elements.
        needed: usize,
        /// What there is.
        len: usize,
    },
    /// Logits and masks are of different vocabularies.
    #[error("logits of {logits} tokens under masks of {masks} tokens")]
    Tokens {
        /// Tokens per row of logits.
        logits: usize,
        /// Tokens per mask.
        masks: usize,
    },
    /// The row map names a mask that is not there.
    #[error("row {row} asks for mask {mask} of {masks}")]
    NoSuchMask {
        /// The row of logits.
        row: usize,
        /// The mask it asks for.
        mask: usize,
        /// How many masks there are.
        masks: usize,
    },
}

/// Which of a caller's arrays an error speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Extent {
    /// The logits.
    #[error("logits")]
    Logits,
    /// The packed masks.
    #[error("masks")]
    Masks,
    /// The row map.
    #[error("row map")]
    RowMap,
    /// The sampler's keys.
    #[error("sample keys")]
    Keys,
    /// The chosen tokens.
    #[error("chosen tokens")]
    Chosen,
}

/// Elements that `rows` rows at a distance of `stride` take, the last without its padding.
pub(crate) fn span(rows: usize, stride: usize, row: usize) -> Option<usize> {
    match rows.checked_sub(1) {
        None => Some(0),
        Some(before) => before.checked_mul(stride)?.checked_add(row),
    }
}

/// Checks that rows fit their stride and their array.
pub(crate) fn check_rows(
    extent: Extent,
    [rows, stride, row]: [usize; 3],
    len: usize,
) -> Result<(), ApplyError> {
    if row > stride && rows > 1 {
        return Err(ApplyError::Stride { extent, needed: row, stride });
    }
    // An overflow needs more than any array has.
    let needed = span(rows, stride, row).unwrap_or(usize::MAX);
    if len < needed { Err(ApplyError::Short { extent, needed, len }) } else { Ok(()) }
}

/// Checks that an array has an element per row.
pub(crate) fn check_len(extent: Extent, needed: usize, len: usize) -> Result<(), ApplyError> {
    if len < needed { Err(ApplyError::Short { extent, needed, len }) } else { Ok(()) }
}

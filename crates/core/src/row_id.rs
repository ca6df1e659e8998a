//! Identities of mask rows: how a caller learns that the row it holds is already right.

use std::sync::atomic::{AtomicU64, Ordering};

/// The identity of the contents of a row. Two rows with the same identity have the same bits, in
/// any process run; [`RowId::NONE`] says that nothing is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RowId {
    table: u64,
    row: u32,
    /// 0: as stored; otherwise the stop set patched in, plus one.
    stops: u32,
}

/// A table of rows, unique in this process for as long as it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TableId(u64);

/// What `fill_bitmask` did to the row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filled {
    /// Nothing: the caller's row already holds this mask.
    Unchanged,
    /// The row was written whole and now has this identity.
    Written(RowId),
}

impl TableId {
    /// An identity no other table of this process has.
    #[must_use]
    pub fn unique() -> Self {
        // 0 is taken by the well-known rows below.
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

impl RowId {
    /// Nothing is known of the row. Never equal to what a row holds.
    pub const NONE: Self = Self { table: 0, row: 0, stops: 0 };
    /// All ones, padding included: nothing is constrained, nothing need be applied.
    pub const UNCONSTRAINED: Self = Self { table: 0, row: 1, stops: 0 };
    /// No token: the base of a delta that lists every allowed token.
    pub const ZEROS: Self = Self { table: 0, row: 2, stops: 0 };

    /// Row `row` of a table, as stored.
    #[must_use]
    pub fn stored(table: TableId, row: u32) -> Self {
        Self { table: table.0, row, stops: 0 }
    }

    /// The same row with a stop set patched in; the number is the set's in its
    /// [`StopSets`](crate::StopSets), which must belong to the table.
    #[must_use]
    pub fn with_stops(self, set: u32) -> Self {
        Self { stops: set + 1, ..self }
    }

    /// The same row as stored, without stop ids.
    #[must_use]
    pub fn without_stops(self) -> Self {
        Self { stops: 0, ..self }
    }

    /// The row's number when it belongs to `table`.
    #[must_use]
    pub fn row_in(self, table: TableId) -> Option<u32> {
        (self.table == table.0).then_some(self.row)
    }

    /// Whether the row constrains anything, so that it must be applied to the logits.
    #[must_use]
    pub fn needs_apply(self) -> bool {
        self != Self::UNCONSTRAINED
    }
}

impl Filled {
    /// The identity the row has now, given the one that was passed in.
    #[must_use]
    pub fn row(self, held: RowId) -> RowId {
        match self {
            Self::Unchanged => held,
            Self::Written(row) => row,
        }
    }
}

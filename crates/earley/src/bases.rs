//! Rows that masks start from, named for devices that keep them.
//!
//! A mask inside an automaton is a row of the vocabulary, shared by all masks that start from it,
//! and some ids. A row gets its name when a difference first starts from it, keeps it as long as the
//! compiled grammar lives, through all renewals of its tables, and is held for as long: hence the
//! bound on their number.

use dashmap::DashMap;
use formwork_core::{RowId, TableId};
use rustc_hash::FxBuildHasher;
use std::sync::Arc;

/// The most rows that get a name: 16 MB with 128,000 tokens. Real grammars have some dozen.
const MAX_BASES: usize = 1_024;

/// The named rows of a compiled grammar.
#[derive(Debug)]
pub(crate) struct Bases {
    table: TableId,
    rows: boxcar::Vec<Arc<[i32]>>,
    /// By address. A row that is named lives, so that no other comes to stand there.
    numbers: DashMap<usize, u32, FxBuildHasher>,
}

impl Bases {
    pub(crate) fn new() -> Self {
        Self {
            table: TableId::unique(),
            rows: boxcar::Vec::new(),
            numbers: DashMap::with_capacity_and_hasher_and_shard_amount(0, FxBuildHasher, 2),
        }
    }

    /// The name of a row; `None` when there are too many.
    pub(crate) fn name(&self, row: &Arc<[i32]>) -> Option<RowId> {
        let address = row.as_ptr().addr();
        let known = self.numbers.get(&address).map(|number| *number);
        let number = match known {
            Some(number) => number,
            None if self.rows.count() >= MAX_BASES => return None,
            None => *self.numbers.entry(address).or_insert_with(|| {
                u32::try_from(self.rows.push(row.clone())).expect("bounded above")
            }),
        };
        Some(RowId::stored(self.table, number))
    }

    /// The row of a name.
    pub(crate) fn row(&self, name: RowId) -> Option<&[i32]> {
        let row = self.rows.get(name.row_in(self.table)? as usize)?;
        Some(row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_one_name_and_only_so_many_have_one() {
        let bases = Bases::new();
        let rows: Vec<Arc<[i32]>> = (0..=MAX_BASES as i32).map(|word| [word].into()).collect();
        let names: Vec<_> = rows[..MAX_BASES].iter().map(|row| bases.name(row).unwrap()).collect();
        assert_eq!(bases.name(&rows[MAX_BASES]), None);
        for (row, &name) in rows.iter().zip(&names) {
            assert_eq!(bases.name(row), Some(name));
            assert_eq!(bases.row(name), Some(&**row));
        }
        assert_eq!(Bases::new().row(names[0]), None, "names are of one grammar");
    }
}

//! Numbers for lists of integers: equal lists get equal numbers.
//!
//! All lists lie end to end in one vector; the hash table holds numbers only (open addressing,
//! linear probing, at most half full). No allocation per list.

use rustc_hash::FxHasher;
use std::hash::Hasher;

/// Interned lists of `u32`.
#[derive(Clone, Debug)]
pub(crate) struct ListInterner {
    members: Vec<u32>,
    /// One more than there are lists.
    offsets: Vec<usize>,
    hashes: Vec<u32>,
    /// Number of a list plus one; 0 is free. Length is a power of two.
    slots: Vec<u32>,
}

impl ListInterner {
    pub(crate) fn new() -> Self {
        Self { members: Vec::new(), offsets: vec![0], hashes: Vec::new(), slots: vec![0; 64] }
    }

    /// How many lists there are.
    pub(crate) fn len(&self) -> usize {
        self.hashes.len()
    }

    pub(crate) fn list(&self, id: u32) -> &[u32] {
        &self.members[self.offsets[id as usize]..self.offsets[id as usize + 1]]
    }

    /// The number of this list, if it was interned before.
    pub(crate) fn find(&self, list: &[u32]) -> Option<u32> {
        self.probe(list, hash(list)).ok()
    }

    /// The number of this list, and whether it is new.
    ///
    /// # Panics
    /// With 2³² - 1 lists, which memory forbids.
    pub(crate) fn intern(&mut self, list: &[u32]) -> (u32, bool) {
        let hash = hash(list);
        let slot = match self.probe(list, hash) {
            Ok(id) => return (id, false),
            Err(slot) => slot,
        };
        let id = u32::try_from(self.len()).expect("memory holds fewer lists");
        self.slots[slot] = id + 1;
        self.members.extend_from_slice(list);
        self.offsets.push(self.members.len());
        self.hashes.push(hash);
        if self.len() * 2 > self.slots.len() {
            self.grow();
        }
        (id, true)
    }

    /// The number of the list, or else the free slot where it belongs.
    fn probe(&self, list: &[u32], hash: u32) -> Result<u32, usize> {
        let mask = self.slots.len() - 1;
        let mut slot = hash as usize & mask;
        while let Some(id) = self.slots[slot].checked_sub(1) {
            if self.hashes[id as usize] == hash && self.list(id) == list {
                return Ok(id);
            }
            slot = (slot + 1) & mask;
        }
        Err(slot)
    }

    fn grow(&mut self) {
        let mask = self.slots.len() * 2 - 1;
        self.slots.clear();
        self.slots.resize(mask + 1, 0);
        for (id, &hash) in (1..).zip(&self.hashes) {
            let mut slot = hash as usize & mask;
            while self.slots[slot] != 0 {
                slot = (slot + 1) & mask;
            }
            self.slots[slot] = id;
        }
    }

    /// Heap bytes held.
    pub(crate) fn memory_bytes(&self) -> usize {
        4 * (self.members.capacity() + self.hashes.capacity() + self.slots.capacity())
            + std::mem::size_of::<usize>() * self.offsets.capacity()
    }
}

fn hash(list: &[u32]) -> u32 {
    let mut hasher = FxHasher::default();
    for &member in list {
        hasher.write_u32(member);
    }
    // The hasher's best bits, after its final rotation, include both halves: fold them.
    let hash = hasher.finish();
    (hash ^ (hash >> 32)) as u32
}

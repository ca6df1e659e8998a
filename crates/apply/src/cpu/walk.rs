//! The walk over a row's mask that the levels of x86-64 share.
//!
//! # Idea
//! A chunk is 64 words, so that what is known of its words is a bit each in a `u64`. A chunk of
//! ones costs one comparison. In others three kinds of words are told apart:
//!
//! 1. Stretches of whole zero words, at least [`STRETCH`] of them, are filled. A filling may go past
//!    the caches, because it overwrites whole cache lines: nothing is read to be overwritten.
//! 2. Words that refuse one token are one store of one element: a masked store touches the lines of
//!    all its lanes, also those it leaves alone.
//! 3. All other words are the level's masked stores.
//!
//! What is not filled must first come into the cache. Masked stores would wait for their lines one
//! after the other, so the lines of a chunk are asked for while the chunk before is stored.
//!
//! # Tried and lost
//! Lines asked for four chunks ahead, and for single stores, too; a list of the words to be stored, to ask a fixed number of
//! words ahead; single elements stored past the caches (six times slower); zero words filled past
//! the caches one by one (half as fast where they lie scattered). Bench: `apply`.

#![expect(unsafe_code, reason = "asking for a line is an instruction without an intrinsic")]

use formwork_mask::WORD_BITS;

/// Words of a chunk.
pub(super) const CHUNK: usize = 64;

/// The fewest zero words in a row, and aligned to as many, that are filled.
const STRETCH: u32 = 4;

/// What is known of the words of a chunk, a bit each.
#[derive(Clone, Copy)]
pub(super) struct Found {
    /// Not all ones.
    pub(super) constrained: u64,
    /// All zeros.
    pub(super) zero: u64,
}

/// What the levels do differently.
pub(super) struct Ways<Scan, Fill, Store> {
    /// Looks at a chunk.
    pub(super) scan: Scan,
    /// Refuses all of some whole words' logits.
    pub(super) fill: Fill,
    /// Refuses what a word refuses of its 32 logits.
    pub(super) store: Store,
}

impl Found {
    /// The words in stretches that are filled.
    fn filled(self) -> u64 {
        let pairs = self.zero & self.zero >> 1;
        let fours = pairs & pairs >> 2 & 0x1111_1111_1111_1111;
        fours * ((1 << STRETCH) - 1)
    }
}

/// Applies whole words to their 32 logits each. `refused` is minus infinity.
#[inline(always)]
pub(super) fn walk<B: Copy, Scan, Fill, Store>(
    logits: &mut [B],
    words: &[i32],
    refused: B,
    ways: &Ways<Scan, Fill, Store>,
) where
    Scan: Fn(&[i32; CHUNK]) -> Found,
    Fill: Fn(&mut [B]),
    Store: Fn(&mut [B], i32),
{
    let (chunks, rest) = words.as_chunks::<CHUNK>();
    // What is past the row refuses nothing.
    let mut last = [-1; CHUNK];
    last[..rest.len()].copy_from_slice(rest);
    let count = words.len().div_ceil(CHUNK);
    let (mut filled, mut stored) = (0_u64, 0_u64);
    // One loop with one place for each of the level's ways: they are inlined then, and the level's
    // instructions with them.
    for index in 0..=count {
        let (mut now_filled, mut now_stored) = (filled, stored);
        (filled, stored) = (0, 0);
        if index < count {
            let chunk = chunks.get(index).unwrap_or(&last);
            let found = (ways.scan)(chunk);
            filled = found.filled();
            stored = found.constrained & !filled;
            let mut asked = stored;
            while asked != 0 {
                let bit = asked.trailing_zeros() as usize;
                let logits = &logits[(index * CHUNK + bit) * WORD_BITS..][..WORD_BITS];
                // A single store waits for its line by itself, beside others.
                if !(!chunk[bit].cast_unsigned()).is_power_of_two() {
                    ask_for_lines(logits);
                }
                asked &= asked - 1;
            }
        }
        let Some(before) = index.checked_sub(1) else { continue };
        while now_filled != 0 {
            let first = now_filled.trailing_zeros();
            let len = (!(now_filled >> first)).trailing_zeros().min(u64::BITS - first);
            let word = before * CHUNK + first as usize;
            (ways.fill)(&mut logits[word * WORD_BITS..][..len as usize * WORD_BITS]);
            now_filled &= !(u64::MAX >> (u64::BITS - len) << first);
        }
        while now_stored != 0 {
            let word = before * CHUNK + now_stored.trailing_zeros() as usize;
            let logits = &mut logits[word * WORD_BITS..][..WORD_BITS];
            let zeros = !words[word].cast_unsigned();
            match zeros.is_power_of_two() {
                true => logits[zeros.trailing_zeros() as usize] = refused,
                false => (ways.store)(logits, words[word]),
            }
            now_stored &= now_stored - 1;
        }
    }
}

/// Asks for the cache lines of a word's logits, to write them.
#[inline(always)]
fn ask_for_lines<B>(logits: &[B]) {
    const LINE: usize = 64;
    let begin = logits.as_ptr().cast::<u8>();
    for offset in (0..size_of_val(logits)).step_by(LINE) {
        ask_for_line(begin.wrapping_add(offset));
    }
}

#[inline(always)]
#[cfg_attr(miri, expect(unused_variables, reason = "nothing is asked for"))]
fn ask_for_line(at: *const u8) {
    #[cfg(not(miri))]
    // SAFETY: a hint, which changes nothing but caches and never faults; processors of x86-64 that
    // do not know it do nothing.
    unsafe {
        std::arch::asm!("prefetchw [{}]", in(reg) at, options(nostack, preserves_flags, readonly));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aligned_stretches_of_four_are_filled() {
        let filled = |zero| Found { constrained: u64::MAX, zero }.filled();
        assert_eq!(filled(u64::MAX), u64::MAX);
        assert_eq!(filled(0xf0), 0xf0);
        assert_eq!(filled(0x1e), 0);
        assert_eq!(filled(0x7f7), 0x0f0);
        assert_eq!(filled(0xf000_0000_0000_000f), 0xf000_0000_0000_000f);
    }
}

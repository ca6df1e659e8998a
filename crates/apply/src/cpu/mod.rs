//! Masks onto logits in the processor's memory.
//!
//! # Idea
//! The mask is read word by word. A word of ones is passed over, a word of zeros becomes full-width
//! stores, and only words between are looked at closely. What a level of instructions does
//! differently is how it finds such words and how it stores under a mixed one; the bits that come
//! out are the same. Where batches are larger than caches, whole lines of refused logits are written
//! past them, at half the traffic.
//!
//! Rows are independent, so that large batches are shared out among rayon's threads.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod choose;
#[cfg(target_arch = "aarch64")]
mod neon;
#[cfg(target_arch = "x86_64")]
mod walk;
mod words;

use crate::{
    ApplyError, Extent, Logit, Logits, LogitsMut, Masks, SampleKey, error::check_len, logit::Bits,
};
use formwork_mask::{Row, WORD_BITS};
use rayon::prelude::*;

/// Which instructions are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Level {
    /// Those that every processor has.
    Portable,
    /// AVX2 of x86-64.
    Avx2,
    /// AVX-512 F, BW, DQ and VL of x86-64.
    Avx512,
    /// NEON of 64-bit Arm.
    Neon,
}

impl Level {
    const ALL: [Self; 4] = [Self::Avx512, Self::Avx2, Self::Neon, Self::Portable];

    /// Whether this processor has the instructions.
    #[must_use]
    pub fn is_available(self) -> bool {
        match self {
            Self::Portable => true,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => is_x86_feature_detected!("avx2"),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => {
                is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx2")
            }
            #[cfg(target_arch = "aarch64")]
            Self::Neon => std::arch::is_aarch64_feature_detected!("neon"),
            #[allow(unreachable_patterns, reason = "depends on the architecture")]
            _ => false,
        }
    }

    /// The levels that this processor has, the best first.
    pub fn available() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|level| level.is_available())
    }
}

/// Applies masks and chooses tokens on the processor.
#[derive(Clone, Copy, Debug)]
pub struct Cpu {
    level: Level,
    parallel_from: usize,
    around_from: usize,
}

impl Cpu {
    /// Bytes of logits in a batch from which on its rows are shared out among threads: below, waking
    /// them costs more than they save.
    pub const PARALLEL_FROM: usize = 2 << 20;

    /// Bytes of logits in a batch from which on whole cache lines of refused logits are written
    /// around the caches, on x86-64: what reads the batch next would not find it there anyway.
    pub const AROUND_FROM: usize = 16 << 20;

    /// The best that this processor can do.
    #[must_use]
    pub fn detect() -> Self {
        Self::at(Level::available().next().unwrap_or(Level::Portable))
    }

    /// One level; `None` where the processor lacks it.
    #[must_use]
    pub fn with_level(level: Level) -> Option<Self> {
        level.is_available().then_some(Self::at(level))
    }

    fn at(level: Level) -> Self {
        Self { level, parallel_from: Self::PARALLEL_FROM, around_from: Self::AROUND_FROM }
    }

    /// The same with threads used from `bytes` bytes of logits on; `usize::MAX` for never.
    #[must_use]
    pub fn with_parallel_from(self, bytes: usize) -> Self {
        Self { parallel_from: bytes, ..self }
    }

    /// The same with whole lines written around the caches from `bytes` bytes of logits on;
    /// `usize::MAX` for never, as for logits that the next reader is to find in the caches.
    #[must_use]
    pub fn with_around_from(self, bytes: usize) -> Self {
        Self { around_from: bytes, ..self }
    }

    /// The instructions in use.
    #[must_use]
    pub fn level(&self) -> Level {
        self.level
    }

    /// Writes minus infinity to the logits of one row that its mask refuses.
    ///
    /// # Panics
    /// When the mask is not as long as the row.
    pub fn apply_row<T: Logit>(&self, logits: &mut [T], mask: Row<'_>) {
        let writes = self.writes(size_of_val(logits));
        self.write_row(logits, mask, writes);
    }

    fn writes(&self, bytes: usize) -> Writes {
        match bytes >= self.around_from {
            true => Writes::Around,
            false => Writes::Cached,
        }
    }

    fn write_row<T: Logit>(&self, logits: &mut [T], mask: Row<'_>, writes: Writes) {
        assert_eq!(logits.len(), mask.len(), "logits and mask of one vocabulary");
        let full = logits.len() / WORD_BITS;
        let (words, last) = mask.words().split_at(full);
        let (head, tail) = logits.split_at_mut(full * WORD_BITS);
        match T::bits_mut(head) {
            Bits::Four(logits) => self.apply_four(logits, words, writes),
            Bits::Two(logits, refused) => self.apply_two((logits, refused), words, writes),
        }
        for (bit, logit) in tail.iter_mut().enumerate() {
            if last[0] >> bit & 1 == 0 {
                *logit = T::NEG_INFINITY;
            }
        }
    }

    /// Writes minus infinity to every logit of a batch that its row's mask refuses. Cost: one read
    /// of the masks and the stores.
    ///
    /// # Errors
    /// When masks and logits do not fit each other; nothing has been written then.
    pub fn apply<T: Logit>(
        &self,
        logits: &mut LogitsMut<'_, T>,
        masks: &Masks<'_>,
    ) -> Result<(), ApplyError> {
        masks.check(logits.rows, logits.tokens)?;
        let (rows, tokens) = (logits.rows, logits.tokens);
        // A batch without columns has nothing to chunk.
        let stride = logits.stride.max(1);
        let writes = self.writes(rows.saturating_mul(tokens).saturating_mul(size_of::<T>()));
        let one = |(row, logits): (usize, &mut [T])| {
            if let Some(mask) = masks.of_row(row) {
                self.write_row(&mut logits[..tokens], mask, writes);
            }
        };
        if tokens == 0 {
            return Ok(());
        }
        if self.in_parallel::<T>(rows, tokens) {
            logits.data.par_chunks_mut(stride).take(rows).enumerate().for_each(one);
        } else {
            logits.data.chunks_mut(stride).take(rows).enumerate().for_each(one);
        }
        Ok(())
    }

    /// The allowed token with the greatest logit, per row; `None` where none is allowed. Reads only
    /// words of logits that hold an allowed token.
    ///
    /// # Errors
    /// When masks, logits and `chosen` do not fit each other.
    pub fn argmax<T: Logit>(
        &self,
        logits: &Logits<'_, T>,
        masks: &Masks<'_>,
        chosen: &mut [Option<u32>],
    ) -> Result<(), ApplyError> {
        self.choose(logits, masks, chosen, |row| {
            choose::argmax(self.level, logits.row(row), masks.of_row(row))
        })
    }

    /// A token per row, drawn with the probabilities of the softmax over the allowed logits at the
    /// key's temperature; `None` where none is allowed. Row `i` uses `keys[i]`.
    ///
    /// # Errors
    /// When masks, logits, keys and `chosen` do not fit each other.
    pub fn sample<T: Logit>(
        &self,
        logits: &Logits<'_, T>,
        masks: &Masks<'_>,
        keys: &[SampleKey],
        chosen: &mut [Option<u32>],
    ) -> Result<(), ApplyError> {
        check_len(Extent::Keys, logits.rows, keys.len())?;
        self.choose(logits, masks, chosen, |row| {
            let (logits, mask) = (logits.row(row), masks.of_row(row));
            match keys[row].is_greedy() {
                true => choose::argmax(self.level, logits, mask),
                false => choose::sample(logits, mask, &keys[row]),
            }
        })
    }

    fn choose<T: Logit>(
        &self,
        logits: &Logits<'_, T>,
        masks: &Masks<'_>,
        chosen: &mut [Option<u32>],
        one: impl Fn(usize) -> Option<u32> + Sync,
    ) -> Result<(), ApplyError> {
        masks.check(logits.rows, logits.tokens)?;
        check_len(Extent::Chosen, logits.rows, chosen.len())?;
        let chosen = &mut chosen[..logits.rows];
        let one = |(row, chosen): (usize, &mut Option<u32>)| *chosen = one(row);
        if self.in_parallel::<T>(logits.rows, logits.tokens) {
            chosen.par_iter_mut().enumerate().for_each(one);
        } else {
            chosen.iter_mut().enumerate().for_each(one);
        }
        Ok(())
    }

    fn in_parallel<T>(&self, rows: usize, tokens: usize) -> bool {
        rows > 1 && rows.saturating_mul(tokens).saturating_mul(size_of::<T>()) >= self.parallel_from
    }

    #[cfg_attr(not(target_arch = "x86_64"), expect(unused_variables, reason = "all are cached"))]
    fn apply_four(&self, logits: &mut [u32], words: &[i32], writes: Writes) {
        match self.level {
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => avx512::four(logits, words, writes),
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => avx2::four(logits, words, writes),
            #[cfg(target_arch = "aarch64")]
            Level::Neon => neon::four(logits, words),
            _ => words::four(logits, words),
        }
    }

    #[cfg_attr(not(target_arch = "x86_64"), expect(unused_variables, reason = "all are cached"))]
    fn apply_two(&self, (logits, refused): (&mut [u16], u16), words: &[i32], writes: Writes) {
        match self.level {
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => avx512::two(logits, words, refused, writes),
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => avx2::two(logits, words, refused, writes),
            #[cfg(target_arch = "aarch64")]
            Level::Neon => neon::two(logits, words, refused),
            _ => words::two(logits, words, refused),
        }
    }
}

/// Whether whole cache lines are written around the caches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Writes {
    /// They stay in the caches.
    Cached,
    /// They do not: for batches that do not fit the caches.
    Around,
}

//! What a random choice depends on.

use crate::noise::{gumbel, philox};

/// Names one random choice: the same key over the same allowed logits gives the same token on every
/// machine, on CPU and GPU, whatever else is in the batch.
///
/// This is also what the kernels read, 32 bytes per row of the batch.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct SampleKey {
    /// The request's seed.
    pub seed: u64,
    /// The decode step, or whatever else counts the request's choices.
    pub step: u64,
    /// Tells choices of one seed and step apart: beams, drafts, parallel samples.
    pub row: u32,
    /// One over the temperature, or 0 for none: the greatest logit then.
    scale: f32,
    /// The kernels' arrays have elements of 32 bytes.
    unused: u64,
}

impl SampleKey {
    /// A key at temperature 1.
    #[must_use]
    pub const fn new(seed: u64, step: u64, row: u32) -> Self {
        Self { seed, step, row, scale: 1.0, unused: 0 }
    }

    /// The same key at another temperature. At 0, as at every temperature that is no positive
    /// number or too small to divide by, the choice is the greatest logit, without noise.
    #[must_use]
    pub fn with_temperature(self, temperature: f32) -> Self {
        let scale = 1.0 / temperature;
        let usable = temperature > 0.0 && scale.is_finite();
        // At an infinite temperature nothing but the noise is left, which is not greed.
        let scale = scale.max(f32::MIN_POSITIVE);
        Self { scale: if usable { scale } else { 0.0 }, ..self }
    }

    /// Whether the choice is the greatest logit.
    #[must_use]
    pub fn is_greedy(&self) -> bool {
        self.scale == 0.0
    }

    pub(crate) fn scale(&self) -> f32 {
        self.scale
    }

    /// Four words of noise, for the tokens `4 * group` to `4 * group + 3`.
    pub(crate) fn noise(&self, group: u32) -> [u32; 4] {
        let counter = [group, self.row, self.step as u32, (self.step >> 32) as u32];
        philox(counter, [self.seed as u32, (self.seed >> 32) as u32])
    }

    /// What is compared between tokens.
    pub(crate) fn score(&self, token: u32, logit: f32) -> f32 {
        if self.is_greedy() {
            return logit;
        }
        logit * self.scale + gumbel(self.noise(token / 4)[token as usize % 4])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scalar;

    #[test]
    fn temperatures_that_cannot_be_divided_by_are_greedy() {
        let key = SampleKey::new(1, 2, 3);
        for temperature in [0.0, -1.0, f32::NAN, 1e-45] {
            assert!(key.with_temperature(temperature).is_greedy());
        }
        for temperature in [1e-30, 0.7, f32::INFINITY] {
            assert!(!key.with_temperature(temperature).is_greedy());
        }
    }

    #[test]
    fn draws_have_the_softmax_s_frequencies() {
        let probabilities = [0.5_f64, 0.25, 0.125, 0.1, 0.025];
        let temperature = 2.0_f64;
        let logits: Vec<f32> =
            probabilities.iter().map(|p| (p.ln() * temperature) as f32).collect();
        let draws = if cfg!(miri) { 200 } else { 200_000 };
        let mut counts = [0_u32; 5];
        for step in 0..draws {
            let key = SampleKey::new(7, step, 0).with_temperature(temperature as f32);
            counts[scalar::sample(&logits, None, &key).unwrap() as usize] += 1;
        }
        for (count, probability) in counts.iter().zip(probabilities) {
            // Five standard deviations: the keys are fixed, so this holds for ever or never.
            let (mean, n) = (probability * draws as f64, draws as f64);
            let deviation = (n * probability * (1.0 - probability)).sqrt();
            assert!((f64::from(*count) - mean).abs() < 5.0 * deviation, "{counts:?}");
        }
    }

    #[test]
    fn every_part_of_the_key_counts() {
        let base = SampleKey::new(1, 2, 3);
        let others = [
            SampleKey::new(0, 2, 3),
            SampleKey::new(1 << 32 | 1, 2, 3),
            SampleKey::new(1, 0, 3),
            SampleKey::new(1, 1 << 32 | 2, 3),
            SampleKey::new(1, 2, 0),
        ];
        for other in others {
            assert_ne!(base.noise(0), other.noise(0));
        }
        assert_ne!(base.noise(0), base.noise(1));
    }
}

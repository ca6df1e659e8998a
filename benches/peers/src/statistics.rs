//! Means, percentiles, and how often.

/// A distribution in five numbers and a count. The unit is that of the values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Distribution {
    /// How many values.
    pub(crate) count: usize,
    /// Their mean.
    pub(crate) mean: f64,
    /// Percentiles 50, 90, 99 and 99.9, interpolated linearly.
    pub(crate) percentiles: [f64; 4],
    /// The largest.
    pub(crate) max: f64,
}

impl Distribution {
    /// Which percentiles.
    pub(crate) const AT: [f64; 4] = [0.5, 0.9, 0.99, 0.999];

    /// Of some values; `None` of none.
    pub(crate) fn of(mut values: Vec<f64>) -> Option<Self> {
        values.sort_by(f64::total_cmp);
        let max = *values.last()?;
        let count = values.len();
        Some(Self {
            count,
            mean: values.iter().sum::<f64>() / count as f64,
            percentiles: Self::AT.map(|at| quantile(&values, at)),
            max,
        })
    }

    /// Mean, the percentiles, and the largest, in this order.
    pub(crate) fn figures(&self) -> [f64; 6] {
        let [p50, p90, p99, p999] = self.percentiles;
        [self.mean, p50, p90, p99, p999, self.max]
    }
}

/// The value below which a share of the sorted values lies.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share * (sorted.len() - 1) as f64;
    let (below, part) = (place.floor() as usize, place.fract());
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] + (sorted[above] - sorted[below]) * part
}

/// The mean of ratios that makes a half and a double cancel; `None` of none.
pub(crate) fn geometric_mean(ratios: &[f64]) -> Option<f64> {
    let logarithms: f64 = ratios.iter().map(|ratio| ratio.ln()).sum();
    (!ratios.is_empty()).then(|| (logarithms / ratios.len() as f64).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_interpolate() {
        let distribution = Distribution::of((0..=100).rev().map(f64::from).collect()).unwrap();
        assert_eq!(distribution.percentiles, [50.0, 90.0, 99.0, 99.9]);
        assert_eq!((distribution.mean, distribution.max, distribution.count), (50.0, 100.0, 101));
        assert_eq!(Distribution::of(vec![7.0]).unwrap().figures(), [7.0; 6]);
        assert_eq!(Distribution::of(Vec::new()), None);
    }

    #[test]
    fn a_half_and_a_double_cancel() {
        assert!((geometric_mean(&[0.5, 2.0]).unwrap() - 1.0).abs() < 1e-12);
        assert_eq!(geometric_mean(&[]), None);
    }
}

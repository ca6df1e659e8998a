//! What a run says at its end: times of steps and of starts, and how many verdicts were wrong.

use super::protocol::{Outcome, Status};
use std::fmt;

/// The figures of a run so far.
#[derive(Debug, Default)]
pub(crate) struct Report {
    /// Mask and commit of every step of the cases that ran to their end, in microseconds.
    steps: Vec<f64>,
    /// From the schema to the first mask, of the same cases.
    first_masks: Vec<f64>,
    ok: usize,
    compile_errors: usize,
    timeouts: usize,
    /// Crashes and other errors.
    failed: usize,
    valid_refused: Wrong,
    invalid_accepted: Wrong,
    /// Tests that could not be run.
    test_errors: usize,
}

/// Wrong verdicts, by two readings of what it means to accept.
#[derive(Debug, Default, PartialEq, Eq)]
struct Wrong {
    /// Every token was allowed.
    prefix: usize,
    /// And the output may end there.
    whole: usize,
}

impl Report {
    /// Cases counted.
    pub(crate) fn cases(&self) -> usize {
        self.ok + self.compile_errors + self.timeouts + self.failed
    }

    /// Counts a case.
    pub(crate) fn add(&mut self, outcome: &Outcome) {
        match outcome.status {
            Status::Ok => self.ok += 1,
            Status::CompileError => self.compile_errors += 1,
            Status::Timeout => self.timeouts += 1,
            Status::Crash | Status::Error => self.failed += 1,
        }
        if outcome.status != Status::Ok {
            return;
        }
        let steps = outcome.mask_us.iter().zip(&outcome.commit_us);
        self.steps.extend(steps.map(|(mask, commit)| mask + commit));
        self.first_masks.push(outcome.compile_us + outcome.first_mask_us);
        for test in &outcome.tests {
            if test.error.is_some() {
                self.test_errors += 1;
            } else if test.valid {
                self.valid_refused.prefix += usize::from(!test.accepted_prefix);
                self.valid_refused.whole += usize::from(!test.accepted());
            } else {
                self.invalid_accepted.prefix += usize::from(test.accepted_prefix);
                self.invalid_accepted.whole += usize::from(test.accepted());
            }
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let steps = Sorted::new(&self.steps);
        let first = Sorted::new(&self.first_masks);
        writeln!(
            f,
            "steps {}: mask and commit in us: mean {:.2}, p50 {:.2}, p90 {:.2}, p99 {:.2}, p99.9 \
             {:.2}, max {:.2}",
            self.steps.len(),
            steps.mean(),
            steps.quantile(0.5),
            steps.quantile(0.9),
            steps.quantile(0.99),
            steps.quantile(0.999),
            steps.quantile(1.0),
        )?;
        writeln!(
            f,
            "to the first mask in us: mean {:.0}, p50 {:.0}, p99 {:.0}, max {:.0}",
            first.mean(),
            first.quantile(0.5),
            first.quantile(0.99),
            first.quantile(1.0),
        )?;
        writeln!(
            f,
            "cases: ok {}, compile_error {}, timeout {}, failed {}",
            self.ok, self.compile_errors, self.timeouts, self.failed
        )?;
        write!(
            f,
            "tests: valid refused {} (with the end {}), invalid accepted {} (with the end {}), \
             errors {}",
            self.valid_refused.prefix,
            self.valid_refused.whole,
            self.invalid_accepted.prefix,
            self.invalid_accepted.whole,
            self.test_errors
        )
    }
}

/// Values in ascending order.
struct Sorted(Vec<f64>);

impl Sorted {
    fn new(values: &[f64]) -> Self {
        let mut values = values.to_vec();
        values.sort_by(f64::total_cmp);
        Self(values)
    }

    /// 0 when there is none.
    fn mean(&self) -> f64 {
        self.0.iter().sum::<f64>() / self.0.len().max(1) as f64
    }

    /// The value below which a share lies, interpolated linearly between neighbours; 0 when there
    /// is none.
    fn quantile(&self, share: f64) -> f64 {
        let Some(last) = self.0.len().checked_sub(1) else { return 0.0 };
        let place = last as f64 * share;
        let below = place as usize;
        let above = (below + 1).min(last);
        self.0[below] + (self.0[above] - self.0[below]) * (place - below as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::maskbench::protocol::Verdict;

    #[test]
    fn quantiles_interpolate() {
        let sorted = Sorted::new(&[4.0, 1.0, 3.0, 2.0]);
        assert_eq!([0.0, 0.5, 1.0].map(|share| sorted.quantile(share)), [1.0, 2.5, 4.0]);
        assert_eq!(sorted.mean(), 2.5);
        assert_eq!((Sorted::new(&[]).quantile(0.5), Sorted::new(&[]).mean()), (0.0, 0.0));
        assert_eq!(Sorted::new(&[7.0]).quantile(0.99), 7.0);
    }

    #[test]
    fn verdicts_are_counted_by_both_readings() {
        let test = |valid, accepted_prefix, eos_allowed| Verdict {
            valid,
            accepted_prefix,
            eos_allowed,
            ..Verdict::default()
        };
        let tests = vec![
            test(true, true, Some(true)),
            test(true, true, Some(false)),
            test(true, false, None),
            test(false, true, Some(true)),
            test(false, true, Some(false)),
            Verdict { error: Some("no".into()), ..test(true, false, None) },
        ];
        let mut report = Report::default();
        report.add(&Outcome {
            tests,
            mask_us: vec![1.0],
            commit_us: vec![2.0],
            ..Outcome::default()
        });
        let refused =
            Outcome { status: Status::CompileError, compile_us: 9.0, ..Outcome::default() };
        report.add(&refused);
        assert_eq!(report.steps, [3.0]);
        assert_eq!(report.cases(), 2);
        assert_eq!((report.ok, report.compile_errors, report.test_errors), (1, 1, 1));
        assert_eq!(report.valid_refused, Wrong { prefix: 1, whole: 2 });
        assert_eq!(report.invalid_accepted, Wrong { prefix: 2, whole: 1 });
        assert_eq!(report.first_masks.len(), 1, "a refused case has no first mask");
    }
}

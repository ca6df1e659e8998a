//! All groups, on several threads.

use super::{
    corpus::Case,
    judge::{Judge, Judged},
};
use anyhow::{Context, Result};
use std::{
    collections::HashMap,
    num::NonZeroUsize,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

/// Judges every case; the answers are in the order of the cases.
pub(super) fn judge_all(
    judge: &Judge,
    cases: &[&Case],
    threads: NonZeroUsize,
) -> Result<Vec<Judged>> {
    let groups = groups(cases);
    let next = AtomicUsize::new(0);
    let mut judged: Vec<Option<Judged>> = vec![None; cases.len()];
    thread::scope(|scope| {
        let work = || {
            let mut found = Vec::new();
            while let Some(group) = groups.get(next.fetch_add(1, Ordering::Relaxed)) {
                let members: Vec<&Case> = group.iter().map(|&index| cases[index]).collect();
                found.extend(group.iter().copied().zip(judge.judge(&members)));
            }
            found
        };
        let workers: Vec<_> = (0..threads.get()).map(|_| scope.spawn(work)).collect();
        for worker in workers {
            for (index, verdict) in worker.join().ok().context("a worker panicked")? {
                judged[index] = Some(verdict);
            }
        }
        judged.into_iter().map(|verdict| verdict.context("a case without a verdict")).collect()
    })
}

/// The cases that share a constraint, as indices.
fn groups(cases: &[&Case]) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut known = HashMap::new();
    for (index, case) in cases.iter().enumerate() {
        let options = serde_json::to_string(&case.options).expect("JSON values can be written");
        let key = (case.corpus(), &case.frontend, case.spec.get(), options);
        let group = *known.entry(key).or_insert_with(|| {
            groups.push(Vec::new());
            groups.len() - 1
        });
        groups[group].push(index);
    }
    groups
}

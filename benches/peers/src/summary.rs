//! Outcomes to tables.

use crate::{
    outcome::{Measured, Outcome, Status, Wrong},
    statistics::{Distribution, geometric_mean},
    table::{Content, Table, count, figure},
};
use std::collections::{BTreeMap, HashMap};

/// The outcomes of one set of cases, by engine.
pub(crate) struct Group<'a> {
    /// What the cases are, for titles.
    pub(crate) name: &'static str,
    /// Names of the engines, in the order of the tables.
    pub(crate) engines: Vec<&'a str>,
    /// All outcomes.
    pub(crate) outcomes: &'a [Outcome],
}

/// The names of Formwork's own engines begin so.
const OWN: &str = "formwork";

impl<'a> Group<'a> {
    /// The measured cases of an engine.
    pub(crate) fn measured(
        &self,
        engine: &'a str,
    ) -> impl Iterator<Item = (&'a Outcome, &'a Measured)> {
        let outcomes = self.outcomes.iter().filter(move |outcome| outcome.engine == engine);
        outcomes.filter_map(|outcome| Some((outcome, outcome.measured()?)))
    }

    /// Every pair of one of Formwork's engines and a peer.
    pub(crate) fn pairs(&self) -> Vec<(&'a str, &'a str)> {
        let (own, peers): (Vec<&str>, Vec<&str>) =
            self.engines.iter().partition(|name| name.starts_with(OWN));
        own.iter().flat_map(|&own| peers.iter().map(move |&peer| (own, peer))).collect()
    }

    /// The cases that both engines compiled and passed, theirs second.
    pub(crate) fn common(&self, own: &'a str, peer: &'a str) -> Vec<(&'a Measured, &'a Measured)> {
        let passed = |engine| self.measured(engine).filter(|(_, measured)| measured.passed());
        let theirs: HashMap<&str, &Measured> =
            passed(peer).map(|(outcome, measured)| (outcome.id.as_str(), measured)).collect();
        passed(own)
            .filter_map(|(outcome, ours)| Some((ours, *theirs.get(outcome.id.as_str())?)))
            .collect()
    }

    /// All tables, most important first.
    pub(crate) fn tables(&self) -> Vec<Table> {
        let mut tables = vec![self.verdict_table()];
        for (what, values) in figures() {
            tables.push(self.distribution_table(what, values));
        }
        tables.push(self.first_run_table());
        tables.extend(self.pairs().into_iter().map(|(own, peer)| self.ratio_table(own, peer)));
        tables.push(self.counter_table());
        tables.push(self.wrong_table());
        tables.push(self.refusal_table());
        tables.retain(|table| !table.rows.is_empty());
        tables
    }

    fn verdict_table(&self) -> Table {
        let columns = [
            "engine",
            "cases",
            "skipped",
            "stopped",
            "refused",
            "ran",
            "passed",
            "valid refused",
            "invalid accepted",
            "errors",
            "unsteady",
        ];
        let title = format!("{}: cases, and tests with a wrong verdict", self.name);
        let mut table = Table::new(title, columns, Content::Figures);
        for engine in &self.engines {
            let all = || self.outcomes.iter().filter(|outcome| outcome.engine == *engine);
            let measured: Vec<_> = self.measured(engine).map(|(_, measured)| measured).collect();
            let wrong = |kind| {
                let verdicts = measured.iter().flat_map(|measured| &measured.verdicts);
                verdicts.filter(|verdict| verdict.wrong() == Some(kind)).count()
            };
            let is_skipped = |outcome: &&Outcome| matches!(outcome.status, Status::Skipped);
            let is_stopped = |outcome: &&Outcome| matches!(outcome.status, Status::Stopped { .. });
            let is_refused = |outcome: &&Outcome| matches!(outcome.status, Status::Refused { .. });
            let counts = [
                all().count(),
                all().filter(is_skipped).count(),
                all().filter(is_stopped).count(),
                all().filter(is_refused).count(),
                measured.len(),
                measured.iter().filter(|measured| measured.passed()).count(),
                wrong(Wrong::ValidRefused),
                wrong(Wrong::InvalidAccepted),
                wrong(Wrong::Error),
                measured.iter().filter(|measured| measured.unsteady).count(),
            ];
            table.rows.push(row(engine, counts.map(count)));
        }
        table
    }

    fn distribution_table(&self, what: &str, values: fn(&Measured) -> Vec<f64>) -> Table {
        let columns = ["engine", "values", "mean", "p50", "p90", "p99", "p99.9", "max"];
        let title = format!("{}: {what}, microseconds, every case that ran", self.name);
        let mut table = Table::new(title, columns, Content::Figures);
        for engine in &self.engines {
            let all = self.measured(engine).flat_map(|(_, measured)| values(measured)).collect();
            if let Some(distribution) = Distribution::of(all) {
                let count = count(distribution.count);
                let figures = distribution.figures().map(figure);
                table.rows.push(row(engine, [count].into_iter().chain(figures)));
            }
        }
        table
    }

    fn first_run_table(&self) -> Table {
        let columns = ["engine", "step mean", "TTFM mean", "TTFM max", "compile mean"];
        let title = format!("{}: the first run alone, microseconds", self.name);
        let mut table = Table::new(title, columns, Content::Figures);
        for engine in &self.engines {
            let measured: Vec<_> = self.measured(engine).map(|(_, measured)| measured).collect();
            let steps: usize = measured.iter().map(|measured| measured.cold.len()).sum();
            let of = |ns: fn(&Measured) -> u64| {
                measured.iter().map(move |measured| micros(ns(measured)))
            };
            let cases = measured.len().max(1) as f64;
            let figures = [
                of(|measured| measured.first_run.steps_ns).sum::<f64>() / steps.max(1) as f64,
                of(|measured| measured.first_run.ttfm_ns).sum::<f64>() / cases,
                of(|measured| measured.first_run.ttfm_ns).fold(0.0, f64::max),
                of(|measured| measured.first_run.compile_ns).sum::<f64>() / cases,
            ];
            table.rows.push(row(engine, figures.map(figure)));
        }
        table
    }

    fn ratio_table(&self, own: &'a str, peer: &'a str) -> Table {
        let columns = ["", "mean", "p50", "p90", "p99", "p99.9", "max", "per case", "faster in"];
        let common = self.common(own, peer);
        let title = format!(
            "{}: {own} over {peer}, the {} cases that both compiled and passed (microseconds; \
             `per case`: geometric mean of the ratios of each case's mean)",
            self.name,
            common.len()
        );
        let mut table = Table::new(title, columns, Content::Figures);
        for (what, values) in figures() {
            let all = |side: fn(&(&'a Measured, &'a Measured)) -> &'a Measured| {
                Distribution::of(common.iter().flat_map(|pair| values(side(pair))).collect())
            };
            let (Some(ours), Some(theirs)) = (all(|pair| pair.0), all(|pair| pair.1)) else {
                continue;
            };
            let cases = case_ratios(&common, values);
            let faster = cases.iter().filter(|&&ratio| ratio < 1.0).count();
            let [ours, theirs] = [ours.figures(), theirs.figures()];
            let ratios = [0, 1, 2, 3, 4, 5].map(|at| figure(ours[at] / theirs[at]));
            let per_case = geometric_mean(&cases).map_or_else(String::new, figure);
            let share = 100.0 * faster as f64 / cases.len().max(1) as f64;
            let blank = || [String::new(), String::new()];
            let line = |name: String, cells: [String; 6], rest: [String; 2]| {
                row(&name, cells.into_iter().chain(rest))
            };
            table.rows.push(line(format!("{what}, ours"), ours.map(figure), blank()));
            table.rows.push(line(format!("{what}, theirs"), theirs.map(figure), blank()));
            let rest = [per_case, format!("{share:.1}%")];
            table.rows.push(line(format!("{what}, ours / theirs"), ratios, rest));
        }
        table
    }

    fn counter_table(&self) -> Table {
        let title = format!("{}: counts after the cold steps, and heap bytes", self.name);
        let columns = ["count", "cases", "total", "mean", "p50", "p99", "max"];
        let mut table = Table::new(title, columns, Content::Figures);
        for engine in &self.engines {
            let mut counts: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
            for (_, measured) in self.measured(engine) {
                let own = measured.counters.iter().map(|(&name, &value)| (name, value));
                let memory = measured.memory_bytes.map(|bytes| ("heap bytes", bytes as u64));
                for (name, value) in own.chain(memory) {
                    counts.entry(name).or_default().push(value as f64);
                }
            }
            for (name, values) in counts {
                let total: f64 = values.iter().sum();
                let Some(distribution) = Distribution::of(values) else { continue };
                let [p50, _, p99, _] = distribution.percentiles;
                let cells = [total, distribution.mean, p50, p99, distribution.max].map(figure);
                let cells = [count(distribution.count)].into_iter().chain(cells);
                table.rows.push(row(&format!("{engine}: {name}"), cells));
            }
        }
        table
    }

    fn wrong_table(&self) -> Table {
        let title = format!("{}: every wrong verdict", self.name);
        let columns = ["engine", "case", "test", "what", "tokens taken"];
        let mut table = Table::new(title, columns, Content::Words);
        for engine in &self.engines {
            for (outcome, measured) in self.measured(engine) {
                for (number, verdict) in measured.verdicts.iter().enumerate() {
                    let what = match (verdict.wrong(), &verdict.error) {
                        (None, _) => continue,
                        (_, Some(error)) => shortened(error),
                        (Some(Wrong::ValidRefused), _) => "valid refused".into(),
                        (Some(_), _) => "invalid accepted".into(),
                    };
                    let taken = verdict.tokens_taken.to_string();
                    let cells = [outcome.id.clone(), number.to_string(), what, taken];
                    table.rows.push(row(engine, cells));
                }
            }
        }
        table
    }

    fn refusal_table(&self) -> Table {
        let title = format!("{}: why cases were refused, the most frequent reasons", self.name);
        let mut table = Table::new(title, ["engine", "cases", "reason"], Content::Words);
        for engine in &self.engines {
            let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
            for outcome in self.outcomes.iter().filter(|outcome| outcome.engine == *engine) {
                let reason = match &outcome.status {
                    Status::Refused { error, .. } => shortened(&without_particulars(error)),
                    Status::Stopped { excess } => format!("stopped: {excess:?}"),
                    Status::Skipped | Status::Ran(_) => continue,
                };
                *reasons.entry(reason).or_default() += 1;
            }
            let mut reasons: Vec<_> = reasons.into_iter().collect();
            reasons.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
            for (reason, count) in reasons.into_iter().take(15) {
                table.rows.push(row(engine, [count.to_string(), reason]));
            }
        }
        table
    }
}

/// What is compared, and its values in microseconds.
pub(crate) type Figures = (&'static str, fn(&Measured) -> Vec<f64>);

fn figures() -> [Figures; 4] {
    [
        ("cold step", |measured| measured.cold.iter().map(|step| micros(step.total())).collect()),
        ("warm step", |measured| measured.warm.iter().map(|step| micros(step.total())).collect()),
        ("TTFM", |measured| vec![micros(measured.ttfm_ns)]),
        ("compile", |measured| vec![micros(measured.compile_ns)]),
    ]
}

/// Ours over theirs of each case's mean, for the cases that have values.
pub(crate) fn case_ratios(
    common: &[(&Measured, &Measured)],
    values: fn(&Measured) -> Vec<f64>,
) -> Vec<f64> {
    let mean = |measured: &Measured| {
        let values = values(measured);
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    };
    let ratio = |&(ours, theirs): &(&Measured, &Measured)| Some(mean(ours)? / mean(theirs)?);
    common.iter().filter_map(ratio).collect()
}

/// Nanoseconds to microseconds.
pub(crate) fn micros(ns: u64) -> f64 {
    ns as f64 / 1000.0
}

fn row(first: &str, rest: impl IntoIterator<Item = String>) -> Vec<String> {
    [first.to_owned()].into_iter().chain(rest).collect()
}

/// The beginning of an engine's words, on one line.
fn shortened(text: &str) -> String {
    const CHARACTERS: usize = 140;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(CHARACTERS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// The text with what differs between equal reasons left out: places (words that begin with a
/// slash), numbers, and all that is quoted but short names.
fn without_particulars(text: &str) -> String {
    const SHORT: usize = 24;
    let is_name = |quoted: &str| {
        let of_a_name = |byte: u8| byte.is_ascii_alphabetic() || b"$_-".contains(&byte);
        quoted.len() <= SHORT && quoted.bytes().all(of_a_name)
    };
    let words = text.split_whitespace().filter(|word| !word.starts_with('/'));
    let text = words.collect::<Vec<_>>().join(" ");
    let mut plain = String::new();
    for (number, piece) in text.split(['"', '`']).enumerate() {
        // Every other piece stands between two marks.
        if number % 2 == 1 {
            plain.push_str(if is_name(piece) { piece } else { "…" });
            continue;
        }
        for character in piece.chars() {
            match character {
                digit if digit.is_ascii_digit() => {
                    if !plain.ends_with('#') {
                        plain.push('#');
                    }
                }
                other => plain.push(other),
            }
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::{Step, Verdict};

    fn outcome(engine: &str, id: &str, steps_ns: u64, accepted: bool) -> Outcome {
        let verdict = Verdict { valid: true, accepted, tokens_taken: 1, error: None };
        let measured = Measured {
            cold: vec![Step(steps_ns, 0); 2],
            warm: vec![Step(steps_ns, 0); 2],
            ttfm_ns: 10 * steps_ns,
            verdicts: vec![verdict],
            ..Measured::default()
        };
        let status = Status::Ran(Box::new(measured));
        let (engine, id) = (engine.to_owned(), id.to_owned());
        Outcome { engine, id, split: "s".into(), source_bytes: 1, status }
    }

    #[test]
    fn ratios_are_over_the_cases_that_both_passed() {
        let outcomes = [
            outcome("formwork-x", "a", 1_000, true),
            outcome("formwork-x", "b", 1_000, true),
            outcome("formwork-x", "c", 9_000, false),
            outcome("peer", "a", 2_000, true),
            outcome("peer", "b", 8_000, false),
            outcome("peer", "c", 8_000, true),
        ];
        let engines = vec!["formwork-x", "peer"];
        let group = Group { name: "g", engines, outcomes: &outcomes };
        assert_eq!(group.pairs(), [("formwork-x", "peer")]);
        assert_eq!(group.common("formwork-x", "peer").len(), 1);
        let table = group.ratio_table("formwork-x", "peer");
        assert_eq!(table.rows[2][0], "cold step, ours / theirs");
        assert_eq!(
            table.rows[2][1..],
            ["0.500", "0.500", "0.500", "0.500", "0.500", "0.500", "0.500", "100.0%"]
        );
        let verdicts = group.verdict_table();
        assert_eq!(verdicts.rows[0][5..9], ["3", "2", "1", "0"]);
        assert_eq!(group.wrong_table().rows.len(), 2);
    }

    #[test]
    fn equal_reasons_are_counted_as_one() {
        let status = |error: &str| Status::Refused { error: error.into(), compile_ns: 1 };
        let mut outcomes = [outcome("e", "a", 1, true), outcome("e", "b", 1, true)];
        outcomes[0].status = status("keyword `not` at \"/a\", line 7");
        outcomes[1].status = status("keyword `not` at \"/b/c\", line 12");
        let group = Group { name: "g", engines: vec!["e"], outcomes: &outcomes };
        assert_eq!(group.refusal_table().rows, [["e", "2", "keyword not at …, line #"]]);
    }
}

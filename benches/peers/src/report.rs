//! One page that holds everything: tables, charts, and how it was measured.

use crate::{
    charts,
    summary::Group,
    table::{Content, Table, escape},
};
use anyhow::Result;
use std::fmt::Write as _;

const STYLE: &str = "body{font:15px/1.5 sans-serif;max-width:1100px;margin:2em auto;padding:0 1em;\
color:#222}table{border-collapse:collapse;font-size:13px}th,td{padding:2px 9px;border-bottom:1px \
solid #e4e4e4;text-align:left;vertical-align:top}table.figures th:not(:first-child),table.figures \
td:not(:first-child){text-align:right;font-variant-numeric:tabular-nums}svg{max-width:100%;\
height:auto}.legend{margin:0 0 2em 5em;font-size:13px}h2{margin-top:2em;border-top:2px solid #ccc;padding-top:1em}h3{margin:1.5em 0 .3em;\
font-size:15px}";

const PROTOCOL: &str = "Every engine takes its turn on every case, another one first each time, in \
one process on one thread. A run is a compile, all tests on what came of it (cold), and all tests \
once more on the same (warm); each time is the shortest of the runs, step by step. A step is mask \
and commit, read from the clock directly before and after the engine's call. TTFM is compile and \
first mask. A test is accepted when every token is allowed and then the end. Compare figures of \
this page with one another only.";

/// What was measured, and on what.
#[derive(Clone, Debug)]
pub(crate) struct Setting {
    /// A name and what there is to say of it.
    pub(crate) facts: Vec<(String, String)>,
}

impl Setting {
    /// As a table.
    pub(crate) fn table(&self) -> Table {
        let mut table = Table::new("Setting", ["what", ""], Content::Words);
        table.rows.extend(self.facts.iter().map(|(name, fact)| vec![name.clone(), fact.clone()]));
        table
    }
}

/// The page. It needs nothing from anywhere.
///
/// # Errors
/// When a chart cannot be drawn.
pub(crate) fn page(setting: &Setting, groups: &[Group<'_>]) -> Result<String> {
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>Formwork and its \
         peers</title>\n<style>{STYLE}</style>\n<h1>Formwork and its peers</h1>\n<p>{PROTOCOL}</p>\n"
    );
    page.push_str(&setting.table().to_html());
    for group in groups {
        writeln!(page, "<h2>{}</h2>", escape(group.name))?;
        for chart in [charts::steps, charts::first_masks, charts::ratios] {
            writeln!(page, "{}", chart(group)?)?;
        }
        for table in group.tables() {
            page.push_str(&table.to_html());
        }
    }
    page.push_str("</html>\n");
    Ok(page)
}

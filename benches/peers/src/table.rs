//! A table, as text and as HTML.

use std::fmt::Write as _;

/// A titled table whose first column is words and whose others are figures.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    /// What it shows, with the unit.
    pub(crate) title: String,
    /// Names of the columns.
    pub(crate) columns: Vec<&'static str>,
    /// Rows, as wide as the columns.
    pub(crate) rows: Vec<Vec<String>>,
    /// Whether every column is words.
    pub(crate) content: Content,
}

/// What stands in the columns after the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// Figures, aligned to the right.
    Figures,
    /// Words, aligned to the left.
    Words,
}

impl Table {
    /// An empty table.
    pub(crate) fn new(
        title: impl Into<String>,
        columns: impl Into<Vec<&'static str>>,
        content: Content,
    ) -> Self {
        Self { title: title.into(), columns: columns.into(), rows: Vec::new(), content }
    }

    /// Columns of equal width, for a terminal.
    pub(crate) fn to_text(&self) -> String {
        let mut widths: Vec<usize> = self.columns.iter().map(|name| name.chars().count()).collect();
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.chars().count());
            }
        }
        let mut text = format!("{}\n", self.title);
        let header = self.columns.iter().map(|&name| name.to_owned()).collect();
        for row in [&header].into_iter().chain(&self.rows) {
            let mut line = String::new();
            for (column, (cell, &width)) in row.iter().zip(&widths).enumerate() {
                let left = column == 0 || self.content == Content::Words;
                let written = match left {
                    true => write!(line, "  {cell:<width$}"),
                    false => write!(line, "  {cell:>width$}"),
                };
                written.expect("strings take all");
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }

    /// The same for a page.
    pub(crate) fn to_html(&self) -> String {
        let class = match self.content {
            Content::Figures => "figures",
            Content::Words => "words",
        };
        let mut html = format!("<h3>{}</h3>\n<table class=\"{class}\">\n<tr>", escape(&self.title));
        for name in &self.columns {
            write!(html, "<th>{}</th>", escape(name)).expect("strings take all");
        }
        html.push_str("</tr>\n");
        for row in &self.rows {
            html.push_str("<tr>");
            for cell in row {
                write!(html, "<td>{}</td>", escape(cell)).expect("strings take all");
            }
            html.push_str("</tr>\n");
        }
        html.push_str("</table>\n");
        html
    }
}

/// A figure with three significant digits or all its whole ones, thousands set apart by commas.
pub(crate) fn figure(value: f64) -> String {
    let digits = match value.abs() {
        size if size >= 100.0 || size == 0.0 => 0,
        size if size >= 10.0 => 1,
        size if size >= 1.0 => 2,
        size if size >= 0.1 => 3,
        _ => 4,
    };
    with_commas(&format!("{value:.digits$}"))
}

/// A count, whole.
pub(crate) fn count(value: usize) -> String {
    with_commas(&value.to_string())
}

fn with_commas(plain: &str) -> String {
    let (whole, fraction) = plain.split_once('.').unwrap_or((plain, ""));
    let mut text = String::new();
    for (place, digit) in whole.chars().enumerate() {
        let left = whole.len() - place;
        if place > 0 && left.is_multiple_of(3) && !text.ends_with('-') {
            text.push(',');
        }
        text.push(digit);
    }
    if !fraction.is_empty() {
        text.push('.');
        text.push_str(fraction);
    }
    text
}

/// Text for HTML and SVG.
pub(crate) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_three_digits() {
        let values = [0.0, 0.01234, 1.2345, 12.345, 123.45, 1234.5, 1_234_567.8, -1234.0];
        let texts = values.map(figure);
        let expected = ["0", "0.0123", "1.23", "12.3", "123", "1,234", "1,234,568", "-1,234"];
        assert_eq!(texts, expected);
        assert_eq!([7, 1_234_567].map(count), ["7", "1,234,567"]);
    }

    #[test]
    fn columns_line_up_and_html_is_escaped() {
        let mut table = Table::new("t < u", ["name", "x"], Content::Figures);
        table.rows.push(vec!["a".into(), "1,000".into()]);
        assert_eq!(table.to_text(), "t < u\n  name      x\n  a     1,000\n");
        assert!(table.to_html().contains("<h3>t &lt; u</h3>"));
    }
}

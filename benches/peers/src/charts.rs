//! Charts as SVG, with their legends as HTML.

use crate::{
    outcome::{Measured, Step},
    summary::{Figures, Group, case_ratios, micros},
    table::escape,
};
use anyhow::{Result, anyhow};
use plotters::{
    coord::{
        Shift,
        ranged1d::{Ranged, ValueFormatter},
    },
    prelude::*,
};
use std::{fmt::Write as _, ops::Range};

const SIZE: (u32, u32) = (900, 480);

/// Colours that the colour-blind can tell apart (Okabe and Ito), without the yellow.
const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(230, 159, 0),
    RGBColor(60, 60, 60),
];

/// One of a case's sequences of steps.
type Pass = fn(&Measured) -> &Vec<Step>;

/// Points of one name.
struct Series {
    name: String,
    points: Vec<(f64, f64)>,
    /// Which of the colours, around and around.
    colour: usize,
    form: Form,
}

#[derive(Clone, Copy)]
enum Form {
    Line,
    ThinLine,
    Points,
}

/// What is written beside a chart.
struct Labels {
    title: String,
    x: &'static str,
    y: &'static str,
}

/// The share of steps that take longer than a time, by engine; both axes logarithmic.
///
/// # Errors
/// When the chart cannot be drawn.
pub(crate) fn steps(group: &Group<'_>) -> Result<String> {
    let mut series = Vec::new();
    for (colour, engine) in group.engines.iter().enumerate() {
        let passes: [(&str, Form, Pass); 2] = [
            ("cold", Form::Line, |measured| &measured.cold),
            ("warm", Form::ThinLine, |measured| &measured.warm),
        ];
        for (name, form, pass) in passes {
            let steps = group.measured(engine).flat_map(|(_, measured)| pass(measured));
            let points = exceedance(steps.map(|step| micros(step.total())).collect());
            series.push(Series { name: format!("{engine}, {name}"), points, colour, form });
        }
    }
    let title = format!("{}: how many steps take longer", group.name);
    let labels = Labels { title, x: "step, microseconds", y: "share of steps that take longer" };
    log_log(&labels, &series)
}

/// Time to the first mask over the size of the source; both axes logarithmic.
///
/// # Errors
/// When the chart cannot be drawn.
pub(crate) fn first_masks(group: &Group<'_>) -> Result<String> {
    let series: Vec<Series> = group
        .engines
        .iter()
        .enumerate()
        .map(|(colour, engine)| Series {
            name: (*engine).to_owned(),
            colour,
            points: group
                .measured(engine)
                .map(|(outcome, measured)| (outcome.source_bytes as f64, micros(measured.ttfm_ns)))
                .collect(),
            form: Form::Points,
        })
        .collect();
    let title = format!("{}: time to the first mask by size of the source", group.name);
    let labels = Labels { title, x: "bytes of the source", y: "TTFM, microseconds" };
    log_log(&labels, &series)
}

/// Ours over theirs for every case that both passed, sorted; below one we are faster.
///
/// # Errors
/// When the chart cannot be drawn.
pub(crate) fn ratios(group: &Group<'_>) -> Result<String> {
    let mut series = Vec::new();
    for (colour, (own, peer)) in group.pairs().into_iter().enumerate() {
        let common = group.common(own, peer);
        let figures: [(Form, Figures); 2] = [
            (
                Form::Line,
                ("step", |measured| {
                    measured.cold.iter().map(|step| micros(step.total())).collect()
                }),
            ),
            (Form::ThinLine, ("TTFM", |measured| vec![micros(measured.ttfm_ns)])),
        ];
        for (form, (what, values)) in figures {
            let mut ratios = case_ratios(&common, values);
            ratios.sort_by(f64::total_cmp);
            let last = ratios.len().saturating_sub(1).max(1) as f64;
            let share = |(place, ratio)| (100.0 * place as f64 / last, ratio);
            let points = ratios.into_iter().enumerate().map(share).collect();
            series.push(Series { name: format!("{own} / {peer}, {what}"), points, colour, form });
        }
    }
    series.push(Series {
        name: "as fast".into(),
        points: vec![(0.0, 1.0), (100.0, 1.0)],
        colour: COLOURS.len() - 1,
        form: Form::ThinLine,
    });
    let labels = Labels {
        title: format!("{}: ours over theirs, case by case", group.name),
        x: "cases, percent, best first",
        y: "ours / theirs",
    };
    let y = log_range(&series, |point| point.1);
    let svg = on_canvas(&labels, |canvas, labels| {
        let chart = ChartBuilder::on(canvas)
            .caption(&labels.title, ("sans-serif", 24))
            .margin(10)
            .x_label_area_size(40)
            .y_label_area_size(70)
            .build_cartesian_2d(0.0..100.0, y.log_scale())
            .map_err(drawing)?;
        draw(chart, labels, &series)
    })?;
    Ok(svg + &legend(&series))
}

fn log_log(labels: &Labels, series: &[Series]) -> Result<String> {
    let x = log_range(series, |point| point.0);
    let y = log_range(series, |point| point.1);
    let svg = on_canvas(labels, |canvas, labels| {
        let chart = ChartBuilder::on(canvas)
            .caption(&labels.title, ("sans-serif", 24))
            .margin(10)
            .x_label_area_size(40)
            .y_label_area_size(70)
            .build_cartesian_2d(x.log_scale(), y.log_scale())
            .map_err(drawing)?;
        draw(chart, labels, series)
    })?;
    Ok(svg + &legend(series))
}

type Canvas<'a> = DrawingArea<SVGBackend<'a>, Shift>;

fn on_canvas(
    labels: &Labels,
    paint: impl FnOnce(&Canvas<'_>, &Labels) -> Result<()>,
) -> Result<String> {
    let mut svg = String::new();
    {
        let canvas = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        canvas.fill(&WHITE).map_err(drawing)?;
        paint(&canvas, labels)?;
        canvas.present().map_err(drawing)?;
    }
    Ok(svg)
}

fn draw<'a, X, Y>(
    mut chart: ChartContext<'a, SVGBackend<'a>, Cartesian2d<X, Y>>,
    labels: &Labels,
    series: &[Series],
) -> Result<()>
where
    X: Ranged<ValueType = f64> + ValueFormatter<f64>,
    Y: Ranged<ValueType = f64> + ValueFormatter<f64>,
{
    chart
        .configure_mesh()
        .x_desc(labels.x)
        .y_desc(labels.y)
        .label_style(("sans-serif", 16))
        .axis_desc_style(("sans-serif", 18))
        .x_label_formatter(&|value| axis_label(*value))
        .y_label_formatter(&|value| axis_label(*value))
        .light_line_style(RGBColor(240, 240, 240))
        .draw()
        .map_err(drawing)?;
    for series in series.iter().filter(|series| !series.points.is_empty()) {
        let colour = COLOURS[series.colour % COLOURS.len()];
        let points = series.points.iter().copied();
        let drawn = match series.form {
            Form::Line => chart.draw_series(LineSeries::new(points, colour.stroke_width(3))),
            Form::ThinLine => chart.draw_series(LineSeries::new(points, colour.stroke_width(1))),
            Form::Points => {
                let style = colour.mix(0.5).filled();
                chart.draw_series(points.map(|point| Circle::new(point, 2, style)))
            }
        };
        drawn.map_err(drawing)?;
    }
    Ok(())
}

/// The names of the series, as HTML to stand below the chart, where they hide no curve.
fn legend(series: &[Series]) -> String {
    let mut legend = String::from("<p class=\"legend\">");
    for series in series.iter().filter(|series| !series.points.is_empty()) {
        let RGBColor(red, green, blue) = COLOURS[series.colour % COLOURS.len()];
        let mark = match series.form {
            Form::Line => "━━",
            Form::ThinLine => "──",
            Form::Points => "●",
        };
        let name = escape(&series.name);
        write!(
            legend,
            "<span style=\"color:rgb({red},{green},{blue})\">{mark}</span> {name} &emsp; "
        )
        .expect("strings take all");
    }
    legend + "</p>\n"
}

fn drawing(error: impl std::error::Error) -> anyhow::Error {
    anyhow!("cannot draw a chart: {error}")
}

fn axis_label(value: f64) -> String {
    match value {
        value if value >= 0.001 || value == 0.0 => format!("{value}"),
        value => format!("{value:e}"),
    }
}

/// From the power of ten below the smallest positive value to the one above the largest.
fn log_range(series: &[Series], axis: impl Fn(&(f64, f64)) -> f64) -> Range<f64> {
    let values = series.iter().flat_map(|series| &series.points).map(axis);
    let (mut low, mut high) = (f64::INFINITY, 0.0_f64);
    for value in values.filter(|&value| value > 0.0) {
        low = low.min(value);
        high = high.max(value);
    }
    match low <= high {
        true => {
            let low = low.log10().floor();
            let high = high.log10().ceil().max(low + 1.0);
            10_f64.powf(low)..10_f64.powf(high)
        }
        false => 0.1..10.0,
    }
}

/// Points of the curve (x, share of values greater than x): fewer and fewer of the many small
/// values are drawn, all of the few large ones.
fn exceedance(mut values: Vec<f64>) -> Vec<(f64, f64)> {
    /// Each point's share is at most this part smaller than the one before.
    const RESOLUTION: f64 = 0.02;
    values.sort_by(f64::total_cmp);
    let total = values.len();
    let mut points = Vec::new();
    let mut left = total;
    while left > 0 {
        let greater = left - 1;
        // The largest value exceeds nothing, which has no logarithm: drawn as the last half.
        let share = (greater as f64).max(0.5) / total as f64;
        points.push((values[total - left].max(0.001), share));
        left -= ((left as f64 * RESOLUTION) as usize).max(1);
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exceedance_curve_falls_and_keeps_the_tail() {
        let points = exceedance((1..=10_000).map(f64::from).collect());
        assert!(points.len() < 1_000);
        assert!(points.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 > pair[1].1));
        assert_eq!(points[0], (1.0, 0.9999));
        assert_eq!(points.last(), Some(&(10_000.0, 0.00005)));
        assert!(exceedance(Vec::new()).is_empty());
    }

    #[test]
    fn ranges_are_whole_powers_of_ten() {
        let line = |points| [Series { name: String::new(), points, colour: 0, form: Form::Line }];
        let range = log_range(&line(vec![(0.0, 0.0), (0.5, 0.0), (20.0, 0.0)]), |point| point.0);
        assert!((range.start - 0.1).abs() < 1e-9 && (range.end - 100.0).abs() < 1e-9);
        let one = log_range(&line(vec![(10.0, 0.0)]), |point| point.0);
        assert!(one.start < one.end);
    }

    #[test]
    fn names_are_escaped_in_a_chart() {
        let series = [Series {
            name: "a<b".into(),
            points: vec![(1.0, 1.0)],
            colour: 9,
            form: Form::Points,
        }];
        let labels = Labels { title: "t&u".into(), x: "x", y: "y" };
        let svg = log_log(&labels, &series).unwrap();
        assert!(svg.contains("a&lt;b") && svg.contains("t&amp;u"));
        assert!(svg.starts_with("<svg"));
    }
}

//! A drawing of a graph.

use super::graph::{Graph, Label};
use crate::guarded::{Panicked, guarded};
use layout::{
    adt::dag::NodeHandle,
    backends::svg::SVGWriter,
    core::{base::Orientation, geometry::Point, style::StyleAttr},
    std_shapes::shapes::{Arrow, Element, ShapeKind},
    topo::layout::VisualGraph,
};
use std::collections::BTreeMap;

/// Width and height of a state.
const STATE: f64 = 50.0;

/// The graph as SVG: accepting states are doubled, the start has an arrow from a box.
///
/// # Errors
/// When the layout cannot cope with this graph.
pub(super) fn svg(graph: &Graph) -> Result<String, Panicked> {
    guarded(|| {
        let mut drawing = VisualGraph::new(Orientation::LeftToRight);
        let mut node = |shape: ShapeKind| {
            let style = StyleAttr::simple();
            let size = Point::new(STATE, STATE);
            drawing.add_node(Element::create(shape, style, Orientation::LeftToRight, size))
        };
        let start = node(ShapeKind::new_box("start"));
        let states: BTreeMap<usize, NodeHandle> = graph
            .states
            .iter()
            .map(|state| {
                let name = format!("q{}", state.number);
                let shape = match state.accepting {
                    true => ShapeKind::new_double_circle(&name),
                    false => ShapeKind::new_circle(&name),
                };
                (state.number, node(shape))
            })
            .collect();
        if let Some(first) = graph.start {
            drawing.add_edge(Arrow::simple(""), start, states[&first]);
        }
        for edge in &graph.edges {
            let arrow = Arrow::simple(&Label(edge.bytes).to_string());
            drawing.add_edge(arrow, states[&edge.from], states[&edge.to]);
        }
        let mut writer = SVGWriter::new();
        drawing.do_it(false, false, false, &mut writer);
        writer.finalize()
    })
}

#[cfg(test)]
mod tests {
    use super::{super::graph::tests::dfa, *};

    #[test]
    fn every_state_and_label_is_drawn() {
        for (pattern, labels) in [
            ("a", &["a"][..]),
            ("(ab|c<)*", &["a", "b", "c", "&lt;"]),
            ("[0-9]{1,9}(x[0-9]*)*", &["0-9", "x"]),
            ("(a|b(c|d(e|f)*)*)*", &["a", "b"]),
        ] {
            let graph = Graph::new(&dfa(pattern), 100).unwrap();
            let svg = svg(&graph).unwrap();
            assert!(svg.starts_with("<?xml") && svg.ends_with("</svg>"), "{pattern}");
            for state in &graph.states {
                assert!(svg.contains(&format!(">q{}<", state.number)), "{pattern}: {svg}");
            }
            for label in labels {
                assert!(svg.contains(&format!(">{label}<")), "{pattern} {label}: {svg}");
            }
        }
    }
}

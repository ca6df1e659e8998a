//! All rules of a grammar at once, or as they are asked for.
//!
//! A grammar without parameters is lowered as a whole. With parameters there may be a rule for each
//! of 2^64 values: what has few is lowered as a whole all the same, and the rest as an output gets
//! there (`late`).

use crate::{
    ast::{DefId, Span},
    error::LarkErrorKind as Kind,
    fault::{Fault, Sources, fault},
    late::Late,
    lower::{Key, Lowering},
};
use formwork_grammar::{BodyBuilder, Grammar, Location, Part, Parts, RuleId, Warning, compose};
use std::sync::{Arc, PoisonError};

/// Rules with parameters that are lowered at once, before the rest waits.
const AT_ONCE: usize = 2_000;

/// The grammar of everything that was read.
pub(crate) fn grammar(mut lowering: Lowering, sources: &Sources) -> Result<Grammar, Fault> {
    let is_parametric = |id: DefId| -> bool { lowering.ast.definition(id).is_parametric };
    let has_parameters = (0..).take(lowering.ast.definitions.len()).any(is_parametric);
    let warnings = warnings(&lowering, sources);
    let root = lowering.root()?;
    let mut order = Vec::new();
    let mut nodes = 0;
    while let Some(rule) = lowering.waiting.pop() {
        lowering.lower(rule)?;
        order.push(rule);
        nodes += lowering.rules.body(rule).map_or(0, |body| body.nodes().len());
        if nodes > lowering.limits.nodes {
            let limit = lowering.limits.nodes;
            return Err(fault(Kind::Nodes { limit }, lowering.span(rule)));
        }
        if has_parameters && order.len() > AT_ONCE && !lowering.waiting.is_empty() {
            return late(lowering, sources, root, warnings);
        }
    }
    whole(lowering, sources, root, warnings)
}

/// Where a part stands.
fn location(sources: &Sources, span: Span) -> Location {
    Location::Text(sources.position(span))
}

fn whole(
    mut lowering: Lowering,
    sources: &Sources,
    root: RuleId,
    warnings: Vec<Warning>,
) -> Result<Grammar, Fault> {
    let mut grammars: Vec<Option<(Grammar, Span)>> =
        std::mem::take(&mut lowering.ast.parts).into_iter().map(Some).collect();
    let mut holes = Vec::new();
    for (&rule, key) in &lowering.keys {
        let Key::Part(part) = *key else { continue };
        if let Some((grammar, span)) = grammars[part as usize].take() {
            holes.push((rule, Part::of(grammar).at(location(sources, span))));
        }
    }
    let whole = lowering.ast.module(0).span;
    let limits = lowering.limits.clone();
    let outer = lowering.rules.finish(root).map_err(|kind| fault(kind, whole))?;
    let outer = outer.with_warnings(warnings);
    match holes.is_empty() {
        true => Ok(outer),
        false => compose(outer, holes, &limits).map_err(|error| fault(error, whole)),
    }
}

/// What attributes promise that the grammar does not keep.
fn warnings(lowering: &Lowering, sources: &Sources) -> Vec<Warning> {
    let mut warnings = Vec::new();
    for definition in &lowering.ast.definitions {
        let attributes = &definition.attributes;
        let message = match attributes {
            _ if attributes.stop_capture.is_some() => {
                "`stop_capture` has no effect: the text that ends a rule is not told apart"
            }
            _ if attributes.capture.is_some() && attributes.has_marker() => {
                "what is captured includes the text that ends the rule"
            }
            _ => continue,
        };
        let location = location(sources, definition.span);
        warnings.push(Warning { location, message: message.into() });
    }
    warnings
}

fn late(
    mut lowering: Lowering,
    sources: &Sources,
    root: RuleId,
    mut warnings: Vec<Warning>,
) -> Result<Grammar, Fault> {
    let mut parts = Parts::new(lowering.limits.clone());
    let mut part_ids = Vec::new();
    for (grammar, span) in std::mem::take(&mut lowering.ast.parts) {
        let part = Part::of(grammar).at(location(sources, span));
        part_ids.push(parts.add(part).map_err(|error| fault(error, span))?);
    }
    warnings.extend(parts.warnings());
    let mut late = Late::new(lowering, parts, part_ids, sources.clone());
    let state = late.state.get_mut().unwrap_or_else(PoisonError::into_inner);
    if !state.is_productive(root)? {
        let mut body = BodyBuilder::new();
        let never = body.never();
        return Ok(Grammar::of_body(body.finish(never)).with_warnings(warnings));
    }
    state.root = Some(root);
    Ok(Grammar::lazy("start", Arc::new(late)).with_warnings(warnings))
}

//! In which order schemas that speak of the same object declare its members.
//!
//! # Idea
//! People read a schema from top to bottom and expect members in that order: what `allOf` or a
//! reference brings stands where the keyword stands. So schemas are numbered by a walk that goes
//! into the keywords that apply to the same value, in the order in which they are written, and a
//! schema gets its own number where its `properties` stand. One that several others refer to has
//! the number of the first.
//!
//! # Cost
//! Linear in the keywords of the schemas, with an explicit stack.

use super::{Keywords, Schema, SchemaId};
use crate::document::{Document, Value, ValueId};

enum Step {
    Enter(SchemaId),
    Number(SchemaId),
}

/// By schema, its number; `values` says where each schema stands.
pub(super) fn sequence(document: &Document, schemas: &[Schema], values: &[ValueId]) -> Vec<u32> {
    let mut numbers = vec![u32::MAX; schemas.len()];
    let mut entered = vec![false; schemas.len()];
    let mut next = 0;
    let mut stack = Vec::new();
    let mut steps = Vec::new();
    for root in 0..schemas.len() {
        stack.push(Step::Enter(SchemaId::of(root)));
        while let Some(step) = stack.pop() {
            match step {
                Step::Number(id) if numbers[id.index()] == u32::MAX => {
                    numbers[id.index()] = next;
                    next += 1;
                }
                Step::Enter(id) if !std::mem::replace(&mut entered[id.index()], true) => {
                    match &schemas[id.index()] {
                        Schema::Alias(target) => steps.push(Step::Enter(*target)),
                        Schema::Keywords(keywords) => {
                            written_steps(document, values[id.index()], (id, keywords), &mut steps);
                        }
                        Schema::Always | Schema::Never => {}
                    }
                    stack.extend(steps.drain(..).rev());
                }
                _ => {}
            }
        }
    }
    numbers
}

/// What a schema consists of, in the order in which its keywords are written.
fn written_steps(
    document: &Document,
    at: ValueId,
    (id, keywords): (SchemaId, &Keywords),
    steps: &mut Vec<Step>,
) {
    let enter = |steps: &mut Vec<Step>, schemas: &[SchemaId]| {
        steps.extend(schemas.iter().map(|&schema| Step::Enter(schema)));
    };
    let conditional = keywords.conditional;
    let condition = conditional.map(|parts| parts.condition);
    let then = conditional.and_then(|parts| parts.then);
    let otherwise = conditional.and_then(|parts| parts.otherwise);
    if let Value::Object(children) = document.value(at) {
        for member in document.members(children) {
            match document.text(member.key) {
                "properties" => steps.push(Step::Number(id)),
                "$ref" => enter(steps, keywords.reference.as_slice()),
                "allOf" | "$dynamicRef" | "$recursiveRef" => enter(steps, &keywords.all_of),
                "anyOf" => enter(steps, &keywords.any_of),
                "oneOf" => enter(steps, &keywords.one_of),
                "if" => enter(steps, condition.as_slice()),
                "then" => enter(steps, then.as_slice()),
                "else" => enter(steps, otherwise.as_slice()),
                "dependentSchemas" | "dependencies" => {
                    let dependent = keywords.object.iter().flat_map(|it| &it.dependent_schemas);
                    steps.extend(dependent.map(|&(_, schema)| Step::Enter(schema)));
                }
                _ => {}
            }
        }
    }
    steps.push(Step::Number(id));
}

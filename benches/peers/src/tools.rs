//! Schemas as tools that a model may call: all of them in one structural tag.
//!
//! # Idea
//! A call is `<function=NAME>{…}</function>`, anywhere in free text. The same is written in Lark for
//! those who have no structural tags: a lazy rule for the text up to `<function=`, then one
//! alternative a tool, with its schema in `%json`. The outputs are calls with the schemas' own valid
//! tests for arguments, one call in the first half of the outputs, and two in the others.

use crate::{
    engine::Constraint,
    input::{Case, Test},
    vocabulary::Vocabularies,
};
use anyhow::{Context, Result, ensure};
use serde_json::json;

const TRIGGER: &str = "<function=";
const END: &str = "</function>";

/// Arguments longer than this say more about strings than about tools.
const MAX_TOKENS: usize = 400;

/// One case: all schemas as tools, and calls of each.
///
/// # Errors
/// When no schema has a valid test.
pub(crate) fn case(schemas: &[Case], vocabularies: &Vocabularies) -> Result<Case> {
    let mut tools = Vec::new();
    for (number, case) in schemas.iter().enumerate() {
        let Constraint::Schema { text, .. } = &case.constraint else { continue };
        tools.push((format!("tool_{number}"), text.as_str()));
    }
    let constraint = Constraint::Tools { tag: structural_tag(&tools)?, lark: lark(&tools) };
    let mut calls = Vec::new();
    for (case, (name, _)) in schemas.iter().zip(&tools) {
        let valid = case.tests.iter().filter(|test| test.valid && test.tokens.len() <= MAX_TOKENS);
        for test in valid {
            let arguments = text(test, vocabularies)?;
            calls.push(format!("{TRIGGER}{name}>{arguments}{END}"));
        }
    }
    ensure!(!calls.is_empty(), "no tool has a valid call");
    let outputs = calls.iter().enumerate().map(|(at, call)| match at < calls.len() / 2 {
        true => format!("I shall look that up.\n{call}"),
        false => format!("{}\nand then {call}", calls[calls.len() - 1 - at]),
    });
    let tests = outputs.map(|output| Test { valid: true, tokens: vocabularies.encode(&output) });
    let id = format!("{} tools", tools.len());
    Ok(Case { id, split: "tools".into(), constraint, tests: tests.collect() })
}

/// The text of a test.
fn text(test: &Test, vocabularies: &Vocabularies) -> Result<String> {
    let mut bytes = Vec::new();
    for &token in &test.tokens {
        bytes.extend_from_slice(vocabularies.bytes(token).context("a token without bytes")?);
    }
    String::from_utf8(bytes).context("a test is no text")
}

fn structural_tag(tools: &[(String, &str)]) -> Result<String> {
    let mut tags = Vec::new();
    for (name, schema) in tools {
        let begin = serde_json::to_string(&format!("{TRIGGER}{name}>"))?;
        let end = serde_json::to_string(END)?;
        tags.push(format!(
            r#"{{"type":"tag","begin":{begin},"content":{{"type":"json_schema","json_schema":{schema}}},"end":{end}}}"#
        ));
    }
    let triggers = json!([TRIGGER]);
    Ok(format!(
        r#"{{"type":"structural_tag","format":{{"type":"triggered_tags","triggers":{triggers},"tags":[{}]}}}}"#,
        tags.join(",")
    ))
}

fn lark(tools: &[(String, &str)]) -> String {
    let mut text = format!(
        "start: (trigger call)* TEXT\ntrigger[lazy]: TEXT \"{TRIGGER}\"\nTEXT: /(.|\\n)*/\n\
         call: {}\n",
        tools.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(" | ")
    );
    for (name, schema) in tools {
        text.push_str(&format!("{name}: \"{name}>\" %json {schema} \"{END}\"\n"));
    }
    text
}

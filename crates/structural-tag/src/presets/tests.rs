//! Every layout makes tags that compile and take what it describes.

use super::*;
use crate::{Options, compile};
use formwork_grammar::Limits;

fn tools() -> Vec<Tool> {
    let tool = |name: &str, parameters: &str| Tool {
        name: name.into(),
        parameters: Some(parameters.into()),
    };
    vec![
        tool(
            "get_weather",
            r#"{"type":"object","properties":{"city":{"type":"string"}},"required":["city"],"additionalProperties":false}"#,
        ),
        tool("now", r#"{"type":"object","properties":{},"additionalProperties":false}"#),
    ]
}

fn calls(choice: ToolChoice, parallel: Parallel) -> ToolCalls {
    ToolCalls { choice, parallel }
}

#[test]
fn every_layout_compiles_with_every_choice() {
    let choices = [ToolChoice::Auto, ToolChoice::Required, ToolChoice::Named("now".into())];
    for preset in presets() {
        assert_eq!(preset.style().name(), preset.style, "{}", preset.name());
        assert!(!preset.models().is_empty());
        if preset.trigger.is_some() {
            for pieces in [
                &preset.open,
                &preset.before_name,
                &preset.after_name,
                &preset.after_arguments,
                &preset.close,
            ] {
                assert!(matches!(pieces[..], [] | [Piece::Text(_)]), "{}", preset.name());
            }
        }
        for choice in &choices {
            for parallel in [Parallel::Many, Parallel::One] {
                let calls = calls(choice.clone(), parallel);
                let tag = preset.structural_tag(&tools(), &calls).unwrap();
                let compiled = compile(&tag, &Options::default(), &Limits::default());
                let grammar = compiled.unwrap_or_else(|error| panic!("{}: {error}", preset.name()));
                grammar.lower_all(&Limits::default()).unwrap();
                assert_eq!(grammar.warnings(), [], "{}", preset.name());
            }
        }
    }
}

/// What a text layout takes, and what it does not.
fn check(name: &str, calls: &ToolCalls, good: &[&str], bad: &[&str]) {
    let tag = preset(name).unwrap().structural_tag(&tools(), calls).unwrap();
    let grammar = compile(&tag, &Options::default(), &Limits::default()).unwrap();
    for text in good {
        assert!(crate::tests::accepts(&grammar, text), "{name} should take {text:?}");
    }
    for text in bad {
        assert!(!crate::tests::accepts(&grammar, text), "{name} should not take {text:?}");
    }
}

const HERMES: &str = "<tool_call>\n{\"name\": \"now\", \"arguments\": {}}\n</tool_call>";

#[test]
fn choices_say_how_many_calls_there_are() {
    let twice = format!("{HERMES}\n{HERMES}");
    let text = format!("hi {HERMES}");
    check("hermes", &ToolCalls::default(), &["", "hi", HERMES, &twice, &text], &["<tool_call>x"]);
    let required = calls(ToolChoice::Required, Parallel::Many);
    check("hermes", &required, &[HERMES, &twice], &["", &text]);
    let one = calls(ToolChoice::Required, Parallel::One);
    check("hermes", &one, &[HERMES], &["", &twice, "hi"]);
    let named = calls(ToolChoice::Named("now".into()), Parallel::Many);
    let other = HERMES.replace("now", "get_weather").replace("{}", "{\"city\": \"x\"}");
    check("hermes", &named, &[HERMES], &[&other, &twice]);
    check("hermes", &required, &[&other], &[]);
}

#[test]
fn layouts_with_sections_have_their_calls_in_them() {
    let call = "<｜tool▁call▁begin｜>now<｜tool▁sep｜>{}<｜tool▁call▁end｜>";
    let section = |calls: &str| format!("<｜tool▁calls▁begin｜>{calls}<｜tool▁calls▁end｜>");
    let required = calls(ToolChoice::Required, Parallel::Many);
    let (one, two) = (section(call), section(&[call, call].concat()));
    check("deepseek_v3_1", &required, &[&one, &two], &[call, &section(""), ""]);
    let single = calls(ToolChoice::Required, Parallel::One);
    check("deepseek_v3_1", &single, &[&one], &[&two]);
    check(
        "qwen_3_coder",
        &required,
        &[
            "<tool_call>\n<function=get_weather>\n<parameter=city>\nRio\n</parameter>\n</function>\n</tool_call>",
        ],
        &["<tool_call>\n<function=get_weather>\n</function>\n</tool_call>"],
    );
}

#[test]
fn arguments_begin_where_the_template_has_them() {
    let required = calls(ToolChoice::Required, Parallel::Many);
    let glm = |gap: &str| {
        let city = "<arg_key>city</arg_key>\n<arg_value>Rio</arg_value>";
        format!("<tool_call>get_weather{gap}{city}</tool_call>")
    };
    check("glm_4_7", &required, &[&glm("")], &["<tool_call>get_weather</tool_call>"]);
    check("glm_4", &required, &[&glm("\n")], &[&glm("")]);
}

#[test]
fn wrong_names_and_parameters_are_said() {
    assert!(matches!(preset("gpt-2"), Err(PresetError::UnknownPreset { .. })));
    let hermes = preset("hermes").unwrap();
    let none = hermes.structural_tag(&[], &ToolCalls::default());
    assert_eq!(none, Err(PresetError::NoTools));
    let named = calls(ToolChoice::Named("x".into()), Parallel::Many);
    let unknown = hermes.structural_tag(&tools(), &named);
    assert_eq!(unknown, Err(PresetError::UnknownTool { name: "x".into() }));
    for parameters in ["{", "1", "{}{}", "}, {\"a\":1"] {
        let tool = Tool { name: "t".into(), parameters: Some(parameters.into()) };
        let error = hermes.structural_tag(&[tool], &ToolCalls::default());
        assert_eq!(error, Err(PresetError::Parameters { tool: "t".into() }));
    }
}

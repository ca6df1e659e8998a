//! What the command line takes and refuses.

use super::*;
use formwork::json_schema::WhiteSpace;

fn parse(line: &str) -> Result<Args, String> {
    let words = std::iter::once("formwork").chain(line.split_whitespace());
    Args::try_parse_from(words).map_err(|error| error.to_string())
}

#[test]
fn the_definition_is_consistent() {
    <Args as clap::CommandFactory>::command().debug_assert();
}

#[test]
fn every_command_is_told_apart_from_its_misuse() {
    for line in [
        "generate --regex a --vocab bytes --backend dfa",
        "check --regex a --text a",
        "check --jsonl --time-limit 0.5",
        "check --jsonl --white-space compact",
        "inspect --choice a b --dot -",
        "mask --json-object --tokens 1,2,3",
        "mask --regex a --prefix a",
        "maskbench --cases a.jsonl --vocab v --out o.jsonl --variant pretty",
        "maskbench --worker --vocab v",
    ] {
        parse(line).unwrap_or_else(|error| panic!("{line}: {error}"));
    }
    for line in [
        "generate",
        "check --regex a",
        "check --text a",
        "check --jsonl --regex a",
        "check --jsonl --text a",
        "inspect --regex a --choice b",
        "mask --regex a --prefix a --tokens 1",
        "maskbench --vocab v",
        "maskbench --worker --cases a.jsonl --out b.jsonl",
        "maskbench --worker --time-limit 0",
        "maskbench --worker --time-limit NaN",
        "check --jsonl --time-limit inf",
    ] {
        assert!(parse(line).is_err(), "{line}");
    }
}

fn white_space(line: &str) -> Result<WhiteSpace, String> {
    let Command::Mask(mask) = parse(&format!("mask --json-object {line}"))?.command else {
        unreachable!("this is `mask`")
    };
    let options = mask.constraint.options().map_err(|error| error.to_string())?;
    Ok(options.json_schema.white_space)
}

#[test]
fn front_end_options_come_by_name_and_the_last_holds() {
    assert_eq!(white_space(""), Ok(WhiteSpace::default()));
    assert_eq!(white_space("--white-space compact"), Ok(WhiteSpace::Compact));
    assert_eq!(white_space("--option white_space=unbounded"), Ok(WhiteSpace::Unbounded));
    assert_eq!(
        white_space(r#"--white-space compact --option white_space={"bounded":3}"#),
        Ok(WhiteSpace::Bounded { max: 3 })
    );
    assert!(white_space("--option white_space").is_err());
    assert!(white_space("--option space=1").unwrap_err().contains("known are `white_space`"));
}

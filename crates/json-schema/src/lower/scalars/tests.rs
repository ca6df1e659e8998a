//! Examples, and random formulas against the same formulas on integers and on plain texts.

use super::*;
use crate::model::Bound;
use formwork_grammar::BodyBuilder;
use proptest::prelude::*;

fn scalars() -> Scalars {
    Scalars::new(Limits::default())
}

fn fuel() -> Fuel {
    Fuel::unlimited()
}

fn count(min: u32, max: Option<u32>) -> TextAtom {
    TextAtom::Length(Count { min, max })
}

fn pattern(pattern: &str) -> TextAtom {
    TextAtom::Pattern(pattern.into())
}

fn texts(list: &[&str]) -> TextAtom {
    TextAtom::Values(Arc::new(list.iter().map(|&text| text.into()).collect()))
}

fn decimal(text: &str) -> Decimal {
    Decimal::parse(text).expect("in range")
}

fn listed(list: &[&str]) -> NumberAtom {
    NumberAtom::Values(Arc::new(list.iter().map(|&text| (decimal(text), text.into())).collect()))
}

fn bound(text: &str, inclusive: bool) -> Option<Bound> {
    Some(Bound { value: decimal(text), inclusive })
}

fn between(lower: Option<Bound>, upper: Option<Bound>) -> NumberAtom {
    NumberAtom::Interval(Interval { lower, upper })
}

fn multiple(text: &str) -> NumberAtom {
    NumberAtom::MultipleOf(decimal(text))
}

/// The automaton of a conjunction of atoms.
fn all_of(atoms: &[(NumberAtom, Polarity)], writing: Writing) -> Arc<Dfa> {
    let mut scalars = scalars();
    let parts: Vec<NumberId> =
        atoms.iter().map(|(atom, polarity)| scalars.number(atom.clone(), *polarity)).collect();
    let all = scalars.number_and(&parts);
    scalars.number_language(all, writing, &mut fuel()).expect("without a limit")
}

fn check(language: &Dfa, accepted: &[&str], refused: &[&str]) {
    for text in accepted {
        assert!(language.accepts(text.as_bytes()), "{text} is accepted");
    }
    for text in refused {
        assert!(!language.accepts(text.as_bytes()), "{text} is refused");
    }
}

use Polarity::{Fails, Holds};

#[test]
fn formulas_are_simplified() {
    let mut scalars = scalars();
    let a = scalars.text(pattern("a"), Holds);
    let not_a = scalars.text(pattern("a"), Fails);
    let b = scalars.text(count(1, None), Holds);
    assert_eq!(scalars.text_and(&[]), TextId::ANY);
    assert_eq!(scalars.text_or(&[]), TextId::NEVER);
    assert_eq!(scalars.text_and(&[a, TextId::ANY, a]), a);
    assert_eq!(scalars.text_and(&[a, not_a]), TextId::NEVER);
    assert_eq!(scalars.text_or(&[a, b, not_a]), TextId::ANY);
    assert_eq!(scalars.text_and(&[a, b]), scalars.text_and(&[b, a, b]));
    assert_ne!(scalars.text_and(&[a, b]), scalars.text_or(&[a, b]));
}

#[test]
fn lengths_are_not_unrolled() {
    let mut scalars = scalars();
    let mut small = Fuel::new(2_000, 100_000);
    let long = scalars.text(count(100_000, Some(4_000_000_000)), Holds);
    let letters = scalars.text(pattern("^[a-z]*$"), Holds);
    let short = scalars.text(count(0, Some(3)), Holds);
    let both = scalars.text_and(&[long, letters]);
    let either = scalars.text_or(&[both, short]);
    for id in [long, both, either] {
        assert!(scalars.has_text(id, &mut small).unwrap());
        let mut body = BodyBuilder::new();
        scalars.string(id, Writing::Minimal, &mut body, &mut small).unwrap();
    }
    let neither = scalars.text_and(&[long, short]);
    assert!(!scalars.has_text(neither, &mut small).unwrap());
    assert!(scalars.text_holds(either, "abc", &mut small).unwrap());
    assert!(!scalars.text_holds(either, "abcd", &mut small).unwrap());
    assert!(scalars.string_language(long, Writing::Minimal, &mut small).is_err());
}

#[test]
fn minimal_writing_escapes_where_nothing_but_the_length_counts() {
    let mut scalars = scalars();
    let two = scalars.text(count(2, Some(2)), Holds);
    let other = scalars.text(texts(&["ab"]), Fails);
    let both = scalars.text_and(&[two, other]);
    let mut language =
        |id, writing| scalars.string_language(id, writing, &mut fuel()).expect("without a limit");
    check(&language(two, Writing::Minimal), &[r#""ab""#, r#""\u0061\/""#], &[r#""a""#, r#""abc""#]);
    check(&language(two, Writing::Canonical), &[r#""ab""#], &[r#""\u0061b""#]);
    check(&language(both, Writing::Minimal), &[r#""ac""#], &[r#""ab""#, r#""\u0061c""#]);
    check(
        &language(both, Writing::Any),
        &[r#""ac""#, r#""\u0061c""#],
        &[r#""ab""#, r#""\u0061b""#, r#""\u0061\u0062""#],
    );
}

#[test]
fn lists_of_texts_are_asked_one_by_one() {
    let mut scalars = scalars();
    let many: BTreeSet<Box<str>> =
        (0..2_000).map(|index| format!("value {index}").into()).collect();
    let many = scalars.text(TextAtom::Values(Arc::new(many)), Holds);
    let odd = scalars.text(pattern("[13579]$"), Holds);
    let short = scalars.text(count(0, Some(8)), Holds);
    let all = scalars.text_and(&[many, odd, short]);
    let found = scalars.listed_texts(all, 100, &mut fuel()).unwrap().expect("a finite set");
    assert_eq!(found.len(), 50);
    assert!(found.contains(&"value 99".into()));
    assert_eq!(scalars.listed_texts(all, 49, &mut fuel()).unwrap(), None);
    assert_eq!(scalars.listed_texts(odd, 1_000, &mut fuel()).unwrap(), None);
    let language = scalars.string_language(all, Writing::Minimal, &mut fuel()).unwrap();
    check(&language, &[r#""value 7""#], &[r#""value 8""#, r#""value 101""#]);
    let few = scalars.text(pattern("^(a|bc?)$"), Holds);
    let found = scalars.listed_texts(few, 3, &mut fuel()).unwrap();
    assert_eq!(found, Some(vec!["a".into(), "b".into(), "bc".into()]));
}

#[test]
fn formats_that_are_not_exact_are_narrow_on_both_sides() {
    let mut scalars = scalars();
    let has = scalars.text(TextAtom::Format(Format::Hostname), Holds);
    let lacks = scalars.text(TextAtom::Format(Format::Hostname), Fails);
    let mut holds = |id, text: &str| scalars.text_holds(id, text, &mut fuel()).unwrap();
    assert!(holds(has, "a.b") && !holds(lacks, "a.b"));
    assert!(!holds(has, "xn--4gbwdl") && !holds(lacks, "xn--4gbwdl"));
    assert!(!holds(has, "-") && holds(lacks, "-"));
    let long = "a.".repeat(200) + "a";
    assert!(!holds(has, &long) && holds(lacks, &long));
    let language = scalars.string_language(lacks, Writing::Canonical, &mut fuel()).unwrap();
    assert!(language.accepts(format!("{long:?}").as_bytes()));
    assert!(!language.accepts(b"\"xn--4gbwdl\""));
}

#[test]
fn numbers_of_which_nothing_is_said() {
    let mut scalars = scalars();
    let mut language = |writing| {
        scalars.number_language(NumberId::ANY, writing, &mut fuel()).expect("without a limit")
    };
    let wrong = ["", "-", "01", "1.", ".5", "+1", "1e", "--1", "1e+"];
    check(&language(Writing::Minimal), &["0", "-0", "-1.25E-7", "0e0", "10.00"], &wrong);
    check(&language(Writing::Any), &["0", "-0", "-1.25E-7", "0e0", "10.00"], &wrong);
    check(&language(Writing::Canonical), &["0", "-0.5", "10.01"], &["-0", "1.0", "1e0", "-0.0"]);
}

#[test]
fn bounds_are_exact_at_any_length() {
    let nines = format!("0.{}", "9".repeat(400));
    let above = all_of(&[(between(bound(&nines, false), None), Holds)], Writing::Minimal);
    check(
        &above,
        &["1", &format!("{nines}01"), "10.5"],
        &[&nines, &format!("{nines}0"), "0.99", "-1"],
    );
    let large = between(bound("9007199254740993", true), None);
    let large = all_of(&[(large, Holds), (NumberAtom::Integer, Holds)], Writing::Minimal);
    check(&large, &["9007199254740993"], &["9007199254740992", "9007199254740993.0", "1e99"]);
    let huge = all_of(&[(between(None, bound("1e20", true)), Holds)], Writing::Any);
    check(&huge, &["100000000000000000000", "1e20", "10E19", "-1e999"], &["1.01e20", "1e21"]);
}

#[test]
fn zero_has_no_sign() {
    let from_zero = all_of(&[(between(bound("-0.0", true), None), Holds)], Writing::Any);
    check(&from_zero, &["-0", "-0.00", "0", "-0e7", "1e-9"], &["-0.001", "-1e-9"]);
    let above = all_of(&[(between(bound("0", false), None), Holds)], Writing::Minimal);
    check(&above, &["0.0001"], &["-0", "0.0", "-1"]);
    let below = all_of(&[(between(None, bound("0", false)), Holds)], Writing::Canonical);
    check(&below, &["-0.5", "-10"], &["-0", "0", "-10.0", "5"]);
}

#[test]
fn multiples() {
    let cents = all_of(&[(multiple("0.01"), Holds)], Writing::Minimal);
    check(&cents, &["0", "1", "19.99", "-0.1", "4.500", "12.0"], &["0.001", "19.999", "1e2"]);
    let thirds =
        all_of(&[(multiple("1.5"), Holds), (NumberAtom::Integer, Fails)], Writing::Minimal);
    check(&thirds, &["4.5", "1.50", "-7.5"], &["3", "3.0", "1", "4.50001"]);
    let neither = all_of(&[(multiple("4"), Fails), (multiple("6"), Fails)], Writing::Minimal);
    check(&neither, &["1", "2", "10", "0.5", "12.1"], &["0", "4", "6", "24.0", "-8"]);
    let millions = all_of(&[(multiple("1000000"), Holds)], Writing::Minimal);
    check(&millions, &["0", "3000000", "-10000000.0"], &["1", "100000", "3000001"]);
    assert!(millions.len() < 20, "seven remainders matter, not a million");
}

#[test]
fn exponents_of_multiples() {
    let halves = [(multiple("0.5"), Holds), (NumberAtom::Integer, Holds)];
    check(&all_of(&halves, Writing::Any), &["1e308", "10e-1", "1.0", "0e-9"], &["1e-1", "0.5"]);
    let fours = all_of(&[(multiple("4"), Holds)], Writing::Any);
    check(
        &fours,
        &["4", "4e0", "1e2", "0.04e2", "400e-2", "2.4e1"],
        &["1e1", "2e0", "40e-2", "4e-1"],
    );
}

#[test]
fn a_divisor_with_too_many_remainders_is_an_error() {
    let mut scalars = scalars();
    for divisor in ["123456789", "0.123456789", &"7".repeat(400)] {
        let id = scalars.number(multiple(divisor), Holds);
        assert!(scalars.number_language(id, Writing::Minimal, &mut fuel()).is_err());
        // One number after the other can be asked all the same.
        assert!(scalars.number_holds(id, divisor, &mut fuel()).unwrap());
        assert!(!scalars.number_holds(id, "1", &mut fuel()).unwrap());
        let list = scalars.number(listed(&[divisor, "1"]), Holds);
        let both = scalars.number_and(&[id, list]);
        let found = scalars.number_language(both, Writing::Canonical, &mut fuel()).unwrap();
        assert!(found.accepts(divisor.as_bytes()) && !found.accepts(b"1"));
    }
}

#[test]
fn lists_of_numbers() {
    let list = listed(&["1.50", "100", "0", "-2e1", "1", "1001"]);
    let minimal = all_of(&[(list.clone(), Holds)], Writing::Minimal);
    check(&minimal, &["1.50", "1.5", "100", "-2e1", "-20", "0"], &["1.500", "1e2", "20", "-0"]);
    let any = all_of(&[(list.clone(), Holds)], Writing::Any);
    check(
        &any,
        &["1.500", "15e-1", "100", "1e2", "0.1e3", "-0", "0.0e5", "-20.0", "1.001e3", "1e0"],
        &["15", "-1.5", "10", "1e1", "1e3", "101", "20", "1.0010001e3"],
    );
    let others = all_of(&[(list, Fails), (NumberAtom::Integer, Holds)], Writing::Minimal);
    check(&others, &["2", "10", "-1", "20", "1000"], &["1", "100", "0", "-0", "-20", "1001"]);
}

#[test]
fn a_whole_number_of_draft_4() {
    let whole = all_of(&[(NumberAtom::WrittenWhole, Holds)], Writing::Any);
    check(&whole, &["1", "-0", "120"], &["1.0", "1e0"]);
}

#[test]
fn a_bound_of_a_billion_digits_runs_out_of_fuel() {
    let mut scalars = scalars();
    let id = scalars.number(between(bound("1e1000000000", true), None), Holds);
    let mut small = Fuel::new(10_000, 10_000_000);
    assert!(scalars.number_language(id, Writing::Minimal, &mut small).is_err());
}

fn number_text() -> impl Strategy<Value = String> {
    "-?(0|[1-9][0-9]{0,3})(\\.[0-9]{1,3})?([eE][+-]?[0-9])?"
}

fn plain_text() -> impl Strategy<Value = String> {
    "-?(0|[1-9][0-9]{0,3})(\\.[0-9]{1,3})?"
}

fn divisor_text() -> impl Strategy<Value = String> {
    "[1-9]0{0,2}|0\\.[0-2]?[125]|1\\.5|12"
}

#[derive(Clone, Debug)]
enum Tree<A> {
    Atom(A, bool),
    And(Vec<Tree<A>>),
    Or(Vec<Tree<A>>),
}

fn tree<A: Clone + std::fmt::Debug + 'static>(
    atom: impl Strategy<Value = A> + 'static,
) -> impl Strategy<Value = Tree<A>> {
    let leaf = (atom, any::<bool>()).prop_map(|(atom, holds)| Tree::Atom(atom, holds));
    leaf.prop_recursive(3, 8, 3, |inner| {
        let parts = prop::collection::vec(inner, 1..4);
        prop_oneof![parts.clone().prop_map(Tree::And), parts.prop_map(Tree::Or)]
    })
}

fn quantity() -> impl Strategy<Value = NumberAtom> {
    prop_oneof![
        (
            prop::option::of((plain_text(), any::<bool>())),
            prop::option::of((plain_text(), any::<bool>()))
        )
            .prop_map(|(lower, upper)| {
                let bound = |(text, inclusive): (String, bool)| bound(&text, inclusive);
                between(lower.and_then(bound), upper.and_then(bound))
            }),
        divisor_text().prop_map(|text| multiple(&text)),
        Just(NumberAtom::Integer),
        prop::collection::vec(number_text(), 0..4).prop_map(|list| {
            let list = list.iter().map(|text| (decimal(text), text.as_str().into()));
            NumberAtom::Values(Arc::new(list.collect()))
        }),
    ]
}

fn polarity(holds: bool) -> Polarity {
    if holds { Holds } else { Fails }
}

fn number_id(scalars: &mut Scalars, tree: &Tree<NumberAtom>) -> NumberId {
    match tree {
        Tree::Atom(atom, holds) => scalars.number(atom.clone(), polarity(*holds)),
        Tree::And(parts) => {
            let parts: Vec<_> = parts.iter().map(|part| number_id(scalars, part)).collect();
            scalars.number_and(&parts)
        }
        Tree::Or(parts) => {
            let parts: Vec<_> = parts.iter().map(|part| number_id(scalars, part)).collect();
            scalars.number_or(&parts)
        }
    }
}

/// By scaled integers: every text here is a multiple of 10^-12 below 10^14.
fn scaled(text: &str) -> i128 {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let exponent: i32 = exponent.parse().expect("an exponent");
    let digits: i128 = format!("{whole}{fraction}").parse().expect("digits");
    digits * 10_i128.pow((12 + exponent - fraction.len() as i32) as u32)
}

/// How many remainders the divisors of a formula have together.
fn remainders(tree: &Tree<NumberAtom>) -> u64 {
    match tree {
        Tree::Atom(NumberAtom::MultipleOf(divisor), _) => {
            let (digits, _) = divisor.scaled();
            std::str::from_utf8(digits).unwrap().parse().unwrap()
        }
        Tree::Atom(..) => 1,
        Tree::And(parts) | Tree::Or(parts) => parts.iter().map(remainders).product(),
    }
}

fn number_holds(tree: &Tree<NumberAtom>, value: i128) -> bool {
    match tree {
        Tree::And(parts) => parts.iter().all(|part| number_holds(part, value)),
        Tree::Or(parts) => parts.iter().any(|part| number_holds(part, value)),
        Tree::Atom(atom, holds) => {
            let scale = |decimal: &Decimal| scaled(&decimal.plain());
            let truth = match atom {
                NumberAtom::Interval(Interval { lower, upper }) => {
                    lower.as_ref().is_none_or(|bound| {
                        value > scale(&bound.value)
                            || bound.inclusive && value == scale(&bound.value)
                    }) && upper.as_ref().is_none_or(|bound| {
                        value < scale(&bound.value)
                            || bound.inclusive && value == scale(&bound.value)
                    })
                }
                NumberAtom::MultipleOf(divisor) => value % scale(divisor) == 0,
                NumberAtom::Integer => value % scaled("1") == 0,
                NumberAtom::WrittenWhole => unreachable!("not among them"),
                NumberAtom::Values(values) => {
                    values.iter().any(|(listed, _)| scale(listed) == value)
                }
            };
            truth == *holds
        }
    }
}

#[derive(Clone, Debug)]
enum Saying {
    Length(u32, Option<u32>),
    Pattern(&'static str),
    Values(Vec<String>),
}

fn saying() -> impl Strategy<Value = Saying> {
    prop_oneof![
        (0_u32..5, prop::option::of(0_u32..6)).prop_map(|(min, max)| Saying::Length(min, max)),
        prop::sample::select(&["a", "^[ab]*$", "é.", "\"$", "^(aa)*$", "\\\\", "^.{2,3}$"][..])
            .prop_map(Saying::Pattern),
        prop::collection::vec(short_text(), 0..4).prop_map(Saying::Values),
    ]
}

fn short_text() -> impl Strategy<Value = String> {
    "[abé\"\\\\😀]{0,5}"
}

fn text_id(scalars: &mut Scalars, tree: &Tree<Saying>) -> TextId {
    match tree {
        Tree::Atom(saying, holds) => {
            let atom = match saying {
                Saying::Length(min, max) => count(*min, *max),
                Saying::Pattern(text) => pattern(text),
                Saying::Values(list) => texts(&list.iter().map(String::as_str).collect::<Vec<_>>()),
            };
            scalars.text(atom, polarity(*holds))
        }
        Tree::And(parts) => {
            let parts: Vec<_> = parts.iter().map(|part| text_id(scalars, part)).collect();
            scalars.text_and(&parts)
        }
        Tree::Or(parts) => {
            let parts: Vec<_> = parts.iter().map(|part| text_id(scalars, part)).collect();
            scalars.text_or(&parts)
        }
    }
}

fn text_holds(tree: &Tree<Saying>, text: &str) -> bool {
    match tree {
        Tree::And(parts) => parts.iter().all(|part| text_holds(part, text)),
        Tree::Or(parts) => parts.iter().any(|part| text_holds(part, text)),
        Tree::Atom(saying, holds) => {
            let length = text.chars().count();
            let letters: Vec<char> = text.chars().collect();
            let truth = match saying {
                Saying::Length(min, max) => {
                    length >= *min as usize && max.is_none_or(|max| length <= max as usize)
                }
                Saying::Values(list) => list.iter().any(|listed| listed == text),
                Saying::Pattern(pattern) => match *pattern {
                    "a" => text.contains('a'),
                    "^[ab]*$" => text.chars().all(|letter| "ab".contains(letter)),
                    "é." => {
                        letters.iter().position(|&c| c == 'é').is_some_and(|at| at + 1 < length)
                    }
                    "\"$" => text.ends_with('"'),
                    "^(aa)*$" => length.is_multiple_of(2) && letters.iter().all(|&c| c == 'a'),
                    "\\\\" => text.contains('\\'),
                    "^.{2,3}$" => (2..=3).contains(&length),
                    other => unreachable!("{other} is not among them"),
                },
            };
            truth == *holds
        }
    }
}

fn every_character_escaped(text: &str) -> String {
    let units = text.encode_utf16().map(|unit| format!("\\u{unit:04X}"));
    format!("\"{}\"", units.collect::<String>())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn formulas_about_numbers_mean_what_they_say(
        tree in tree(quantity()), values in prop::collection::vec(number_text(), 24),
    ) {
        let mut scalars = scalars();
        let id = number_id(&mut scalars, &tree);
        let any = scalars.number_language(id, Writing::Any, &mut fuel()).unwrap();
        let minimal = scalars.number_language(id, Writing::Minimal, &mut fuel()).unwrap();
        let canonical = scalars.number_language(id, Writing::Canonical, &mut fuel()).unwrap();
        for text in values {
            let expected = number_holds(&tree, scaled(&text));
            // An exponent behind digits that cannot all be kept in mind is left out.
            if !text.contains(['e', 'E']) || remainders(&tree) <= 200 {
                prop_assert_eq!(any.accepts(text.as_bytes()), expected, "any {}", text);
            }
            prop_assert!(expected || !any.accepts(text.as_bytes()), "any {}", text);
            prop_assert_eq!(scalars.number_holds(id, &text, &mut fuel()).unwrap(), expected);
            let plain = decimal(&text).plain();
            prop_assert_eq!(canonical.accepts(plain.as_bytes()), expected, "canonical {}", plain);
            prop_assert_eq!(minimal.accepts(plain.as_bytes()), expected, "minimal {}", plain);
            prop_assert!(text == plain || !canonical.accepts(text.as_bytes()));
        }
        prop_assert!(canonical.is_subset_of(&minimal, &mut fuel()).unwrap());
        prop_assert_eq!(scalars.has_number(id, Writing::Any, &mut fuel()).unwrap(), !canonical.is_empty());
    }

    #[test]
    fn formulas_about_texts_mean_what_they_say(
        tree in tree(saying()), values in prop::collection::vec(short_text(), 24),
    ) {
        let mut scalars = scalars();
        let id = text_id(&mut scalars, &tree);
        let any = scalars.string_language(id, Writing::Any, &mut fuel()).unwrap();
        let canonical = scalars.string_language(id, Writing::Canonical, &mut fuel()).unwrap();
        for text in values {
            let expected = text_holds(&tree, &text);
            let mut plain = Vec::new();
            crate::lower::text::quote(&text, &mut plain);
            prop_assert_eq!(scalars.text_holds(id, &text, &mut fuel()).unwrap(), expected);
            prop_assert_eq!(canonical.accepts(&plain), expected, "{:?}", text);
            let escaped = every_character_escaped(&text);
            prop_assert_eq!(any.accepts(&plain) && any.accepts(escaped.as_bytes()), expected);
            prop_assert!(expected || !any.accepts(&plain) && !any.accepts(escaped.as_bytes()));
        }
        prop_assert_eq!(scalars.has_text(id, &mut fuel()).unwrap(), !canonical.is_empty());
    }
}

//! Examples of every format, and an unrelated validator on random words.

use super::*;
use formwork_automata::StateId;
use jsonschema::Validator;
use proptest::prelude::*;

/// A word of the language: at each state one of its edges, and at the end the shortest way out.
fn word(dfa: &Dfa, choices: &[u16]) -> String {
    let representatives = dfa.classes().representatives();
    let mut at: StateId = dfa.start();
    let mut word = Vec::new();
    for &choice in choices {
        let edges: Vec<_> = dfa.byte_edges(at).collect();
        if edges.is_empty() || dfa.is_accepting(at) && choice % 16 == 0 {
            break;
        }
        let (class, target) = edges[usize::from(choice / 16) % edges.len()];
        let members: Vec<u8> = dfa.classes().members(class).iter().collect();
        word.push(match choice % 3 {
            0 => representatives[class],
            _ => members[usize::from(choice) % members.len()],
        });
        at = target;
    }
    word.extend(dfa.shortest_bytes(at).expect("live states can be completed"));
    String::from_utf8(word).expect("formats are languages of texts")
}

fn has(format: Format, polarity: Polarity, text: &str) -> bool {
    let Texts { dfa, length } = format.texts(polarity);
    dfa.accepts(text.as_bytes()) && length.contains(text.chars().count())
}

fn validator(format: Format) -> Validator {
    jsonschema::options()
        .should_validate_formats(true)
        .build(&serde_json::json!({ "type": "string", "format": format.name() }))
        .expect("a schema")
}

#[test]
fn names_are_sorted_and_in_the_order_of_the_formats() {
    assert!(FORMATS.windows(2).all(|pair| pair[0].0 < pair[1].0));
    for (index, (name, format)) in FORMATS.into_iter().enumerate() {
        assert_eq!((format as usize, format.name()), (index, name));
        assert_eq!(Format::named(name), Some(format));
    }
    assert_eq!(Format::named("color"), None);
    assert_eq!(Format::all().count(), FORMATS.len());
}

#[test]
fn what_is_surely_valid_is_possibly_valid() {
    for format in Format::all() {
        let (sure, possible) = (format.texts(Polarity::Holds), format.texts(Polarity::Fails));
        let fuel = &mut Fuel::unlimited();
        assert!(sure.dfa.is_subset_of(&possible.dfa, fuel).unwrap(), "{}", format.name());
        let exact = sure.dfa == possible.dfa;
        assert_eq!(exact, format.restriction().is_none(), "{}", format.name());
    }
}

/// Accepted and refused, by format.
const EXAMPLES: [(Format, &[&str], &[&str]); 19] = [
    (
        Format::Date,
        &["1963-06-19", "2000-02-29", "2024-02-29", "0000-02-29", "2023-02-28"],
        &["2023-04-31", "1900-02-29", "2023-02-29", "2023-13-01", "2023-00-10", "998-01-01"],
    ),
    (
        Format::DateTime,
        &["1963-06-19T08:30:06.283185Z", "1998-12-31T15:59:60.5-08:00", "2000-02-29t00:00:00z"],
        &["1998-12-31T22:59:60Z", "2023-02-29T00:00:00Z", "2023-01-01 00:00:00Z", "2023-01-01"],
    ),
    (
        Format::Duration,
        &["P4DT12H30M5S", "P4Y", "PT0S", "P1M", "PT1M", "P2W"],
        &["", "P", "P1", "PT", "P1YT", "P2D1Y", "P1D2H", "P1Y2W", "PT1H2S"],
    ),
    (
        Format::Email,
        &["joe.bloggs@example.com", "\"joe bloggs\"@a", "x@[127.0.0.1]", "x@[IPv6:::1]", "~@b-c"],
        &["2962", ".a@b.c", "a..b@c", "a b@c", "a@[127.0.0.300]", "a@b=c", "\"a\"b\"@c", "a@-b"],
    ),
    (
        Format::Hostname,
        &["www.example.com", "1host", "a--b", "abc--d", "x"],
        &["", ".", "a.", "-a", "a-", "a_b", "a..b", "xn--X", "a.XN--b", "ab--c"],
    ),
    (
        Format::IdnEmail,
        &["실례@실례.테스트", "joe@example.com", "\"δ\"@example.com"],
        &["2962", "a@", "@b", "a@b@c", "a＠b.c"],
    ),
    (
        Format::IdnHostname,
        &["실례.테스트", "l·l", "bücher.example", "a。b", "ب٠ب", "क्‍ष", "・ぁ", "α͵β", "example"],
        &["", "a.", "l·a", "·l", "α͵", "א٠0", "0a.א", "aא", "a・b", "\u{300}a", "क‍ष", "-a", "a..b"],
    ),
    (
        Format::Ipv4,
        &["0.0.0.0", "255.255.255.255", "87.10.0.1"],
        &["256.0.0.1", "087.10.0.1", "1.2.3", "1.2.3.4.5", "1.2.3.4 ", "0x7f.0.0.1"],
    ),
    (
        Format::Ipv6,
        &[
            "::",
            "::1",
            "1:2:3:4:5:6:7:8",
            "1::d6:192.168.0.1",
            "1:2:3:4:5:6:7::",
            "::2:3:4:5:6:7:8",
        ],
        &[
            "12345::",
            "1:2:3:4:5:6:7",
            "1::2::3",
            ":2:3",
            "::1%eth1",
            "1:2:3:4:5:6:7:8::",
            "::1.2.3.256",
        ],
    ),
    (
        Format::Iri,
        &["http://ƒøø.ßår/?∂éœ=πîx#πîüx", "urn:é", "http://[2001:db8::1]:80/"],
        &["/abc", "http://ƒøø.com/ x", "âππ", "http://a/\u{E000}"],
    ),
    (Format::IriReference, &["âππ", "#ƒrägmênt", "//é"], &["\\\\WINDOWS", "#ƒräg\\m", "é:ä"]),
    (Format::JsonPointer, &["", "/", "/a~0b~1/c", "/é"], &["a", "/~", "/~2", "#/a"]),
    (
        Format::Regex,
        &[
            "^[a-z]{2,3}$",
            "(?:a|b)*?",
            "(?<n>x)y",
            "\\d+\\.\\u0041",
            "[]",
            "[^]",
            "(?<=a)b",
            "a{2}",
        ],
        &[
            "(",
            "a)",
            "[z-a]",
            "*",
            "a{3,2}",
            "a**",
            "\\",
            "\\a",
            "(?<n>a)(?<n>b)",
            "[",
            "a{",
            "(?=a)*",
        ],
    ),
    (Format::RelativeJsonPointer, &["0", "0#", "1/a", "120//"], &["", "/a", "01", "-1", "0##"]),
    (
        Format::Time,
        &["08:30:06Z", "23:59:60Z", "01:29:60+01:30", "23:29:60+23:30", "15:59:60.1-08:00"],
        &["24:00:00Z", "08:30:06", "22:59:60Z", "23:59:60+01:00", "08:60:00Z", "00:00:61Z"],
    ),
    (
        Format::Uri,
        &["http://foo.bar/?q=%20#f", "urn:a:b", "ldap://[2001:db8::7]/c=GB?x", "a:", "tel:+1-2"],
        &["//foo", "abc", ":a", "http://a b", "http://[::1", "a:%zz", "http://a/<>", "http://é/"],
    ),
    (
        Format::UriReference,
        &["", "abc", "//", "?a=1", "./a:b", "/a/../b"],
        &["a b", "1:b", "/%zz", "\\"],
    ),
    (
        Format::UriTemplate,
        &["", "/{term:1}/{term}", "{?x,y*}", "{+a.b}", "a'b", "é", "%41"],
        &["{", "}", "{}", "{a", "{x:0}", "{x,}", "{=x}", "a b", "%4", "{a..b}"],
    ),
    (
        Format::Uuid,
        &["2EB8AA08-aa98-11ea-B4AA-73B441D16380", "00000000-0000-0000-0000-000000000000"],
        &["2eb8aa08aa9811eab4aa73b441d16380", "2eb8aa08-aa98-11ea-b4ga-73b441d16380", ""],
    ),
];

#[test]
fn examples() {
    for (format, accepted, refused) in EXAMPLES {
        for text in accepted {
            assert!(has(format, Polarity::Holds, text), "{} has {text:?}", format.name());
        }
        for text in refused {
            assert!(!has(format, Polarity::Holds, text), "{} lacks {text:?}", format.name());
        }
    }
}

#[test]
fn every_day_of_four_centuries() {
    let dfa = Format::Date.texts(Polarity::Holds).dfa;
    for year in (1600..2400).step_by(1) {
        let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        for month in 0..=13 {
            let days = match month {
                2 => 28 + u32::from(leap),
                4 | 6 | 9 | 11 => 30,
                1..=12 => 31,
                _ => 0,
            };
            for day in 0..=32 {
                let text = format!("{year:04}-{month:02}-{day:02}");
                assert_eq!(dfa.accepts(text.as_bytes()), (1..=days).contains(&day), "{text}");
            }
        }
    }
}

#[test]
fn lengths_of_names() {
    let label = "a".repeat(63);
    assert!(has(Format::Hostname, Polarity::Holds, &label));
    assert!(!has(Format::Hostname, Polarity::Holds, &format!("{label}a")));
    let long = [&*label; 4].join(".");
    assert!(has(Format::Hostname, Polarity::Holds, &long[..253]));
    assert!(!has(Format::Hostname, Polarity::Holds, &long[..254]));
    let local = "a".repeat(64);
    assert!(has(Format::Email, Polarity::Holds, &format!("{local}@b")));
    assert!(!has(Format::Email, Polarity::Holds, &format!("{local}a@b")));
}

/// How many characters punycode (RFC 3492) takes for a label, its prefix included.
fn encoded_length(label: &str) -> usize {
    let adapt = |delta: u32, count: u32, first: bool| {
        let mut delta = if first { delta / 700 } else { delta / 2 };
        delta += delta / count;
        let mut bias = 0;
        while delta > 455 {
            delta /= 35;
            bias += 36;
        }
        bias + 36 * delta / (delta + 38)
    };
    let basic = label.chars().filter(char::is_ascii).count();
    let mut length = 4 + basic + usize::from(basic > 0);
    let (mut least, mut delta, mut bias, mut handled) = (128, 0, 72, basic as u32);
    while (handled as usize) < label.chars().count() {
        let next = label.chars().map(u32::from).filter(|&code| code >= least).min().unwrap();
        delta += (next - least) * (handled + 1);
        least = next;
        for code in label.chars().map(u32::from) {
            delta += u32::from(code < least);
            if code == least {
                let (mut rest, mut k) = (delta, 36);
                loop {
                    let threshold = u32::saturating_sub(k, bias).clamp(1, 26);
                    length += 1;
                    if rest < threshold {
                        break;
                    }
                    rest = (rest - threshold) / (36 - threshold);
                    k += 36;
                }
                bias = adapt(delta, handled + 1, handled as usize == basic);
                delta = 0;
                handled += 1;
            }
        }
        delta += 1;
        least += 1;
    }
    length
}

#[test]
fn punycode_of_known_labels() {
    for (label, encoded) in
        [("bücher", "xn--bcher-kva"), ("테스트", "xn--9t4b11yi5a"), ("l·l", "xn--ll-0ea")]
    {
        assert_eq!(encoded_length(label), encoded.len(), "{label}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// An unrelated validator accepts what is surely valid, and refuses what is not even possibly.
    #[test]
    fn an_unrelated_validator_agrees(choices in prop::collection::vec(any::<u16>(), 0..60)) {
        for format in Format::all() {
            let Texts { dfa, length } = format.texts(Polarity::Holds);
            let text = word(&dfa, &choices);
            // International names need tables that the validator is built without.
            let international = matches!(format, Format::IdnHostname | Format::IdnEmail);
            // The validator takes ` <` inside quotation marks for a display name and an address.
            let displayed = matches!(format, Format::Email) && text.contains(" <");
            if length.contains(text.chars().count()) && !international && !displayed {
                let valid = validator(format).is_valid(&serde_json::json!(text));
                prop_assert!(valid, "{}: {:?}", format.name(), text);
            }
        }
    }

    #[test]
    fn labels_fit_when_encoded(choices in prop::collection::vec(any::<u16>(), 0..40)) {
        let text = word(&Format::IdnHostname.texts(Polarity::Holds).dfa, &choices);
        for label in text.split(['.', '\u{3002}', '\u{FF0E}', '\u{FF61}']) {
            let encoded = if label.is_ascii() { label.len() } else { encoded_length(label) };
            prop_assert!(encoded <= 63, "{label}: {encoded}");
        }
    }
}

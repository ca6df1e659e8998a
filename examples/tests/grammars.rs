//! The grammars of languages accept the samples beside them, token by token, and refuse them spoilt.

use formwork::{
    CompiledGrammar, Compiler, Constraint, RowId, StartOptions, TokenId, Vocabulary, mask::Row,
};
use std::sync::Arc;

/// A grammar, a text of its language, and changes of the text that leave the language.
struct Sample {
    grammar: &'static str,
    text: &'static str,
    /// What is written instead of the first occurrence of what.
    spoilt: &'static [(&'static str, &'static str)],
}

const SAMPLES: &[Sample] = &[
    Sample {
        grammar: include_str!("../grammars/json.ebnf"),
        text: include_str!("../grammars/samples/route.json"),
        spoilt: &[("12.75", "12."), ("null,", "null"), ("true", "True"), ("}\n", "")],
    },
    Sample {
        grammar: include_str!("../grammars/c.ebnf"),
        text: include_str!("../grammars/samples/ring.c"),
        spoilt: &[
            ("switch (r->count)", "switch r->count"),
            ("return RING_FULL;", "return RING_FULL"),
            ("items[RING_LEN]", "items[RING_LEN"),
            ("\"ok\"", "\"ok"),
            ("0xFFul", "0xFFgl"),
        ],
    },
    Sample {
        grammar: include_str!("../grammars/python.ebnf"),
        text: include_str!("../grammars/samples/ledger.py"),
        spoilt: &[
            ("def add(", "def (add"),
            ("Iterable,", "Iterable"),
            ("{**result", "{***result"),
            ("[::-1]", "[::-1"),
            ("key=lambda pair", "key=lambda (pair"),
        ],
    },
    Sample {
        grammar: include_str!("../grammars/sql.ebnf"),
        text: include_str!("../grammars/samples/stock.sql"),
        spoilt: &[
            ("VALUES\n    (", "VALUES\n    "),
            ("baker''s", "baker's"),
            ("case when", "case then"),
            ("GROUP BY p.name", "GROUP p.name"),
            ("COMMIT;", "COMMIT"),
        ],
    },
];

fn compiled(grammar: &str, vocabulary: &Arc<Vocabulary>) -> Arc<dyn CompiledGrammar> {
    let backend = formwork::backend("earley").expect("it is there");
    let compiler = Compiler::new(vocabulary.clone()).with_backend(backend);
    match compiler.compile(&Constraint::Grammar(grammar.into())) {
        Ok(compiled) => compiled,
        Err(error) => panic!("{error}"),
    }
}

/// Whether a text is accepted as a whole; every token must be allowed by the mask before it.
fn accepts(compiled: &Arc<dyn CompiledGrammar>, tokens: &[TokenId]) -> bool {
    let mut matcher = compiled.clone().start(&StartOptions::default()).expect("it starts");
    let vocabulary = matcher.vocabulary().clone();
    let mut row = vec![0; vocabulary.row_words()];
    for &token in tokens {
        matcher.fill_bitmask(&mut row, RowId::NONE).expect("it has a mask");
        let allowed = Row::new(&row, vocabulary.model_len()).contains(token.as_u32() as usize);
        assert_eq!(matcher.accept_tokens(&[token]).is_ok(), allowed, "mask and accept agree");
        if !allowed {
            return false;
        }
    }
    matcher.is_accepting()
}

#[test]
fn samples_are_accepted_and_spoilt_ones_are_not() {
    let vocabulary = formwork_tokenizers::o200k_base().expect("it is embedded");
    let encoder = vocabulary.encoder().expect("it is embedded with one").clone();
    let tokens = |text: &str| encoder.encode(text.as_bytes()).expect("text");
    for sample in SAMPLES {
        let compiled = compiled(sample.grammar, &vocabulary);
        assert!(accepts(&compiled, &tokens(sample.text)), "{}", sample.text);
        for (from, to) in sample.spoilt {
            let spoilt = sample.text.replacen(from, to, 1);
            assert_ne!(spoilt, sample.text, "{from} is in the text");
            assert!(!accepts(&compiled, &tokens(&spoilt)), "{from} became {to}");
        }
    }
}

//! The grammars among the examples are read, in every dialect alike.

use crate::grammar_in;
use formwork_ebnf::Dialect;

#[test]
fn they_mean_the_same_in_every_dialect() {
    let files = [
        include_str!("../../../../examples/grammars/json.ebnf"),
        include_str!("../../../../examples/grammars/c.ebnf"),
        include_str!("../../../../examples/grammars/python.ebnf"),
        include_str!("../../../../examples/grammars/sql.ebnf"),
    ];
    for text in files {
        let read = |dialect| match grammar_in(dialect, text) {
            Ok(grammar) => grammar,
            Err(error) => panic!("{error}"),
        };
        let shared = read(Dialect::Shared);
        assert!(shared.warnings().is_empty(), "{:?}", shared.warnings());
        for dialect in [Dialect::Gbnf, Dialect::XGrammar] {
            assert_eq!(format!("{:?}", read(dialect)), format!("{shared:?}"));
        }
    }
}

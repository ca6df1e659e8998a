//! Files at their limits and one over, excuses, and what is not counted.

use super::*;
use crate::tree::tests::{files, package};

const PATH: &str = "crates/a/src/lib.rs";

fn faults(text: &str) -> Vec<(usize, SizeFault)> {
    faults_at(PATH, text)
}

fn faults_at(path: &str, text: &str) -> Vec<(usize, SizeFault)> {
    check(&files(&[(path, text)]))
        .findings
        .into_iter()
        .map(|finding| match finding.fault {
            crate::finding::Fault::Size(fault) => (finding.line, fault),
            other => panic!("{other:?}"),
        })
        .collect()
}

fn lines(line: &str, count: usize) -> String {
    format!("{line}\n").repeat(count)
}

fn function_of(lines_of_body: usize) -> String {
    format!("fn f() {{\n{}}}\n", lines("    a();\n    // why\n", lines_of_body))
}

#[test]
fn a_file_may_have_seven_hundred_lines_of_code() {
    assert_eq!(faults(&lines("use a;", 700)), []);
    assert_eq!(faults(&lines("use a;", 701)), [(1, SizeFault::File { lines: 701 })]);
    let with_tests =
        format!("{}#[cfg(test)]\nmod tests {{\n{}}}\n", lines("use a;", 700), lines("use a;", 900));
    assert_eq!(faults(&with_tests), []);
    let excused = format!("//! Table.\n\n// LONG: one table.\n\n{}", lines("use a;", 701));
    assert_eq!(faults(&excused), []);
}

#[test]
fn a_body_may_have_sixty_lines() {
    assert_eq!(faults(&function_of(60)), []);
    let fault = |line| (line, SizeFault::Body { function: "f".to_owned(), lines: 61 });
    assert_eq!(faults(&function_of(61)), [fault(1)]);
    let documented = format!("/// Does.\n#[inline]\npub {}", function_of(61));
    assert_eq!(faults(&documented), [fault(3)]);
}

#[test]
fn an_excuse_stands_above_the_item_and_has_a_reason() {
    let long = function_of(61);
    for above in [
        "// LONG: one arm per construct.\n",
        "use a;\n// LONG: one arm per construct.\n/// Does.\n#[inline]\n",
        "use a;\n/// Does.\n// LONG: one arm per construct.\n#[inline]\npub(crate) ",
        "use a;\n#[inline]\n// LONG: one arm per construct.\n",
    ] {
        assert_eq!(faults(&format!("{above}{long}")), [], "{above}");
    }
    let body = SizeFault::Body { function: "f".to_owned(), lines: 61 };
    let bare = format!("use a;\n// LONG:\n{long}");
    assert_eq!(faults(&bare), [(3, body.clone()), (2, SizeFault::NoReason)]);
    let apart = format!("use a;\n// LONG: reason.\n\n{long}");
    assert_eq!(faults(&apart), [(4, body), (2, SizeFault::StaleExcuse)]);
}

#[test]
fn an_excuse_that_is_not_needed_is_found() {
    let text = format!("use a;\n// LONG: it was once.\n{}", function_of(60));
    assert_eq!(faults(&text), [(2, SizeFault::StaleExcuse)]);
}

#[test]
fn five_parameters_besides_self() {
    assert_eq!(faults("fn f(&mut self, a: A, b: B, c: C, d: D, e: E) {}"), []);
    let fault = SizeFault::Parameters { function: "f".to_owned(), count: 6 };
    assert_eq!(faults("fn f(a: A, b: B, c: C, d: D, e: E, f: F<G, H>) {}"), [(1, fault)]);
}

#[test]
fn public_functions_have_no_flags() {
    let fault = |line| {
        (line, SizeFault::BoolParameter { function: "f".to_owned(), parameter: "on".to_owned() })
    };
    assert_eq!(faults("pub fn f(&self, on: bool) {}"), [fault(1)]);
    assert_eq!(faults("pub trait T {\n    fn f(&self, on: bool);\n}"), [fault(2)]);
    for private in [
        "fn f(on: bool) {}",
        "pub(crate) fn f(on: bool) {}",
        "trait T { fn f(on: bool); }",
        "impl T for A { fn f(on: bool) {} }",
        "pub fn f(on: Option<bool>, g: fn(bool) -> bool) -> bool {}",
    ] {
        assert_eq!(faults(private), [], "{private}");
    }
}

#[test]
fn a_struct_may_have_fifteen_fields() {
    let of =
        |fields| format!("pub struct S {{\n{}}}\n", lines("    /// One.\n    pub a: A,", fields));
    assert_eq!(faults(&of(15)), []);
    let fault = SizeFault::Fields { name: "S".to_owned(), count: 16 };
    assert_eq!(faults(&of(16)), [(1, fault)]);
}

#[test]
fn tests_are_not_measured() {
    let long = function_of(99);
    assert_eq!(faults(&format!("#[test]\n{long}")), []);
    assert_eq!(faults(&format!("#[cfg(test)]\nmod tests {{\n{long}}}\n")), []);
    for path in ["crates/a/tests/b.rs", "crates/a/src/c/tests.rs"] {
        assert_eq!(faults_at(path, &long), []);
    }
    let declared = "#[cfg(test)]\npub(crate) mod reference;\n";
    let modules = ["crates/a/src/reference.rs", "crates/a/src/reference/deep.rs"];
    let tree = files(&[(PATH, declared), (modules[0], &long), (modules[1], &long)]);
    assert_eq!(check(&tree).findings, []);
}

#[test]
fn a_package_may_have_six_features() {
    let with = |count: usize| {
        let mut tree = files(&[]);
        let mut package = package("a", "crates/a");
        package.features = (0..count).map(|feature| feature.to_string()).collect();
        tree.packages = vec![package];
        check(&tree)
    };
    assert_eq!(with(6).findings, []);
    assert_eq!(with(4).soft, SoftCounts { packages: 1, ..SoftCounts::default() });
    let fault = SizeFault::Features { package: "a".to_owned(), count: 7 };
    assert_eq!(with(7).findings, [Finding::new("crates/a/Cargo.toml", 1, fault)]);
}

#[test]
fn what_is_over_a_soft_limit_is_counted() {
    let text = format!(
        "{}fn g(a: A, b: B, c: C, d: D, e: E) {{}}\n{}",
        function_of(41),
        lines("use a;", 400)
    );
    let sizes = check(&files(&[(PATH, &text)]));
    let expected = SoftCounts { files: 1, functions: 1, parameters: 1, ..SoftCounts::default() };
    assert_eq!((sizes.findings, sizes.soft), (Vec::new(), expected));
}

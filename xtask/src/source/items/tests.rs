//! Functions and structs by hand, and over the whole tree what `syn` says of them.

use super::*;
use crate::{source::lex, tree::Tree};
use syn::visit::{self, Visit};

/// What both sides say of a function: name, public, parameters, parameters of type `bool`.
type Signature = (String, bool, usize, usize);

fn signatures(text: &str) -> Vec<Signature> {
    let lexed = lex(text);
    functions(&Tokens::new(&lexed.tokens))
        .into_iter()
        .map(|f| (f.item.name.to_owned(), f.public, f.parameters, f.bool_parameters.len()))
        .collect()
}

fn fields(text: &str) -> Vec<(String, usize)> {
    let lexed = lex(text);
    let structs = structs(&Tokens::new(&lexed.tokens));
    structs.into_iter().map(|s| (s.item.name.to_owned(), s.fields)).collect()
}

/// Reads functions and structs as `syn` sees them; it does not look into macro calls.
#[derive(Default)]
struct Reference {
    functions: Vec<Signature>,
    structs: Vec<(String, usize)>,
    in_public_trait: bool,
}

impl Reference {
    fn read(text: &str) -> Self {
        let mut reference = Self::default();
        reference.visit_file(&syn::parse_file(text).unwrap());
        reference
    }

    fn push(&mut self, signature: &syn::Signature, public: bool) {
        let typed = signature.inputs.iter().filter_map(|input| match input {
            syn::FnArg::Receiver(_) => None,
            syn::FnArg::Typed(typed) => Some(&*typed.ty),
        });
        let types: Vec<&syn::Type> = typed.collect();
        let is_bool = |ty: &&&syn::Type| match ty {
            syn::Type::Path(path) => path.path.is_ident("bool"),
            _ => false,
        };
        let bools = types.iter().filter(is_bool).count();
        self.functions.push((ident(&signature.ident), public, types.len(), bools));
    }
}

fn ident(ident: &syn::Ident) -> String {
    ident.to_string()
}

fn is_public(visibility: &syn::Visibility) -> bool {
    matches!(visibility, syn::Visibility::Public(_))
}

impl<'ast> Visit<'ast> for Reference {
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.push(&item.sig, is_public(&item.vis));
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.push(&item.sig, is_public(&item.vis));
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_foreign_item_fn(&mut self, item: &'ast syn::ForeignItemFn) {
        self.push(&item.sig, is_public(&item.vis));
        visit::visit_foreign_item_fn(self, item);
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        let outer = std::mem::replace(&mut self.in_public_trait, is_public(&item.vis));
        visit::visit_item_trait(self, item);
        self.in_public_trait = outer;
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        self.push(&item.sig, self.in_public_trait);
        visit::visit_trait_item_fn(self, item);
    }

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        self.structs.push((ident(&item.ident), item.fields.len()));
        visit::visit_item_struct(self, item);
    }
}

/// Asserts that one list is what remains of another when some entries are left out.
fn assert_within<T: PartialEq + std::fmt::Debug>(path: &str, inner: &[T], outer: &[T]) {
    let mut rest = outer.iter();
    for entry in inner {
        assert!(rest.any(|other| other == entry), "{path}: {entry:?} not found, or out of order");
    }
}

const HARD: &str = r##"
pub fn plain(a: u8, b: bool) -> bool { let f: fn(bool) -> bool = |x| x; f(b) }
pub(crate) const unsafe extern "C" fn qualified<'a, T: Fn(u8) -> Option<u8>>(t: T, _: &'a bool) {}
fn nested(map: HashMap<K, Vec<(V, bool)>>, (a, b): (bool, bool), mut c: bool,) where A: B<{ 1 }> {
    pub struct Inside<T: Into<Vec<u8>>>(pub T, bool) where T: Copy;
    fn inner(self_: u8) -> [u8; { 2 }] { [0; 2] }
}
pub trait Contract<T>: Sized where T: Into<Vec<u8>> {
    fn required(&mut self, on: bool);
    fn provided<'a>(self: &'a Box<Self>) -> impl Fn(u8) -> u8 { fn deep(on: bool) {} |x| x }
}
pub(crate) trait Private { fn method(self, on: bool); }
#[derive(Debug)] pub struct Generic<T, const N: usize> { pub a: HashMap<T, [u8; N]>, b: fn(u8, u8) }
struct Unit; struct Empty {}
struct Bounded<F> where F: Fn(A, B) -> C<{ 1 }>, { f: F, g: Vec<F> }
impl<T> Generic<T, { 1 + 1 }> { pub async fn go(mut self, r#in: bool, x: fn(bool, u8)) {} }
extern "C" { pub fn foreign(a: bool, ...); }
"##;

#[test]
fn hard_signatures_are_read_as_syn_reads_them() {
    let reference = Reference::read(HARD);
    assert_eq!(reference.functions.len(), 10);
    assert_eq!(reference.structs.len(), 5);
    assert_eq!(signatures(HARD), reference.functions);
    let mut expected = reference.structs;
    let mut found = fields(HARD);
    expected.sort();
    found.sort();
    assert_eq!(found, expected);
}

#[test]
fn every_function_and_struct_of_this_tree_is_read_as_syn_reads_it() {
    let tree = Tree::load(crate::root().unwrap()).unwrap();
    for file in tree.rust_files() {
        let reference = Reference::read(&file.text);
        assert_within(&file.path, &reference.functions, &signatures(&file.text));
        assert_within(&file.path, &reference.structs, &fields(&file.text));
    }
}

#[test]
fn functions_inside_macro_calls_are_read_and_patterns_are_not() {
    let text = "proptest! { #[test] fn law(a in 0..5, b: bool) { } }\
                macro_rules! m { (fn $f:ident) => { struct $s; fn $f() {} } }";
    assert_eq!(signatures(text), [("law".to_owned(), false, 2, 1)]);
}

#[test]
fn bodies_are_measured_without_comments_and_blank_lines() {
    let text = "fn f()\nwhere\n    A: B<{ 1 }>,\n{\n    // why\n    a();\n\n    b(\n    );\n}\nfn g();\nfn h() { x }";
    let lexed = lex(text);
    let bodies: Vec<usize> =
        functions(&Tokens::new(&lexed.tokens)).iter().map(|f| f.body_lines).collect();
    assert_eq!(bodies, [3, 0, 1]);
}

#[test]
fn an_item_begins_at_its_first_attribute() {
    let lexed = lex("\n#[a]\n#[b(c)]\npub(in crate::x)\nconst fn f() {}\npub(crate) struct S;");
    let tokens = Tokens::new(&lexed.tokens);
    let f = functions(&tokens)[0].item;
    assert_eq!((f.name, f.first_line, f.line), ("f", 2, 5));
    assert_eq!(structs(&tokens)[0].item.first_line, 6);
}

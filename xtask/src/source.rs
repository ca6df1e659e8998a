//! As much of Rust's syntax as sizes need: tokens with lines, groups, functions, structs, tests.
//!
//! A parser for the whole language would say no lines without a feature that every procedural
//! macro of the build would then pay for, and would not look into macro calls, where much of the
//! code of tests stands. What is asked here is little, and the tests hold it against `syn`.
//!
//! # Reading order
//! `lex`, `groups`, `test_code`, `items`.

mod groups;
mod items;
mod lex;
mod test_code;

pub(crate) use groups::Tokens;
pub(crate) use items::{Function, Item, Struct, functions, structs};
pub(crate) use lex::{Comment, Lexed, lex};
pub(crate) use test_code::{TestCode, is_test_path, module_path};

//! Laws of regular languages, checked on random expressions against something slow and obviously
//! right: a matcher that works out, position by position, where each part of an expression may end.

mod counting;
mod expression;
mod fuel;
mod lazy;
mod membership;
mod minimal;
mod strings;
mod utf8;
mod words;

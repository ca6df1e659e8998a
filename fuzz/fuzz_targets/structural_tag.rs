//! Arbitrary bytes as a text for one front end: see `follow`.
#![no_main]

#[path = "../src/follow.rs"]
mod follow;

libfuzzer_sys::fuzz_target!(|data: &[u8]| follow::text(follow::FrontEnd::StructuralTag, data));

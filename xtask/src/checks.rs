//! The rules, one file each. Every check is a function from the tree, and its table where it has
//! one, to findings.

pub(crate) mod code_map;
pub(crate) mod edges;
pub(crate) mod headers;
pub(crate) mod lints;
pub(crate) mod sizes;
pub(crate) mod test_command;
pub(crate) mod unsafe_code;
pub(crate) mod words;

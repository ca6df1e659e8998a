//! The whole.

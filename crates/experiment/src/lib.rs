//! Placeholder.
pub mod figures;

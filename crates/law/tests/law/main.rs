//! Tests of the public interface, in one program.

mod common;
mod errors;
mod gradients;
mod hostile;
mod linear;
mod values;

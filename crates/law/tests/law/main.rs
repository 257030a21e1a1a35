//! Tests of the public interface, in one program.

mod common;
mod derivatives;
mod errors;
mod gradients;
mod hostile;
mod linear;
mod rates;
mod single;
mod values;

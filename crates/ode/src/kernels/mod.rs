//! The innermost loops of a network, compiled for each instruction set and chosen at run time.
//!
//! [`lanes`] are fixed-width arrays that the compiler keeps in vector registers; [`activate`] and
//! [`exponential`] are the nonlinearities; [`packed`] is a matrix in the order in which
//! [`product`] reads it for `W x + b`, for one and for many columns;
//! [`gradient`] is the sum of outer products `Σ δ xᵀ`. Each is generic code, and [`dispatch`] compiles
//! it for AVX2 with FMA and for any processor; two intrinsics are in `registers`.
//!
//! The order of every sum depends on the shapes only, so equal calls give equal bytes.
#![expect(unsafe_code, reason = "calls what is compiled for a detected set; checks once per tile")]
#![expect(clippy::inline_always, reason = "what is not inlined is not compiled for the set")]

pub(crate) mod activate;
pub(crate) mod dispatch;
pub(crate) mod exponential;
pub(crate) mod gradient;
pub(crate) mod lanes;
pub(crate) mod packed;
pub(crate) mod product;
#[cfg(target_arch = "x86_64")]
mod registers;

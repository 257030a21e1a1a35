//! The program as a whole, as its users meet it.
#![expect(clippy::unwrap_used, reason = "what a test's helper cannot do fails the test")]

mod bad_data;
mod bad_experiment;
mod bad_options;
mod check;
mod compare;
mod coordinates;
mod evaluate;
mod failure;
mod init;
mod interrupt;
mod interval;
mod known;
mod laws;
mod library;
mod lock;
mod monitor;
mod predict;
mod recipe;
mod repeat;
mod resume;
mod run_folder;
mod streams;
mod support;
mod train;

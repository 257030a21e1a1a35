//! One file per command.

pub(crate) mod check;
pub(crate) mod compare;
pub(crate) mod demo;
pub(crate) mod evaluate;
pub(crate) mod init;
pub(crate) mod paper;
pub(crate) mod predict;
pub(crate) mod resume;
pub(crate) mod train;

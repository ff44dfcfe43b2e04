//! Tests of the log as a whole, one file per kind of promise. Parts have theirs beside them.

mod concurrency;
mod disk;
mod model;
mod reading;
mod support;
mod through;

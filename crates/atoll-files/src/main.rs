//! The worker: serves requests about files, inside the wall, as the user that it was started as.

fn main() {}

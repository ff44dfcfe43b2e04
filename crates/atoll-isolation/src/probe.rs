//! What this host can do for isolation, found by trying.

//! What the hot paths cost: `cargo test --release costs -- --ignored --nocapture`.

use std::hint::black_box;
use std::time::Instant;

use super::*;

/// Median and 99th percentile of `rounds` calls, in microseconds.
fn measure<T>(what: &str, rounds: usize, mut call: impl FnMut() -> T) {
    let mut times: Vec<_> = (0..rounds)
        .map(|_| {
            let start = Instant::now();
            black_box(call());
            start.elapsed().as_secs_f64() * 1e6
        })
        .collect();
    times.sort_by(f64::total_cmp);
    let (median, late) = (times[rounds / 2], times[rounds * 99 / 100]);
    println!("{what:<44} median {median:8.1} µs   99 % {late:8.1} µs");
}

#[test]
#[ignore = "measures, and asserts nothing"]
fn costs() {
    let Some(place) = Place::new("costs") else {
        return;
    };
    measure("detect", 50, Layout::detect);
    let group = place.group("box", &Limits::default());
    measure("leaf taken and dropped, from the pool", 2000, || group.leaf().unwrap());
    let leaf = group.leaf().unwrap();
    measure("populated", 2000, || leaf.populated().unwrap());
    measure("pids of an empty leaf", 2000, || leaf.pids().unwrap());
    measure("kill of an empty leaf", 2000, || leaf.kill().unwrap());
    measure("freeze and thaw of an empty leaf", 500, || leaf.freeze(SOON).and_then(|()| leaf.thaw()).unwrap());
    let mut kept = Vec::new();
    measure("leaf, new", 500, || kept.push(group.leaf().unwrap()));
    drop(kept);
    let owner = Some(Owner { uid: 231_072, gid: 231_072 });
    let owned = Group::create(&place.layout, "owned", &Limits::default(), owner).unwrap();
    let mut kept = Vec::new();
    measure("leaf, new, with an owner", 500, || kept.push(owned.leaf().unwrap()));
    drop(kept);
    costs_of_memory(&place);
    costs_of_groups(&place);
}

fn costs_of_memory(place: &Place) {
    let limits = Limits { memory_bytes: Some(1 << 30), ..Limits::default() };
    if place.layout.require(&limits).is_err() {
        return;
    }
    let group = place.group("limited", &limits);
    let mut kept = Vec::new();
    group.warm(16).unwrap();
    measure("leaf that counts memory, tree from the pool", 16, || kept.push(group.leaf().unwrap()));
    measure("leaf that counts memory, all new", 300, || kept.push(group.leaf().unwrap()));
    measure("its drop", 200, || kept.pop());
}

fn costs_of_groups(place: &Place) {
    let limits = Limits { memory_bytes: Some(1 << 30), pids: Some(100), cpu_millis: Some(1000) };
    for (what, limits) in [("no limits", Limits::default()), ("three limits", limits)] {
        let mut made = Vec::new();
        let mut number = 0;
        measure(&format!("create, {what}"), 200, || {
            number += 1;
            made.push(place.group(&format!("g-{number}"), &limits));
        });
        measure(&format!("destroy, {what}"), 200, || made.pop().map(|group| group.destroy(SOON)));
    }
}

//! A soak: trees of every kind, killed at any moment and in any way. None may survive.

use std::time::Duration;

use atoll_runtime::Filter;

use crate::harness::{Fixture, Random, random, soon};
use crate::kill_means_the_tree::{ALL, Planted};

in_every_mode! {
    four_modes {
        heavy_kill_trials,
    }
}

/// Over all modes together, unless `ATOLL_KILL_TRIALS` says otherwise.
const TRIALS: usize = 120;

const MODES: usize = 4;

fn trials() -> usize {
    let given = std::env::var("ATOLL_KILL_TRIALS").ok();
    let all = given.map_or(TRIALS, |text| text.parse().expect("ATOLL_KILL_TRIALS is a number"));
    all.div_ceil(MODES)
}

/// From `ATOLL_KILL_SEED`, to see a failure again.
fn seed() -> u64 {
    let given = std::env::var("ATOLL_KILL_SEED").ok();
    given.map_or_else(random, |text| text.parse().expect("ATOLL_KILL_SEED is a number"))
}

async fn heavy_kill_trials(f: &Fixture) {
    let seed = seed();
    let mut random = Random(seed);
    for trial in 0..trials() {
        let count = 1 + random.below(3);
        let mut planted = Vec::new();
        for _ in 0..count {
            planted.push(Planted::new(&f.sandbox, ALL[random.below(ALL.len())]).await);
        }
        let shown = format!("ATOLL_KILL_SEED={seed}, trial {trial}");
        end(f, &planted, &mut random, &shown).await;
        for tree in &planted {
            assert_eq!(tree.alive(), [""; 0], "{shown}");
            soon(tree.process.gone()).await.unwrap();
            f.sandbox.remove_process(tree.process.id()).unwrap();
        }
    }
    assert_eq!(f.alive(), [""; 0], "seed {seed}");
}

async fn end(f: &Fixture, planted: &[Planted], random: &mut Random, shown: &str) {
    let grace = [Duration::ZERO, Duration::from_millis(1), Duration::from_millis(100)];
    let grace = grace[random.below(grace.len())];
    match random.below(3) {
        0 => {}
        1 => tokio::time::sleep(Duration::from_millis(random.next() % 30)).await,
        _ => {
            for tree in planted {
                tree.grown().await;
            }
        }
    }
    if random.below(4) == 0 {
        let receipt = soon(f.sandbox.kill_all(&Filter::default(), grace)).await.unwrap();
        assert_eq!(receipt.survivors, 0, "{shown}");
        return;
    }
    for tree in planted {
        let receipt = soon(tree.process.kill(grace)).await.unwrap();
        assert_eq!(tree.alive(), [""; 0], "{shown}");
        assert_eq!(receipt.survivors, 0, "{shown}");
    }
}

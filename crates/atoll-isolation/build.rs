//! Builds the init program (PID 1 of every sandbox) as a small static executable, so that the library can
//! carry it inside (`carried.rs`) and nothing has to be installed beside the one binary.
//!
//! Init is this same package compiled a second time: other flags (static, no unwinding, size), only the modules
//! it needs. Cargo has no stable way to say so, hence the inner call.
//!
//! With the feature `bench` a second inner call builds the benchmark's baseline, so that init itself is the same program
//! with and without that feature.

use std::env;
use std::hash::{DefaultHasher, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=src");
    println!("cargo::rerun-if-changed=Cargo.toml");
    // Set while init itself is being built: it must not carry a copy of itself.
    if env::var_os("CARGO_FEATURE_EMBED").is_none() {
        return;
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let target = env::var("TARGET").expect("cargo sets TARGET");
    embed(&out, &target, "atoll-init", "init-binary", "ATOLL_INIT_MARK");
    if env::var_os("CARGO_FEATURE_BENCH").is_some() {
        embed(&out, &target, "atoll-bench-baseline", "init-binary,bench", "ATOLL_BASELINE_MARK");
    }
}

/// Builds a program of this package and leaves it in `out` for `carried.rs`, with its hash in an environment variable.
fn embed(out: &Path, target: &str, program: &str, features: &str, variable: &str) {
    let dir = out.join("init");
    build_program(&dir, target, program, features);
    let built = dir.join(target).join("init").join(program);
    let copied = out.join(program);
    std::fs::copy(&built, &copied).expect("the inner build leaves the program");
    println!("cargo::rustc-env={variable}={:016x}", mark(&copied));
}

/// Tells one version from another.
fn mark(program: &Path) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(&std::fs::read(program).expect("it was just written"));
    hasher.finish()
}

#[expect(clippy::disallowed_methods, reason = "a build script runs cargo, no sandbox is involved")]
fn build_program(dir: &Path, target: &str, program: &str, features: &str) {
    let cargo = env::var_os("CARGO").expect("cargo sets CARGO");
    let manifest = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR"));
    let mut command = Command::new(cargo);
    command
        .args(["build", "--quiet", "--profile", "init", "--no-default-features"])
        .args(["--features", features, "--bin", program, "--offline"])
        .args(["--target", target])
        .arg("--manifest-path")
        .arg(manifest.join("Cargo.toml"))
        .arg("--target-dir")
        .arg(dir);
    // The outer build's flags, wrappers and job server are for another kind of program.
    for (name, _) in env::vars_os() {
        let text = name.to_string_lossy();
        let inherited = text.starts_with("CARGO_") && text != "CARGO_HOME" && !text.starts_with("CARGO_NET");
        if inherited
            || text == "RUSTFLAGS"
            || text.starts_with("RUSTC")
            || text.starts_with("CLIPPY")
            || text == "MAKEFLAGS"
        {
            command.env_remove(&name);
        }
    }
    command.env("CARGO_ENCODED_RUSTFLAGS", "-Ctarget-feature=+crt-static\x1f-Crelocation-model=static");
    let status = command.status().expect("cargo can be run");
    assert!(status.success(), "building {program} failed");
}

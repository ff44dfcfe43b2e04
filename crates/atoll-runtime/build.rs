//! Builds what the runtime carries inside and sends behind the wall: the object that a session's bash loads
//! (`atoll-shell`), and the worker that does what is asked of files (`atoll-files`).
//!
//! Cargo has no stable way to build a crate a second time as another kind of object: hence a call of the compiler on the
//! one, which has no dependencies, and an inner call of Cargo for the other.

use std::env;
use std::hash::{DefaultHasher, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR"));
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let target = env::var("TARGET").expect("cargo sets TARGET");
    build_object(&here.join("../atoll-shell/src"), &out, &target);
    build_worker(&here.join("../atoll-files"), &out, &target);
}

#[expect(clippy::disallowed_methods, reason = "a build script runs the compiler, no sandbox is involved")]
fn build_object(source: &Path, out: &Path, target: &str) {
    println!("cargo::rerun-if-changed={}", source.display());
    let status = Command::new(env::var_os("RUSTC").expect("cargo sets RUSTC"))
        .args(["--edition", "2024", "--crate-name", "atoll_shell", "--crate-type", "cdylib"])
        .args(["--cfg", "feature=\"loadable\"", "--target", target])
        .args(["-Cpanic=abort", "-Copt-level=s", "-Clto", "-Ccodegen-units=1", "-Cstrip=symbols"])
        // It links to nothing: bash brings all that it needs. Bound at once, so that a bash that lacks something says so.
        .args(["-Clink-arg=-nostdlib", "-Clink-arg=-Wl,-z,now"])
        .arg("-o")
        .arg(out.join("session.so"))
        .arg(source.join("lib.rs"))
        .status()
        .expect("the compiler can be run");
    assert!(status.success(), "building the session's object failed");
}

#[expect(clippy::disallowed_methods, reason = "a build script runs cargo, no sandbox is involved")]
fn build_worker(source: &Path, out: &Path, target: &str) {
    for part in ["src", "Cargo.toml", "../atoll-isolation/src"] {
        println!("cargo::rerun-if-changed={}", source.join(part).display());
    }
    let dir = out.join("worker");
    let mut command = Command::new(env::var_os("CARGO").expect("cargo sets CARGO"));
    command
        .args(["build", "--quiet", "--profile", "worker", "--features", "worker", "--bin", "atoll-files", "--offline"])
        .args(["--target", target])
        .arg("--manifest-path")
        .arg(source.join("Cargo.toml"))
        .arg("--target-dir")
        .arg(&dir);
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
    assert!(status.success(), "building atoll-files failed");
    let built = dir.join(target).join("worker").join("atoll-files");
    let kept = out.join("atoll-files");
    std::fs::copy(&built, &kept).expect("the inner build leaves atoll-files");
    println!("cargo::rustc-env=ATOLL_FILES_MARK={:016x}", mark(&kept));
}

/// Tells one version from another.
fn mark(program: &Path) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(&std::fs::read(program).expect("it was just written"));
    hasher.finish()
}

//! Builds the object that a session's bash loads (`atoll-shell`), so that the library can carry it inside.
//!
//! One call of the compiler on one crate without dependencies: Cargo has no stable way to build a crate a second time
//! as another kind of object.

use std::env;
use std::path::PathBuf;
use std::process::Command;

#[expect(clippy::disallowed_methods, reason = "a build script runs the compiler, no sandbox is involved")]
fn main() {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR"));
    let source = here.join("../atoll-shell/src");
    println!("cargo::rerun-if-changed={}", source.display());
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let status = Command::new(env::var_os("RUSTC").expect("cargo sets RUSTC"))
        .args(["--edition", "2024", "--crate-name", "atoll_shell", "--crate-type", "cdylib"])
        .args(["--cfg", "feature=\"loadable\"", "--target"])
        .arg(env::var_os("TARGET").expect("cargo sets TARGET"))
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

//! The API is a checked-in document: changing it is a visible diff. `ATOLL_ACCEPT=1` writes it anew.

use std::path::Path;

#[test]
fn the_document_is_the_one_that_is_checked_in() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("openapi.json");
    let mut made = atoll_agent::openapi().to_pretty_json().unwrap();
    made.push('\n');
    if std::env::var_os("ATOLL_ACCEPT").is_some() {
        std::fs::write(&path, &made).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(made == kept, "the API has changed: look at it, and run this test with ATOLL_ACCEPT=1");
}

#[test]
fn every_reference_in_the_document_leads_somewhere() {
    let text = atoll_agent::openapi().to_json().unwrap();
    let document: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert!(document["openapi"].as_str().unwrap().starts_with("3.1"));
    for reference in text.split("\"$ref\":\"#").skip(1) {
        let pointer = reference.split('"').next().unwrap();
        assert!(document.pointer(pointer).is_some(), "{pointer}");
    }
}

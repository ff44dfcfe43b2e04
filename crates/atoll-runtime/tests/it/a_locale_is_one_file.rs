//! Programs find their locale in one file, made from the host's own.

use std::path::Path;

use crate::harness::{Fixture, skip};

in_every_mode! {
    isolated {
        programs_speak_utf8_and_read_it_from_one_file,
    }
}

async fn programs_speak_utf8_and_read_it_from_one_file(f: &Fixture) {
    let (own, tool) = (Path::new("/usr/lib/locale/locale-archive"), Path::new("/usr/bin/localedef"));
    if own.exists() || !tool.exists() {
        return skip("the host has an archive of its own, or no tool to make one");
    }
    let listed =
        f.say("localedef --list-archive && locale charmap && stat -c %U:%a /usr/lib/locale/locale-archive").await;
    assert_eq!(listed, "C.utf8\nUTF-8\nroot:644\n");
    // It is a file like any other.
    assert_eq!(
        f.say("rm /usr/lib/locale/locale-archive && locale charmap && ls /usr/lib/locale").await,
        "UTF-8\nC.utf8\n"
    );
}

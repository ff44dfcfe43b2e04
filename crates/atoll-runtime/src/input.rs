//! Whether a command waits for input: some thread of its tree is blocked on reading its standard input, and there
//! is nothing for it to read.

use std::os::fd::AsFd;

use atoll_isolation::blocked;

use crate::pipes::Writer;
use crate::shared::Shared;
use crate::tree::Tree;

/// One look at the kernel's own account of what each thread is doing.
pub(crate) async fn wants_input(shared: &Shared, tree: &Tree, stdin: Option<&Writer>) -> bool {
    let Some(input) = stdin.filter(|writer| writer.unread() == 0).and_then(Writer::awaited) else {
        return false;
    };
    match tree {
        Tree::Cgroup(leaf) => {
            let Ok(host) = std::fs::File::open("/proc") else {
                return false;
            };
            let pids = leaf.pids().unwrap_or_default();
            pids.iter().any(|pid| blocked::awaits(host.as_fd(), *pid, input))
        }
        Tree::Warden(_) | Tree::Part(_) => {
            let pids = tree.inside_pids(&shared.link).await;
            pids.iter().any(|pid| blocked::awaits(shared.proc.as_fd(), *pid, input))
        }
    }
}

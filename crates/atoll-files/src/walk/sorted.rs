//! A walk by one thread in the order of names, as bytes: each directory is looked at, then what is in it.

use std::cmp::Ordering;
use std::ffi::{CStr, CString};
use std::sync::Arc;

use super::directory::Directory;
use super::queue::MAX_PENDING;
use super::{Context, Entry, EntryKind, Visitor};
use crate::error::{Failure, Kind};

/// A directory whose names are being gone through; the next one is last.
struct Level {
    directory: Arc<Directory>,
    names: Vec<(CString, EntryKind)>,
}

pub(super) fn run<V: Visitor>(context: &Context<'_>, root: Arc<Directory>, visitor: &mut V) {
    let mut path = Vec::new();
    let mut pending = 0;
    let mut levels = vec![list(context, root, &mut pending)];
    while let Some(level) = levels.last_mut() {
        let Some((name, kind)) = level.names.pop() else {
            levels.pop();
            continue;
        };
        pending -= cost(&name);
        let directory = Arc::clone(&level.directory);
        let entry = Entry { directory: directory.fd(), name: &name, path: directory.path(&name, &mut path), kind };
        if context.stop.why().is_some() || visitor.entry(&entry).is_break() {
            break;
        }
        if kind == EntryKind::Directory
            && directory.goes_deeper(context)
            && let Some(entered) = directory.enter(&name, context)
        {
            levels.push(list(context, Arc::new(entered), &mut pending));
        }
    }
    visitor.finish();
}

fn list(context: &Context<'_>, directory: Arc<Directory>, pending: &mut usize) -> Level {
    let mut names = Vec::new();
    directory.read(context, |name, kind| {
        let held = *pending + cost(name);
        if held > MAX_PENDING {
            let path = directory.path(name, &mut Vec::new()).to_vec();
            context.troubles.add(Failure::new(Kind::Limit, &path, "too many names to be put in order"));
            return false;
        }
        *pending = held;
        names.push((name.to_owned(), kind));
        context.stop.why().is_none()
    });
    names.sort_by(|a, b| order(b, a));
    Level { directory, names }
}

/// By path as bytes: a directory sorts as if its name ended with a slash.
fn order(a: &(CString, EntryKind), b: &(CString, EntryKind)) -> Ordering {
    let tail = |kind| (kind == EntryKind::Directory).then_some(b'/');
    let a_bytes = a.0.to_bytes().iter().copied().chain(tail(a.1));
    let b_bytes = b.0.to_bytes().iter().copied().chain(tail(b.1));
    a_bytes.cmp(b_bytes)
}

fn cost(name: &CStr) -> usize {
    name.to_bytes().len() + size_of::<(CString, EntryKind)>()
}

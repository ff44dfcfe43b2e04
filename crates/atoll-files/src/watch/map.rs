//! The directories that are watched: a tree whose nodes the kernel names by number. Pure data.

use std::collections::{BTreeMap, HashMap};

/// The kernel's number of a watched directory.
pub(super) type Number = i32;

#[derive(Debug)]
struct Node {
    /// None for the root.
    place: Option<(Number, Vec<u8>)>,
    children: BTreeMap<Vec<u8>, Number>,
}

/// The directories that are watched.
#[derive(Debug, Default)]
pub(super) struct Map {
    nodes: HashMap<Number, Node>,
}

impl Map {
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(super) fn holds(&self, number: Number) -> bool {
        self.nodes.contains_key(&number)
    }

    pub(super) fn numbers(&self) -> Vec<Number> {
        self.nodes.keys().copied().collect()
    }

    pub(super) fn clear(&mut self) {
        self.nodes.clear();
    }

    pub(super) fn put_root(&mut self, number: Number) {
        self.nodes.insert(number, Node { place: None, children: BTreeMap::new() });
    }

    /// Where it is: the directory above it, and its name there. None for the root, and for what is not watched.
    pub(super) fn place(&self, number: Number) -> Option<(Number, &[u8])> {
        let (above, name) = self.nodes.get(&number)?.place.as_ref()?;
        Some((*above, name))
    }

    pub(super) fn child(&self, above: Number, name: &[u8]) -> Option<Number> {
        self.nodes.get(&above)?.children.get(name).copied()
    }

    /// Puts a directory, new or watched elsewhere, at a place that is free.
    pub(super) fn put(&mut self, number: Number, above: Number, name: &[u8]) {
        if let Some((old, old_name)) = self.place(number).map(|(old, name)| (old, name.to_vec()))
            && let Some(parent) = self.nodes.get_mut(&old)
        {
            parent.children.remove(&old_name);
        }
        let node = self.nodes.entry(number).or_insert_with(|| Node { place: None, children: BTreeMap::new() });
        node.place = Some((above, name.to_vec()));
        if let Some(parent) = self.nodes.get_mut(&above) {
            parent.children.insert(name.to_vec(), number);
        }
    }

    /// Takes a directory out, with all below it. Gives their numbers.
    pub(super) fn remove(&mut self, number: Number) -> Vec<Number> {
        if let Some((above, name)) = self.place(number).map(|(above, name)| (above, name.to_vec()))
            && let Some(parent) = self.nodes.get_mut(&above)
        {
            parent.children.remove(&name);
        }
        let mut removed = Vec::new();
        let mut open = vec![number];
        while let Some(next) = open.pop() {
            if let Some(node) = self.nodes.remove(&next) {
                open.extend(node.children.into_values());
                removed.push(next);
            }
        }
        removed
    }

    /// Whether `inner` is `outer`, or below it.
    pub(super) fn is_within(&self, inner: Number, outer: Number) -> bool {
        let mut at = Some(inner);
        while let Some(number) = at {
            if number == outer {
                return true;
            }
            at = self.place(number).map(|(above, _)| above);
        }
        false
    }

    /// The path of a name in a directory, from the root.
    pub(super) fn path(&self, above: Number, name: &[u8]) -> Vec<u8> {
        let mut names = vec![name];
        let mut at = above;
        while let Some((next, name)) = self.place(at) {
            names.push(name);
            at = next;
        }
        names.reverse();
        names.retain(|name| !name.is_empty());
        names.join(&b'/')
    }

    /// How many levels a directory is below the root.
    pub(super) fn depth(&self, number: Number) -> usize {
        std::iter::successors(self.place(number), |(above, _)| self.place(*above)).count()
    }
}

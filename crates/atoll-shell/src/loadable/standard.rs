//! The shell's standard descriptors: given anew with each command, unless the user has put others in their place.
//!
//! A user may `exec >file`, `exec 2>&1` or `exec 3>&1`; that stays. So after each command we look which of the open
//! descriptors are what the command was given: those are closed until the next command and then mean what *it* is
//! given. All others are the user's own.

use super::c::{self, Fd, Identity};

/// Copies of one command's three descriptors that a user can have.
const MOST: usize = 32;

/// A descriptor that stands for one of the three.
#[derive(Clone, Copy)]
struct Stand {
    fd: Fd,
    /// Which of the three.
    of: usize,
    close_on_exec: bool,
}

/// What stands for what.
pub(super) struct Standard {
    given: [Option<Identity>; 3],
    stands: [Stand; MOST],
    count: usize,
    /// What was given has not been let go yet.
    held: bool,
}

impl Standard {
    /// Nothing is known yet.
    pub(super) const fn new() -> Self {
        Self { given: [None; 3], stands: [Stand { fd: -1, of: 0, close_on_exec: false }; MOST], count: 0, held: false }
    }

    /// What the process was started with counts as given.
    pub(super) fn adopt(&mut self) {
        self.given = [c::identity(0), c::identity(1), c::identity(2)];
        self.held = true;
    }

    /// Lets go of what the command was given, so that nobody waits for us to close it. `own` is ours.
    pub(super) fn release(&mut self, own: Option<Fd>) {
        if !core::mem::take(&mut self.held) {
            return;
        }
        self.count = 0;
        c::each_open(|fd| {
            if Some(fd) != own {
                self.look_at(fd);
            }
        });
        self.stands().iter().for_each(|stand| c::close(stand.fd));
    }

    fn look_at(&mut self, fd: Fd) {
        let Some(identity) = c::identity(fd) else { return };
        let Some(of) = self.which(fd, identity) else { return };
        if let Some(place) = self.stands.get_mut(self.count) {
            *place = Stand { fd, of, close_on_exec: fd > 2 && c::closes_on_exec(fd) };
            self.count += 1;
        }
    }

    /// Itself first: all three may be one and the same.
    fn which(&self, fd: Fd, identity: Identity) -> Option<usize> {
        let same = |of: &usize| self.given.get(*of) == Some(&Some(identity));
        usize::try_from(fd).ok().filter(same).or_else(|| (0..3).find(same))
    }

    fn stands(&self) -> &[Stand] {
        &self.stands[..self.count]
    }

    /// Puts the new ones where the old ones stood; takes them over.
    pub(super) fn give(&mut self, new: [Fd; 3]) {
        self.given = new.map(c::identity);
        self.held = true;
        // The kernel has put them where the old ones were: the lowest numbers that were free.
        if new == [0, 1, 2] && self.is_ordinary() {
            return;
        }
        let above = self.above();
        let sources = new.map(|fd| move_to(fd, above));
        for stand in self.stands() {
            c::duplicate_onto(sources[stand.of], stand.fd, stand.close_on_exec);
        }
        sources.into_iter().for_each(c::close);
    }

    /// 0, 1 and 2 stand for themselves, and nothing else stands for anything.
    fn is_ordinary(&self) -> bool {
        self.count == 3
            && self
                .stands()
                .iter()
                .enumerate()
                .all(|(at, stand)| stand.of == at && usize::try_from(stand.fd) == Ok(at) && !stand.close_on_exec)
    }

    /// A number behind all that stand for something.
    fn above(&self) -> Fd {
        self.stands().iter().map(|stand| stand.fd + 1).max().unwrap_or(3).max(3)
    }
}

fn move_to(fd: Fd, above: Fd) -> Fd {
    let moved = c::duplicate_above(fd, above);
    c::close(fd);
    moved
}

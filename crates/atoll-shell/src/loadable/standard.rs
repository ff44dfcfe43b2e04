//! The shell's standard descriptors: given anew with each command, unless the user has put others in their place.
//!
//! A user may `exec >file`, `exec 2>&1` or `exec 3>&1`; that stays. So after each command we look which of the open
//! descriptors are what the command was given: those are closed until the next command and then mean what *it* is
//! given. All others are the user's own.

use super::c::{self, Fd, Identity};

/// Copies of one command's three descriptors that a user can have: as many as are looked at.
const MOST: usize = c::LOOKED_AT;

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

    /// Puts the new ones where the old ones stood; takes them over. There may be hardly a number to spare, so what
    /// lies in the way is moved only if it is still needed.
    pub(super) fn give(&mut self, new: [Fd; 3]) {
        self.given = new.map(c::identity);
        self.held = true;
        let mut sources = new;
        for (at, stand) in self.stands().iter().enumerate() {
            // The ordinary case: the kernel has put them where the old ones were, the lowest numbers that were free.
            if sources[stand.of] == stand.fd {
                if stand.close_on_exec {
                    c::close_on_exec(stand.fd);
                }
                continue;
            }
            let ahead = &self.stands()[at + 1..];
            for (of, source) in sources.iter_mut().enumerate() {
                if *source == stand.fd && ahead.iter().any(|stand| stand.of == of) {
                    *source = c::duplicate(stand.fd);
                }
            }
            c::duplicate_onto(sources[stand.of], stand.fd, stand.close_on_exec);
        }
        let idle = |source: &Fd| self.stands().iter().all(|stand| stand.fd != *source);
        sources.into_iter().filter(idle).for_each(c::close);
    }
}

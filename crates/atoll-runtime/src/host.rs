//! What a process needs to make sandboxes, made once: the init program, the keeper, the layout of cgroups.

use std::sync::Arc;

use atoll_isolation::cgroup::Layout;
use atoll_isolation::wire::Kept;
use atoll_isolation::{Keeper, Launcher, Quotas};

use crate::Error;
use crate::command::check_variable;
use crate::home::{Home, Storage};
use crate::making::{self, Half, unavailable};
use crate::sandbox::{Sandbox, SandboxOptions};

/// What this process needs to make sandboxes. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Host {
    inner: Arc<HostInner>,
    place: Place,
}

/// Where the work of making sandboxes is done: all of it is waiting for the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// On threads of its own.
    Apart,
    /// Where it is asked for.
    Here,
}

#[derive(Debug)]
pub(crate) struct HostInner {
    pub(crate) home: Home,
    pub(crate) launcher: Launcher,
    pub(crate) keeper: Keeper,
    pub(crate) layout: Layout,
    /// How much one sandbox may use of what the kernel counts per user.
    pub(crate) quotas: Quotas,
}

/// A sandbox made ahead of its time: it has everything but its name. If it is dropped, nothing of it is left.
#[derive(Debug)]
pub struct Prepared {
    host: Host,
    half: Option<Half>,
}

impl Host {
    /// Starts the keeper, and removes what earlier agents may have left.
    pub fn new(home: Home) -> Result<Self, Error> {
        let launcher = Launcher::new().map_err(|error| unavailable(&error))?;
        let keeper = launcher.keeper().map_err(|error| unavailable(&error))?;
        home.sweep();
        let layout = detect_layout(&keeper);
        let quotas = Quotas::new().map_err(|error| Error::io("read the limits of this user", &error))?;
        Ok(Self { inner: Arc::new(HostInner { home, launcher, keeper, layout, quotas }), place: Place::Apart })
    }

    /// For a program that has nothing else to do while it makes its sandbox: a thread less, and the memory that goes with
    /// it.
    #[must_use]
    pub fn making_here(self) -> Self {
        Self { place: Place::Here, ..self }
    }

    /// How this host's cgroups are laid out.
    pub fn layout(&self) -> &Layout {
        &self.inner.layout
    }

    /// Makes a sandbox.
    pub async fn create(&self, options: SandboxOptions) -> Result<Sandbox, Error> {
        check(&options)?;
        let host = Arc::clone(&self.inner);
        let made = self.place.run(move || {
            let half = making::half(&host, &options)?;
            making::finish(&host, half, options)
        });
        Sandbox::begin(Arc::clone(&self.inner), made.await?).await
    }

    /// Makes a sandbox without limits as far as that can be done before anybody has asked for it.
    pub async fn prepare(&self, storage: Storage) -> Result<Prepared, Error> {
        let host = Arc::clone(&self.inner);
        let options = SandboxOptions { storage, ..SandboxOptions::default() };
        let half = self.place.run(move || making::half(&host, &options)).await?;
        Ok(Prepared { host: self.clone(), half: Some(half) })
    }
}

impl Prepared {
    /// Makes it what was asked for. Its storage may have been moved meanwhile; `options` say where it is now.
    pub async fn finish(mut self, options: SandboxOptions) -> Result<Sandbox, Error> {
        check(&options)?;
        let plain = SandboxOptions::default();
        if options.limits != plain.limits || options.isolation != plain.isolation {
            return Err(Error::invalid("a sandbox that was made ahead of its time is isolated and has no limits"));
        }
        let (host, half) = (Arc::clone(&self.host.inner), self.half.take());
        let half = half.ok_or_else(|| Error::invalid("the sandbox is finished already"))?;
        let made = self.host.place.run(move || making::finish(&host, half, options)).await?;
        Sandbox::begin(Arc::clone(&self.host.inner), made).await
    }
}

impl Drop for Prepared {
    fn drop(&mut self) {
        if let Some(half) = self.half.take() {
            half.undo(&self.host.inner);
        }
    }
}

fn check(options: &SandboxOptions) -> Result<(), Error> {
    options.env.iter().try_for_each(|(name, value)| check_variable(name, Some(value)))
}

impl Place {
    async fn run<T: Send + 'static>(
        self,
        make: impl FnOnce() -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        if self == Self::Here {
            return make();
        }
        let made = tokio::task::spawn_blocking(make).await;
        made.map_err(|error| Error::Internal { what: format!("making the sandbox failed: {error}") })?
    }
}

/// Looks at the cgroups by trying; should we be killed while we try, the keeper cleans up.
fn detect_layout(keeper: &Keeper) -> Layout {
    let tried = std::cell::RefCell::new(Vec::new());
    let layout = Layout::detect_telling(&|path| {
        // Without a keeper nothing can be made later either; that is where it is told.
        keeper.keep(Kept::Cgroup, path).ok();
        tried.borrow_mut().push(path.to_owned());
    });
    for path in tried.into_inner() {
        keeper.forget(&path).ok();
    }
    layout
}

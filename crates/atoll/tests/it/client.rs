//! The command line against a server: what people type, and what they get. The behaviours are in the files below
//! `client/`.

mod commands;
mod egress;
mod files;
mod own_server;
mod processes;
mod sandboxes;
mod sessions;
mod trees;
mod which_server;

use crate::harness::{Done, Home};
use crate::server::Server;

/// A server, and the binary that asks it.
pub(crate) struct Cli<'a> {
    pub(crate) home: &'a Home,
    pub(crate) server: Server<'a>,
}

impl<'a> Cli<'a> {
    pub(crate) fn new(home: &'a Home) -> Self {
        Self { home, server: Server::start(home, &[]) }
    }

    /// A sandbox that can be told to be of this home.
    pub(crate) fn sandbox(&self) -> String {
        let name = self.home.name();
        let tag = format!("ATOLL_IT={}", self.home.tag);
        assert_eq!(self.ok(&["create", &name, "--env", &tag]), format!("{name}\n"));
        name
    }

    /// How a call goes.
    #[track_caller]
    pub(crate) fn done(&self, arguments: &[&str]) -> Done {
        self.home.atoll(arguments).done()
    }

    /// What a call prints that goes well, and says nothing beside.
    #[track_caller]
    pub(crate) fn ok(&self, arguments: &[&str]) -> String {
        let done = self.done(arguments);
        assert_eq!((done.code, done.stderr().as_str()), (Some(0), ""), "{arguments:?}: {done:?}");
        done.stdout()
    }

    /// The same as JSON.
    #[track_caller]
    pub(crate) fn json(&self, arguments: &[&str]) -> serde_json::Value {
        serde_json::from_str(&self.ok(&[arguments, &["--json"]].concat())).unwrap()
    }
}

/// The code of a failure that was told as JSON.
#[track_caller]
pub(crate) fn refused(done: &Done) -> String {
    done.json()["error"]["code"].as_str().unwrap().to_owned()
}

//! Disks that are full, and disks that take no writes: it is said in the user's words, and nothing that was acknowledged
//! is lost.

use std::collections::BTreeMap;

use atoll_protocol::{
    CreateSandbox, CreateToken, ErrorCode, ExecRequest, PatchSandbox, ProcessId, SandboxName, Scope, StartRequest, Verb,
};

use super::{Server, sh, wait};
use crate::harness::{Home, SmallDisk, skip};

fn labels(team: &str) -> BTreeMap<String, String> {
    BTreeMap::from([("team".to_owned(), team.to_owned())])
}

fn token() -> CreateToken {
    let scopes = vec![Scope { sandboxes: "*".to_owned(), verbs: vec![Verb::Read] }];
    CreateToken { name: String::new(), scopes, expires_in_ms: None }
}

/// What was there before the disk failed.
struct Before {
    name: SandboxName,
    token: String,
}

impl Before {
    async fn make(server: &Server<'_>) -> Self {
        let client = server.client();
        let asked = CreateSandbox { labels: Some(labels("a")), ..server.asked() };
        let name = client.create_sandbox(&asked).await.unwrap().name;
        let id = Some(ProcessId::new("done").unwrap());
        client.inside(&name).start(&StartRequest { id, ..StartRequest::shell("echo kept; exit 4") }).await.unwrap();
        let done = client.inside(&name).follow(&ProcessId::new("done").unwrap(), 0, Default::default()).collect();
        assert_eq!(done.await.unwrap().0, b"kept\n");
        Self { name, token: client.create_token(&token()).await.unwrap().token }
    }

    /// Everything that has to be written is refused with this code, and leaves no trace.
    async fn assert_refused(&self, server: &Server<'_>, code: ErrorCode) {
        let client = server.client();
        let refused = client.create_sandbox(&server.asked()).await.unwrap_err();
        assert_eq!(refused.code(), Some(code), "{refused}");
        let refused = client.create_token(&token()).await.unwrap_err();
        assert_eq!(refused.code(), Some(code), "{refused}");
        let labels = BTreeMap::from([("team".to_owned(), Some("b".to_owned()))]);
        let refused =
            client.change_sandbox(&self.name, &PatchSandbox { labels, ..Default::default() }).await.unwrap_err();
        assert_eq!(refused.code(), Some(code), "{refused}");
        self.assert_there(server).await;
    }

    /// What was acknowledged is as it was, and nothing else is there.
    async fn assert_there(&self, server: &Server<'_>) {
        let client = server.client();
        let all = client.list_sandboxes(&Default::default(), None).await.unwrap().sandboxes;
        assert_eq!(all.iter().map(|one| &one.name).collect::<Vec<_>>(), [&self.name]);
        assert_eq!(all[0].labels, labels("a"));
        let with_token = server.client_with(&self.token);
        assert_eq!(with_token.find_sandbox(&self.name).await.unwrap().labels, labels("a"), "the token is good");
        let done = client.inside(&self.name).process(&ProcessId::new("done").unwrap()).await.unwrap();
        assert_eq!(done.end.unwrap().code, Some(4));
        assert_eq!(sh(&client, &self.name, "echo works").await, "works\n");
    }
}

#[test]
fn a_full_disk_is_told_and_what_was_acknowledged_is_kept() {
    let Some(disk) = SmallDisk::new("8m") else { return skip("no tmpfs can be mounted") };
    let home = Home::on(&disk);
    let server = Server::start(&home, &[]);
    let before = wait(Before::make(&server));
    wait(async {
        fill(&server, &before).await;
        before.assert_refused(&server, ErrorCode::DiskFull).await;
    });
    let agents = server.agents_when(1);
    server.kill();
    let server = Server::start(&home, &[]);
    assert_eq!(server.agents(), agents, "a server that finds a full disk finds its sandboxes too");
    wait(async {
        fill(&server, &before).await;
        before.assert_refused(&server, ErrorCode::DiskFull).await;
        sh(&server.client(), &before.name, "rm zero small-*").await;
        before.assert_there(&server).await;
        let made = server.client().create_sandbox(&server.asked()).await.unwrap().name;
        server.client().remove_sandbox(&made).await.unwrap();
        server.client().create_token(&token()).await.unwrap();
    });
    server.end();
}

/// To the last page, by files of every size.
async fn fill(server: &Server<'_>, before: &Before) {
    let text = "cat /dev/zero >> zero 2> /dev/null; for i in {1..500}; do echo >> small-$i || break; done 2> /dev/null";
    server.client().inside(&before.name).exec(&ExecRequest::shell(text)).await.unwrap();
}

#[test]
fn a_read_only_disk_is_told_and_what_was_acknowledged_is_kept() {
    let Some(disk) = SmallDisk::new("64m") else { return skip("no tmpfs can be mounted") };
    let home = Home::on(&disk);
    let server = Server::start(&home, &[]);
    let before = wait(Before::make(&server));
    disk.make_read_only();
    wait(async {
        let refused = server.client().create_sandbox(&server.asked()).await.unwrap_err();
        assert_eq!(refused.code(), Some(ErrorCode::DiskReadOnly), "{refused}");
        assert!(refused.to_string().contains("read-only"), "{refused}");
        before.assert_there(&server).await;
    });
    let agents = server.agents_when(1);
    server.kill();
    let refused = home.atoll(["serve", "--listen", "127.0.0.1:0"]).done();
    assert_eq!(refused.code, Some(125));
    assert!(refused.stderr().contains("disk is read-only") && refused.stderr().contains("hint: "), "{refused:?}");
    let refused = home.run(["--json", "--", "true"]).done();
    assert!(refused.stdout().contains("\"code\":\"DISK_READ_ONLY\""), "{refused:?}");
    disk.make_writable();
    let server = Server::start(&home, &[]);
    assert_eq!(server.agents(), agents);
    wait(before.assert_there(&server));
    server.end();
}

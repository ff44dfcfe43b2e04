//! What a repository's configuration, its submodules, its remotes and their hooks cannot do to a call of git: run a
//! program, or get the caller's credentials.

use atoll_client::{Client, Error};
use atoll_protocol::{
    ErrorCode, GitAuthor, GitBranchesRequest, GitCheckoutRequest, GitCloneRequest, GitCommitRequest, GitDiffRequest,
    GitLogRequest, GitPullRequest, GitPushRequest, GitStatusRequest, LogCondition, ProcessId, StartRequest, WaitFor,
    WaitRequest,
};

use crate::git_is_the_sandboxes_own::{NO_TOOLS, PASSWORD, from, me, served, shell};
use crate::harness::{AT_ONCE, run, skip, soon};

/// A program that says that it ran, and passes its input on.
const EVIL: &str = "printf '#!/bin/sh\\ntouch /tmp/ran-$(basename $0)\\nexec cat\\n' > /tmp/evil && chmod +x /tmp/evil";

/// What [`EVIL`] left behind.
async fn ran(client: &Client) -> String {
    shell(client, "ls /tmp | grep ^ran- || true").await
}

pub(crate) fn status(path: &str) -> GitStatusRequest {
    GitStatusRequest { path: path.into(), ignored: false, user: None }
}

pub(crate) fn diff(path: &str) -> GitDiffRequest {
    GitDiffRequest { path: path.into(), staged: false, from: None, to: None, paths: vec![], context: None, user: None }
}

pub(crate) fn commit(path: &str) -> GitCommitRequest {
    GitCommitRequest {
        path: path.into(),
        message: "m".into(),
        author: Some(GitAuthor { name: "Me".into(), email: "me@x".into() }),
        all: true,
        paths: vec![],
        allow_empty: false,
        user: None,
    }
}

pub(crate) fn pull(path: &str) -> GitPullRequest {
    GitPullRequest { path: path.into(), remote: None, branch: None, credentials: None, timeout_ms: None, user: None }
}

pub(crate) fn push(path: &str) -> GitPushRequest {
    GitPushRequest {
        path: path.into(),
        remote: None,
        branch: None,
        set_upstream: false,
        force: false,
        credentials: None,
        timeout_ms: None,
        user: None,
    }
}

/// Every call about a repository, each of which must fail; returns the codes and messages.
async fn all_calls(client: &Client, path: &str, server: &str) -> Vec<Error> {
    let checkout =
        GitCheckoutRequest { path: path.into(), target: "HEAD".into(), create: false, from: None, user: None };
    let log = GitLogRequest { path: path.into(), from: None, limit: None, paths: vec![], user: None };
    let branches = GitBranchesRequest { path: path.into(), remotes: false, user: None };
    let pull = GitPullRequest { credentials: me(Some(server), PASSWORD), ..pull(path) };
    let push = GitPushRequest { credentials: me(Some(server), PASSWORD), ..push(path) };
    vec![
        soon(client.git_status(&status(path))).await.unwrap_err(),
        soon(client.git_diff(&diff(path))).await.unwrap_err(),
        soon(client.git_commit(&commit(path))).await.unwrap_err(),
        soon(client.git_checkout(&checkout)).await.unwrap_err(),
        soon(client.git_log(&log)).await.unwrap_err(),
        soon(client.git_branches(&branches)).await.unwrap_err(),
        soon(client.git_pull(&pull, |_| {})).await.unwrap_err(),
        soon(client.git_push(&push, |_| {})).await.unwrap_err(),
    ]
}

#[test]
fn every_key_that_is_not_known_refuses_every_call_by_name() {
    run(async |f| {
        let Some(server) = served(f).await else { return skip(NO_TOOLS) };
        shell(&f.client, EVIL).await;
        let make =
            "rm -rf /workspace/r && cd /workspace && git clone -q /tmp/srv/repo.git r && cd r && echo more >> file";
        let host = server.trim_start_matches("http://");
        for (key, setup) in [
            ("remote.origin.uploadpack", "git config remote.origin.uploadpack /tmp/evil".to_owned()),
            ("remote.origin.receivepack", "git config remote.origin.receivepack /tmp/evil".to_owned()),
            ("remote.origin.vcs", "git config remote.origin.vcs ext".to_owned()),
            ("remote.origin.proxy", "git config remote.origin.proxy http://127.0.0.1:9".to_owned()),
            (
                "remote.origin.promisor",
                "git config remote.origin.promisor true; git config extensions.partialclone origin; \
                 git config core.repositoryformatversion 1"
                    .to_owned(),
            ),
            (
                "filter.a=b.clean",
                "git config filter.a=b.clean /tmp/evil; echo '* filter=a=b' > .gitattributes".to_owned(),
            ),
            (
                "filter.x\\xff.clean",
                "printf '[filter \"x\\377\"]\\nclean=/tmp/evil\\n' >> .git/config; \
                 printf '* filter=x\\377\\n' > .gitattributes"
                    .to_owned(),
            ),
            (
                "filter.w.clean",
                "git config extensions.worktreeConfig true; git config --worktree filter.w.clean /tmp/evil; \
                 echo '* filter=w' > .git/info/attributes"
                    .to_owned(),
            ),
            (
                "include.path",
                "printf '[filter \"i\"]\\nclean=/tmp/evil\\n' > /tmp/included; git config include.path /tmp/included; \
                 echo '* filter=i' > .gitattributes"
                    .to_owned(),
            ),
            (
                "includeif.gitdir:/.path",
                "git config includeIf.gitdir:/.path /tmp/included; echo '* filter=i' > .gitattributes".to_owned(),
            ),
            ("http.{server}.proxy", "git config http.{server}.proxy http://127.0.0.1:9".to_owned()),
            ("http.{server}.sslverify", "git config http.{server}.sslVerify false".to_owned()),
            ("http.{server}.extraheader", "git config http.{server}.extraHeader 'X: y'".to_owned()),
            ("url.{server}.insteadof", "git config url.{server}.insteadOf https://".to_owned()),
            ("credential.{server}.helper", "git config credential.{server}.helper '!/tmp/evil'".to_owned()),
            (
                "protocol.ext.allow",
                "git config protocol.ext.allow always; git config remote.origin.url 'ext::/tmp/evil'".to_owned(),
            ),
            ("core.fsmonitor", "git config core.fsmonitor /tmp/evil".to_owned()),
            ("core.sshcommand", "git config core.sshCommand /tmp/evil".to_owned()),
            ("core.gitproxy", "git config core.gitProxy /tmp/evil".to_owned()),
            (
                "diff.evil.textconv",
                "git config diff.evil.textconv /tmp/evil; echo '* diff=evil' > .gitattributes".to_owned(),
            ),
            ("merge.evil.driver", "git config merge.evil.driver /tmp/evil".to_owned()),
            ("hook.x.command", "git config hook.x.command /tmp/evil; git config hook.x.event pre-commit".to_owned()),
            ("core.worktree", "git config core.worktree /".to_owned()),
        ] {
            let (key, setup) = (key.replace("{server}", &server), setup.replace("{server}", &server));
            shell(&f.client, &format!("{make} && {setup}; rm -f /tmp/ran-*")).await;
            for refused in all_calls(&f.client, "r", &server).await {
                assert_eq!(refused.code(), Some(ErrorCode::GitConfigRefused), "{key} at {host}: {refused}");
                assert!(refused.to_string().contains(&format!("`{key}`")), "{key}: {refused}");
            }
            assert_eq!(ran(&f.client).await, "", "{key}");
        }
    });
}

#[test]
fn a_missing_object_of_a_partial_clone_starts_nothing() {
    run(async |f| {
        let Some(_) = served(f).await else { return skip(NO_TOOLS) };
        // Without any key that is refused: git itself must not go to the remote for what is missing.
        let lose = format!(
            "{EVIL}; git clone -q /tmp/srv/repo.git lost && cd lost && \
             object=$(git rev-parse HEAD~1:file) && \
             for pack in .git/objects/pack/*.pack; do mv $pack /tmp/pack && git unpack-objects -q < /tmp/pack; done; \
             rm -f .git/objects/$(echo $object | cut -c1-2)/$(echo $object | cut -c3-) && rm -f /tmp/ran-*"
        );
        shell(&f.client, &lose).await;
        let missing = GitDiffRequest { from: Some("HEAD~1".into()), to: Some("HEAD".into()), ..diff("lost") };
        let failed = soon(f.client.git_diff(&missing)).await.unwrap_err();
        assert_eq!(failed.code(), Some(ErrorCode::GitFailed), "{failed}");
        shell(&f.client, "git -C lost config extensions.partialclone origin").await;
        let refused = soon(f.client.git_diff(&missing)).await.unwrap_err();
        assert_eq!(refused.code(), Some(ErrorCode::GitConfigRefused), "{refused}");
        assert_eq!(ran(&f.client).await, "");
    });
}

#[test]
fn submodules_are_never_entered() {
    run(async |f| {
        let Some(_) = served(f).await else { return skip(NO_TOOLS) };
        let make = format!(
            "{EVIL}; export GIT_CONFIG_GLOBAL=/tmp/gitconfig; git config --global protocol.file.allow always; \
             git clone -q /tmp/srv/repo.git super && cd super && git submodule -q add /tmp/srv/repo.git sub && \
             git config -f .gitmodules submodule.sub.ignore none && git add -A && git commit -qm sub && \
             git config --file .git/modules/sub/config filter.x.clean /tmp/evil && \
             echo '* filter=x' > .git/modules/sub/info/attributes && echo 9 > sub/file && touch -d '1 hour ago' sub/file && \
             rm -f /tmp/ran-*"
        );
        shell(&f.client, &make).await;
        assert_eq!(soon(f.client.git_status(&status("super"))).await.unwrap().entries, []);
        assert_eq!(soon(f.client.git_diff(&diff("super"))).await.unwrap().diff, "");
        // Nothing to commit: git would print a status, for which it looks into submodules.
        let nothing = soon(f.client.git_commit(&commit("super"))).await.unwrap_err();
        assert!(nothing.to_string().contains("nothing to commit"), "{nothing}");
        let some = GitCommitRequest { all: false, paths: vec!["sub".into()], ..commit("super") };
        assert_eq!(soon(f.client.git_commit(&some)).await.unwrap_err().code(), Some(ErrorCode::GitFailed));
        // Another commit in the submodule is a change, and is recorded.
        shell(&f.client, "cd super/sub && git -c filter.x.clean=cat checkout -qf HEAD~1 && rm -f /tmp/ran-*").await;
        let changed = soon(f.client.git_status(&status("super"))).await.unwrap();
        assert_eq!(changed.entries.iter().map(|entry| entry.path.as_str()).collect::<Vec<_>>(), ["sub"]);
        shell(&f.client, "echo more >> super/file").await;
        soon(f.client.git_commit(&commit("super"))).await.unwrap();
        let recorded = shell(&f.client, "cd super && git rev-parse HEAD:sub && git -C sub rev-parse HEAD").await;
        let (recorded, head) = recorded.trim().split_once('\n').unwrap();
        assert_eq!(recorded, head);
        assert_eq!(soon(f.client.git_status(&status("super"))).await.unwrap().entries, []);
        assert_eq!(ran(&f.client).await, "");
        // A call about the submodule itself is about its own configuration.
        let refused = soon(f.client.git_status(&status("super/sub"))).await.unwrap_err();
        assert!(refused.to_string().contains("`filter.x.clean`"), "{refused}");
    });
}

#[test]
fn a_local_remote_runs_no_hook_and_gets_no_credentials() {
    run(async |f| {
        let Some(server) = served(f).await else { return skip(NO_TOOLS) };
        let make = format!(
            "{EVIL}; git clone -q /tmp/srv/repo.git out && for h in pre-receive update post-receive post-update \
             reference-transaction; do cp /tmp/evil /tmp/srv/repo.git/hooks/$h; done; echo more >> out/file; rm -f /tmp/ran-*"
        );
        shell(&f.client, &make).await;
        let made = soon(f.client.git_commit(&commit("out"))).await.unwrap();
        let given = GitPushRequest { credentials: me(Some(&server), PASSWORD), ..push("out") };
        let refused = soon(f.client.git_push(&given, |_| {})).await.unwrap_err();
        assert_eq!(refused.code(), Some(ErrorCode::ValidationFailed), "{refused}");
        let given = GitPullRequest { credentials: me(Some(&server), PASSWORD), ..pull("out") };
        let refused = soon(f.client.git_pull(&given, |_| {})).await.unwrap_err();
        assert_eq!(refused.code(), Some(ErrorCode::ValidationFailed), "{refused}");
        let clone = GitCloneRequest { credentials: me(Some(&server), PASSWORD), ..from("/tmp/srv/repo.git".into()) };
        let refused = soon(f.client.git_clone(&clone, |_| {})).await.unwrap_err();
        assert_eq!(refused.code(), Some(ErrorCode::ValidationFailed), "{refused}");
        // Without credentials it is a push like any other, but for the hooks of the other side.
        soon(f.client.git_push(&push("out"), |_| {})).await.unwrap();
        assert_eq!(shell(&f.client, "git -C /tmp/srv/repo.git rev-parse main").await.trim(), made.commit);
        assert_eq!(ran(&f.client).await, "");
        // The configuration of the other side is checked as well, under each name by which git finds it.
        let target = "git init -q --bare /tmp/other.git && git -C /tmp/other.git config receive.procReceiveRefs refs";
        shell(&f.client, target).await;
        for url in ["/tmp/other.git", "/tmp/other", "file:///tmp/oth%65r.git", "../../tmp/other.git/"] {
            shell(&f.client, &format!("git -C out config remote.origin.url {url}")).await;
            let refused = soon(f.client.git_push(&push("out"), |_| {})).await.unwrap_err();
            assert!(refused.to_string().contains("`receive.procreceiverefs`"), "{url}: {refused}");
        }
        // A directory in a harmless repository is not that repository.
        let hide =
            "mkdir -p out/x && git init -q --bare out/x.git && git -C out config remote.origin.url /workspace/out/x";
        shell(&f.client, hide).await;
        let refused = soon(f.client.git_push(&push("out"), |_| {})).await.unwrap_err();
        assert_eq!(refused.code(), Some(ErrorCode::GitFailed), "{refused}");
    });
}

#[test]
fn files_of_the_system_and_of_the_user_are_not_read() {
    run(async |f| {
        let Some(server) = served(f).await else { return skip(NO_TOOLS) };
        let make = format!(
            "{EVIL}; printf '[http \"{server}\"]\\nproxy=http://127.0.0.1:9\\n[filter \"f\"]\\nclean=/tmp/evil\\n\
             [credential \"{server}\"]\\nhelper=!/tmp/evil\\n[core]\\nhooksPath=/tmp\\nfsmonitor=/tmp/evil\\n' > /tmp/hostile; \
             mkdir -p /nonexistent/.config/git; for at in /etc/gitconfig ~/.gitconfig /nonexistent/.gitconfig \
             /nonexistent/.config/git/config; do cp /tmp/hostile $at; done; \
             echo '* filter=f' > /etc/gitattributes; cp /tmp/evil /tmp/pre-commit; \
             echo 'machine 127.0.0.1 login other password other' > /nonexistent/.netrc"
        );
        shell(&f.client, &make).await;
        let clone = GitCloneRequest { credentials: me(None, PASSWORD), ..from(format!("{server}/private/repo.git")) };
        soon(f.client.git_clone(&clone, |_| {})).await.unwrap();
        shell(&f.client, "echo more >> repo/file; rm -f /tmp/ran-*").await;
        soon(f.client.git_status(&status("repo"))).await.unwrap();
        soon(f.client.git_commit(&commit("repo"))).await.unwrap();
        let push = GitPushRequest { credentials: me(Some(&server), PASSWORD), ..push("repo") };
        soon(f.client.git_push(&push, |_| {})).await.unwrap();
        assert_eq!(ran(&f.client).await, "");
    });
}

#[test]
fn credentials_are_limited_to_a_path() {
    run(async |f| {
        let Some(server) = served(f).await else { return skip(NO_TOOLS) };
        let clone = |path: &str, limit: &str| GitCloneRequest {
            path: Some(path.into()),
            credentials: me(Some(&format!("{server}{limit}")), PASSWORD),
            ..from(format!("{server}/private/repo.git"))
        };
        for (number, limit) in ["", "/", "/private", "/private/", "/private/repo.git"].iter().enumerate() {
            soon(f.client.git_clone(&clone(&format!("c{number}"), limit), |_| {})).await.unwrap();
        }
        for limit in ["/other", "/priv", "/private/repo", "/private/repo.git/more", "/a=b"] {
            let refused = soon(f.client.git_clone(&clone("none", limit), |_| {})).await.unwrap_err();
            assert_eq!(refused.code(), Some(ErrorCode::GitAuthenticationFailed), "{limit}: {refused}");
        }
        assert_eq!(
            shell(&f.client, "ls -d none /tmp/atoll-git.* 2>/dev/null || true").await,
            "",
            "what failed is removed"
        );
    });
}

#[test]
fn no_program_of_git_inherits_the_credentials() {
    run(async |f| {
        let Some(server) = served(f).await else { return skip(NO_TOOLS) };
        let slow = GitCloneRequest {
            credentials: me(None, PASSWORD),
            timeout_ms: Some(60_000),
            ..from(format!("{server}/slow/repo.git"))
        };
        // The script holds the pipe at 9; every other program of the call has it nowhere.
        let look = "until pgrep -f 'git-remote-http .*[s]low' >/dev/null; do sleep 0.05; done; \
            for p in $(pgrep -f '^/bin/sh .*[s]low'); do secret=$(readlink /proc/$p/fd/9) && echo held; done; \
            for p in $(pgrep -f '^[^ ]*git.*[s]low'); do echo looked; \
            for fd in /proc/$p/fd/*; do test \"$(readlink $fd)\" != \"$secret\" || echo inherited; done; done";
        let clone = f.client.git_clone(&slow, |_| {});
        let seen = tokio::select! {
            seen = shell(&f.client, look) => seen,
            answer = clone => panic!("it must not answer: {answer:?}"),
        };
        assert!(seen.starts_with("held\nlooked\nlooked\n") && !seen.contains("inherited"), "{seen}");
    });
}

/// Records what is sent to it, and refuses.
const LISTENER: &str = "import socket\ns = socket.create_server(('127.0.0.1', 0))\nprint('port', s.getsockname()[1], flush=True)\n\
while True:\n    c, _ = s.accept()\n    open('/tmp/heard', 'ab').write(c.recv(65536))\n    c.close()\n";

#[test]
fn a_configuration_that_changes_meanwhile_gets_no_credentials() {
    run(async |f| {
        let Some(server) = served(f).await else { return skip(NO_TOOLS) };
        let clone = GitCloneRequest { credentials: me(None, PASSWORD), ..from(format!("{server}/private/repo.git")) };
        soon(f.client.git_clone(&clone, |_| {})).await.unwrap();
        let write = atoll_client::WriteFile::default();
        soon(f.client.write_file("/tmp/listener.py", LISTENER, &write)).await.unwrap();
        let id = ProcessId::new("listener").unwrap();
        let start = StartRequest { id: Some(id.clone()), ..StartRequest::shell("exec python3 /tmp/listener.py") };
        soon(f.client.start(&start)).await.unwrap();
        let condition = LogCondition { text: Some("port ".into()), ..LogCondition::default() };
        let wait = WaitRequest { r#for: WaitFor::Log(condition), timeout_ms: Some(20_000) };
        let answer = serde_json::to_value(soon(f.client.wait(&id, &wait)).await.unwrap()).unwrap();
        let port = answer["found"]["line"].as_str().unwrap().trim().rsplit(' ').next().unwrap().to_owned();
        // Now with a proxy, now without, as fast as a program can.
        let swap = format!(
            "cd /workspace/repo/.git && cp config /tmp/good && git config http.{server}.proxy http://127.0.0.1:{port} && \
             cp config /tmp/bad && until test -e /tmp/over; do cp /tmp/bad new; mv new config; cp /tmp/good new; \
             mv new config; done"
        );
        let swapper = ProcessId::new("swapper").unwrap();
        soon(f.client.start(&StartRequest { id: Some(swapper.clone()), ..StartRequest::shell(swap) })).await.unwrap();
        let pull = GitPullRequest { credentials: me(Some(&server), PASSWORD), ..pull("repo") };
        let mut passed = 0;
        let deadline = tokio::time::Instant::now() + AT_ONCE;
        while passed < 5 && tokio::time::Instant::now() < deadline {
            match soon(f.client.git_pull(&pull, |_| {})).await {
                Ok(_) => passed += 1,
                Err(error) => assert_eq!(error.code(), Some(ErrorCode::GitConfigRefused), "{error}"),
            }
        }
        shell(&f.client, "touch /tmp/over").await;
        soon(f.client.wait(&swapper, &WaitRequest { r#for: WaitFor::Exit, timeout_ms: Some(20_000) })).await.unwrap();
        assert!(passed > 0, "some pulls met the good configuration at their check");
        assert_eq!(shell(&f.client, "cat /tmp/heard 2>/dev/null || true").await, "", "the proxy was used");
    });
}

//! Git against a real server, both inside the sandbox: fetched, looked at, changed, sent; and what must never happen.

use std::time::Duration;

use atoll_client::Client;
use atoll_protocol::{
    ErrorCode, ExecRequest, GitAuthor, GitBranchesRequest, GitChange, GitCheckoutRequest, GitCloneRequest,
    GitCommitRequest, GitCredentials, GitDiffRequest, GitLogRequest, GitPullRequest, GitPushRequest, GitStatusRequest,
    LogCondition, ProcessId, StartRequest, WaitFor, WaitRequest,
};

use crate::harness::{AT_ONCE, Fixture, run, skip, soon};

/// Why these tests cannot run everywhere.
pub(crate) const NO_TOOLS: &str = "there is no git or python in the root";

pub(crate) const PASSWORD: &str = "s3cret-t0ken-never-seen";

/// How the password may be seen: nobody looks for it like this.
fn backwards() -> String {
    PASSWORD.chars().rev().collect()
}

pub(crate) async fn shell(client: &Client, command: &str) -> String {
    let result = soon(client.exec(&ExecRequest::shell(command))).await.unwrap();
    assert_eq!(result.end.code, Some(0), "{command}: {result:?}");
    result.stdout.data
}

/// Makes a repository to clone, and serves it. None where the host's root has no git or no python.
pub(crate) async fn served(f: &Fixture) -> Option<String> {
    let tools = soon(f.client.exec(&ExecRequest::shell(
        "command -v git python3 && $(git --exec-path)/git-http-backend </dev/null; test $? -lt 126",
    )))
    .await;
    if tools.unwrap().end.code != Some(0) {
        return None;
    }
    let make = "export HOME=/tmp GIT_CONFIG_GLOBAL=/tmp/gitconfig; git config --global user.name t; \
        git config --global user.email t@t; git config --global init.defaultBranch main; \
        mkdir -p /tmp/srv && cd /tmp/srv && git init -q work && cd work && \
        for n in 1 2 3; do echo $n > file; git add -A; git commit -qm \"commit $n\"; done; \
        git branch other HEAD~1; cd .. && git clone -q --bare work repo.git && cd repo.git && \
        git config http.receivepack true";
    shell(&f.client, make).await;
    let write = atoll_client::WriteFile::default();
    soon(f.client.write_file("/tmp/server.py", include_str!("git_server.py"), &write)).await.unwrap();
    let id = ProcessId::new("git-server").unwrap();
    let command = format!("exec python3 /tmp/server.py /tmp/srv me {}", backwards());
    soon(f.client.start(&StartRequest { id: Some(id.clone()), ..StartRequest::shell(command) })).await.unwrap();
    let condition = LogCondition { text: Some("port ".into()), ..LogCondition::default() };
    let wait = WaitRequest { r#for: WaitFor::Log(condition), timeout_ms: Some(20_000) };
    let answer = soon(f.client.wait(&id, &wait)).await.unwrap();
    let found = serde_json::to_value(&answer).unwrap()["found"]["line"].as_str().unwrap().to_owned();
    Some(format!("http://127.0.0.1:{}", found.trim().rsplit(' ').next().unwrap()))
}

pub(crate) fn from(url: String) -> GitCloneRequest {
    GitCloneRequest { url, path: None, branch: None, depth: None, credentials: None, timeout_ms: None, user: None }
}

pub(crate) fn me(server: Option<&str>, password: &str) -> Option<GitCredentials> {
    Some(GitCredentials { server: server.map(str::to_owned), username: "me".into(), password: password.into() })
}

#[test]
#[expect(clippy::too_many_lines, reason = "one story: each step is about what the one before has left")]
fn a_repository_is_fetched_changed_and_sent_back() {
    run(async |f| {
        let Some(server) = served(f).await else { return skip(NO_TOOLS) };
        let mut phases = Vec::new();
        let url = format!("{server}/repo.git");
        let cloned = soon(f.client.git_clone(&from(url.clone()), |told| phases.push(told.phase))).await.unwrap();
        assert_eq!((cloned.path.as_str(), cloned.branch.as_deref()), ("/workspace/repo", Some("main")));
        assert!(phases.iter().any(|phase| phase == "Receiving objects"), "{phases:?}");
        let path = || "repo".to_owned();
        shell(&f.client, "cd repo && echo changed > file && echo new > 'odd name'").await;
        let look = GitStatusRequest { path: path(), ignored: false, user: None };
        let status = soon(f.client.git_status(&look)).await.unwrap();
        let short: Vec<_> = status.entries.iter().map(|entry| (entry.path.as_str(), entry.worktree)).collect();
        assert_eq!(short, [("file", GitChange::Modified), ("odd name", GitChange::Untracked)]);
        assert_eq!((status.upstream.as_deref(), status.ahead), (Some("origin/main"), Some(0)));
        let diff = GitDiffRequest {
            path: path(),
            staged: false,
            from: None,
            to: None,
            paths: vec![],
            context: None,
            user: None,
        };
        let diff = soon(f.client.git_diff(&diff)).await.unwrap();
        assert!(diff.diff.contains("-3\n+changed\n") && !diff.truncated, "{}", diff.diff);
        let author = Some(GitAuthor { name: "Me".into(), email: "me@x".into() });
        let commit = GitCommitRequest {
            path: path(),
            message: "mine".into(),
            author,
            all: true,
            paths: vec![],
            allow_empty: false,
            user: None,
        };
        let made = soon(f.client.git_commit(&commit)).await.unwrap();
        let nothing = soon(f.client.git_commit(&commit)).await.unwrap_err();
        assert_eq!(nothing.code(), Some(ErrorCode::GitFailed), "{nothing}");
        let log = GitLogRequest { path: path(), from: None, limit: Some(2), paths: vec![], user: None };
        let log = soon(f.client.git_log(&log)).await.unwrap();
        assert_eq!((log[0].commit.as_str(), log[0].author.name.as_str(), log.len()), (made.commit.as_str(), "Me", 2));
        let push = GitPushRequest {
            path: path(),
            remote: None,
            branch: None,
            set_upstream: false,
            force: false,
            credentials: None,
            timeout_ms: None,
            user: None,
        };
        let pushed = soon(f.client.git_push(&push, |_| {})).await.unwrap();
        assert_eq!(pushed.refs[0].to, "refs/heads/main");
        assert_eq!(shell(&f.client, "git -C /tmp/srv/repo.git rev-parse main").await.trim(), made.commit);
        // Somebody else's clone goes on to it.
        let second =
            GitCloneRequest { path: Some("second".into()), branch: Some("other".into()), depth: Some(1), ..from(url) };
        let second = soon(f.client.git_clone(&second, |_| {})).await.unwrap();
        assert_eq!(second.branch.as_deref(), Some("other"));
        assert_eq!(shell(&f.client, "git -C second rev-list --count HEAD").await.trim(), "1");
        shell(&f.client, "git clone -q /tmp/srv/repo.git third && git -C third reset -q --hard HEAD~1").await;
        let pull = GitPullRequest {
            path: "third".into(),
            remote: None,
            branch: None,
            credentials: None,
            timeout_ms: None,
            user: None,
        };
        let pulled = soon(f.client.git_pull(&pull, |_| {})).await.unwrap();
        assert!(pulled.updated && pulled.commit.as_deref() == Some(&made.commit));
        assert!(!soon(f.client.git_pull(&pull, |_| {})).await.unwrap().updated);
        let new = GitCheckoutRequest {
            path: path(),
            target: "topic".into(),
            create: true,
            from: Some("HEAD~1".into()),
            user: None,
        };
        assert_eq!(soon(f.client.git_checkout(&new)).await.unwrap().branch.as_deref(), Some("topic"));
        let branches = GitBranchesRequest { path: path(), remotes: true, user: None };
        let names: Vec<_> = soon(f.client.git_branches(&branches))
            .await
            .unwrap()
            .into_iter()
            .map(|branch| (branch.name, branch.current))
            .collect();
        assert!(
            names.contains(&("topic".into(), true)) && names.contains(&("origin/other".into(), false)),
            "{names:?}"
        );
    });
}

#[test]
fn credentials_are_for_one_server_and_never_seen() {
    run(async |f| {
        let Some(server) = served(f).await else { return skip(NO_TOOLS) };
        let private = format!("{server}/private/repo.git");
        let code = async |request: &GitCloneRequest| soon(f.client.git_clone(request, |_| {})).await.unwrap_err();
        assert_eq!(code(&from(private.clone())).await.code(), Some(ErrorCode::GitAuthenticationFailed));
        let wrong = GitCloneRequest { credentials: me(None, "wrong-pass-word"), ..from(private.clone()) };
        let refused = code(&wrong).await;
        assert_eq!(refused.code(), Some(ErrorCode::GitAuthenticationFailed));
        assert!(!refused.to_string().contains("wrong-pass-word"), "{refused}");
        // For another server they are not given.
        let elsewhere =
            GitCloneRequest { credentials: me(Some("http://other.example"), PASSWORD), ..from(private.clone()) };
        assert_eq!(code(&elsewhere).await.code(), Some(ErrorCode::GitAuthenticationFailed));
        let kept = GitCloneRequest { url: private.replace("http://", "http://me:pw@"), ..from(String::new()) };
        assert_eq!(code(&kept).await.code(), Some(ErrorCode::ValidationFailed));
        // While it goes right, everything that others could see is looked at all the time.
        let spy = format!(
            "p=$(echo {} | rev); until test -e /tmp/over; do \
            all=$(cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n'); \
            case $all in *remote-http*) touch /tmp/looked;; esac; \
            case $all in *$p*) touch /tmp/seen;; esac; done",
            backwards()
        );
        let id = ProcessId::new("spy").unwrap();
        soon(f.client.start(&StartRequest { id: Some(id.clone()), ..StartRequest::shell(spy) })).await.unwrap();
        for round in 0..5 {
            let good = GitCloneRequest {
                path: Some(format!("clone{round}")),
                credentials: me(None, PASSWORD),
                ..from(private.clone())
            };
            soon(f.client.git_clone(&good, |_| {})).await.unwrap();
        }
        shell(&f.client, "echo more > clone0/more").await;
        let author = Some(GitAuthor { name: "Me".into(), email: "me@x".into() });
        let commit = GitCommitRequest {
            path: "clone0".into(),
            message: "m".into(),
            author,
            all: true,
            paths: vec![],
            allow_empty: false,
            user: None,
        };
        soon(f.client.git_commit(&commit)).await.unwrap();
        let push = GitPushRequest {
            path: "clone0".into(),
            remote: None,
            branch: None,
            set_upstream: false,
            force: false,
            credentials: me(Some(&server), PASSWORD),
            timeout_ms: None,
            user: None,
        };
        soon(f.client.git_push(&push, |_| {})).await.unwrap();
        shell(&f.client, "touch /tmp/over").await;
        soon(f.client.wait(&id, &WaitRequest { r#for: WaitFor::Exit, timeout_ms: Some(20_000) })).await.unwrap();
        let seen = shell(&f.client, "ls /tmp | grep -e ^looked$ -e ^seen$").await;
        assert_eq!(seen, "looked\n", "git was seen at work, and the password was not");
        let find = format!("echo {} | rev | grep -rlFf - /workspace /tmp /etc /var/tmp /dev/shm || true", backwards());
        assert_eq!(shell(&f.client, &find).await, "", "nothing on the disk inside");
        // Nor outside: logs, records.
        for entry in walk(f.directory.path()) {
            let bytes = std::fs::read(&entry).unwrap_or_default();
            let holds = bytes.windows(PASSWORD.len()).any(|piece| piece == PASSWORD.as_bytes());
            assert!(!holds, "{}", entry.display());
        }
    });
}

fn walk(root: &std::path::Path) -> Vec<std::path::PathBuf> {
    let (mut files, mut open) = (Vec::new(), vec![root.to_path_buf()]);
    while let Some(at) = open.pop() {
        for entry in std::fs::read_dir(at).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => open.push(entry.path()),
                Ok(kind) if kind.is_file() => files.push(entry.path()),
                _ => {}
            }
        }
    }
    files
}

#[test]
fn a_repository_runs_nothing_of_its_own() {
    run(async |f| {
        let Some(_) = served(f).await else { return skip(NO_TOOLS) };
        let trap = "git clone -q /tmp/srv/repo.git trap && cd trap && mkdir -p hooks && \
            printf '#!/bin/sh\\ntouch /tmp/ran-$(basename $0)\\ncat\\n' > /tmp/evil && chmod +x /tmp/evil && \
            for h in pre-commit post-commit post-checkout commit-msg prepare-commit-msg pre-push post-merge \
            reference-transaction post-index-change; do cp /tmp/evil .git/hooks/$h; cp /tmp/evil /tmp/$h; done && \
            git config core.hooksPath /tmp && git config commit.gpgSign true && \
            printf '* filter=evil diff=evil merge=evil\\n' > .gitattributes && echo changed > file && rm -f /tmp/ran-*";
        shell(&f.client, trap).await;
        let path = || "trap".to_owned();
        soon(f.client.git_status(&GitStatusRequest { path: path(), ignored: true, user: None })).await.unwrap();
        let diff = GitDiffRequest {
            path: path(),
            staged: false,
            from: None,
            to: None,
            paths: vec![],
            context: None,
            user: None,
        };
        assert!(soon(f.client.git_diff(&diff)).await.unwrap().diff.contains("+changed"));
        let author = Some(GitAuthor { name: "Me".into(), email: "me@x".into() });
        let commit = GitCommitRequest {
            path: path(),
            message: "m".into(),
            author,
            all: true,
            paths: vec![],
            allow_empty: false,
            user: None,
        };
        soon(f.client.git_commit(&commit)).await.unwrap();
        let checkout =
            GitCheckoutRequest { path: path(), target: "HEAD~1".into(), create: false, from: None, user: None };
        soon(f.client.git_checkout(&checkout)).await.unwrap();
        let log = GitLogRequest { path: path(), from: None, limit: None, paths: vec!["file".into()], user: None };
        soon(f.client.git_log(&log)).await.unwrap();
        let pull = GitPullRequest {
            path: path(),
            remote: Some("origin".into()),
            branch: Some("main".into()),
            credentials: None,
            timeout_ms: None,
            user: None,
        };
        soon(f.client.git_pull(&pull, |_| {})).await.unwrap();
        assert_eq!(shell(&f.client, "ls /tmp | grep ^ran- || true").await, "");
        // Addresses that are commands are refused here, and by git itself where a repository brings them.
        for url in ["ext::/tmp/evil", "ssh://host/x", "--upload-pack=/tmp/evil"] {
            let refused = soon(f.client.git_clone(&from(url.into()), |_| {})).await.unwrap_err();
            assert_eq!(refused.code(), Some(ErrorCode::ValidationFailed), "{url}");
        }
        shell(&f.client, "git -C trap remote add ext 'ext::/tmp/evil'").await;
        let pull = GitPullRequest { remote: Some("ext".into()), ..pull };
        assert_eq!(soon(f.client.git_pull(&pull, |_| {})).await.unwrap_err().code(), Some(ErrorCode::GitFailed));
        assert_eq!(shell(&f.client, "ls /tmp | grep ^ran- || true").await, "");
    });
}

#[test]
fn what_goes_wrong_is_said_in_gits_words() {
    run(async |f| {
        let Some(server) = served(f).await else { return skip(NO_TOOLS) };
        let slow = GitCloneRequest { timeout_ms: Some(300), ..from(format!("{server}/slow/repo.git")) };
        let late = tokio::time::timeout(AT_ONCE, f.client.git_clone(&slow, |_| {})).await.unwrap().unwrap_err();
        assert_eq!(late.code(), Some(ErrorCode::GitTimeout));
        let missing = soon(f.client.git_clone(&from(format!("{server}/none.git")), |_| {})).await.unwrap_err();
        assert!(missing.code() == Some(ErrorCode::GitFailed) && missing.to_string().contains("not found"), "{missing}");
        let branch = GitCloneRequest { branch: Some("nope".into()), ..from(format!("{server}/repo.git")) };
        let branch = soon(f.client.git_clone(&branch, |_| {})).await.unwrap_err();
        assert!(branch.to_string().contains("nope"), "{branch}");
        let look = GitStatusRequest { path: "/tmp".into(), ignored: false, user: None };
        let none = soon(f.client.git_status(&look)).await.unwrap_err();
        assert!(none.to_string().contains("not a git repository"), "{none}");
        let gone = GitStatusRequest { path: "/none".into(), ..look };
        assert_eq!(soon(f.client.git_status(&gone)).await.unwrap_err().code(), Some(ErrorCode::CwdNotFound));
        // Who goes away ends it.
        let slow = from(format!("{server}/slow/repo.git"));
        let given_up = tokio::time::timeout(Duration::from_millis(500), f.client.git_clone(&slow, |_| {})).await;
        assert!(given_up.is_err());
        shell(&f.client, "until ! pgrep -f 'slow/[r]epo.git' >/dev/null; do sleep 0.05; done").await;
    });
}

//! Repositories as users make them work with every call: branches, remotes, submodules, worktrees, sparse checkouts,
//! attributes of Git LFS, hooks kept elsewhere.

use atoll_protocol::{GitCheckoutRequest, GitCloneRequest, GitLogRequest, GitPullRequest, GitPushRequest};

use crate::git_configuration::{commit, diff, pull, push, status};
use crate::git_is_the_sandboxes_own::{NO_TOOLS, PASSWORD, from, me, served, shell};
use crate::harness::{run, skip, soon};

/// Git as the tests' users run it.
const AS_USER: &str =
    "export GIT_CONFIG_GLOBAL=/tmp/gitconfig; git config --global protocol.file.allow always; cd /workspace";

#[test]
fn repositories_that_users_made_are_read_and_changed() {
    run(async |f| {
        let Some(_) = served(f).await else { return skip(NO_TOOLS) };
        for (name, make) in [
            (
                "init",
                "git init -q a && cd a && git config user.name me && git config user.email me@x && echo 1 > file && \
                git add -A && git commit -qm 1 && git remote add origin /tmp/srv/repo.git && git remote add -t main b /tmp/b",
            ),
            ("clone", "git clone -q --depth 1 file:///tmp/srv/repo.git a"),
            ("mirrored tags", "git clone -q --no-tags --single-branch /tmp/srv/repo.git a"),
            (
                "upstream",
                "git clone -q /tmp/srv/repo.git a && cd a && git checkout -q -b x && git branch -q -u origin/main && \
                git branch --edit-description 2>/dev/null; git config branch.x.rebase true; git config pull.rebase true",
            ),
            ("reference", "git clone -q --reference /tmp/srv/repo.git --recurse-submodules /tmp/srv/repo.git a"),
            ("sparse", "git clone -q --sparse /tmp/srv/repo.git a && cd a && git sparse-checkout set --sparse-index d"),
            (
                "shared",
                "git init -q --shared=group a && cd a && git fetch -q /tmp/srv/repo.git main && git reset -q --hard FETCH_HEAD",
            ),
            ("worktree", "git clone -q /tmp/srv/repo.git m && cd m && git worktree add -q ../a -b wt"),
            (
                "worktree config",
                "cd m && git worktree prune && git config extensions.worktreeConfig true && git worktree add -q ../a -b wt2 && \
                cd ../a && git config --worktree user.name me",
            ),
            (
                "lfs",
                "git clone -q /tmp/srv/repo.git a && cd a && echo '* filter=lfs diff=lfs merge=lfs -text' > .gitattributes && \
                git config lfs.repositoryformatversion 0 && git config lfs.https://example.org/.access basic",
            ),
            ("hooks elsewhere", "git clone -q /tmp/srv/repo.git a && cd a && git config core.hooksPath .husky/_"),
            (
                "submodule",
                "git clone -q /tmp/srv/repo.git s && cd s && git submodule -q add /tmp/srv/repo.git sub && cd .. && ln -s s/sub a",
            ),
            ("a clone with submodules", "cd s && git commit -qm sub && cd .. && git clone -q --recurse-submodules s a"),
            (
                "maintenance",
                "git clone -q /tmp/srv/repo.git a && cd a && git config maintenance.auto false && \
                git config maintenance.strategy incremental && git config gc.auto 0",
            ),
        ] {
            shell(&f.client, &format!("{AS_USER}; rm -rf a; ({make}) && echo new > a/new")).await;
            let at = |step: &str, error: atoll_client::Error| -> ! { panic!("{name}: {step}: {error}") };
            let before = soon(f.client.git_status(&status("a"))).await.unwrap_or_else(|error| at("status", error));
            assert!(before.entries.iter().any(|entry| entry.path == "new"), "{name}: {before:?}");
            soon(f.client.git_diff(&diff("a"))).await.unwrap_or_else(|error| at("diff", error));
            let made = soon(f.client.git_commit(&commit("a"))).await.unwrap_or_else(|error| at("commit", error));
            let log =
                GitLogRequest { path: "a".into(), from: None, limit: Some(1), paths: vec!["new".into()], user: None };
            let log = soon(f.client.git_log(&log)).await.unwrap_or_else(|error| at("log", error));
            assert_eq!(log[0].commit, made.commit, "{name}");
            let checkout = GitCheckoutRequest {
                path: "a".into(),
                target: format!("topic/{}", name.replace(' ', "-")),
                create: true,
                from: None,
                user: None,
            };
            soon(f.client.git_checkout(&checkout)).await.unwrap_or_else(|error| at("checkout", error));
            let after = soon(f.client.git_status(&status("a"))).await.unwrap();
            assert!(after.entries.iter().all(|entry| entry.path != "new"), "{name}: {after:?}");
        }
    });
}

#[test]
fn pulls_and_pushes_leave_the_repository_as_git_would() {
    run(async |f| {
        let Some(server) = served(f).await else { return skip(NO_TOOLS) };
        let url = format!("{server}/private/repo.git");
        let shallow = GitCloneRequest {
            path: Some("shallow".into()),
            depth: Some(1),
            credentials: me(None, PASSWORD),
            ..from(url.clone())
        };
        let cloned = soon(f.client.git_clone(&shallow, |_| {})).await.unwrap();
        assert_eq!(cloned.branch.as_deref(), Some("main"));
        let whole = GitCloneRequest { path: Some("whole".into()), credentials: me(None, PASSWORD), ..from(url) };
        soon(f.client.git_clone(&whole, |_| {})).await.unwrap();
        assert_eq!(shell(&f.client, "cd whole && git status --porcelain && git fsck 2>&1 && cat file").await, "3\n");
        // A linked worktree pushes its own branch, and follows it then.
        shell(
            &f.client,
            &format!("{AS_USER}; cd whole && git worktree add -q ../linked -b linked && echo 4 > ../linked/file"),
        )
        .await;
        let made = soon(f.client.git_commit(&commit("linked"))).await.unwrap();
        let mine = |path: &str| GitPushRequest { credentials: me(Some(&server), PASSWORD), ..push(path) };
        let pushed =
            soon(f.client.git_push(&GitPushRequest { set_upstream: true, ..mine("linked") }, |_| {})).await.unwrap();
        assert_eq!(pushed.refs[0].to, "refs/heads/linked");
        let followed = soon(f.client.git_status(&status("linked"))).await.unwrap();
        assert_eq!((followed.upstream.as_deref(), followed.ahead), (Some("origin/linked"), Some(0)));
        // Replaced there, on the condition that it is what was seen last.
        shell(&f.client, &format!("{AS_USER}; cd linked && git commit -q --amend -m again")).await;
        assert!(soon(f.client.git_push(&mine("linked"), |_| {})).await.is_err());
        soon(f.client.git_push(&GitPushRequest { force: true, ..mine("linked") }, |_| {})).await.unwrap();
        // Main goes on; the shallow clone and the whole one follow, with tags.
        let more = "git clone -q /tmp/srv/repo.git o && cd o && echo 5 > file && git commit -qam 5 && git tag v5 && \
            git push -q origin main v5";
        shell(&f.client, &format!("{AS_USER}; {more}")).await;
        for path in ["shallow", "whole"] {
            let request = GitPullRequest { credentials: me(Some(&server), PASSWORD), ..pull(path) };
            assert!(soon(f.client.git_pull(&request, |_| {})).await.unwrap().updated, "{path}");
            assert!(!soon(f.client.git_pull(&request, |_| {})).await.unwrap().updated, "{path}");
            assert_eq!(
                shell(&f.client, &format!("cd {path} && cat file && git tag && git status --porcelain")).await,
                "5\nv5\n"
            );
            let seen = soon(f.client.git_status(&status(path))).await.unwrap();
            assert_eq!((seen.upstream.as_deref(), seen.behind), (Some("origin/main"), Some(0)));
        }
        assert_eq!(shell(&f.client, "git -C shallow rev-list --count HEAD").await, "2\n", "it stays shallow");
        let named = GitPullRequest {
            remote: Some("origin".into()),
            branch: Some("main".into()),
            credentials: me(Some(&server), PASSWORD),
            ..pull("linked")
        };
        assert!(soon(f.client.git_pull(&named, |_| {})).await.is_err(), "both sides have commits: only forwards");
        // An empty repository is pulled into as well.
        shell(
            &f.client,
            &format!("{AS_USER}; git init -q fresh && git -C fresh remote add origin {server}/private/repo.git"),
        )
        .await;
        let first = GitPullRequest { branch: Some("main".into()), remote: None, path: "fresh".into(), ..named };
        assert!(soon(f.client.git_pull(&first, |_| {})).await.unwrap().updated);
        assert_eq!(shell(&f.client, "cat fresh/file; ls -d /tmp/atoll-git.* 2>/dev/null || true").await, "5\n");
        assert_ne!(made.commit, "");
    });
}

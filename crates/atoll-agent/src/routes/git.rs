//! Git: the sandbox's own, run for the caller. What takes long can be told as it happens.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;

use atoll_protocol::{
    GitBranches, GitBranchesRequest, GitCheckedOut, GitCheckoutRequest, GitCloneRequest, GitCloned, GitCommitRequest,
    GitCommitted, GitDiff, GitDiffRequest, GitLog, GitLogRequest, GitProgress, GitPullRequest, GitPulled,
    GitPushRequest, GitPushed, GitStatus, GitStatusRequest,
};
use atoll_runtime::Error;
use atoll_runtime::git::Progress;
use axum::Json;
use axum::extract::State;
use axum::response::sse::Event;
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use http::HeaderMap;
use serde::Serialize;
use tokio::sync::mpsc;

use super::Table;
use crate::agent::Agent;
use crate::error::{self, Refusal};
use crate::{extract, sse};

/// How many pieces of progress may wait for a reader that is slow; git waits for nobody.
const WAITING: usize = 64;

/// Every route with its description.
pub(super) fn all() -> Table {
    Table::default()
        .routes(routes!(self::clone))
        .routes(routes!(self::status))
        .routes(routes!(self::diff))
        .routes(routes!(self::commit))
        .routes(routes!(self::checkout))
        .routes(routes!(self::branches))
        .routes(routes!(self::log))
        .routes(routes!(self::pull))
        .routes(routes!(self::push))
}

/// Show how a repository is.
#[utoipa::path(post, path = "/v1/git/status", tag = "git", operation_id = "gitStatus", request_body = GitStatusRequest,
    responses((status = 200, body = GitStatus)))]
async fn status(
    State(agent): State<Agent>,
    extract::Json(request): extract::Json<GitStatusRequest>,
) -> Result<Json<GitStatus>, Refusal> {
    let git = agent.sandbox().git(request.user.clone());
    let status = git.status(&request.path, request.ignored).await?;
    Ok(Json(status))
}

/// Show what is different, as a patch.
#[utoipa::path(post, path = "/v1/git/diff", tag = "git", operation_id = "gitDiff", request_body = GitDiffRequest,
    responses((status = 200, body = GitDiff)))]
async fn diff(
    State(agent): State<Agent>,
    extract::Json(request): extract::Json<GitDiffRequest>,
) -> Result<Json<GitDiff>, Refusal> {
    let git = agent.sandbox().git(request.user.clone());
    Ok(Json(git.diff(&request).await?))
}

/// Make a commit.
#[utoipa::path(post, path = "/v1/git/commit", tag = "git", operation_id = "gitCommit", request_body = GitCommitRequest,
    responses((status = 200, body = GitCommitted)))]
async fn commit(
    State(agent): State<Agent>,
    extract::Json(request): extract::Json<GitCommitRequest>,
) -> Result<Json<GitCommitted>, Refusal> {
    let git = agent.sandbox().git(request.user.clone());
    Ok(Json(git.commit(&request).await?))
}

/// Check out a branch, a tag or a commit.
#[utoipa::path(post, path = "/v1/git/checkout", tag = "git", operation_id = "gitCheckout", request_body = GitCheckoutRequest,
    responses((status = 200, body = GitCheckedOut)))]
async fn checkout(
    State(agent): State<Agent>,
    extract::Json(request): extract::Json<GitCheckoutRequest>,
) -> Result<Json<GitCheckedOut>, Refusal> {
    let git = agent.sandbox().git(request.user.clone());
    Ok(Json(git.checkout(&request).await?))
}

/// List branches.
#[utoipa::path(post, path = "/v1/git/branches", tag = "git", operation_id = "gitBranches", request_body = GitBranchesRequest,
    responses((status = 200, body = GitBranches)))]
async fn branches(
    State(agent): State<Agent>,
    extract::Json(request): extract::Json<GitBranchesRequest>,
) -> Result<Json<GitBranches>, Refusal> {
    let git = agent.sandbox().git(request.user.clone());
    let branches = git.branches(&request.path, request.remotes).await?;
    Ok(Json(GitBranches { branches }))
}

/// List commits, newest first.
#[utoipa::path(post, path = "/v1/git/log", tag = "git", operation_id = "gitLog", request_body = GitLogRequest,
    responses((status = 200, body = GitLog)))]
async fn log(
    State(agent): State<Agent>,
    extract::Json(request): extract::Json<GitLogRequest>,
) -> Result<Json<GitLog>, Refusal> {
    let git = agent.sandbox().git(request.user.clone());
    Ok(Json(GitLog { commits: git.log(&request).await? }))
}

/// Fetch a repository.
///
/// Credentials reach git through a pipe, for one server: they are in no argument, variable, file or log of the sandbox.
///
/// With `accept: text/event-stream` the answer is a stream: `progress` (a GitProgress), and at last `end` with the
/// GitCloned, or `error`. A caller that goes away ends it.
#[utoipa::path(post, path = "/v1/git/clone", tag = "git", operation_id = "gitClone", request_body = GitCloneRequest,
    responses((status = 200, content((GitCloned = "application/json"), (String = "text/event-stream")))))]
async fn clone(
    State(agent): State<Agent>,
    headers: HeaderMap,
    extract::Json(request): extract::Json<GitCloneRequest>,
) -> Result<Response, Refusal> {
    let git = agent.sandbox().git(request.user.clone());
    answer(&headers, move |progress| Box::pin(async move { git.clone(&request, progress).await })).await
}

/// Fetch what is new into a repository, and go on to it if nothing is in the way.
///
/// With `accept: text/event-stream` the answer is a stream: `progress` (a GitProgress), and at last `end` with the
/// GitPulled, or `error`. A caller that goes away ends it.
#[utoipa::path(post, path = "/v1/git/pull", tag = "git", operation_id = "gitPull", request_body = GitPullRequest,
    responses((status = 200, content((GitPulled = "application/json"), (String = "text/event-stream")))))]
async fn pull(
    State(agent): State<Agent>,
    headers: HeaderMap,
    extract::Json(request): extract::Json<GitPullRequest>,
) -> Result<Response, Refusal> {
    let git = agent.sandbox().git(request.user.clone());
    answer(&headers, move |progress| Box::pin(async move { git.pull(&request, progress).await })).await
}

/// Send commits to another repository.
///
/// With `accept: text/event-stream` the answer is a stream: `progress` (a GitProgress), and at last `end` with the
/// GitPushed, or `error`. A caller that goes away ends it.
#[utoipa::path(post, path = "/v1/git/push", tag = "git", operation_id = "gitPush", request_body = GitPushRequest,
    responses((status = 200, content((GitPushed = "application/json"), (String = "text/event-stream")))))]
async fn push(
    State(agent): State<Agent>,
    headers: HeaderMap,
    extract::Json(request): extract::Json<GitPushRequest>,
) -> Result<Response, Refusal> {
    let git = agent.sandbox().git(request.user.clone());
    answer(&headers, move |progress| Box::pin(async move { git.push(&request, progress).await })).await
}

/// What git is doing.
type Doing<T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send>>;

async fn answer<T: Serialize + Send + 'static>(
    headers: &HeaderMap,
    start: impl FnOnce(Option<Progress>) -> Doing<T>,
) -> Result<Response, Refusal> {
    if !sse::accepted(headers) {
        return Ok(Json(start(None).await?).into_response());
    }
    let (progress, told) = mpsc::channel(WAITING);
    let telling = Telling { doing: Some(start(Some(progress))), told };
    Ok(sse::answer(stream::unfold(telling, async |mut telling| {
        let event = telling.next().await?;
        Some((Ok::<_, Infallible>(event), telling))
    })))
}

/// Git at work, told as it happens. Dropped, it is ended.
struct Telling<T> {
    doing: Option<Doing<T>>,
    told: mpsc::Receiver<GitProgress>,
}

impl<T: Serialize> Telling<T> {
    /// `None` after the last.
    async fn next(&mut self) -> Option<Event> {
        let doing = self.doing.as_mut()?;
        let done = tokio::select! {
            biased;
            Some(progress) = self.told.recv() => return Some(sse::event("progress", &progress)),
            done = doing => done,
        };
        self.doing = None;
        Some(match done {
            Ok(result) => sse::event("end", &result),
            Err(failed) => sse::failed(&error::body(&failed)),
        })
    }
}

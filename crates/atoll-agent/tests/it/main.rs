//! The HTTP API against real sandboxes, as clients see it: one file per behaviour.
//!
//! A test that cannot run on this machine says `SKIP <test>: <reason>`; with `ATOLL_FORBID_SKIPS` set it fails.

#![expect(clippy::unwrap_used, reason = "clippy takes only functions marked #[test] for tests; here everything is one")]

mod harness;
mod proxy;
mod raw;

mod a_slow_client_slows_nobody;
mod answers_before_their_request;
mod attaching_to_a_process;
mod bad_requests_are_refused_in_one_shape;
mod broken_lines_lose_nothing;
mod commands_run_to_their_end;
mod files_come_and_go;
mod git_configuration;
mod git_is_the_sandboxes_own;
mod git_ordinary;
mod input_is_written_at_offsets;
mod output_is_read_by_cursor;
mod ports_are_connected_to;
mod processes_have_a_life_of_their_own;
mod servers_come_and_go;
mod sessions_remember;
mod streams_tell_what_happens;
mod terminals_are_shared;
mod trees_are_searched_and_packed;
mod trees_are_watched;
mod who_goes_away_may_end_the_command;

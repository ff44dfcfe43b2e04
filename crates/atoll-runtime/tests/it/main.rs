//! The contract of the runtime, told by what a user of it sees: one file per behaviour, each behaviour in every mode.
//!
//! A test that cannot run on this machine says `SKIP <test>: <reason>`; with `ATOLL_FORBID_SKIPS` set it fails.

#![expect(clippy::unwrap_used, reason = "clippy takes only functions marked #[test] for tests; here everything is one")]

#[macro_use]
mod harness;

mod a_life_is_remembered;
mod a_locale_is_one_file;
mod a_paused_sandbox_stands_still;
mod background_children_outlive_their_command;
mod commands_run_side_by_side;
mod egress;
mod end_record_is_exact;
mod env_cwd_and_user_are_per_call;
mod files_are_bounded;
mod files_are_read_and_written;
mod files_fail_by_name;
mod files_races_reach_nothing_else;
mod git_credentials;
mod going_away_leaves_nothing;
mod heavy_kill_trials;
mod heavy_one_gigabyte;
mod heavy_session_trials;
mod ids_are_idempotent;
mod input_arrives_exactly;
mod kept_storage_outlives_its_sandbox;
mod kill_means_the_tree;
mod limits_end_the_tree;
mod list_remove_and_retention;
mod output_is_exact;
mod ports_are_seen_and_reached;
mod readers_slow_nobody;
mod refused_before_anything_runs;
mod restart_and_readiness;
mod session_equals_bash;
mod session_remembers;
mod session_torture;
mod signals_reach_main_or_tree;
mod terminal_ids_have_one_program;
mod terminal_is_a_real_one;
mod terminal_screens_and_recordings;
mod terminal_viewers_come_and_go;
mod wait_for_exit_and_log;
mod wait_for_input;
mod wait_for_port;

//! Files, a file of routes per kind of thing done to them. Paths that are not absolute start at `/workspace`.

pub(super) mod change;
pub(super) mod content;
pub(super) mod list;
mod passing;
pub(super) mod task;
pub(super) mod upload;

use super::Table;

/// Every route with its description.
pub(super) fn all() -> Table {
    Table::default()
        .routes(routes!(content::read, content::write))
        .routes(routes!(content::write_text))
        .routes(routes!(list::stat))
        .routes(routes!(list::exists))
        .routes(routes!(list::list))
        .routes(routes!(change::remove))
        .routes(routes!(change::make_directory))
        .routes(routes!(change::rename))
        .routes(routes!(change::move_to))
        .routes(routes!(change::copy))
        .routes(routes!(change::set_mode))
        .routes(routes!(change::make_link))
        .routes(routes!(task::search))
        .routes(routes!(task::glob))
        .routes(routes!(task::edit))
        .routes(routes!(task::patch))
        .routes(routes!(task::pack, task::unpack))
        // It is read part by part, and has no end but the disk's.
        .streaming(routes!(upload::upload))
}

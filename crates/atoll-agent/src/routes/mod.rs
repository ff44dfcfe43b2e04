//! The routes, one file per thing. Each takes its request apart, calls one method of the runtime and maps the error.
//!
//! A new thing gets a file here and a line in [`all`].

#[macro_use]
mod table;

mod exec;
mod files;
mod git;
mod network;
mod output;
mod port_connect;
mod ports;
mod process;
mod process_attach;
mod processes;
mod sandbox;
mod session;
mod sessions;
mod snapshot;
mod socket;
mod stdin;
mod terminal;
mod terminal_attach;
mod terminals;
mod watch_attach;
mod watches;

pub(crate) use table::Table;

/// Every route with its description.
pub(crate) fn all() -> Table {
    Table::default()
        .routes(routes!(sandbox::show, sandbox::delete))
        .routes(routes!(sandbox::pause))
        .routes(routes!(sandbox::resume))
        .routes(routes!(network::show, network::put))
        .routes(routes!(network::events))
        .routes(routes!(network::secrets))
        .routes(routes!(network::put_secret, network::delete_secret))
        .routes(routes!(exec::exec))
        .routes(routes!(processes::start, processes::list))
        .routes(routes!(processes::kill))
        .routes(routes!(process::show, process::remove))
        .routes(routes!(process::kill))
        .routes(routes!(process::signal))
        .routes(routes!(process::wait))
        .routes(routes!(output::of_process))
        .routes(routes!(stdin::write, stdin::close))
        .routes(routes!(process_attach::attach))
        .routes(routes!(sessions::create, sessions::list))
        .routes(routes!(session::show, session::delete))
        .routes(routes!(session::exec))
        .routes(routes!(session::queue))
        .routes(routes!(session::cancel))
        .routes(routes!(session::interrupt))
        .routes(routes!(session::kill))
        .routes(routes!(session::restart))
        .routes(routes!(session::fork))
        .routes(routes!(session::start))
        .routes(routes!(snapshot::of_session))
        .routes(routes!(ports::list))
        .routes(routes!(ports::events))
        .routes(routes!(port_connect::connect))
        .routes(routes!(terminals::open, terminals::list))
        .routes(routes!(terminal::show, terminal::delete))
        .routes(routes!(terminal::resize))
        .routes(routes!(terminal::signal))
        .routes(routes!(terminal::wait))
        .routes(routes!(terminal::input))
        .routes(routes!(output::of_terminal))
        .routes(routes!(terminal::screen))
        .routes(routes!(terminal::recording))
        .routes(routes!(terminal_attach::attach))
        .routes(routes!(watches::create, watches::list))
        .routes(routes!(watches::show, watches::delete))
        .routes(routes!(watches::events))
        .routes(routes!(watch_attach::attach))
        .merge(files::all())
        .merge(git::all())
}

//! Routes and their descriptions as one list, of which each half can be had without the other: an agent serves the routes
//! and never looks at the descriptions, which are by far the larger part.

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::handler::Handler;
use axum::routing::MethodRouter;
use utoipa::Path;
use utoipa::openapi::OpenApi;
use utoipa_axum::PathItemExt;
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouter};

use crate::agent::Agent;

/// Every route so far.
#[derive(Default)]
pub(crate) struct Table {
    entries: Vec<Entry>,
    /// Those whose bodies may be as large as they like.
    streaming: Vec<Entry>,
}

/// The handlers of one path.
pub(super) struct Entry {
    pub(super) serve: fn() -> (String, MethodRouter<Agent>),
    pub(super) describe: fn() -> UtoipaMethodRouter<Agent>,
}

/// Handlers of one path that have a `utoipa::path`, for [`Table::routes`]: `module::handler` each, or `self::handler`.
macro_rules! routes {
    ($module:ident :: $handler:ident $(, $others:ident :: $other:ident)* $(,)?) => {
        utoipa_axum::paste! {
            $crate::routes::table::Entry {
                serve: || {
                    use $crate::routes::table::on;
                    let path = <$module::[<__path_ $handler>] as utoipa::Path>::path();
                    let router = on::<$module::[<__path_ $handler>], _, _>(Default::default(), $module::$handler);
                    $( let router = on::<$others::[<__path_ $other>], _, _>(router, $others::$other); )*
                    (path, router)
                },
                describe: || utoipa_axum::routes!($module::$handler $(, $others::$other)*),
            }
        }
    };
}

/// The handler for the methods of its description.
pub(super) fn on<P: Path, H: Handler<T, Agent>, T: 'static>(
    router: MethodRouter<Agent>,
    handler: H,
) -> MethodRouter<Agent> {
    P::methods().iter().fold(router, |router, method| router.on(method.to_method_filter(), handler.clone()))
}

impl Table {
    /// With the handlers of one more path.
    pub(super) fn routes(mut self, entry: Entry) -> Self {
        self.entries.push(entry);
        self
    }

    /// With the handlers of one more path, whose bodies may be as large as they like: nobody holds them in memory.
    pub(super) fn streaming(mut self, entry: Entry) -> Self {
        self.streaming.push(entry);
        self
    }

    /// With all of another.
    pub(super) fn merge(mut self, other: Self) -> Self {
        self.entries.extend(other.entries);
        self.streaming.extend(other.streaming);
        self
    }

    /// To be served.
    pub(crate) fn router(self) -> Router<Agent> {
        served(&self.streaming).layer(DefaultBodyLimit::disable()).merge(served(&self.entries))
    }

    /// To be read.
    pub(crate) fn description(self) -> OpenApi {
        let empty = OpenApiRouter::<Agent>::new();
        let all = self.entries.iter().chain(&self.streaming);
        all.fold(empty, |all, entry| all.routes((entry.describe)())).into_openapi()
    }
}

fn served(entries: &[Entry]) -> Router<Agent> {
    let entries = entries.iter().map(|entry| (entry.serve)());
    entries.fold(Router::new(), |all, (path, router)| all.route(&path, router))
}

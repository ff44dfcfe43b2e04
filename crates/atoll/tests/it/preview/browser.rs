//! Previews in a real browser: a development server with hot replacement, a listing, events, sockets, uploads, in both
//! forms, by names that nobody set up.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use atoll_protocol::{ExposePort, LinkRequest, SandboxName, StartRequest, Visibility, WaitFor, WaitRequest};
use serde_json::{Value, json};

use super::{PORT, Shown, public};
use crate::harness::{Call, Home, Running, command, on_path, skip};
use crate::server::{Server, sh, wait};

/// Where `scripts/test` installs what the browser is driven with.
fn installed() -> Option<PathBuf> {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().join("browser");
    let missing = ["chromium", "node", "python3"].into_iter().find(|program| !on_path(program));
    if let Some(program) = missing {
        skip(&format!("no {program} on this host"));
        return None;
    }
    if !dir.join("node_modules/playwright-core").exists() || !dir.join("node_modules/vite").exists() {
        skip("scripts/test has not installed the browser's driver");
        return None;
    }
    Some(dir)
}

/// A browser that does as it is told.
struct Browser(Running);

impl Browser {
    fn start(dir: &Path, home: &Home) -> Self {
        let script = dir.join("look.mjs");
        fs::copy(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/browser/look.mjs"), &script).unwrap();
        let mut node = command("node");
        node.arg(script).current_dir(home.cwd()).env("CHROMIUM", "/usr/bin/chromium").env("HOME", home.cwd());
        node.stdout(Stdio::piped()).stderr(Stdio::piped());
        Self(Call { command: node }.start_with_stdin())
    }

    #[track_caller]
    fn told(&mut self, deed: &str, mut given: Value) -> Value {
        given["deed"] = deed.into();
        self.0.tell(&format!("{given}\n"));
        let told: Value = serde_json::from_str(&self.0.line()).unwrap();
        assert!(told.get("failed").is_none(), "{given}: {told:#}");
        told
    }

    fn end(mut self) {
        let told = self.told("complaints", json!({}));
        assert_eq!(told["complaints"], json!([]));
        let done = self.0.done();
        assert_eq!(done.code, Some(0), "{done:?}");
    }
}

/// Both URLs.
fn urls(shown: &Shown) -> [String; 2] {
    [shown.preview.url.clone().unwrap(), shown.preview.path_url.clone().unwrap()]
}

#[test]
fn heavy_a_page_uses_its_server_in_a_browser() {
    let Some(dir) = installed() else { return };
    let home = Home::new();
    let server = Server::start(&home, &[]);
    let shown = wait(super::show(&server, public()));
    let client = server.client();
    wait(sh(&client, &shown.name, "mkdir -p site && echo 'from a file' > site/page.txt"));
    let listing = StartRequest::shell("exec python3 -m http.server 8000 --bind 127.0.0.1 --directory site");
    let listing = wait(client.inside(&shown.name).start(&listing)).unwrap().id;
    let condition = atoll_protocol::PortCondition { port: 8000, http: None };
    let request = WaitRequest { r#for: WaitFor::Port(condition), timeout_ms: Some(20_000) };
    wait(client.inside(&shown.name).wait(&listing, &request)).unwrap();
    let listed = wait(client.expose(&shown.name, 8000, &public())).unwrap();
    let mut browser = Browser::start(&dir, &home);
    for url in urls(&shown) {
        browser.told("open", json!({ "url": format!("{url}page"), "text": "hello" }));
        let used = browser.told("use", json!({ "base": url }));
        assert_eq!(used["events"], json!(["0", "1", "2", "3", "4"]));
        assert_eq!(used["echoed"], "hello from a page");
        assert_eq!((&used["uploaded"], &used["downloaded"]), (&8_388_608.into(), &8_388_608.into()));
        assert_eq!(used["cookie"], "a=1", "a cookie comes back to the one who set it");
    }
    for url in [listed.url.unwrap(), listed.path_url.unwrap()] {
        browser.told("open", json!({ "url": url, "text": "page.txt" }));
        let clicked = browser.told("click", json!({ "text": "page.txt" }));
        assert_eq!(clicked["body"].as_str().unwrap().trim(), "from a file");
        assert_eq!(clicked["url"], format!("{url}page.txt"));
    }
    let asked = ExposePort { visibility: Some(Visibility::Private), ..public() };
    wait(client.expose(&shown.name, PORT, &asked)).unwrap();
    let link = wait(client.preview_link(&shown.name, PORT, &LinkRequest::default())).unwrap();
    for (link, url) in [link.url, link.path_url].into_iter().zip(urls(&shown)) {
        browser.told("open", json!({ "url": format!("{url}page"), "text": "this preview is private" }));
        let opened = browser.told("open", json!({ "url": link.replacen("/?", "/page?", 1), "text": "hello" }));
        assert_eq!(opened["url"], format!("{url}page"), "the link is gone from the address");
        assert_eq!(browser.told("use", json!({ "base": url }))["echoed"], "hello from a page");
    }
    browser.end();
    server.end();
}

/// A page that shows what a module says, and takes another one without being loaded anew.
const PAGE: &str = "<!doctype html><title>vite</title><p id=said></p><script type=module src=./main.js></script>";
const MAIN: &str = "import { said } from './said.js';\n\
    document.getElementById('said').textContent = said;\n\
    import.meta.hot.accept('./said.js', (next) => { document.getElementById('said').textContent = next.said; });\n";

/// Vite in a sandbox, with the name that its URL will have.
fn vite(server: &Server<'_>, name: &SandboxName, port: u16, base: &str, dir: &str) {
    let client = server.client();
    let script = format!(
        "mkdir -p {dir} && cd {dir} && printf '%s' \"$PAGE\" > index.html && printf '%s' \"$MAIN\" > main.js && \
         echo \"export const said = 'first words';\" > said.js"
    );
    let env = [("PAGE".to_owned(), Some(PAGE.to_owned())), ("MAIN".to_owned(), Some(MAIN.to_owned()))];
    let request = atoll_protocol::ExecRequest { env: env.into(), ..atoll_protocol::ExecRequest::shell(script) };
    assert!(wait(client.inside(name).exec(&request)).unwrap().end.success());
    let start = format!(
        "cd {dir} && exec node /workspace/node_modules/vite/bin/vite.js --host 127.0.0.1 --port {port} --strictPort --base {base}"
    );
    let id = wait(client.inside(name).start(&StartRequest::shell(start))).unwrap().id;
    let condition = atoll_protocol::PortCondition { port, http: None };
    let request = WaitRequest { r#for: WaitFor::Port(condition), timeout_ms: Some(60_000) };
    wait(client.inside(name).wait(&id, &request)).unwrap();
}

#[test]
fn heavy_a_development_server_replaces_modules_in_a_browser() {
    let Some(dir) = installed() else { return };
    let home = Home::new();
    let server = Server::start(&home, &[]);
    let name = wait(server.sandbox());
    let client = server.client();
    pack(&server, &dir, &name);
    let at_host = wait(client.expose(&name, 5173, &public())).unwrap();
    let below = ExposePort { keep_prefix: Some(true), ..public() };
    let below = wait(client.expose(&name, 5174, &below)).unwrap();
    let (at_host, path_url) = (at_host.url.unwrap(), below.path_url.unwrap());
    let base = &path_url[path_url.find("/preview/").unwrap()..];
    vite(&server, &name, 5173, "/", "one");
    vite(&server, &name, 5174, base, "two");
    let mut browser = Browser::start(&dir, &home);
    for (url, dir) in [(at_host, "one"), (path_url.clone(), "two")] {
        // The socket by which changes are told is open once the page says so itself.
        let asked = json!({ "url": url, "text": "first words", "says": "[vite] connected" });
        assert_eq!(browser.told("open", asked)["title"], "vite");
        wait(sh(&client, &name, &format!("cd {dir} && echo \"export const said = 'second words';\" > said.js")));
        let replaced = browser.told("wait", json!({ "text": "second words" }));
        assert_eq!(replaced["same"], true, "replaced, not loaded anew");
    }
    browser.end();
    server.end();
}

/// Brings the installed modules into the sandbox.
fn pack(server: &Server<'_>, dir: &Path, name: &SandboxName) {
    let mut tar = command("tar");
    tar.args(["cf", "-", "--exclude=playwright-core", "node_modules"]).current_dir(dir);
    let packed = tar.output().unwrap();
    assert!(packed.status.success(), "{packed:?}");
    let call = server.home.atoll(["exec", name.as_str(), "--stdin", "--", "tar xf -"]);
    let done = call.done_with(packed.stdout);
    assert_eq!(done.code, Some(0), "{done:?}");
}

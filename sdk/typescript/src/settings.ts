// Where the server is and by which token it is asked: what the caller says, variables, the file, this machine's own.
//
// The same places, in the same order, as the command line has them, and `ATOLL_TOKEN` for the token itself. In a browser
// there is only what the caller says, and the page's own origin.

import { InvalidError } from "./failure.js";
import { builtin, isRoot, variable } from "./platform.js";

/** `unix:PATH`, `http://HOST:PORT` or `https://HOST`. */
export interface Address {
  /** What paths are put behind. */
  readonly url: string;
  /** The socket, if it is one. */
  readonly socket?: string | undefined;
}

export interface Settings {
  readonly address: Address;
  readonly token: string | undefined;
}

export function parseAddress(text: string): Address {
  if (text.startsWith("unix:") && text.length > "unix:".length) {
    return { url: "http://localhost", socket: text.slice("unix:".length) };
  }
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !["http:", "https:"].includes(url.protocol) || !url.hostname || url.search || url.hash) {
    throw new InvalidError(`\`${text}\` is no server`, "give http://HOST:PORT, https://HOST or unix:PATH");
  }
  return { url: url.origin + url.pathname.replace(/\/+$/, "") };
}

export function showAddress(address: Address): string {
  return address.socket ? `unix:${address.socket}` : address.url;
}

/** Whether what is sent stays on this machine: the first token is for no other. */
export function isLocal(address: Address): boolean {
  if (address.socket) return true;
  const host = new URL(address.url).hostname;
  return host === "localhost" || host === "[::1]" || /^127(\.\d+){3}$/.test(host);
}

/** Looks everywhere. */
export function findSettings(server: string | undefined, token: string | undefined): Settings {
  const written = readFile();
  const named = server || variable("ATOLL_SERVER") || written.get("server") || pageOrigin();
  const own = `${stateDirectory()}/server`;
  const address = named ? parseAddress(named) : { url: "http://localhost", socket: `${own}/server.sock` };
  const found = token || variable("ATOLL_TOKEN") || tokenFromFile(address, written.get("token_file"), `${own}/root-token`);
  if (found !== undefined && !/^[\x21-\x7e]+$/.test(found)) {
    throw new InvalidError("the token has characters that cannot be sent");
  }
  return { address, token: found };
}

function pageOrigin(): string | undefined {
  const origin = (globalThis as { location?: { origin?: string } }).location?.origin;
  return origin?.startsWith("http") && !builtin("node:fs") ? origin : undefined;
}

function tokenFromFile(address: Address, written: string | undefined, own: string): string | undefined {
  const fs = builtin("node:fs");
  const named = variable("ATOLL_TOKEN_FILE") || written;
  if (named) {
    try {
      return fs?.readFileSync(named, "utf8").trim();
    } catch (error) {
      throw new InvalidError(`cannot read the token in ${named}: ${why(error)}`, undefined, error);
    }
  }
  // The first token of this machine's server is for this machine alone, and a server that wants none has none.
  if (!fs || !isLocal(address)) return undefined;
  try {
    return fs.readFileSync(own, "utf8").trim();
  } catch {
    return undefined;
  }
}

function homeDirectory(): string {
  return variable("HOME") ?? builtin("node:os")?.homedir() ?? "";
}

function absolute(name: string): string | undefined {
  const path = variable(name);
  return path?.startsWith("/") ? path : undefined;
}

function stateDirectory(): string {
  const home = variable("ATOLL_HOME");
  if (home) return `${home}/state`;
  if (isRoot()) return "/var/lib/atoll";
  return `${absolute("XDG_STATE_HOME") ?? `${homeDirectory()}/.local/state`}/atoll`;
}

function filePath(): string {
  const home = variable("ATOLL_HOME");
  if (home) return `${home}/config`;
  if (isRoot()) return "/etc/atoll/config";
  return `${absolute("XDG_CONFIG_HOME") ?? `${homeDirectory()}/.config`}/atoll/config`;
}

/** Lines of `name = value`, and comments. */
function readFile(): Map<string, string> {
  const written = new Map<string, string>();
  const fs = builtin("node:fs");
  const path = filePath();
  if (!fs?.existsSync(path)) return written;
  let text: string;
  try {
    text = fs.readFileSync(path, "utf8");
  } catch (error) {
    throw new InvalidError(`cannot read ${path}: ${why(error)}`, undefined, error);
  }
  for (const line of text.split("\n").map((each) => each.trim())) {
    if (line === "" || line.startsWith("#")) continue;
    const [, name, value] = /^([^=]*?)\s*=\s*(.*)$/.exec(line) ?? [];
    if (value === undefined || (name !== "server" && name !== "token_file")) {
      throw new InvalidError(`${path}: \`${line}\` is neither server = … nor token_file = …`);
    }
    written.set(name, value.replace(/^"+|"+$/g, ""));
  }
  return written;
}

function why(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

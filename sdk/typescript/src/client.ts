// A server: its sandboxes, and the tokens by which others may use them.

import { RefusedError } from "./failure.js";
import type { Fetch } from "./fetch-wire.js";
import type * as models from "./models.js";
import { Place } from "./place.js";
import { Sandbox } from "./sandbox.js";
import { findSettings, showAddress } from "./settings.js";
import { madeUp } from "./streams.js";
import { Transport, encode, segment } from "./transport.js";

/** How many sandboxes are asked for at once. */
const PAGE = 200;
/** How long streams look for a server that is gone, in milliseconds. */
const PATIENCE = 60_000;

/**
 * Where the server is. What is not said is taken from where the command line takes it: `ATOLL_SERVER`, `ATOLL_TOKEN`,
 * `ATOLL_TOKEN_FILE`, the configuration file, this user's own server on this machine; in a browser, the page's origin.
 */
export interface ClientOptions {
  /** `http://HOST:PORT`, `https://HOST` or `unix:PATH`. */
  readonly server?: string | undefined;
  readonly token?: string | undefined;
  /** How long streams look for a server that is gone before they give up, in milliseconds. */
  readonly patience?: number | undefined;
  /** Asks by this instead of the platform's own HTTP client. */
  readonly fetch?: Fetch | undefined;
}

/** What getting or making a sandbox takes. */
export interface SandboxOptions extends models.SandboxOptions {}

/** A server. */
export class Client {
  /** Where it is. */
  readonly address: string;
  readonly sandboxes: Sandboxes;
  readonly tokens: Tokens;
  #transport: Transport;

  constructor(options: ClientOptions = {}) {
    const settings = findSettings(options.server, options.token);
    this.address = showAddress(settings.address);
    this.#transport = new Transport(settings, options.patience ?? PATIENCE, options.fetch);
    this.sandboxes = new Sandboxes(this.#transport);
    this.tokens = new Tokens(this.#transport);
  }

  /** The sandbox of this name, without asking whether it is there. */
  sandbox(name: string): Sandbox {
    return new Sandbox(new Place(this.#transport, `/v1/sandboxes/${segment(name)}`), name);
  }

  /** Whether the server can serve. */
  async isReady(): Promise<boolean> {
    try {
      await this.#transport.call("GET", "/readyz");
      return true;
    } catch (error) {
      if (error instanceof RefusedError) return false;
      throw error;
    }
  }

  /** Its metrics, in the text format of Prometheus. */
  async metrics(): Promise<string> {
    return new TextDecoder().decode(await this.#transport.call("GET", "/metrics"));
  }

  /** Closes its connections. */
  close(): void {
    this.#transport.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }
}

/** The sandboxes of a server. */
export class Sandboxes {
  #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** The sandbox of this name, which is made by its first use if there is none. */
  lazily(name: string, options: SandboxOptions = {}, owned?: Client): Sandbox {
    const path = `/v1/sandboxes/${segment(name)}`;
    const body = encode("SandboxOptions", options);
    return new Sandbox(new Place(this.#transport, path, () => this.#make(path, body as object)), name, false, owned);
  }

  /** The sandbox of this name, made if there is none. Options that differ from its own are a `SandboxDiffersError`. */
  async get(name: string, options: SandboxOptions = {}): Promise<Sandbox> {
    const path = `/v1/sandboxes/${segment(name)}`;
    await this.#make(path, encode("SandboxOptions", options) as object);
    return new Sandbox(new Place(this.#transport, path), name);
  }

  /** A new sandbox with a name that is made up; with a name, the one that has it. */
  async create(options: SandboxOptions & { name?: string } = {}): Promise<Sandbox> {
    const { name, ...rest } = options;
    return name === undefined ? this.#create(rest, false) : this.get(name, rest);
  }

  /** A new sandbox that is destroyed at the end of the `await using` block. */
  temporary(options: SandboxOptions = {}, owned?: Client): Promise<Sandbox> {
    return this.#create(options, true, owned);
  }

  /** Every sandbox that has these labels, by name. */
  async *list(options: { labels?: Readonly<Record<string, string>> } = {}): AsyncGenerator<models.SandboxRecord, void> {
    const label = Object.entries(options.labels ?? {}).map(([name, value]) => `${name}=${value}`);
    let after: string | undefined;
    do {
      const page: models.SandboxList = await this.#transport.get("SandboxList", "/v1/sandboxes", { label, after, limit: PAGE });
      yield* page.sandboxes;
      after = page.next;
    } while (after !== undefined);
  }

  /** Ends a sandbox and removes everything of it. */
  async delete(name: string): Promise<void> {
    await this.#transport.call("DELETE", `/v1/sandboxes/${segment(name)}`);
  }

  async #create(options: SandboxOptions, temporary: boolean, owned?: Client): Promise<Sandbox> {
    // Asked for again after a broken line, the same key means the same sandbox.
    const headers = { "idempotency-key": madeUp() };
    const body = encode("SandboxOptions", options);
    const made = await this.#transport.post("SandboxRecord", "/v1/sandboxes", body, { headers, repeat: "safe" });
    return new Sandbox(new Place(this.#transport, `/v1/sandboxes/${segment(made.name)}`), made.name, temporary, owned);
  }

  async #make(path: string, body: object): Promise<void> {
    if (Object.keys(body).length === 0 && (await this.#isThere(path))) return;
    await this.#transport.call("PUT", path, { body, repeat: "safe" });
  }

  async #isThere(path: string): Promise<boolean> {
    try {
      await this.#transport.call("GET", path);
      return true;
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error;
      if (error.code === "SANDBOX_NOT_FOUND") return false;
      // A token may be good for using a sandbox and not for looking at it.
      if (error.code === "FORBIDDEN") return true;
      throw error;
    }
  }
}

/** The tokens of a server. Asking needs one that may do everything. */
export class Tokens {
  #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Makes a token. It is shown this once. `expiresIn` is in milliseconds. */
  create(options: models.CreateToken): Promise<models.NewToken> {
    return this.#transport.post("NewToken", "/v1/tokens", encode("CreateToken", options));
  }

  /** Every token, without its secret; oldest first. */
  async list(): Promise<readonly models.TokenInfo[]> {
    return (await this.#transport.get("TokenList", "/v1/tokens")).tokens;
  }

  /** Ends a token. */
  async revoke(id: string): Promise<void> {
    await this.#transport.call("DELETE", `/v1/tokens/${segment(id)}`);
  }
}

/**
 * The sandbox of this name. It is made by its first use if there is none; with options that differ from its own, that use
 * is a `SandboxDiffersError`. For more than one sandbox, or to close connections yourself, make a `Client`.
 */
export function getSandbox(name: string, options: SandboxOptions & ClientOptions = {}): Sandbox {
  const [client, rest] = split(options);
  return client.sandboxes.lazily(name, rest, client);
}

/** A new sandbox, which is destroyed at the end of the `await using` block. */
export async function temporarySandbox(options: SandboxOptions & ClientOptions = {}): Promise<Sandbox> {
  const [client, rest] = split(options);
  try {
    return await client.sandboxes.temporary(rest, client);
  } catch (error) {
    client.close();
    throw error;
  }
}

function split(options: SandboxOptions & ClientOptions): [Client, SandboxOptions] {
  const { server, token, patience, fetch, ...rest } = options;
  return [new Client({ server, token, patience, fetch }), rest];
}

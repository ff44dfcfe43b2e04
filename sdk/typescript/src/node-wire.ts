// Requests by the platform's own HTTP client, in Node, Bun and Deno.
//
// Not by `fetch`: that gives up on an answer that takes longer than five minutes, knows no unix sockets, and no header
// on a WebSocket.

import type { ClientRequest, IncomingMessage, RequestOptions } from "node:http";
import type { Socket } from "node:net";

import { AtollError, BrokenError, UnreachableError } from "./failure.js";
import { builtin } from "./platform.js";
import { refusal } from "./refusal.js";
import { type Address, isLocal, showAddress } from "./settings.js";
import { WebSocketLine, acceptKey, newKey } from "./websocket.js";
import { type Answer, type Line, type Pipe, type Question, type Wire, collect, leavable, queryText } from "./wire.js";

/** Shorter than the server waits for the next request (10 s): one must not meet a connection that is being closed. */
const IDLE_MAX = 5_000;
/** A connection stands or fails within so many milliseconds. */
const CONNECT_WITHIN = 10_000;
/** An answer may take hours, so that no time limit tells a dead line from a long command. The kernel can. */
const KEEP_ALIVE_AFTER = 20_000;

type Http = NonNullable<ReturnType<typeof builtin<"node:http">>>;

export class NodeWire implements Wire {
  #address: Address;
  #module: Pick<Http, "request" | "Agent">;
  #agent: InstanceType<Http["Agent"]>;

  constructor(address: Address, http: Http) {
    this.#address = address;
    const secure = address.url.startsWith("https:") ? builtin("node:https") : undefined;
    this.#module = (secure as unknown as Http | undefined) ?? http;
    this.#agent = new this.#module.Agent({ keepAlive: true, timeout: IDLE_MAX, keepAliveMsecs: KEEP_ALIVE_AFTER });
  }

  async ask(question: Question): Promise<Answer> {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const request = this.#request(question.path, {
        method: question.method,
        headers: { ...question.headers, ...length(question.body) },
        agent: this.#agent,
        ...(question.signal ? { signal: question.signal } : {}),
      });
      request.on("response", resolve);
      request.on("error", (error) => reject(this.#failed(error, request, question.signal)));
      // The agent's limit is for idle connections; one that has a request may be silent.
      request.setTimeout(question.silenceMax ?? 0, () => request.destroy(new Error("it was silent for too long")));
      if (question.body instanceof Uint8Array || !question.body) request.end(question.body);
      else feed(request, question.body).catch((error: Error) => request.destroy(error));
    });
    return {
      status: response.statusCode ?? 0,
      header: (name) => {
        const value = response.headers[name];
        return Array.isArray(value) ? value[0] : value;
      },
      body: () => leavable(pieces(response, question.signal), () => hangUp(response)),
    };
  }

  async dial(
    path: string,
    query: Readonly<Record<string, string>>,
    headers: Readonly<Record<string, string>>,
  ): Promise<Line> {
    const key = newKey();
    const accepted = await acceptKey(key);
    return new Promise((resolve, reject) => {
      const request = this.#request(path + queryText(query), {
        method: "GET",
        // A line of its own, which is not given back.
        agent: false as const,
        headers: {
          ...headers,
          connection: "Upgrade",
          upgrade: "websocket",
          "sec-websocket-version": "13",
          "sec-websocket-key": key,
        },
      });
      // Nothing may come between this and the first look at the socket: what happens to it then is told to nobody.
      request.on("upgrade", (response: IncomingMessage, socket: Socket, begun: Uint8Array) => {
        if (response.headers["sec-websocket-accept"] !== accepted) {
          socket.destroy();
          reject(new BrokenError("the connection broke: what answered is no WebSocket"));
          return;
        }
        resolve(new WebSocketLine(socket, begun));
      });
      request.on("response", (response) => {
        collect(pieces(response, undefined)).then(
          (body) => reject(refusal(response.statusCode ?? 0, body)),
          (error: unknown) => reject(error),
        );
      });
      request.on("error", (error) => reject(this.#failed(error, request, undefined)));
      request.end();
    });
  }

  upgrade(path: string, protocol: string, headers: Readonly<Record<string, string>>): Promise<Pipe> {
    return new Promise((resolve, reject) => {
      const options = { method: "GET", agent: false as const, headers: { ...headers, connection: "Upgrade", upgrade: protocol } };
      const request = this.#request(path, options);
      request.on("upgrade", (_: IncomingMessage, socket: Socket, begun: Buffer) => {
        if (begun.length > 0) socket.unshift(begun);
        resolve(pipe(socket));
      });
      request.on("response", (response) => {
        collect(pieces(response, undefined)).then(
          (body) => reject(refusal(response.statusCode ?? 0, body)),
          (error: unknown) => reject(error),
        );
      });
      request.on("error", (error) => reject(this.#failed(error, request, undefined)));
      request.end();
    });
  }

  close(): void {
    this.#agent.destroy();
  }

  #request(path: string, options: RequestOptions): ClientRequest {
    const target = this.#address.socket
      ? { socketPath: this.#address.socket, path, headers: { host: "localhost" } }
      : undefined;
    const request = target
      ? this.#module.request({ ...options, ...target, headers: { ...target.headers, ...options.headers } })
      : this.#module.request(this.#address.url + path, options);
    request.on("socket", (socket) => {
      socket.setKeepAlive(true, KEEP_ALIVE_AFTER);
      socket.setNoDelay(true);
      if (!socket.connecting) return;
      const timer = setTimeout(() => request.destroy(new Error("the connection took too long")), CONNECT_WITHIN);
      for (const event of ["connect", "close"]) socket.once(event, () => clearTimeout(timer));
    });
    return request;
  }

  #failed(error: Error & { code?: string }, request: ClientRequest, signal: AbortSignal | undefined): unknown {
    if (signal?.aborted) return signal.reason;
    const why = error.message || error.code || "it failed";
    // Nothing was sent if the connection never stood.
    if (!request.socket || request.socket.connecting || ["ECONNREFUSED", "ENOENT"].includes(error.code ?? "")) {
      return unreachable(this.#address, why, error);
    }
    return new BrokenError(`the connection broke: ${why}`, undefined, error);
  }
}

export function unreachable(address: Address, why: string, cause: unknown): AtollError {
  const hint = isLocal(address) ? "start one with `atoll serve`, or name one in ATOLL_SERVER" : undefined;
  return new UnreachableError(`cannot reach ${showAddress(address)}: ${why}`, hint, cause);
}

function length(body: Question["body"]): Record<string, string> {
  return body instanceof Uint8Array ? { "content-length": String(body.length) } : {};
}

/** Sends pieces as they come, and no faster than they are taken. */
async function feed(request: ClientRequest, body: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const piece of body) {
    if (request.destroyed) return;
    if (!request.write(piece)) await drained(request);
  }
  request.end();
}

function drained(request: ClientRequest): Promise<void> {
  return new Promise((go) => {
    const done = () => {
      request.off("drain", done).off("close", done);
      go();
    };
    request.on("drain", done).on("close", done);
  });
}

async function* pieces(response: IncomingMessage, signal: AbortSignal | undefined): AsyncIterable<Uint8Array> {
  try {
    for await (const piece of response) yield piece as Uint8Array;
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    const why = error instanceof Error ? error.message : String(error);
    throw new BrokenError(`the connection broke: ${why}`, undefined, error);
  } finally {
    hangUp(response);
  }
}

/** Whoever stops reading hangs up. */
function hangUp(response: IncomingMessage): void {
  if (!response.complete) response.destroy();
}

function pipe(socket: Socket): Pipe {
  // Whoever ends their half may still read.
  socket.allowHalfOpen = true;
  const broken = (error: Error) => new BrokenError(`the connection broke: ${error.message}`, undefined, error);
  const done = (start: (told: (error?: Error | null) => void) => void) =>
    new Promise<void>((resolve, reject) => start((error) => (error ? reject(broken(error)) : resolve())));
  // Told where it is read or written; else to nobody, which would end the program.
  socket.on("error", () => {});
  return {
    bytes: (async function* () {
      try {
        for await (const piece of socket) yield piece as Uint8Array;
      } catch (error) {
        throw broken(error as Error);
      }
    })(),
    write: (data) => done((told) => socket.write(data, told)),
    end: () => done((told) => socket.end(told)),
    close: () => socket.destroy(),
  };
}

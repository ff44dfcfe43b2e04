// A real server for the tests, and a line to it that is cut at random.

import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { type AddressInfo, type Socket, connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";

import { Client, type ClientOptions } from "../src/index.js";

/** The compiled tests are below `target/sdk-typescript/tests`. */
export const ROOT = resolve(import.meta.dirname, "../../..");
export const ATOLL = process.env["ATOLL_BINARY"] ?? join(ROOT, "target/debug/atoll");

/** `atoll serve` in a directory of its own. */
export class Server {
  readonly home = mkdtempSync(join(tmpdir(), "atoll-sdk-"));
  url = "";
  token = "";
  #process: ChildProcess | undefined;

  static async start(...options: string[]): Promise<Server> {
    const server = new Server();
    await server.start("127.0.0.1:0", options);
    return server;
  }

  async start(listen: string, options: string[] = []): Promise<void> {
    const env: NodeJS.ProcessEnv = { ...process.env, ATOLL_HOME: this.home };
    for (const name of ["ATOLL_SERVER", "ATOLL_TOKEN", "ATOLL_TOKEN_FILE"]) delete env[name];
    const log = openSync(join(this.home, "server.log"), "a");
    const child = spawn(ATOLL, ["serve", "--listen", listen, ...options], { env, stdio: ["ignore", "pipe", log] });
    this.#process = child;
    for await (const line of createInterface({ input: child.stdout! })) {
      const url = /http:\/\/\S+/.exec(line)?.[0];
      if (url) this.url = url.replace(/\/$/, "");
      if (line.includes("token")) break;
    }
    this.token = readFileSync(join(this.home, "state/server/root-token"), "utf8").trim();
  }

  get socket(): string {
    return `unix:${this.home}/state/server/server.sock`;
  }

  client(options: ClientOptions = {}): Client {
    return new Client({ server: this.url, token: this.token, ...options });
  }

  async kill(how: NodeJS.Signals = "SIGKILL"): Promise<void> {
    const child = this.#process!;
    const over = new Promise((done) => child.once("exit", done));
    child.kill(how);
    await over;
  }

  async close(): Promise<void> {
    const client = this.client();
    for await (const each of client.sandboxes.list()) await client.sandboxes.delete(each.name);
    client.close();
    await this.kill("SIGTERM");
    if (existsSync(this.home)) rmSync(this.home, { recursive: true, force: true });
  }
}

/** Passes bytes on, and cuts each connection after a random number of them from the server. */
export class CuttingProxy {
  cut = 0;
  url = "";
  #server = createServer((client) => this.#accept(client));
  #sockets = new Set<Socket>();
  #random: () => number;

  constructor(
    readonly target: string,
    readonly least: number,
    readonly most: number,
    readonly cuts = Infinity,
    seed = 1,
  ) {
    // mulberry32: the same cuts in each run.
    let state = seed;
    this.#random = () => {
      state = (state + 0x6d2b79f5) | 0;
      let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
      mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
      return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
    };
  }

  async listen(): Promise<this> {
    await new Promise<void>((done) => this.#server.listen(0, "127.0.0.1", done));
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    return this;
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }

  #accept(client: Socket): void {
    const { hostname, port } = new URL(this.target);
    const server = connect(Number(port), hostname);
    let allowed = this.cut < this.cuts ? this.least + Math.floor(this.#random() * (this.most - this.least)) : Infinity;
    for (const socket of [client, server]) {
      this.#sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        this.#sockets.delete(socket);
        client.destroySoon();
        server.destroySoon();
      });
    }
    client.pipe(server);
    server.on("data", (piece: Buffer) => {
      if (piece.length > allowed) {
        this.cut += 1;
        client.write(piece.subarray(0, allowed));
        client.destroySoon();
        server.destroy();
        return;
      }
      allowed -= piece.length;
      if (!client.write(piece)) {
        server.pause();
        client.once("drain", () => server.resume());
      }
    });
  }
}

/** `1\n2\n…`: a piece that is lost, doubled or moved is seen. */
export function counted(count: number): string {
  let text = "";
  for (let number = 1; number <= count; number++) text += `${number}\n`;
  return text;
}

/** Waits for something, by asking again. */
export async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds()));
}

export function text(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

// A place that has `fetch` and nothing of Node, as a browser does.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";

import { Server } from "./harness.js";

let server: Server;
before(async () => {
  server = await Server.start();
});
after(() => server.close());

const page = (origin: string, token: string, module: string) => `
const write = process.stdout.write.bind(process.stdout);
globalThis.location = { origin: ${JSON.stringify(origin)} };
Reflect.deleteProperty(globalThis, "process");
const { temporarySandbox } = await import(${JSON.stringify(module)});
const sandbox = await temporarySandbox({ token: ${JSON.stringify(token)} });
const result = await sandbox.exec(["cat"], { stdin: new Uint8Array([0, 255, 10]) });
let seen = "";
const terminal = await sandbox.terminal({ command: "read -r name; echo hi $name" });
const view = terminal.connect({ since: 0, cols: 90, rows: 20 });
await view.write("you\\n");
for await (const output of view) seen += output.text;
const size = (await terminal.refresh()).size;
await sandbox.close();
write(JSON.stringify([[...result.stdoutBytes], seen, view.end.code, size.cols]));
`;

test("everything goes by fetch", async () => {
  const module = join(import.meta.dirname, "../src/index.js");
  const script = page(server.url, server.token, module);
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", script]);
  assert.deepEqual(JSON.parse(stdout), [[0, 255, 10], "you\r\nhi you\r\n", 0, 90]);
});

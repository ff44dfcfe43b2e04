// A page in a real browser, of another origin than the server's.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { join, normalize } from "node:path";
import { after, before, test } from "node:test";

import { ROOT, Server } from "./harness.js";

const CHROMIUM = process.env["CHROMIUM"] ?? "/usr/bin/chromium";
const DRIVER = join(ROOT, "target/browser/node_modules/playwright-core");
const missing = [CHROMIUM, DRIVER].find((each) => !existsSync(each));

/** What the page does, with everything that a browser has to bring for it. */
async function deeds(server: string, token: string): Promise<unknown> {
  const from = "/src/index.js";
  const atoll = (await import(from)) as typeof import("../src/index.js");
  const sandbox = await atoll.temporarySandbox({ server, token });
  try {
    const cat = await sandbox.exec(["cat"], { stdin: new Uint8Array([0, 255, 10]) });
    const stream = sandbox.execStream("echo one; sleep 0.1; echo two >&2; exit 3");
    const printed: string[] = [];
    for await (const output of stream) printed.push(`${output.stream} ${output.text.trim()}`);
    await sandbox.writeFile("dir/file", new Uint8Array(3_000_000).fill(7));
    const read = await sandbox.files.read("dir/file");
    const listed = (await sandbox.listFiles(".", { recursive: true })).map((each) => each.path);
    const tag = sandbox.files.open("dir/file", { offset: 1, length: 1 });
    await tag.next();
    const terminal = await sandbox.terminal({ command: "read -r name; echo hi $name" });
    const view = terminal.connect({ since: 0 });
    await view.write("you\n");
    let seen = "";
    for await (const output of view) seen += output.text;
    const process = await sandbox.startProcess("read -r line; echo got $line", { stdin: "pipe" });
    const line = process.connect();
    await line.write("it\n");
    let got = "";
    for await (const output of line) got += output.text;
    const refused = await sandbox.readFile("missing").catch((error: unknown) => error);
    const aborted = await sandbox.exec("sleep 60", { signal: AbortSignal.timeout(200) }).catch((error: Error) => error.name);
    return {
      bytes: [...cat.stdoutBytes],
      printed,
      code: stream.result.exitCode,
      read: read.length,
      listed,
      tagged: tag.etag !== undefined,
      seen,
      got,
      refused: refused instanceof atoll.FileNotFoundError && refused.requestId !== undefined,
      aborted,
    };
  } finally {
    await sandbox.close();
  }
}

const pages = createServer((request, response) => {
  const path = normalize(request.url ?? "/");
  if (path === "/") {
    response.writeHead(200, { "content-type": "text/html" }).end("<!doctype html><title>page</title>");
    return;
  }
  const file = join(ROOT, "target/sdk-typescript", path);
  if (!path.startsWith("/src/") || !existsSync(file)) response.writeHead(404).end();
  else response.writeHead(200, { "content-type": "text/javascript" }).end(readFileSync(file));
});
let origin: string;
let server: Server;
before(async () => {
  await new Promise<void>((done) => pages.listen(0, "127.0.0.1", done));
  origin = `http://127.0.0.1:${(pages.address() as AddressInfo).port}`;
  server = await Server.start("--allow-origin", origin);
});
after(async () => {
  pages.close();
  await server.close();
});

test("a page of another origin uses everything", { skip: missing && `SKIP a page in a browser: there is no ${missing}` }, async () => {
  interface Page {
    goto(url: string): Promise<unknown>;
    evaluate(code: string): Promise<unknown>;
  }
  interface Browser {
    newPage(): Promise<Page>;
    close(): Promise<void>;
  }
  const { chromium } = createRequire(import.meta.url)(DRIVER) as { chromium: { launch(options: object): Promise<Browser> } };
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"] });
  try {
    const page = await browser.newPage();
    await page.goto(origin);
    const told = await page.evaluate(`(${deeds.toString()})(${JSON.stringify(server.url)}, ${JSON.stringify(server.token)})`);
    assert.deepEqual(told, {
      bytes: [0, 255, 10],
      printed: ["stdout one", "stderr two"],
      code: 3,
      read: 3_000_000,
      listed: ["dir", "dir/file"],
      tagged: true,
      seen: "you\r\nhi you\r\n",
      got: "got it\n",
      refused: true,
      aborted: "TimeoutError",
    });
    // A page that was not named gets nothing: the same one, by another name of its server.
    await page.goto(origin.replace("127.0.0.1", "localhost"));
    const script = `import("/src/index.js").then(({ Client }) => new Client({ server: ${JSON.stringify(server.url)}, token: ${JSON.stringify(server.token)}, patience: 0 }).tokens.list()).then(() => "read", (error) => error.name)`;
    assert.equal(await page.evaluate(script), "BrokenError");
  } finally {
    await browser.close();
  }
});

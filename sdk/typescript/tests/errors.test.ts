// Each code has its class; as many as can be are provoked from a real server, the others from one that only answers.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, test } from "node:test";

import { byCode } from "../src/codes.js";
import * as atoll from "../src/index.js";
import { Server, until } from "./harness.js";

let server: Server;
let client: atoll.Client;
let sandbox: atoll.Sandbox;
before(async () => {
  server = await Server.start();
  client = server.client();
  sandbox = await client.sandboxes.create();
});
after(async () => {
  client.close();
  await server.close();
});

const provoked: Record<string, () => Promise<unknown>> = {
  VALIDATION_FAILED: () => sandbox.exec("a\0b"),
  COMMAND_NOT_FOUND: () => sandbox.exec(["no-such-program"]),
  NOT_EXECUTABLE: () => sandbox.exec(["/etc/hostname"]),
  CWD_NOT_FOUND: () => sandbox.exec("true", { cwd: "/no/such/dir" }),
  USER_NOT_FOUND: () => sandbox.exec("true", { user: "nobody-of-this-name" }),
  ARGUMENTS_TOO_LONG: () => sandbox.exec(["echo", "x".repeat(200_000)]),
  PROCESS_NOT_FOUND: () => sandbox.processes.get("none"),
  PROCESS_ALREADY_EXISTS: async () => {
    await sandbox.exec("echo 1", { id: "one-id" });
    await sandbox.exec("echo 2", { id: "one-id" });
  },
  PROCESS_ENDED: async () => {
    const process = await sandbox.startProcess("true");
    await process.waitForExit();
    await process.signal("TERM");
  },
  STDIN_NOT_OPEN: async () => (await sandbox.startProcess("sleep 1")).write("x"),
  SESSION_NOT_FOUND: () => sandbox.getSession("none"),
  SESSION_ALREADY_EXISTS: async () => {
    await sandbox.createSession({ id: "twice" });
    await sandbox.createSession({ id: "twice" });
  },
  SESSION_ALIVE: async () => (await sandbox.createSession()).restart(),
  SESSION_TERMINATED: async () => {
    const session = await sandbox.createSession();
    await session.exec("exit");
    await session.exec("true");
  },
  TERMINAL_NOT_FOUND: () => sandbox.terminals.get("none"),
  TERMINAL_ALREADY_EXISTS: async () => {
    await sandbox.terminal({ id: "taken", command: "sleep 10" });
    await sandbox.terminal({ id: "taken", command: "sleep 20" });
  },
  TERMINAL_ENDED: async () => {
    const terminal = await sandbox.terminal({ command: "true" });
    await terminal.waitForExit();
    await terminal.write("x");
  },
  WAIT_TIMEOUT: async () => (await sandbox.startProcess("sleep 5")).waitForExit(10),
  SANDBOX_NOT_FOUND: () => client.sandbox("none").info(),
  SANDBOX_DIFFERS: () => client.sandboxes.get(sandbox.name, { env: { OTHER: "1" } }),
  TOKEN_NOT_FOUND: () => client.tokens.revoke("none"),
  SANDBOX_STOPPED: async () => {
    const stopped = await client.sandboxes.create();
    await stopped.stop();
    await stopped.pause();
  },
  COMMAND_CANCELLED: async () => {
    const session = await sandbox.createSession();
    await session.queue("sleep 1000");
    const waiting = session.exec("echo never", { id: "waiting" });
    const refused = waiting.catch((error: unknown) => error);
    await until(async () => (await session.refresh()).queued === 1);
    await session.cancel("waiting");
    await session.delete();
    throw await refused;
  },
  FILE_NOT_FOUND: () => sandbox.readFile("none"),
  FILE_EXISTS: async () => {
    for (const each of ["a", "b"]) await sandbox.writeFile(each, "x");
    await sandbox.files.rename("a", "b");
  },
  IS_DIRECTORY: () => sandbox.readFile("/tmp"),
  NOT_DIRECTORY: () => sandbox.listFiles("/etc/hostname"),
  NOT_REGULAR_FILE: () => sandbox.readFile("/dev/zero"),
  DIRECTORY_NOT_EMPTY: async () => {
    await sandbox.files.upload("full", { a: "1" });
    await sandbox.deleteFile("full");
  },
  READ_ONLY: () => sandbox.files.write("/proc/acpi/x", "x"),
  NAME_TOO_LONG: () => sandbox.readFile("x".repeat(300)),
  TOO_MANY_LINKS: async () => {
    await sandbox.exec("ln -sfn loop loop");
    await sandbox.readFile("loop");
  },
  PATH_ESCAPES: () => sandbox.files.patch("--- a/../x\n+++ b/../x\n@@ -0,0 +1 @@\n+x\n"),
  CROSS_DEVICE: async () => {
    await sandbox.writeFile("/tmp/here", "x");
    await sandbox.files.rename("/tmp/here", "/workspace/there");
  },
  PRECONDITION_FAILED: async () => {
    await sandbox.writeFile("state", "1");
    await sandbox.writeFile("state", "2", { ifAbsent: true });
  },
  RANGE_NOT_SATISFIABLE: async () => {
    await sandbox.writeFile("short", "1");
    for await (const _ of sandbox.files.open("short", { offset: 10 }));
  },
  CONTENT_MISMATCH: async () => {
    await sandbox.writeFile("text", "1");
    await sandbox.files.edit("text", [{ old: "2", new: "" }]);
  },
  FILE_LIMIT: async () => {
    await sandbox.files.upload("many", { a: "1", b: "2", c: "3" });
    await sandbox.files.unpack("out", sandbox.files.pack("many"), { maxEntries: 1 });
  },
  PERMISSION_DENIED: () => sandbox.files.write("/proc/cpuinfo", "x"),
  WATCH_NOT_FOUND: () => sandbox.getWatch("none"),
  WATCH_ALREADY_EXISTS: async () => {
    for (const path of ["/tmp", "/workspace"]) await sandbox.watch(path, { id: "one-watch" });
  },
  GIT_FAILED: () => sandbox.gitCheckout("/workspace/nowhere"),
  SECRET_NOT_FOUND: () => sandbox.secrets.delete("none"),
  UNAUTHORIZED: () => server.client({ token: "wrong" }).sandbox("x").info(),
  FORBIDDEN: async () => {
    const { token } = await client.tokens.create({ scopes: [{ sandboxes: "x", verbs: ["read"] }] });
    await server.client({ token }).sandbox(sandbox.name).exec("true");
  },
};

describe("a refusal has the class of its code", () => {
  for (const [code, provoke] of Object.entries(provoked)) {
    test(code, async () => {
      await assert.rejects(provoke, (error: unknown) => {
        assert.ok(error instanceof byCode[code]! && error instanceof atoll.AtollError);
        assert.deepEqual([error.code, error.constructor, error.message !== ""], [code, byCode[code], true]);
        return true;
      });
    });
  }
});

describe("every code becomes its class", () => {
  const answering = createServer((request, response) => {
    request.resume();
    const code = request.url!.split("/")[3]!.toUpperCase().replaceAll("-", "_");
    const told = { error: { code, message: `told ${code}`, hint: "do", details: { a_b: 1 } } };
    response.writeHead(418, { "x-request-id": "r1", "retry-after": "7" });
    response.end(code === "GARBLED" ? "<html>" : JSON.stringify(told));
  });
  let url: string;
  before(async () => {
    await new Promise<void>((done) => answering.listen(0, "127.0.0.1", done));
    url = `http://127.0.0.1:${(answering.address() as AddressInfo).port}`;
  });
  after(() => answering.close());

  for (const code of [...Object.keys(byCode), "A_CODE_OF_LATER"]) {
    test(code, async () => {
      using asking = new atoll.Client({ server: url, token: "t", patience: 0 });
      await assert.rejects(asking.sandbox(code.toLowerCase().replaceAll("_", "-")).exec("true"), (error: unknown) => {
        assert.ok(error instanceof atoll.RefusedError);
        assert.equal(error.constructor, byCode[code] ?? atoll.RefusedError);
        assert.deepEqual(
          [error.code, error.status, error.message, error.hint, error.details, error.requestId, error.retryAfter],
          [code, 418, `told ${code}`, "do", { a_b: 1 }, "r1", 7000],
        );
        return true;
      });
    });
  }

  test("an answer in other words is an error too", async () => {
    using asking = new atoll.Client({ server: url, token: "t" });
    await assert.rejects(asking.sandbox("garbled").exec("true"), { name: "RefusedError", message: /answered 418/ });
  });
});

test("names that name nothing are not sent", () => {
  for (const name of ["", ".", ".."]) assert.throws(() => client.sandbox(name), atoll.InvalidError);
});

test("a closed client says so", async () => {
  const closed = server.client();
  closed.close();
  await assert.rejects(closed.sandbox("x").info(), { name: "InvalidError", message: /closed/ });
});

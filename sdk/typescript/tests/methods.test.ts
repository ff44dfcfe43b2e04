// Each method, against a real server: by the platform's HTTP client and by `fetch`.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import * as atoll from "../src/index.js";
import type { Client, Sandbox } from "../src/index.js";
import { collect } from "../src/wire.js";
import { Server, text, until } from "./harness.js";

let server: Server;
before(async () => {
  server = await Server.start("--rate", "100000");
});
after(() => server.close());

for (const wire of ["node", "fetch"] as const) {
  describe(`over ${wire}`, () => {
    let client: Client;
    let sandbox: Sandbox;
    before(async () => {
      client = server.client(wire === "fetch" ? { fetch } : {});
      sandbox = await client.sandboxes.create({ name: `shared-${wire}` });
    });
    after(() => client.close());

    test("a command gives its outputs and its code", async () => {
      const result = await sandbox.exec("echo out; echo err >&2; exit 3");
      assert.deepEqual([result.stdout, result.stderr, result.exitCode, result.success], ["out\n", "err\n", 3, false]);
      assert.equal(result.command, "echo out; echo err >&2; exit 3");
      assert.ok(result.duration >= 0 && result.end.startedAt <= result.end.endedAt && result.timestamp.endsWith("Z"));
      assert.throws(() => result.check(), { name: "CommandFailedError", message: /code 3: err/ });
      assert.ok((await sandbox.exec("true")).check().success);
    });

    test("a list is a program and its arguments", async () => {
      assert.equal((await sandbox.exec(["echo", "$HOME", "a b"])).stdout, "$HOME a b\n");
    });

    test("options reach the command, and those that are not known are refused", async () => {
      const env = { A: "1", HOME: null };
      const result = await sandbox.exec("echo $A ${HOME-unset} $PWD", { env, cwd: "/tmp", labels: { x_y: "z" } });
      assert.equal(result.stdout, "1 unset /tmp\n");
      assert.ok((await sandbox.exec("sleep 60", { timeout: 100 })).end.timedOut);
      const killed = await sandbox.exec("kill -9 $$");
      assert.deepEqual([killed.exitCode, killed.end.signal], [undefined, "SIGKILL"]);
      await assert.rejects(sandbox.exec("true", { timeoutMs: 1 } as object), { name: "InvalidError", message: /timeoutMs/ });
    });

    test("bytes go in and out as they are", async () => {
      const every = Uint8Array.from({ length: 256 * 300 }, (_, index) => index % 256);
      assert.deepEqual(new Uint8Array((await sandbox.exec(["cat"], { stdin: every })).stdoutBytes), every);
      assert.equal((await sandbox.exec(["cat"], { stdin: "schön" })).stdout, "schön");
    });

    test("an answer that is too small says so", async () => {
      const result = await sandbox.exec("seq 100000", { answerBytes: 1000 });
      assert.ok(result.truncated && result.stdout.includes("bytes left out]\n") && result.stdout.endsWith("100000\n"));
      assert.throws(() => result.stdoutBytes, { name: "OutputGoneError" });
      const { stdout } = await (await sandbox.processes.get(result.id)).logs().collect();
      assert.equal(text(stdout).trim().split("\n").length, 100000);
    });

    test("a command is told as it happens", async () => {
      await using stream = sandbox.execStream("echo one; sleep 0.05; echo two >&2; exit 4", { env: { A: "1" } });
      assert.throws(() => stream.result, /not ended/);
      const told: unknown[] = [];
      for await (const output of stream) told.push([output.stream, output.text, output.cursor]);
      assert.deepEqual(told, [["stdout", "one\n", 0], ["stderr", "two\n", 4]]);
      assert.equal(stream.result.exitCode, 4);
      assert.deepEqual([stream.result.id, stream.started?.id, stream.cursor], [stream.id, stream.id, 8]);
    });

    test("leaving a stream early ends the command", async () => {
      const stream = sandbox.execStream("echo begun; exec sleep 1000");
      for await (const output of stream) {
        assert.equal(output.text, "begun\n");
        break;
      }
      const process = await sandbox.processes.get(stream.id);
      assert.equal((await process.waitForExit(10_000)).end.reason, "killed");
    });

    test("a process is started, followed and awaited", async () => {
      const process = await sandbox.startProcess("echo one; sleep 0.05; echo two >&2; exit 5", { labels: { test: "start" } });
      const logs = process.logs();
      const told: string[] = [];
      for await (const output of logs) told.push(output.text);
      assert.deepEqual(told, ["one\n", "two\n"]);
      assert.deepEqual([logs.end?.code, logs.gaps, (await process.waitForExit()).exitCode], [5, [], 5]);
      for await (const output of process.logs({ since: 4 })) assert.equal(output.text, "two\n");
      const page = await process.output({ since: 0, limit: 4 });
      assert.deepEqual([page.events[0]?.data, page.nextCursor], ["one\n", 4]);
      assert.equal(await process.getStatus(), "ended");
      assert.deepEqual([process.exitCode, process.info.labels, process.pid], [5, { test: "start" }, undefined]);
      assert.deepEqual(await process.getLogs(), { stdout: "one\n", stderr: "two\n" });
      assert.deepEqual(await sandbox.getProcessLogs(process.id), { stdout: "one\n", stderr: "two\n" });
      assert.deepEqual((await sandbox.listProcesses({ labels: { test: "start" } })).map((each) => each.id), [process.id]);
      assert.ok((await sandbox.listProcesses({ state: "ended" })).some((each) => each.id === process.id));
      assert.equal(text((await (await sandbox.streamProcessLogs(process.id)).collect()).stdout), "one\n");
      assert.ok(process.command.startsWith("echo one") && process.startTime instanceof Date);
      await process.remove();
      assert.equal(await sandbox.getProcess(process.id), null);
    });

    test("following children goes on behind the end", async () => {
      const process = await sandbox.startProcess("(sleep 0.2; echo late) & echo early");
      assert.equal(text((await process.logs({ followChildren: true }).collect()).stdout), "early\nlate\n");
    });

    test("input is written by anyone and closed", async () => {
      const process = await sandbox.startProcess(["cat"], { stdin: "pipe" });
      await process.waitForInput(10_000);
      await Promise.all([process.write("one "), process.write(new TextEncoder().encode("two "))]);
      await process.write([new TextEncoder().encode("three "), new TextEncoder().encode("four ")]);
      await (await sandbox.processes.get(process.id)).write("five");
      await process.closeStdin();
      assert.equal(text((await process.logs().collect()).stdout), "one two three four five");
    });

    test("a process is talked with over one line", async () => {
      const command = "while read -r line; do echo got $line; echo err >&2; done; exit 3";
      const process = await sandbox.startProcess(command, { stdin: "pipe" });
      await process.write("first\n");
      await using line = process.connect();
      await line.write("second\n");
      let seen = "";
      for await (const output of line) {
        if (output.stream === "stdout") seen += output.text;
        if (seen.endsWith("second\n") && output.stream === "stdout") {
          await line.signal("CONT", "tree");
          await line.write(new TextEncoder().encode("third\n"));
        }
        if (seen.endsWith("third\n")) await line.closeStdin();
      }
      assert.deepEqual([seen, line.end?.code, line.gaps], ["got first\ngot second\ngot third\n", 3, []]);
      // One writes while another reads, more than may be on its way at once.
      const cat = await sandbox.startProcess(["wc", "-c"], { stdin: "pipe" });
      const both = cat.connect();
      const writing = both.write(new Uint8Array(3_000_000)).then(() => both.closeStdin());
      let counted = "";
      for await (const output of both) counted += output.text;
      await writing;
      assert.equal(counted.trim(), "3000000");
      await using closed = await sandbox.startProcess("echo printed; sleep 1000");
      const refused = closed.connect();
      await assert.rejects(async () => {
        await refused.write("x");
        for await (const _ of refused);
      }, atoll.StdinNotOpenError);
      refused.close();
      assert.equal(await closed.getStatus(), "running");
    });

    test("ended processes are forgotten together", async () => {
      const own = await client.sandboxes.create();
      for (const id of ["one", "two"]) await (await own.startProcess("true", { id })).waitForExit();
      await until(async () => (await own.listProcesses({ state: "ended" })).length === 2);
      assert.equal(await own.cleanupCompletedProcesses(), 2);
      assert.deepEqual(await own.listProcesses(), []);
      await own.destroy();
    });

    test("waits are for lines, ports and ends", async () => {
      const port = wire === "node" ? 8124 : 8125;
      const serve = `import http.server as h; print('serving NOW', flush=True); h.HTTPServer(('', ${port}), h.SimpleHTTPRequestHandler).serve_forever()`;
      let id: string;
      {
        await using process = await sandbox.startProcess(["python3", "-c", serve]);
        id = process.id;
        assert.equal((await process.waitForLog("serving", 20_000)).line, "serving NOW");
        assert.equal((await process.waitForLog(/serving now$/i, { timeout: 20_000, since: 0 })).stream, "stdout");
        await process.waitForPort(port, { timeout: 20_000 });
        await process.waitForPort(port, { path: "/", status: 200, timeout: 20_000 });
        await assert.rejects(process.waitForExit(50), atoll.WaitTimeoutError);
        assert.equal(await process.signal("CONT"), 1);
        assert.ok((await process.signal("CONT", "tree")) >= 1);
      }
      assert.equal((await (await sandbox.processes.get(id)).waitForExit()).end.reason, "killed");
    });

    test("a ready process and one that is started again", async () => {
      await using process = await sandbox.startProcess("sleep 0.1; echo up; sleep 1000", { ready: { log: { text: "up" } } });
      await until(async () => (await process.refresh()).ready === true);
      const again = await sandbox.startProcess("echo again; exit 1", { restart: { onFailure: { max: 2, backoff: 1 } } });
      await again.waitForExit(10_000);
      assert.equal(text((await again.logs().collect()).stdout), "again\n".repeat(3));
      assert.equal((await again.refresh()).restarts, 2);
    });

    test("kills are by one, by label and of all", async () => {
      const one = await sandbox.startProcess("sleep 1000 & sleep 1000");
      assert.equal((await one.kill({ grace: 500 })).survivors, 0);
      const two = await sandbox.startProcess("sleep 1000", { labels: { group: "mine" } });
      assert.ok((await sandbox.processes.kill({ labels: { group: "mine" } })).signalled >= 1);
      assert.equal((await two.waitForExit()).end.reason, "killed");
      const three = await sandbox.startProcess("sleep 1000");
      assert.equal((await sandbox.killProcess(three.id)).survivors, 0);
      await sandbox.startProcess("sleep 1000");
      assert.ok((await sandbox.killAllProcesses()) >= 1);
    });

    test("a session remembers", async () => {
      const session = await sandbox.createSession({ env: { NAME: "atoll" }, options: ["pipefail"] });
      await session.exec("cd /tmp && greet() { echo hello from $NAME; }");
      assert.equal((await session.exec("greet; pwd; false | true")).exitCode, 1);
      assert.equal((await session.exec(["echo", "$NAME"])).stdout, "$NAME\n");
      let printed = "";
      for await (const output of session.execStream("greet; read -r line; echo $line", { stdin: "typed\n" })) printed += output.text;
      assert.equal(printed, "hello from atoll\ntyped\n");
      assert.deepEqual([(await session.refresh()).state, session.info.cwd], ["ready", "/tmp"]);
      assert.ok((await sandbox.listSessions()).some((each) => each.id === session.id));
      assert.equal((await sandbox.getSession(session.id)).info.cwd, "/tmp");
      const snapshot = await session.snapshot();
      assert.deepEqual([snapshot.cwd.data, snapshot.env["NAME"]?.data], ["/tmp", "atoll"]);
      const started = await session.startProcess("greet");
      assert.equal(text((await started.logs().collect()).stdout), "hello from atoll\n");
      {
        await using copy = await session.fork();
        assert.equal((await copy.exec("greet")).stdout, "hello from atoll\n");
      }
      await sandbox.deleteSession(session.id);
      await assert.rejects(sandbox.getSession(session.id), atoll.SessionNotFoundError);
    });

    test("a session takes variables", async () => {
      await using session = await sandbox.createSession({ env: { GONE: "1" } });
      await session.setEnvVars({ QUOTED: "it's $HOME\n", EMPTY: "", GONE: null });
      assert.equal((await session.exec('printf "%s|%s|%s" "$QUOTED" "${EMPTY-unset}" "${GONE-unset}"')).stdout, "it's $HOME\n||unset");
      await assert.rejects(session.setEnvVars({ "A;B": "1" }), atoll.InvalidError);
    });

    test("a session has a queue that can be left", async () => {
      await using session = await sandbox.createSession();
      const first = await session.queue("sleep 1000");
      const second = await session.queue("echo never");
      assert.equal(await session.cancel(second), true);
      await until(async () => (await session.refresh()).running === first.id);
      assert.equal(await session.cancel(first.id), false);
      assert.equal(await session.interrupt(), true);
      assert.equal((await first.waitForExit()).end.signal, "SIGINT");
      assert.equal(await session.interrupt(), false);
      const third = await session.queue("sleep 1000");
      await until(async () => (await session.refresh()).running === third.id);
      assert.equal((await session.kill({ grace: 200 })).survivors, 0);
      assert.equal((await session.exec("echo alive")).stdout, "alive\n");
    });

    test("a dead session comes back", async () => {
      await using session = await sandbox.createSession();
      await session.exec("A=1");
      await session.exec("exit 3");
      await assert.rejects(session.exec("true"), atoll.SessionTerminatedError);
      assert.equal((await session.restart()).state, "ready");
      assert.equal((await session.exec("echo $A")).stdout, "1\n");
      await session.exec("exit");
      await session.restart("nothing");
      assert.equal((await session.exec("echo ${A-gone}")).stdout, "gone\n");
    });

    test("a terminal is typed into and looked at", async () => {
      await using terminal = await sandbox.terminal({ id: "typed", cols: 100, rows: 30, env: { PS1: "$ " } });
      await terminal.write("echo $((6 * 7))\n");
      assert.ok((await terminal.waitForLog("42", 20_000)).line.endsWith("42"));
      assert.ok((await terminal.screen()).text.includes("42"));
      assert.equal((await terminal.resize(80, 24, "me")).size.cols, 80);
      assert.ok((await sandbox.terminals.list()).some((each) => each.id === "typed"));
      assert.equal((await sandbox.terminals.get("typed")).info.resizedBy, "me");
      assert.ok((await terminal.recording()).startsWith('{"'));
      assert.ok((await terminal.signal("CONT", "tree")) >= 1);
      await terminal.write("exit 3\n");
      assert.equal((await terminal.waitForExit(20_000)).exitCode, 3);
      assert.ok(text((await terminal.logs().collect()).stdout).includes("42"));
      await terminal.destroy();
      await assert.rejects(terminal.refresh(), atoll.TerminalNotFoundError);
      await sandbox.terminal({ id: "typed", command: "true" });
    });

    test("a terminal is connected to", async () => {
      const command = "stty -echo; echo ready; while read -r line; do [ $line = end ] && exit 7; echo got $line; done";
      await using terminal = await sandbox.terminal({ command });
      let seen = "";
      let resized = false;
      await using view = terminal.connect({ since: 0, cols: 90, rows: 20 });
      for await (const output of view) {
        assert.equal(output.cursor, new TextEncoder().encode(seen).length);
        seen += output.text;
        if (seen.endsWith("ready\r\n")) await view.write("one\n");
        if (seen.includes("got one\r\n") && !resized) {
          resized = true;
          await view.resize(70, 10);
          await view.signal("CONT");
          await view.write(new TextEncoder().encode("end\n"));
        }
      }
      assert.deepEqual([view.end?.code, seen], [7, "ready\r\ngot one\r\n"]);
      assert.deepEqual([view.cursor, (await terminal.refresh()).size.cols], [terminal.info.cursor, 70]);
      let late = "";
      for await (const output of terminal.connect({ readOnly: true })) late += output.text;
      assert.equal(late, seen);
    });

    test("who may only look may not type", async () => {
      await using terminal = await sandbox.terminal({ command: "sleep 1000" });
      await using view = terminal.connect({ readOnly: true });
      await assert.rejects(async () => {
        await view.write("x");
        for await (const _ of view);
      }, atoll.TerminalReadOnlyError);
    });

    test("ports are listed, followed and exposed", async () => {
      const own = await client.sandboxes.create();
      const changes = own.ports.watch();
      {
        await using _ = await own.startProcess("echo hello > page; exec python3 -m http.server 8131 --bind 127.0.0.1");
        const opened = (await changes.next()).value!;
        assert.deepEqual([opened.port, opened.info?.port, [...changes.open.keys()]], [8131, 8131, [8131]]);
        assert.deepEqual((await own.ports.list()).map((each) => each.port), [8131]);
        if (wire === "fetch") await assert.rejects(own.ports.connect(8131), atoll.InvalidError);
        else {
          using connection = await own.ports.connect(8131);
          await connection.write("GET /page HTTP/1.0\r\n\r\n");
          await connection.end();
          assert.ok(text(await collect(connection)).endsWith("hello\n"));
          await assert.rejects(own.ports.connect(8132), atoll.PortClosedError);
        }
        const preview = await own.exposePort(8131, { name: "web" });
        assert.equal(await (await fetch(`${preview.pathUrl}page`)).text(), "hello\n");
        assert.notEqual((await own.ports.rotate(8131)).token, preview.token);
        assert.equal((await own.exposePort(8131, { visibility: "private" })).name, "web");
        assert.ok((await own.ports.link(8131, { expiresIn: 60_000 })).expiresAt instanceof Date);
        assert.deepEqual((await own.getExposedPorts()).map((each) => each.port), [8131]);
        assert.ok(await own.isPortExposed(8131));
        await own.unexposePort(8131);
        assert.ok(!(await own.isPortExposed(8131)));
      }
      const closed = (await changes.next()).value!;
      assert.deepEqual([closed.port, closed.info, changes.open.size], [8131, undefined, 0]);
      await changes.return();
      await own.destroy();
    });

    test("what may be reached is said and told", async () => {
      const own = await client.sandboxes.create();
      assert.deepEqual((await own.network.get()).policy.allow, []);
      const told = await own.network.set({ allow: [{ domain: "example.invalid", ports: ["443"] }] });
      assert.equal(told.policy.allow?.[0]?.domain, "example.invalid");
      await own.exec("getent hosts denied.invalid; true");
      for await (const event of own.network.events()) {
        if (event.kind !== "name_denied") continue;
        assert.ok(event.host?.includes("denied.invalid"));
        assert.equal((await own.network.page({ since: event.cursor, limit: 1 })).events[0]?.cursor, event.cursor);
        break;
      }
      const made = await own.secrets.put("API_KEY", { value: "a secret value", hosts: ["example.invalid"] });
      assert.equal((await own.exec("echo $API_KEY")).stdout.trim(), made.placeholder);
      assert.deepEqual((await own.secrets.list()).map((each) => each.name), ["API_KEY"]);
      await own.secrets.delete("API_KEY");
      await own.destroy();
    });

    test("a sandbox lives, changes and goes", async () => {
      const labels = { test: `life-${wire}` };
      const made = await client.sandboxes.create({ labels, limits: { openFiles: 512 }, env: { A_B: "1" } });
      const again = await client.sandboxes.get(made.name, { labels });
      assert.equal((await again.exec("echo $A_B; ulimit -n")).stdout, "1\n512\n");
      await assert.rejects(client.sandboxes.get(made.name, { env: { A_B: "2" } }), atoll.SandboxDiffersError);
      const listed: string[] = [];
      for await (const each of client.sandboxes.list({ labels })) listed.push(each.name);
      assert.deepEqual(listed, [made.name]);
      const changed = await made.update({ labels: { test: null, new: "1" }, sleepAfterMs: 60_000 });
      assert.deepEqual([changed.labels, changed.sleepAfterMs], [{ new: "1" }, 60_000]);
      await made.exec("echo kept > ~/file");
      assert.equal((await made.stop()).stopReason, "asked");
      assert.equal((await made.start()).state, "running");
      assert.equal((await made.exec("cat ~/file")).stdout, "kept\n");
      assert.equal((await made.info()).live?.name, made.name);
      try {
        assert.equal((await made.pause()).state, "paused");
        await assert.rejects(made.exec("true"), atoll.SandboxPausedError);
        assert.equal((await made.resume()).state, "running");
      } catch (error) {
        if (!(error instanceof atoll.PauseUnavailableError)) throw error;
        console.log(`SKIP a sandbox is paused: ${error.message}`);
      }
      await client.sandboxes.delete(made.name);
      await assert.rejects(made.info(), atoll.SandboxNotFoundError);
    });

    test("getting by name makes it at the first use; a temporary one goes with its block", async () => {
      const options = { server: server.url, token: server.token };
      const lazy = atoll.getSandbox(`lazy-${wire}`, { ...options, labels: { lazy: "1" } });
      await assert.rejects(client.sandbox(lazy.name).info(), atoll.SandboxNotFoundError);
      assert.deepEqual((await Promise.all([lazy.exec("hostname"), lazy.exec("hostname")])).map((each) => each.stdout), [
        `${lazy.name}\n`,
        `${lazy.name}\n`,
      ]);
      assert.deepEqual((await client.sandbox(lazy.name).info()).labels, { lazy: "1" });
      await lazy.destroy();
      await lazy.close();
      let name: string;
      {
        await using temporary = await atoll.temporarySandbox(options);
        name = temporary.name;
        assert.ok((await temporary.exec("true")).success);
      }
      await assert.rejects(client.sandbox(name).info(), atoll.SandboxNotFoundError);
    });

    test("tokens are made, used and revoked", async () => {
      const made = await client.tokens.create({ name: "sdk", scopes: [{ sandboxes: sandbox.name, verbs: ["exec"] }], expiresIn: 60_000 });
      assert.ok((await client.tokens.list()).some((each) => each.id === made.info.id && each.expiresAt instanceof Date));
      using limited = server.client({ token: made.token });
      assert.equal((await (await limited.sandboxes.get(sandbox.name)).exec("echo in")).stdout, "in\n");
      await assert.rejects(limited.sandbox(sandbox.name).info(), atoll.ForbiddenError);
      await client.tokens.revoke(made.info.id);
      await assert.rejects(limited.sandbox(sandbox.name).exec("true"), atoll.UnauthorizedError);
    });

    test("a server tells how it is", async () => {
      assert.ok(await client.isReady());
      assert.ok((await client.metrics()).includes("atoll_sandboxes"));
      assert.equal(client.address, server.url);
    });
  });
}

test("the socket serves everything", async () => {
  using client = server.client({ server: server.socket });
  const sandbox = await client.sandboxes.get("by-socket");
  assert.equal((await sandbox.exec("echo over the socket")).stdout, "over the socket\n");
  await using terminal = await sandbox.terminal({ command: "echo seen" });
  let seen = "";
  for await (const output of terminal.connect({ since: 0 })) seen += output.text;
  assert.equal(seen, "seen\r\n");
  assert.throws(() => server.client({ server: server.socket, fetch }), atoll.InvalidError);
});

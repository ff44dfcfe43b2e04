// Lines that break: nothing twice, nothing missing, nothing run again. And calls that are called off.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, test } from "node:test";

import * as atoll from "../src/index.js";
import { CuttingProxy, Server, counted, text, until } from "./harness.js";

/** How much a stream carries: a little, or as much as `ATOLL_SDK_STREAM_BYTES` says. */
const STREAM_BYTES = Number(process.env["ATOLL_SDK_STREAM_BYTES"] ?? 48 * 1024 * 1024);

/** What this process may use, however much a stream carries. */
const MEMORY_MAX = 512 * 1024 * 1024;

let server: Server;
let direct: atoll.Client;
before(async () => {
  server = await Server.start("--rate", "100000");
  direct = server.client();
  await direct.sandboxes.create({ name: "shared" });
});
after(async () => {
  direct.close();
  await server.close();
});

/** With a sandbox at the other end of a line that is cut, by each way to ask. */
function cut(
  name: string,
  [least, most, cuts]: [number, number, number?],
  body: (sandbox: atoll.Sandbox, proxy: CuttingProxy, wire: string) => Promise<void>,
  options: atoll.ClientOptions = {},
): void {
  for (const wire of ["node", "fetch"]) {
    test(`${name}, over ${wire}`, async () => {
      const proxy = await new CuttingProxy(server.url, least, most, cuts, 7).listen();
      const client = server.client({ server: proxy.url, ...(wire === "fetch" ? { fetch } : {}), ...options });
      try {
        await body(client.sandbox("shared"), proxy, wire);
      } finally {
        client.close();
        proxy.close();
      }
    });
  }
}

cut("logs go on at the same byte", [500, 200_000], async (sandbox, proxy) => {
  const process = await sandbox.startProcess("for i in 1 2 3 4 5; do seq 1 20000; seq 1 2000 >&2; sleep 0.02; done");
  let cursor = 0;
  const parts = { stdout: "", stderr: "" };
  for await (const output of process.logs()) {
    assert.equal(output.cursor, cursor);
    cursor += output.bytes.length;
    parts[output.stream] += output.text;
  }
  assert.deepEqual(parts, { stdout: counted(20000).repeat(5), stderr: counted(2000).repeat(5) });
  assert.ok(proxy.cut > 3);
});

cut("a stream is of one run", [0, 100_000], async (sandbox, proxy, wire) => {
  let printed = "";
  const options = { env: { KEY: wire }, answerBytes: 1000 };
  for await (const output of sandbox.execStream("echo once >> /tmp/runs-$KEY; seq 1 100000", options)) printed += output.text;
  assert.equal(printed, counted(100000));
  assert.ok(proxy.cut > 2);
  const runs = await direct.sandbox("shared").exec(`cat /tmp/runs-${wire}; rm /tmp/runs-${wire}`);
  assert.equal(runs.stdout, "once\n");
});

cut("a command is run once", [0, 300, 3], async (sandbox, proxy, wire) => {
  const result = await sandbox.exec("echo once >> /tmp/exec-$KEY; seq 1 10000", { env: { KEY: wire } });
  assert.equal(result.stdout, counted(10000));
  assert.equal(proxy.cut, 3);
  assert.equal((await direct.sandbox("shared").exec(`cat /tmp/exec-${wire}`)).stdout, "once\n");
});

cut("input arrives once", [0, 250, 4], async (sandbox, proxy) => {
  const data = counted(400_000);
  const process = await sandbox.startProcess("sha256sum", { stdin: "pipe" });
  await process.write(data);
  await process.closeStdin();
  const told = text((await process.logs().collect()).stdout).split(" ")[0];
  assert.equal(told, createHash("sha256").update(data).digest("hex"));
  assert.equal(proxy.cut, 4);
});

cut("a terminal goes on at the same byte", [800, 60_000], async (sandbox, proxy) => {
  await using terminal = await sandbox.terminal({ command: "stty -opost; seq 1 100000; read -r line; exit 9" });
  let seen = "";
  await using view = terminal.connect({ since: 0 });
  for await (const output of view) {
    assert.equal(output.cursor, seen.length);
    seen += output.text;
    if (seen.endsWith("\n100000\n")) await view.write("go\n");
  }
  assert.ok(seen.startsWith(counted(100000)));
  assert.equal(view.end?.code, 9);
  assert.ok(proxy.cut > 3);
});

cut("a process is talked with over a line that breaks", [800, 150_000], async (sandbox, proxy) => {
  const data = counted(150_000);
  const process = await sandbox.startProcess(["cat"], { stdin: "pipe" });
  const line = process.connect();
  const writing = line.write(data).then(() => line.closeStdin());
  let seen = "";
  for await (const output of line) seen += output.text;
  await writing;
  assert.ok(seen === data && line.end?.code === 0 && line.cursor === data.length);
  assert.ok(proxy.cut > 3);
});

cut("a listing goes on behind the last entry", [300, 150_000], async (sandbox, proxy, wire) => {
  const shared = direct.sandbox("shared");
  const make = `mkdir -p ${wire}/sub && cd ${wire} && seq -f 'file %04g' 3000 | xargs -d '\\n' touch && touch $'sub/\\xff'`;
  (await shared.exec(make)).check();
  const paths: string[] = [];
  for await (const each of sandbox.files.list(wire, { depth: 2 })) paths.push(each.path);
  assert.deepEqual(paths.slice(0, 3000), Array.from({ length: 3000 }, (_, index) => `file ${String(index + 1).padStart(4, "0")}`));
  assert.equal(paths.length, 3002);
  assert.ok(proxy.cut > 2);
});

cut("a watch goes on with the same event", [800, 20_000], async (sandbox, proxy, wire) => {
  const shared = direct.sandbox("shared");
  const path = `watched-${wire}`;
  await shared.mkdir(path);
  await using made = await shared.watch(path);
  const watch = await sandbox.getWatch(made.id);
  (await shared.exec(`cd ${path} && for n in $(seq 1 500); do mkdir d$n; done`)).check();
  const seen: string[] = [];
  for await (const event of watch) {
    assert.notEqual(event.change, "overflow");
    if (event.change === "created" && seen.push(event.path) === 500) break;
  }
  assert.deepEqual(seen, Array.from({ length: 500 }, (_, index) => `d${index + 1}`));
  assert.ok(proxy.cut > 2);
  await watch.return();
});

cut(
  "patience ends",
  [0, 10],
  async (sandbox, proxy, wire) => {
    const kind = wire === "node" ? atoll.BrokenError : atoll.AtollError;
    await assert.rejects(sandbox.exec("true"), kind);
    await assert.rejects(sandbox.execStream("true").next(), kind);
    proxy.close();
    await assert.rejects(sandbox.exec("true"), atoll.UnreachableError);
  },
  { patience: 300 },
);

cut("what is to end with its line is not asked for again", [0, 10], async (sandbox) => {
  await assert.rejects(sandbox.exec("sleep 0.2", { onDisconnect: "kill" }), atoll.AtollError);
  await assert.rejects(sandbox.execStream("sleep 0.2", { onDisconnect: "kill" }).next(), atoll.AtollError);
});

test("a stream outlives its server", async () => {
  const own = await Server.start();
  const client = own.client();
  try {
    const sandbox = await client.sandboxes.create({ name: "outlives" });
    const process = await sandbox.startProcess("seq 1 50000; read -r line; seq 1 50000", { stdin: "pipe" });
    let seen = "";
    for await (const output of process.logs()) {
      const restart = seen === "";
      seen += output.text;
      if (restart) {
        await own.kill();
        await own.start(own.url.replace("http://", ""));
        await process.write("go\n");
      }
    }
    assert.equal(seen, counted(50000).repeat(2));
  } finally {
    client.close();
    await own.close();
  }
});

for (const wire of ["node", "fetch"]) {
  test(`a large stream arrives whole, over ${wire}`, async () => {
    const client = server.client(wire === "fetch" ? { fetch } : {});
    const stream = client.sandbox("shared").execStream(`head -c ${STREAM_BYTES} /dev/urandom | tee >(sha256sum >&2); wait $!`);
    const digest = createHash("sha256");
    let length = 0;
    let told = "";
    let most = 0;
    for await (const output of stream) {
      most = Math.max(most, process.memoryUsage.rss());
      if (output.stream === "stderr") {
        told += output.text;
        continue;
      }
      digest.update(output.bytes);
      length += output.bytes.length;
    }
    assert.deepEqual([length, told.split(" ")[0]], [STREAM_BYTES, digest.digest("hex")]);
    assert.ok(most < MEMORY_MAX, `${most} bytes of memory for a stream of ${length}`);
    await (await client.sandbox("shared").processes.get(stream.id)).remove();
    client.close();
  });

  test(`many at once, over ${wire}`, async () => {
    const client = server.client(wire === "fetch" ? { fetch } : {});
    const sandbox = client.sandbox("shared");
    const numbers = Array.from({ length: 50 }, (_, number) => number);
    const results = await Promise.all(numbers.map((number) => sandbox.exec(`echo ${number}; sleep 0.1`)));
    assert.deepEqual(results.map((result) => Number(result.stdout)), numbers);
    client.close();
  });

  test(`a call that is aborted takes its command along, over ${wire}`, async () => {
    using client = server.client(wire === "fetch" ? { fetch } : {});
    const sandbox = client.sandbox("shared");
    const runs = (id: string) => async () => (await sandbox.listProcesses({ state: "running" })).some((each) => each.id === id);
    const ended = async (id: string) => (await (await sandbox.processes.get(id)).waitForExit(10_000)).end.reason;
    const reason = new Error("enough");

    const calling = new AbortController();
    const call = sandbox.exec("exec sleep 1000", { id: `aborted-${wire}`, signal: calling.signal });
    const refused = assert.rejects(call, reason);
    await until(runs(`aborted-${wire}`));
    calling.abort(reason);
    await refused;
    assert.equal(await ended(`aborted-${wire}`), "killed");

    const reading = new AbortController();
    const stream = sandbox.execStream("echo begun; exec sleep 1000", { signal: reading.signal });
    assert.equal((await stream.next()).value?.text, "begun\n");
    setTimeout(() => reading.abort(reason), 50);
    await assert.rejects(stream.next(), reason);
    assert.equal(await ended(stream.id), "killed");

    // Whoever only looks leaves the process alone.
    const looking = new AbortController();
    const process = await sandbox.startProcess("echo begun; exec sleep 1000");
    const logs = process.logs({ signal: looking.signal });
    await logs.next();
    setTimeout(() => looking.abort(reason), 50);
    await assert.rejects(logs.next(), reason);
    const talking = new AbortController();
    const line = process.connect({ signal: talking.signal });
    await line.next();
    setTimeout(() => talking.abort(reason), 50);
    await assert.rejects(line.next(), reason);
    await assert.rejects(process.waitForExit({ signal: AbortSignal.timeout(50) }), { name: "TimeoutError" });
    await assert.rejects(sandbox.exec("true", { signal: AbortSignal.abort(reason) }), reason);
    assert.equal(await process.getStatus(), "running");
    await process.kill();

    await using terminal = await sandbox.terminal({ command: "echo begun; exec sleep 1000" });
    const hanging = new AbortController();
    const view = terminal.connect({ since: 0, signal: hanging.signal });
    await view.next();
    setTimeout(() => hanging.abort(reason), 50);
    await assert.rejects(view.next(), reason);
    assert.equal((await terminal.refresh()).state, "running");
  });
}

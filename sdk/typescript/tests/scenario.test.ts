// The scenario that the Python SDK and the command line play as well: the same steps give the same results.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";

import * as atoll from "../src/index.js";
import { ROOT, Server, text } from "./harness.js";

interface Step {
  readonly op: string;
  readonly expect: Readonly<Record<string, unknown>>;
  readonly [argument: string]: unknown;
}

const steps = JSON.parse(readFileSync(join(ROOT, "sdk/scenario.json"), "utf8")) as Step[];
const name = "scenario";

let server: Server;
before(async () => {
  server = await Server.start();
});
after(() => server.close());

for (const wire of ["node", "fetch"]) {
  test(`the SDK plays the scenario over ${wire}`, async () => {
    using client = server.client(wire === "fetch" ? { fetch } : {});
    const play = player(client);
    for (const [number, step] of steps.entries()) {
      const got = await play(step);
      const told = Object.fromEntries(Object.keys(step.expect).map((key) => [key, got[key] ?? null]));
      assert.deepEqual(told, step.expect, `step ${number}: ${JSON.stringify(step)} gave ${JSON.stringify(got)}`);
    }
  });
}

type Told = Record<string, unknown>;

function player(client: atoll.Client): (step: Step) => Promise<Told> {
  const sandbox = client.sandbox(name);
  let process: atoll.Process | undefined;

  const operations: Record<string, (given: any) => Promise<Told>> = {
    create: async (given) => ({ state: (await (await client.sandboxes.create({ name, ...given })).info()).state }),
    list: async ({ labels }) => {
      let count = 0;
      for await (const _ of client.sandboxes.list({ labels })) count += 1;
      return { count };
    },
    inspect: async () => ({ state: (await sandbox.info()).state }),
    stop: async () => ({ state: (await sandbox.stop()).state }),
    delete: async () => (await sandbox.destroy(), {}),
    exec: async ({ command, timeout_ms, ...rest }) => told(await sandbox.exec(command, { ...rest, timeout: timeout_ms })),
    processes: async () => {
      const alive = (await sandbox.listProcesses()).filter((each) => each.info.state !== "ended");
      process = alive[0] ?? process;
      return { count: alive.length, state: alive[0]?.info.state };
    },
    logs: async () => ({ stdout: text((await process!.logs().collect()).stdout) }),
    wait_for_log: async (given) => ({ line: (await process!.waitForLog(given.text)).line }),
    kill: async () => ({ survivors: (await process!.kill()).survivors }),
    kill_unknown: async () => ({ survivors: (await sandbox.killProcess("unknown")).survivors }),
    session_create: async (given) => ({ state: (await sandbox.createSession(given)).info.state }),
    session_exec: async ({ id, command, ...rest }) => told(await (await sandbox.getSession(id)).exec(command, rest)),
    session_fork: async (given) => ({ state: (await (await sandbox.getSession(given.id)).fork({ id: given.new })).info.state }),
    session_restart: async ({ id }) => ({ state: (await (await sandbox.getSession(id)).restart()).state }),
    session_list: async () => ({ ids: (await sandbox.listSessions()).map((each) => each.id).sort() }),
    session_delete: async ({ id }) => (await sandbox.deleteSession(id), {}),
    write: async ({ path, data }) => (await sandbox.writeFile(path, data), {}),
    read: async ({ path }) => ({ data: (await sandbox.readFile(path)).content }),
    files: async ({ path, recursive }) => ({ paths: (await sandbox.listFiles(path, { recursive })).map((each) => each.path) }),
    search: async ({ pattern, path }) => {
      const { matches } = await sandbox.files.search(pattern, path, { sorted: true });
      return { found: matches.map((each) => `${each.path}:${each.line}`).sort() };
    },
    edit: async ({ path, old, new: fresh }) => ({ lines: (await sandbox.files.edit(path, [{ old, new: fresh }])).lines }),
    watch: async ({ path, count }) => {
      await using watch = await sandbox.watch(path, { existing: true });
      const told: string[] = [];
      while (told.length < count) {
        const { value } = await watch.next();
        told.push(`${value?.change} ${value?.path}`);
      }
      // What is there already comes in the order of the file system; that it has been told comes last.
      return { events: [...told.slice(0, -1).sort(), ...told.slice(-1)] };
    },
    git_clone: async ({ url, path }) => {
      const cloned = await sandbox.gitCheckout(url, { path });
      return { branch: cloned.branch, path: cloned.path };
    },
    git_commit: async ({ path, message }) => {
      const author = { name: "Me", email: "me@example.org" };
      return { branch: (await sandbox.git.commit(path, message, { all: true, author })).branch };
    },
    git_checkout: async ({ path, target, create }) => ({ branch: (await sandbox.git.checkout(path, target, { create })).branch }),
    git_status: async ({ path }) => ({ changed: (await sandbox.git.status(path)).entries.map((each) => each.path) }),
    git_log: async ({ path }) => ({ subjects: (await sandbox.git.log(path)).commits.map((each) => each.subject) }),
    git_branches: async ({ path }) => ({ names: (await sandbox.git.branches(path)).branches.map((each) => each.name) }),
    network: async () => ({ domains: ((await sandbox.network.get()).policy.allow ?? []).map((rule) => rule.domain) }),
    network_set: async ({ domains }) => {
      const { policy } = await sandbox.network.set({ allow: domains.map((domain: string) => ({ domain })) });
      return { domains: (policy.allow ?? []).map((rule) => rule.domain) };
    },
    secret_put: async (given) => ({ hosts: (await sandbox.secrets.put(given.name, { value: given.value, hosts: [given.host] })).hosts }),
    secrets: async () => ({ names: (await sandbox.secrets.list()).map((each) => each.name) }),
    secret_delete: async (given) => (await sandbox.secrets.delete(given.name), {}),
    expose: async ({ port, ...rest }) => {
      const preview = await sandbox.exposePort(port, rest);
      return { port: preview.port, visibility: preview.visibility, name: preview.name };
    },
    previews: async () => ({ ports: (await sandbox.getExposedPorts()).map((each) => each.port) }),
    unexpose: async ({ port }) => (await sandbox.unexposePort(port), {}),
  };

  return async ({ op, expect: _, ...given }) => {
    try {
      return await operations[op]!(given);
    } catch (error) {
      if (error instanceof atoll.RefusedError) return { error: error.code };
      throw error;
    }
  };
}

function told(result: atoll.ExecResult): Told {
  const { exitCode: code, stdout, stderr, end } = result;
  const base64 = Buffer.from(result.stdoutBytes).toString("base64");
  return { code, stdout, stderr, base64, reason: end.reason, signal: end.signal };
}

// Parts that need no server.

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, test } from "node:test";

import { decode, encode, fromBase64, toBase64 } from "../src/codec.js";
import { EventParser } from "../src/events.js";
import * as atoll from "../src/index.js";
import { OutputReader } from "../src/results.js";
import { PAUSE, PAUSE_MAX, Retry } from "../src/retry.js";
import { findSettings, parseAddress, showAddress } from "../src/settings.js";
import { FrameParser, acceptKey, frame } from "../src/websocket.js";

test("events survive every cut", () => {
  const bytes = new TextEncoder().encode(
    ': hello\n\nevent: output\nid: 5\ndata: {"a":"ü"}\n\nevent:end\r\ndata:x\r\ndata: y\r\n\r\nevent: cut\ndata: z\n',
  );
  for (let cut = 0; cut <= bytes.length; cut++) {
    const parser = new EventParser();
    assert.deepEqual(
      [...parser.push(bytes.subarray(0, cut)), ...parser.push(bytes.subarray(cut))],
      [{ name: "output", data: '{"a":"ü"}' }, { name: "end", data: "x\ny" }],
    );
  }
});

test("frames survive every cut", async () => {
  // What a client sends is masked; a server's frame is not.
  const unmasked = (kind: number, size: number) => {
    const head = size < 126 ? [kind, size] : [kind, 126, size >> 8, size & 255];
    return new Uint8Array([...head, ...Array.from({ length: size }, (_, index) => index & 255)]);
  };
  const bytes = new Uint8Array([...unmasked(0x81, 5), ...unmasked(0x02, 300), ...unmasked(0x80, 3)]);
  for (let cut = 0; cut <= bytes.length; cut++) {
    const parser = new FrameParser();
    const frames = [...parser.push(bytes.slice(0, cut)), ...parser.push(bytes.slice(cut))];
    assert.deepEqual(frames.map((each) => [each.last, each.kind, each.payload.length]), [
      [true, 1, 5],
      [false, 2, 300],
      [true, 0, 3],
    ]);
  }
  assert.throws(() => new FrameParser().push(frame(1, new Uint8Array(3))), atoll.BrokenError);
  assert.equal(frame(2, new Uint8Array(70_000)).length, 70_000 + 14);
  // The example of RFC 6455, section 1.3.
  assert.equal(await acceptKey("dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
});

test("pauses grow, begin anew and end", () => {
  const retry = new Retry(60_000);
  const pauses = Array.from({ length: 10 }, () => retry.failed(new atoll.BrokenError("cut")));
  assert.deepEqual([pauses[0], pauses.at(-1)], [PAUSE, PAUSE_MAX]);
  retry.succeeded();
  assert.equal(retry.failed(new atoll.BrokenError("cut")), PAUSE);
  assert.throws(() => retry.failed(new atoll.NonsenseError("?")), atoll.NonsenseError);
  assert.throws(() => new Retry(0).failed(new atoll.BrokenError("cut")), atoll.BrokenError);
});

test("names are spelled as the wire has them, and keys of the caller are left alone", () => {
  const request = { command: "x", timeout: 5, env: { A_b: "1", cD: null }, labels: { myLabel: "x" }, id: undefined };
  const wire = { command: "x", timeout_ms: 5, env: { A_b: "1", cD: null }, labels: { myLabel: "x" } };
  assert.deepEqual(encode("ExecRequest", request), wire);
  assert.deepEqual(encode("StartRequest", { restart: { onFailure: { backoffMax: 1 } } }), { restart: { on_failure: { backoff_max_ms: 1 } } });
  assert.deepEqual(encode("StartRequest", { restart: "never" }), { restart: "never" });
  assert.throws(() => encode("ExecRequest", { timeoutMs: 5 } as object), { name: "InvalidError", hint: /timeout/ });
  const told = { id: "t", scopes: [], name: "", created_at: "2026-01-01T00:00:00.000Z", later: 1, last_used_at: null };
  assert.deepEqual(decode("TokenInfo", told), { id: "t", scopes: [], name: "", createdAt: new Date("2026-01-01") });
  assert.throws(() => decode("TokenInfo", "no"), atoll.NonsenseError);
});

test("output is cut to what is new, and characters are whole", () => {
  const event = (cursor: number, data: string) =>
    ({ cursor, nextCursor: 0, stream: "stdout", data, encoding: "base64", time: new Date() }) as const;
  const reader = new OutputReader(0);
  assert.deepEqual([reader.take(event(0, "YcM="))?.text, reader.take(event(1, "w7xi"))?.text], ["a", "üb"]);
  assert.equal(reader.take(event(0, "YcM=")), undefined);
  assert.throws(() => reader.take(event(9, "YQ==")), atoll.NonsenseError);
});

test("base64 without Buffer is the same", () => {
  const bytes = Uint8Array.from({ length: 100_000 }, (_, index) => (index * 7) & 255);
  const text = toBase64(bytes);
  const buffer = globalThis.Buffer;
  try {
    Reflect.deleteProperty(globalThis, "Buffer");
    assert.equal(toBase64(bytes), text);
    assert.deepEqual(fromBase64(text), bytes);
  } finally {
    globalThis.Buffer = buffer;
  }
});

describe("settings", () => {
  const names = ["ATOLL_SERVER", "ATOLL_TOKEN", "ATOLL_TOKEN_FILE", "ATOLL_HOME"];
  const kept = names.map((name) => process.env[name]);
  let home: string;
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), "atoll-settings-"));
    for (const name of names) delete process.env[name];
    process.env["ATOLL_HOME"] = home;
    mkdirSync(join(home, "state/server"), { recursive: true });
    writeFileSync(join(home, "state/server/root-token"), "first\n");
  });
  afterEach(() => {
    rmSync(home, { recursive: true });
    names.forEach((name, index) => {
      if (kept[index] === undefined) delete process.env[name];
      else process.env[name] = kept[index];
    });
  });
  const found = (server?: string, token?: string) => {
    const settings = findSettings(server, token);
    return [showAddress(settings.address), settings.token];
  };

  test("what is said wins over variables over the file over the default", () => {
    assert.deepEqual(found(), [`unix:${home}/state/server/server.sock`, "first"]);
    writeFileSync(join(home, "named"), " named \n");
    writeFileSync(join(home, "config"), `# mine\nserver = http://box:1\ntoken_file = "${home}/named"\n`);
    assert.deepEqual(found(), ["http://box:1", "named"]);
    process.env["ATOLL_SERVER"] = "https://other/";
    process.env["ATOLL_TOKEN"] = "variable";
    assert.deepEqual(found(), ["https://other", "variable"]);
    assert.deepEqual(found("unix:/x", "said"), ["unix:/x", "said"]);
  });

  test("the first token stays on this machine", () => {
    assert.deepEqual([found("http://localhost:1")[1], found("http://[::1]:1")[1]], ["first", "first"]);
    assert.deepEqual([found("http://10.0.0.1:1")[1], found("http://localhost.example.org:1")[1]], [undefined, undefined]);
  });

  test("nonsense is refused", () => {
    for (const text of ["box:7070", "ftp://box", "unix:", "http://", "http://box/?x=1"]) {
      assert.throws(() => parseAddress(text), atoll.InvalidError, text);
    }
    assert.throws(() => found("http://localhost:1", "a\nb"), /cannot be sent/);
    process.env["ATOLL_TOKEN_FILE"] = "/no/such/file";
    assert.throws(() => found(), /cannot read the token/);
    delete process.env["ATOLL_TOKEN_FILE"];
    writeFileSync(join(home, "config"), "port = 1");
    assert.throws(() => found(), /neither/);
  });

  test("a server that is not there is named", async () => {
    await assert.rejects(new atoll.Client().tokens.list(), { name: "UnreachableError", hint: /atoll serve/ });
  });
});

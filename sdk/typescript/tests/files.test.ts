// Files, against a real server.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, describe, test } from "node:test";

import * as atoll from "../src/index.js";
import { collect } from "../src/wire.js";
import { CuttingProxy, Server, counted, text } from "./harness.js";

const STREAM_BYTES = Number(process.env["ATOLL_SDK_STREAM_BYTES"] ?? 48 * 1024 * 1024);

let server: Server;
before(async () => {
  server = await Server.start("--rate", "100000");
});
after(() => server.close());

const bytes = (data: string) => new TextEncoder().encode(data);

for (const wire of ["node", "fetch"] as const) {
  describe(`over ${wire}`, () => {
    let client: atoll.Client;
    let sandbox: atoll.Sandbox;
    let files: atoll.Files;
    before(async () => {
      client = server.client(wire === "fetch" ? { fetch } : {});
      sandbox = await client.sandboxes.create();
      files = sandbox.files;
    });
    after(() => client.close());

    test("files are written and read", async () => {
      const every = Uint8Array.from({ length: 256 }, (_, index) => index);
      const receipt = await files.write("a/b/every", every, { parents: true, mode: "0600" });
      assert.deepEqual([receipt.created, receipt.file.mode, receipt.file.size], [true, "0600", 256]);
      assert.deepEqual(new Uint8Array(await files.read("a/b/every")), every);
      await files.write("text", "schön\n");
      await files.write("text", "more\n", { append: true });
      assert.equal(await files.readText("text"), "schön\nmore\n");
      assert.equal(text(await collect(files.open("text", { offset: 7 }))), "more\n");
      assert.equal(text(await collect(files.open("text", { offset: 7, length: 2 }))), "mo");
      await assert.rejects(files.read("missing"), atoll.FileNotFoundError);
      await assert.rejects(files.read("a"), atoll.IsDirectoryError);
    });

    test("the names that are known elsewhere", async () => {
      await sandbox.writeFile("known/file.txt", "content");
      assert.deepEqual(await sandbox.readFile("known/file.txt"), { path: "known/file.txt", content: "content", encoding: "utf8", size: 7 });
      assert.equal((await sandbox.readFile("known/file.txt", { encoding: "base64" })).content, "Y29udGVudA==");
      await sandbox.mkdir("known/deep/er", { recursive: true });
      await sandbox.renameFile("known/file.txt", "known/other.txt");
      await sandbox.moveFile("known/other.txt", "known/deep/moved.txt");
      assert.deepEqual((await sandbox.listFiles("known", { recursive: true })).map((each) => each.path), ["deep", "deep/er", "deep/moved.txt"]);
      await sandbox.deleteFile("known/deep/moved.txt");
      assert.deepEqual([await sandbox.exists("known/deep/moved.txt"), await sandbox.exists("known")], [false, true]);
    });

    test("a write may depend on the state", async () => {
      const first = (await files.write("state", "1")).file;
      await files.write("state", "2", { ifMatch: first.etag });
      await assert.rejects(files.write("state", "3", { ifMatch: first.etag }), atoll.PreconditionFailedError);
      await assert.rejects(files.write("state", "3", { ifAbsent: true }), atoll.PreconditionFailedError);
    });

    test("pieces are written as they come", async () => {
      const pieces = async function* () {
        for (let number = 1; number <= 20000; number++) yield bytes(`${number}\n`);
      };
      await files.write("pieces", pieces());
      assert.equal(await files.readText("pieces"), counted(20000));
    });

    test("names may be no text", async () => {
      const name = new Uint8Array([0x6f, 0xff, 0x20, 0x26]);
      await files.mkdir("odd");
      const path = new Uint8Array([...bytes("odd/"), ...name]);
      await files.write(path, "x");
      for await (const each of files.list("odd")) assert.ok(each.pathBase64);
      assert.ok(await files.exists(path));
      await files.rename(path, "odd/plain");
      for await (const each of files.list("odd")) assert.equal(each.path, "plain");
    });

    test("trees are listed, changed and removed", async () => {
      await files.upload("tree", { one: "1", "sub/two": bytes("2"), "sub/ü": "3", 'sub/"quoted"': "4" });
      const listed: string[] = [];
      for await (const each of files.list("tree", { depth: 9 })) listed.push(each.path);
      assert.equal(listed.length, 5);
      const unsorted: string[] = [];
      for await (const each of files.list("tree", { depth: 9, sorted: false })) unsorted.push(each.path);
      assert.deepEqual(unsorted.sort(), listed.sort());
      await assert.rejects(files.list("nowhere").next(), atoll.FileNotFoundError);
      assert.equal(await files.copy("tree", "twin", { recursive: true }), 6);
      assert.equal(await files.chmod("tree/one", "0751"), 1);
      assert.equal((await files.stat("tree/one")).mode, "0751");
      assert.equal((await files.symlink("link", "tree/one")).target, "tree/one");
      assert.equal((await files.stat("link", { link: true })).kind, "symlink");
      await assert.rejects(files.move("tree/one", "tree/sub/two"), atoll.FileExistsError);
      await assert.rejects(files.remove("tree"), atoll.DirectoryNotEmptyError);
      assert.ok((await files.remove("tree", { recursive: true })) > 5);
      assert.equal(await files.remove("tree", { missingOk: true }), 0);
    });

    test("text is found, edited and patched", async () => {
      await files.upload("src", { "a.py": "one\ntwo\n", "b/c.py": "two\n", "b/d.txt": "TWO\n" });
      const found = await files.search("two", "src", { include: ["*.py"], sorted: true, before: 1 });
      assert.deepEqual(found.matches.map((match) => [match.line, match.role]), [[1, "before"], [2, "match"], [1, "match"]]);
      assert.equal((await files.search("two", "src", { case: "insensitive", detail: "files" })).files.length, 3);
      assert.equal((await files.glob("**/*.py", "src")).entries.length, 2);
      const stream = files.searchStream("two", "src", { include: ["*.py"] });
      const seen: unknown[] = [];
      for await (const match of stream) seen.push(match.path);
      assert.deepEqual([seen.sort(), stream.summary?.filesMatched], [["a.py", "b/c.py"], 2]);
      await assert.rejects(files.searchStream("(", "src").next(), atoll.ValidationFailedError);
      assert.deepEqual((await files.edit("src/a.py", [{ old: "one", new: "1" }, { old: "two", new: "2" }])).lines, [[1], [2]]);
      await assert.rejects(files.edit("src/a.py", [{ old: "gone", new: "" }]), atoll.ContentMismatchError);
      const patch = "--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n-1\n+uno\n 2\n";
      assert.ok((await files.patch(patch, "src", { dryRun: true })).dryRun);
      assert.equal((await files.patch(patch, "src")).files[0]?.outcome, "changed");
      assert.equal(await files.readText("src/a.py"), "uno\n2\n");
    });

    test("trees come and go as archives", async () => {
      await files.upload("packed", { a: "1", "b/c": "2", "b/d.o": "3" });
      const receipt = await files.unpack("out", files.pack("packed", { exclude: ["*.o"] }));
      assert.deepEqual([receipt.files, await files.readText("out/b/c"), await files.exists("out/b/d.o")], [2, "2", false]);
      assert.equal((await files.unpack("zip", await collect(files.pack("packed", { format: "zip" })), { existing: "refuse" })).format, "zip");
    });

    test("a tree is watched", async () => {
      await files.mkdir("seen");
      await using watch = await sandbox.watch("seen", { exclude: ["*.tmp"] });
      await files.write("seen/a.txt", "1");
      await files.rename("seen/a.txt", "seen/b.txt");
      for await (const event of watch) if (event.change === "renamed" && event.path === "b.txt") break;
      assert.deepEqual((await sandbox.watches()).map((each) => each.id), [watch.id]);
      assert.ok((await watch.page()).nextCursor >= watch.cursor);
    });

    test("git is used", async () => {
      const author = { name: "Me", email: "me@example.org" };
      (await sandbox.exec("git init -q -b main origin && echo 1 > origin/file")).check();
      await sandbox.git.commit("origin", "first", { all: true, author });
      const phases = new Set<string>();
      const onProgress = (progress: atoll.models.GitProgress) => phases.add(progress.phase);
      assert.equal((await sandbox.gitCheckout("file:///workspace/origin", { path: "copy", onProgress })).branch, "main");
      assert.ok(phases.has("Receiving objects"));
      await assert.rejects(sandbox.git.clone("/workspace/nowhere", { onProgress }), atoll.GitFailedError);
      assert.equal((await sandbox.git.checkout("copy", "work", { create: true })).branch, "work");
      await files.write("copy/file", "2\n");
      assert.equal((await sandbox.git.status("copy")).entries[0]?.worktree, "modified");
      assert.ok((await sandbox.git.diff("copy")).diff.includes("+2"));
      await sandbox.git.commit("copy", "second", { all: true, author });
      assert.deepEqual((await sandbox.git.log("copy")).commits.map((each) => each.subject), ["second", "first"]);
      assert.deepEqual((await sandbox.git.branches("copy")).branches.map((each) => each.name), ["main", "work"]);
      assert.ok((await sandbox.git.push("copy", { setUpstream: true })).refs.length > 0);
      await sandbox.git.checkout("copy", "main");
      assert.equal((await sandbox.git.pull("copy")).updated, false);
    });

    test("a file is read on at the same byte", async () => {
      const data = counted(300_000);
      await files.write("numbers", data);
      const proxy = await new CuttingProxy(server.url, 1000, 600_000, Infinity, 7).listen();
      const cut = server.client({ server: proxy.url, ...(wire === "fetch" ? { fetch } : {}) });
      assert.equal(await cut.sandbox(sandbox.name).files.readText("numbers"), data);
      assert.ok(proxy.cut > 2);
      cut.close();
      proxy.close();
    });

    test("a large file goes in and out", async () => {
      const piece = Uint8Array.from({ length: 1024 * 1024 }, (_, index) => index & 255);
      const count = Math.floor((wire === "fetch" ? Math.min(STREAM_BYTES, 48 * 1024 * 1024) : STREAM_BYTES) / piece.length);
      const pieces = async function* () {
        for (let number = 0; number < count; number++) yield piece;
      };
      await files.write("large", pieces());
      const [digest, expected] = [createHash("sha256"), createHash("sha256")];
      for await (const each of files.open("large")) digest.update(each);
      for (let number = 0; number < count; number++) expected.update(piece);
      assert.equal(digest.digest("hex"), expected.digest("hex"));
      await files.remove("large");
    });
  });
}

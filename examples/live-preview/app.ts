// A web application that is seen, and seen to change, through its preview.

import { readFile } from "node:fs/promises";

import { temporarySandbox } from "atoll";

await using sandbox = await temporarySandbox({ labels: { kind: "preview" } });
await sandbox.files.upload(".", {
  "server.py": await readFile(new URL("../server.py", import.meta.url)),
  "public/index.html": "<h1>Hello</h1>\n",
});

const server = await sandbox.startProcess(["python3", "server.py"], { id: "web", restart: { onFailure: { max: 3 } } });
await server.waitForPort(5173, { path: "/", timeout: 30_000 });
const preview = await sandbox.exposePort(5173, { name: "the application" });
// `preview.url` is for browsers; not every resolver knows names below localhost.
const url = preview.pathUrl!;

const look = async () => console.log("the preview answers:", (await (await fetch(url)).text()).trim());
await look();

/** What a page would do with an EventSource. */
async function* told(): AsyncGenerator<string> {
  const hangUp = new AbortController();
  const response = await fetch(`${url}events`, { signal: hangUp.signal });
  try {
    for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) {
      for (const line of piece.split("\n")) if (line.startsWith("data: ")) yield line.slice(6);
    }
  } finally {
    hangUp.abort();
  }
}

for await (const event of told()) {
  if (event === "listening") {
    console.log("the page listens");
    await sandbox.files.edit("public/index.html", [{ old: "Hello", new: "Hello, atoll" }]);
  } else {
    console.log("the page is told:", event);
    break;
  }
}
await look();
await sandbox.unexposePort(5173);
console.log("after unexpose:", (await fetch(url)).status);

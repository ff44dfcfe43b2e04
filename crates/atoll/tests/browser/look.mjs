// Looks at pages with a real browser. Told what to do by lines of JSON on standard input; each is answered by one.
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM,
  args: ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"],
});
const context = await browser.newContext();
const complaints = [];

async function open(url, says) {
  const page = await context.newPage();
  page.on("pageerror", (error) => complaints.push(String(error)));
  const said = says && page.waitForEvent("console", { predicate: (line) => line.text().includes(says), timeout: 20000 });
  await page.goto(url);
  await said;
  return page;
}

let page;
const deeds = {
  // Opens a page, and waits for a text in it and for what it says on the console.
  async open({ url, text, says }) {
    page = await open(url, says);
    await page.getByText(text).waitFor({ timeout: 20000 });
    // Gone if the page is loaded anew.
    await page.evaluate(() => (window.since = "the beginning"));
    return { title: await page.title(), url: page.url() };
  },
  // Waits for a text that comes by itself.
  async wait({ text }) {
    await page.getByText(text).waitFor({ timeout: 20000 });
    return { same: (await page.evaluate(() => window.since)) === "the beginning" };
  },
  async click({ text }) {
    await page.getByText(text).click();
    return { body: await page.locator("body").innerText(), url: page.url() };
  },
  // What a page of the preview can do with its own server.
  async use({ base }) {
    return page.evaluate(async (base) => {
      const at = (path) => new URL(path, base).href;
      const events = await new Promise((done, failed) => {
        const seen = [];
        const source = new EventSource(at("sse?every=0.01"));
        source.onmessage = (event) => seen.push(event.data) === 5 && (source.close(), done(seen));
        source.onerror = () => failed(new Error("no events"));
      });
      const echoed = await new Promise((done, failed) => {
        const socket = new WebSocket(at("ws").replace("http", "ws"));
        socket.onopen = () => socket.send("hello from a page");
        socket.onmessage = (event) => (done(event.data), socket.close(4001));
        socket.onerror = () => failed(new Error("no socket"));
      });
      const body = new Uint8Array(8 * 1024 * 1024).fill(7);
      const uploaded = await (await fetch(at("upload"), { method: "POST", body })).json();
      const downloaded = (await (await fetch(at("download?bytes=8388608"))).arrayBuffer()).byteLength;
      await fetch(at("redirect?to=/echo"));
      const cookie = (await (await fetch(at("echo"))).json()).headers.find(([name]) => name === "cookie");
      return { events, echoed, uploaded: uploaded.bytes, downloaded, cookie: cookie?.[1] };
    }, base);
  },
  async complaints() {
    return { complaints };
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const { deed, ...given } = JSON.parse(line);
  let told;
  try {
    told = await deeds[deed](given);
  } catch (error) {
    told = { failed: String(error), complaints, body: await page?.content().catch(() => "") };
  }
  console.log(JSON.stringify(told));
}
await browser.close();

// What a user of the installed package writes, to be checked by tsc --strict and run. Not part of the suite.

import { Client, type ExecResult, RefusedError, type Sandbox, getSandbox, type models } from "atoll";

async function use(sandbox: Sandbox): Promise<number | undefined> {
  const result: ExecResult = await sandbox.exec("echo typed", { env: { A: null }, timeout: 10_000 });
  const process = await sandbox.startProcess(["true"], { stdin: "closed", restart: { onFailure: { max: 1 } } });
  const end: models.EndRecord = (await process.waitForExit()).end;
  if (result.stdout !== "typed\n") throw new Error(result.stdout);
  return end.code;
}

const sandbox = getSandbox("consumer", { labels: { kind: "check" } });
if ((await use(sandbox)) !== 0) throw new Error("it ended otherwise");
// What is wrong is seen before it runs.
const wrong = async () => {
  // @ts-expect-error a time is a number
  await sandbox.exec("true", { timeout: "soon" });
  // @ts-expect-error there is no such option
  await sandbox.exec("true", { noSuchOption: 1 });
};
void wrong;
await sandbox.destroy();
const refused = await new Client().sandbox("consumer").info().catch((error: unknown) => error);
if (!(refused instanceof RefusedError) || refused.code !== "SANDBOX_NOT_FOUND") throw new Error("it is still there");
console.log("the tarball works");

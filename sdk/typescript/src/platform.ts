// What the place where this runs has: modules of Node (also in Bun and Deno), variables; or none of that, in a browser.

import type * as Fs from "node:fs";
import type * as Http from "node:http";
import type * as Https from "node:https";
import type * as Os from "node:os";

interface Modules {
  "node:fs": typeof Fs;
  "node:http": typeof Http;
  "node:https": typeof Https;
  "node:os": typeof Os;
}

interface Process {
  readonly env?: Readonly<Record<string, string | undefined>>;
  getBuiltinModule?(name: string): unknown;
  getuid?(): number;
}

const process = (globalThis as { process?: Process }).process;

/** A module of the platform, or nothing. Not imported: bundlers for browsers would look for it. */
export function builtin<Name extends keyof Modules>(name: Name): Modules[Name] | undefined {
  return process?.getBuiltinModule?.(name) as Modules[Name] | undefined;
}

/** A variable that is set and not empty. */
export function variable(name: string): string | undefined {
  return process?.env?.[name] || undefined;
}

export function isRoot(): boolean {
  return process?.getuid?.() === 0;
}

// Between our spelling and the wire's, by the table that is made from the API's description.
//
// Keys that are the caller's own (variables, labels) are never touched.

import { InvalidError, NonsenseError } from "./failure.js";
import { type Types, shapes } from "./models.js";

type Field = readonly [ours: string, wire: string, holds?: string];
type Known =
  | { readonly fields: readonly Field[] }
  | { readonly choice: readonly Field[] }
  | { readonly tag: string; readonly variants: readonly (readonly [string, string])[] };

const table = shapes as unknown as Readonly<Record<string, Known>>;

/** An answer of this kind. */
export function decode<S extends keyof Types>(shape: S, data: unknown): Types[S] {
  try {
    return read(shape, data) as Types[S];
  } catch (error) {
    throw error instanceof NonsenseError ? error : new NonsenseError(`no ${shape}: ${String(error)}`);
  }
}

/** What is sent. A field that the API does not know is refused here, by name. */
export function encode<S extends keyof Types>(shape: S, value: Types[S]): unknown {
  return write(shape, value);
}

function inner(holds: string, value: unknown, step: (shape: string, value: unknown) => unknown): unknown {
  if (value === null || value === undefined) return value;
  if (holds.endsWith("[]")) {
    return (value as unknown[]).map((each) => inner(holds.slice(0, -2), each, step));
  }
  if (holds.endsWith("{}")) {
    const entries = Object.entries(value as Record<string, unknown>);
    return Object.fromEntries(entries.map(([key, each]) => [key, inner(holds.slice(0, -2), each, step)]));
  }
  return step(holds, value);
}

function read(shape: string, data: unknown): unknown {
  if (shape === "date") return new Date(data as string);
  const known = table[shape];
  if (known === undefined || typeof data !== "object" || data === null) {
    if (known !== undefined && !("choice" in known)) throw new NonsenseError(`no ${shape}`);
    return data;
  }
  const given = data as Record<string, unknown>;
  if ("tag" in known) return read(variant(known, String(given[known.tag])), data);
  const result: Record<string, unknown> = {};
  for (const [ours, wire, holds] of "fields" in known ? known.fields : known.choice) {
    const value = given[wire];
    if (value !== undefined && value !== null) result[ours] = holds ? inner(holds, value, read) : value;
  }
  return result;
}

function write(shape: string, value: unknown): unknown {
  if (shape === "date") return value instanceof Date ? value.toISOString() : value;
  const known = table[shape];
  if (known === undefined || typeof value !== "object" || value === null) return value;
  const given = value as Record<string, unknown>;
  if ("tag" in known) return write(variant(known, String(given[known.tag])), value);
  const fields = "fields" in known ? known.fields : known.choice;
  const result: Record<string, unknown> = {};
  for (const [key, each] of Object.entries(given)) {
    if (each === undefined) continue;
    const field = fields.find(([ours]) => ours === key);
    if (!field) {
      throw new InvalidError(`\`${key}\` is no option here`, `known are ${fields.map(([ours]) => ours).join(", ")}`);
    }
    const [, wire, holds] = field;
    result[wire] = holds ? inner(holds, each, write) : each;
  }
  return result;
}

function variant(known: { tag: string; variants: readonly (readonly [string, string])[] }, word: string): string {
  const found = known.variants.find(([each]) => each === word);
  if (!found) throw new NonsenseError(`an unknown ${known.tag}: ${word}`);
  return found[1];
}

/** Bytes from base64. */
export function fromBase64(text: string): Uint8Array {
  const buffer = (globalThis as { Buffer?: { from(text: string, encoding: "base64"): Uint8Array } }).Buffer;
  if (buffer) return buffer.from(text, "base64");
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let index = 0; index < binary.length; index++) bytes[index] = binary.charCodeAt(index);
  return bytes;
}

/** Base64 from bytes. */
export function toBase64(bytes: Uint8Array): string {
  const buffer = (globalThis as { Buffer?: { from(bytes: Uint8Array): { toString(encoding: "base64"): string } } }).Buffer;
  if (buffer) return buffer.from(bytes).toString("base64");
  let binary = "";
  const step = 0x8000;
  for (let start = 0; start < bytes.length; start += step) {
    binary += String.fromCharCode(...bytes.subarray(start, start + step));
  }
  return btoa(binary);
}

/** Bytes of a text; bytes as they are. */
export function toBytes(data: string | Uint8Array): Uint8Array {
  return typeof data === "string" ? new TextEncoder().encode(data) : data;
}

// A WebSocket over a connection that was upgraded (RFC 6455), the client's side. No extensions.

import type { Socket } from "node:net";

import { toBase64, toBytes } from "./codec.js";
import { BrokenError } from "./failure.js";
import type { Line } from "./wire.js";

const TEXT = 1;
const BINARY = 2;
const CLOSE = 8;
const PING = 9;
const PONG = 10;
/** What is not read yet: more makes the other side wait. */
const QUEUE_MAX = 1024 * 1024;
/** The largest message that makes sense here. */
const MESSAGE_MAX = 64 * 1024 * 1024;
/** What is put behind the key before it is hashed; the RFC's own words. */
const MAGIC = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

export function newKey(): string {
  return toBase64(crypto.getRandomValues(new Uint8Array(16)));
}

/** What a server that understood answers to a key. */
export async function acceptKey(key: string): Promise<string> {
  return toBase64(new Uint8Array(await crypto.subtle.digest("SHA-1", toBytes(key + MAGIC))));
}

/** One frame. What a client sends is masked, so that nothing in between takes it for something else. */
export function frame(kind: number, payload: Uint8Array): Uint8Array {
  const length = payload.length;
  const extra = length < 126 ? 0 : length < 65536 ? 2 : 8;
  const bytes = new Uint8Array(2 + extra + 4 + length);
  const view = new DataView(bytes.buffer);
  bytes[0] = 0x80 | kind;
  bytes[1] = 0x80 | (extra === 0 ? length : extra === 2 ? 126 : 127);
  if (extra === 2) view.setUint16(2, length);
  if (extra === 8) view.setBigUint64(2, BigInt(length));
  const mask = crypto.getRandomValues(new Uint8Array(4));
  bytes.set(mask, 2 + extra);
  for (let index = 0; index < length; index++) bytes[6 + extra + index] = payload[index]! ^ mask[index & 3]!;
  return bytes;
}

export interface Frame {
  readonly last: boolean;
  readonly kind: number;
  readonly payload: Uint8Array;
}

/** Frames from bytes, in whatever pieces these come. */
export class FrameParser {
  #begun: Uint8Array = new Uint8Array(0);

  push(bytes: Uint8Array): Frame[] {
    let left = bytes;
    if (this.#begun.length > 0) {
      left = new Uint8Array(this.#begun.length + bytes.length);
      left.set(this.#begun);
      left.set(bytes, this.#begun.length);
    }
    const frames: Frame[] = [];
    for (;;) {
      const taken = FrameParser.#one(left, frames);
      if (taken === 0) break;
      left = left.subarray(taken);
    }
    this.#begun = left.slice();
    return frames;
  }

  /** Takes one whole frame from the front; how long it is, 0 if it is not whole. */
  static #one(bytes: Uint8Array, frames: Frame[]): number {
    if (bytes.length < 2) return 0;
    const short = bytes[1]! & 0x7f;
    if ((bytes[1]! & 0x80) !== 0 || (bytes[0]! & 0x70) !== 0) throw new BrokenError("the connection broke: a frame that none should send");
    const extra = short === 126 ? 2 : short === 127 ? 8 : 0;
    const head = 2 + extra;
    if (bytes.length < head) return 0;
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const length = extra === 0 ? short : extra === 2 ? view.getUint16(2) : Number(view.getBigUint64(2));
    if (length > MESSAGE_MAX) throw new BrokenError("the connection broke: a frame that is too large");
    if (bytes.length < head + length) return 0;
    frames.push({ last: (bytes[0]! & 0x80) !== 0, kind: bytes[0]! & 0x0f, payload: bytes.slice(head, head + length) });
    return head + length;
  }
}

export class WebSocketLine implements Line {
  #socket: Socket;
  #parser = new FrameParser();
  /** The parts of a message that has not ended. */
  #parts: Uint8Array[] = [];
  #kind = 0;
  #queue: (string | Uint8Array)[] = [];
  #queued = 0;
  #waiting: { resolve(frame: string | Uint8Array | undefined): void; reject(error: unknown): void } | undefined;
  #end: "open" | "closed" | BrokenError = "open";

  constructor(socket: Socket, begun: Uint8Array) {
    this.#socket = socket;
    socket.on("data", (bytes: Uint8Array) => this.#arrived(bytes));
    socket.on("error", (error: Error) => this.#over(new BrokenError(`the connection broke: ${error.message}`)));
    for (const event of ["end", "close"]) socket.on(event, () => this.#over(new BrokenError("the connection broke: the server closed it")));
    if (begun.length > 0) this.#arrived(begun);
    if (socket.destroyed) this.#over(new BrokenError("the connection broke: the server closed it"));
  }

  next(): Promise<string | Uint8Array | undefined> {
    const frame = this.#queue.shift();
    if (frame !== undefined) {
      this.#queued -= frame.length;
      if (this.#queued < QUEUE_MAX) this.#socket.resume();
      return Promise.resolve(frame);
    }
    if (this.#end === "closed") return Promise.resolve(undefined);
    if (this.#end !== "open") return Promise.reject(this.#end);
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
    });
  }

  send(data: string | Uint8Array): Promise<void> {
    return this.#write(typeof data === "string" ? TEXT : BINARY, toBytes(data));
  }

  close(): void {
    this.#end = "closed";
    this.#write(CLOSE, new Uint8Array([0x03, 0xe8])).catch(() => {});
    this.#socket.end();
    this.#socket.destroySoon?.();
    this.#waiting?.resolve(undefined);
    this.#waiting = undefined;
  }

  #write(kind: number, payload: Uint8Array): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#socket.write(frame(kind, payload), (error) => {
        if (error) reject(new BrokenError(`the connection broke: ${error.message}`, undefined, error));
        else resolve();
      });
    });
  }

  #arrived(bytes: Uint8Array): void {
    try {
      for (const each of this.#parser.push(bytes)) this.#take(each);
    } catch (error) {
      this.#over(error as BrokenError);
      this.#socket.destroy();
    }
  }

  #take(each: Frame): void {
    if (each.kind === PING) this.#write(PONG, each.payload).catch(() => {});
    else if (each.kind === CLOSE) {
      this.#write(CLOSE, each.payload.slice(0, 2)).catch(() => {});
      this.#over("closed");
      this.#socket.end();
    } else if (each.kind !== PONG) {
      if (each.kind !== 0) this.#kind = each.kind;
      this.#parts.push(each.payload);
      if (each.last) this.#message();
    }
  }

  #message(): void {
    const parts = this.#parts;
    this.#parts = [];
    let whole = parts[0] ?? new Uint8Array(0);
    if (parts.length > 1) {
      whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
      let offset = 0;
      for (const part of parts) {
        whole.set(part, offset);
        offset += part.length;
      }
    }
    const message = this.#kind === TEXT ? new TextDecoder().decode(whole) : whole;
    if (this.#waiting) {
      this.#waiting.resolve(message);
      this.#waiting = undefined;
      return;
    }
    this.#queue.push(message);
    this.#queued += message.length;
    if (this.#queued >= QUEUE_MAX) this.#socket.pause();
  }

  #over(end: "closed" | BrokenError): void {
    if (this.#end === "open") this.#end = end;
    if (this.#end === "closed") this.#waiting?.resolve(undefined);
    else this.#waiting?.reject(this.#end);
    this.#waiting = undefined;
  }
}

// Server-sent events from bytes, in whatever pieces these come (https://html.spec.whatwg.org/#parsing-an-event-stream).

import { NonsenseError } from "./failure.js";

/** Longest event. An answer holds up to 64 MiB of each output, and base64 makes that a third more. */
const EVENT_MAX = 256 * 1024 * 1024;

export interface ServerEvent {
  readonly name: string;
  readonly data: string;
}

/** What has come so far. */
export class EventParser {
  #decoder = new TextDecoder();
  /** Pieces of a line without its end: joined once, when that comes. */
  #begun: string[] = [];
  #length = 0;
  #name = "";
  #data: string[] = [];

  /** The events that are whole now. */
  push(bytes: Uint8Array): ServerEvent[] {
    const ready: ServerEvent[] = [];
    const text = this.#decoder.decode(bytes, { stream: true });
    let start = 0;
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", start)) {
      this.#begun.push(text.slice(start, end));
      const line = this.#begun.length === 1 ? this.#begun[0]! : this.#begun.join("");
      this.#begun = [];
      this.#length = 0;
      start = end + 1;
      const event = this.#line(line.endsWith("\r") ? line.slice(0, -1) : line);
      if (event) ready.push(event);
    }
    if (start < text.length) {
      this.#begun.push(text.slice(start));
      this.#length += text.length - start;
      if (this.#length > EVENT_MAX) throw new NonsenseError("an event without end");
    }
    return ready;
  }

  #line(line: string): ServerEvent | undefined {
    if (line === "") {
      const event = this.#data.length > 0 ? { name: this.#name, data: this.#data.join("\n") } : undefined;
      this.#name = "";
      this.#data = [];
      return event;
    }
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
    if (field === "event") this.#name = value;
    else if (field === "data") this.#data.push(value);
    // Ids are in the data too; a comment has an empty name.
    return undefined;
  }
}

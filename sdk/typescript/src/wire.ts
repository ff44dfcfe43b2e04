// The way bytes go: what the rest of this package needs of a platform.

/** A request that is ready to be sent. */
export interface Question {
  readonly method: string;
  /** With its parameters. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | AsyncIterable<Uint8Array> | undefined;
  readonly signal?: AbortSignal | undefined;
  /** The longest silence that is no dead line, in milliseconds; none if the answer may take as long as it takes. */
  readonly silenceMax?: number | undefined;
}

/** An answer whose body is still to come. */
export interface Answer {
  readonly status: number;
  header(name: string): string | undefined;
  /** Breaking off hangs up. A line that breaks is a `BrokenError`. */
  body(): AsyncIterable<Uint8Array>;
}

/** A WebSocket, or what does its work. */
export interface Line {
  /** The next frame; nothing behind the last. */
  next(): Promise<string | Uint8Array | undefined>;
  send(data: string | Uint8Array): Promise<void>;
  close(): void;
}

/** A connection that is no longer HTTP: bytes both ways. */
export interface Pipe {
  /** What comes, to its end. */
  readonly bytes: AsyncIterable<Uint8Array>;
  write(data: Uint8Array): Promise<void>;
  /** Ends our half; what still comes can be read. */
  end(): Promise<void>;
  close(): void;
}

/** A way to one server. */
export interface Wire {
  ask(question: Question): Promise<Answer>;
  /** A line to a terminal. `path` ends with `/attach`. */
  dial(path: string, query: Readonly<Record<string, string>>, headers: Readonly<Record<string, string>>): Promise<Line>;
  /** Changes over to another protocol. */
  upgrade(path: string, protocol: string, headers: Readonly<Record<string, string>>): Promise<Pipe>;
  close(): void;
}

/** These pieces; leaving off calls `close`, also before the first was asked for, when a generator would not notice. */
export function leavable(pieces: AsyncIterable<Uint8Array>, close: () => void): AsyncIterable<Uint8Array> {
  const iterator = pieces[Symbol.asyncIterator]();
  return {
    [Symbol.asyncIterator]: () => ({
      next: () => iterator.next(),
      return: async () => {
        close();
        await iterator.return?.();
        return { done: true, value: undefined };
      },
    }),
  };
}

/** The whole of a body. */
export async function collect(pieces: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const piece of pieces) {
    parts.push(piece);
    length += piece.length;
  }
  if (parts.length === 1) return parts[0]!;
  const whole = new Uint8Array(length);
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}

/** Parameters behind a path. Bytes are percent-encoded as they are: a path may be no UTF-8. */
export function queryText(query: Readonly<Record<string, unknown>> | undefined): string {
  const pairs: string[] = [];
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value === undefined || value === null) continue;
    for (const each of Array.isArray(value) ? value : [value]) pairs.push(`${encodeURIComponent(name)}=${escaped(each)}`);
  }
  return pairs.length > 0 ? `?${pairs.join("&")}` : "";
}

function escaped(value: unknown): string {
  if (!(value instanceof Uint8Array)) return encodeURIComponent(String(value));
  return Array.from(value, (byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");
}

// Files: reading, writing, listing, changing, finding; whole trees as archives.

import { toBase64, toBytes } from "./codec.js";
import { UnreachableError } from "./failure.js";
import { type ListOptions, SearchStream, list } from "./lines.js";
import type * as models from "./models.js";
import type { Place } from "./place.js";
import { Retry, sleep } from "./retry.js";
import { madeUp } from "./streams.js";
import { type CallOptions, encode } from "./transport.js";
import { collect } from "./wire.js";

/** A path inside a sandbox; relative ones are below its working directory. Bytes, if it is no UTF-8. */
export type Path = string | Uint8Array;
/** What is written: a text, bytes, or pieces as they come. */
export type FileContent = string | Uint8Array | AsyncIterable<Uint8Array>;

/** How to write. */
export interface WriteOptions extends CallOptions {
  /** Permission bits, in octal. Else those that the file has, or 0644. */
  readonly mode?: string | undefined;
  /** Makes the directories above it that are missing. */
  readonly parents?: boolean | undefined;
  /** Adds to its end. */
  readonly append?: boolean | undefined;
  /** Only if it is in the state with this tag. */
  readonly ifMatch?: string | undefined;
  /** Only if there is none. */
  readonly ifAbsent?: boolean | undefined;
  /** The user to write as. */
  readonly user?: string | undefined;
}

/** Who looks, and whether at a symbolic link itself. */
export interface LookOptions extends CallOptions {
  readonly link?: boolean | undefined;
  readonly user?: string | undefined;
}

/** The files of a sandbox. */
export class Files {
  #place: Place;

  constructor(place: Place) {
    this.#place = place;
  }

  /** A whole file. */
  read(path: Path, options: CallOptions & { user?: string | undefined } = {}): Promise<Uint8Array> {
    return collect(this.open(path, options));
  }

  /** A whole file as text. */
  async readText(path: Path, options: CallOptions & { user?: string | undefined } = {}): Promise<string> {
    return new TextDecoder().decode(await this.read(path, options));
  }

  /**
   * A file or a part of it, piece by piece, of any size.
   *
   * After a dropped connection it goes on at the same byte; if the file has changed meanwhile, that is a
   * `PreconditionFailedError`.
   */
  open(path: Path, options: CallOptions & { offset?: number; length?: number; user?: string | undefined } = {}): FileStream {
    const { offset = 0, length, user, signal } = options;
    return new FileStream(this.#place, { path, user }, offset, length, signal);
  }

  /** Writes a file, of any size, in one step: until all of it is there, nothing has changed. */
  write(path: Path, data: FileContent, options: WriteOptions = {}): Promise<models.WriteReceipt> {
    const { mode, parents, append, ifMatch, ifAbsent, user, signal } = options;
    const whole = typeof data === "string" || data instanceof Uint8Array;
    return this.#place.json("WriteReceipt", "PUT", "/files/content", {
      query: { path, mode, parents, append, user },
      headers: { ...(ifMatch ? { "if-match": ifMatch } : {}), ...(ifAbsent ? { "if-none-match": "*" } : {}) },
      content: typeof data === "string" ? toBytes(data) : data,
      // What depends on the state before would not be found in it when asked for again.
      repeat: whole && !append && !ifMatch && !ifAbsent ? "safe" : "never",
      signal,
    });
  }

  /** What is known of a file. */
  stat(path: Path, options: LookOptions = {}): Promise<models.FileInfo> {
    const { link, user, signal } = options;
    return this.#place.get("FileInfo", "/files/stat", { path, link, user }, { signal });
  }

  /** Whether something is there. */
  async exists(path: Path, options: LookOptions = {}): Promise<boolean> {
    const { link, user, signal } = options;
    return (await this.#place.get("FileExists", "/files/exists", { path, link, user }, { signal })).exists;
  }

  /**
   * What is in a directory, `depth` levels deep, in the order of names. Of however many entries, one is in memory.
   *
   * After a dropped connection it goes on behind the last one.
   */
  list(path: Path = ".", options: ListOptions = {}): AsyncGenerator<models.FileInfo, void> {
    return list(this.#place, path, options);
  }

  /** Makes a directory; with `parents` also those above it, and one that is there is no error. */
  async mkdir(path: Path, options: models.MakeDirectoryOptions = {}): Promise<models.FileInfo> {
    const body = encode("MakeDirectoryRequest", { ...said("path", path), ...options });
    return (await this.#place.post("MakeDirectoryReceipt", "/files/mkdir", body)).file;
  }

  /** Removes a file or a directory; a link, never what it leads to. How many things were removed. */
  async remove(
    path: Path,
    options: { recursive?: boolean; missingOk?: boolean; user?: string | undefined } = {},
  ): Promise<number> {
    const { recursive, missingOk, user } = options;
    const query = { path, recursive, missing_ok: missingOk, user };
    return (await this.#place.json("FileCount", "DELETE", "/files", { query })).count;
  }

  /** Another name, in one step. Never copies. */
  rename(from: Path, to: Path, options: models.RenameOptions = {}): Promise<models.FileInfo> {
    return this.#place.post("FileInfo", "/files/rename", fromTo(from, to, options));
  }

  /** Another place: a rename where that can be had, else a copy. */
  move(from: Path, to: Path, options: models.RenameOptions = {}): Promise<models.FileInfo> {
    return this.#place.post("FileInfo", "/files/move", fromTo(from, to, options));
  }

  /** Copies a file, or with `recursive` a directory. How many things were copied. */
  async copy(from: Path, to: Path, options: models.CopyOptions = {}): Promise<number> {
    return (await this.#place.post("FileCount", "/files/copy", fromTo(from, to, options))).count;
  }

  /** Sets permission bits, in octal: `"0755"`. How many things were changed. */
  async chmod(path: Path, mode: string, options: models.ModeOptions = {}): Promise<number> {
    const body = encode("ModeRequest", { ...said("path", path), mode, ...options });
    return (await this.#place.post("FileCount", "/files/chmod", body)).count;
  }

  /** Makes `path` a symbolic link to `target`. */
  symlink(path: Path, target: Path, options: models.SymlinkOptions = {}): Promise<models.FileInfo> {
    const body = encode("SymlinkRequest", { ...said("path", path), ...said("target", target), ...options });
    return this.#place.post("FileInfo", "/files/symlink", body);
  }

  /** Writes many files below a directory, by their paths in it; directories are made as needed. */
  async upload(
    path: Path,
    files: Readonly<Record<string, string | Uint8Array>>,
    options: { user?: string } = {},
  ): Promise<readonly models.WriteReceipt[]> {
    const border = madeUp();
    const parts = Object.entries(files).map(([name, data]) => part(border, name, toBytes(data)));
    const content = await collect(from([...parts.flat(), toBytes(`--${border}--\r\n`)]));
    const answer = await this.#place.json("UploadReceipt", "POST", "/files/upload", {
      query: { path, user: options.user },
      content,
      headers: { "content-type": `multipart/form-data; boundary=${border}` },
      repeat: "safe",
    });
    return answer.files;
  }

  /** Lines that match, in the files below a directory. A regular expression (Rust's), unless `syntax` says otherwise. */
  search(pattern: string, path: Path = ".", options: models.SearchOptions & CallOptions = {}): Promise<models.SearchAnswer> {
    const { signal, ...rest } = options;
    const body = encode("SearchRequest", { ...said("path", path), pattern, ...rest });
    return this.#place.post("SearchAnswer", "/files/search", body, { signal, repeat: "safe" });
  }

  /** The same, told as it is found, `maxMatches` as many as you like: `for await (const match of files.searchStream("TODO"))`. */
  searchStream(pattern: string, path: Path = ".", options: models.SearchOptions & CallOptions = {}): SearchStream {
    const { signal, ...rest } = options;
    return new SearchStream(this.#place, encode("SearchRequest", { ...said("path", path), pattern, ...rest }), { signal });
  }

  /** Names below a directory that match: `*` and `?` stay within a name, `**` does not. */
  glob(
    patterns: string | readonly string[],
    path: Path = ".",
    options: models.GlobOptions & CallOptions = {},
  ): Promise<models.GlobAnswer> {
    const { signal, ...rest } = options;
    const wanted = typeof patterns === "string" ? [patterns] : patterns;
    const body = encode("GlobRequest", { ...said("path", path), patterns: wanted, ...rest });
    return this.#place.post("GlobAnswer", "/files/glob", body, { signal, repeat: "safe" });
  }

  /**
   * Replaces exact texts in a file: all of them, one after the other, or none. Each must be there once, or `count` times,
   * or with `all` any number of times.
   */
  edit(
    path: Path,
    edits: readonly models.EditText[],
    options: { ifMatch?: string; user?: string } = {},
  ): Promise<models.EditReceipt> {
    const body = encode("EditRequest", { ...said("path", path), edits, ...options });
    return this.#place.post("EditReceipt", "/files/edit", body);
  }

  /** Applies a unified diff to the files below a directory: all of it or nothing. */
  patch(
    patch: string | Uint8Array,
    path: Path = ".",
    options: { fuzz?: number; strip?: number; dryRun?: boolean; user?: string } = {},
  ): Promise<models.PatchReceipt> {
    const { fuzz, strip, dryRun, user } = options;
    return this.#place.json("PatchReceipt", "POST", "/files/patch", {
      query: { path, fuzz, strip, dry_run: dryRun, user },
      content: toBytes(patch),
      headers: { "content-type": "text/x-patch" },
    });
  }

  /** A tree as an archive, piece by piece. */
  async *pack(
    path: Path = ".",
    options: CallOptions & {
      format?: models.ArchiveFormat;
      include?: readonly string[];
      exclude?: readonly string[];
      gitignore?: boolean;
      user?: string;
    } = {},
  ): AsyncGenerator<Uint8Array, void> {
    const { signal, ...rest } = options;
    const asked = { query: { path, ...rest }, signal };
    // Looking through a tree of which little is packed may take its time.
    yield* (await this.#place.stream("GET", "/files/archive", asked, "long")).body();
  }

  /** Unpacks an archive into a directory. Nothing in it leads out of there. */
  unpack(
    path: Path,
    archive: Uint8Array | AsyncIterable<Uint8Array>,
    options: CallOptions & {
      format?: models.ArchiveFormat;
      strip?: number;
      existing?: models.ArchiveExisting;
      maxEntries?: number;
      maxBytes?: number;
      user?: string;
    } = {},
  ): Promise<models.UnpackReceipt> {
    const { signal, maxEntries, maxBytes, ...rest } = options;
    const query = { path, max_entries: maxEntries, max_bytes: maxBytes, ...rest };
    return this.#place.json("UnpackReceipt", "PUT", "/files/archive", { query, content: archive, signal });
  }
}

/** A file, piece by piece. A dropped connection is not noticed but for the time that it takes to come back. */
export class FileStream implements AsyncIterableIterator<Uint8Array> {
  /** Everything before this was told. */
  offset: number;
  /** Which state of the file it is, once it has begun. */
  etag: string | undefined;
  #place: Place;
  #query: Readonly<Record<string, unknown>>;
  #end: number | undefined;
  #signal: AbortSignal | undefined;
  #retry: Retry;
  #pieces: AsyncIterator<Uint8Array> | undefined;
  #over: boolean;

  constructor(
    place: Place,
    query: Readonly<Record<string, unknown>>,
    offset: number,
    length: number | undefined,
    signal: AbortSignal | undefined,
  ) {
    this.#place = place;
    this.#query = query;
    this.offset = offset;
    this.#end = length === undefined ? undefined : offset + length;
    this.#signal = signal;
    this.#retry = new Retry(place.transport.patience);
    this.#over = length === 0;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<Uint8Array, undefined>> {
    while (!this.#over) {
      try {
        this.#pieces ??= await this.#connect();
        const { done, value } = await this.#pieces.next();
        if (done) break;
        this.offset += value.length;
        this.#retry.succeeded();
        return { done: false, value };
      } catch (error) {
        await this.#hangUp();
        this.#signal?.throwIfAborted();
        if (error instanceof UnreachableError && this.etag === undefined) throw error;
        if (this.#end !== undefined && this.offset >= this.#end) break;
        await sleep(this.#retry.failed(error), this.#signal);
      }
    }
    return this.return();
  }

  /** Hangs up. */
  async return(): Promise<IteratorResult<Uint8Array, undefined>> {
    this.#over = true;
    await this.#hangUp();
    return { done: true, value: undefined };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }

  async #connect(): Promise<AsyncIterator<Uint8Array>> {
    const headers: Record<string, string> = {};
    if (this.offset > 0 || this.#end !== undefined) {
      headers["range"] = `bytes=${this.offset}-${this.#end === undefined ? "" : this.#end - 1}`;
    }
    if (this.etag !== undefined) headers["if-match"] = this.etag;
    const answer = await this.#place.stream("GET", "/files/content", { query: this.#query, headers, signal: this.#signal });
    this.etag ??= answer.header("etag");
    return answer.body()[Symbol.asyncIterator]();
  }

  async #hangUp(): Promise<void> {
    const pieces = this.#pieces;
    this.#pieces = undefined;
    await pieces?.return?.().catch(() => {});
  }
}

/** For JSON: the field of this name, or the one beside it that holds base64. */
export function said(name: string, path: Path): Record<string, string> {
  return typeof path === "string" ? { [name]: path } : { [`${name}Base64`]: toBase64(path) };
}

function fromTo(source: Path, to: Path, options: models.CopyOptions): unknown {
  return encode("FromToRequest", { ...said("from", source), ...said("to", to), ...options });
}

async function* from(parts: Iterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  yield* parts;
}

/** One file of a form. */
function part(border: string, name: string, data: Uint8Array): Uint8Array[] {
  const plain = /^[\x20-\x7e]*$/.test(name);
  const field = plain ? "file" : "file_base64";
  const spelled = plain ? name.replace(/["\\]/g, "\\$&") : toBase64(toBytes(name));
  const head = `--${border}\r\ncontent-disposition: form-data; name="${field}"; filename="${spelled}"\r\n\r\n`;
  return [toBytes(head), data, toBytes("\r\n")];
}

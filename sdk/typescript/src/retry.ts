// When to try again: soon at first, then less often, and not for ever. Times only; what is tried is others' matter.

import { isPassing } from "./failure.js";

/** The first pause, and the longest, in milliseconds. */
export const PAUSE = 50;
export const PAUSE_MAX = 2000;

/** The state of one effort. */
export class Retry {
  #patience: number;
  #pause = PAUSE;
  #since: number | undefined;

  constructor(patience: number) {
    this.#patience = patience;
  }

  succeeded(): void {
    this.#pause = PAUSE;
    this.#since = undefined;
  }

  /** How long to wait before the next try. The error again, if there is to be none. */
  failed(error: unknown): number {
    if (!isPassing(error) || !this.mayWait(this.#pause)) throw error;
    const pause = this.#pause;
    this.#pause = Math.min(this.#pause * 2, PAUSE_MAX);
    return pause;
  }

  /** Whether so long a wait is within what the caller puts up with. */
  mayWait(pause: number): boolean {
    const now = performance.now();
    this.#since ??= now;
    return now + pause <= this.#since + this.#patience;
  }
}

/** Waits, unless it is called off. */
export function sleep(pause: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, pause);
    signal?.addEventListener("abort", stop, { once: true });
  });
}

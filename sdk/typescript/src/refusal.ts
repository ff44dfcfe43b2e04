// Errors from answers. Something in between may have answered in words of its own.

import { byCode } from "./codes.js";
import { type Refusal, RefusedError } from "./failure.js";

export function refusal(status: number, body: Uint8Array, requestId?: string, retryAfter?: number): RefusedError {
  let told: unknown;
  try {
    told = (JSON.parse(new TextDecoder().decode(body)) as { error?: unknown }).error;
  } catch {
    told = undefined;
  }
  return refused(told, status, requestId, retryAfter);
}

/** From the body of an error, which may have come as an event or a frame. */
export function refused(told: unknown, status: number, requestId?: string, retryAfter?: number): RefusedError {
  const { code, message, hint, details } = (told ?? {}) as Partial<Refusal>;
  if (typeof code !== "string" || typeof message !== "string") {
    return new RefusedError({ code: "", message: `the server answered ${status}`, status, requestId, retryAfter });
  }
  const kind = Object.hasOwn(byCode, code) ? byCode[code]! : RefusedError;
  return new kind({ code, message, status, hint: hint ?? undefined, details, requestId, retryAfter });
}

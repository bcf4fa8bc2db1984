import type { Problem, SessionQueue, WireEvent } from "./types";
import { isKnownEvent } from "./event-types";

/**
 * Converts JSON to typed values. The types are those of the service's schemas. The client checks
 * only the fields that it reads itself, and so needs no schema library. A program that does not
 * trust the server must validate the values.
 */

/** Parses JSON text; returns `undefined` if the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Parses a response's JSON as `T` without validation; `undefined` if the bytes are not JSON. */
export const toJson = <T>(bytes: Uint8Array): T | undefined =>
  parseJson(new TextDecoder().decode(bytes)) as T | undefined;

/** Parses the data of a server-sent event; `null` if it is no event, or if its type is unknown. */
export function toEvent(data: string): WireEvent | null {
  const value = parseJson(data);
  const isEvent =
    isRecord(value) && typeof value["type"] === "string" && isKnownEvent(value["type"]);
  return isEvent ? (value as WireEvent) : null;
}

/** Parses the data of the event `queue.changed`; `null` if it is no queue. */
export function toQueue(data: string): SessionQueue | null {
  const value = parseJson(data);
  return isRecord(value) && Array.isArray(value["data"]) ? (value as SessionQueue) : null;
}

/** Returns a JSON value as a problem (RFC 9457); `null` if the value is not a problem. */
export function toProblem(value: unknown): Problem | null {
  if (!isRecord(value)) return null;
  const { title, status, code, errors } = value;
  const isProblem =
    typeof title === "string" && typeof code === "string" && Number.isInteger(status);
  const hasGoodErrors = errors === undefined || (Array.isArray(errors) && errors.every(isFault));
  return isProblem && hasGoodErrors ? ({ type: "about:blank", ...value } as Problem) : null;
}

const isFault = (value: unknown): boolean =>
  isRecord(value) && typeof value["pointer"] === "string" && typeof value["detail"] === "string";

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

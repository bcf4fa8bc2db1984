import { classify } from "../errors";
import { isJsonObject } from "../json";

/** Throws what a chunk of a running stream, or a reply that is no stream, says of a failure; a reply says none. */
export function throwIfError(value: unknown, secrets: readonly string[]): void {
  if (isJsonObject(value) && isJsonObject(value["error"]))
    throw classify({ status: undefined, body: value }, secrets);
}

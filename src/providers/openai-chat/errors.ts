import { APIError } from "openai";
import { classify, toProviderError } from "../errors";
import type { ProviderError } from "../provider";

/** What this format adds to the shared rules: an error object inside a stream, which the SDK throws as an APIError. */
export function explainFailure(error: unknown, secrets: readonly string[]): ProviderError {
  if (error instanceof APIError && error.error !== undefined) {
    return classify({ status: error.status, body: { error: error.error } }, secrets);
  }
  return toProviderError(error, secrets);
}

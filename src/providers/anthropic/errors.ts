import { APIError } from "@anthropic-ai/sdk";
import { classify, toProviderError } from "../errors";
import type { ProviderError } from "../provider";

/** What this format adds to the shared rules: an error that the SDK read for us. */
export function explainFailure(error: unknown, secrets: readonly string[]): ProviderError {
  if (error instanceof APIError && error.error !== undefined) {
    return classify({ status: error.status, body: error.error }, secrets);
  }
  return toProviderError(error, secrets);
}

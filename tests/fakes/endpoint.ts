import { findHost } from "../../src/providers/hosts";
import type { ProviderOptions } from "../../src/providers/provider";

/** An endpoint with the defaults of its URL, and a test's changes. */
export function endpointAt(
  baseUrl: string,
  options: Partial<ProviderOptions> = {},
): ProviderOptions {
  return {
    baseUrl,
    apiKey: "k",
    fetch,
    host: findHost(baseUrl),
    apiVersion: null,
    background: false,
    ...options,
  };
}

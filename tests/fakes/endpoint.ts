import { findHost } from "../../src/providers/hosts";
import type { ProviderOptions } from "../../src/providers/provider";

/** An endpoint as its address alone tells it, with whatever a test wants otherwise. */
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

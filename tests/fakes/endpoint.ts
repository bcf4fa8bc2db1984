import { findHost } from "../../src/providers/hosts";
import type { ProviderOptions, TransportHooks } from "../../src/providers/provider";

/** Hooks of a call that nothing waits for: every address is admitted, and no slot is given away. */
export const NO_HOOKS: TransportHooks = {
  onBuilt: () => undefined,
  guard: (_url, _signal, send) => send(),
  onSend: () => undefined,
  onFailure: () => undefined,
  onHeaders: () => undefined,
  yieldSignal: new AbortController().signal,
};

/** An endpoint with the defaults of its URL, and a test's changes. */
export function endpointAt(
  baseUrl: string,
  options: Partial<ProviderOptions> = {},
): ProviderOptions {
  return {
    baseUrl,
    apiKey: "k",
    fetch,
    hooks: NO_HOOKS,
    host: findHost(baseUrl),
    apiVersion: null,
    background: false,
    ...options,
  };
}

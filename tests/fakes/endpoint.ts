import { BodyEnds } from "../../src/providers/body-ends";
import { findHost } from "../../src/providers/hosts";
import type { ProviderOptions, TransportHooks } from "../../src/providers/provider";

/** Hooks that do nothing: every address is allowed, and the call never yields its slot. */
export const NO_HOOKS: TransportHooks = {
  onBuilt: async () => undefined,
  guard: (_url, _signal, send) => send(),
  onSend: () => undefined,
  onFailure: () => undefined,
  onHeaders: () => undefined,
  yieldSignal: new AbortController().signal,
  readEnd: (reader) => new BodyEnds().read(reader),
};

/** An endpoint with the defaults for its URL, and with the options of a test. */
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

import { parseAllowedOrigins, parseToolOrigins } from "../../src/config/base-url";
import { operatorOrigins } from "../../src/config/endpoint";
import { CANNOT_REACH } from "../../src/coordination";
import type { AddressRules } from "../../src/outgoing/address-rules";
import {
  addressGuard,
  type AddressGuard,
  AddressRefusedError,
  guardedFetch,
  markedFetch,
  UnknownNameError,
  UnresolvedNameError,
  UnreachableOriginError,
  type Probe,
} from "../../src/outgoing/address-guard";
import { resolverOverHttps } from "../../src/outgoing/names";
import { HOSTS } from "../../src/providers/hosts";
import { ProviderError } from "../../src/providers/provider";
import { OPERATOR_VARIABLES } from "../../src/providers/registry";
import { type Env, readVariables } from "../../src/env";

const TRUSTED_ORIGINS = new Set(HOSTS.flatMap(({ origins }) => origins));

/** The resolver of host names, with one cache for all objects of this process. */
const resolveOver = resolverOverHttps({ now: () => Date.now() });

/** Access to other services: `guard` checks each request before `fetch` sends it. */
export type Network = { guard: AddressGuard; fetch: typeof fetch };

/**
 * The network over a `fetch` of the runtime, for example that of a relay. Lookups of host names use
 * it, too.
 */
export type NetworkOver = (send: typeof fetch) => Network;

/** The network of model calls, and of tools that a config describes. */
export function modelNetwork(
  env: Pick<Env, "ALLOWED_ORIGINS" | "SERVICE_ORIGINS">,
  probe?: Probe,
): NetworkOver {
  const operators = operatorOrigins(readVariables(env, OPERATOR_VARIABLES));
  const allowedOrigins = [...parseAllowedOrigins(env.ALLOWED_ORIGINS), ...operators];
  return networkWith({
    allowedOrigins,
    ownOrigins: parseAllowedOrigins(env.SERVICE_ORIGINS),
    probe,
  });
}

/**
 * The network of tool servers and their token issuers. The operator allows their origins with a
 * separate variable, `ALLOWED_TOOL_ORIGINS`.
 */
export function toolNetwork(
  env: Pick<Env, "ALLOWED_TOOL_ORIGINS" | "SERVICE_ORIGINS">,
): NetworkOver {
  const allowedOrigins = parseToolOrigins(env.ALLOWED_TOOL_ORIGINS);
  const ownOrigins = parseAllowedOrigins(env.SERVICE_ORIGINS);
  const variable = "ALLOWED_TOOL_ORIGINS";
  return networkWith({ allowedOrigins, ownOrigins, variable });
}

const networkWith =
  (rules: AddressRules & { probe?: Probe | undefined }): NetworkOver =>
  (send) => ({
    guard: inProvidersWords(
      addressGuard({ resolve: resolveOver(send), trustedOrigins: TRUSTED_ORIGINS, ...rules }),
    ),
    fetch: markedFetch(send),
  });

/** The `fetch` of a network: it sends only requests that the guard admits. */
export const fetchOf = ({ guard, fetch: send }: Network): typeof fetch => guardedFetch(guard, send);

/** A guard whose refusals are ProviderErrors. The error of an unknown host name is not changed. */
export function inProvidersWords(guard: AddressGuard): AddressGuard {
  return async (url, signal, send) => {
    try {
      return await guard(url, signal, send);
    } catch (error) {
      if (error instanceof AddressRefusedError)
        throw new ProviderError("bad_request", "address_refused", error.message);
      if (error instanceof UnresolvedNameError)
        throw new ProviderError("transient", "name_unresolved", error.message);
      if (error instanceof UnreachableOriginError)
        throw new ProviderError("transient", CANNOT_REACH, error.message);
      throw error;
    }
  };
}

const UNSENT_CODES = new Set(["address_refused", "name_unresolved", CANNOT_REACH]);

/** Whether the guard threw this error, so that nothing was sent. */
export const isUnsent = (error: unknown): boolean =>
  error instanceof UnknownNameError ||
  (error instanceof ProviderError && UNSENT_CODES.has(error.code));

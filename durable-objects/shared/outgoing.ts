import { parseAllowedOrigins, parseToolOrigins } from "../../src/config/base-url";
import { operatorOrigins } from "../../src/config/endpoint";
import { CANNOT_REACH } from "../../src/coordination";
import type { AddressRules } from "../../src/outgoing/address-rules";
import {
  AddressRefused,
  guardedFetch,
  NameUnknown,
  NameUnresolved,
  OriginUnreachable,
  type Probe,
} from "../../src/outgoing/guarded-fetch";
import { resolverOverHttps } from "../../src/outgoing/names";
import { HOSTS } from "../../src/providers/hosts";
import { ProviderError } from "../../src/providers/provider";
import { OPERATOR_VARIABLES } from "../../src/providers/registry";
import { type Env, readVariables } from "../../src/env";

const TRUSTED_ORIGINS = new Set(HOSTS.flatMap(({ origins }) => origins));

/** One memory of names for all objects that live together; it holds plain facts, no requests. */
const resolve = resolverOverHttps({
  fetch: (input, init) => fetch(input, init),
  now: () => Date.now(),
});

/** The `fetch` of calls of models: guarded, and with a refusal in the words of the providers' failures. */
export function outgoingFetch(
  env: Pick<Env, "ALLOWED_ORIGINS" | "SERVICE_ORIGINS">,
  probe?: Probe,
): typeof fetch {
  const operators = operatorOrigins(readVariables(env, OPERATOR_VARIABLES));
  const allowedOrigins = [...parseAllowedOrigins(env.ALLOWED_ORIGINS), ...operators];
  return guarded({ allowedOrigins, ownOrigins: parseAllowedOrigins(env.SERVICE_ORIGINS), probe });
}

/** The same for tools, tool servers and their issuers, which have origins of their own that an operator allows. */
export function toolFetch(
  env: Pick<Env, "ALLOWED_TOOL_ORIGINS" | "SERVICE_ORIGINS">,
): typeof fetch {
  const allowedOrigins = parseToolOrigins(env.ALLOWED_TOOL_ORIGINS);
  const ownOrigins = parseAllowedOrigins(env.SERVICE_ORIGINS);
  return guarded({ allowedOrigins, ownOrigins, variable: "ALLOWED_TOOL_ORIGINS" });
}

const guarded = (rules: AddressRules & { probe?: Probe | undefined }): typeof fetch =>
  inProvidersWords(
    guardedFetch({
      fetch: (input, init) => fetch(input, init),
      resolve,
      trustedOrigins: TRUSTED_ORIGINS,
      ...rules,
    }),
  );

/** The same guarded `fetch`, with what its guard throws in the words of the providers' failures. */
export function inProvidersWords(send: typeof fetch): typeof fetch {
  return async (input, init) => {
    try {
      return await send(input, init);
    } catch (error) {
      if (error instanceof AddressRefused)
        throw new ProviderError("bad_request", "address_refused", error.message);
      if (error instanceof NameUnresolved)
        throw new ProviderError("transient", "name_unresolved", error.message);
      if (error instanceof OriginUnreachable)
        throw new ProviderError("transient", CANNOT_REACH, error.message);
      throw error;
    }
  };
}

const UNSENT_CODES = new Set(["address_refused", "name_unresolved", CANNOT_REACH]);

/** Whether what that `fetch` threw came of its guard, so that nothing was sent. */
export const isUnsent = (error: unknown): boolean =>
  error instanceof NameUnknown || (error instanceof ProviderError && UNSENT_CODES.has(error.code));

import { parseAllowedOrigins } from "../src/config/base-url";
import { operatorOrigins } from "../src/config/endpoint";
import { CANNOT_REACH } from "../src/coordination";
import {
  AddressRefused,
  guardedFetch,
  NameUnknown,
  NameUnresolved,
  OriginUnreachable,
  type Probe,
} from "../src/outgoing/guarded-fetch";
import { resolverOverHttps } from "../src/outgoing/names";
import { HOSTS } from "../src/providers/hosts";
import { ProviderError } from "../src/providers/provider";
import { OPERATOR_VARIABLES } from "../src/providers/registry";
import { type Env, readVariables } from "./env";

const TRUSTED_ORIGINS = new Set(HOSTS.flatMap(({ origins }) => origins));

/** One memory of names for all objects that live together; it holds plain facts, no requests. */
const resolve = resolverOverHttps({ fetch: (input, init) => fetch(input, init), now: () => Date.now() });

/** The `fetch` of calls of models and tools: guarded, and with a refusal in the words of the providers' failures. */
export function outgoingFetch(env: Pick<Env, "ALLOWED_ORIGINS">, probe?: Probe): typeof fetch {
  const allowedOrigins = [
    ...parseAllowedOrigins(env.ALLOWED_ORIGINS),
    ...operatorOrigins(readVariables(env, OPERATOR_VARIABLES)),
  ];
  return inProvidersWords(
    guardedFetch({ fetch: (input, init) => fetch(input, init), resolve, allowedOrigins, trustedOrigins: TRUSTED_ORIGINS, probe }),
  );
}

/** The same guarded `fetch`, with what its guard throws in the words of the providers' failures. */
export function inProvidersWords(guarded: typeof fetch): typeof fetch {
  return async (input, init) => {
    try {
      return await guarded(input, init);
    } catch (error) {
      if (error instanceof AddressRefused) throw new ProviderError("bad_request", "address_refused", error.message);
      if (error instanceof NameUnresolved) throw new ProviderError("transient", "name_unresolved", error.message);
      if (error instanceof OriginUnreachable) throw new ProviderError("transient", CANNOT_REACH, error.message);
      throw error;
    }
  };
}

const UNSENT_CODES = new Set(["address_refused", "name_unresolved", CANNOT_REACH]);

/** Whether what that `fetch` threw came of its guard, so that nothing was sent. */
export const isUnsent = (error: unknown): boolean =>
  error instanceof NameUnknown || (error instanceof ProviderError && UNSENT_CODES.has(error.code));

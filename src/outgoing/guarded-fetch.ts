import {
  addressProblem,
  type AddressRules,
  isAddress,
  isAllowedOrigin,
  isPrivateAddress,
} from "./address-rules";
import type { Resolve } from "./names";

/** Nothing was sent: the address may not be asked. */
export class AddressRefused extends Error {
  constructor(message: string) {
    super(message);
    this.name = "AddressRefused";
  }
}

/** Nothing was sent: there is no such name. */
export class NameUnknown extends Error {
  constructor(name: string) {
    super(`DNS lookup failed: ${name} has no address`);
    this.name = "NameUnknown";
  }
}

/** Nothing was sent: nobody could say where the name leads, or nobody waited for it any more. */
export class NameUnresolved extends Error {
  constructor(name: string, cause: unknown) {
    super(`The address of ${name} could not be looked up.`, { cause });
    this.name = "NameUnresolved";
  }
}

/** Nothing was sent: no connection to the origin could be made. */
export class OriginUnreachable extends Error {
  constructor(host: string) {
    super(`cannot reach ${host}`);
    this.name = "OriginUnreachable";
  }
}

/** Whether an origin can be reached. Throws only `signal.reason`. */
export type Probe = (url: URL, signal: AbortSignal | null) => Promise<boolean>;

export type OutgoingRules = AddressRules & {
  /** Well-known public origins, whose names need no look. */
  trustedOrigins: ReadonlySet<string>;
};

/** `probe`: asked before a request is sent to an address that may be asked; absent: no origin is probed. */
type Options = OutgoingRules & { fetch: typeof fetch; resolve: Resolve; probe?: Probe | undefined };

/**
 * The `fetch` for every request that leaves the service. It goes to public https addresses and allowed origins only, and looks
 * at what a name resolves to before it connects. It follows no redirect, so no credential ever reaches another origin than
 * the one it was given to. Throws AddressRefused, NameUnknown, NameUnresolved and OriginUnreachable, and whatever `fetch` throws.
 *
 * A name whose answer changes between the look and the connection is left to the platform, which reaches no private networks.
 */
export function guardedFetch({ fetch: send, resolve, probe, ...rules }: Options): typeof fetch {
  return async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    const signal = init?.signal ?? null;
    await requireAllowed(url, { ...rules, resolve, signal });
    if (probe && !(await probe(url, signal))) throw new OriginUnreachable(url.host);
    const headers = new Headers(init?.headers ?? (input instanceof Request ? input.headers : {}));
    headers.set(HOPS_HEADER, "1");
    return send(input, { ...init, headers, redirect: "manual" });
  };
}

type Check = OutgoingRules & { resolve: Resolve; signal: AbortSignal | null };

async function requireAllowed(
  url: URL,
  { trustedOrigins, resolve, signal, ...rules }: Check,
): Promise<void> {
  const { allowedOrigins } = rules;
  const problem = addressProblem(url, rules);
  if (problem !== null) throw new AddressRefused(`The address ${problem}.`);
  if (
    isAllowedOrigin(url, allowedOrigins) ||
    trustedOrigins.has(url.origin) ||
    isAddress(url.hostname)
  )
    return;
  const addresses = await resolve(url.hostname, signal).catch((cause: unknown) => {
    throw new NameUnresolved(url.hostname, cause);
  });
  if (addresses.length === 0) throw new NameUnknown(url.hostname);
  if (addresses.some(isPrivateAddress)) {
    throw new AddressRefused(
      `The name ${url.hostname} leads into a private network, which the service must not reach.`,
    );
  }
}

/**
 * Set on every request that leaves: a service of this kind that receives it answers 508, so that a team cannot ask the service that
 * runs it, by whatever name.
 */
export const HOPS_HEADER = "massgen-hops";

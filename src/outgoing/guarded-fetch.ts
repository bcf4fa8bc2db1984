import {
  addressProblem,
  type AddressRules,
  isAddress,
  isAllowedOrigin,
  isPrivateAddress,
} from "./address-rules";
import type { Resolve } from "./names";

/** The address is not allowed. Nothing was sent. */
export class AddressRefused extends Error {
  constructor(message: string) {
    super(message);
    this.name = "AddressRefused";
  }
}

/** The name does not exist. Nothing was sent. */
export class NameUnknown extends Error {
  constructor(name: string) {
    super(`DNS lookup failed: ${name} has no address`);
    this.name = "NameUnknown";
  }
}

/** The lookup failed or was aborted. Nothing was sent. */
export class NameUnresolved extends Error {
  constructor(name: string, cause: unknown) {
    super(`The address of ${name} could not be looked up.`, { cause });
    this.name = "NameUnresolved";
  }
}

/** No connection to the origin could be made. Nothing was sent. */
export class OriginUnreachable extends Error {
  constructor(host: string) {
    super(`cannot reach ${host}`);
    this.name = "OriginUnreachable";
  }
}

/** Whether an origin can be reached. Throws only `signal.reason`. */
export type Probe = (url: URL, signal: AbortSignal | null) => Promise<boolean>;

export type OutgoingRules = AddressRules & {
  /** Well-known public origins, whose names need no lookup. */
  trustedOrigins: ReadonlySet<string>;
};

/** `probe` is called before a request to an allowed address; omitted: no probe. */
type Options = OutgoingRules & { fetch: typeof fetch; resolve: Resolve; probe?: Probe | undefined };

/**
 * The `fetch` for all outgoing requests. Sends only to public https addresses and allowed origins,
 * and checks the addresses of a name before connecting. Follows no redirect, so credentials reach
 * only their own origin. Throws AddressRefused, NameUnknown, NameUnresolved, OriginUnreachable and
 * the errors of `fetch`. If a name changes between lookup and connection, the platform protects: it
 * reaches no private networks.
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
 * Set on every outgoing request. A massgen-edge service that receives it answers 508, so that a
 * team cannot call the service that runs it, under any name.
 */
export const HOPS_HEADER = "massgen-hops";

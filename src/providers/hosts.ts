import type { Host } from "./host";
import { HOSTS } from "./host-rows";

export type { Host, HostedToolFacts } from "./host";
export { HOSTS } from "./host-rows";

/**
 * Facts about an endpoint that is not listed. It is expected to support only the oldest parts of
 * the API and receives none of the operator's keys.
 */
export const UNKNOWN_HOST: Host = {
  id: "custom",
  name: "Custom endpoint",
  suffixes: [],
  keyNames: [],
  origins: [],
  tokenLimit: "max_tokens",
  forcesTools: false,
  wantsReasoningBack: false,
  auth: "bearer",
  hostedTools: {},
};

/** The host with this id; `UNKNOWN_HOST` if there is none. */
export const hostById = (id: string): Host => HOSTS.find((host) => host.id === id) ?? UNKNOWN_HOST;

/** The host of a base URL. `UNKNOWN_HOST` if the host is not listed or the URL is invalid. */
export function findHost(baseUrl: string): Host {
  const name = hostNameOf(baseUrl);
  return (
    HOSTS.find((host) =>
      host.suffixes.some((suffix) => name === suffix || name.endsWith(`.${suffix}`)),
    ) ?? UNKNOWN_HOST
  );
}

function hostNameOf(baseUrl: string): string {
  return URL.canParse(baseUrl) ? new URL(baseUrl).hostname.replace(/\.$/, "") : "";
}

/**
 * The operator's variables for endpoints and accounts that are set. Keys are the names of the
 * variables.
 */
export type OperatorVariables = Readonly<Record<string, string>>;

/** Names of all keys that an operator may store. */
export const KEY_NAMES: readonly string[] = HOSTS.flatMap((host) => host.keyNames);

/** Names of the variables that hold the operator's own endpoints. */
export const ENDPOINT_VARIABLES: readonly string[] = HOSTS.flatMap(
  ({ endpointVariable }) => endpointVariable ?? [],
);

const hostOfKey = (keyName: string): Host | undefined =>
  HOSTS.find((host) => host.keyNames.includes(keyName));

/**
 * The origins that may receive the stored key with this name. Empty if no host has a key of this
 * name.
 */
export function keyOrigins(keyName: string, variables: OperatorVariables): string[] {
  const host = hostOfKey(keyName);
  const ownEndpoint =
    host?.endpointVariable === undefined ? undefined : variables[host.endpointVariable];
  return [
    ...(host?.origins ?? []),
    ...(ownEndpoint !== undefined && URL.canParse(ownEndpoint)
      ? [new URL(ownEndpoint).origin]
      : []),
  ];
}

/**
 * Whether the operator's key of this name may be sent to this base URL. Compares exact origins, so
 * a similar host name does not match.
 */
export function mayReceiveKey(
  keyName: string,
  baseUrl: string,
  variables: OperatorVariables,
): boolean {
  if (!URL.canParse(baseUrl)) return false;
  const { origin, pathname } = new URL(baseUrl);
  return (
    keyOrigins(keyName, variables).includes(origin) &&
    (hostOfKey(keyName)?.keyPath?.test(pathname) ?? true)
  );
}

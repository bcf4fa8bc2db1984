import type { Host } from "./host";
import { HOSTS } from "./host-rows";

export type { Host, HostedToolFacts } from "./host";
export { HOSTS } from "./host-rows";

/** What is assumed of an endpoint nobody listed: the oldest common ground, and no key of the operator's. */
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

/** The row with this id; `UNKNOWN_HOST` if there is none. */
export const hostById = (id: string): Host => HOSTS.find((host) => host.id === id) ?? UNKNOWN_HOST;

/** The row of a base URL's host, `UNKNOWN_HOST` for any other host or for what is no URL. */
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

/** Variables of the operator's, by name: endpoints and accounts of theirs. Only those that are set. */
export type OperatorVariables = Readonly<Record<string, string>>;

/** Names of all keys an operator may store. */
export const KEY_NAMES: readonly string[] = HOSTS.flatMap((host) => host.keyNames);

/** Names of the variables with endpoints of the operator's. */
export const ENDPOINT_VARIABLES: readonly string[] = HOSTS.flatMap(
  ({ endpointVariable }) => endpointVariable ?? [],
);

const hostOfKey = (keyName: string): Host | undefined =>
  HOSTS.find((host) => host.keyNames.includes(keyName));

/** The origins a stored key of this name may be sent to; none for a name that is no key's. */
export function keyOrigins(keyName: string, variables: OperatorVariables): string[] {
  const host = hostOfKey(keyName);
  const own = host?.endpointVariable === undefined ? undefined : variables[host.endpointVariable];
  return [
    ...(host?.origins ?? []),
    ...(own !== undefined && URL.canParse(own) ? [new URL(own).origin] : []),
  ];
}

/** Whether the operator's key of this name may be sent to this base URL: exactly its origin, nothing that looks like it. */
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

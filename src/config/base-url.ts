import {
  type AddressRules,
  addressProblem,
  forbiddenProblem,
  isAllowedOrigin,
} from "../outgoing/address-rules";
import { isPrivateHost } from "../outgoing/addresses";
import { MAX_URL_CHARS } from "./config-limits";

/**
 * `privateOrigin`: the origin of an address that is refused only because it is private. An operator
 * can allow this origin. `null` for other refusals.
 */
type BaseUrlResult =
  | { ok: true; baseUrl: string }
  | { ok: false; detail: string; privateOrigin: string | null };

/**
 * Checks whether requests may be sent to this address: it must be public https, or have an origin
 * that the operator allows. Returns the address without a trailing slash.
 */
export function checkBaseUrl(address: string, rules: AddressRules): BaseUrlResult {
  if (address.length > MAX_URL_CHARS || !URL.canParse(address))
    return refused("is not a complete URL, such as https://api.example.com/v1");
  const url = new URL(address);
  const isHttp = /^https?:$/.test(url.protocol);
  const isPlain = isHttp && !url.username && !url.password;
  if (isHttp && !isPlain)
    return refused("must not contain a user name or password; write the key under api_key");
  if (isPlain && (url.search || url.hash)) return refused("must not contain a query or fragment");
  if (isPlain && NOT_IN_HOST_NAMES.test(url.hostname))
    return refused("has an invalid host name; variables in an address are not replaced");
  const method = METHOD_PATH.exec(url.pathname)?.[0];
  if (isPlain && method !== undefined)
    return refused(`contains the path of a method: remove \`${method}\``);
  const problem = addressProblem(url, rules);
  if (problem) return refused(problem, isPlain && isAllowable(url, rules) ? url.origin : null);
  return { ok: true, baseUrl: `${url.origin}${url.pathname}`.replace(/\/+$/, "") };
}

/** Whether the operator could allow this address in ALLOWED_ORIGINS. */
const isAllowable = (url: URL, { allowedOrigins, ownOrigins = [] }: AddressRules): boolean =>
  isPrivateHost(url.hostname) &&
  !isAllowedOrigin(url, allowedOrigins) &&
  forbiddenProblem(url, ownOrigins) === null;

/** Characters that a URL parser accepts but no host name may contain. */
const NOT_IN_HOST_NAMES = /[^a-z0-9._:[\]-]/;

/** The path of an API method. Requests append it to the base URL, but users often copy it too. */
const METHOD_PATH = /\/(chat\/completions|completions|responses|messages)\/*$/;

/** The entries of ALLOWED_TOOL_ORIGINS: exact origins. An entry with `*` is ignored. */
export const parseToolOrigins = (variable: string | undefined): string[] =>
  parseAllowedOrigins(variable).filter((entry) => !entry.includes("*"));

/** The entries of ALLOWED_ORIGINS: origins, separated by commas. */
export function parseAllowedOrigins(variable: string | undefined): string[] {
  const entries = (variable ?? "").split(",").map((entry) => entry.trim().replace(/\/+$/, ""));
  return entries.filter((entry) => entry !== "");
}

function refused(detail: string, privateOrigin: string | null = null): BaseUrlResult {
  return { ok: false, detail, privateOrigin };
}

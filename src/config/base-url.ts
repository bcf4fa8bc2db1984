import {
  type AddressRules,
  addressProblem,
  forbiddenProblem,
  isAllowedOrigin,
} from "../outgoing/address-rules";
import { isPrivateHost } from "../outgoing/addresses";
import { MAX_URL_CHARS } from "./limits";

/** `privateOrigin`: refused only because it is private, so that an operator may allow it; else null. */
export type BaseUrlResult =
  | { ok: true; baseUrl: string }
  | { ok: false; detail: string; privateOrigin: string | null };

/**
 * Whether a config may have requests sent to this address: public https, or an origin the operator allows by name. Returns it
 * without a trailing slash.
 */
export function checkBaseUrl(written: string, rules: AddressRules): BaseUrlResult {
  if (written.length > MAX_URL_CHARS || !URL.canParse(written))
    return refused("is no complete URL, such as https://api.example.com/v1");
  const url = new URL(written);
  const isPlain = /^https?:$/.test(url.protocol) && !url.username && !url.password;
  if (isPlain && (url.search || url.hash)) return refused("may not hold a query or fragment");
  if (isPlain && IMPOSSIBLE.test(url.hostname))
    return refused("names no host that can exist; nothing is filled into an address");
  const method = METHODS.exec(url.pathname)?.[0];
  if (isPlain && method !== undefined)
    return refused(`is the address of one method: leave out \`${method}\``);
  const problem = addressProblem(url, rules);
  if (problem) return refused(problem, isPlain && isAllowable(url, rules) ? url.origin : null);
  return { ok: true, baseUrl: `${url.origin}${url.pathname}`.replace(/\/+$/, "") };
}

/** Whether it is refused only until an operator names it. */
const isAllowable = (url: URL, { allowedOrigins, ownOrigins = [] }: AddressRules): boolean =>
  isPrivateHost(url.hostname) &&
  !isAllowedOrigin(url, allowedOrigins) &&
  forbiddenProblem(url, ownOrigins) === null;

/** What a parser of URLs lets pass and no name of a host may hold. */
const IMPOSSIBLE = /[^a-z0-9._:[\]-]/;

/** What is added to a base URL for each request; people copy it along. */
const METHODS = /\/(chat\/completions|completions|responses|messages)\/*$/;

/** The entries of ALLOWED_TOOL_ORIGINS: exact origins, so an entry with `*` allows nothing. */
export const parseToolOrigins = (variable: string | undefined): string[] =>
  parseAllowedOrigins(variable).filter((entry) => !entry.includes("*"));

/** The entries of the variable ALLOWED_ORIGINS: origins, separated by commas. */
export function parseAllowedOrigins(variable: string | undefined): string[] {
  const entries = (variable ?? "").split(",").map((entry) => entry.trim().replace(/\/+$/, ""));
  return entries.filter((entry) => entry !== "");
}

function refused(detail: string, privateOrigin: string | null = null): BaseUrlResult {
  return { ok: false, detail, privateOrigin };
}

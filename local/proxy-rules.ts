import { isLoopbackHost } from "../src/outgoing/addresses";
import { decodedOnce } from "../src/tenancy/principal";

/** Requests and headers that the local proxy refuses or drops. Pure. */

/**
 * A request head in Node's form: `target` is from the request line, `rawHeaders` alternates names
 * and values.
 */
type RequestHead = { method: string; target: string; rawHeaders: readonly string[] };
export type Refusal = { status: number; code: string; detail: string };

const MAX_LOGGED_SEGMENTS = 12;
/** Parts of a path that cannot be keys: route names, session ids, numbers, answer labels. */
const LOGGED_SEGMENT =
  /^([a-z][a-z.-]{0,23}|session_[0-9a-z]{26}|[a-z]+\d?\.(\d{1,4}|final)|\d{1,9})?$/;
/** No server in this process tree decodes more often than an escaped escape of a slash. */
const DECODINGS = 3;

/**
 * Headers with which a client could claim another address, client or platform: the runtime and the
 * service trust them. `mf-` is the local runtime's, `cf-` Cloudflare's.
 */
const FORGEABLE = /^(mf-|cf-|x-forwarded-|forwarded$|x-real-ip$)/;
/** Headers of one connection, which a proxy does not forward. */
const HOP_BY_HOP = /^(connection|expect|keep-alive|proxy-.*|te|trailer|upgrade)$/;

/**
 * Headers by which the service judges a request or finds the end of its body: clients cannot
 * declare them hop-by-hop.
 */
const JUDGED_BY = /^(host|origin|sec-fetch-.*|content-length|transfer-encoding|massgen-hops)$/;

/**
 * Why the request must not reach the service; `null` if it may. Only loopback names are allowed.
 */
export function refusalOf({ method, target, rawHeaders }: RequestHead): Refusal | null {
  if (method === "CONNECT" || !target.startsWith("/")) return NOT_A_PATH;
  const hosts = valuesOf("host", rawHeaders);
  if (hosts.length !== 1 || !isLoopbackName(hosts[0] ?? "")) return FOREIGN_HOST;
  return isPlatformPath(target) ? NO_SUCH_ROUTE : null;
}

/** The headers forwarded to the service. `from` is the client's address from the connection. */
export function forwardedHeaders(
  rawHeaders: readonly string[],
  from: string | undefined,
): string[] {
  const named = valuesOf("connection", rawHeaders).flatMap((value) =>
    value.toLowerCase().split(/\s*,\s*/),
  );
  const ofConnection = new Set(named.filter((name) => !JUDGED_BY.test(name)));
  const kept: string[] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const [name = "", value = ""] = rawHeaders.slice(at, at + 2);
    const lower = name.toLowerCase();
    if (FORGEABLE.test(lower) || HOP_BY_HOP.test(lower) || ofConnection.has(lower)) continue;
    kept.push(name, value);
  }
  return from === undefined ? kept : [...kept, "CF-Connecting-IP", from];
}

/** Headers of a response that are forwarded to the client. */
export function answeredHeaders(rawHeaders: readonly string[]): string[] {
  const pairs = Array.from({ length: rawHeaders.length / 2 }, (_, nth) =>
    rawHeaders.slice(2 * nth, 2 * nth + 2),
  );
  return pairs.filter(([name = ""]) => !HOP_BY_HOP.test(name.toLowerCase())).flat();
}

/** A request's log line: no query, and only path segments that cannot be a key or ticket. */
export function requestLine(
  { method, target }: Pick<RequestHead, "method" | "target">,
  status: number,
  ms: number,
): string {
  const segments = pathOf(target).split("/", MAX_LOGGED_SEGMENTS);
  const path = segments.map((segment) => (LOGGED_SEGMENT.test(segment) ? segment : "…")).join("/");
  return `${method} ${path} ${status} (${Math.round(ms)} ms)`;
}

const pathOf = (target: string): string => target.split(/[?#]/, 1)[0] ?? "";

/** A Host header that names this machine with any port: forwarded ports differ. */
function isLoopbackName(host: string): boolean {
  const match = /^([a-z0-9.-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i.exec(host);
  return match !== null && isLoopbackHost((match[1] ?? "").toLowerCase());
}

/**
 * `/cdn-cgi` belongs to the platform, in every form that a server may decode to it: escaped,
 * doubled slashes, dot segments.
 */
function isPlatformPath(target: string): boolean {
  let path = pathOf(target);
  for (let nth = 0; nth < DECODINGS; nth += 1) path = decodedOnce(path);
  const [first] = path
    .split(/[/\\]+/)
    .reduce<string[]>(
      (parts, part) => (part === ".." ? parts.slice(0, -1) : withPart(parts, part)),
      [],
    );
  return first?.toLowerCase() === "cdn-cgi";
}

const withPart = (parts: string[], part: string): string[] =>
  part === "" || part === "." ? parts : [...parts, part];

function valuesOf(wanted: string, rawHeaders: readonly string[]): string[] {
  return rawHeaders.flatMap((name, at) =>
    at % 2 === 0 && name.toLowerCase() === wanted ? [rawHeaders[at + 1] ?? ""] : [],
  );
}

const NOT_A_PATH: Refusal = {
  status: 400,
  code: "bad_request",
  detail: "The request line must name a path of this service, such as /healthz.",
};
const FOREIGN_HOST: Refusal = {
  status: 421,
  code: "host_refused",
  detail:
    "This service is available only on this machine. Use http://127.0.0.1 or http://localhost with its port.",
};
const NO_SUCH_ROUTE: Refusal = {
  status: 404,
  code: "not_found",
  detail: "Not found: no such route. See /docs.",
};

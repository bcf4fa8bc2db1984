import { isLoopbackHost } from "../src/outgoing/addresses";
import { decodedOnce } from "../src/tenancy/principal";

/** Decides which requests the local proxy refuses, and which headers it removes. Pure. */

/**
 * The head of a request. `target` is the path with its query, as in the request line. `rawHeaders`
 * alternates names and values, as in Node.
 */
type RequestHead = { method: string; target: string; rawHeaders: readonly string[] };
export type Refusal = { status: number; code: string; detail: string };

const MAX_LOGGED_SEGMENTS = 12;
/** Parts of a path that cannot be keys: route names, session ids, numbers, answer labels. */
const LOGGED_SEGMENT =
  /^([a-z][a-z.-]{0,23}|session_[0-9a-z]{26}|[a-z]+\d?\.(\d{1,4}|final)|\d{1,9})?$/;
/** How often a path is percent-decoded. No server behind the proxy decodes a path more often. */
const DECODING_ROUNDS = 3;

/**
 * Headers with which a client could claim another address, host or platform, because the runtime
 * and the service trust them. The local runtime uses `mf-`, Cloudflare uses `cf-`.
 */
const FORGEABLE_HEADER = /^(mf-|cf-|x-forwarded-|forwarded$|x-real-ip$)/;
/** Headers of one connection, which a proxy does not forward. */
const HOP_BY_HOP_HEADER = /^(connection|expect|keep-alive|proxy-.*|te|trailer|upgrade)$/;

/**
 * Headers by which the service judges a request or finds the end of its body. A client cannot
 * remove them by naming them in `Connection`.
 */
const PROTECTED_HEADER =
  /^(host|origin|sec-fetch-.*|content-length|transfer-encoding|massgen-hops)$/;

/**
 * Why the request must not reach the service; `null` if it may. The request must name a loopback
 * host.
 */
export function refusalOf({ method, target, rawHeaders }: RequestHead): Refusal | null {
  if (method === "CONNECT" || !target.startsWith("/")) return NOT_A_PATH;
  const hosts = valuesOf("host", rawHeaders);
  if (hosts.length !== 1 || !isLoopbackName(hosts[0] ?? "")) return FOREIGN_HOST;
  return isPlatformPath(target) ? NO_SUCH_ROUTE : null;
}

/**
 * The headers that are forwarded to the service. `clientAddress` is the address of the connection.
 */
export function forwardedHeaders(
  rawHeaders: readonly string[],
  clientAddress: string | undefined,
): string[] {
  const listedNames = valuesOf("connection", rawHeaders).flatMap((value) =>
    value.toLowerCase().split(/\s*,\s*/),
  );
  const connectionHeaders = new Set(listedNames.filter((name) => !PROTECTED_HEADER.test(name)));
  const forwarded: string[] = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const [name = "", value = ""] = rawHeaders.slice(index, index + 2);
    const lower = name.toLowerCase();
    if (
      FORGEABLE_HEADER.test(lower) ||
      HOP_BY_HOP_HEADER.test(lower) ||
      connectionHeaders.has(lower)
    )
      continue;
    forwarded.push(name, value);
  }
  return clientAddress === undefined
    ? forwarded
    : [...forwarded, "CF-Connecting-IP", clientAddress];
}

/** Headers of a response that are forwarded to the client. */
export function responseHeaders(rawHeaders: readonly string[]): string[] {
  const pairs = Array.from({ length: rawHeaders.length / 2 }, (_, index) =>
    rawHeaders.slice(2 * index, 2 * index + 2),
  );
  return pairs.filter(([name = ""]) => !HOP_BY_HOP_HEADER.test(name.toLowerCase())).flat();
}

/**
 * The log line of a request. It has no query, and only path segments that cannot be a key or
 * ticket.
 */
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

/**
 * Whether a Host header names this machine. Any port is allowed, because forwarded ports differ.
 */
function isLoopbackName(host: string): boolean {
  const match = /^([a-z0-9.-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i.exec(host);
  return match !== null && isLoopbackHost((match[1] ?? "").toLowerCase());
}

/**
 * Whether a path belongs to the platform: `/cdn-cgi`, in every form that a server may decode to it,
 * with escapes, doubled slashes or dot segments.
 */
function isPlatformPath(target: string): boolean {
  let path = pathOf(target);
  for (let round = 0; round < DECODING_ROUNDS; round += 1) path = decodedOnce(path);
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

function valuesOf(headerName: string, rawHeaders: readonly string[]): string[] {
  return rawHeaders.flatMap((name, index) =>
    index % 2 === 0 && name.toLowerCase() === headerName ? [rawHeaders[index + 1] ?? ""] : [],
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

import type { SecretOf } from "../secret-bindings";
import {
  fillPlaceholders,
  fillSecrets,
  type HttpToolDefinition,
  placeholdersIn,
  secretsIn,
} from "./definition";

/**
 * Converts a call's arguments to a request. Secrets are looked up per request, once its address is
 * known.
 */

export type HttpRequest = {
  url: string;
  headers: Record<string, string>;
  body: string | null;
  /** Secrets in its headers. A server may echo them; they must not be shown. */
  secrets: string[];
};

type Result = { ok: true; request: HttpRequest } | { ok: false; problem: string };
type RequestOptions = { secretOf: SecretOf; idempotencyKey: string };

/** Servers refuse longer addresses. */
const MAX_URL_CHARS = 8_192;
const READS = new Set(["GET", "DELETE"]);

/** The request for validated arguments, or a problem as text for the model. */
export async function toRequest(
  definition: HttpToolDefinition,
  args: Record<string, unknown>,
  options: RequestOptions,
): Promise<Result> {
  const all = { ...args, ...definition.preset };
  const named = placeholdersIn(definition.url);
  const problem = named
    .map((name) => partProblem(definition.url, name, all[name]))
    .find((found) => found !== null);
  if (problem !== undefined) return { ok: false, problem };
  const rest = Object.entries(all).filter(([name]) => !named.includes(name));
  const hasBody = !READS.has(definition.method);
  const url = new URL(fillPlaceholders(definition.url, (name) => encodePart(all[name])));
  if (!hasBody)
    for (const [name, value] of rest.flatMap(inQuery)) url.searchParams.append(name, value);
  if (url.origin !== originOf(definition))
    throw new Error("arguments changed the origin of a request");
  if (url.href.length > MAX_URL_CHARS)
    return {
      ok: false,
      problem: `The address would take ${url.href.length} characters; it may have ${MAX_URL_CHARS}. Send less.`,
    };
  const body = hasBody ? JSON.stringify(Object.fromEntries(rest)) : null;
  const filled = await fillHeaders(definition, url.href, options.secretOf);
  if (!filled.ok) return filled;
  const own = {
    ...(body !== null && { "content-type": "application/json" }),
    ...(definition.method !== "GET" && { "idempotency-key": options.idempotencyKey }),
  };
  const headers = {
    accept: "application/json, text/*;q=0.9, */*;q=0.1",
    ...filled.headers,
    ...own,
  };
  return { ok: true, request: { url: url.href, headers, body, secrets: filled.secrets } };
}

/** The origin of all its requests. */
export const originOf = ({ url }: HttpToolDefinition): string =>
  new URL(fillPlaceholders(url, () => "x")).origin;

type FilledHeaders =
  | { ok: true; headers: Record<string, string>; secrets: string[] }
  | { ok: false; problem: string };

async function fillHeaders(
  definition: HttpToolDefinition,
  url: string,
  secretOf: SecretOf,
): Promise<FilledHeaders> {
  const { headers: written, method } = definition;
  const names = [...new Set(Object.values(written).flatMap(secretsIn))];
  const found = await Promise.all(
    names.map(async (name) => toEntry(name, await secretOf(name, { url, method }))),
  );
  const secrets = new Map(found.flat());
  const missing = names.filter((name) => !secrets.has(name));
  if (missing.length > 0)
    return {
      ok: false,
      problem: `Nothing was sent: the service has no ${missing.join(", ")} for ${method} ${new URL(url).origin}${new URL(url).pathname}. Go on without this tool.`,
    };
  const headers = Object.entries(written).map(([name, value]) => [
    name,
    fillSecrets(value, (secret) => secrets.get(secret) ?? ""),
  ]);
  return { ok: true, headers: Object.fromEntries(headers), secrets: [...secrets.values()] };
}

const toEntry = (name: string, secret: string | undefined): [string, string][] =>
  secret === undefined ? [] : [[name, secret]];

type Scalar = string | number | boolean;
const isScalar = (value: unknown): value is Scalar =>
  typeof value === "string" || typeof value === "number" || typeof value === "boolean";

/** Refuses arguments that would change the structure of the path. */
function partProblem(url: string, name: string, value: unknown): string | null {
  const isInPath = url.split("?")[0]?.includes(`{${name}}`) ?? false;
  if (value === undefined || value === null || value === "")
    return isInPath ? `The argument ${name} is missing: it is part of the address.` : null;
  if (!isScalar(value))
    return `The argument ${name} must be a text or a number: it is part of the address.`;
  const parts = String(value).split(/[/\\]/);
  if (isInPath && parts.some((part) => part === "." || part === ".."))
    return `The argument ${name} may not hold "." or ".." as a part of a path.`;
  return null;
}

const encodePart = (value: unknown): string =>
  isScalar(value) ? encodeURIComponent(String(value).toWellFormed()) : "";

function inQuery([name, value]: [string, unknown]): [string, string][] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value))
    return value.flatMap((item: unknown) =>
      inQuery([name, Array.isArray(item) ? JSON.stringify(item) : item]),
    );
  return [[name, isScalar(value) ? String(value) : JSON.stringify(value)]];
}

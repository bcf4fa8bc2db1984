import type { SecretOf } from "../secret-bindings";
import {
  fillPlaceholders,
  fillSecrets,
  type HttpToolDefinition,
  placeholdersIn,
  secretsIn,
} from "./definition";

/**
 * Converts the arguments of a call to a request. Secrets are looked up for each request, after its
 * address is known.
 */

export type HttpRequest = {
  url: string;
  headers: Record<string, string>;
  /** JSON; `null` if the request has no body. */
  body: string | null;
  /** Secrets in the headers. The server may repeat them in its response; then they are hidden. */
  secrets: string[];
};

type Result = { ok: true; request: HttpRequest } | { ok: false; problem: string };
type RequestOptions = { secretOf: SecretOf; idempotencyKey: string };

/** Maximum length of an address; many servers refuse longer addresses. */
const MAX_URL_CHARS = 8_192;
/** Requests with these methods have no body; their arguments are in the query. */
const METHODS_WITHOUT_BODY = new Set(["GET", "DELETE"]);

/** The request for valid arguments, or a problem as text for the model. */
export async function toRequest(
  definition: HttpToolDefinition,
  args: Record<string, unknown>,
  options: RequestOptions,
): Promise<Result> {
  const allArgs = { ...args, ...definition.preset };
  const namesInUrl = placeholdersIn(definition.url);
  const problem = namesInUrl
    .map((name) => urlArgumentProblem(definition.url, name, allArgs[name]))
    .find((found) => found !== null);
  if (problem !== undefined) return { ok: false, problem };
  const otherArgs = Object.entries(allArgs).filter(([name]) => !namesInUrl.includes(name));
  const hasBody = !METHODS_WITHOUT_BODY.has(definition.method);
  const url = new URL(fillPlaceholders(definition.url, (name) => encodeUrlArgument(allArgs[name])));
  if (!hasBody)
    for (const [name, value] of otherArgs.flatMap(queryPairs)) url.searchParams.append(name, value);
  if (url.origin !== originOf(definition))
    throw new Error("arguments changed the origin of a request");
  if (url.href.length > MAX_URL_CHARS)
    return {
      ok: false,
      problem: `The address would take ${url.href.length} characters; it may have ${MAX_URL_CHARS}. Send less.`,
    };
  const body = hasBody ? JSON.stringify(Object.fromEntries(otherArgs)) : null;
  const filledHeaders = await fillHeaders(definition, url.href, options.secretOf);
  if (!filledHeaders.ok) return filledHeaders;
  const ownHeaders = {
    ...(body !== null && { "content-type": "application/json" }),
    ...(definition.method !== "GET" && { "idempotency-key": options.idempotencyKey }),
  };
  const headers = {
    accept: "application/json, text/*;q=0.9, */*;q=0.1",
    ...filledHeaders.headers,
    ...ownHeaders,
  };
  return { ok: true, request: { url: url.href, headers, body, secrets: filledHeaders.secrets } };
}

/** The origin of all requests of a tool. */
export const originOf = ({ url }: HttpToolDefinition): string =>
  new URL(fillPlaceholders(url, () => "x")).origin;

type FilledHeaders =
  | { ok: true; headers: Record<string, string>; secrets: string[] }
  | { ok: false; problem: string };

/** Inserts the secrets into the headers of a tool. */
async function fillHeaders(
  definition: HttpToolDefinition,
  url: string,
  secretOf: SecretOf,
): Promise<FilledHeaders> {
  const { headers: templates, method } = definition;
  const names = [...new Set(Object.values(templates).flatMap(secretsIn))];
  const foundSecrets = await Promise.all(
    names.map(async (name) => toEntry(name, await secretOf(name, { url, method }))),
  );
  const secrets = new Map(foundSecrets.flat());
  const missing = names.filter((name) => !secrets.has(name));
  if (missing.length > 0)
    return {
      ok: false,
      problem: `Nothing was sent: the service has no ${missing.join(", ")} for ${method} ${new URL(url).origin}${new URL(url).pathname}. Go on without this tool.`,
    };
  const headers = Object.entries(templates).map(([name, value]) => [
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

/**
 * Why an argument cannot be a part of the address; `null` if it can. `.` and `..` change the path.
 */
function urlArgumentProblem(url: string, name: string, value: unknown): string | null {
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

const encodeUrlArgument = (value: unknown): string =>
  isScalar(value) ? encodeURIComponent(String(value).toWellFormed()) : "";

/** The name and value pairs of an argument in the query: one pair for each item of an array. */
function queryPairs([name, value]: [string, unknown]): [string, string][] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value))
    return value.flatMap((item: unknown) =>
      queryPairs([name, Array.isArray(item) ? JSON.stringify(item) : item]),
    );
  return [[name, isScalar(value) ? String(value) : JSON.stringify(value)]];
}

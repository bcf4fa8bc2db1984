import type { ToolRule } from "../../protocol/team";

/** An HTTP tool as a config declares it, checked: plain data that lies in a session's private table. */
export type HttpToolDefinition = {
  name: string;
  description: string;
  /** JSON Schema of type object, presets among its properties or not. What `parameterProblem` and `presetProblem` refuse is not in it. */
  parameters: Record<string, unknown>;
  method: HttpMethod;
  /** `{name}` in its path or query stands for the argument of that name. Its origin holds none. */
  url: string;
  /** `${NAME}` stands for a secret that is bound to the requests. Names in lower case. */
  headers: Record<string, string>;
  /** Arguments the model neither sees nor sets. */
  preset: Record<string, unknown>;
  /** For the whole of a call, with its response. */
  timeoutMs: number;
  /** Whether the operator says that the same call may be sent twice. */
  repeatable: boolean;
};

export const HTTP_METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;
export type HttpMethod = (typeof HTTP_METHODS)[number];

/** What the rules must know of an HTTP tool: only a GET is known to change nothing. */
export function httpToolRule({ name, method, repeatable }: HttpToolDefinition): ToolRule {
  return { name, acts_outside: method !== "GET", idempotent: method === "GET" || repeatable };
}

const PLACEHOLDER = /\{([A-Za-z_][\w-]*)\}/g;

/** Names of the arguments that stand in an address, each once, in order. */
export const placeholdersIn = (url: string): string[] => [
  ...new Set([...url.matchAll(PLACEHOLDER)].map(([, name]) => name ?? "")),
];

/** The address with each placeholder replaced. */
export const fillPlaceholders = (url: string, textOf: (name: string) => string): string =>
  url.replace(PLACEHOLDER, (_, name: string) => textOf(name));

const SECRET = /\$\{([A-Za-z_]\w*)\}/g;

/** Names of the secrets in a header's value, each once. */
export const secretsIn = (value: string): string[] => [
  ...new Set([...value.matchAll(SECRET)].map(([, name]) => name ?? "")),
];

/** The value with each secret in its place. */
export const fillSecrets = (value: string, textOf: (name: string) => string): string =>
  value.replace(SECRET, (_, name: string) => textOf(name));

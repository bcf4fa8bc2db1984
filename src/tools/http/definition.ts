import type { ToolRule } from "../../protocol/team";

/** A validated HTTP tool of a config. Plain data, stored in a session's private table. */
export type HttpToolDefinition = {
  name: string;
  description: string;
  /**
   * JSON Schema of type object that `parameterProblem` and `presetProblem` accepted. May contain
   * preset arguments.
   */
  parameters: Record<string, unknown>;
  method: HttpMethod;
  /**
   * `{name}` in its path or query is replaced by the argument of that name. Not allowed in the
   * origin.
   */
  url: string;
  /**
   * `${NAME}` is replaced by a secret that is bound to the request. Header names are in lower case.
   */
  headers: Record<string, string>;
  /** Arguments that the model neither sees nor sets. */
  preset: Record<string, unknown>;
  /** For the whole call, response included. */
  timeoutMs: number;
  /** Whether the operator declares that the same call may be sent twice. */
  repeatable: boolean;
};

export const HTTP_METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;
type HttpMethod = (typeof HTTP_METHODS)[number];

/**
 * The tool's properties for the coordination rules: only a GET is known to have no side effects.
 */
export function httpToolRule({ name, method, repeatable }: HttpToolDefinition): ToolRule {
  return { name, acts_outside: method !== "GET", idempotent: method === "GET" || repeatable };
}

const PLACEHOLDER = /\{([A-Za-z_][\w-]*)\}/g;

/** Names of the arguments in an address, without duplicates, in order. */
export const placeholdersIn = (url: string): string[] => [
  ...new Set([...url.matchAll(PLACEHOLDER)].map(([, name]) => name ?? "")),
];

/** The address with its placeholders replaced. */
export const fillPlaceholders = (url: string, textOf: (name: string) => string): string =>
  url.replace(PLACEHOLDER, (_, name: string) => textOf(name));

const SECRET = /\$\{([A-Za-z_]\w*)\}/g;

/** Names of the secrets in a header's value, without duplicates. */
export const secretsIn = (value: string): string[] => [
  ...new Set([...value.matchAll(SECRET)].map(([, name]) => name ?? "")),
];

/** The value with its secrets inserted. */
export const fillSecrets = (value: string, textOf: (name: string) => string): string =>
  value.replace(SECRET, (_, name: string) => textOf(name));

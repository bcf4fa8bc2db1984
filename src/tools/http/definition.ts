import type { ToolRule } from "../../protocol/team";

/** A validated HTTP tool of a config. Plain data, stored in a session's private table. */
export type HttpToolDefinition = {
  name: string;
  description: string;
  /**
   * JSON Schema of type object that `parameterProblem` and `presetProblem` have accepted. It may
   * contain preset arguments.
   */
  parameters: Record<string, unknown>;
  method: HttpMethod;
  /**
   * `{name}` in the path or query is replaced by the argument of that name. The origin may not
   * contain `{name}`.
   */
  url: string;
  /**
   * `${NAME}` in a value is replaced by a secret that is bound to the request. Header names are in
   * lower case.
   */
  headers: Record<string, string>;
  /** Arguments that the config sets. The model neither sees nor sets them. */
  preset: Record<string, unknown>;
  /** Time limit of the whole call, including the response. */
  timeoutMs: number;
  /** Whether the operator declares that the same call may safely be sent twice. */
  repeatable: boolean;
};

export const HTTP_METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;
type HttpMethod = (typeof HTTP_METHODS)[number];

/**
 * The tool's properties for the coordination rules. Only a GET is known to have no side effects.
 */
export function httpToolRule({ name, method, repeatable }: HttpToolDefinition): ToolRule {
  return { name, acts_outside: method !== "GET", idempotent: method === "GET" || repeatable };
}

const PLACEHOLDER = /\{([A-Za-z_][\w-]*)\}/g;

/** Names of the arguments in an address, in order and without duplicates. */
export const placeholdersIn = (url: string): string[] => [
  ...new Set([...url.matchAll(PLACEHOLDER)].map(([, name]) => name ?? "")),
];

/** The address with its placeholders replaced. */
export const fillPlaceholders = (url: string, textOf: (name: string) => string): string =>
  url.replace(PLACEHOLDER, (_, name: string) => textOf(name));

const SECRET = /\$\{([A-Za-z_]\w*)\}/g;

/** Names of the secrets in the value of a header, without duplicates. */
export const secretsIn = (value: string): string[] => [
  ...new Set([...value.matchAll(SECRET)].map(([, name]) => name ?? "")),
];

/** The value of a header with its secrets inserted. */
export const fillSecrets = (value: string, textOf: (name: string) => string): string =>
  value.replace(SECRET, (_, name: string) => textOf(name));

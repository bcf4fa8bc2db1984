import { addressProblem } from "../outgoing/address-rules";
import { isJsonObject } from "../providers/json";
import type { Format } from "../providers/registry";
import { toolProblem } from "../providers/tool-problems";
import {
  fillPlaceholders,
  HTTP_METHODS,
  type HttpToolDefinition,
  placeholdersIn,
} from "../tools/http/definition";
import { parameterProblem } from "../tools/parameters";
import { presetProblem, withoutPresets } from "../tools/presets";
import { checkKeys } from "./check-keys";
import { type ConfigContext, toolAddressRules } from "./context";
import { integer, mapping, oneOf, read, type Section, text, toPlain } from "./fields";
import { HTTP_TOOL_KEYS } from "./known-keys";
import { MAX_DESCRIPTION_CHARS, MAX_URL_CHARS } from "./config-limits";
import { isCredential, refuseStrayKeys } from "./stray-keys";
import { readToolHeaders } from "./tool-secrets";

/** Reads HTTP tools: entries of `custom_tools` with a `url`. */

/** The types of an entry's fields, for the check and for the JSON Schema. */
export const HTTP_TOOL = {
  description: text(MAX_DESCRIPTION_CHARS),
  method: oneOf(HTTP_METHODS),
  url: text(MAX_URL_CHARS),
  timeoutSeconds: integer(1, 300),
} as const;

const DEFAULT_TIMEOUT_SECONDS = 60;
const NO_PARAMETERS = { type: "object", properties: {} };

/** Reads an HTTP tool. Reports an invalid tool and returns `null`. `name` is already checked. */
export function readHttpTool(
  section: Section,
  name: string,
  context: ConfigContext,
): HttpToolDefinition | null {
  checkKeys(section, HTTP_TOOL_KEYS);
  const description = read(section, "description", HTTP_TOOL.description, null);
  if (description === null)
    reportMissing(
      section,
      "description",
      "description is missing: describe for the model what the tool does.",
    );
  const method = read(section, "method", HTTP_TOOL.method, "GET");
  const preset = readPreset(section);
  const parameters = readParameters(section, preset);
  const url = readUrl(section, context);
  const timeoutSeconds = read(
    section,
    "timeout_seconds",
    HTTP_TOOL.timeoutSeconds,
    DEFAULT_TIMEOUT_SECONDS,
  );
  if (url === null) return null;
  if (parameters) checkPlaceholders(section, url, { ...parameters, preset });
  const headers = readToolHeaders(
    section,
    { url: fixedPart(url), method, isOpen: url.includes("{") },
    context,
  );
  if (description === null || !parameters) return null;
  const repeatable = isRepeatable(url, context.repeatableTools ?? []);
  return {
    ...{ name, description, parameters: parameters.schema, method, url, headers, preset },
    ...{ timeoutMs: timeoutSeconds * 1000, repeatable },
  };
}

function reportMissing({ path, values, findings }: Section, key: string, detail: string): void {
  if ((values.get(key) ?? null) === null) findings.error("missing", path, detail);
}

/** The arguments that the config sets and the model does not see. */
function readPreset(section: Section): Record<string, unknown> {
  const presetArgs = read(section, "preset_args", mapping, null);
  refuseStrayKeys(section.findings, [...section.path, "preset_args"], presetArgs);
  return Object.fromEntries(
    [...(presetArgs ?? [])].map(([name, value]) => [String(name), toPlain(value)]),
  );
}

/** `schema`: the JSON Schema of the arguments. `names`: the arguments' names. */
type Parameters = { schema: Record<string, unknown>; names: string[] };

function readParameters(section: Section, preset: Record<string, unknown>): Parameters | null {
  const parameters = read(section, "parameters", mapping, null);
  if (parameters === null)
    return (section.values.get("parameters") ?? null) === null
      ? { schema: NO_PARAMETERS, names: [] }
      : null;
  const schema = Object.fromEntries(
    [...parameters].map(([key, value]) => [String(key), toPlain(value)]),
  );
  const problem = parameterProblem(schema) ?? presetProblem(schema, preset);
  if (problem === null) {
    const properties = parameters.get("properties");
    return { schema, names: properties instanceof Map ? [...properties.keys()].map(String) : [] };
  }
  const path = ["parameters", ...problem.at];
  section.findings.error(
    "not_allowed",
    [...section.path, ...path],
    `${path.join(".")} ${problem.detail}.`,
  );
  return null;
}

/**
 * Refuses a tool that the wire format of the agent's model cannot express: the provider would
 * refuse every call of the agent.
 */
export function refuseUnfit(
  section: Section,
  { name, description, parameters, preset }: HttpToolDefinition,
  format: Format,
): void {
  const problem = toolProblem(format, {
    name,
    description,
    parameters: withoutPresets(parameters, preset),
  });
  if (problem === null) return;
  const { pointer, keyword, detail } = problem;
  const path = [
    "parameters",
    ...existingPath(parameters, [...pointer.split("/").slice(1), keyword]),
  ];
  const advice = "remove it and write it into the tool's description, or use another backend type";
  section.findings.error(
    "not_allowed",
    [...section.path, ...path],
    `${path.join(".")}: the agent's model does not support \`${keyword}\`: ${detail}; ${advice}.`,
  );
}

/**
 * The longest beginning of a path that exists in the config's schema. The problem's path is of the
 * converted schema, which may differ: for example, `oneOf` becomes `anyOf`.
 */
function existingPath(schema: unknown, tokens: readonly string[]): (string | number)[] {
  const [token, ...rest] = tokens;
  if (token === undefined) return [];
  if (Array.isArray(schema))
    return Number(token) < schema.length
      ? [Number(token), ...existingPath(schema[Number(token)], rest)]
      : [];
  const key = token.replaceAll("~1", "/").replaceAll("~0", "~");
  return isJsonObject(schema) && Object.hasOwn(schema, key)
    ? [key, ...existingPath(schema[key], rest)]
    : [];
}

/**
 * Returns the `url` of a tool if it is allowed. Its origin must contain no placeholders; otherwise
 * the model's arguments could choose the server.
 */
function readUrl(section: Section, context: ConfigContext): string | null {
  const url = read(section, "url", HTTP_TOOL.url, null);
  // An HTTP tool always has a `url`. This value is invalid, and the error is already reported.
  if (url === null) return null;
  const problem = urlProblem(url, context);
  if (problem === null) return url;
  section.findings.error("base_url_refused", [...section.path, "url"], `url ${problem}.`);
  return null;
}

function urlProblem(address: string, context: ConfigContext): string | null {
  if (address.includes("${")) return "must not contain a secret: secrets belong in `headers`";
  if (!/^https?:\/\/[^/?#{}\\]+(?:[/?]|$)/i.test(address))
    return "must be a complete URL with a fixed host";
  const filled = fillPlaceholders(address, () => "x");
  if (/[{}]/.test(filled)) return "contains a brace outside of an `{argument}`";
  if (!URL.canParse(filled))
    return "is not a complete URL, such as https://api.example.com/items/{id}";
  const url = new URL(filled);
  if (url.hash) return "must not contain a fragment";
  if (url.username || url.password)
    return "must not contain a user name or password: credentials belong in `headers`, as ${NAME}";
  const credential = [...url.searchParams.keys()].find(isCredential);
  if (credential !== undefined)
    return `must not contain \`${credential}\`: credentials belong in \`headers\`, as \${NAME}`;
  return addressProblem(url, toolAddressRules(context));
}

/** Reports placeholders in the URL that are no arguments of the tool. */
function checkPlaceholders(
  section: Section,
  url: string,
  { names, preset }: Parameters & { preset: object },
): void {
  const unknownNames = placeholdersIn(url).filter(
    (name) => !names.includes(name) && !Object.hasOwn(preset, name),
  );
  for (const name of unknownNames) {
    const detail = `The tool has no argument \`${name}\`: describe it in \`parameters\`, or set it in \`preset_args\`.`;
    section.findings.error("unknown_key", [...section.path, "url"], detail);
  }
}

/** The part of a URL before its first placeholder or query. */
const fixedPart = (url: string): string => url.split(/[{?]/)[0] ?? url;

/**
 * Whether the operator declares the calls of a tool repeatable, by its URL or a parent of the URL.
 */
function isRepeatable(url: string, addresses: readonly string[]): boolean {
  const tool = new URL(fixedPart(url));
  return addresses
    .filter((address) => URL.canParse(address))
    .some((address) => {
      const repeatable = new URL(address);
      const base = repeatable.pathname.replace(/\/+$/, "");
      return (
        tool.origin === repeatable.origin &&
        (tool.pathname === base || tool.pathname.startsWith(`${base}/`))
      );
    });
}

import { ENDPOINT_VARIABLES, type OperatorVariables } from "../providers/hosts";
import type { ServedType } from "../providers/registry";
import type { ConfigContext } from "./context";
import { checkBaseUrl } from "./base-url";
import { read, type Section, text } from "./fields";
import { VERSIONED_KEYS } from "./backend-keys";
import { MAX_NAME_CHARS, MAX_URL_CHARS } from "./config-limits";
import { listed } from "./needs";

/** The address of a backend. */
type Endpoint = { baseUrl: string; apiVersion: string | null };

/**
 * The written address, else the operator's, else the type's default. `null`, with an error, if
 * there is none or it is not allowed.
 */
export function readEndpoint(
  section: Section,
  type: ServedType,
  context: ConfigContext,
): Endpoint | null {
  refuseVersionedKeys(section, type);
  const apiVersion = readVersion(section, type, context.variables);
  const found = findAddress(section, type, context.variables);
  if (!found) return null;
  const result = checkBaseUrl(found.address, {
    allowedOrigins: [...context.allowedOrigins, ...operatorOrigins(context.variables)],
    ownOrigins: context.ownOrigins,
  });
  if (!result.ok && result.privateOrigin !== null) {
    refusePrivate(section, found, result.privateOrigin);
    return null;
  }
  if (!result.ok) {
    section.findings.error(
      "base_url_refused",
      [...section.path, found.key],
      `${found.source} ${result.detail}.`,
    );
    return null;
  }
  return { baseUrl: withVersion(result.baseUrl, type, apiVersion), apiVersion };
}

/**
 * A private address is valid if the service runs beside the server, as on a developer's machine.
 */
function refusePrivate(
  { path, findings }: Section,
  { key, source }: FoundAddress,
  origin: string,
): void {
  const say = (origins: readonly string[]) =>
    `${source} is a private address (${listed(origins)}). An operator can allow it with ALLOWED_ORIGINS=${origins.join(",")}.`;
  findings.refuse({
    need: "local_inference",
    code: "base_url_refused",
    path: [...path, key],
    target: "value",
    subject: origin,
    say,
  });
}

function refuseVersionedKeys(
  { path, values, findings }: Section,
  { versions, name }: ServedType,
): void {
  for (const key of versions ? [] : VERSIONED_KEYS) {
    if (values.has(key))
      findings.error(
        "unknown_key",
        [...path, key],
        `\`${key}\` is not supported for ${name}: remove it.`,
        "key",
      );
  }
}

/** `key` is its position in the config; `source` names its origin for users. */
type FoundAddress = { address: string; key: string; source: string };

function findAddress(
  section: Section,
  type: ServedType,
  variables: OperatorVariables,
): FoundAddress | null {
  for (const key of type.versions ? ["azure_endpoint", "base_url"] : ["base_url"]) {
    const address = read(section, key, text(MAX_URL_CHARS), null);
    if (address !== null) return { address, key, source: key };
  }
  const { baseUrlVariable: variable } = type;
  const own = variable === undefined ? undefined : variables[variable];
  if (variable !== undefined && own !== undefined)
    return { address: own, key: "base_url", source: `The operator's ${variable}` };
  const address = fillIn(type.baseUrl ?? `{${variable ?? ""}}`, variables);
  if (address.missing === null)
    return { address: address.text, key: "base_url", source: "base_url" };
  const operator = address.missing === "" ? "" : `, or let the operator set ${address.missing}`;
  section.findings.error(
    "missing",
    [...section.path],
    `base_url is missing: write the address of the endpoint${operator}.`,
  );
  return null;
}

/** The template with the operator's variables; `missing` is the first variable that is not set. */
function fillIn(
  template: string,
  variables: OperatorVariables,
): { text: string; missing: string | null } {
  const names = [...template.matchAll(/\{([A-Z_]*)\}/g)].map(([, name]) => name ?? "");
  const missing = names.find((name) => !Object.hasOwn(variables, name)) ?? null;
  return {
    text: names.reduce(
      (text, name) => text.replace(`{${name}}`, encodeURIComponent(variables[name] ?? "")),
      template,
    ),
    missing,
  };
}

/** An endpoint in the operator's variables is allowed. */
export function operatorOrigins(variables: OperatorVariables): string[] {
  const urls = ENDPOINT_VARIABLES.flatMap((name) => variables[name] ?? []);
  return urls.filter((url) => URL.canParse(url)).map((url) => new URL(url).origin);
}

const VERSION = /^\d{4}-\d{2}-\d{2}(-preview)?$/;

/** `null`: the current API, which has no date. */
function readVersion(
  section: Section,
  { versions }: ServedType,
  variables: OperatorVariables,
): string | null {
  if (!versions) return null;
  const written = read(
    section,
    "api_version",
    text(MAX_NAME_CHARS),
    variables[versions.variable] ?? "v1",
  );
  if (written === "v1") return null;
  if (VERSION.test(written)) return written;
  const detail =
    "api_version must be a date, such as 2025-04-01-preview, or `v1` for the current API.";
  section.findings.error("out_of_range", [...section.path, "api_version"], detail);
  return null;
}

/**
 * Accepts the bare endpoint, the form for an SDK, or the form shown in a console; all give the same
 * address.
 */
function withVersion(baseUrl: string, { versions }: ServedType, apiVersion: string | null): string {
  if (!versions) return baseUrl;
  const { current, dated } = versions;
  const [withoutDeployment = ""] = baseUrl.split(`${dated}/deployments/`);
  const bare = [current, dated].reduce(
    (url, end) => (url.endsWith(end) ? url.slice(0, -end.length) : url),
    withoutDeployment,
  );
  return `${bare}${apiVersion === null ? current : dated}`;
}

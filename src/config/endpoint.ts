import { ENDPOINT_VARIABLES, type OperatorVariables } from "../providers/hosts";
import type { ServedType } from "../providers/registry";
import type { ConfigContext } from "./context";
import { checkBaseUrl } from "./base-url";
import { read, type Section, text } from "./fields";
import { VERSIONED_KEYS } from "./backend-keys";
import { MAX_NAME_CHARS, MAX_URL_CHARS } from "./config-limits";
import { joinSubjects } from "./needs";

/** The address of a backend. `apiVersion`: `null` for the current API, which has no date. */
type Endpoint = { baseUrl: string; apiVersion: string | null };

/**
 * Determines a backend's address: the address in the config, else the operator's, else the default
 * of the type. If there is no address, or it is not allowed, reports an error and returns `null`.
 */
export function readEndpoint(
  section: Section,
  type: ServedType,
  context: ConfigContext,
): Endpoint | null {
  refuseVersionedKeys(section, type);
  const apiVersion = readVersion(section, type, context.variables);
  const address = findAddress(section, type, context.variables);
  if (!address) return null;
  const result = checkBaseUrl(address.address, {
    allowedOrigins: [...context.allowedOrigins, ...operatorOrigins(context.variables)],
    ownOrigins: context.ownOrigins,
  });
  if (!result.ok && result.privateOrigin !== null) {
    refusePrivate(section, address, result.privateOrigin);
    return null;
  }
  if (!result.ok) {
    section.findings.error(
      "base_url_refused",
      [...section.path, address.key],
      `${address.source} ${result.detail}.`,
    );
    return null;
  }
  return { baseUrl: withVersion(result.baseUrl, type, apiVersion), apiVersion };
}

/**
 * Refuses a private address and names the setting that allows it. Such an address works if the
 * service and the model's server run on one machine.
 */
function refusePrivate(
  { path, findings }: Section,
  { key, source }: FoundAddress,
  origin: string,
): void {
  const say = (origins: readonly string[]) =>
    `${source} is a private address (${joinSubjects(origins)}). An operator can allow it with ALLOWED_ORIGINS=${origins.join(",")}.`;
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

/**
 * `key`: the key of the backend section that errors point to. `source`: where the address comes
 * from, as the subject of an error message.
 */
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
  const operators = variable === undefined ? undefined : variables[variable];
  if (variable !== undefined && operators !== undefined)
    return { address: operators, key: "base_url", source: `The operator's ${variable}` };
  const filled = fillIn(type.baseUrl ?? `{${variable ?? ""}}`, variables);
  if (filled.missing === null) return { address: filled.text, key: "base_url", source: "base_url" };
  const alternative = filled.missing === "" ? "" : `, or let the operator set ${filled.missing}`;
  section.findings.error(
    "missing",
    [...section.path],
    `base_url is missing: write the address of the endpoint${alternative}.`,
  );
  return null;
}

/**
 * Replaces `{NAME}` in a template by the operator's variables. `missing`: the first variable that
 * is not set; `null` if all are set.
 */
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

/** The origins of the endpoints in the operator's variables. Configs may use these origins. */
export function operatorOrigins(variables: OperatorVariables): string[] {
  const urls = ENDPOINT_VARIABLES.flatMap((name) => variables[name] ?? []);
  return urls.filter((url) => URL.canParse(url)).map((url) => new URL(url).origin);
}

const VERSION = /^\d{4}-\d{2}-\d{2}(-preview)?$/;

/** The dated API version of an endpoint; `null` for the current API, which has no date. */
function readVersion(
  section: Section,
  { versions }: ServedType,
  variables: OperatorVariables,
): string | null {
  if (!versions) return null;
  const version = read(
    section,
    "api_version",
    text(MAX_NAME_CHARS),
    variables[versions.variable] ?? "v1",
  );
  if (version === "v1") return null;
  if (VERSION.test(version)) return version;
  const detail =
    "api_version must be a date, such as 2025-04-01-preview, or `v1` for the current API.";
  section.findings.error("out_of_range", [...section.path, "api_version"], detail);
  return null;
}

/**
 * Adds the path of the API version to the address of a versioned endpoint. Accepts the address with
 * or without that path, and with a deployment, as a provider's console shows it.
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

import { findHost } from "../providers/hosts";
import { type ModelFacts, modelFacts, UNKNOWN_MODEL } from "../providers/models";
import { BACKEND_TYPES, type BackendType } from "../providers/registry";
import type { AgentRules } from "../protocol/team";
import { readApiKey } from "./api-key";
import { checkBaseUrl } from "./base-url";
import { checkKeys } from "./check-keys";
import { read, type Section, text } from "./fields";
import { BACKEND_KEYS, FOREIGN_PARAMS } from "./known-keys";
import { MAX_NAME_CHARS, MAX_URL_CHARS } from "./limits";
import { nearest } from "./nearest";
import { PARAM_KEYS, readOutputCap, readParams } from "./params";
import type { Backend } from "./team";

/** What the operator of this deployment has and allows. */
export type ConfigContext = { storedKeys: readonly string[]; allowedOrigins: readonly string[] };

/** A backend, and what the coordination rules need to know about it. */
export type BackendAndRules = { backend: Backend; rules: Omit<AgentRules, "id"> };

/** Reads a `backend` section; null if an error keeps it from being one. */
export function readBackend(section: Section, context: ConfigContext): BackendAndRules | null {
  const type = readType(section);
  checkKeys(section, BACKEND_KEYS, [...PARAM_KEYS, ...Object.keys(FOREIGN_PARAMS)]);
  if (!type?.served) return null;
  refuseForeignParams(section, type.name);

  const model = read(section, "model", text(MAX_NAME_CHARS), null)?.trim();
  if (!model) section.findings.error("missing", [...section.path], "model is missing: name the model as the provider calls it.");
  const baseUrl = readBaseUrl(section, type, context);
  const facts = modelFacts(model ?? "");
  const params = readParams(section);
  const cap = readOutputCap(section);
  const maxOutputTokens = outputBound(facts, cap);
  if (!model || baseUrl === null) return null;
  const key = readApiKey(section, baseUrl, context.storedKeys);
  const typeName = read(section, "type", text(MAX_NAME_CHARS), "");
  return {
    backend: {
      type: typeName,
      format: type.format,
      host: findHost(baseUrl).id,
      model,
      baseUrl,
      key,
      capsOutput: cap !== null,
      params,
      apiVersion: null,
      hostedTools: [],
    },
    rules: toRules({ model, baseUrl, facts, maxOutputTokens }),
  };
}

/** Most output tokens of one call: what the config says, at most what a known model can. */
function outputBound(facts: ModelFacts, cap: number | null): number {
  if (cap === null) return facts.maxOutputTokens;
  return facts === UNKNOWN_MODEL ? cap : Math.min(cap, facts.maxOutputTokens);
}

function toRules(known: {
  model: string;
  baseUrl: string;
  facts: ModelFacts;
  maxOutputTokens: number;
}): BackendAndRules["rules"] {
  const host = findHost(known.baseUrl);
  return {
    provider: host.id,
    model: known.model,
    context_window: known.facts.contextWindow,
    max_output_tokens: known.maxOutputTokens,
    price: known.facts.price,
    forces_tools: host.forcesTools,
    workspace: false,
    tools: [],
  };
}

function readType({ path, values, findings }: Section): BackendType | null {
  const at = [...path, "type"];
  const served = Object.keys(BACKEND_TYPES).filter((name) => BACKEND_TYPES[name]?.served);
  const written = values.get("type");
  if (typeof written !== "string") {
    const detail = `type must name a backend type; served here: ${served.join(", ")}.`;
    findings.error(written === undefined ? "missing" : "wrong_type", written === undefined ? [...path] : at, detail);
    return null;
  }
  const type = Object.hasOwn(BACKEND_TYPES, written) ? BACKEND_TYPES[written] : undefined;
  if (!type) {
    const meant = nearest(written, Object.keys(BACKEND_TYPES));
    findings.error(
      "unknown_key",
      at,
      `No backend type has this name. ${meant ? `Did you mean \`${meant}\`?` : `Served here: ${served.join(", ")}.`}`,
    );
    return null;
  }
  if (!type.served) {
    const detail = `Backend type \`${written}\` (${type.name}) is not served yet; served here: ${served.join(", ")}, with the base_url of any provider that speaks it.`;
    findings.error("not_served", at, detail);
  }
  return type;
}

function readBaseUrl(section: Section, type: Extract<BackendType, { served: true }>, context: ConfigContext): string | null {
  const written = read(section, "base_url", text(MAX_URL_CHARS), type.defaultBaseUrl);
  const result = checkBaseUrl(written, context.allowedOrigins);
  if (result.ok) return result.baseUrl;
  section.findings.error("base_url_refused", [...section.path, "base_url"], `base_url ${result.detail}.`);
  return null;
}

/** Sent as they are, they would only come back as the provider's error. */
function refuseForeignParams({ path, values, findings }: Section, format: string): void {
  for (const [key, advice] of Object.entries(FOREIGN_PARAMS)) {
    if (!values.has(key)) continue;
    findings.error(
      "unknown_key",
      [...path, key],
      `\`${key}\` is no parameter of ${format}: ${advice}. What a provider adds goes under extra_body.`,
      "key",
    );
  }
}

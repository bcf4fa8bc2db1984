import type { AgentRules } from "../protocol/team";
import { ALL_PARAMS, FORMAT_NAMES, FORMAT_PARAMS } from "../providers/format-params";
import { findHost, type Host, hostById, UNKNOWN_HOST } from "../providers/hosts";
import {
  DATED,
  isListed,
  type ModelFacts,
  modelFacts,
  modelsOf,
  UNKNOWN_MODEL,
} from "../providers/models";
import type { Format, ServedType } from "../providers/registry";
import { readApiKey } from "./api-key";
import { readType } from "./backend-type";
import { checkKeys } from "./check-keys";
import { readEndpoint } from "./endpoint";
import type { ConfigContext } from "./context";
import { BACKEND_KEYS, OTHER_TYPES_KEYS } from "./backend-keys";
import { oneOf, read, type Section } from "./fields";
import { readRequestedTools, readHostedTools } from "./hosted-tools";
import { checkParams, readOutputCap, readParams } from "./params";
import { priceOf } from "./price";
import { readRates } from "./rates";
import { BACKEND } from "./backend-settings";
import { readSetting } from "./setting";
import type { Backend } from "./team";
import { nearest } from "./nearest";

/** A backend and its coordination rules. */
type BackendAndRules = {
  backend: Backend;
  rules: Omit<AgentRules, "id" | "workspace" | "tools">;
};

const PARAM_KEYS = [...ALL_PARAMS, ...OTHER_TYPES_KEYS];

/**
 * Reads a `backend` section. Returns `null` if an error makes it unusable. `offersFunctions`:
 * whether the agent answers and votes by calling functions.
 */
export function readBackend(
  section: Section,
  context: ConfigContext,
  offersFunctions: boolean,
): BackendAndRules | null {
  const type = readType(section);
  checkKeys(section, BACKEND_KEYS, PARAM_KEYS);
  if (!type) return null;
  const requestedTools = readRequestedTools(section);
  const format = readFormat(section, type.facts);
  const wire = {
    params: FORMAT_PARAMS[format],
    name: format === type.facts.format ? type.facts.name : FORMAT_NAMES[format],
  };
  const params = readParams(section, wire, PARAM_KEYS);
  const cap = readOutputCap(section, wire);
  const model = readModel(section, type.facts);
  const endpoint = readEndpoint(section, type.facts, context);
  if (model === null || !endpoint) return null;

  checkParams(section, wire, { params, model });
  const host = type.facts.host === null ? findHost(endpoint.baseUrl) : hostById(type.facts.host);
  const place = { type: type.facts, host, format, params: wire.params, model, offersFunctions };
  const hosted = readHostedTools(section, requestedTools, place);
  const key = readApiKey(section, { host, baseUrl: endpoint.baseUrl, context });
  const seller = sellerOf(host, endpoint.baseUrl);
  const facts = modelFacts(model, seller.id);
  // The operator of a versioned endpoint chooses the deployment's name freely.
  if (!type.facts.versions) checkModelName(section, { model, host: seller });
  const price = priceOf(section, { facts, host: seller, model, params });
  const rates = readRates(section, { host: host.id, hostName: host.name, model });
  return {
    backend: {
      type: type.name,
      format,
      host: host.id,
      model,
      ...endpoint,
      key,
      capsOutput: cap !== null,
      params,
      hostedTools: hosted.tools,
      ...(rates && { rates }),
    },
    rules: {
      provider: host.id,
      model,
      context_window: facts.contextWindow,
      max_output_tokens: outputBound(facts, cap),
      price,
      forces_tools: host.forcesTools && (wire.params.forcesTools?.(params, model) ?? true),
      ...(hosted.rules.length > 0 && { hosted_tools: hosted.rules }),
      ...(hosted.alone && { hosted_alone: true }),
    },
  };
}

/** The wire format that the key `api` selects; without this key, the type's default format. */
function readFormat(section: Section, { format, apis, name }: ServedType): Format {
  if (!apis) {
    if (section.values.has("api"))
      section.findings.error(
        "unknown_key",
        [...section.path, "api"],
        `${name} has only one API: remove \`api\`.`,
        "key",
      );
    return format;
  }
  const api = read(section, "api", oneOf(Object.keys(apis)), null);
  return (api === null ? undefined : apis[api]) ?? format;
}

/** The name of the model. For a versioned endpoint, the name of its deployment. */
function readModel(section: Section, { versions, model: defaultModel }: ServedType): string | null {
  const keys = versions
    ? [BACKEND.azureDeployment, BACKEND.deploymentName, BACKEND.model]
    : [BACKEND.model];
  const configured = keys.map((key) => readSetting(section, key)?.trim()).find((name) => name);
  const model = configured ?? defaultModel;
  // An invalid value is already reported.
  const hasValue = keys.some(({ key }) => (section.values.get(key) ?? null) !== null);
  if (model === null && !hasValue)
    section.findings.error(
      "missing",
      [...section.path],
      "model is missing: write the provider's name of the model.",
    );
  return model;
}

/**
 * Returns the host whose prices apply. A known host at the address sets the price, regardless of
 * the backend type. An unknown host only forwards requests to the type's host.
 */
function sellerOf(host: Host, baseUrl: string): Host {
  const addressed = findHost(baseUrl);
  return addressed === UNKNOWN_HOST ? host : addressed;
}

/** Maximum output tokens per call: the config's cap, at most a known model's limit. */
function outputBound(facts: ModelFacts, cap: number | null): number {
  if (cap === null) return facts.maxOutputTokens;
  return facts === UNKNOWN_MODEL ? cap : Math.min(cap, facts.maxOutputTokens);
}

/**
 * Maximum edit distance between a misspelled model name and the correct name. The name of a new
 * model may differ as little, so a possible misspelling is a warning, not an error.
 */
const MAX_EDITS = 2;

const lettersOf = (model: string): string => model.toLowerCase().replaceAll(/[^a-z]/g, "");
const digitsOf = (model: string): string => model.replaceAll(/\D/g, "");
/** Whether two names differ only in their digits: probably two versions of one model. */
const isVersionOf = (model: string, known: string): boolean =>
  lettersOf(model) === lettersOf(known) && digitsOf(model) !== digitsOf(known);

/**
 * Warns if an unknown model name resembles one of the host's models. Does nothing if none of the
 * host's models are listed.
 */
function checkModelName(
  { findings, path }: Section,
  { model, host }: { model: string; host: Host },
): void {
  if (isListed(model)) return;
  const meant = intendedModel(model, modelsOf(host.id));
  if (meant === null) return;
  const detail = `${model} is not a known model of ${host.name}. Did you mean \`${meant}\`?`;
  findings.warn("model_unknown", [...path, "model"], detail);
}

/** A model name without its vendor prefix and its date. */
const withoutVendorAndDate = (model: string): string =>
  model.replace(/^[^/]*\//, "").replace(DATED, "");

/** The model that the user probably means; `null` if no known name is close, or several are. */
function intendedModel(model: string, models: readonly string[]): string | null {
  const name = withoutVendorAndDate(model);
  if (models.includes(name)) return name;
  const sameEnding = models.filter((known) => known.endsWith(`-${name.toLowerCase()}`));
  if (sameEnding.length === 1) return sameEnding[0] ?? null;
  return nearest(
    name,
    models.filter((known) => !isVersionOf(name, known)),
    MAX_EDITS,
  );
}

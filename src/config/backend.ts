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
import { readAskedTools, readHostedTools } from "./hosted-tools";
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
 * Reads a `backend` section; `null` if an error makes it unusable. `offersFunctions`: whether the
 * agent answers and votes by calling functions.
 */
export function readBackend(
  section: Section,
  context: ConfigContext,
  offersFunctions: boolean,
): BackendAndRules | null {
  const type = readType(section);
  checkKeys(section, BACKEND_KEYS, PARAM_KEYS);
  if (!type) return null;
  const asked = readAskedTools(section);
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
  const hosted = readHostedTools(section, asked, place);
  const key = readApiKey(section, { host, baseUrl: endpoint.baseUrl, context });
  const seller = sellerOf(host, endpoint.baseUrl);
  const facts = modelFacts(model, seller.id);
  // a deployment may have any name
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

/** The type's own format, or that of the key `api`. */
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
  const named = read(section, "api", oneOf(Object.keys(apis)), null);
  return (named === null ? undefined : apis[named]) ?? format;
}

/** Versioned endpoints have a deployment name in place of a model name. */
function readModel(section: Section, { versions, model: usual }: ServedType): string | null {
  const keys = versions
    ? [BACKEND.azureDeployment, BACKEND.deploymentName, BACKEND.model]
    : [BACKEND.model];
  const written = keys.map((key) => readSetting(section, key)?.trim()).find((name) => name);
  const model = written ?? usual;
  // invalid, which is already reported
  const isWritten = keys.some(({ key }) => (section.values.get(key) ?? null) !== null);
  if (model === null && !isWritten)
    section.findings.error(
      "missing",
      [...section.path],
      "model is missing: write the provider's name of the model.",
    );
  return model;
}

/**
 * Selects whose prices apply: those of a known host, regardless of the type. Other hosts only
 * forward requests.
 */
function sellerOf(host: Host, baseUrl: string): Host {
  const there = findHost(baseUrl);
  return there === UNKNOWN_HOST ? host : there;
}

/** Maximum output tokens per call: the config's cap, at most a known model's limit. */
function outputBound(facts: ModelFacts, cap: number | null): number {
  if (cap === null) return facts.maxOutputTokens;
  return facts === UNKNOWN_MODEL ? cap : Math.min(cap, facts.maxOutputTokens);
}

/**
 * Edits between a model name and its likely correction. A newer model may differ by as little, so
 * this is a warning, not an error.
 */
const MOST_SLIPS = 2;

const lettersOf = (model: string): string => model.toLowerCase().replaceAll(/[^a-z]/g, "");
const digitsOf = (model: string): string => model.replaceAll(/\D/g, "");
/** Same words with another number: probably another version. */
const isVersionOf = (model: string, known: string): boolean =>
  lettersOf(model) === lettersOf(known) && digitsOf(model) !== digitsOf(known);

/**
 * Warns if a name resembles one of the host's models. Does nothing for hosts without listed models.
 */
function checkModelName(
  { findings, path }: Section,
  { model, host }: { model: string; host: Host },
): void {
  if (isListed(model)) return;
  const meant = meantBy(model, modelsOf(host.id));
  if (meant === null) return;
  const detail = `${model} is not a known model of ${host.name}. Did you mean \`${meant}\`?`;
  findings.warn("model_unknown", [...path, "model"], detail);
}

/** A model name without the vendor's prefix and a date. */
const bareName = (model: string): string => model.replace(/^[^/]*\//, "").replace(DATED, "");

/** The intended model of `models`; `null` if none is close, or several are. */
function meantBy(model: string, models: readonly string[]): string | null {
  const name = bareName(model);
  if (models.includes(name)) return name;
  const ending = models.filter((known) => known.endsWith(`-${name.toLowerCase()}`));
  if (ending.length === 1) return ending[0] ?? null;
  return nearest(
    name,
    models.filter((known) => !isVersionOf(name, known)),
    MOST_SLIPS,
  );
}

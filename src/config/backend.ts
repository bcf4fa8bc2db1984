import type { AgentRules } from "../protocol/team";
import { ALL_PARAMS, FORMAT_NAMES, FORMAT_PARAMS } from "../providers/format-params";
import { findHost, hostById, type OperatorVariables } from "../providers/hosts";
import { type ModelFacts, modelFacts, UNKNOWN_MODEL } from "../providers/models";
import type { Format, ServedType } from "../providers/registry";
import { readApiKey } from "./api-key";
import { readType } from "./backend-type";
import { checkKeys } from "./check-keys";
import { readEndpoint } from "./endpoint";
import { oneOf, read, type Section, text } from "./fields";
import { type AskedTool, readAskedTools, readHostedTools } from "./hosted-tools";
import { BACKEND_KEYS, OTHER_TYPES_KEYS } from "./backend-keys";
import { MAX_NAME_CHARS } from "./limits";
import { checkParams, readOutputCap, readParams } from "./params";
import { priceOf } from "./price";
import type { Backend } from "./team";

/** What the operator of this deployment has and allows: names of stored keys, never keys. */
export type ConfigContext = {
  storedKeys: readonly string[];
  allowedOrigins: readonly string[];
  /** Endpoints and accounts of the operator's, by the names in `OPERATOR_VARIABLES`. */
  variables: OperatorVariables;
};

/** A backend, and what the coordination rules need to know about it. */
export type BackendAndRules = { backend: Backend; rules: Omit<AgentRules, "id"> };

const PARAM_KEYS = [...ALL_PARAMS, ...OTHER_TYPES_KEYS];

/**
 * Reads a `backend` section; null if an error keeps it from being one. `offersFunctions`: whether the agent is to answer and vote
 * by calling functions.
 */
export function readBackend(section: Section, context: ConfigContext, offersFunctions: boolean): BackendAndRules | null {
  const type = readType(section);
  checkKeys(section, BACKEND_KEYS, PARAM_KEYS);
  if (!type) return null;
  const asked = readAskedTools(section);
  const format = readFormat(section, type.facts, asked);
  const spoken = { params: FORMAT_PARAMS[format], name: format === type.facts.format ? type.facts.name : FORMAT_NAMES[format] };
  const params = readParams(section, spoken, PARAM_KEYS);
  const cap = readOutputCap(section, spoken);
  const model = readModel(section, type.facts);
  const endpoint = readEndpoint(section, type.facts, context);
  if (model === null || !endpoint) return null;

  checkParams(section, spoken, { params, model });
  const host = type.facts.host === null ? findHost(endpoint.baseUrl) : hostById(type.facts.host);
  const place = { type: type.facts, host, format, params: spoken.params, model, offersFunctions };
  const hosted = readHostedTools(section, asked, place);
  const key = readApiKey(section, { host, baseUrl: endpoint.baseUrl, context });
  const facts = modelFacts(model, host.id);
  const price = priceOf(section, { facts, host, model, params, hosted: hosted.rules });
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
    },
    rules: {
      provider: host.id,
      model,
      context_window: facts.contextWindow,
      max_output_tokens: outputBound(facts, cap),
      price,
      forces_tools: host.forcesTools && (spoken.params.forcesTools?.(params, model) ?? true),
      workspace: false,
      tools: [],
      ...(hosted.rules.length > 0 && { hosted_tools: hosted.rules }),
      ...(hosted.alone && { hosted_alone: true }),
    },
  };
}

/** The type's own, the one its key `api` names, or the one it needs for hosted tools. */
function readFormat(section: Section, { format, hostedFormat, apis, name }: ServedType, asked: readonly AskedTool[]): Format {
  if (!apis) {
    if (section.values.has("api"))
      section.findings.error(
        "unknown_key",
        [...section.path, "api"],
        `There is no choice of \`api\` for ${name}: remove it.`,
        "key",
      );
    return asked.length > 0 ? (hostedFormat ?? format) : format;
  }
  const named = read(section, "api", oneOf(Object.keys(apis)), null);
  return named === null ? format : (apis[named] ?? format);
}

/** A deployment's name goes where others have a model's. */
function readModel(section: Section, { versions, model: usual }: ServedType): string | null {
  const keys = versions ? ["azure_deployment", "deployment_name", "model"] : ["model"];
  const written = keys.map((key) => read(section, key, text(MAX_NAME_CHARS), null)?.trim()).find((name) => name);
  const model = written ?? usual;
  if (model === null)
    section.findings.error("missing", [...section.path], "model is missing: name the model as the provider calls it.");
  return model;
}

/** Most output tokens of one call: what the config says, at most what a known model can. */
function outputBound(facts: ModelFacts, cap: number | null): number {
  if (cap === null) return facts.maxOutputTokens;
  return facts === UNKNOWN_MODEL ? cap : Math.min(cap, facts.maxOutputTokens);
}

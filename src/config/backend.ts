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

/** A backend, and what the coordination rules need to know about it. */
type BackendAndRules = {
  backend: Backend;
  rules: Omit<AgentRules, "id" | "workspace" | "tools">;
};

const PARAM_KEYS = [...ALL_PARAMS, ...OTHER_TYPES_KEYS];

/**
 * Reads a `backend` section; null if an error keeps it from being one. `offersFunctions`: whether the agent is to answer and vote
 * by calling functions.
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
  const spoken = {
    params: FORMAT_PARAMS[format],
    name: format === type.facts.format ? type.facts.name : FORMAT_NAMES[format],
  };
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
  const seller = sellerOf(host, endpoint.baseUrl);
  const facts = modelFacts(model, seller.id);
  if (!type.facts.versions) checkModelName(section, { model, host: seller }); // a deployment may be called anything
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
      forces_tools: host.forcesTools && (spoken.params.forcesTools?.(params, model) ?? true),
      ...(hosted.rules.length > 0 && { hosted_tools: hosted.rules }),
      ...(hosted.alone && { hosted_alone: true }),
    },
  };
}

/** The type's own, or the one its key `api` names. */
function readFormat(section: Section, { format, apis, name }: ServedType): Format {
  if (!apis) {
    if (section.values.has("api"))
      section.findings.error(
        "unknown_key",
        [...section.path, "api"],
        `There is no choice of \`api\` for ${name}: remove it.`,
        "key",
      );
    return format;
  }
  const named = read(section, "api", oneOf(Object.keys(apis)), null);
  return (named === null ? undefined : apis[named]) ?? format;
}

/** A deployment's name goes where others have a model's. */
function readModel(section: Section, { versions, model: usual }: ServedType): string | null {
  const keys = versions
    ? [BACKEND.azureDeployment, BACKEND.deploymentName, BACKEND.model]
    : [BACKEND.model];
  const written = keys.map((key) => readSetting(section, key)?.trim()).find((name) => name);
  const model = written ?? usual;
  const isWritten = keys.some(({ key }) => (section.values.get(key) ?? null) !== null); // and wrong, which is told already
  if (model === null && !isWritten)
    section.findings.error(
      "missing",
      [...section.path],
      "model is missing: name the model as the provider calls it.",
    );
  return model;
}

/** Whose prices hold: a known host sells at its own, whichever type leads to it; anything else only passes requests on. */
function sellerOf(host: Host, baseUrl: string): Host {
  const there = findHost(baseUrl);
  return there === UNKNOWN_HOST ? host : there;
}

/** Most output tokens of one call: what the config says, at most what a known model can. */
function outputBound(facts: ModelFacts, cap: number | null): number {
  if (cap === null) return facts.maxOutputTokens;
  return facts === UNKNOWN_MODEL ? cap : Math.min(cap, facts.maxOutputTokens);
}

/** Slips in a model's name. A model that came later may differ by as little, so this is a warning and not an error. */
const MOST_SLIPS = 2;

const lettersOf = (model: string): string => model.toLowerCase().replaceAll(/[^a-z]/g, "");
const digitsOf = (model: string): string => model.replaceAll(/\D/g, "");
/** Same words, other number: more likely another version than a slip. */
const isVersionOf = (model: string, known: string): boolean =>
  lettersOf(model) === lettersOf(known) && digitsOf(model) !== digitsOf(known);

/** Warns of a name that is nearly one of the host's models. Hosts whose models are not listed have none to compare with. */
function checkModelName(
  { findings, path }: Section,
  { model, host }: { model: string; host: Host },
): void {
  if (isListed(model)) return;
  const meant = meantBy(model, modelsOf(host.id));
  if (meant === null) return;
  const detail = `${host.name} has no model ${model} that this service knows. Did you mean \`${meant}\`?`;
  findings.warn("model_unknown", [...path, "model"], detail);
}

/** As others write the names of models: with the vendor before, with a date behind. */
const bareName = (model: string): string => model.replace(/^[^/]*\//, "").replace(DATED, "");

/** The model of `models` that is written another way or with a slip; null if none is near, or if several are meant alike. */
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

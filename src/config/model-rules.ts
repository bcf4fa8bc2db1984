import type { AgentRules } from "../protocol/team";
import { FORMAT_NAMES, FORMAT_PARAMS } from "../providers/format-params";
import { findHost, type Host, UNKNOWN_HOST } from "../providers/hosts";
import {
  DATED,
  isListed,
  type ModelFacts,
  modelFacts,
  modelsOf,
  UNKNOWN_MODEL,
} from "../providers/models";
import type { HostedTool } from "../providers/provider";
import type { Format, ServedType } from "../providers/registry";
import type { Section } from "./fields";
import { type RequestedTool, readHostedTools } from "./hosted-tools";
import { nearest } from "./nearest";
import { checkParams } from "./params";
import { priceOf } from "./price";

/** A backend with its model. `cap`: the config's cap on output tokens; `null` if there is none. */
type ChosenModel = {
  type: ServedType;
  host: Host;
  format: Format;
  baseUrl: string;
  model: string;
  params: Readonly<Record<string, unknown>>;
  cap: number | null;
  requestedTools: readonly RequestedTool[];
  /** Whether the agent answers and votes by calling functions. */
  offersFunctions: boolean;
};

/** The coordination rules of an agent that depend on its model. */
export type ModelRules = Omit<AgentRules, "id" | "number" | "workspace" | "tools" | "tool_servers">;

/**
 * Reads what depends on the model of a backend: prices, limits and hosted tools. Reports settings
 * that the model does not support.
 */
export function readModelRules(
  section: Section,
  { type, host, format, baseUrl, model, params, cap, requestedTools, offersFunctions }: ChosenModel,
): { hostedTools: HostedTool[]; rules: ModelRules } {
  const wire = { params: FORMAT_PARAMS[format], name: FORMAT_NAMES[format] };
  checkParams(section, wire, { params, model });
  const place = { type, host, format, params: wire.params, model, offersFunctions };
  const hosted = readHostedTools(section, requestedTools, place);
  const seller = sellerOf(host, baseUrl);
  const facts = modelFacts(model, seller.id);
  // The operator of a versioned endpoint chooses the deployment's name freely.
  if (!type.versions) checkModelName(section, { model, host: seller });
  const price = priceOf(section, { facts, host: seller, model, params });
  return {
    hostedTools: hosted.tools,
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

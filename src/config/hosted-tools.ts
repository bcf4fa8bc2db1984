import type { HostedToolRule } from "../protocol/team";
import type { HostedToolName } from "../protocol/hosted-tools";
import type { Host } from "../providers/host";
import type { FormatParams } from "../providers/param-types";
import {
  type Format,
  runsHostedTools,
  type ServedType,
  typesWithTool,
} from "../providers/registry";
import { flag, read, type Section } from "./fields";
import { BACKEND } from "./backend-settings";
import { readSetting } from "./setting";
import type { HostedTool } from "../providers/provider";
import { ONLY_TOKENS } from "./price";

/** Reads the hosted tools of a backend section: tools that the provider runs. */

/** MassGen's keys for hosted tools. Both keys for code execution mean the same tool. */
export const HOSTED_KEYS: readonly (readonly [string, HostedToolName])[] = [
  ["enable_web_search", "web_search"],
  ["enable_x_search", "x_search"],
  ["enable_code_interpreter", "code_execution"],
  ["enable_code_execution", "code_execution"],
];

const TOOL_LABELS: Readonly<Record<HostedToolName, string>> = {
  web_search: "web search",
  x_search: "search on X",
  code_execution: "code execution",
};

/** A requested tool, and the first key that requests it. */
export type RequestedTool = { name: HostedToolName; key: string };

/** The hosted tools that a backend section enables, without duplicates. */
export function readRequestedTools(section: Section): RequestedTool[] {
  const requested = HOSTED_KEYS.filter(([key]) => read(section, key, flag, false)).map(
    ([key, name]) => ({ key, name }),
  );
  return requested.filter(
    ({ name }, index) => requested.findIndex((other) => other.name === name) === index,
  );
}

/**
 * Facts of a backend that decide which hosted tools it supports. `offersFunctions`: whether the
 * agent also has functions.
 */
type HostedBackend = {
  type: ServedType;
  host: Host;
  format: Format;
  params: FormatParams;
  model: string;
  offersFunctions: boolean;
};

/** `alone`: whether the tools can run only in calls without functions. */
type HostedTools = { tools: HostedTool[]; rules: HostedToolRule[]; alone: boolean };

/**
 * Returns the hosted tools for requests to the model, and their coordination rules. Refuses tools
 * that the provider does not support.
 */
export function readHostedTools(
  section: Section,
  requested: readonly RequestedTool[],
  place: HostedBackend,
): HostedTools {
  const maxUses = readSetting(section, BACKEND.maxUses);
  if (section.values.get(BACKEND.maxUses.key) != null)
    warnOfUselessLimit(section, requested, place);
  const rules = requested.flatMap((tool) => {
    const problem = problemOf(tool, place);
    if (problem === null) return toRule(section, tool, { place, maxUses });
    const say = () => `\`${tool.key}\`: ${problem}`;
    section.findings.refuse({
      need: `${tool.name} by ${place.type.name}`,
      path: [...section.path, tool.key],
      subject: tool.key,
      say,
    });
    return [];
  });
  const tools = rules.map(({ name, max_uses }) => ({ name, maxUses: max_uses }));
  return { tools, rules, alone: rules.length > 0 && needResearchCalls(section, requested, place) };
}

/**
 * Whether the agent needs additional research calls for its hosted tools, because the model does
 * not support the tools beside functions. Warns about the cost of these calls.
 */
function needResearchCalls(
  section: Section,
  [first]: readonly RequestedTool[],
  { params, model, offersFunctions }: HostedBackend,
): boolean {
  const alternative = params.hostedAlone?.(model) ?? null;
  if (alternative === null || !offersFunctions || !first) return false;
  const detail = `\`${first.key}\`: ${model} supports it only in calls without functions. Each round of this agent therefore begins with an additional research call, which costs money. ${alternative} needs none.`;
  section.findings.warn("research_calls", [...section.path, first.key], detail, "key");
  return true;
}

function warnOfPrice({ path, findings }: Section, key: string, what: string): void {
  findings.warn(
    "price_unknown",
    [...path, key],
    `The price of ${what} is unknown: ${ONLY_TOKENS}.`,
    "key",
  );
}

/** Warns if the provider ignores `hosted_tool_max_uses`; the setting would be misleading. */
function warnOfUselessLimit(
  { path, findings }: Section,
  requested: readonly RequestedTool[],
  { host }: HostedBackend,
): void {
  const warn = (detail: string) =>
    findings.warn(
      "no_effect",
      [...path, BACKEND.maxUses.key],
      `\`${BACKEND.maxUses.key}\` ${detail}`,
      "key",
    );
  if (requested.length === 0)
    warn("has no effect: the agent has no tool that the provider runs, such as enable_web_search.");
  const unlimited = requested.filter(
    ({ name }) => !(host.hostedTools[name]?.limited ?? host.usesLimit !== undefined),
  );
  const tools = unlimited.map(({ name }) => TOOL_LABELS[name]).join(" and ");
  if (unlimited.length > 0)
    warn(
      `does not limit ${tools}, because ${host.name} supports no limit. It only sets how many uses a budget reserves.`,
    );
}

/** Why the backend cannot run a tool, with advice; `null` if it can. */
function problemOf({ name }: RequestedTool, { type, host, format }: HostedBackend): string | null {
  const isAvailable = host.hostedTools[name] !== undefined;
  const api = Object.entries(type.apis ?? {}).find(([, apiFormat]) =>
    runsHostedTools(apiFormat),
  )?.[0];
  if (isAvailable && !runsHostedTools(format) && api !== undefined)
    return `for ${TOOL_LABELS[name]} by ${host.name}, write \`api: ${api}\`.`;
  if (!isAvailable || !runsHostedTools(format)) {
    return `${type.name} does not support ${TOOL_LABELS[name]}. Remove the key, or use a backend type that supports it: ${typesWithTool(name).join(", ")}.`;
  }
  return null;
}

function toRule(
  section: Section,
  { name, key }: RequestedTool,
  { place: { host, model }, maxUses }: { place: HostedBackend; maxUses: number },
): HostedToolRule[] {
  const facts = host.hostedTools[name];
  if (!facts) return [];
  const usdPerUse = facts.surcharge?.models.test(model)
    ? facts.surcharge.usdPerUse
    : facts.usdPerUse;
  if (usdPerUse === null) warnOfPrice(section, key, `${TOOL_LABELS[name]} by ${host.name}`);
  return [{ name, max_uses: maxUses, usd_per_use: usdPerUse, tokens_per_use: facts.tokensPerUse }];
}

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

/** Hosted tools, which the provider runs, in a backend section. */

/** MassGen's keys. Both keys for code execution mean the same tool. */
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
type AskedTool = { name: HostedToolName; key: string };

/** The hosted tools that a backend section enables, without duplicates. */
export function readAskedTools(section: Section): AskedTool[] {
  const asked = HOSTED_KEYS.filter(([key]) => read(section, key, flag, false)).map(
    ([key, name]) => ({ key, name }),
  );
  return asked.filter(
    ({ name }, place) => asked.findIndex((other) => other.name === name) === place,
  );
}

/**
 * Facts of a backend that decide whether it supports them. `offersFunctions`: whether the agent
 * also has functions.
 */
type HostedPlace = {
  type: ServedType;
  host: Host;
  format: Format;
  params: FormatParams;
  model: string;
  offersFunctions: boolean;
};

/** `alone`: whether they can run only in calls without functions. */
type HostedTools = { tools: HostedTool[]; rules: HostedToolRule[]; alone: boolean };

/**
 * The tools for requests and their coordination rules. Refuses by name tools that the provider does
 * not support.
 */
export function readHostedTools(
  section: Section,
  asked: readonly AskedTool[],
  place: HostedPlace,
): HostedTools {
  const maxUses = readSetting(section, BACKEND.maxUses);
  if (section.values.get(BACKEND.maxUses.key) != null) warnOfLimit(section, asked, place);
  const rules = asked.flatMap((tool) => {
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
  return { tools, rules, alone: rules.length > 0 && areAlone(section, asked, place) };
}

/** Whether agents that answer and vote need research calls for them. Warns the user if so. */
function areAlone(
  section: Section,
  [first]: readonly AskedTool[],
  { params, model, offersFunctions }: HostedPlace,
): boolean {
  const other = params.hostedAlone?.(model) ?? null;
  if (other === null || !offersFunctions || !first) return false;
  const detail = `\`${first.key}\`: ${model} supports it only in calls without functions. Each round of this agent therefore begins with an additional research call, which costs money. ${other} needs none.`;
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

/** A limit without effect would be misleading. */
function warnOfLimit(
  { path, findings }: Section,
  asked: readonly AskedTool[],
  { host }: HostedPlace,
): void {
  const warn = (detail: string) =>
    findings.warn(
      "no_effect",
      [...path, BACKEND.maxUses.key],
      `\`${BACKEND.maxUses.key}\` ${detail}`,
      "key",
    );
  if (asked.length === 0)
    warn("has no effect: the agent has no tool that the provider runs, such as enable_web_search.");
  const free = asked.filter(
    ({ name }) => !(host.hostedTools[name]?.limited ?? host.usesLimit !== undefined),
  );
  const tools = free.map(({ name }) => TOOL_LABELS[name]).join(" and ");
  if (free.length > 0)
    warn(
      `does not limit ${tools}, because ${host.name} supports no limit. It only sets how many uses a budget reserves.`,
    );
}

function problemOf({ name }: AskedTool, { type, host, format }: HostedPlace): string | null {
  const runs = host.hostedTools[name] !== undefined;
  const api = Object.entries(type.apis ?? {}).find(([, other]) => runsHostedTools(other))?.[0];
  if (runs && !runsHostedTools(format) && api !== undefined)
    return `for ${TOOL_LABELS[name]} by ${host.name}, write \`api: ${api}\`.`;
  if (!runs || !runsHostedTools(format)) {
    return `${type.name} does not support ${TOOL_LABELS[name]}. Remove the key, or use a backend type that supports it: ${typesWithTool(name).join(", ")}.`;
  }
  return null;
}

function toRule(
  section: Section,
  { name, key }: AskedTool,
  { place: { host, model }, maxUses }: { place: HostedPlace; maxUses: number },
): HostedToolRule[] {
  const facts = host.hostedTools[name];
  if (!facts) return [];
  const usdPerUse = facts.surcharge?.models.test(model)
    ? facts.surcharge.usdPerUse
    : facts.usdPerUse;
  if (usdPerUse === null) warnOfPrice(section, key, `${TOOL_LABELS[name]} by ${host.name}`);
  return [{ name, max_uses: maxUses, usd_per_use: usdPerUse, tokens_per_use: facts.tokensPerUse }];
}

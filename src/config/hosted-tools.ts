import type { HostedToolRule } from "../protocol/team";
import type { HostedToolName } from "../protocol/hosted-tools";
import type { Host } from "../providers/host";
import type { FormatParams } from "../providers/params";
import { type Format, runsHostedTools, type ServedType, typesWithTool } from "../providers/registry";
import type { HostedTool } from "../providers/provider";
import { flag, integer, read, type Section } from "./fields";
import { ONLY_TOKENS } from "./price";

/** Tools that the provider runs itself, as a backend section asks for them. */

/** MassGen's keys. Both words for running code mean the same tool, whatever the provider calls it. */
const KEYS: readonly (readonly [string, HostedToolName])[] = [
  ["enable_web_search", "web_search"],
  ["enable_x_search", "x_search"],
  ["enable_code_interpreter", "code_execution"],
  ["enable_code_execution", "code_execution"],
];

const SAID: Readonly<Record<HostedToolName, string>> = {
  web_search: "web search",
  x_search: "search on X",
  code_execution: "code execution",
};

const MAX_USES_KEY = "hosted_tool_max_uses";
const DEFAULT_USES = 5;
const MAX_USES = 50;

/** A tool that is asked for, and the first key that asks. */
export type AskedTool = { name: HostedToolName; key: string };

/** The hosted tools that a backend section switches on, each once. */
export function readAskedTools(section: Section): AskedTool[] {
  const asked = KEYS.filter(([key]) => read(section, key, flag, false)).map(([key, name]) => ({ key, name }));
  return asked.filter(({ name }, place) => asked.findIndex((other) => other.name === name) === place);
}

/** What must be known of a backend to say whether it can run them. `offersFunctions`: whether the agent also gets functions. */
export type HostedPlace = {
  type: ServedType;
  host: Host;
  format: Format;
  params: FormatParams;
  model: string;
  offersFunctions: boolean;
};

/** The tools as they are sent, and what the rules must know of them. Refuses by name what the provider cannot do. */
export function readHostedTools(
  section: Section,
  asked: readonly AskedTool[],
  place: HostedPlace,
): { tools: HostedTool[]; rules: HostedToolRule[] } {
  const limit = read(section, MAX_USES_KEY, integer(1, MAX_USES), null);
  if (limit !== null) warnOfLimit(section, asked, place);
  const rules = asked.flatMap(({ name, key }) => {
    const problem = problemOf(name, place);
    const rule = toRule(name, place, limit ?? DEFAULT_USES);
    if (problem !== null) section.findings.error("not_served", [...section.path, key], `\`${key}\`: ${problem}`, "key");
    if (problem !== null || !rule) return [];
    if (rule.usd_per_use === null) warnOfPrice(section, key, `${SAID[name]} by ${place.host.name}`);
    return [rule];
  });
  return { tools: rules.map(({ name, max_uses }) => ({ name, maxUses: max_uses })), rules };
}

function warnOfPrice({ path, findings }: Section, key: string, what: string): void {
  findings.warn("price_unknown", [...path, key], `The price of ${what} is not known: ${ONLY_TOKENS}.`, "key");
}

/** A limit that nothing holds to would seem to be one. */
function warnOfLimit({ path, findings }: Section, asked: readonly AskedTool[], { host }: HostedPlace): void {
  const warn = (detail: string) => findings.warn("no_effect", [...path, MAX_USES_KEY], `\`${MAX_USES_KEY}\` ${detail}`, "key");
  if (asked.length === 0) warn("has no effect: the agent has no tool that its provider runs, such as enable_web_search.");
  const free = asked.filter(({ name }) => !(host.hostedTools[name]?.limited ?? host.usesLimit !== undefined));
  const tools = free.map(({ name }) => SAID[name]).join(" and ");
  if (free.length > 0)
    warn(`is no limit for ${tools}, as ${host.name} takes none: it only says for how many uses a budget must have room.`);
}

function problemOf(name: HostedToolName, { type, host, format, params, model, offersFunctions }: HostedPlace): string | null {
  const runs = host.hostedTools[name] !== undefined;
  const api = Object.entries(type.apis ?? {}).find(([, other]) => runsHostedTools(other))?.[0];
  if (runs && !runsHostedTools(format) && api !== undefined)
    return `write \`api: ${api}\` to have ${SAID[name]} by ${host.name}.`;
  if (!runs || !runsHostedTools(format)) {
    return `${type.name} has no ${SAID[name]} here. Remove the key, or give the agent a backend that has it: ${typesWithTool(name).join(", ")}.`;
  }
  const other = offersFunctions ? (params.hostedAlone?.(model) ?? null) : null;
  if (other === null) return null;
  return `${model} does not run it beside the functions by which agents answer and vote. Choose a model that does, such as ${other}, or remove the key.`;
}

function toRule(name: HostedToolName, { host, model }: HostedPlace, maxUses: number): HostedToolRule | null {
  const facts = host.hostedTools[name];
  if (!facts) return null;
  const usdPerUse = facts.dearer?.models.test(model) ? facts.dearer.usdPerUse : facts.usdPerUse;
  return { name, max_uses: maxUses, usd_per_use: usdPerUse, tokens_per_use: facts.tokensPerUse };
}

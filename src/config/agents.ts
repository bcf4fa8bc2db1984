import type { AgentRules } from "../protocol/team";
import { readAgentTools } from "./agent-tools";
import { readBackend } from "./backend";
import type { ConfigContext } from "./context";
import { checkKeys } from "./check-keys";
import { asSection, subsection, read, type Section, slipOf, text } from "./fields";
import { AGENT_KEYS } from "./known-keys";
import { MAX_AGENTS, MAX_ID_CHARS, MAX_TEXT_CHARS } from "./config-limits";
import { readSensitivity } from "./team-settings";
import type { TeamAgent } from "./team";
import { asksForFiles, type TeamFiles } from "./workspace";

/** An agent and its coordination rules. The complete team contains both in separate lists. */
export type AgentAndRules = { agent: TeamAgent; rules: AgentRules };

const ID = new RegExp(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,${MAX_ID_CHARS - 1}}$`);

/**
 * Whole numbers. JavaScript objects list such keys first and in numeric order, so results would not
 * keep the team's order.
 */
const WHOLE_NUMBER = /^(0|[1-9][0-9]*)$/;

/**
 * Settings of the team that apply to each agent. `hasVotes`: whether a team of this size answers
 * and votes; otherwise its agent only presents.
 */
type TeamDefaults = {
  sensitivity: TeamAgent["votingSensitivity"];
  hasVotes: (agentCount: number) => boolean;
  files: TeamFiles;
};

/** Reads the key `agents`, or `agent` for a single agent. Keeps the order of the config. */
export function readAgents(
  root: Section,
  team: TeamDefaults,
  context: ConfigContext,
): AgentAndRules[] {
  const sections = agentSections(root);
  const someAgentAsks = sections.some(({ values }) => asksForFiles(values.get("backend")));
  const files = { ...team.files, asksForFiles: team.files.asksForFiles && !someAgentAsks };
  const agents = sections.flatMap(
    (section) => readAgent(section, { ...team, files, size: sections.length }, context) ?? [],
  );
  refuseRepeatedIds(sections);
  return agents;
}

function agentSections(root: Section): Section[] {
  const { values, findings, path } = root;
  const [entries, singleAgent] = [values.get("agents"), values.get("agent")];
  if (entries !== undefined && singleAgent !== undefined)
    findings.error("not_allowed", ["agent"], "Write either `agents` or `agent`, not both.", "key");
  if (entries === undefined && singleAgent === undefined) {
    findings.error(
      "missing",
      path,
      "agents is missing: write a list with an id and a backend for each agent.",
    );
    return [];
  }
  if (entries === undefined) return [subsection(root, "agent")];
  if (!Array.isArray(entries)) {
    findings.error(
      "wrong_type",
      ["agents"],
      "agents must be a list with one entry for each agent; for a single agent write `agent`.",
    );
    return [];
  }
  if (entries.length < 1 || entries.length > MAX_AGENTS) {
    findings.error(
      "out_of_range",
      ["agents"],
      `A team has 1 to ${MAX_AGENTS} agents; this team has ${entries.length}.`,
    );
    return [];
  }
  return entries.flatMap(
    (value: unknown, index) => asSection(value, ["agents", index], findings) ?? [],
  );
}

function readAgent(
  section: Section,
  team: TeamDefaults & { size: number },
  context: ConfigContext,
): AgentAndRules | null {
  checkKeys(section, AGENT_KEYS);
  const id = readId(section);
  const systemMessage = read(section, "system_message", text(MAX_TEXT_CHARS), null);
  const votingSensitivity = readSensitivity(section, team.sensitivity);
  const backend = backendOf(section);
  const backendAndRules = backend && readBackend(backend, context, team.hasVotes(team.size));
  const format = backendAndRules?.backend.format ?? null;
  const tools = backend && readAgentTools(backend, team.files, context, format);
  if (id === null || !backendAndRules || !tools) return null;
  const { backend: settings, rules } = backendAndRules;
  return {
    agent: { id, systemMessage, votingSensitivity, backend: settings, ...tools.agent },
    rules: { id, ...rules, ...tools.rules },
  };
}

function backendOf({ path, values, findings }: Section): Section | null {
  const backend = values.get("backend");
  if (backend !== undefined && backend !== null)
    return asSection(backend, [...path, "backend"], findings);
  findings.error(
    "missing",
    [...path, "backend"],
    "backend is missing: write a mapping with at least a type.",
  );
  return null;
}

function readId(section: Section): string | null {
  const id = section.values.get("id");
  if (id === undefined || id === null) {
    section.findings.error(
      "missing",
      section.path,
      "id is missing: name the agent for logs and results.",
    );
    return null;
  }
  if (typeof id === "string" && WHOLE_NUMBER.test(id)) {
    const detail =
      "id must not be a whole number, because results would list it first: add a letter.";
    section.findings.error("out_of_range", [...section.path, "id"], detail);
    return null;
  }
  // Ids become keys of plain objects, so names that every object inherits are refused below.
  if (typeof id === "string" && ID.test(id) && !(id in {})) return id;
  if (typeof id !== "string") {
    section.findings.error(
      "wrong_type",
      [...section.path, "id"],
      `id must be text${slipOf(id, "string")}.`,
    );
    return null;
  }
  const detail = `id must be 1 to ${MAX_ID_CHARS} letters, digits, dots, dashes or underscores, beginning with a letter or digit.`;
  section.findings.error("out_of_range", [...section.path, "id"], detail);
  return null;
}

function refuseRepeatedIds(sections: Section[]): void {
  const seen = new Set<unknown>();
  for (const { path, values, findings } of sections) {
    const id = values.get("id");
    if (typeof id === "string" && seen.has(id))
      findings.error(
        "duplicate",
        [...path, "id"],
        `Another agent already has the id \`${id.slice(0, MAX_ID_CHARS)}\`.`,
      );
    seen.add(id);
  }
}

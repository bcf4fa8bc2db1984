import type { AgentRules } from "../protocol/team";
import { readAgentTools } from "./agent-tools";
import { readBackend } from "./backend";
import type { ConfigContext } from "./context";
import { checkKeys } from "./check-keys";
import { asSection, below, read, type Section, slipOf, text } from "./fields";
import { AGENT_KEYS } from "./known-keys";
import { MAX_AGENTS, MAX_ID_CHARS, MAX_TEXT_CHARS } from "./config-limits";
import { readSensitivity } from "./team-settings";
import type { TeamAgent } from "./team";
import { asksForFiles, type TeamFiles } from "./workspace";

/** An agent and its part of the rules, until the team is complete. */
export type AgentAndRules = { agent: TeamAgent; rules: AgentRules };

const ID = new RegExp(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,${MAX_ID_CHARS - 1}}$`);

/** Objects list such keys first and by number, regardless of their order in the team. */
const COUNTED = /^(0|[1-9][0-9]*)$/;

/**
 * Settings of an agent that come from its team. `vote`: whether a team with that many agents
 * answers and votes, or only presents.
 */
type FromTeam = {
  sensitivity: TeamAgent["votingSensitivity"];
  vote: (agents: number) => boolean;
  files: TeamFiles;
};

/** The agents of `agents`, or the one of `agent`, in written order. */
export function readAgents(root: Section, team: FromTeam, context: ConfigContext): AgentAndRules[] {
  const sections = agentSections(root);
  const someAsk = sections.some(({ values }) => asksForFiles(values.get("backend")));
  const files = { ...team.files, asks: team.files.asks && !someAsk };
  const agents = sections.flatMap(
    (section) => readAgent(section, { ...team, files, size: sections.length }, context) ?? [],
  );
  refuseRepeatedIds(sections);
  return agents;
}

function agentSections(root: Section): Section[] {
  const { values, findings, path } = root;
  const [many, one] = [values.get("agents"), values.get("agent")];
  if (many !== undefined && one !== undefined)
    findings.error("not_allowed", ["agent"], "Write either `agents` or `agent`, not both.", "key");
  if (many === undefined && one === undefined) {
    findings.error(
      "missing",
      path,
      "agents is missing: write a list with an id and a backend for each agent.",
    );
    return [];
  }
  if (many === undefined) return [below(root, "agent")];
  if (!Array.isArray(many)) {
    findings.error(
      "wrong_type",
      ["agents"],
      "agents must be a list with one entry for each agent; for a single agent write `agent`.",
    );
    return [];
  }
  if (many.length < 1 || many.length > MAX_AGENTS) {
    findings.error(
      "out_of_range",
      ["agents"],
      `A team has 1 to ${MAX_AGENTS} agents; this team has ${many.length}.`,
    );
    return [];
  }
  return many.flatMap(
    (value: unknown, index) => asSection(value, ["agents", index], findings) ?? [],
  );
}

function readAgent(
  section: Section,
  team: FromTeam & { size: number },
  context: ConfigContext,
): AgentAndRules | null {
  checkKeys(section, AGENT_KEYS);
  const id = readId(section);
  const systemMessage = read(section, "system_message", text(MAX_TEXT_CHARS), null);
  const votingSensitivity = readSensitivity(section, team.sensitivity);
  const backend = backendOf(section);
  const found = backend && readBackend(backend, context, team.vote(team.size));
  const tools =
    backend && readAgentTools(backend, team.files, context, found?.backend.format ?? null);
  if (id === null || !found || !tools) return null;
  return {
    agent: { id, systemMessage, votingSensitivity, backend: found.backend, ...tools.agent },
    rules: { id, ...found.rules, ...tools.rules },
  };
}

function backendOf({ path, values, findings }: Section): Section | null {
  const written = values.get("backend");
  if (written !== undefined && written !== null)
    return asSection(written, [...path, "backend"], findings);
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
  // Ids become keys of plain objects, so a name that every object inherits must be refused.
  if (typeof id === "string" && COUNTED.test(id)) {
    const detail =
      "id must not be a whole number, because results would list it first: add a letter.";
    section.findings.error("out_of_range", [...section.path, "id"], detail);
    return null;
  }
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

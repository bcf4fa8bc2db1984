import { type ConfigContext, parseTeam, type TeamResult } from "../../src/config/parse-team";
import { KEY_NAMES } from "../../src/providers/hosts";
import type { Features } from "../../src/config/needs";
import type { Team } from "../../src/config/team";

/** Sessions support every feature. */
export const ALL_SERVED: Features = {
  workspace: true,
  shell: true,
  contexts: true,
  http_mcp: true,
  http_tools: true,
  uploads: true,
  task_planning_tools: true,
  rates: true,
};
/** Sessions support no optional feature. */
export const NONE_SERVED: Features = {
  workspace: false,
  shell: false,
  contexts: false,
  http_mcp: false,
  http_tools: false,
  uploads: false,
  task_planning_tools: false,
  rates: false,
};

/** The operator has set one key, and allows the origins of this machine. */
export const CONTEXT: ConfigContext = {
  served: ALL_SERVED,
  storedKeys: ["OPENAI_API_KEY"],
  allowedOrigins: ["http://127.0.0.1:*"],
  variables: {},
};

/** The operator has set every key, and the addresses of the endpoints that need one. */
export const FULL_CONTEXT: ConfigContext = {
  served: ALL_SERVED,
  storedKeys: KEY_NAMES,
  allowedOrigins: ["http://localhost:*"],
  variables: {
    AZURE_OPENAI_ENDPOINT: "https://ours.openai.azure.com/",
    CLOUDFLARE_ACCOUNT_ID: "abc123",
    VLLM_BASE_URL: "http://10.0.0.5:8000/v1",
  },
};

/** A minimal team with further lines. The lines are indented to fit their section. */
export function yamlWith({
  top = "",
  agent = "",
  backend = "",
}: {
  top?: string;
  agent?: string;
  backend?: string;
} = {}): string {
  return `agents:
  - id: a
${indent(agent, 4)}    backend:
      type: chatcompletion
      model: gpt-5-mini
${indent(backend, 6)}  - id: b
    backend: {type: chatcompletion, model: gpt-5-nano}
${indent(top, 0)}`;
}

/** A minimal team with one line in `orchestrator`. */
export const orchestrator = (line: string) => yamlWith({ top: `orchestrator:\n  ${line}` });

/** A minimal team with one line in `orchestrator.coordination`. */
export const coordination = (line: string) =>
  yamlWith({ top: `orchestrator:\n  coordination:\n    ${line}` });

/** The parsed team. Throws if the config is refused. */
export function teamOf(source: unknown, context = CONTEXT): Team {
  const result = parseTeam(source, context);
  if (!result.ok) throw new Error(`refused: ${JSON.stringify(result.errors)}`);
  return result.team;
}

/** Errors as `line:column code pointer`. */
export function errorsOf(source: unknown, context = CONTEXT): string[] {
  const result = parseTeam(source, context);
  return result.ok
    ? []
    : result.errors.map(
        ({ line, column, code, pointer }) => `${line}:${column} ${code} ${pointer}`,
      );
}

/** The details of errors. */
export function detailsOf(result: TeamResult): string[] {
  return result.ok ? [] : result.errors.map((error) => error.detail);
}

function indent(lines: string, by: number): string {
  return lines === "" ? "" : `${lines.replaceAll(/^/gm, " ".repeat(by))}\n`;
}

/** A team of one agent that coordinates, with these lines in its backend. */
export function teamWith(backend: string): string {
  return `agents:\n  - id: a\n    backend:\n${indent(backend, 6)}ui: {use_orchestrator_for_single_agent: true}\n`;
}

/** Warnings as `code pointer: detail`. */
export function warningsOf(source: unknown, context = FULL_CONTEXT): string[] {
  const { warnings } = parseTeam(source, context);
  return warnings.map(({ code, pointer, detail }) => `${code} ${pointer}: ${detail}`);
}

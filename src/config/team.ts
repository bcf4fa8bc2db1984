import type { Budget, TeamRules } from "../protocol/team";
import type { HostedTool } from "../providers/provider";
import type { Format } from "../providers/registry";
import type { RateLimits } from "../providers/rate-limits";
import type { HttpToolDefinition } from "../tools/http/definition";
import type { McpTools } from "../tools/mcp/server";
import type { CommandPatterns } from "../tools/shell";

/**
 * A team ready to run, as plain data: what `parseTeam` makes of a config. `rules` goes into the public log; the rest stays in
 * the session's private table.
 */
export type Team = {
  rules: TeamRules;
  /** In the order of `rules.agents`. */
  agents: TeamAgent[];
  planningInstruction: string | null;
  personas: PersonaSettings | null;
};

export type TeamAgent = {
  id: string;
  systemMessage: string | null;
  votingSensitivity: "lenient" | "balanced" | "strict";
  backend: Backend;
  /** Absent: the agent has no files. */
  workspace?: WorkspaceSettings;
  /** Tools over HTTP; absent: none. */
  httpTools?: HttpToolDefinition[];
  /** Tool servers; absent: none. */
  mcp?: McpTools;
  /** Names of tools from the registry; absent: none. */
  registryTools?: string[];
  /** When a tool result goes into a file, and how much of it is shown, in tokens; absent: as usual. */
  toolResults?: { maxTokens?: number; previewTokens?: number };
};

export type WorkspaceSettings = {
  fileTools: boolean;
  shell: boolean;
  /** Which commands may run in it, as patterns; absent: all. */
  commands?: CommandPatterns;
  /** Most tasks of its to-do list; absent: it has none. */
  tasks?: number;
  /** Whether files that the agent did not write must have been read before they may be deleted. */
  readBeforeDelete: boolean;
  /** What the user uploaded and the agent sees, each name once. */
  contexts: ContextGrant[];
};

/** `write`: the presenter may change it, whoever that is; before, it is read-only. */
export type ContextGrant = {
  name: string;
  permission: "read" | "write";
  /** Files, folders and patterns as in .gitignore that nobody may change: what whoever grants it says. */
  protectedPaths: string[];
  /** What the team protects of a context that the agent names itself; absent: nothing, or all stands above, as it was kept before. */
  teamProtectedPaths?: string[];
};

export type Backend = {
  /** The type written in the config (`openai`, `chatcompletion` …); the key of `providers/registry.ts`. */
  type: string;
  /** Which wire format speaks to it. */
  format: Format;
  /** Id of the row in `providers/hosts.ts` that says how the endpoint differs; the address alone does not tell of a local one. */
  host: string;
  model: string;
  /** No trailing slash. */
  baseUrl: string;
  /**
   * `literal`: the caller's own key, sent to this agent's `baseUrl` only. `sealed`: the same as it is kept; a config makes none.
   * `stored`: the operator's key of this name, sent only while `baseUrl` has the origin it is bound to. `none`: the endpoint wants
   * no key.
   */
  key:
    | { from: "literal" | "sealed"; value: string }
    | { from: "stored"; name: string }
    | { from: "none" };
  /** Whether the config itself caps the output of a call. If not, a cap is sent only where a budget must hold it down. */
  capsOutput: boolean;
  /** Provider parameters by their names in the config; the format's adapter says them as the provider wants. */
  params: Record<string, unknown>;
  /** Dated version of the endpoint's API, where it is asked for one; null: the current one. */
  apiVersion: string | null;
  /** Tools the provider runs itself, each at most so often in one call. */
  hostedTools: HostedTool[];
  /** What the endpoint takes from all sessions of a tenant together; absent: nobody counts. */
  rates?: RateLimits;
};

export type PersonaSettings = {
  diversityMode: "perspective" | "implementation" | "methodology";
  guidelines: string | null;
  afterFirstAnswer: "drop" | "soften" | "keep";
};

export type { Budget };

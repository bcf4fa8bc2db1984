import { backendOf, modelOf } from "../../../tests/e2e/support/formats";
import { FINAL, STORY_AGENTS } from "../../../tests/e2e/support/story";
import type { EndedBy } from "../../../src/protocol/events";
import { LIMITS } from "../../../src/coordination/limits";
import type { SimulatedProviders } from "../../../simulated/providers/server";
import type { ReceivedCall } from "../../../simulated/providers/tool-server";
import { BUILT, DIALECTS, HEAP, SEARCHING, YES } from "./models";
import type { ToolRequest } from "./tool-records";

/** Simulated providers with the models of all kinds of runs, and tool servers. */
export type RunServers = SimulatedProviders & {
  /** Address of the tool server. */
  toolsUrl: string;
  /** Address of a server that reports progress and then asks a person. */
  askingUrl: string;
  /** Address of a server that answers no call. */
  silentUrl: string;
  /** Each call that reached any of the servers, in order. */
  toolCalls(): readonly ReceivedCall[];
  /** All requests to a tool server at an address that ends with this mark. */
  toolRequests(mark: string): readonly ToolRequest[];
};

type Agent = { id: string; model: string; backend: Readonly<Record<string, unknown>> };

/** What a client does to the run besides watching it. */
type UserAction =
  | "cancel"
  | "cancel while rate-limited"
  | "cancel during tool calls"
  | "erase"
  | "further turns"
  | "queue";

/** A kind of run, and its required result. Kills of the service must not change this result. */
export type Kind = {
  agents: (providers: RunServers) => readonly Agent[];
  config?: Readonly<Record<string, unknown>>;
  /** The team that its second turn brings. Omitted: that of the first turn. */
  otherAgents?: (providers: RunServers) => readonly Agent[];
  /** Changes of the first team in its third turn. Omitted: none. */
  overrides?: Readonly<Record<string, unknown>>;
  /** Whether the run has a tight cost cap. */
  isCapped?: boolean;
  /** A token cap that is tight enough to have an effect. */
  maxTokens?: number;
  userAction?: UserAction;
  /** Characters that each question has in addition, so that its turn is long. Omitted: none. */
  padding?: number;
  /** How its last turn may end. */
  ends: readonly ("turn.completed" | "turn.failed" | "turn.cancelled")[];
  /** What must settle its last attempt. Omitted: anything. */
  endedBy?: EndedBy;
  /** The answer of a completed turn; `null`: any. */
  answer: string | null;
  /** The files of a completed turn: text by path. Omitted: its agents have no files. */
  files?: Readonly<Record<string, string>>;
  /** Not in `DRAWN`: used only by kills and faults that name this kind, or by random kills. */
  isOnlyByName?: true;
  /** Tools of its agents: `http`: HTTP tools. `mcp`: tools of the tool servers. Omitted: none. */
  tools?: "http" | "mcp" | "both";
};

const chat =
  (id: string, model: string) =>
  (providers: RunServers): Agent => ({
    id,
    model,
    backend: backendOf("openai-chat", providers),
  });
const story = STORY_AGENTS.map(({ id, model }) => chat(id, model));
/** The story with models that have no known price. */
const unpriced = STORY_AGENTS.map(({ id }) => chat(id, `unpriced-${id}`));
const mixed = STORY_AGENTS.map(({ id }) => (providers: RunServers): Agent => {
  const format = DIALECTS[id];
  return { id, model: modelOf(format, `story-${id}`), backend: backendOf(format, providers) };
});

const withFiles = (makeAgent: AgentMaker): AgentMaker => {
  return (providers) => {
    const { backend, ...agent } = makeAgent(providers);
    return { ...agent, backend: { ...backend, cwd: "work", enable_mcp_command_line: true } };
  };
};

const SERVER_NAMES = { toolsUrl: "box", askingUrl: "desk", silentUrl: "queue" } as const;
const withServers = (
  makeAgent: AgentMaker,
  servers: readonly (keyof typeof SERVER_NAMES)[],
): AgentMaker => {
  return (providers) => {
    const { backend, ...agent } = makeAgent(providers);
    const named = servers.map((url) => [SERVER_NAMES[url], { url: providers[url] }]);
    return { ...agent, backend: { ...backend, mcp_servers: Object.fromEntries(named) } };
  };
};

/** With one request a minute. Each agent has its own key, so its second call waits a minute. */
const withRateLimit = (makeAgent: AgentMaker): AgentMaker => {
  return (providers) => {
    const { backend, ...agent } = makeAgent(providers);
    return { ...agent, backend: { ...backend, rate_limits: { rpm: 1 } } };
  };
};

const withSearch: AgentMaker = (providers) => ({
  id: "one",
  model: SEARCHING,
  backend: { ...backendOf("anthropic", providers), enable_web_search: true },
});

type AgentMaker = (providers: RunServers) => Agent;
const teamOf = (makers: readonly AgentMaker[]) => (providers: RunServers) =>
  makers.map((makeAgent) => makeAgent(providers));

/** More than the history of a model of unknown size may have. */
const LONG_QUESTION = 160_000;

export const KINDS = {
  story: { agents: teamOf(story), ends: ["turn.completed"], answer: FINAL },
  mixed: { agents: teamOf(mixed), ends: ["turn.completed"], answer: FINAL },
  rejected: {
    agents: teamOf([chat("one", "rejecting"), chat("two", "rejecting")]),
    config: {
      orchestrator: {
        coordination: { max_orchestration_restarts: 1, persona_generator: { enabled: true } },
      },
    },
    ends: ["turn.completed"],
    answer: YES,
  },
  refused: {
    agents: teamOf([...story.slice(1), chat("shut-out", "refused")]),
    ends: ["turn.completed"],
    answer: FINAL,
  },
  hopeless: {
    agents: teamOf([chat("one", "refused"), chat("two", "refused")]),
    ends: ["turn.failed"],
    answer: null,
  },
  capped: {
    agents: teamOf(story),
    isCapped: true,
    ends: ["turn.completed", "turn.failed"],
    answer: null,
  },
  /** Its deadline passes in the middle of the story. */
  hurried: {
    agents: teamOf(story),
    config: { timeout_settings: { orchestrator_timeout_seconds: 1 } },
    endedBy: "deadline",
    ends: ["turn.completed", "turn.failed"],
    answer: null,
  },
  /** Its second agent is silent until the round times out, and nothing else happens meanwhile. */
  hushed: {
    agents: teamOf([chat("one", "quick"), chat("two", "mute")]),
    config: {
      timeout_settings: { initial_round_timeout_seconds: 4, round_timeout_grace_seconds: 0 },
    },
    isOnlyByName: true,
    ends: ["turn.completed"],
    answer: YES,
  },
  /** It lasts until the session's alarm fires. */
  late: {
    agents: teamOf([chat("one", "quick"), chat("two", "late")]),
    isOnlyByName: true,
    ends: ["turn.completed"],
    answer: YES,
  },
  /** Its deadline is half an hour away, so it passes only if the clock jumps. */
  overtaken: {
    agents: teamOf(story),
    endedBy: "deadline",
    isOnlyByName: true,
    ends: ["turn.completed", "turn.failed"],
    answer: null,
  },
  cancelled: {
    agents: teamOf(story),
    userAction: "cancel",
    ends: ["turn.completed", "turn.cancelled"],
    answer: FINAL,
  },
  again: {
    agents: teamOf([chat("one", "quick"), chat("two", "quick")]),
    userAction: "further turns",
    ends: ["turn.completed"],
    answer: YES,
  },
  /** One of its agents is in both teams, with another model. */
  varied: {
    agents: teamOf([chat("one", "quick"), chat("two", "quick")]),
    otherAgents: teamOf([chat("two", "quicker"), chat("three", "quick")]),
    overrides: { agents: ["two"], models: { two: "quicker" } },
    userAction: "further turns",
    ends: ["turn.completed"],
    answer: YES,
  },
  /** Its later turns need a summary of the first one, whose question is too long for them. */
  conversed: {
    agents: teamOf([chat("one", "quick"), chat("two", "quick")]),
    userAction: "further turns",
    padding: LONG_QUESTION,
    isOnlyByName: true,
    ends: ["turn.completed"],
    answer: YES,
  },
  /** Its first agent cannot summarise. */
  speechless: {
    agents: teamOf([chat("one", "speechless"), chat("two", "quick")]),
    userAction: "further turns",
    padding: LONG_QUESTION,
    isOnlyByName: true,
    ends: ["turn.completed"],
    answer: YES,
  },
  /**
   * Its user queues questions, removes one, holds and resumes the queue, and interrupts. Its first
   * turn ends only when it is cancelled.
   */
  queued: {
    agents: teamOf([chat("one", "hesitant")]),
    userAction: "queue",
    isOnlyByName: true,
    ends: ["turn.completed", "turn.cancelled"],
    answer: YES,
  },
  files: {
    agents: teamOf([withFiles(chat("one", "builder")), withFiles(chat("two", "looker"))]),
    ends: ["turn.completed"],
    answer: null,
    files: BUILT,
  },
  heavy: {
    agents: teamOf([withFiles(chat("one", "hoarder")), chat("two", "quick")]),
    ends: ["turn.completed"],
    answer: null,
    files: HEAP,
    isOnlyByName: true,
  },
  tools: {
    agents: teamOf([chat("one", "buyer"), chat("two", "quick")]),
    tools: "http",
    ends: ["turn.completed"],
    answer: null,
  },
  served: {
    agents: teamOf([
      withServers(chat("one", "adder"), ["toolsUrl"]),
      withServers(chat("two", "quick"), ["toolsUrl"]),
    ]),
    tools: "mcp",
    ends: ["turn.completed"],
    answer: null,
  },
  asked: {
    agents: teamOf([
      withServers(chat("one", "asker"), ["toolsUrl", "askingUrl"]),
      chat("two", "quick"),
    ]),
    tools: "mcp",
    ends: ["turn.completed"],
    answer: null,
  },
  recalled: {
    agents: teamOf([chat("one", "waiter"), withServers(chat("two", "queuer"), ["silentUrl"])]),
    tools: "both",
    userAction: "cancel during tool calls",
    ends: ["turn.completed", "turn.cancelled"],
    answer: null,
  },
  restless: {
    agents: teamOf([withFiles(chat("one", "restless")), chat("two", "quick")]),
    config: { orchestrator: { max_calls_per_round: LIMITS.callsPerRound } },
    ends: ["turn.completed"],
    answer: YES,
  },
  /** While the first agent's call runs, too few tokens are left for the second agent's call. */
  scarce: {
    agents: teamOf([chat("one", "quick"), chat("two", "quick")]),
    maxTokens: 12_000,
    ends: ["turn.completed", "turn.failed"],
    answer: null,
  },
  rated: {
    agents: teamOf([withRateLimit(chat("one", "quick")), withRateLimit(chat("two", "quick"))]),
    userAction: "cancel while rate-limited",
    ends: ["turn.cancelled"],
    answer: null,
  },
  clumsy: {
    agents: teamOf([chat("one", "quick"), chat("two", "clumsy"), chat("three", "filtered")]),
    ends: ["turn.completed"],
    answer: YES,
  },
  searching: {
    agents: teamOf([withSearch, chat("two", "quick")]),
    ends: ["turn.completed"],
    answer: null,
  },
  lengthy: {
    agents: teamOf([chat("one", "quick"), withFiles(chat("two", "lengthy"))]),
    ends: ["turn.completed"],
    answer: YES,
  },
  /**
   * Its models cost nothing, because the cost of an erased session cannot be read and compared with
   * the tenant's charge.
   */
  erased: { agents: teamOf(unpriced), userAction: "erase", ends: [], answer: null },
} as const satisfies Record<string, Kind>;
export type KindName = keyof typeof KINDS;

export const kindOf = (name: KindName): Kind => KINDS[name];

/** Kinds that random plans may draw: their runs end soon by themselves, also under faults. */
export const DRAWN: readonly KindName[] = Object.keys(KINDS)
  .filter((name): name is KindName => name in KINDS)
  .filter((name) => !kindOf(name).isOnlyByName);

/**
 * Kinds that random plans of kills may draw. Under other faults, a queued question may fail, which
 * holds the queue until its user resumes it.
 */
export const DRAWN_FOR_KILLS: readonly KindName[] = [...DRAWN, "queued"];

import { backendOf, modelOf } from "../../../tests/e2e/support/formats";
import { FINAL, STORY_AGENTS } from "../../../tests/e2e/support/story";
import type { EndedBy } from "../../../src/protocol/events";
import { LIMITS } from "../../../src/coordination/limits";
import type { SimulatedProviders } from "../../../simulated/providers/server";
import type { ReceivedCall } from "../../../simulated/providers/tool-server";
import { BUILT, DIALECTS, HEAP, SEARCHING, YES } from "./models";
import type { ToolRequest } from "./tool-records";

/** Simulated providers with the models of all kinds, and tool servers. */
export type RunServers = SimulatedProviders & {
  /** Address of the tool server. */
  toolsUrl: string;
  /** Address of a server that reports progress and then asks a person. */
  askingUrl: string;
  /** Address of a server that answers no call. */
  silentUrl: string;
  /** Each call that reached any of the servers, in order. */
  toolCalls(): readonly ReceivedCall[];
  /** Every request that reached a server at an address that ends with this mark. */
  toolRequests(mark: string): readonly ToolRequest[];
};

type Agent = { id: string; model: string; backend: Readonly<Record<string, unknown>> };

/** What a client does to the run besides watching it. */
type UserAction =
  | "cancel"
  | "cancel while rate-limited"
  | "cancel during tool calls"
  | "erase"
  | "second turn";

/** A kind of run, and its required result, however often the service is killed. */
export type Kind = {
  agents: (providers: RunServers) => readonly Agent[];
  config?: Readonly<Record<string, unknown>>;
  /** Whether the run has a tight cost cap. */
  isCapped?: boolean;
  /** A token cap that matters. */
  maxTokens?: number;
  userAction?: UserAction;
  /** How its last turn may end. */
  ends: readonly ("turn.completed" | "turn.failed" | "turn.cancelled")[];
  /** What must settle its last attempt. Omitted: anything. */
  endedBy?: EndedBy;
  /** The answer of a completed turn; `null`: any. */
  answer: string | null;
  /** The files of a completed turn: text by path. Omitted: its agents have no files. */
  files?: Readonly<Record<string, string>>;
  /** Played only by name, because it tests a fault other than kills. */
  isOnlyByName?: true;
  /** Tools of its agents: over HTTP, or on the recording tool servers. Omitted: none. */
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
/** Models without a known price. */
const unpriced = STORY_AGENTS.map(({ id }) => chat(id, `unpriced-${id}`));
const mixed = STORY_AGENTS.map(({ id }) => (providers: RunServers): Agent => {
  const format = DIALECTS[id];
  return { id, model: modelOf(format, `story-${id}`), backend: backendOf(format, providers) };
});

const withFiles = (player: Player): Player => {
  return (providers) => {
    const { backend, ...agent } = player(providers);
    return { ...agent, backend: { ...backend, cwd: "work", enable_mcp_command_line: true } };
  };
};

const SERVERS = { toolsUrl: "box", askingUrl: "desk", silentUrl: "queue" } as const;
const withServers = (player: Player, servers: readonly (keyof typeof SERVERS)[]): Player => {
  return (providers) => {
    const { backend, ...agent } = player(providers);
    const named = servers.map((url) => [SERVERS[url], { url: providers[url] }]);
    return { ...agent, backend: { ...backend, mcp_servers: Object.fromEntries(named) } };
  };
};

/** Each agent has its own key, whose second call waits for the next minute. */
const withRates = (player: Player): Player => {
  return (providers) => {
    const { backend, ...agent } = player(providers);
    return { ...agent, backend: { ...backend, rate_limits: { rpm: 1 } } };
  };
};

const withSearch: Player = (providers) => ({
  id: "one",
  model: SEARCHING,
  backend: { ...backendOf("anthropic", providers), enable_web_search: true },
});

type Player = (providers: RunServers) => Agent;
const all = (players: readonly Player[]) => (providers: RunServers) =>
  players.map((player) => player(providers));

export const KINDS = {
  story: { agents: all(story), ends: ["turn.completed"], answer: FINAL },
  mixed: { agents: all(mixed), ends: ["turn.completed"], answer: FINAL },
  rejected: {
    agents: all([chat("one", "rejecting"), chat("two", "rejecting")]),
    config: {
      orchestrator: {
        coordination: { max_orchestration_restarts: 1, persona_generator: { enabled: true } },
      },
    },
    ends: ["turn.completed"],
    answer: YES,
  },
  refused: {
    agents: all([...story.slice(1), chat("shut-out", "refused")]),
    ends: ["turn.completed"],
    answer: FINAL,
  },
  hopeless: {
    agents: all([chat("one", "refused"), chat("two", "refused")]),
    ends: ["turn.failed"],
    answer: null,
  },
  capped: {
    agents: all(story),
    isCapped: true,
    ends: ["turn.completed", "turn.failed"],
    answer: null,
  },
  /** Its deadline passes in the middle of the story. */
  hurried: {
    agents: all(story),
    config: { timeout_settings: { orchestrator_timeout_seconds: 1 } },
    endedBy: "deadline",
    ends: ["turn.completed", "turn.failed"],
    answer: null,
  },
  /** Its second agent is silent until the round times out, and nothing else happens meanwhile. */
  hushed: {
    agents: all([chat("one", "quick"), chat("two", "mute")]),
    config: {
      timeout_settings: { initial_round_timeout_seconds: 4, round_timeout_grace_seconds: 0 },
    },
    isOnlyByName: true,
    ends: ["turn.completed"],
    answer: YES,
  },
  /** It has half an hour, which a clock jump can exceed. */
  overtaken: {
    agents: all(story),
    endedBy: "deadline",
    isOnlyByName: true,
    ends: ["turn.completed", "turn.failed"],
    answer: null,
  },
  cancelled: {
    agents: all(story),
    userAction: "cancel",
    ends: ["turn.completed", "turn.cancelled"],
    answer: FINAL,
  },
  again: {
    agents: all([chat("one", "quick"), chat("two", "quick")]),
    userAction: "second turn",
    ends: ["turn.completed"],
    answer: YES,
  },
  files: {
    agents: all([withFiles(chat("one", "builder")), withFiles(chat("two", "looker"))]),
    ends: ["turn.completed"],
    answer: null,
    files: BUILT,
  },
  heavy: {
    agents: all([withFiles(chat("one", "hoarder")), chat("two", "quick")]),
    ends: ["turn.completed"],
    answer: null,
    files: HEAP,
    isOnlyByName: true,
  },
  tools: {
    agents: all([chat("one", "buyer"), chat("two", "quick")]),
    tools: "http",
    ends: ["turn.completed"],
    answer: null,
  },
  served: {
    agents: all([
      withServers(chat("one", "adder"), ["toolsUrl"]),
      withServers(chat("two", "quick"), ["toolsUrl"]),
    ]),
    tools: "mcp",
    ends: ["turn.completed"],
    answer: null,
  },
  asked: {
    agents: all([
      withServers(chat("one", "asker"), ["toolsUrl", "askingUrl"]),
      chat("two", "quick"),
    ]),
    tools: "mcp",
    ends: ["turn.completed"],
    answer: null,
  },
  recalled: {
    agents: all([chat("one", "waiter"), withServers(chat("two", "queuer"), ["silentUrl"])]),
    tools: "both",
    userAction: "cancel during tool calls",
    ends: ["turn.completed", "turn.cancelled"],
    answer: null,
  },
  restless: {
    agents: all([withFiles(chat("one", "restless")), chat("two", "quick")]),
    config: { orchestrator: { max_calls_per_round: LIMITS.callsPerRound } },
    ends: ["turn.completed"],
    answer: YES,
  },
  /** The first call leaves too few tokens for the other agent's call until it ends. */
  scarce: {
    agents: all([chat("one", "quick"), chat("two", "quick")]),
    maxTokens: 12_000,
    ends: ["turn.completed", "turn.failed"],
    answer: null,
  },
  rated: {
    agents: all([withRates(chat("one", "quick")), withRates(chat("two", "quick"))]),
    userAction: "cancel while rate-limited",
    ends: ["turn.cancelled"],
    answer: null,
  },
  clumsy: {
    agents: all([chat("one", "quick"), chat("two", "clumsy"), chat("three", "filtered")]),
    ends: ["turn.completed"],
    answer: YES,
  },
  searching: {
    agents: all([withSearch, chat("two", "quick")]),
    ends: ["turn.completed"],
    answer: null,
  },
  lengthy: {
    agents: all([chat("one", "quick"), withFiles(chat("two", "lengthy"))]),
    ends: ["turn.completed"],
    answer: YES,
  },
  /**
   * It costs nothing: after erasing, its cost could no longer be compared with the tenant's charge.
   */
  erased: { agents: all(unpriced), userAction: "erase", ends: [], answer: null },
} as const satisfies Record<string, Kind>;
export type KindName = keyof typeof KINDS;

export const kindOf = (name: KindName): Kind => KINDS[name];

/** Kinds that may be drawn: they end soon by themselves, also under faults. */
export const DRAWN: readonly KindName[] = Object.keys(KINDS)
  .filter((name): name is KindName => name in KINDS)
  .filter((name) => !kindOf(name).isOnlyByName);

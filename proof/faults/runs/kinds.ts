import { backendOf, modelOf } from "../../../tests/e2e/support/formats";
import { FINAL, STORY_AGENTS, storyAt, storyModels } from "../../../tests/e2e/support/story";
import type { EndedBy } from "../../../src/protocol/events";
import { LIMITS } from "../../../src/coordination/limits";
import type { Script } from "../../../simulated/providers/reply";
import { worksOnFiles } from "../../../simulated/providers/coding";
import { refusesOver, worksAtLength } from "../../../simulated/providers/long-work";
import {
  alwaysFails,
  answersThenVotes,
  byStage,
  hangs,
  newAnswer,
  paced,
  rejects,
  vote,
} from "../../../simulated/providers/scripts";
import type { SimulatedProviders } from "../../../simulated/providers/server";
import type { ReachedCall } from "../../../simulated/providers/tool-server";
import type { ToolRequest } from "./tool-witness";

/** What runs reach: providers with the models of all kinds, and a tool server. */
export type Surroundings = SimulatedProviders & {
  /** Of the tool server. */
  toolsUrl: string;
  /** Of one that tells how far it is and then asks a person. */
  askingUrl: string;
  /** Of one that answers no call. */
  silentUrl: string;
  /** Each call that reached any of them, in order. */
  toolCalls(): readonly ReachedCall[];
  /** Every request that reached one of them at an address that ends with this mark. */
  toolRequests(mark: string): readonly ToolRequest[];
};

/** The story is over in about two seconds. */
const SPEED = 2.8;
const YES = "Yes, at 100 °C.";
const SOUGHT = "At 100 °C, as may be read.";
const NOT_YET = { reason: "It says nothing of the pot.", instructions: "Mention the pot." };

const quick = answersThenVotes({ answer: YES, presentation: YES });
const rejecting = paced({ ttftMs: 60, tokensPerSecond: 300 }, rejects(NOT_YET, quick));

type Agent = { id: string; model: string; backend: Readonly<Record<string, unknown>> };

/** What somebody does to the run beside watching it. */
export type Deed =
  | "cancels it"
  | "cancels it once it waits"
  | "cancels it once its tools work"
  | "erases it"
  | "asks again";

/** A kind of run, and what must come of it however often the service is killed. */
export type Kind = {
  agents: (providers: Surroundings) => readonly Agent[];
  config?: Readonly<Record<string, unknown>>;
  /** Whether it may cost only so much that it matters. */
  isCapped?: boolean;
  /** The tokens it may take, where that matters. */
  maxTokens?: number;
  deed?: Deed;
  /** How its last turn may end. */
  ends: readonly ("turn.completed" | "turn.failed" | "turn.cancelled")[];
  /** What its coordination always ends by. Absent: whatever it may. */
  endedBy?: EndedBy;
  /** The answer of a turn that completed; null: any. */
  answer: string | null;
  /** The files of a turn that completed: text by path. Absent: its agents have none. */
  files?: Readonly<Record<string, string>>;
  /** Played only where it is asked for by name: it is about another fault than kills. */
  isAskedFor?: true;
  /** What its agents have: tools over HTTP, or those of the tool server, which keep their own record. Absent: neither. */
  tools?: "http" | "mcp" | "both";
};

const chat =
  (id: string, model: string) =>
  (providers: Surroundings): Agent => ({
    id,
    model,
    backend: backendOf("openai-chat", providers),
  });
const story = STORY_AGENTS.map(({ id, model }) => chat(id, model));
/** Of models that nobody sells. */
const unpriced = STORY_AGENTS.map(({ id }) => chat(id, `unpriced-${id}`));
const DIALECTS = { swift: "openai-responses", steady: "anthropic", slow: "gemini" } as const;
const mixed = STORY_AGENTS.map(({ id }) => (providers: Surroundings): Agent => {
  const format = DIALECTS[id];
  return { id, model: modelOf(format, `story-${id}`), backend: backendOf(format, providers) };
});

/** What the winner of the team with files hands over. */
const BUILT = { "NOTES.md": "Run src/boil.sh.\n", "src/boil.sh": "echo $((50 * 2))\n" };
/** It writes a script, runs it, looks at its peers' files before it votes, and adds notes when it presents. */
const builder = worksOnFiles({
  first: [
    ["write_file", { path: "src/boil.sh", content: BUILT["src/boil.sh"] }],
    ["run_command", { command: "sh src/boil.sh > /tmp/out && cat /tmp/out && ls -R" }],
  ],
  answer: "At 100 °C: run src/boil.sh, which works it out, and see for yourself.",
  beforeVote: [["run_command", { command: "grep -rn echo /peers" }]],
  last: [["write_file", { path: "NOTES.md", content: BUILT["NOTES.md"] }]],
});
const looker = worksOnFiles({
  first: [["write_file", { path: "src/other.txt", content: "hundred" }]],
  answer: YES,
  beforeVote: [["read_file", { path: "/peers/{best}/src/boil.sh" }]],
});
/** 1.2 MB: too large for a row, so that it lies in R2 before its answer is given. */
const HEAP = {
  heap: `${Array.from({ length: 9_000 }, (_, nth) => nth + 1).join("\n")}\n`.repeat(28),
};
const hoarder = worksOnFiles({
  first: [
    [
      "run_command",
      {
        command:
          "seq 1 9000 > a && cat a a a a > b && for i in 1 2 3 4 5 6 7; do cat b >> heap; done; rm a b",
      },
    ],
  ],
  answer: "At 100 °C, which is among all the numbers of the heap.",
});
/** It orders and takes notes before it answers, votes and presents. */
const buyer = worksOnFiles({
  first: [
    ["place_order", { text: "a pot" }],
    ["write_note", { text: "a pot is ordered" }],
    ["place_order", { text: "a lid" }],
  ],
  answer: YES,
  beforeVote: [["write_note", { text: "voted" }]],
  last: [["place_order", { text: "water" }]],
});
/** Does each thing that is refused or has to be asked for again, once, and then what it should. */
const clumsy = byStage({
  answering: ({ callIndex }) => {
    if (callIndex === 0) return { text: "Let me see." };
    return newAnswer(callIndex === 1 ? "" : "At 100 °C.");
  },
  deciding: (situation) =>
    situation.callIndex === 0 ? vote(situation, { voteFor: () => "agent9" }) : vote(situation),
  presenting: () => ({ text: YES }),
});
/** Looks things up before it presents, and says where it found them. */
const searcher = byStage({
  answering: () => newAnswer(SOUGHT),
  deciding: (situation) => vote(situation),
  presenting: () => ({
    hosted: [{ name: "web_search", input: "boiling point", output: "100 °C" }],
    text: SOUGHT,
    citations: [{ url: "https://example.com/water", title: "Water" }],
  }),
});
/** Its conversation outgrows its model twice. */
const lengthy = refusesOver(12_000, worksAtLength({ steps: 6, size: 8_000, answer: "At 100 °C." }));
const withFiles = (player: Player): Player => {
  return (providers) => {
    const { backend, ...agent } = player(providers);
    return { ...agent, backend: { ...backend, cwd: "work", enable_mcp_command_line: true } };
  };
};

/** Has something added up before it answers and when it presents: by a tool that nobody knows to be safe. */
const adder = worksOnFiles({
  first: [["mcp__box__add", { a: 50, b: 50 }]],
  answer: "At 100 °C, which a tool has added up of twice fifty.",
  last: [["mcp__box__add", { a: 99, b: 1 }]],
});
/** The same, by a server that asks a person before it goes on, which nobody answers. */
const asker = worksOnFiles({
  first: [
    ["mcp__box__add", { a: 50, b: 50 }],
    ["mcp__desk__ask", {}],
  ],
  answer: "At 100 °C, for all that the desk would not say.",
});
/** They wait for what does not come, one for a tool over HTTP, one for a tool server. */
const NOTHING_CAME = "At 100 °C, though nothing came.";
const waiter = worksOnFiles({
  first: [["await_delivery", { text: "a pot" }]],
  answer: NOTHING_CAME,
});
const queuer = worksOnFiles({ first: [["mcp__queue__wait", {}]], answer: NOTHING_CAME });
const SERVERS = { toolsUrl: "box", askingUrl: "desk", silentUrl: "queue" } as const;
const withServers = (player: Player, servers: readonly (keyof typeof SERVERS)[]): Player => {
  return (providers) => {
    const { backend, ...agent } = player(providers);
    const named = servers.map((url) => [SERVERS[url], { url: providers[url] }]);
    return { ...agent, backend: { ...backend, mcp_servers: Object.fromEntries(named) } };
  };
};

const look = (): [string, Record<string, unknown>] => ["list_directory", {}];
/** Looks at its files for as long as it may, and never votes. It presents if the other has voted for it. */
const restless = worksOnFiles({
  answer: YES,
  beforeVote: Array.from({ length: LIMITS.callsPerRound + 1 }, look),
  final: { text: YES },
});
/** The second call of a key, of which each agent has its own, waits for the next minute. */
const withRates = (player: Player): Player => {
  return (providers) => {
    const { backend, ...agent } = player(providers);
    return { ...agent, backend: { ...backend, rate_limits: { rpm: 1 } } };
  };
};

const SEARCHING = modelOf("anthropic", "searching");
const withSearch: Player = (providers) => ({
  id: "one",
  model: SEARCHING,
  backend: { ...backendOf("anthropic", providers), enable_web_search: true },
});

type Player = (providers: Surroundings) => Agent;
const all = (players: readonly Player[]) => (providers: Surroundings) =>
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
  /** Its time is up in the middle of the story. */
  hurried: {
    agents: all(story),
    config: { timeout_settings: { orchestrator_timeout_seconds: 1 } },
    endedBy: "deadline",
    ends: ["turn.completed", "turn.failed"],
    answer: null,
  },
  /** Its second agent says nothing until its time is up, and nothing else happens meanwhile. */
  hushed: {
    agents: all([chat("one", "quick"), chat("two", "mute")]),
    config: {
      timeout_settings: { initial_round_timeout_seconds: 4, round_timeout_grace_seconds: 0 },
    },
    isAskedFor: true,
    ends: ["turn.completed"],
    answer: YES,
  },
  /** It has half an hour, which a clock may leap over. */
  overtaken: {
    agents: all(story),
    endedBy: "deadline",
    isAskedFor: true,
    ends: ["turn.completed", "turn.failed"],
    answer: null,
  },
  cancelled: {
    agents: all(story),
    deed: "cancels it",
    ends: ["turn.completed", "turn.cancelled"],
    answer: FINAL,
  },
  again: {
    agents: all([chat("one", "quick"), chat("two", "quick")]),
    deed: "asks again",
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
    isAskedFor: true,
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
    deed: "cancels it once its tools work",
    ends: ["turn.completed", "turn.cancelled"],
    answer: null,
  },
  restless: {
    agents: all([withFiles(chat("one", "restless")), chat("two", "quick")]),
    config: { orchestrator: { max_calls_per_round: LIMITS.callsPerRound } },
    ends: ["turn.completed"],
    answer: YES,
  },
  /** The first call of one leaves too little for the other's, until it is over. */
  scarce: {
    agents: all([chat("one", "quick"), chat("two", "quick")]),
    maxTokens: 12_000,
    ends: ["turn.completed", "turn.failed"],
    answer: null,
  },
  rated: {
    agents: all([withRates(chat("one", "quick")), withRates(chat("two", "quick"))]),
    deed: "cancels it once it waits",
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
  /** It costs nothing: what it did cost nobody could compare with what its tenant was charged. */
  erased: { agents: all(unpriced), deed: "erases it", ends: [], answer: null },
} as const satisfies Record<string, Kind>;
export type KindName = keyof typeof KINDS;

export const kindOf = (name: KindName): Kind => KINDS[name];

/** Those that are drawn where none is asked for by name: they are over by themselves soon, whatever else goes on. */
export const DRAWN: readonly KindName[] = Object.keys(KINDS)
  .filter((name): name is KindName => name in KINDS)
  .filter((name) => !kindOf(name).isAskedFor);

/** The models of all kinds. */
export const MODELS: Readonly<Record<string, Script>> = {
  ...storyModels(SPEED),
  ...Object.fromEntries(
    STORY_AGENTS.map(({ id }) => [modelOf(DIALECTS[id], `story-${id}`), storyAt(SPEED)[id]]),
  ),
  ...Object.fromEntries(STORY_AGENTS.map(({ id }) => [`unpriced-${id}`, storyAt(SPEED)[id]])),
  rejecting,
  quick: paced({ ttftMs: 80, tokensPerSecond: 100 }, quick),
  refused: paced({ ttftMs: 30 }, alwaysFails(401)),
  mute: hangs("headers"),
  buyer: paced({ ttftMs: 40, tokensPerSecond: 200 }, buyer),
  hoarder: paced({ ttftMs: 60, tokensPerSecond: 200 }, hoarder),
  builder: paced({ ttftMs: 60, tokensPerSecond: 200 }, builder),
  asker: paced({ ttftMs: 60, tokensPerSecond: 200 }, asker),
  waiter: paced({ ttftMs: 60, tokensPerSecond: 200 }, waiter),
  queuer: paced({ ttftMs: 60, tokensPerSecond: 200 }, queuer),
  restless: paced({ ttftMs: 5 }, restless),
  adder: paced({ ttftMs: 60, tokensPerSecond: 200 }, adder),
  clumsy: paced({ ttftMs: 60, tokensPerSecond: 200 }, clumsy),
  filtered: paced({ ttftMs: 60 }, () => ({ text: "I", finishReason: "content_filter" })),
  [SEARCHING]: paced({ ttftMs: 60, tokensPerSecond: 200 }, searcher),
  lengthy: paced({ ttftMs: 30 }, lengthy),
  looker: paced({ ttftMs: 60, tokensPerSecond: 200 }, looker),
};

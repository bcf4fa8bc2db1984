import type { AgentRules } from "../../../src/protocol/team";
import {
  afterSearching,
  type AskedTeam,
  answers,
  asksForRestart,
  assignsPersonas,
  failsWith,
  hangs,
  member,
  type Script,
  says,
  teamOf,
  usesTool,
  votesFor,
  votesForUnknownAlias,
} from "./script";

const FILE_READER = [{ name: "read_file", acts_outside: false, idempotent: true }];

const COMMAND_RUNNER = [{ name: "run_command", acts_outside: false, idempotent: false }];

/** Steps in which the agent calls `read_file` once per call. */
const readSteps = (times: number) => Array.from({ length: times }, () => usesTool("read_file"));

/** The rules of agents with web search. */
const WITH_SEARCH = {
  price: { input: 1, cached_input: 0.25, cache_write: 1.25, output: 4 },
  hosted_tools: [{ name: "web_search", max_uses: 5, usd_per_use: 0.01, tokens_per_use: 500 }],
} satisfies Partial<AgentRules>;

/** Another team than that of the session, and a turn with one of its agents and another model. */
const OTHERS = teamOf(2, { agents: [member(3), member(4)] });
const ONE_OF_OTHERS: AskedTeam = {
  rules: OTHERS,
  overrides: { agents: ["dora"], models: { dora: "larger" } },
  overriddenAgents: [member(4, { model: "larger", context_window: 200_000 })],
};

/** Scripts of whole turns, by the name of their recorded log. */
export const SCRIPTS: Readonly<Record<string, Script>> = {
  "consensus-at-once": {
    rules: teamOf(3),
    steps: [
      [answers("Follow the river north."), votesFor(2, "It also names the pass.")],
      [
        answers("Follow the river to the pass, then north."),
        votesFor(2, "Complete."),
        says("Follow the river to the pass, then turn north."),
      ],
      [answers("Take the road."), votesFor(2, "Shorter than the road.")],
    ],
  },
  "improved-answer-with-injection": {
    rules: teamOf(3, { agents: [member(1, { tools: FILE_READER }), member(2), member(3)] }),
    steps: [
      [
        answers("Follow the river."),
        usesTool("read_file", { afterMs: 1_500 }),
        votesFor(2, "It adds the pass."),
      ],
      [
        answers("Take the ridge."),
        answers("Follow the river, then the ridge to the pass.", { afterMs: 1_600 }),
        votesFor(2, "Nothing is missing."),
        says("Follow the river, then the ridge."),
      ],
      [
        answers("Take the road."),
        votesFor(1, "The river is safe.", { afterMs: 500 }),
        votesFor(2, "Better still."),
      ],
    ],
  },
  tie: {
    rules: teamOf(2),
    steps: [
      [answers("Go by the river."), votesFor(1, "Safe."), says("Go by the river, slowly.")],
      [answers("Go by the ridge."), votesFor(2, "Fast.")],
    ],
  },
  "head-moved": {
    rules: teamOf(2),
    goesBack: true,
    steps: [
      [
        ...[answers("Go by the river."), votesFor(1, "Safe."), says("Go by the river.")],
        ...[answers("Go by the river again."), votesFor(1, "Safe."), says("By the river again.")],
        ...[answers("Go by boat."), votesFor(1, "Dry."), says("Go by boat.")],
      ],
      [
        ...[answers("Go by the ridge."), votesFor(1, "Safe.")],
        ...[answers("Go by the ridge again."), votesFor(1, "Safe.")],
        ...[answers("Swim."), votesFor(1, "Dry.")],
      ],
    ],
  },
  summarised: {
    rules: teamOf(2),
    turns: 4,
    turnBytes: 100_000,
    steps: [
      [
        ...[answers("Go by the river."), votesFor(1, "Safe."), says("Go by the river.")],
        ...[answers("Go by boat."), votesFor(1, "Dry."), says("Go by boat.")],
        says("They wanted a way, and found the river."),
        ...[answers("Swim."), votesFor(1, "Fast."), says("Swim.")],
        failsWith("quota"),
        ...[answers("Walk."), votesFor(1, "Simple."), says("Walk.")],
      ],
      [
        ...[answers("Go by the ridge."), votesFor(1, "Safe.")],
        ...[answers("Go by the ridge again."), votesFor(1, "Safe.")],
        ...[answers("Wade."), votesFor(1, "Dry.")],
        ...[answers("Run."), votesFor(1, "Dry.")],
      ],
    ],
  },
  "another-team": {
    rules: teamOf(2),
    then: [{ rules: OTHERS }, ONE_OF_OTHERS],
    steps: [
      [
        ...[answers("Go by the river."), votesFor(1, "Safe."), says("Go by the river.")],
        ...[answers("Go by boat."), votesFor(1, "Dry."), says("Go by boat.")],
        says("Go by train."),
      ],
      [
        ...[answers("Go by the ridge."), votesFor(1, "Safe.")],
        ...[answers("Swim."), votesFor(1, "Dry.")],
      ],
    ],
  },
  queued: {
    rules: teamOf(2),
    queues: true,
    steps: [
      [
        ...[answers("Go by the river."), votesFor(1, "Safe."), says("Go by the river.")],
        ...[answers("Go by boat."), votesFor(1, "Dry."), says("Go by boat.")],
      ],
      [
        ...[answers("Go by the ridge."), votesFor(1, "Safe.")],
        ...[answers("Swim."), votesFor(1, "Dry.")],
      ],
    ],
  },
  "stale-vote": {
    rules: teamOf(2),
    steps: [
      [
        answers("Go by the river."),
        votesFor(2, "The ridge is fast.", { afterMs: 4_000 }),
        votesFor(2, "Now with water."),
      ],
      [
        answers("Go by the ridge."),
        answers("Go by the ridge and carry water."),
        votesFor(2, "Complete."),
        says("Go by the ridge; carry water."),
      ],
    ],
  },
  "agent-failing": {
    rules: teamOf(3),
    steps: [
      [answers("Go by the river."), votesFor(1, "Safe."), says("Go by the river.")],
      [
        failsWith("transient"),
        answers("Go by the ridge.", { afterMs: 700 }),
        votesFor(1, "Safer."),
      ],
      [failsWith("bad_credentials", { afterMs: 300 })],
    ],
  },
  deadline: {
    rules: teamOf(3),
    timeoutMs: 20_000,
    steps: [
      [answers("Go by the river."), votesFor(1, "Safe."), says("Go by the river.")],
      [answers("Go by the ridge."), hangs()],
      [hangs("Go by the sea, for")],
    ],
  },
  budget: {
    rules: teamOf(2),
    budget: { max_tokens: 9_000 },
    steps: [[answers("Go by the river.")], [answers("Go by the ridge."), says("Go by the ridge.")]],
  },
  cancel: {
    rules: teamOf(3),
    cancelAfterMs: 2_600,
    steps: [
      [answers("Go by the river."), votesFor(1, "Safe.")],
      [answers("Go by the ridge."), hangs()],
      [answers("Go by the sea."), hangs()],
    ],
  },
  "restart-attempt": {
    rules: teamOf(2, { max_orchestration_restarts: 1 }),
    steps: [
      [
        answers("Go by the river."),
        votesFor(1, "Safe."),
        says("Go."),
        asksForRestart("It names no way.", "Name the river and the pass."),
        answers("Go by the river to the pass."),
        votesFor(1, "Names both."),
        says("Go by the river to the pass."),
      ],
      [
        answers("Go by the ridge."),
        votesFor(1, "Safer."),
        answers("Go by the ridge to the pass."),
        votesFor(1, "Names both."),
      ],
    ],
  },
  "single-agent": {
    rules: teamOf(1, { skip_coordination: true, agents: [member(1, { tools: FILE_READER })] }),
    steps: [
      [
        usesTool("read_file"),
        says("Go by the river; the map shows a ford.", { partial: "Go by the" }),
      ],
    ],
  },
  "hosted-tools": {
    rules: teamOf(2, { agents: [member(1, WITH_SEARCH), member(2, WITH_SEARCH)] }),
    budget: { max_cost_usd: 0.12 },
    steps: [
      [
        afterSearching("passes in the hills", answers("Go by the river.")),
        votesFor(1, "It knows the pass."),
        afterSearching("fords of the river", says("Go by the river; there is a ford.")),
      ],
      [answers("Go by the ridge."), votesFor(1, "Safer.")],
    ],
  },
  "research-calls": {
    rules: teamOf(2, { agents: [member(1, { ...WITH_SEARCH, hosted_alone: true }), member(2)] }),
    steps: [
      [
        afterSearching("passes in the hills", says("The pass is open in May.")),
        answers("Go by the pass."),
        afterSearching("snow on the pass", says("No snow this week.")),
        votesFor(1, "It was looked up."),
        afterSearching("huts at the pass", says("Go by the pass; there is a hut.")),
      ],
      [answers("Go by the ridge."), votesFor(1, "Safer.")],
    ],
  },
  "restarted-service": {
    rules: teamOf(2, { agents: [member(1, { tools: FILE_READER }), member(2)] }),
    crashAfterMs: 500,
    steps: [
      [answers("lost with the service"), answers("Go by the river."), votesFor(2, "Fast.")],
      [
        answers("lost with the service"),
        answers("Go by the ridge."),
        votesFor(2, "Fast."),
        says("Go by the ridge."),
      ],
    ],
  },
  "refusals-and-nudges": {
    rules: teamOf(2),
    steps: [
      [
        says("Let me think."),
        answers(" "),
        answers("Go by the river."),
        votesForUnknownAlias(),
        votesFor(1, "Safe."),
        says("Go by the river, slowly."),
      ],
      [votesFor(1, "It will be the best."), answers("Go by the ridge."), votesFor(1, "Safer.")],
    ],
  },
  "nobody-answers": {
    rules: teamOf(2),
    steps: [
      [failsWith("quota"), failsWith("content_filter"), failsWith("quota")],
      [failsWith("unknown_model")],
    ],
  },
  personas: {
    rules: teamOf(2, { personas: true }),
    steps: [
      [
        assignsPersonas(["You look at maps.", "You ask shepherds."]),
        answers("Go by the river."),
        votesFor(1, "Safe."),
        says("Go."),
      ],
      [answers("Go by the ridge."), votesFor(1, "Safer.")],
    ],
  },
  "call-cap": {
    rules: teamOf(2, { agents: [member(1), member(2, { tools: FILE_READER })] }),
    steps: [
      [answers("Go by the river."), votesFor(1, "Safe."), says("Go by the river.")],
      [answers("Go by the ridge."), ...readSteps(50), says("I would have to read on.")],
    ],
  },
  "round-limits": {
    rules: teamOf(2, {
      max_calls_per_round: 3,
      round_timeout_grace_ms: 120_000,
      initial_round_timeout_ms: null,
      agents: [
        member(1, { tools: FILE_READER, workspace: true }),
        member(2, { tools: FILE_READER }),
      ],
    }),
    steps: [
      [
        failsWith("quota"),
        ...readSteps(3),
        answers("Go by the river."),
        votesFor(1, "Safe."),
        ...readSteps(3),
        says("Go by the river; the map shows a ford."),
      ],
      [answers("Go by the ridge."), ...readSteps(3), says("I would have to read on.")],
    ],
  },
  "cut-off-tools": {
    rules: teamOf(2, {
      agents: [member(1, { tool_servers: ["box"] }), member(2, { tools: COMMAND_RUNNER })],
    }),
    listings: [
      {
        server: "box",
        version: "2026-07-28",
        problem: null,
        tools: [
          {
            name: "mcp__box__look",
            acts_outside: false,
            idempotent: true,
            tool: "look",
            hash: "4f53cda1",
          },
        ],
        refused: [],
      },
    ],
    crashAfterMs: 1_250,
    steps: [
      [
        usesTool("mcp__box__look"),
        answers("Go by the river."),
        votesFor(1, "Safe."),
        says("Go by the river."),
      ],
      [usesTool("run_command"), answers("Go by the ridge."), votesFor(1, "Safer.")],
    ],
  },
  "asked-by-a-server": {
    rules: teamOf(1, { skip_coordination: true, agents: [member(1, { tools: FILE_READER })] }),
    notifications: [
      {
        type: "progress",
        origin: "https://maps.example.com",
        progress: 1,
        total: 2,
        message: "reads the map",
      },
      {
        type: "elicitation",
        origin: "https://maps.example.com",
        requests: [
          {
            kind: "url",
            message: "Sign in to see the map.",
            url: "https://maps.example.com/sign-in",
            refused: null,
          },
        ],
      },
    ],
    steps: [[usesTool("read_file"), says("Go by the river; the map shows a ford.")]],
  },
  "summed-up": {
    rules: teamOf(2, { agents: [member(1, { tools: FILE_READER }), member(2)] }),
    heldMs: 1_500,
    steps: [
      [
        usesTool("read_file"),
        failsWith("context_too_long"),
        says("The map shows a river with a ford, and a ridge."),
        answers("Go by the river."),
        votesFor(1, "Safe."),
        says("Go by the river; there is a ford."),
      ],
      [answers("Go by the ridge."), votesFor(1, "Safer.")],
    ],
  },
};

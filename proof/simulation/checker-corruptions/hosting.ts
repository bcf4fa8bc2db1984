import type { EventOf } from "../../../src/protocol/events";
import {
  adds,
  all,
  changes,
  type Corruption,
  withAgentRules,
  moves,
  rewrites,
} from "./corruptions";
import type { Row } from "./row";

const HOSTED = "hosted-tools";
const TOOLS = "cut-off-tools";
const COMPACTED = "summed-up";
/** A call of a tool in a reply. */
const USE = { tool_call: "call_1_1_1_1_1_1_use", name: "read_file" };
/** A hosted tool as a call may use it. */
const SEARCH = { name: "web_search", max_uses: 5 } as const;
/**
 * Gives the failure before a compaction another reason than a conversation that is too long, and
 * changes the usage of all completed calls. `window`: the context window of the agents in tokens.
 */
const compactsAfterOtherFailure = (
  change: Partial<EventOf<"call.completed">["usage"]>,
  window = 128_000,
): Corruption =>
  all(
    withAgentRules({ context_window: window }),
    changes("call.failed", { class: "transient" }),
    rewrites("call.completed", (event) => ({ ...event, usage: { ...event.usage, ...change } })),
  );

/** Corruptions of hosted tools, compactions and tool servers. */
export const HOSTING: readonly Row[] = [
  {
    name: "a list of hosted tools that is empty",
    script: HOSTED,
    corruption: changes("call.started", { hosted_tools: [] }),
    invariant: "hosted",
  },
  {
    name: "a hosted tool granted for 0 uses",
    script: HOSTED,
    corruption: changes("call.started", { hosted_tools: [{ ...SEARCH, max_uses: 0 }] }),
    invariant: "hosted",
  },
  {
    name: "a hosted tool granted twice",
    script: HOSTED,
    corruption: changes("call.started", { hosted_tools: [SEARCH, SEARCH] }),
    invariant: "hosted",
  },
  {
    name: "another hosted tool beside the agent's own",
    script: HOSTED,
    corruption: changes("call.started", {
      hosted_tools: [SEARCH, { name: "x_search", max_uses: 1 }],
    }),
    invariant: "hosted",
  },
  {
    name: "a hosted tool for a judge",
    script: HOSTED,
    corruption: changes("call.started", { purpose: "judgement" }),
    invariant: "hosted",
  },
  {
    name: "a hosted tool without a known price, under a cost cap",
    script: HOSTED,
    corruption: withAgentRules(
      { hosted_tools: [{ ...SEARCH, usd_per_use: null, tokens_per_use: 500 }] },
      "ada",
    ),
    invariant: "hosted",
  },
  {
    name: "a hosted tool without a known price, without a cost cap",
    script: HOSTED,
    corruption: all(
      changes("turn.started", { budget: {} }),
      withAgentRules(
        { hosted_tools: [{ ...SEARCH, usd_per_use: null, tokens_per_use: 500 }] },
        "ada",
      ),
    ),
    invariant: "I11",
  },
  {
    name: "a hosted tool with more results than reserved",
    script: HOSTED,
    corruption: withAgentRules({
      hosted_tools: [{ ...SEARCH, usd_per_use: 0.01, tokens_per_use: 9_000 }],
    }),
    invariant: "hosted",
  },
  {
    name: "a reply limited to 1,023 tokens with all its uses",
    script: HOSTED,
    corruption: changes("call.started", { max_output_tokens: 1_023 }),
    invariant: "hosted",
  },
  {
    name: "sources logged for another agent's call",
    script: HOSTED,
    corruption: changes("citations.added", { agent: "bela" }),
    invariant: "hosted",
  },
  {
    name: "sources of another call",
    script: HOSTED,
    corruption: changes("citations.added", { call: "call_1_1_2_1_1_1" }),
    invariant: "hosted",
  },
  {
    name: "more sources than allowed",
    script: HOSTED,
    corruption: rewrites("citations.added", (event) => ({
      ...event,
      citations: Array.from({ length: 101 }, () => event.citations).flat(),
    })),
    invariant: "hosted",
  },
  {
    name: "sources logged before the uses",
    script: HOSTED,
    corruption: moves("citations.added", { before: "hosted_tool.completed" }),
    invariant: "hosted",
  },
  {
    name: "a search logged long before its call ends",
    script: HOSTED,
    corruption: moves("call.completed", { nth: 2, before: "call.completed" }),
    invariant: "hosted",
  },
  {
    name: "a search without a reserved price",
    script: HOSTED,
    corruption: changes("call.started", { reserved: { tokens: 90_000, cost_usd: 0.049 } }),
    invariant: "hosted",
  },
  {
    name: "two compactions for one call",
    script: COMPACTED,
    corruption: changes("call.started", { compacts: true, offers: [], forced: false }, 5),
    invariant: "compaction",
  },
  {
    name: "a compaction that is forced to a decision",
    script: COMPACTED,
    corruption: changes("call.started", { forced: true }, 4),
    invariant: "compaction",
  },
  {
    name: "a compaction with a hosted tool",
    script: COMPACTED,
    corruption: changes("call.started", { hosted_tools: [] }, 4),
    invariant: "compaction",
  },
  {
    name: "a compaction that is offered an answer",
    script: COMPACTED,
    corruption: changes("call.started", { offers: ["new_answer"] }, 4),
    invariant: "compaction",
  },
  {
    name: "a compaction that uses a tool",
    script: COMPACTED,
    corruption: changes("call.completed", { tools: [USE] }, 3),
    invariant: "compaction",
  },
  {
    name: "a compaction that decides",
    script: COMPACTED,
    corruption: changes(
      "call.completed",
      { decisions: [{ name: "new_answer", tool_call: "c", content: "Go." }] },
      3,
    ),
    invariant: "compaction",
  },
  {
    name: "a conversation compacted by another call",
    script: COMPACTED,
    corruption: changes("conversation.compacted", { call: "c" }),
    invariant: "compaction",
  },
  {
    name: "a conversation compacted for another agent",
    script: COMPACTED,
    corruption: changes("conversation.compacted", { agent: "bela" }),
    invariant: "compaction",
  },
  {
    name: "a conversation compacted without removing a reply",
    script: COMPACTED,
    corruption: changes("conversation.compacted", { replies: 0 }),
    invariant: "compaction",
  },
  {
    name: "a conversation compacted without freeing tokens",
    script: COMPACTED,
    corruption: changes("conversation.compacted", { tokens: 0 }),
    invariant: "compaction",
  },
  {
    name: "a compaction for a call that was not too long",
    script: COMPACTED,
    corruption: changes("call.failed", { class: "transient" }),
    invariant: "compaction",
  },
  {
    name: "a compaction of a conversation that fills exactly 85 % of its window",
    script: COMPACTED,
    corruption: compactsAfterOtherFailure({ input_tokens: 8_300 }, 10_000),
    invariant: "compaction",
  },
  {
    name: "a compaction after an unrelated failure",
    script: COMPACTED,
    corruption: compactsAfterOtherFailure({ input_tokens: 8_301 }, 10_000),
    invariant: "I11",
  },
  {
    name: "a compaction of a conversation that was read twice for one reply",
    script: COMPACTED,
    corruption: compactsAfterOtherFailure({ input_tokens: 9_000, requests: 2 }, 10_000),
    invariant: "compaction",
  },
  {
    name: "a compaction of a conversation of unknown length",
    script: COMPACTED,
    corruption: compactsAfterOtherFailure({ input_tokens: 0, output_tokens: 9_000 }, 10_000),
    invariant: "compaction",
  },
  {
    name: "a compaction of a conversation with searches",
    script: COMPACTED,
    corruption: compactsAfterOtherFailure({ input_tokens: 9_000, hosted_uses: {} }, 10_000),
    invariant: "compaction",
  },
  {
    name: "research that is forced to a decision",
    script: "research-calls",
    corruption: changes("call.started", { forced: true }),
    invariant: "research",
  },
  {
    name: "research after the first reply of a round",
    script: "research-calls",
    corruption: changes("call.started", { offers: [], hosted_tools: [SEARCH] }, 3),
    invariant: "research",
  },
  {
    name: "research that decides",
    script: "research-calls",
    corruption: changes("call.completed", {
      decisions: [{ name: "new_answer", tool_call: "c", content: "Go." }],
    }),
    invariant: "research",
  },
  {
    name: "research followed by a nudge",
    script: "research-calls",
    corruption: adds("call.completed", ({ at, turn, attempt, agent, round }) => [
      { type: "round.nudged", at, turn, attempt, agent, round, nudge: 1 },
    ]),
    invariant: "research",
  },
  {
    name: "research followed by a vote",
    script: "research-calls",
    corruption: adds(
      "call.completed",
      ({ at, turn, attempt, agent, round }) => [
        {
          type: "vote.refused",
          at,
          turn,
          attempt,
          agent,
          round,
          tool_call: "c",
          code: "",
          message: "",
        },
      ],
      4,
    ),
    invariant: "research",
  },
  {
    name: "a presenter with functions beside hosted tools that run alone",
    script: "research-calls",
    corruption: withAgentRules(
      { tools: [{ name: "read_file", acts_outside: false, idempotent: true }] },
      "ada",
    ),
    invariant: "research",
  },
  {
    name: "a presenter with tool servers beside hosted tools that run alone",
    script: "research-calls",
    corruption: withAgentRules({ tool_servers: ["box"] }, "ada"),
    invariant: "research",
  },
  {
    name: "a listing of another server",
    script: TOOLS,
    corruption: changes("tools.listed", { server: "bag" }),
    invariant: "listings",
  },
  {
    name: "a listing for an agent without servers",
    script: TOOLS,
    corruption: adds("tools.listed", (event) => [{ ...event, agent: "bela" }]),
    invariant: "listings",
  },
  {
    name: "a listing for an unknown agent",
    script: TOOLS,
    corruption: adds("tools.listed", (event) => [{ ...event, agent: "dora" }]),
    invariant: "listings",
  },
];

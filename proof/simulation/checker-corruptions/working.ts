import type { EventOf, RoundLimit } from "../../../src/protocol/events";
import {
  adds,
  all,
  changes,
  hides,
  type Corruption,
  withAgentRules,
  moves,
  repeats,
  rewrites,
  withRules,
} from "./corruptions";
import type { Row } from "./row";

const TOOLS = "cut-off-tools";
const ELICITED = "asked-by-a-server";

const USE = { tool_call: "call_1_1_1_1_1_1_use", name: "read_file" };
const toolUses = (count: number) =>
  Array.from({ length: count }, (_, nth) => ({ ...USE, tool_call: `use_${nth}` }));

/** Adds `count` tool calls to the first reply, and starts all of them. */
const startsMoreTools = (count: number): Corruption =>
  all(
    changes("call.completed", { tools: [USE, ...toolUses(count)] }),
    adds("tool.started", (event) => toolUses(count).map((use) => ({ ...event, ...use }))),
  );

/** Sets the planning mode. `acts_outside`: whether the tool of one agent acts outside. */
const plansWithTool = (acts_outside: boolean): Corruption =>
  all(
    withRules({ planning_mode: true }),
    withAgentRules({ tools: [{ name: "run_command", acts_outside, idempotent: false }] }, "bela"),
  );

const LIMITED = "round-limits";
/** The number of this script's first call that may only decide. */
const DECISION_CALL = 6;
const statesLimit = (nth: number, limit: RoundLimit | undefined): Corruption =>
  changes("call.started", { limit }, nth);

/** Corruptions of calls and tools. */
export const WORKING: readonly Row[] = [
  {
    name: "a call that ends for another agent",
    corruption: changes("call.completed", { agent: "bela" }),
    invariant: "I12",
  },
  {
    name: "a call that fails without a start",
    script: "agent-failing",
    corruption: changes("call.failed", { call: "c" }),
    invariant: "I12",
  },
  {
    name: "a call before a tool's result",
    script: "single-agent",
    corruption: hides("tool.completed"),
    invariant: "I12",
  },
  {
    name: "a call with another purpose than its round",
    corruption: changes("call.started", { purpose: "judgement" }),
    invariant: "I12",
  },
  {
    name: "a call of a failed agent",
    script: "agent-failing",
    corruption: changes("agent.failed", { agent: "bela" }),
    invariant: "I12",
  },
  {
    name: "a call before its tool servers were listed",
    script: TOOLS,
    corruption: hides("tools.listed"),
    invariant: "I12",
  },
  {
    name: "a call although only another agent's servers were listed",
    script: TOOLS,
    corruption: changes("tools.listed", { agent: "bela" }),
    invariant: "I12",
  },
  {
    name: "a call although only one of two servers was listed",
    script: TOOLS,
    corruption: withAgentRules({ tool_servers: ["box", "bag"] }, "ada"),
    invariant: "I12",
  },
  {
    name: "a presentation before the end",
    corruption: moves("presentation.started", { before: "vote.cast", beforeNth: 3 }),
    invariant: "presentation",
  },
  {
    name: "a presentation by an agent that has failed",
    corruption: adds("presentation.started", ({ at, turn, attempt, agent }) => [
      { type: "agent.failed", at, turn, attempt, agent, code: "", message: "" },
    ]),
    invariant: "I12",
  },
  {
    name: "a presentation by an agent that has abstained",
    corruption: adds(
      "vote.cast",
      ({ at, turn, attempt, agent }) => [
        { type: "agent.abstained", at, turn, attempt, agent, code: "", message: "" },
      ],
      2,
    ),
    invariant: "leaving",
  },
  {
    name: "a 51st call of a round",
    script: "call-cap",
    corruption: changes("call.started", { limit: undefined }, 54),
    invariant: "I12",
  },
  {
    name: "a call that does not state its limit",
    script: LIMITED,
    corruption: statesLimit(4, undefined),
    invariant: "round-limits",
  },
  {
    name: "a call that states its limit too early",
    script: LIMITED,
    corruption: statesLimit(1, { calls_left: 3 }),
    invariant: "round-limits",
  },
  {
    name: "a call that states a time limit that does not exist",
    script: LIMITED,
    corruption: statesLimit(4, { calls_left: 2, seconds_left: 9 }),
    invariant: "round-limits",
  },
  {
    name: "a call for a decision only with hosted tools",
    script: LIMITED,
    corruption: changes(
      "call.started",
      { hosted_tools: [{ name: "web_search", max_uses: 1 }] },
      DECISION_CALL,
    ),
    invariant: "round-limits",
  },
  {
    name: "a call for a decision only that forces none",
    script: LIMITED,
    corruption: changes("call.started", { forced: false }, DECISION_CALL),
    invariant: "offers",
  },
  {
    name: "a call that reserved less than it may write",
    corruption: changes("call.started", { reserved: { tokens: 4_095, cost_usd: 1 } }),
    invariant: "I12",
  },
  {
    name: "a call that may write nothing",
    corruption: changes("call.started", { max_output_tokens: 0 }),
    invariant: "I12",
  },
  {
    name: "a call that may write more than its model can",
    corruption: changes("call.started", { max_output_tokens: 4_097 }),
    invariant: "I12",
  },
  {
    name: "a call after 1,200 effects of three agents",
    corruption: adds("call.started", repeatedCalls(1_200)),
    invariant: "I12",
  },
  {
    name: "a turn that ends with a tool running",
    script: "single-agent",
    corruption: all(hides("tool.completed"), hides("call.started", 2), hides("call.completed", 2)),
    invariant: "I12",
  },
  {
    name: "a tool that was not requested",
    script: "single-agent",
    corruption: changes("call.completed", { tools: [] }),
    invariant: "tools",
  },
  {
    name: "a tool of another round",
    script: "single-agent",
    corruption: changes("tool.started", { round: 2 }),
    invariant: "tools",
  },
  {
    name: "a tool of another agent",
    script: TOOLS,
    corruption: changes("tool.started", { agent: "ada" }),
    invariant: "tools",
  },
  {
    name: "a tool by another name",
    script: "single-agent",
    corruption: changes("tool.started", { name: "write_file" }),
    invariant: "tools",
  },
  {
    name: "a tool that is started twice",
    script: "single-agent",
    corruption: repeats("tool.started"),
    invariant: "tools",
  },
  {
    name: "more than eight tools at once",
    script: "single-agent",
    corruption: startsMoreTools(8),
    invariant: "tools",
  },
  {
    name: "eight tools at once, seven of which never end",
    script: "single-agent",
    corruption: startsMoreTools(7),
    invariant: "I12",
  },
  {
    name: "more than 64 tools of one reply",
    script: "single-agent",
    corruption: changes("call.completed", { tools: [USE, ...toolUses(64)] }),
    invariant: "tools",
  },
  {
    name: "64 tools of one reply, most of which never start",
    script: "single-agent",
    corruption: changes("call.completed", { tools: [USE, ...toolUses(63)] }),
    invariant: "I12",
  },
  {
    name: "a tool that acts outside while the team only plans",
    script: TOOLS,
    corruption: plansWithTool(true),
    invariant: "tools",
  },
  {
    name: "a tool only planned although it does not act outside",
    script: TOOLS,
    corruption: all(plansWithTool(false), changes("tool.completed", { outcome: "planned" })),
    invariant: "tools",
  },
  {
    name: "a tool only planned by a presenter",
    script: "single-agent",
    corruption: all(
      withRules({ planning_mode: true }),
      withAgentRules({ tools: [{ name: "read_file", acts_outside: true, idempotent: true }] }),
      changes("tool.completed", { outcome: "planned" }),
    ),
    invariant: "tools",
  },
  {
    name: "an unsafe tool that is repeated",
    script: TOOLS,
    corruption: changes("tool.interrupted", { name: "run_command" }),
    invariant: "tools",
  },
  {
    name: "a tool interrupted before it ran",
    script: TOOLS,
    corruption: hides("tool.started", 2),
    invariant: "tools",
  },
  {
    name: "a tool with an unknown outcome before it ran",
    script: TOOLS,
    corruption: hides("tool.started", 1),
    invariant: "tools",
  },
  {
    name: "a tool that continues after it was interrupted",
    script: TOOLS,
    corruption: hides("tool.started", 3),
    invariant: "tools",
  },
  {
    name: "a tool that reports progress in another round",
    script: ELICITED,
    corruption: changes("tool.progressed", { round: 2 }),
    invariant: "news",
  },
  {
    name: "a server that requires too many inputs at once",
    script: ELICITED,
    corruption: rewrites("tool.input_required", (event) => ({
      ...event,
      requests: Array.from({ length: 6 }, () => event.requests).flat(),
    })),
    invariant: "news",
  },
  {
    name: "a server that requires input after its tool has ended",
    script: ELICITED,
    corruption: moves("tool.input_required", { before: "call.started", beforeNth: 2 }),
    invariant: "news",
  },
  {
    name: "a presenter's text that does not list its tools",
    script: "single-agent",
    corruption: changes("presentation.completed", { tools: [] }),
    invariant: "presentation",
  },
];

/** Returns the start of a call `count` times. Each start counts as an effect of the turn. */
function repeatedCalls(count: number) {
  return (event: EventOf<"call.started">): EventOf<"call.started">[] =>
    Array.from({ length: count }, () => event);
}

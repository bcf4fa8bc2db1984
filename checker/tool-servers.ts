import type { EventOf } from "../src/protocol/events";
import type { TeamRules } from "../src/protocol/team";
import { type Board, toolOf } from "./board";
import { type Invariant, type ReachedTool, unless } from "./types";

/** Checks the log against the tool servers' own records. */

/** The fields that identify a tool call. */
type ToolCallId = Pick<ReachedTool, "turn" | "attempt" | "agent" | "round" | "tool_call">;

const callOf = ({ turn, attempt, agent, round, tool_call }: ToolCallId): string =>
  `${turn} ${attempt} ${agent} ${round} ${tool_call}`;

/**
 * I8: a call that must not be repeated reaches its server at most once. Every call was logged
 * before it reached its server.
 */
export const atMostOnce: Invariant = {
  id: "I8",
  watch: ({ tools }) => {
    const started = new Map<string, number>();
    const interrupted = new Map<string, number>();
    let idempotent = new Set<string>();
    return {
      see: ({ event, board }) => {
        if (event.type === "session.created") idempotent = namesOf(event.rules);
        if (event.type === "turn.started" && event.rules)
          idempotent = idempotent.union(namesOf(event.rules));
        if (event.type === "tools.listed")
          for (const tool of event.tools) if (tool.idempotent) idempotent.add(tool.name);
        if (event.type === "tool.started") count(started, callOf(event));
        if (event.type === "tool.interrupted") count(interrupted, callOf(event));
        if (event.type !== "tool.started" || tools === undefined) return [];
        const repetitions = (started.get(callOf(event)) ?? 0) - 1;
        return unless(
          repetitions === 0 || mayRepeat(board, event),
          `${event.tool_call} was started ${repetitions + 1} times, which is not safe`,
        );
      },
      finish: () => {
        const reached = new Map<string, number>();
        for (const call of tools ?? []) count(reached, callOf(call));
        return (tools ?? []).flatMap((call) => [
          ...unless(
            started.has(callOf(call)),
            `${call.tool_call} reached its server but is not in the log`,
          ),
          ...unless(
            idempotent.has(call.name) || reached.get(callOf(call)) === 1,
            `${call.tool_call} reached its server twice`,
          ),
          ...unless(
            (reached.get(callOf(call)) ?? 0) <= (interrupted.get(callOf(call)) ?? 0) + 1,
            `${call.tool_call} reached its server more often than it was interrupted`,
          ),
        ]);
      },
    };
  },
};

/**
 * I8: the outcome of a call is unknown only if the call was interrupted: its response was lost, the
 * process died, or its round ended.
 */
export const unknownOnlyIfCut: Invariant = {
  id: "I8-unknown",
  watch: ({ tools, diedAfter }) => {
    const startedAt = new Map<string, number>();
    /**
     * Unknown calls that were not interrupted, unless an event at the same time ends their round.
     */
    let suspects: EventOf<"tool.unknown">[] = [];
    const wasAnswered = (event: EventOf<"tool.unknown">, at: number): boolean => {
      const reached = tools?.findLast((call) => callOf(call) === callOf(event));
      const start = startedAt.get(callOf(event)) ?? 0;
      return (
        (!reached || reached.answered === true) &&
        !(diedAfter ?? []).some((head) => head >= start && head < at)
      );
    };
    const reportSuspects = (): string[] => {
      const sentences = suspects.map(
        ({ tool_call }) => `${tool_call} is unknown although it was not interrupted`,
      );
      suspects = [];
      return sentences;
    };
    return {
      see: ({ event }) => {
        const violations = suspects.some(({ at }) => at !== event.at) ? reportSuspects() : [];
        if (ENDS_ROUND.has(event.type))
          suspects = suspects.filter(({ agent }) => "agent" in event && agent !== event.agent);
        if (event.type === "tool.started") startedAt.set(callOf(event), event.sequence_number);
        if (
          event.type === "tool.unknown" &&
          tools &&
          diedAfter &&
          wasAnswered(event, event.sequence_number)
        )
          suspects.push(event);
        return violations;
      },
      finish: reportSuspects,
    };
  },
};

/** Events that end the round of an agent, or of all agents, and interrupt running tools. */
const ENDS_ROUND: ReadonlySet<string> = new Set([
  ...["answer.submitted", "agent.failed", "agent.abstained", "attempt.settled"],
  ...["presentation.completed", "turn.completed", "turn.failed", "turn.cancelled"],
]);

/**
 * I9: every try of a call has the same key, so that the server does the work once. No two calls
 * share a key.
 */
export const oneKey: Invariant = {
  id: "I9",
  watch: ({ tools = [] }) => ({
    see: () => [],
    finish: () => {
      const keys = new Map<string, string>();
      const calls = new Map<string, string>();
      return tools.flatMap((call) => {
        const key = keys.get(callOf(call)) ?? call.key;
        const owner = calls.get(call.key) ?? callOf(call);
        keys.set(callOf(call), key);
        calls.set(call.key, owner);
        return [
          ...unless(key === call.key, `${call.tool_call} was repeated under another key`),
          ...unless(owner === callOf(call), `two calls share the key ${call.key}`),
        ];
      });
    },
  }),
};

const namesOf = ({ agents }: TeamRules): Set<string> =>
  new Set(
    agents.flatMap(({ tools }) =>
      tools.filter(({ idempotent }) => idempotent).map(({ name }) => name),
    ),
  );

function mayRepeat(board: Board, event: EventOf<"tool.started">): boolean {
  return toolOf(board, event.agent, event.name)?.idempotent === true;
}

function count(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

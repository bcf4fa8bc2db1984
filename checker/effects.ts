import type { EventOf } from "../src/protocol/events";
import { agentOf, type Board, toolOf } from "./board";
import { isTool } from "./replay";
import { callsOf, effectsOf } from "./round-limits";
import { type Invariant, unless } from "./types";

/** I12: every started call ends once, within its round. No call or tool runs after the turn. */
export const calls: Invariant = {
  id: "I12",
  watch: () => {
    const used = new Set<string>();
    return {
      see: ({ event, board }) => {
        switch (event.type) {
          case "call.started": {
            const violations = unless(!used.has(event.call), `${event.call} was started twice`);
            used.add(event.call);
            return [...violations, ...startViolations(event, board)];
          }
          case "call.completed":
          case "call.failed":
            return unless(
              board.openCalls.get(event.call)?.agent === event.agent,
              `${event.call} ended without having been started`,
            );
          case "turn.completed":
          case "turn.failed":
          case "turn.cancelled":
            return isInternal(event) ? [] : openEffects(board);
          default:
            return [];
        }
      },
    };
  },
};

/** After an internal error, the ends of running calls are not logged. */
const isInternal = (event: EventOf<"turn.completed" | "turn.failed" | "turn.cancelled">): boolean =>
  event.type === "turn.failed" && event.code === "internal";

const openEffects = (board: Board): string[] => [
  ...unless(
    board.openCalls.size === 0,
    `the turn ended with ${[...board.openCalls.keys()].join(" ")} open`,
  ),
  ...unless(
    !board.openTools.some(({ status }) => status === "started"),
    "the turn ended with a tool running",
  ),
];

/** Violations by the start of a call. */
function startViolations(event: EventOf<"call.started">, board: Board): string[] {
  const agent = agentOf(board, event.agent);
  const isOnlyCall = ![...board.openCalls.values()].some((call) => call.agent === event.agent);
  const hasAllResults = !board.openTools.some(
    (tool) => tool.agent === event.agent && tool.round === event.round,
  );
  const isPresenting = event.purpose === "presentation" || event.purpose === "judgement";
  return [
    ...unless(isOnlyCall, "an agent has two calls at once"),
    ...unless(hasAllResults, "a call started before all tool results arrived"),
    ...unless(
      agent?.round?.purpose === event.purpose,
      `a ${event.purpose} call outside such a round`,
    ),
    ...unless(agent?.round?.hasVoted !== true, "an agent was called after it had voted"),
    ...unless(
      WITHOUT_TOOLS.has(event.purpose) || isListed(event, board),
      "an agent was called before its tool servers were listed",
    ),
    ...unless(isPresenting || agent?.out === null, "an agent that is out was called"),
    ...unless(
      !isPresenting || (agent?.out !== "failed" && board.settled !== null),
      "a presentation call of a failed agent, or before the end",
    ),
    ...unless(
      (agent?.round?.completedCalls ?? 0) < callsOf(board) ||
        event.limit?.calls_left === 0 ||
        event.compacts === true,
      `more than ${callsOf(board)} calls in a round`,
    ),
    ...unless(
      isPresenting || board.effects < effectsOf(board),
      `more than ${inWords(effectsOf(board))} effects in the turn`,
    ),
    ...unless(
      event.reserved.tokens >= event.max_output_tokens,
      "a call reserved less than it may write",
    ),
    ...unless(
      event.max_output_tokens > 0 &&
        event.max_output_tokens <= (agent?.rules.max_output_tokens ?? 0),
      "a call may write more than its model can",
    ),
  ];
}

/** Purposes of calls that use no tools of their agent. */
const WITHOUT_TOOLS: ReadonlySet<string> = new Set(["judgement", "personas", "summary"]);

const inWords = (count: number): string => count.toLocaleString("en");

const isListed = ({ agent }: EventOf<"call.started">, board: Board): boolean =>
  (agentOf(board, agent)?.rules.tool_servers ?? []).every((server) =>
    board.listings.some((listing) => listing.agent === agent && listing.server === server),
  );

/**
 * Each tool call of a reply gets exactly one result. It starts at most once, unless it may be
 * repeated.
 */
export const tools: Invariant = {
  id: "tools",
  watch: () => ({
    see: ({ event, board }) => {
      switch (event.type) {
        case "tool.started":
          return toolStarted(event, board);
        case "tool.completed":
          return [
            ...unless(
              statusOf(board, event) !== null,
              `${event.tool_call} got an unexpected result`,
            ),
            ...unless(
              event.outcome !== "ok" || statusOf(board, event) === "started",
              `${event.tool_call} succeeded without having run`,
            ),
            ...unless(
              event.outcome !== "planned" || mustPlan(board, event),
              `${event.tool_call} was only planned, but had to run`,
            ),
          ];
        case "tool.interrupted":
          return [
            ...unless(
              statusOf(board, event) === "started",
              `${event.tool_call} was interrupted without having run`,
            ),
            ...unless(
              ruleOf(board, event)?.idempotent === true,
              `${event.tool_call} is repeated although that is not safe`,
            ),
          ];
        case "tool.unknown":
          return unless(
            statusOf(board, event) === "started",
            `${event.tool_call} is unknown without having run`,
          );
        default:
          return [];
      }
    },
  }),
};

/** Maximum number of input requests of a tool call. */
const MAX_INPUTS = 3;
/** Maximum number of progress events of a tool call. */
const MAX_PROGRESS = 20;
/** Minimum time between two progress events of a tool call. */
const MIN_PAUSE_MS = 1_000;

/**
 * Only running tools report progress or require input. Number and rate of these events are limited
 * for each call, also across restarts.
 */
export const toolNotifications: Invariant = {
  id: "news",
  watch: () => {
    const inputs = new Map<string, number>();
    const progress = new Map<string, number[]>();
    const notRunning = (event: ToolEvent, board: Board) =>
      unless(
        statusOf(board, event) === "started",
        `${event.tool_call} sent a notification but is not running`,
      );
    return {
      see: ({ event, board }) => {
        if (event.type === "tool.input_required") {
          const times = (inputs.get(callOf(event)) ?? 0) + 1;
          inputs.set(callOf(event), times);
          return [
            ...notRunning(event, board),
            ...unless(times <= MAX_INPUTS, `${event.tool_call} requires input ${times} times`),
            ...unless(
              event.requests.length <= 5,
              `${event.tool_call} requires more than 5 inputs at once`,
            ),
          ];
        }
        if (event.type !== "tool.progressed") return [];
        const before = progress.get(callOf(event)) ?? [];
        progress.set(callOf(event), [...before, event.at]);
        const pause = event.at - (before.at(-1) ?? Number.NEGATIVE_INFINITY);
        return [
          ...notRunning(event, board),
          ...unless(
            before.length < MAX_PROGRESS,
            `${event.tool_call} reports progress ${before.length + 1} times`,
          ),
          ...unless(
            pause >= MIN_PAUSE_MS,
            `${event.tool_call} reports progress again after ${pause} ms`,
          ),
        ];
      },
    };
  },
};

type ToolEvent = EventOf<
  | "tool.started"
  | "tool.progressed"
  | "tool.input_required"
  | "tool.completed"
  | "tool.interrupted"
  | "tool.unknown"
>;

const callOf = ({ turn, attempt, agent, round, tool_call }: ToolEvent): string =>
  `${turn} ${attempt} ${agent} ${round} ${tool_call}`;

const statusOf = (board: Board, event: ToolEvent): "asked" | "started" | null =>
  board.openTools.find((tool) => isTool(tool, event))?.status ?? null;

const ruleOf = (board: Board, event: ToolEvent) => toolOf(board, event.agent, event.name);

/** Whether planning mode forbids that the tool runs now. */
function mustPlan(board: Board, event: ToolEvent): boolean {
  const isCoordinating = agentOf(board, event.agent)?.round?.purpose === "coordination";
  const rule = ruleOf(board, event);
  return (
    board.rules?.planning_mode === true &&
    isCoordinating &&
    rule?.acts_outside === true &&
    rule.runs_in_planning !== true
  );
}

function toolStarted(event: EventOf<"tool.started">, board: Board): string[] {
  const running = board.openTools.filter(
    (tool) => tool.agent === event.agent && tool.status === "started",
  ).length;
  const requested = board.openTools.filter(
    (tool) => tool.agent === event.agent && tool.round === event.round,
  ).length;
  return [
    ...unless(
      statusOf(board, event) === "asked",
      `${event.tool_call} was started but was not requested`,
    ),
    ...unless(ruleOf(board, event) !== undefined, `${event.name} is not a tool of ${event.agent}`),
    ...unless(
      !mustPlan(board, event),
      `${event.name} acts outside and ran while the team only plans`,
    ),
    ...unless(
      running < 8 && requested <= 64,
      "more than 8 tools at once, or more than 64 of one reply",
    ),
    ...unless(
      board.effects < effectsOf(board) || board.settled !== null,
      `more than ${inWords(effectsOf(board))} effects in the turn`,
    ),
  ];
}

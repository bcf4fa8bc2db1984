import { usdOf } from "./price";
import type { EventOf } from "../src/protocol/events";
import type { HostedToolRule } from "../src/protocol/team";
import { agentOf, type Board } from "./board";
import { type Invariant, type NumberedEvent, unless } from "./types";

/** Uses of hosted tools are reduced before the reply is limited to fewer tokens than this. */
const USEFUL_OUTPUT_TOKENS = 1_024;

/**
 * A call gets only hosted tools that the agent's rules allow, and reserves their tokens and their
 * price. Their uses are logged together with the end of the call.
 */
export const hostedTools: Invariant = {
  id: "hosted",
  watch: () => ({
    see: ({ event, board, next }) => {
      switch (event.type) {
        case "call.started":
          return event.hosted_tools ? grantViolations(event, event.hosted_tools, board) : [];
        case "hosted_tool.completed":
          return [
            ...openCallViolations(event, board),
            ...unless(reportsUse(event, next) || isEnd(event, next), NOT_WITH_ITS_CALL),
          ];
        case "citations.added":
          return [
            ...openCallViolations(event, board),
            ...unless(isEnd(event, next), NOT_WITH_ITS_CALL),
            ...unless(
              event.citations.length > 0 && event.citations.length <= 100,
              `${event.citations.length} sources`,
            ),
          ];
        default:
          return [];
      }
    },
  }),
};

const NOT_WITH_ITS_CALL = "the results of a hosted tool are not logged with the end of its call";

type Grants = NonNullable<EventOf<"call.started">["hosted_tools"]>;
type LoggedUse = EventOf<"hosted_tool.completed" | "citations.added">;

function grantViolations(event: EventOf<"call.started">, grants: Grants, board: Board): string[] {
  const rules = agentOf(board, event.agent)?.rules;
  const ruleOf = (name: string): HostedToolRule | undefined =>
    rules?.hosted_tools?.find((tool) => tool.name === name);
  const areAllowed = grants.every(
    ({ name, max_uses }) => max_uses >= 1 && max_uses <= (ruleOf(name)?.max_uses ?? 0),
  );
  const isCapped = board.turn?.budget.max_cost_usd !== undefined;
  const usefulOutput = Math.min(USEFUL_OUTPUT_TOKENS, rules?.max_output_tokens ?? 0);
  const resultTokens = grants.reduce(
    (sum, { name, max_uses }) => sum + max_uses * (ruleOf(name)?.tokens_per_use ?? 0),
    0,
  );
  const price = grants.reduce(
    (sum, { name, max_uses }) => sum + max_uses * (ruleOf(name)?.usd_per_use ?? 0),
    0,
  );
  return [
    ...unless(grants.length > 0, "granted an empty list of hosted tools"),
    ...unless(
      areAllowed && new Set(grants.map(({ name }) => name)).size === grants.length,
      "granted more than the agent may use",
    ),
    ...unless(PURPOSES.includes(event.purpose), `granted hosted tools for ${event.purpose}`),
    ...unless(
      !isCapped || grants.every(({ name }) => ruleOf(name)?.usd_per_use !== null),
      "granted a hosted tool without a known price under a cost cap",
    ),
    ...unless(
      event.max_output_tokens >= usefulOutput,
      "shortened the reply before reducing the uses of hosted tools",
    ),
    ...unless(
      event.reserved.tokens >= event.max_output_tokens + resultTokens,
      "reserved no tokens for the results of hosted tools",
    ),
    ...unless(usdOf(event.reserved) >= price, "reserved less than its hosted tools cost"),
  ];
}

/** The purposes of calls that may have hosted tools. */
const PURPOSES: readonly string[] = ["coordination", "presentation"];

const openCallViolations = (event: LoggedUse, board: Board): string[] =>
  unless(
    board.openCalls.get(event.call)?.agent === event.agent,
    `${event.type} of a call that is not in flight`,
  );

const reportsUse = (event: LoggedUse, next: NumberedEvent | undefined): boolean =>
  (next?.type === "hosted_tool.completed" || next?.type === "citations.added") &&
  next.call === event.call;

const isEnd = (event: LoggedUse, next: NumberedEvent | undefined): boolean =>
  next?.type === "call.completed" && next.call === event.call;

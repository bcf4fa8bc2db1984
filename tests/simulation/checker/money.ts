import type { EventOf } from "../../../src/protocol/events";
import type { Board } from "./board";
import { priceOf } from "./price";
import { type Invariant, type LedgerEntry, unless } from "./types";

const EPSILON = 1e-9;
type Amount = { tokens: number; usd: number };

/** I11: at every moment, what was settled and what is reserved stay within the turn's cap. */
export const caps: Invariant = {
  id: "I11",
  watch: () => {
    let spent: Amount = { tokens: 0, usd: 0 };
    return {
      see: ({ event, board }) => {
        if (event.type === "turn.started") spent = { tokens: 0, usd: 0 };
        if (event.type === "call.started")
          return [
            ...within(board, plus(spent, { tokens: event.reserved.tokens, usd: event.reserved.cost_usd })),
            ...priced(event, board),
          ];
        if (event.type === "call.completed" || event.type === "call.failed") {
          spent = plus(spent, chargeOf(event));
          return charged(event, board);
        }
        return [];
      },
    };
  },
};

const plus = (a: Amount, b: Amount): Amount => ({ tokens: a.tokens + b.tokens, usd: a.usd + b.usd });

const chargeOf = (event: EventOf<"call.completed" | "call.failed">): Amount =>
  event.type === "call.failed"
    ? { tokens: event.tokens, usd: event.cost_usd }
    : { tokens: event.usage.input_tokens + event.usage.output_tokens, usd: event.cost_usd };

function within(board: Board, soFar: Amount): string[] {
  let total = soFar;
  for (const { reserved } of board.openCalls.values()) total = plus(total, { tokens: reserved.tokens, usd: reserved.cost_usd });
  const { max_tokens = Number.POSITIVE_INFINITY, max_cost_usd = Number.POSITIVE_INFINITY } = board.turn?.budget ?? {};
  return [
    ...unless(total.tokens <= max_tokens, `${total.tokens} tokens are spent or reserved, the cap is ${max_tokens}`),
    ...unless(total.usd <= max_cost_usd + EPSILON, `$${total.usd} is spent or reserved, the cap is $${max_cost_usd}`),
  ];
}

const rulesOf = (board: Board, agent: string) => board.rules?.agents.find(({ id }) => id === agent);

/** No cap in money can bind a call whose price nobody knows. */
function priced({ agent, call }: EventOf<"call.started">, board: Board): string[] {
  const price = rulesOf(board, agent)?.price ?? null;
  const capped = board.turn?.budget.max_cost_usd !== undefined;
  return unless(price !== null || !capped, `${call} has no known price, and the turn a cap in money`);
}

/** A charge is what the usage costs, and never more than was reserved. */
function charged(event: EventOf<"call.completed" | "call.failed">, board: Board): string[] {
  const started = board.openCalls.get(event.call);
  if (!started) return [];
  const charge = chargeOf(event);
  const cost = event.usage ? priceOf(rulesOf(board, event.agent), event.usage) : null;
  const whole =
    event.type === "call.completed" && charge.usd === started.reserved.cost_usd && charge.tokens === started.reserved.tokens;
  return [
    ...unless(
      charge.tokens <= started.reserved.tokens,
      `${event.call} is charged ${charge.tokens} tokens, more than it reserved`,
    ),
    ...unless(
      charge.usd <= started.reserved.cost_usd + EPSILON,
      `${event.call} is charged $${charge.usd}, more than it reserved`,
    ),
    ...unless(
      cost === null || whole || Math.abs(cost - charge.usd) < EPSILON,
      `${event.call} is charged $${charge.usd}, its usage costs $${cost}`,
    ),
  ];
}

/** I11: what the provider itself charged stays within the cap, and no call costs more than the log says. */
export const ledger: Invariant = {
  id: "I11-ledger",
  watch: ({ ledger: entries = [] }) => {
    const logged = new Map<string, Amount>();
    return {
      see: ({ event, board }) => {
        if (event.type === "call.completed" || event.type === "call.failed") logged.set(event.call, chargeOf(event));
        if (event.type !== "turn.completed" && event.type !== "turn.failed" && event.type !== "turn.cancelled") return [];
        return audit(
          entries.filter(({ turn }) => turn === event.turn),
          { board, logged },
        );
      },
    };
  },
};

function audit(
  entries: readonly LedgerEntry[],
  { board, logged }: { board: Board; logged: ReadonlyMap<string, Amount> },
): string[] {
  const total = entries.reduce<Amount>(plus, { tokens: 0, usd: 0 });
  const { max_tokens = Number.POSITIVE_INFINITY, max_cost_usd = Number.POSITIVE_INFINITY } = board.turn?.budget ?? {};
  return [
    ...unless(total.tokens <= max_tokens && total.usd <= max_cost_usd + EPSILON, "the provider charged more than the cap"),
    ...entries.flatMap(({ call, usd, tokens }) => {
      const charge = logged.get(call);
      if (!charge) return [`the provider charged ${call}, which the log does not know`];
      return unless(
        usd <= charge.usd + EPSILON && tokens <= charge.tokens,
        `${call} was charged $${usd}, the log says $${charge.usd}`,
      );
    }),
  ];
}

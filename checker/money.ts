import type { EventOf } from "../src/protocol/events";
import type { Board } from "./board";
import { type Amount, chargeOf, hasUnknownPart, NOTHING, plus, priceOf, usdOf } from "./price";
import { type Invariant, type LedgerEntry, unless } from "./types";

/** Tolerance for sums of dollars. */
const EPSILON = 1e-9;

/** I11: charges and reservations together are within the turn's cap at every moment. */
export const budgetCaps: Invariant = {
  id: "I11",
  watch: () => ({
    see: ({ event, board }) => {
      switch (event.type) {
        case "call.started": {
          const reserved = { tokens: event.reserved.tokens, usd: usdOf(event.reserved) };
          return [
            ...capViolations(board, plus(board.spent, reserved)),
            ...priceViolations(event, board),
          ];
        }
        case "call.completed":
        case "call.failed":
          return chargeViolations(event, board);
        default:
          return [];
      }
    },
  }),
};

/** Violations of the cap. `committed`: charges, and the reservation of the new call. */
function capViolations(board: Board, committed: Amount): string[] {
  let total = committed;
  for (const { reserved } of board.openCalls.values())
    total = plus(total, { tokens: reserved.tokens, usd: usdOf(reserved) });
  const { max_tokens = Number.POSITIVE_INFINITY, max_cost_usd = Number.POSITIVE_INFINITY } =
    board.turn?.budget ?? {};
  return [
    ...unless(
      total.tokens <= max_tokens,
      `${total.tokens} tokens are spent or reserved, the cap is ${max_tokens}`,
    ),
    ...unless(
      total.usd <= max_cost_usd + EPSILON,
      `$${total.usd} is spent or reserved, the cap is $${max_cost_usd}`,
    ),
  ];
}

const rulesOf = (board: Board, agent: string) => board.rules?.agents.find(({ id }) => id === agent);

/** A turn with a cost cap makes no calls without a known price. */
function priceViolations({ agent, call }: EventOf<"call.started">, board: Board): string[] {
  const price = rulesOf(board, agent)?.price ?? null;
  const isCapped = board.turn?.budget.max_cost_usd !== undefined;
  return unless(
    price !== null || !isCapped,
    `${call} has no known price, but the turn has a cost cap`,
  );
}

/** A charge is the price of the usage, and at most the reservation. */
function chargeViolations(
  event: EventOf<"call.completed" | "call.failed">,
  board: Board,
): string[] {
  const started = board.openCalls.get(event.call);
  if (!started) return [];
  const charge = chargeOf(event);
  const cost = event.usage ? priceOf(rulesOf(board, event.agent), event.usage) : null;
  const isWholeReservation =
    event.type === "call.completed" &&
    charge.usd === usdOf(started.reserved) &&
    charge.tokens === started.reserved.tokens;
  return [
    ...unless(
      (event.cost_usd === null) === hasUnknownCost(event, board, charge.tokens),
      `${event.call} costs ${event.cost_usd}, although its price ${event.cost_usd === null ? "is" : "is not"} known`,
    ),
    ...unless(
      charge.tokens <= started.reserved.tokens,
      `${event.call} is charged ${charge.tokens} tokens, more than it reserved`,
    ),
    ...unless(
      charge.usd <= usdOf(started.reserved) + EPSILON,
      `${event.call} is charged $${charge.usd}, more than it reserved`,
    ),
    ...unless(
      cost === null || isWholeReservation || Math.abs(cost - charge.usd) < EPSILON,
      `${event.call} is charged $${charge.usd}, its usage costs $${cost}`,
    ),
  ];
}

/**
 * Whether a part of the call's cost is unknown. If the usage is not reported, all granted uses of
 * hosted tools may have happened.
 */
function hasUnknownCost(
  event: EventOf<"call.completed" | "call.failed">,
  board: Board,
  tokens: number,
): boolean {
  const granted = board.openCalls.get(event.call)?.hosted_tools ?? [];
  const isReported = event.usage !== null && !("unreported" in event && event.unreported);
  const uses = isReported
    ? event.usage?.hosted_uses
    : Object.fromEntries(granted.map(({ name, max_uses }) => [name, max_uses]));
  return hasUnknownPart(rulesOf(board, event.agent), tokens, uses);
}

/**
 * I11: the charges in the providers' own records are within the cap. All requests of a call
 * together cost at most the logged charge. Every charge belongs to a logged call.
 */
export const providerLedger: Invariant = {
  id: "I11-ledger",
  watch: ({ ledger: entries = [] }) => {
    const logged = new Map<string, Amount>();
    const checkedTurns = new Set<number>();
    return {
      see: ({ event, board }) => {
        if (event.type === "call.completed" || event.type === "call.failed")
          logged.set(event.call, chargeOf(event));
        if (
          event.type !== "turn.completed" &&
          event.type !== "turn.failed" &&
          event.type !== "turn.cancelled"
        )
          return [];
        checkedTurns.add(event.turn);
        const ofTurn = entries.filter(({ turn }) => turn === event.turn);
        return [...ledgerCapViolations(ofTurn, board), ...ledgerCallViolations(ofTurn, logged)];
      },
      finish: (board) =>
        ledgerCallViolations(
          entries.filter(({ turn, call }) => !checkedTurns.has(turn) && !board.openCalls.has(call)),
          logged,
        ),
    };
  },
};

function ledgerCapViolations(entries: readonly LedgerEntry[], { turn }: Board): string[] {
  const total = entries.reduce<Amount>(plus, NOTHING);
  const { max_tokens = Number.POSITIVE_INFINITY, max_cost_usd = Number.POSITIVE_INFINITY } =
    turn?.budget ?? {};
  return unless(
    total.tokens <= max_tokens && total.usd <= max_cost_usd + EPSILON,
    `providers charged ${total.tokens} tokens and $${total.usd}, more than the cap`,
  );
}

function ledgerCallViolations(
  entries: readonly LedgerEntry[],
  logged: ReadonlyMap<string, Amount>,
): string[] {
  return [...Map.groupBy(entries, ({ call }) => call)].flatMap(([call, all]) => {
    const { tokens, usd } = all.reduce<Amount>(plus, NOTHING);
    const charge = logged.get(call);
    if (!charge) return [`a provider charged ${call}, which is not in the log`];
    return unless(
      usd <= charge.usd + EPSILON && tokens <= charge.tokens,
      `${call} was charged $${usd} for ${tokens} tokens in ${all.length} requests, the log says $${charge.usd} for ${charge.tokens}`,
    );
  });
}

import { sizesOf } from "../../../src/agents/history";
import { headOf, planCompact, priceRefusal } from "../../../src/coordination";
import type { Env } from "../../../src/env";
import type { Session } from "../load-session";
import { busyRefusal } from "../queue/turn-requests";
import type { StartCompact, StartedTurn, StartRefusal } from "../session-api";
import { TenantLink } from "./tenant-link";
import { knownWindows } from "./turn-length";

type Options = {
  env: Env;
  isErased: () => boolean;
  /** Records the number of the started turn for repeated requests. */
  noteStart: (turn: number) => void;
};

/**
 * Starts a turn that only summarises the conversation until the head, with the team of the head. A
 * busy session refuses it.
 */
export async function startCompact(
  session: Session,
  turn: StartCompact,
  { env, isErased, noteStart }: Options,
): Promise<StartedTurn | StartRefusal> {
  const { coordinator, facts, queries, teams, tenant, workspaces } = session;
  const busy = busyRefusal(session);
  if (busy) return busy;
  const parent = headOf(coordinator.state);
  const base = teams.base(parent);
  const { team } = base;
  const unpriced = priceRefusal(team.rules, turn.budget);
  if (unpriced) return unpriced;
  const entries = queries.history(parent);
  const windows = knownWindows(session);
  const history = { ...sizesOf(entries), requestBytes: [], attachedTokens: 0, windows };
  if (!planCompact(team.rules.agents, history)) return { ok: false, code: "nothing_to_summarise" };
  const number = coordinator.state.turns + 1;
  const link = new TenantLink(env, tenant, facts.sessionId);
  const granted = await link.ask(number, {
    ...{ turn: { ...turn, question: "" }, team, attached: null, history: () => entries },
  });
  if (!granted.ok) return granted;
  if (isErased()) {
    await link.release(number);
    return { ok: false, code: "session_not_found" };
  }
  // A refused turn of the queue has the number. Its end releases the place.
  if (coordinator.state.turns >= number) return { ok: false, code: "turn_running", turn: number };
  const costCap = granted.maxCostUsd === null ? {} : { max_cost_usd: granted.maxCostUsd };
  try {
    // No `await` until the turn is stored, so the platform stores all writes or none.
    teams.begin(number, { base, overridden: null });
    // It uses no context, so it has those of the head.
    workspaces.contextStates.begin(number, {
      states: [],
      carried: parent === null ? new Map() : workspaces.contextStates.usedUntil(parent),
    });
    coordinator.handle({
      ...{ type: "turn_requested", kind: "compact", question: "", history, parentTurn: parent },
      rules: base.id === null ? null : team.rules,
      ...{ budget: { ...turn.budget, ...costCap }, timeoutMs: turn.timeoutMs },
    });
    noteStart(number);
  } catch (error) {
    await link.release(number);
    throw error;
  }
  return { ok: true, turn: number };
}

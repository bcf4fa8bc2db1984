import { cancelEffects } from "../call/calls";
import type { Draft } from "../draft";
import { workLeft } from "../budget/budget";
import type { Reply } from "../inputs";
import { isUnaffordable } from "../owed";
import { isCut } from "../decision/stop-reason";
import { personasEnd } from "../turn/timers";

/**
 * The persona generator: one call to the first agent's model writes a persona for each agent. If
 * the call fails, the team works without personas.
 */

/**
 * Starts or skips the persona generator. Returns whether the attempt must wait for the personas.
 */
export function awaitPersonas(draft: Draft): boolean {
  if (!draft.turn.rules.personas || draft.attempt.personas !== null) return false;
  const agent = draft.agent(0);
  const cannotStart = workLeft(draft.turn) <= 0 && !agent.round?.call.inFlight;
  if (agent.round === null && !cannotStart) {
    const place = { ...draft.agentFields(0), round: agent.rounds + 1 };
    draft.add({
      type: "round.started",
      ...place,
      purpose: "personas",
      labels: [],
      cause: "first",
      workspace: null,
    });
    return true;
  }
  if (!cannotStart && draft.at < personasEnd(draft.turn) && !isUnaffordable(draft.turn, agent))
    return true;
  cancelEffects(draft, agent.index, "personas_timeout");
  skipPersonas(draft);
  return false;
}

export function personasReplied(draft: Draft, { stopReason, personas }: Reply): void {
  if (isCut(stopReason)) return skipPersonas(draft);
  const byAgent = draft.turn.aliases.flatMap((alias, index) => {
    const text = personas?.[alias]?.trim();
    return text ? [[draft.agent(index).id, text] as const] : [];
  });
  draft.add({
    type: "personas.assigned",
    ...draft.attemptFields(),
    personas: Object.fromEntries(byAgent),
  });
}

export function skipPersonas(draft: Draft): void {
  draft.add({ type: "personas.assigned", ...draft.attemptFields(), personas: {} });
}

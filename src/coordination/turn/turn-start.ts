import { LOG_VERSION } from "../../protocol/events";
import type { Draft } from "../draft";
import type { InputBody } from "../inputs";
import { shuffle } from "../random";

type TurnRequested = Extract<InputBody, { type: "turn_requested" }>;

/**
 * Starts a turn unless one runs: records the team in the first turn, draws aliases and sets the
 * deadline.
 */
export function startTurn(draft: Draft, input: TurnRequested): void {
  if (draft.running) return;
  const known = draft.state.rules;
  const rules = known ?? input.rules;
  if (!rules) throw new Error("the first turn of a session brings its team");
  if (!known) draft.add({ type: "session.created", at: draft.at, turn: 0, rules });
  const numbers = shuffle(
    rules.agents.map((_, index) => index + 1),
    draft.random,
  );
  draft.add({
    type: "turn.started",
    at: draft.at,
    turn: draft.state.turns + 1,
    question: input.question,
    ...(input.attached && {
      attachments: [...input.attached.attachments],
      attachment_tokens: input.attached.tokens,
    }),
    parent_turn: input.parentTurn,
    aliases: Object.fromEntries(
      rules.agents.map(({ id }, index) => [id, `agent${numbers[index]}`]),
    ),
    budget: input.budget,
    deadline_at: draft.at + (input.timeoutMs ?? rules.orchestrator_timeout_ms),
    ...(input.contexts?.length ? { contexts: [...input.contexts] } : {}),
    log_version: LOG_VERSION,
  });
  draft.add({
    type: "attempt.started",
    at: draft.at,
    turn: draft.turn.number,
    attempt: 1,
    feedback: null,
  });
}

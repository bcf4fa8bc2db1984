import { acceptAttachments } from "../../../src/agents/attached";
import { mayStart, parentOfNext, runningTurn } from "../../../src/coordination";
import type { AttachmentStore } from "./attachments";
import type { SessionParts } from "../compose";
import { startOfTurn } from "../log/session-log";
import type { TurnTeams } from "../turn-teams";
import { isParent } from "./parents";
import { unreadHistory } from "./turn-length";
import { baseOf, teamOfTurn } from "./turn-team";
import { refusalText } from "../queue/refusal-texts";
import type { StartRefusal, StartTurn } from "../session-api";

/**
 * Starts the turn of a queued request that is refused, and fails it with the code of the refusal.
 * It reserves nothing and makes no call. Its attachments are stored, so that the question can be
 * asked again. Does nothing if the request may no longer start.
 */
export async function failQueuedTurn(
  session: SessionParts & { teams: TurnTeams },
  turn: StartTurn & { queueId: string },
  refusal: StartRefusal,
  attachments: Pick<AttachmentStore, "put">,
): Promise<void> {
  const { coordinator, teams, log, queries, queueStore, workspaces } = session;
  const { state } = coordinator;
  const parent = parentOfNext(
    state,
    isParent(session, turn.parentTurn) ? turn.parentTurn : undefined,
  );
  const base = baseOf(teams, turn, parent);
  // Overrides that do not fit the team are left out of the failed turn.
  const chosen = await teamOfTurn(base, turn.overrides);
  const wanted = turn.attachments ?? [];
  const accepted = acceptAttachments(base.team, wanted, () => queries.attachments());
  if (accepted.ok) await attachments.put(wanted);
  if (runningTurn(state) || !mayStart(queueStore.queue(), turn.queueId)) return;
  const { question, budget, timeoutMs, queueId } = turn;
  const team = chosen.ok ? chosen : { base, overridden: null, overriddenAgents: [] };
  const start = parent === null ? null : startOfTurn(log, parent);
  // No `await` until the turn is stored, so the platform stores all writes or none.
  workspaces.contextStates.begin(state.turns + 1, {
    states: [],
    carried: parent === null ? new Map() : workspaces.contextStates.usedUntil(parent),
  });
  teams.begin(state.turns + 1, team);
  coordinator.handle({
    ...{ type: "turn_requested", question, budget, timeoutMs, queueId },
    rules: base.id === null ? null : base.team.rules,
    ...(team.overridden && {
      ...(turn.overrides && { overrides: turn.overrides }),
      overriddenAgents: team.overriddenAgents,
    }),
    attached: accepted.ok ? accepted.attached : null,
    parentTurn: parent,
    history: unreadHistory(session),
    // Its own grants were not given, so that the turns after it do not inherit them.
    grants: [...(start?.grants ?? [])],
    refused: { code: refusal.code, message: refusalText(refusal) },
  });
}

import { attachmentTokens, findAttachments } from "../../../src/agents/attached";
import type { Team } from "../../../src/config/team";
import {
  mayStart,
  parentOfNext,
  type QuestionAttachments,
  runningTurn,
} from "../../../src/coordination";
import type { EventOf } from "../../../src/protocol/events";
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
 * It reserves nothing and makes no call. All that the request named is stored, so that the
 * question can be asked again. Does nothing if the request may no longer start.
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
  const chosen = await teamOfTurn(base, turn.overrides);
  const wanted = turn.attachments ?? [];
  const attached = attachedTo(base.team, wanted, () => queries.attachments());
  if (attached) await attachments.put(wanted);
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
    attached,
    parentTurn: parent,
    history: unreadHistory(session),
    // Its own grants were not given, so that the turns after it do not inherit them.
    grants: [...(start?.grants ?? [])],
    refused: { code: refusal.code, message: refusalText(refusal) },
    ...requestedBeside(turn, chosen.ok),
  });
}

/**
 * The attachments of the question, also those that a model of the team does not support. `null` if
 * there are none.
 */
function attachedTo(
  team: Team,
  ...[wanted, earlier]: Parameters<typeof findAttachments>
): QuestionAttachments | null {
  const found = findAttachments(wanted, earlier);
  if (!found.ok || found.attachments.length === 0) return null;
  return { attachments: found.attachments, tokens: attachmentTokens(team, found.attachments) };
}

/** What the request named and the failed turn does not have. `fits`: whether its overrides fit. */
function requestedBeside(
  { grants, overrides }: StartTurn,
  fits: boolean,
): { requested?: EventOf<"turn.started">["requested"] } {
  const requested = {
    ...(grants && { contexts: [...grants] }),
    ...(overrides && !fits && { overrides }),
  };
  return Object.keys(requested).length > 0 ? { requested } : {};
}

import type { EventOf } from "../../protocol/events";
import { LOG_VERSION } from "../../protocol/events";
import { NO_USAGE } from "../../protocol/usage";
import { firstAttempt } from "../attempt/evolve-attempt";
import { withAudioPricing } from "../budget/audio-pricing";
import { byteLength } from "../byte-length";
import { startedHistory } from "../history/evolve-history";
import type { SessionState, TurnState } from "../state";
import type { TeamRules } from "../../protocol/team";
import { rulesOfTurn } from "../../protocol/turn-team";
import { coordinationEnd } from "./timers";

/** The team's rules, with the workspaces that the turn's request has granted. */
function withWorkspaces(
  team: TeamRules,
  { granted_workspaces: granted }: EventOf<"turn.started">,
): TeamRules {
  if (!granted) return team;
  const agents = team.agents.map((agent) => {
    const tools = granted.find((one) => one.agent === agent.id)?.tools;
    return tools ? { ...agent, workspace: true, tools } : agent;
  });
  return { ...team, agents };
}

/** The state at the start of a turn. Throws if a newer version of the service wrote the log. */
export function startedTurn(
  { rules: team }: SessionState,
  event: EventOf<"turn.started">,
): TurnState {
  if (!team) throw new Error("a turn without a team");
  const granted = withWorkspaces(rulesOfTurn(team, event), event);
  const rules = withAudioPricing(granted, event.attachments ?? []);
  const version = event.log_version ?? 1;
  if (version > LOG_VERSION) throw new Error(`log version ${version} is newer than ${LOG_VERSION}`);
  const history = startedHistory(
    rules.agents.map(({ id }) => id),
    event,
  );
  return {
    number: event.turn,
    rules,
    question: event.question,
    questionBytes: byteLength(event.question),
    ...(event.attachments && {
      attached: { attachments: event.attachments, tokens: event.attachment_tokens ?? 0 },
    }),
    startedAt: event.at,
    deadlineAt: event.deadline_at,
    coordinationEndsAt: coordinationEnd(event.at, event.deadline_at),
    aliases: rules.agents.map(({ id }) => event.aliases[id] ?? ""),
    ...(event.contexts && { contexts: event.contexts }),
    ...(event.kind && { kind: event.kind }),
    ...(history && { history }),
    budget: event.budget,
    spentTokens: 0,
    spentUsd: 0,
    usage: NO_USAGE,
    effects: 0,
    inFlight: {},
    attempt: firstAttempt(rules, event.at),
    rejected: null,
    done: false,
  };
}

import { type AgentState, agentAt, type CallState, type RoundState, type TurnState } from "./state";

/** Functions that return a changed copy of a turn or agent. Nothing is changed in place. */

export function updateAgent(
  turn: TurnState,
  index: number,
  change: (agent: AgentState) => AgentState,
): TurnState {
  const agents = turn.attempt.agents.with(index, change(agentAt(turn.attempt, index)));
  return { ...turn, attempt: { ...turn.attempt, agents } };
}

/** Changes the agent's open round; changes nothing if no round is open. */
export function updateRound(
  turn: TurnState,
  index: number,
  change: (round: RoundState) => RoundState,
): TurnState {
  return updateAgent(turn, index, (agent) => withRound(agent, change));
}

/** Changes the next or running call of the agent's open round. */
export function updateCall(
  turn: TurnState,
  index: number,
  change: (call: CallState) => CallState,
): TurnState {
  return updateRound(turn, index, (round) => ({ ...round, call: change(round.call) }));
}

/** The agent with its open round changed; the same agent if no round is open. */
export function withRound(
  agent: AgentState,
  change: (round: RoundState) => RoundState,
): AgentState {
  return agent.round ? { ...agent, round: change(agent.round) } : agent;
}

/** The turn without this effect among its effects in flight. */
export function removeInFlight(turn: TurnState, id: string): TurnState {
  const { [id]: _removed, ...inFlight } = turn.inFlight;
  return { ...turn, inFlight };
}

import type { Team, TeamAgent } from "../config/team";
import {
  agentAt,
  type AgentState,
  type Answer,
  answerAt,
  candidates,
  type TurnState,
} from "../coordination";
import { answerFilesNote, type ShownAnswer } from "../prompts/newer-answers";
import { coordinationSystem } from "../prompts/coordination-system";
import { roundMessage } from "../prompts/coordination-user";
import type { EarlierFiles } from "../prompts/earlier-files";
import type { FilesPrompt } from "../prompts/files";
import { type Identity, personaFor, personasMessage, personasSystem } from "../prompts/personas";
import {
  type CountedVote,
  judgementMessage,
  judgementSystem,
  type PlannedCalls,
  presentationMessage,
  presentationSystem,
} from "../prompts/presentation";
import { quote } from "../prompts/quote";
import type { EarlierTurn, Feedback } from "../prompts/task";
import type { EventOf } from "../protocol/events";
import { type CommandPlace, commandsActOutside, hasCommands, placeUnder } from "../tools/shell";
import { contextsOf, pathsAsShown, rejectedResult } from "../workspace/mounts";
import { entriesOf } from "../workspace/permissions";
import { protectedPathsOf } from "../workspace/protected-paths";

/**
 * Builds the start of a round's conversation from the state at the round's start. Models see the
 * aliases of agents, never their ids or answer labels.
 */

export type Start = { system: string; user: string };

export type StartContext = {
  turn: TurnState;
  /** Index of the round's agent. */
  agent: number;
  nonce: string;
  team: Team;
  history: readonly EarlierTurn[];
  /** The calls that this agent planned in the attempt. */
  planned: PlannedCalls;
  /** Where the deployment runs agents' commands. */
  commandPlace: CommandPlace;
};

export function startOfRound(
  context: StartContext,
  { purpose, labels, carries }: EventOf<"round.started">,
): Start {
  switch (purpose) {
    case "coordination":
      return startOfCoordination(context, labels, carries !== undefined);
    case "presentation":
      return startOfPresentation(context, labels[0] ?? null);
    case "judgement":
      return startOfJudgement(context);
    case "personas":
      return startOfPersonas(context);
  }
}

/** `keepsFiles` is true if the workspace contains files of an earlier round that failed. */
function startOfCoordination(
  context: StartContext,
  labels: readonly string[],
  keepsFiles: boolean,
): Start {
  const { turn, team } = context;
  return {
    system: coordinationSystem({
      ...identityOf(context),
      votingSensitivity: teamAgent(context).votingSensitivity,
      planning: turn.rules.planning_mode ? { instruction: team.planningInstruction } : null,
      files: filesOf(context, "later"),
    }),
    user: roundMessage({
      ...taskOf(context),
      earlierFiles: earlierFilesOf(context, true),
      answers: shownAnswers(turn, labels),
      filesNote: filesNoteOf(context),
      keepsFiles,
    }),
  };
}

/** A note about the files of the agent's newest answer; `null` if there is nothing to note. */
function filesNoteOf({ turn, agent }: StartContext): string | null {
  const newest = turn.attempt.answers.findLast((answer) => answer.agent === agent);
  return newest ? answerFilesNote(newest) : null;
}

/** `label` is the winning answer; `null` if there was no coordination. */
export function startOfPresentation(context: StartContext, label: string | null): Start {
  const { turn, agent } = context;
  const own = turn.attempt.answers.find((answer) => answer.label === label);
  const others = candidates(turn.attempt).filter((answer) => answer.agent !== agent);
  return {
    system: presentationSystem({
      ...identityOf(context),
      afterCoordination: own !== undefined,
      files: filesOf(context, "write"),
    }),
    user: presentationMessage({
      ...taskOf(context),
      earlierFiles: earlierFilesOf(context, own === undefined),
      own: own ? { ...toShown(turn, own), cut: own.origin === "partial" } : null,
      others: own ? others.map((answer) => toShown(turn, answer)) : [],
      votes: countedVotes(turn),
      planned: context.planned,
    }),
  };
}

function startOfJudgement(context: StartContext): Start {
  const { final } = context.turn.attempt;
  return {
    system: judgementSystem(identityOf(context)),
    user: judgementMessage({
      ...withoutFiles(taskOf(context)),
      finalText: final?.content ?? "",
      executedTools: final?.tools ?? [],
    }),
  };
}

function startOfPersonas({ turn, team, nonce, history }: StartContext): Start {
  const roles = team.agents.map((agent, index) => ({
    alias: aliasOf(turn, index),
    role: agent.systemMessage,
  }));
  return {
    system: personasSystem({
      diversityMode: team.personas?.diversityMode ?? "perspective",
      guidelines: team.personas?.guidelines ?? null,
    }),
    user: personasMessage({
      nonce,
      history,
      question: turn.question,
      team: roles.toSorted(byAlias),
    }),
  };
}

const byAlias = (a: { alias: string }, b: { alias: string }): number =>
  a.alias.localeCompare(b.alias, "en", { numeric: true });

/** The answers with these labels, in order, as agents see them. */
export function shownAnswers(turn: TurnState, labels: readonly string[]): ShownAnswer[] {
  return labels.flatMap((label) => {
    const answer = turn.attempt.answers.find((candidate) => candidate.label === label);
    return answer ? [toShown(turn, answer)] : [];
  });
}

/**
 * The answer for other agents. Paths in it are rewritten to the paths at which they see the files.
 */
function toShown(turn: TurnState, { agent, content, snapshot }: Answer): ShownAnswer {
  const alias = aliasOf(turn, agent);
  return { alias, content: snapshot === null ? content : pathsAsShown(content, `/peers/${alias}`) };
}

/**
 * The agent's file instructions; `null` if it has no workspace. `granted` is the agent's access to
 * writable context directories in this round.
 */
function filesOf(context: StartContext, granted: "later" | "write"): FilesPrompt | null {
  const { turn, agent } = context;
  const rules = turn.rules.agents[agent];
  if (!rules?.workspace) return null;
  const settings = teamAgent(context).workspace;
  const contexts = contextsOf(turn, agent).map(({ name, permission }) => ({
    name,
    access: permission === "write" ? granted : permission,
    protectedPaths: entriesOf(protectedPathsOf(context.team, agent, name)),
  }));
  return {
    ...(settings?.tasks !== undefined && { tasks: true }),
    shell: hasCommands(rules.tools),
    actsOutside: commandsActOutside(rules.tools),
    contexts,
  };
}

/** What the agent reads about the files of earlier turns; `null` if it has no workspace. */
function earlierFilesOf(
  { turn, agent, commandPlace }: StartContext,
  beginsWithResult: boolean,
): EarlierFiles | null {
  const rules = turn.rules.agents[agent];
  if (!rules?.workspace) return null;
  return {
    beginsWithResult,
    contexts: contextsOf(turn, agent).length > 0,
    container: hasCommands(rules.tools) && placeUnder(rules.tools, commandPlace) !== "service",
  };
}

function identityOf(context: StartContext): Identity {
  const { turn, team, agent, nonce } = context;
  const text = turn.attempt.personas?.[agent] ?? null;
  const hasAnswered = agentAt(turn.attempt, agent).answers > 0;
  // Another agent wrote the persona, so it is quoted like any text from outside.
  const persona = personaFor(
    text === null ? null : quote(nonce, text),
    team.personas?.afterFirstAnswer ?? "drop",
    hasAnswered,
  );
  return { systemMessage: teamAgent(context).systemMessage, persona };
}

/** The task for a call without tools: such a call cannot read files. */
const withoutFiles = (task: Task): Task => ({
  ...task,
  feedback: task.feedback && { ...task.feedback, files: null },
});

type Task = {
  nonce: string;
  history: readonly EarlierTurn[];
  question: string;
  feedback: Feedback | null;
};

const taskOf = (context: StartContext): Task => ({
  nonce: context.nonce,
  history: context.history,
  question: context.turn.question,
  feedback: feedbackOf(context),
});

function feedbackOf({ turn, agent }: StartContext): Feedback | null {
  const { attempt, rejected } = turn;
  if (!attempt.feedback) return null;
  const text = rejected?.content ?? null;
  const files = rejectedFiles(turn, agent);
  const shown = text !== null && files ? pathsAsShown(text, files.place) : text;
  return { ...attempt.feedback, rejected: shown, executedTools: rejected?.tools ?? [], files };
}

/**
 * Where the agent finds the files of the rejected final text. `null` if the agent or the author of
 * that text has no workspace.
 */
function rejectedFiles(turn: TurnState, agent: number): NonNullable<Feedback["files"]> | null {
  const { agents } = turn.rules;
  const result = rejectedResult(turn);
  if (!result || !agents[agent]?.workspace || !agents[turn.rejected?.agent ?? 0]?.workspace)
    return null;
  return { place: `/attempts/${result.attempt}`, contexts: contextsOf(turn, agent).length > 0 };
}

/**
 * The votes that decided: the valid votes. If all were voided, the last vote of each agent, as far
 * as the answer is still the newest of its author.
 */
function countedVotes(turn: TurnState): CountedVote[] {
  const { agents, answers } = turn.attempt;
  const hasValidVote = agents.some(({ vote }) => vote !== null);
  const voteOf = ({ vote, lastVote }: AgentState) => (hasValidVote ? vote : lastVote);
  return agents.flatMap((agent) => {
    const vote = voteOf(agent);
    if (!vote || vote.revision > answers.length) return [];
    const target = answerAt(turn.attempt, vote.revision);
    if (agentAt(turn.attempt, target.agent).newest !== vote.revision) return [];
    return [
      {
        voter: aliasOf(turn, agent.index),
        target: aliasOf(turn, target.agent),
        reason: vote.reason,
      },
    ];
  });
}

function teamAgent({ team, agent }: StartContext): TeamAgent {
  const found = team.agents[agent];
  if (!found) throw new Error(`the team has no agent at index ${agent}`);
  return found;
}

function aliasOf(turn: TurnState, index: number): string {
  const alias = turn.aliases[index];
  if (!alias) throw new Error(`no alias for the agent at index ${index}`);
  return alias;
}

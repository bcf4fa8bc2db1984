import type { Team, TeamAgent } from "../config/team";
import {
  agentAt,
  type AgentState,
  type Answer,
  answerAt,
  candidates,
  maxSummaryBytes,
  transcriptBytes,
  type TurnState,
} from "../coordination";
import { answerFilesNote, type ShownAnswer } from "../prompts/newer-answers";
import { coordinationSystem } from "../prompts/coordination-system";
import { roundMessage } from "../prompts/coordination-user";
import type { EarlierFiles } from "../prompts/earlier-files";
import type { ContextPrompt, FilesPrompt } from "../prompts/files";
import { type FirstMessage, firstMessage, type HistoryEntry } from "../prompts/history";
import { HISTORY_SUMMARY_SYSTEM, historySummaryRequest } from "../prompts/history-summary";
import { type Persona, personaFor, personasMessage, personasSystem } from "../prompts/personas";
import {
  type CountedVote,
  judgementMessage,
  judgementSystem,
  type PlannedCalls,
  presentationMessage,
  presentationSystem,
} from "../prompts/presentation";
import { quote } from "../prompts/quote";
import type { Feedback } from "../prompts/task";
import type { EventOf } from "../protocol/events";
import { type CommandPlace, commandsActOutside, hasCommands, placeUnder } from "../tools/shell";
import { contextsOf, pathsAsShown, rejectedResult } from "../workspace/mounts";
import { entriesOf } from "../workspace/permissions";
import { protectedPathsOf } from "../workspace/protected-paths";
import { coveredEntries, fitted } from "./history";

/**
 * Builds the start of a round's conversation from the state at the round's start. Models see the
 * aliases of agents, never their ids or answer labels.
 */

/**
 * `history`: the first blocks of the user message, which end with a blank line; omitted in a first
 * turn. `user`: its text after them.
 */
export type Start = { system: string; history?: readonly string[]; user: string };

/** The whole user message as one text. */
export const wholeUserText = ({ history = [], user }: Omit<Start, "system">): string =>
  [...history, user].join("");

const startOf = (system: string, { history, text }: FirstMessage): Start => ({
  system,
  ...(history.length > 0 && { history }),
  user: text,
});

export type StartContext = {
  turn: TurnState;
  /** Index of the round's agent. */
  agent: number;
  nonce: string;
  team: Team;
  history: readonly HistoryEntry[];
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
    case "summary":
      return startOfSummary(context);
  }
}

/** `keepsFiles` is true if the workspace contains files of an earlier round that failed. */
function startOfCoordination(
  context: StartContext,
  labels: readonly string[],
  keepsFiles: boolean,
): Start {
  const { turn, team } = context;
  const { systemMessage, votingSensitivity } = teamAgent(context);
  return startOf(
    coordinationSystem({
      ...{ systemMessage, votingSensitivity },
      planning: turn.rules.planning_mode ? { instruction: team.planningInstruction } : null,
      files: filesOf(context),
    }),
    roundMessage({
      ...taskOf(context),
      ...filesOfUser(context, { granted: "later", beginsWithResult: true }),
      answers: shownAnswers(turn, labels),
      filesNote: filesNoteOf(context),
      keepsFiles,
    }),
  );
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
  return startOf(
    presentationSystem({
      systemMessage: teamAgent(context).systemMessage,
      afterCoordination: own !== undefined,
      files: filesOf(context),
    }),
    presentationMessage({
      ...taskOf(context),
      ...filesOfUser(context, { granted: "write", beginsWithResult: own === undefined }),
      own: own ? { ...toShown(turn, own), cut: own.origin === "partial" } : null,
      others: own ? others.map((answer) => toShown(turn, answer)) : [],
      votes: countedVotes(turn),
      planned: context.planned,
    }),
  );
}

function startOfJudgement(context: StartContext): Start {
  const { final } = context.turn.attempt;
  return startOf(
    judgementSystem(teamAgent(context).systemMessage),
    judgementMessage({
      ...withoutFiles(taskOf(context)),
      finalText: final?.content ?? "",
      executedTools: final?.tools ?? [],
    }),
  );
}

function startOfPersonas({ turn, team, nonce, history }: StartContext): Start {
  const roles = team.agents.map((agent, index) => ({
    alias: aliasOf(turn, index),
    role: agent.systemMessage,
  }));
  return startOf(
    personasSystem({
      diversityMode: team.personas?.diversityMode ?? "perspective",
      guidelines: team.personas?.guidelines ?? null,
    }),
    personasMessage({
      nonce,
      history,
      question: turn.question,
      team: roles.toSorted(byAlias),
    }),
  );
}

/** The texts to summarise, cut to the window of the agent that writes. */
function startOfSummary({ turn, agent, nonce, history }: StartContext): Start {
  const rules = turn.rules.agents[agent];
  const covered = coveredEntries(history, turn.history?.summarises?.turns ?? []);
  const room = rules ? transcriptBytes(rules, turn.history?.windows) : 0;
  const request = historySummaryRequest(maxSummaryBytes(turn.history?.bytes ?? 0));
  return startOf(HISTORY_SUMMARY_SYSTEM, firstMessage(nonce, fitted(covered, room), [request]));
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

/** The agent's file instructions; `null` if it has no workspace. */
function filesOf(context: StartContext): FilesPrompt | null {
  const { turn, agent } = context;
  const rules = turn.rules.agents[agent];
  if (!rules?.workspace) return null;
  const settings = teamAgent(context).workspace;
  return {
    ...(settings?.tasks !== undefined && { tasks: true }),
    shell: hasCommands(rules.tools),
    actsOutside: commandsActOutside(rules.tools),
  };
}

/**
 * `granted`: the agent's access to writable uploads in this round. `beginsWithResult`: whether its
 * workspace begins with the last result.
 */
type RoundAccess = { granted: "later" | "write"; beginsWithResult: boolean };

/**
 * What the agent reads about the user's uploads and the files of earlier turns; nothing if it has
 * no workspace.
 */
function filesOfUser(
  { turn, team, agent, commandPlace }: StartContext,
  { granted, beginsWithResult }: RoundAccess,
): { contexts?: ContextPrompt[]; earlierFiles?: EarlierFiles } {
  const rules = turn.rules.agents[agent];
  if (!rules?.workspace) return {};
  const contexts = contextsOf(turn, agent).map(({ name, permission }) => ({
    name,
    access: permission === "write" ? granted : permission,
    protectedPaths: entriesOf(protectedPathsOf(team, agent, name)),
  }));
  const earlierFiles = {
    beginsWithResult,
    contexts: contexts.length > 0,
    container: hasCommands(rules.tools) && placeUnder(rules.tools, commandPlace) !== "service",
  };
  return { contexts, earlierFiles };
}

/** The agent's persona in this round; `null` if it has none. */
function personaOf({ turn, team, agent, nonce }: StartContext): Persona | null {
  const text = turn.attempt.personas?.[agent] ?? null;
  const hasAnswered = agentAt(turn.attempt, agent).answers > 0;
  // Another agent wrote the persona, so it is quoted like any text from outside.
  return personaFor(
    text === null ? null : quote(nonce, text),
    team.personas?.afterFirstAnswer ?? "drop",
    hasAnswered,
  );
}

/** The task for a call without tools: such a call cannot read files. */
const withoutFiles = (task: Task): Task => ({
  ...task,
  feedback: task.feedback && { ...task.feedback, files: null },
});

type Task = {
  nonce: string;
  history: readonly HistoryEntry[];
  question: string;
  feedback: Feedback | null;
  persona: Persona | null;
};

const taskOf = (context: StartContext): Task => ({
  nonce: context.nonce,
  history: context.history,
  question: context.turn.question,
  feedback: feedbackOf(context),
  persona: personaOf(context),
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

import { plural } from "../../src/describe/figures";
import { requireRunnable } from "../asking/runnable-team";
import { type SharedFolder, shareFolders, type Sharing } from "../asking/shared-folders";
import { chooseTeam, type TeamChoice } from "../asking/team-choice";
import { overrideWords } from "../display/override-words";
import { CliError, EXIT } from "../exit-codes";
import type { Io } from "../io";
import { toLine } from "../terminal/sanitize";
import { readTree } from "../tree/read-tree";
import { printAttached } from "../uploads/uploads";
import type { Conversation } from "./conversation";

/** Commands of the conversation about its team. Each throws CliError. */

/** `/config`: shows the team of the next question, or chooses the one that answers from then on. */
export async function config(
  conversation: Conversation,
  io: Io,
  argument: string,
): Promise<"done"> {
  if (argument !== "") return useTeam(await chooseTeam({ config: argument }, io), conversation, io);
  io.stderr.write(`team     ${await presentTeam(conversation)}\n`);
  io.stderr.write(`service  ${conversation.connection.server}\n`);
  return "done";
}

/** `/model`: chooses one model alone, or several, that answer from the next question on. */
export async function model(conversation: Conversation, io: Io, argument: string): Promise<"done"> {
  if (argument === "") throw new CliError(EXIT.config, "Name a model: /model <model>");
  return useTeam(await chooseTeam({ model: argument.split(/[\s,]+/) }, io), conversation, io);
}

type Agents = readonly { id: string; model: string }[];

/** Most agents that a line names. */
const MOST_NAMED = 8;

/** A team and its agents in words. Without agents, only its name. */
function teamWords(name: string, agents: Agents): string {
  const hidden = agents.length > MOST_NAMED ? agents.length - MOST_NAMED : 0;
  const named = agents
    .slice(0, MOST_NAMED)
    .map(({ id, model }) => `${toLine(id)}${model === "" ? "" : ` (${toLine(model)})`}`)
    .join(", ");
  const more = hidden > 0 ? ` and ${plural(hidden, "more agent")}` : "";
  return agents.length === 0 ? toLine(name) : `${toLine(name)}: ${named}${more}`;
}

/** The team that answers the next question. */
async function presentTeam({
  session,
  from,
  team,
  teamOfNext,
  connection,
}: Conversation): Promise<string> {
  if (teamOfNext) return `${toLine(teamOfNext.description)}, from the next question on`;
  if (session === null) return toLine(team.description);
  const { data } = await readTree(session, connection);
  const parent = from ?? data.head;
  const entry = data.data.find(({ turn }) => turn === parent);
  if (!entry || entry.team.length === 0) return `that of turn ${parent}`;
  const agents = entry.team.map(({ agent: id, model }) => ({ id, model }));
  const words = teamWords(`that of turn ${parent}`, agents);
  return entry.overrides ? `${words}; only in this turn: ${overrideWords(entry.overrides)}` : words;
}

/**
 * Lets this team answer from the next question on, which brings it to the session or starts one.
 * Pushes the folders that its config names, once the user allows it.
 */
async function useTeam(chosen: TeamChoice, conversation: Conversation, io: Io): Promise<"done"> {
  const { connection } = conversation;
  const refused = "The team stays as it was.";
  const first = await requireRunnable(chosen, { refused, pushes: true }, connection);
  const sharing = await shareFor(chosen, conversation, io);
  const { agents = [] } = first.runnable
    ? first
    : await requireRunnable(sharing.team, { refused, pushes: false }, connection);
  const { overrides } = conversation.limits;
  io.stderr.write(`team     ${teamWords(chosen.description, agents)}\n`);
  if (conversation.session === null) beginWith(sharing, conversation);
  else continueWith(sharing, conversation);
  io.stderr.write(
    conversation.session === null
      ? "It answers the next question, which starts a new session.\n"
      : "It answers from the next question on, in this session. /new starts a new one with it.\n",
  );
  if (overrides)
    io.stderr.write(`These options no longer apply: ${toLine(overrideWords(overrides))}\n`);
  printAttached(sharing.team.attachments, io);
  return "done";
}

/**
 * Pushes folders for a team. A session already has the folders of `--with`, unless they were given
 * to another one; then the user is asked.
 */
function shareFor(
  team: TeamChoice,
  { session, requested, aside, connection }: Conversation,
  io: Io,
): Promise<Sharing> {
  if (session === null) return shareFolders({ team, requested }, connection, io);
  const allowed = aside === null ? requested : [];
  return shareFolders({ team, requested: [], allowed }, connection, io);
}

/** Lets this team answer the first question of a session. */
function beginWith({ team, folders, contexts }: Sharing, conversation: Conversation): void {
  // Overrides name agents of the team before.
  const { contexts: _, overrides: __, ...limits } = conversation.limits;
  conversation.team = team;
  conversation.folders = folders;
  conversation.limits = { ...limits, ...(contexts.length > 0 && { contexts }) };
}

/** Lets this team answer the next question of the session, and the first of a later session. */
function continueWith({ team, folders }: Sharing, conversation: Conversation): void {
  const { overrides: _, ...limits } = conversation.limits;
  const { aside } = conversation;
  conversation.team = team;
  conversation.teamOfNext = team;
  conversation.folders = joined(conversation.folders, folders);
  conversation.limits = limits;
  if (aside) conversation.aside = { ...aside, folders: joined(aside.folders, folders) };
}

/** Both lists of folders, each context once. The team may change it if one of the two says so. */
function joined(before: readonly SharedFolder[], added: readonly SharedFolder[]): SharedFolder[] {
  const folders = new Map(before.map((folder) => [folder.name, folder]));
  for (const folder of added) {
    const known = folders.get(folder.name);
    folders.set(folder.name, known?.permission === "write" ? known : folder);
  }
  return [...folders.values()];
}

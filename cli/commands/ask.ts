import { Command, Option } from "commander";
import { continues, findContinuation, readAttachments } from "../asking/continuation";
import { ask, askDetached, type AskResult, type AskOptions } from "../asking/ask-team";
import { readQuestion } from "../asking/question";
import { printPullHints } from "../asking/pull-hints";
import { requireRunnable } from "../asking/runnable-team";
import { shareFolders, type Sharing } from "../asking/shared-folders";
import { besideStanding } from "../asking/standing-grants";
import { chooseTeam, namesTeam, type TeamChoice } from "../asking/team-choice";
import { converse } from "../conversation/interactive";
import { connect, type Connection, type ConnectionFlags } from "../credentials/connection";
import { CliError, EXIT, type ExitCode } from "../exit-codes";
import { type Io, isInteractive } from "../io";
import { findSession } from "../service/find-session";
import { printAttached, withUploads } from "../uploads/uploads";
import { SESSION_ARGUMENT, toSessionReference, toTurn } from "./arguments";
import {
  type AskFlags,
  type Limits,
  type OutputFlags,
  type Register,
  toLimits,
  toOutput,
  withConnection,
  withOutput,
  withTeam,
} from "./flags";
import { refuseLikelyCommand } from "./likely-commands";
import { toOverrides } from "./override-flags";
import { repeatedOptions } from "./repeated-options";

/** `ask`: the default command, so its name may be omitted. */
export const registerAsk: Register = (program, { io, end }) => {
  const command = withOutput(withTeam(withConnection(new Command("ask"))))
    .description("ask a team and print its answer; without a question, start a conversation")
    .argument("[question...]", "the question; - reads stdin")
    .option("--continue", "continue the session that you used last, in this folder if there is one")
    .option("--session <session>", `continue this session: ${ID_OF_SESSION}`, toSessionReference)
    .option(
      "--from <turn>",
      "continue after this turn (default: the one that `turns` marks)",
      toTurn,
    )
    .option("--detach", "start the run, print its session id and exit")
    .addOption(
      new Option("--attach <session>", "same as the command attach")
        .argParser(toSessionReference)
        .hideHelp(),
    )
    .action(async (words: string[], flags: AskFlags) => {
      // A single word may be a reply to the last answer.
      if (program.args[0] !== "ask" && !continues(flags)) refuseLikelyCommand(words);
      end(await runAsk(words, flags, io));
    });
  program.addCommand(command, { isDefault: true });
};

const ID_OF_SESSION = SESSION_ARGUMENT.replace("the session's id", "its id");

/** `branch`: short for `ask --from`. */
export const registerBranch: Register = (program, { io, end }) => {
  const command = withOutput(withTeam(withConnection(new Command("branch"))))
    .description("ask a question after a turn, as a branch; the same as ask --from")
    .argument("<turn>", "the turn that the question follows", toTurn)
    .argument("[question...]", "the question; - reads stdin")
    .option(
      "--session <session>",
      `the session: ${ID_OF_SESSION} (default: last)`,
      toSessionReference,
    )
    .option("--detach", "start the run, print its session id and exit")
    .action(async (from: number, words: string[], flags: AskFlags) =>
      end(await runAsk(words, { ...flags, from }, io)),
    );
  program.addCommand(command);
};

async function runAsk(words: string[], flags: AskFlags, io: Io): Promise<ExitCode> {
  const output = toOutput(flags);
  if (flags.attach !== undefined) return attachToRun(words, flags, io);
  const isConversation =
    words.length === 0 &&
    isInteractive(io) &&
    output.form === "answer" &&
    flags.detach === undefined;
  const question = isConversation ? null : await readQuestion(words, io);
  if (continues(flags)) return askOn(question, flags, io);
  if (flags.conflicts !== undefined)
    throw new CliError(
      EXIT.config,
      "--conflicts names the side that wins in the next turn of a session: add --continue or --session.",
    );
  const asked = { ...toLimits(flags), ...toOverrides(flags) };
  const chosen = await chooseTeam(flags, io);
  const connection = await connect(flags, io);
  const sharing = await share({ team: chosen, flags }, connection, io);
  const { team, folders } = sharing;
  const limits = { ...asked, ...sharing.grants };
  const requested = flags.with ?? [];
  if (question === null)
    return converse({ team, connection, limits, output, requested, folders }, io);
  if (
    flags.config === undefined &&
    team.source.text !== null &&
    (output.verbose || io.stderr.isTTY)
  )
    io.stderr.write(`team    ${team.description}\n`);
  printAttached(team.attachments, io);
  const target = {
    run: { question: withUploads(question, team.attachments), ...team.request, ...limits },
  };
  const options: AskOptions = { target, context: contextOf(connection, team), output };
  return askAndPull(options, { flags, folders }, io);
}

/** Pushes the folders of the question. `grants`: their contexts, in the form of the API. */
async function share(
  { team, flags }: { team: TeamChoice; flags: AskFlags },
  connection: Connection,
  io: Io,
): Promise<Sharing & { grants: Pick<Limits, "contexts"> }> {
  if (flags.contexts === false && flags.with !== undefined)
    throw new CliError(EXIT.config, "--no-contexts takes all contexts back: omit --with.");
  const requested = flags.with ?? [];
  if (requested.length > 0 && team.request.config_yaml !== undefined)
    await requireRunnable(team, { refused: "Nothing was pushed.", pushes: true }, connection);
  const sharing = await shareFolders({ team, requested }, connection, io);
  const { contexts } = sharing;
  const isGiven = contexts.length > 0 || flags.contexts === false;
  return { ...sharing, grants: isGiven ? { contexts } : {} };
}

/** Asks the next question of an existing session; `null` opens a conversation that continues it. */
async function askOn(question: string | null, flags: AskFlags, io: Io): Promise<ExitCode> {
  const output = toOutput(flags);
  const asked = { ...toLimits(flags), ...toOverrides(flags) };
  const connection = await connect(flags, io);
  // before the push, because a question that cannot be asked must not push anything
  const continuation = await findContinuation(flags, connection, io);
  const another = namesTeam(flags) ? await chooseTeam(flags, io) : null;
  const attachments = another?.attachments ?? (await readAttachments(flags, io));
  const sharing = await share({ team: another ?? TEAM_OF_SESSION, flags }, connection, io);
  const requested = flags.with ?? [];
  const place = { requested, ...continuation };
  const { folders, grants } = await besideStanding(sharing, place, connection, io);
  const request = another ? sharing.team.request : {};
  const limits = { ...asked, ...grants };
  if (question === null) {
    const team = another ? sharing.team : await chooseTeam({}, io);
    const shared = { requested, folders, winner: flags.conflicts };
    // The attachments of another team include those of `--file`.
    const next = another ? { teamOfNext: sharing.team } : { attachments };
    const options = { team, connection, limits, output, continuation, ...next };
    return converse({ ...options, ...shared }, io);
  }
  printAttached(attachments, io);
  const { session: sessionId, from } = continuation;
  const body = {
    question: withUploads(question, attachments),
    ...(from === null ? {} : { parent_turn: from }),
    ...request,
    ...limits,
    ...(flags.conflicts === undefined ? {} : { context_conflicts: flags.conflicts }),
  };
  const options: AskOptions = {
    target: { next: { sessionId, body } },
    context: another ? contextOf(connection, sharing.team) : connection,
    output,
    repetition: { options: repeatedOptions(flags), folders },
  };
  return askAndPull(options, { flags, folders }, io);
}

/** A next turn has the team of the turn that it follows, unless the options name another. */
const TEAM_OF_SESSION: TeamChoice = {
  request: {},
  source: { name: "", text: null },
  description: "the session's team",
};

/** Asks, and prints the commands that pull the changes of the folders. */
async function askAndPull(
  options: AskOptions,
  { flags, folders }: { flags: AskFlags; folders: Sharing["folders"] },
  io: Io,
): Promise<ExitCode> {
  const { target, context } = options;
  const asked = flags.detach
    ? { ...(await askDetached(options, io)), turn: null }
    : await ask(options, io);
  const { place, turn, exitCode } = asked;
  const { sessionId, turn: number } = place;
  // A queued turn has no number yet.
  if (number !== null) {
    const started = { place: { sessionId, turn: number }, turn, folders };
    await printPullHints({ ...started, isLater: "next" in target }, context, io);
  }
  return exitCode;
}

const contextOf = (connection: Connection, { source }: TeamChoice): AskOptions["context"] => ({
  ...connection,
  config: source,
});

async function attachToRun(words: string[], flags: AskFlags, io: Io): Promise<ExitCode> {
  const hasLimits = Object.keys({ ...toLimits(flags), ...toOverrides(flags) }).length > 0;
  const otherFlag =
    flags.config ??
    flags.model ??
    flags.backend ??
    flags.systemMessage ??
    flags.file ??
    flags.with ??
    (flags.contexts === false ? false : undefined) ??
    flags.conflicts ??
    flags.detach;
  if (words.length > 0 || hasLimits || otherFlag !== undefined || continues(flags)) {
    throw new CliError(EXIT.config, "--attach watches an existing run: omit question and limits.");
  }
  const context = await connect(flags, io);
  const attach = await findSession(flags.attach ?? "", context, io);
  const result: AskResult = await ask({ target: { attach }, context, output: toOutput(flags) }, io);
  return result.exitCode;
}

/** `attach`: follows a running turn, or shows a finished turn again. */
export const registerAttach: Register = (program, { io, end }) => {
  const command = withOutput(withConnection(new Command("attach")))
    .description("watch a session's latest turn, or another")
    .argument("<session>", SESSION_ARGUMENT, toSessionReference)
    .argument("[turn]", "the turn's number", toTurn)
    .action(
      async (reference: string, turn: number | undefined, flags: ConnectionFlags & OutputFlags) => {
        const output = toOutput(flags);
        const context = await connect(flags, io);
        const attach = await findSession(reference, context, io);
        const target = { attach, ...(turn === undefined ? {} : { turn }) };
        end((await ask({ target, context, output }, io)).exitCode);
      },
    );
  program.addCommand(command);
};

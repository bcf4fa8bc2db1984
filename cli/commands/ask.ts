import { Command, Option } from "commander";
import { ask, askDetached, type AskResult, type AskOptions } from "../asking/ask-team";
import { readQuestion } from "../asking/question";
import { printPullCommands, shareFolders, type Sharing } from "../asking/shared-folders";
import { chooseTeam, type TeamChoice } from "../asking/team-choice";
import { converse } from "../conversation/interactive";
import { connect, type Connection, type ConnectionFlags } from "../credentials/connection";
import { CliError, EXIT, type ExitCode } from "../exit-codes";
import { type Io, isInteractive } from "../io";
import { printAttached, withUploads } from "../uploads/uploads";
import { toSessionId, toTurn } from "./arguments";
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

/** `ask`: the default command, so its name may be omitted. */
export const registerAsk: Register = (program, { io, end }) => {
  const command = withOutput(withTeam(withConnection(new Command("ask"))))
    .description("ask a team and print its answer; without a question, start a conversation")
    .argument("[question...]", "the question; - reads stdin")
    .option("--detach", "start the run, print its session id and exit")
    .addOption(
      new Option("--attach <session>", "same as the command attach")
        .argParser(toSessionId)
        .hideHelp(),
    )
    .action(async (words: string[], flags: AskFlags) => {
      if (program.args[0] !== "ask") refuseLikelyCommand(words);
      end(await runAsk(words, flags, io));
    });
  program.addCommand(command, { isDefault: true });
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
  const chosen = await chooseTeam(flags, io);
  const connection = await connect(flags, io);
  const sharing = await share({ team: chosen, flags }, connection, io);
  const { team } = sharing;
  const limits = { ...toLimits(flags), ...sharing.fields };
  if (question === null) return converse({ team, connection, limits, output }, io);
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
  if (flags.detach) return askDetached(options, io);
  const result = await ask(options, io);
  printPullCommands(sharing.folders, result.place, connection, io);
  return result.exitCode;
}

/** Pushes the folders of the question. `fields`: their grants, and the side that wins conflicts. */
async function share(
  { team, flags }: { team: TeamChoice; flags: AskFlags },
  connection: Connection,
  io: Io,
): Promise<Sharing & { fields: Pick<Limits, "contexts" | "context_conflicts"> }> {
  const sharing = await shareFolders({ team, requested: flags.with ?? [] }, connection, io);
  const { contexts } = sharing;
  const fields = {
    ...(contexts.length === 0 ? {} : { contexts }),
    ...(flags.conflicts === undefined ? {} : { context_conflicts: flags.conflicts }),
  };
  return { ...sharing, fields };
}

const contextOf = ({ server, key }: Connection, { source }: TeamChoice): AskOptions["context"] => ({
  server,
  ...(key === undefined ? {} : { key }),
  config: source,
});

async function attachToRun(words: string[], flags: AskFlags, io: Io): Promise<ExitCode> {
  const hasLimits = Object.keys(toLimits(flags)).length > 0;
  const otherFlag =
    flags.config ??
    flags.model ??
    flags.backend ??
    flags.systemMessage ??
    flags.file ??
    flags.detach;
  if (words.length > 0 || hasLimits || otherFlag !== undefined) {
    throw new CliError(EXIT.config, "--attach watches an existing run: omit question and limits.");
  }
  const context = await connect(flags, io);
  const result: AskResult = await ask(
    { target: { attach: flags.attach ?? "" }, context, output: toOutput(flags) },
    io,
  );
  return result.exitCode;
}

/** `attach`: follows a running turn, or shows a finished turn again. */
export const registerAttach: Register = (program, { io, end }) => {
  const command = withOutput(withConnection(new Command("attach")))
    .description("watch a session's latest turn, or another")
    .argument("<session>", "the session's id", toSessionId)
    .argument("[turn]", "the turn's number", toTurn)
    .action(
      async (sessionId: string, turn: number | undefined, flags: ConnectionFlags & OutputFlags) => {
        const target = { attach: sessionId, ...(turn === undefined ? {} : { turn }) };
        const output = toOutput(flags);
        end((await ask({ target, context: await connect(flags, io), output }, io)).exitCode);
      },
    );
  program.addCommand(command);
};

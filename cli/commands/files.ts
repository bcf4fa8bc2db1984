import { Command } from "commander";
import { connect, type ConnectionFlags } from "../credentials/connection";
import { CliError, EXIT, type ExitCode } from "../exit-codes";
import type { FilesPlace } from "../files/result-files";
import { saveFiles, type SaveOptions } from "../files/save";
import { filesToShow, printFile, printFiles } from "../files/show-files";
import { commandAt } from "../invocation";
import type { Io } from "../io";
import type { RequestContext } from "../service/problem";
import { findSession } from "../service/find-session";
import { latestQuestion } from "../service/session-calls";
import { escapeJson } from "../terminal/sanitize";
import { SESSION_ARGUMENT, toAttempt, toLabel, toSessionReference, toTurn } from "./arguments";
import { type Register, withConnection } from "./flags";

type ResultFlags = ConnectionFlags & { answer?: string; attempt?: number };
type FilesFlags = ResultFlags & SaveOptions & { save?: string; json?: true };
type CatFlags = ResultFlags & { turn?: number };

/** The options that name one answer. */
const withAnswer = (command: Command): Command =>
  command
    .option(
      "--answer <label>",
      "files of one answer, such as agent2.1, instead of the turn's result",
      toLabel,
    )
    .option(
      "--attempt <n>",
      "with --answer: the attempt of the answer (default: the turn's last)",
      toAttempt,
    );

/** `files`: lists or saves the files of a turn's result; `files cat` prints one. */
export const registerFiles: Register = (program, { io, end }) => {
  const command = withAnswer(withConnection(new Command("files")))
    .description("list the files of a turn's result, or save them into a folder")
    .argument("<session>", SESSION_ARGUMENT, toSessionReference)
    .argument("[turn]", "the turn's number (default: the latest)", toTurn)
    .option("--save <folder>", "write the files; files that you changed are never overwritten")
    .option("--dry-run", "with --save: print what would be written, and write nothing")
    .option("--skip-conflicts", "with --save: keep files that you changed, and write all others")
    .option(
      "--include <pattern...>",
      "with --save: also write settings of package managers (such as .npmrc) that match",
    )
    .option("--json", "print the list as JSON")
    .action(async (reference: string, turn: number | undefined, flags: FilesFlags) =>
      end(await list({ reference, turn, flags }, io)),
    );
  command.addCommand(catCommand({ io, end }));
  program.addCommand(command);
};

const catCommand = ({ io, end }: Parameters<Register>[1]): Command =>
  withAnswer(withConnection(new Command("cat")))
    .description("print one file of a turn's result")
    .argument("<session>", SESSION_ARGUMENT, toSessionReference)
    .argument("<file>", "path of the file, such as site/index.html")
    .option("--turn <n>", "which turn of the session (default: the latest)", toTurn)
    .action(async (reference: string, file: string, _: CatFlags, command: Command) => {
      // `files` has options of the same names and receives their values.
      const flags = command.optsWithGlobals<CatFlags>();
      const context = await connect(flags, io);
      const { turn } = flags;
      const place = await placeOf({ reference, turn, flags }, context, io);
      await printFile(await filesToShow(place, context), file, { context, io });
      end(EXIT.ok);
    });

type Request<Flags> = { reference: string; turn: number | undefined; flags: Flags };

async function list({ reference, turn, flags }: Request<FilesFlags>, io: Io): Promise<ExitCode> {
  requireSave(flags);
  const context = await connect(flags, io);
  const place = await placeOf({ reference, turn, flags }, context, io);
  const shown = await filesToShow(place, context);
  if (flags.save !== undefined)
    return saveFiles(flags.save, shown, { options: flags, context, world: io });
  if (flags.json) io.stdout.write(`${escapeJson(shown.raw.trim())}\n`);
  else {
    printFiles(shown, io);
    if (shown.list.data.length > 0 && io.stderr.isTTY === true)
      io.stderr.write(`To save them: ${saveCommand({ reference, turn, flags }, context)}\n`);
  }
  return EXIT.ok;
}

/** Throws CliError if an option of a save is given without the folder. */
function requireSave({ save, dryRun, skipConflicts, include }: FilesFlags): void {
  const given = { "--dry-run": dryRun, "--skip-conflicts": skipConflicts, "--include": include };
  const [name] = Object.entries(given).find(([, value]) => value !== undefined) ?? [];
  if (save === undefined && name !== undefined)
    throw new CliError(EXIT.config, `${name} needs --save: name the folder, such as --save out.`);
}

async function placeOf(
  { reference, turn, flags }: Request<ResultFlags>,
  context: RequestContext,
  io: Io,
): Promise<FilesPlace> {
  const { answer: label, attempt } = flags;
  if (attempt !== undefined && label === undefined)
    throw new CliError(
      EXIT.config,
      "--attempt needs --answer: name the answer, such as --answer agent1.1.",
    );
  const session = await findSession(reference, context, io);
  return {
    session,
    turn: turn ?? (await latestQuestion(session, context)),
    ...(label === undefined ? {} : { label }),
    ...(attempt === undefined ? {} : { attempt }),
  };
}

const saveCommand = (
  { reference, turn, flags }: Request<ResultFlags>,
  context: RequestContext,
): string =>
  commandAt(
    context,
    "files",
    reference,
    ...(turn === undefined ? [] : [String(turn)]),
    ...(flags.answer === undefined ? [] : ["--answer", flags.answer]),
    ...(flags.attempt === undefined ? [] : ["--attempt", String(flags.attempt)]),
    "--save",
    "out",
  );

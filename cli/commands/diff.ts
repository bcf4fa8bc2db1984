import { Command } from "commander";
import { connect, type ConnectionFlags } from "../credentials/connection";
import { printDiff, printStat } from "../diff/print-diff";
import { type DiffPlace, isPointReference, readDiff, toReference } from "../diff/read-diff";
import { CliError, EXIT, type ExitCode } from "../exit-codes";
import type { Io } from "../io";
import { findSession } from "../service/find-session";
import { escapeJson } from "../terminal/sanitize";
import { SESSION_ARGUMENT } from "./arguments";
import { type Register, withConnection } from "./flags";

type DiffFlags = ConnectionFlags & { stat?: true; json?: true };

const FROM = "the old point: parent, turn_2 or turn_2/agent1.1 (default: parent)";

/** `diff`: shows what changed between two points of a session. */
export const registerDiff: Register = (program, { io, end }) => {
  const command = withConnection(new Command("diff"))
    .description("show what a turn changed, or what changed between two turns or answers")
    .argument("[session]", `${SESSION_ARGUMENT} (default: last)`)
    .argument("[from]", FROM)
    .argument("[to]", "the new point, in the same forms (default: the latest completed turn)")
    .option("--stat", "print only the names of the files, with the numbers of changed lines")
    .option("--json", "print the diff as JSON")
    .action(async (...args: [...(string | undefined)[], DiffFlags, Command]) => {
      const [session, from, to] = args;
      const flags = command.opts<DiffFlags>();
      end(await show([session, from, to].filter(isText), flags, io));
    });
  program.addCommand(command);
};

const isText = (value: unknown): value is string => typeof value === "string";

async function show(texts: readonly string[], flags: DiffFlags, io: Io): Promise<ExitCode> {
  const { session, ...points } = placeOf(texts);
  const context = await connect(flags, io);
  const place = { ...points, session: await findSession(session, context, io) };
  const { data, raw } = await readDiff(place, context);
  if (flags.json) io.stdout.write(`${escapeJson(raw.trim())}\n`);
  else if (flags.stat) printStat(data, io);
  else printDiff(data, io);
  return EXIT.ok;
}

/** The session may be omitted: a point of a session looks different. */
function placeOf(texts: readonly string[]): DiffPlace {
  const [first = "last"] = texts;
  const [session, points] = isPointReference(first) ? ["last", texts] : [first, texts.slice(1)];
  if (points.length > 2) throw new CliError(EXIT.config, "Name at most two points of a session.");
  const [from, to] = points.map(toReference);
  return { session, from, to };
}

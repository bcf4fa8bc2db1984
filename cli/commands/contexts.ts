import { Command, Option } from "commander";
import { toDirectory } from "../contexts/directory";
import { push, type PushOptions } from "../contexts/push";
import { connect, type ConnectionFlags } from "../credentials/connection";
import { plural } from "../../src/describe/figures";
import { CliError, EXIT } from "../exit-codes";
import { escapeJson } from "../terminal/sanitize";
import { toContextName, toSessionReference, toTurn } from "./arguments";
import { type Register, withConnection } from "./flags";
import { pull, type PullOptions } from "../contexts/pull";
import { findSession } from "../service/find-session";
import { latestQuestion } from "../service/session-calls";

type PushFlags = ConnectionFlags & PushOptions & { json?: true };

/** `push`: uploads a folder as the newest version of a context. */
export const registerPush: Register = (program, { io, end }) => {
  const command = withConnection(new Command("push"))
    .description(
      "upload a folder as a context that agents can read, without files that git ignores or that may hold secrets",
    )
    .argument("[folder]", "the folder (default: the current one)")
    .option(
      "--name <name>",
      "name of the context (default: the name of the last push, else the folder's name)",
      toContextName,
    )
    .option(
      "--include <pattern...>",
      "push files that match these patterns (as in .gitignore), also files that are left out by default",
    )
    .option(
      "--force",
      "make it the newest version, even if others pushed a version since your last push or pull",
    )
    .option("--dry-run", "list the files without sending them")
    .option("--json", "print the response as JSON")
    .action(async (folder: string | undefined, flags: PushFlags) => {
      const directory = await toDirectory(io.cwd, folder);
      const connection = await connect(flags, io);
      const upload = await push(directory, flags, connection, io);
      if (upload && flags.json) io.stdout.write(`${escapeJson(JSON.stringify(upload))}\n`);
      else if (upload) {
        const outcome = upload.status === "unchanged" ? "is unchanged" : "is pushed";
        io.stdout.write(
          `${upload.name} ${outcome}: version ${upload.version}, ${plural(upload.files, "file")}, ${upload.bytes} bytes.\n`,
        );
      }
      end(EXIT.ok);
    });
  program.addCommand(command);
};

type PullFlags = ConnectionFlags & PullOptions;

/** The options that say what a pull does with the changes. */
const withPullModes = (command: Command): Command =>
  command
    .addOption(
      new Option(
        "--dry-run",
        "print the planned changes and change nothing (the default)",
      ).conflicts(["apply", "patch", "review"]),
    )
    .addOption(
      new Option("--apply", "apply the changes; with a conflict, nothing is written").conflicts([
        "patch",
        "review",
      ]),
    )
    .addOption(
      new Option(
        "--review",
        "show each file with its diff, and ask which files or hunks to take",
      ).conflicts(["patch", "skipConflicts"]),
    )
    .addOption(new Option("--patch", "print the changes as a patch for `git apply`"))
    .option("--skip-conflicts", "with --apply: skip files in conflict and apply the rest");

/** Throws CliError if an option has no effect without another one. */
function requireUsedOptions({ turn, session, skipConflicts, apply }: PullFlags): void {
  if (turn !== undefined && session === undefined)
    throw new CliError(
      EXIT.config,
      "--turn needs --session: name the session of the turn, such as --session last.",
    );
  if (skipConflicts && !apply)
    throw new CliError(EXIT.config, "--skip-conflicts needs --apply. Nothing was written.");
}

/** `pull`: applies changes from the service to a folder. */
export const registerPull: Register = (program, { io, end }) => {
  const command = withPullModes(withConnection(new Command("pull")))
    .description(
      "copy changes of a context, or of a session, into a folder; local changes are never overwritten",
    )
    .argument("[folder]", "the folder (default: the current one)")
    .option(
      "--name <name>",
      "name of the context (default: the context of the last push)",
      toContextName,
    )
    .option(
      "--session <session>",
      "changes of this session's turn, instead of the context's newest version",
      toSessionReference,
    )
    .option("--turn <n>", "which turn of the session (default: the latest)", toTurn)
    .option(
      "--include <pattern...>",
      "pull files that match these patterns, also files that are left out by default: secrets, settings of package managers (such as .npmrc), files that git ignores here",
    )
    .action(async (folder: string | undefined, flags: PullFlags) => {
      requireUsedOptions(flags);
      const directory = await toDirectory(io.cwd, folder);
      const connection = await connect(flags, io);
      const session =
        flags.session === undefined ? undefined : await findSession(flags.session, connection, io);
      const turn =
        session === undefined
          ? undefined
          : (flags.turn ?? (await latestQuestion(session, connection)));
      end(
        await pull(
          directory,
          {
            ...flags,
            ...(session === undefined ? {} : { session }),
            ...(turn === undefined ? {} : { turn }),
          },
          connection,
          io,
        ),
      );
    });
  program.addCommand(command);
};

import { Command, Option } from "commander";
import { toDirectory } from "../contexts/directory";
import { pull, type PullOptions } from "../contexts/pull";
import { connect, type ConnectionFlags } from "../credentials/connection";
import { latestTurn } from "../service/sessions";
import { toContextName, toSessionId, toTurn } from "./arguments";
import { type Register, withConnection } from "./flags";

type Flags = ConnectionFlags & PullOptions;

/** `pull`: what was changed elsewhere comes into a directory. */
export const registerPull: Register = (program, { io, end }) => {
  const command = withConnection(new Command("pull"))
    .description(
      "copy changes of a context, or of a session, into a folder; local changes are never overwritten",
    )
    .argument("[folder]", "which; the current one unless given")
    .option(
      "--name <name>",
      "the context (default: the one the folder was pushed to)",
      toContextName,
    )
    .option(
      "--session <session>",
      "changes of this session's turn, instead of the context's newest version",
      toSessionId,
    )
    .option("--turn <n>", "which turn of the session (default: the latest)", toTurn)
    .option(
      "--include <pattern...>",
      "take files that match, even if they would be left out: secrets, package sources, files that git ignores here",
    )
    .addOption(
      new Option(
        "--dry-run",
        "only say what would be done; so it is unless you say otherwise",
      ).conflicts(["apply", "patch"]),
    )
    .addOption(
      new Option(
        "--apply",
        "do it; nothing is done where a file was changed on both sides",
      ).conflicts("patch"),
    )
    .addOption(new Option("--patch", "print the changes as a patch for `git apply`"))
    .option("--skip-conflicts", "with --apply: skip files in conflict and apply the rest")
    .action(async (folder: string | undefined, flags: Flags) => {
      const directory = await toDirectory(io.cwd, folder);
      const connection = await connect(flags, io);
      const { session } = flags;
      const turn =
        session === undefined ? undefined : (flags.turn ?? (await latestTurn(session, connection)));
      end(
        await pull(
          directory,
          { ...flags, ...(turn === undefined ? {} : { turn }) },
          connection,
          io,
        ),
      );
    });
  program.addCommand(command);
};

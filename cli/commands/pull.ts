import { Command, Option } from "commander";
import { toDirectory } from "../contexts/directory";
import { pull, type PullOptions } from "../contexts/pull";
import { connect, type ConnectionFlags } from "../credentials/connection";
import { latestTurn } from "../service/client";
import { toContextName, toSessionId, toTurn } from "./arguments";
import { type Register, withConnection } from "./flags";

type Flags = ConnectionFlags & PullOptions;

/** `pull`: what was changed elsewhere comes into a directory. */
export const registerPull: Register = (program, { io, end }) => {
  const command = withConnection(new Command("pull"))
    .description(
      "bring what was changed in a context, or by a session, into a folder; never over what was changed here",
    )
    .argument("[folder]", "which; the current one unless given")
    .option(
      "--name <name>",
      "the context (default: the one the folder was pushed to)",
      toContextName,
    )
    .option(
      "--session <session>",
      "what this session's turn changed, instead of the context's newest version",
      toSessionId,
    )
    .option("--turn <n>", "which turn of the session (default: the latest)", toTurn)
    .option(
      "--include <pattern...>",
      "take what matches although it is left out: secrets, where packages come from, what git ignores here",
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
    .option("--skip-conflicts", "with --apply: leave those files as they are and do the rest")
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

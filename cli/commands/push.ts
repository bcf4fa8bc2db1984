import { Command } from "commander";
import { toDirectory } from "../contexts/directory";
import { push, type PushOptions } from "../contexts/push";
import { connect, type ConnectionFlags } from "../credentials/connection";
import { plural } from "../../src/describe/figures";
import { EXIT } from "../exit-codes";
import { escapeJson } from "../terminal/sanitize";
import { toContextName } from "./arguments";
import { type Register, withConnection } from "./flags";

type Flags = ConnectionFlags & PushOptions & { json?: true };

/** `push`: a directory becomes the newest version of a context. */
export const registerPush: Register = (program, { io, end }) => {
  const command = withConnection(new Command("push"))
    .description(
      "upload a folder as a context that agents can read, without files that git ignores or that may hold secrets",
    )
    .argument("[folder]", "which; the current one unless given")
    .option(
      "--name <name>",
      "name of the context (default: as last time, then the folder's name)",
      toContextName,
    )
    .option(
      "--include <pattern...>",
      "send files that match, even if they would be left out (patterns as in .gitignore)",
    )
    .option("--force", "make it the newest version, even if another version was pushed meanwhile")
    .option("--dry-run", "list the files without sending them")
    .option("--json", "print the service's answer")
    .action(async (folder: string | undefined, flags: Flags) => {
      const directory = await toDirectory(io.cwd, folder);
      const connection = await connect(flags, io);
      const upload = await push(directory, flags, connection, io);
      if (upload && flags.json) io.stdout.write(`${escapeJson(JSON.stringify(upload))}\n`);
      else if (upload) {
        const what = upload.status === "unchanged" ? "is there already" : "is pushed";
        io.stdout.write(
          `${upload.name} ${what}: version ${upload.version}, ${plural(upload.files, "file")}, ${upload.bytes} bytes.\n`,
        );
      }
      end(EXIT.ok);
    });
  program.addCommand(command);
};

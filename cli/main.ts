import { homedir } from "node:os";
import { CliError, EXIT } from "./exit-codes";
import type { Io } from "./io";
import { commandLine } from "./program";

/** The program `massgen-edge`; from the sources, `npm run ask -- "question"`. See `--help`. */

for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    process.exit(EXIT.ok); // the reader closed the pipe
  });
}

const io: Io = {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  screen: process.stderr,
  env: process.env,
  cwd: process.cwd(),
  home: homedir(),
  onInterrupt: (listener) => {
    process.on("SIGINT", listener);
    return () => process.off("SIGINT", listener);
  },
};

const command = commandLine({
  io,
  end: (code) => {
    process.exitCode = code;
  },
});

command.parseAsync().catch((error: unknown) => {
  if (!(error instanceof CliError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = error.exitCode;
});

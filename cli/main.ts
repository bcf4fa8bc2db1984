import { ask } from "./ask";
import { CliError, EXIT } from "./exit-codes";
import { commandLine } from "./options";

/** `npm run ask -- "question"`: see `--help`. */

for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    process.exit(EXIT.ok); // whoever read us has had enough
  });
}

const onInterrupt = (listener: () => void): (() => void) => {
  process.on("SIGINT", listener);
  return () => process.off("SIGINT", listener);
};

const command = commandLine(async (options) => {
  process.exitCode = await ask(options, { stdout: process.stdout, stderr: process.stderr, env: process.env, onInterrupt });
});

try {
  await command.parseAsync();
} catch (error) {
  if (!(error instanceof CliError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = error.exitCode;
}

import { lazy } from "../../async/lazy";
import type { CommandRunner } from "./command-runner";
import { SHELL_DESCRIPTION } from "./lacking-commands";
import type { JustBashOptions } from "./run-just-bash";
import { SHELL_LIMITS } from "./shell-limits";

const shell = lazy(() => import("./run-just-bash"));

/**
 * Creates a runner for a bash that is written in TypeScript. It runs commands in this process, with
 * an agent's files. It has only its built-in commands and no network. Its code is large, so it is
 * loaded with the first command. `filter` restricts commands; `null` allows all commands.
 */
export function justBashRunner(
  now: () => number,
  { limits = SHELL_LIMITS, filter = null }: Partial<JustBashOptions> = {},
): CommandRunner {
  const description = `${SHELL_DESCRIPTION}${filter?.description ?? ""}`;
  return {
    description,
    staysInside: true,
    run: async (request) => {
      request.signal.throwIfAborted();
      const { runJustBash } = await shell();
      return runJustBash(request, now, { limits, filter });
    },
  };
}

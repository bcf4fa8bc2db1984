import { abortable } from "../../async/abort";
import { FileError } from "../../workspace/types";
import type { CommandOutcome, CommandRequest, CommandRunner } from "./command-runner";
import { quoted, type SandboxClient, withinTime } from "./sandbox-client";
import {
  type RunningSandbox,
  SandboxFiles,
  type SandboxLimits,
  SCRIPT_FILE,
} from "./sandbox-files";

const DESCRIPTION =
  "Runs a command line in bash in a Linux container over your files: /workspace (where it starts), read-only /peers, and /contexts, which is read-only unless you are told that you may change it now. Links there are not kept. Processes in the background are ended with the call. What you change elsewhere (/tmp, packages) is not kept for sure: it may be there at your next call, or not.";

export const SANDBOX_LIMITS: SandboxLimits = { files: 10_000, fileBytes: 8 * 1024 * 1024 };

export type SandboxRunnerOptions = {
  limits?: SandboxLimits;
  /**
   * The directory in the container that contains `workspace`, `peers`, `contexts` and `attempts`.
   * Default: "", which means `/`.
   */
  root?: string;
  /** Whether commands may access more than the agent's files. Default: false. */
  actsOutside?: boolean;
};

/**
 * `underWay` returns a promise for the end of the last running command; `null` if none is running.
 */
export type SandboxRunner = CommandRunner & { underWay(): Promise<void> | null };

/** Time for the container after a command's own timeout. After that, the call has failed. */
const GRACE_MS = 10_000;

/**
 * Creates a runner for a container that the operator binds. A sandbox belongs to one agent. The
 * agent's commands run one after the other, each with the files of its own call. A command can
 * access everything that the container can access, so the operator must restrict the container.
 * After an abort, no further operation is sent to the container.
 */
export function sandboxRunner(
  sandbox: SandboxClient,
  options: SandboxRunnerOptions = {},
): SandboxRunner {
  const { root = "", limits = SANDBOX_LIMITS, actsOutside = false } = options;
  let lastRun: Promise<void> = Promise.resolve();
  let unfinishedRuns = 0;
  return {
    description: DESCRIPTION,
    underWay: () => (unfinishedRuns > 0 ? lastRun : null),
    run(request) {
      const abortableSandbox = refuseAfterAbort(sandbox, request.signal);
      unfinishedRuns += 1;
      const outcome = lastRun.then(() =>
        run(abortableSandbox, new SandboxFiles(abortableSandbox, root, limits), request),
      );
      const onSettled = () => {
        unfinishedRuns -= 1;
      };
      // The next command also waits for an aborted one
      lastRun = outcome.then(onSettled, onSettled);
      return outcomeOrAbort(outcome, request.signal, actsOutside);
    },
  };
}

/** The operations of a sandbox. After an abort, they throw the signal's reason. */
function refuseAfterAbort(sandbox: SandboxClient, signal: AbortSignal): RunningSandbox {
  return {
    async exec(...args) {
      signal.throwIfAborted();
      return sandbox.exec(...args);
    },
    async writeFile(...args) {
      signal.throwIfAborted();
      return sandbox.writeFile(...args);
    },
    async readFile(...args) {
      signal.throwIfAborted();
      return sandbox.readFile(...args);
    },
  };
}

/**
 * Waits for the outcome or the abort. After an abort, the command in the container ends at its own
 * timeout. If the container fails, the call fails with a message for the model, and its changes are
 * discarded.
 */
async function outcomeOrAbort(
  outcome: Promise<CommandOutcome>,
  signal: AbortSignal,
  actsOutside: boolean,
): Promise<CommandOutcome> {
  try {
    return await abortable(outcome, signal);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof FileError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    const consequence = actsOutside
      ? "None of its files were kept; what the command did elsewhere, nobody knows. Look there before you try again."
      : "Nothing was kept; try again.";
    throw new FileError(
      "sandbox_unavailable",
      `The container did not do its part (${reason}). ${consequence}`,
    );
  }
}

const NO_TURNS =
  "Commands run in a container, which has no /turns. Copy what you need from there into /workspace with copy_file, and run the command on the copy.";

async function run(
  sandbox: RunningSandbox,
  inSandbox: SandboxFiles,
  request: CommandRequest,
): Promise<CommandOutcome> {
  const { files, command, directory, timeoutMs, signal } = request;
  signal.throwIfAborted();
  if (/^\/turns(?:\/|$)/.test(directory)) throw new FileError("not_in_container", NO_TURNS);
  await inSandbox.copyIn(files);
  const script = inSandbox.root + SCRIPT_FILE;
  await sandbox.writeFile(script, command);
  // The command is in a file, so that it needs no quoting. The file is removed before the command
  // starts.
  const wrapper = `cd ${quoted(inSandbox.root + directory)} && exec bash -c "$(cat ${quoted(script)}; rm -f ${quoted(script)})"`;
  const timedOut = `timed out ${crypto.randomUUID()}`;
  const line = withinTime(wrapper, { seconds: timeoutMs / 1000, mark: inSandbox.mark, timedOut });
  const { exitCode, stdout, stderr } = await sandbox.exec(line, { timeout: timeoutMs + GRACE_MS });
  signal.throwIfAborted();
  const problems = await inSandbox.copyBack(files);
  const stderrText = stderr.trimEnd();
  const isStopped = stderrText.endsWith(timedOut);
  const stopped = isStopped ? `it took longer than ${timeoutMs / 1000} s` : null;
  const notes = problems.slice(0, 20).map((problem) => `[${problem}]\n`);
  return {
    stdout,
    stderr: (isStopped ? stderrText.slice(0, -timedOut.length) : stderr) + notes.join(""),
    exitCode,
    stopped,
  };
}

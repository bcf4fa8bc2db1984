import { abortable } from "../../async/abort";
import { FileError } from "../../workspace/types";
import type { CommandOutcome, CommandRequest, CommandRunner } from "./command-runner";
import { quoted, type SandboxClient, withinTime } from "./sandbox-client";
import { type RunningSandbox, SandboxFiles, type SandboxLimits, SCRIPT } from "./sandbox-files";

const DESCRIPTION =
  "Runs a command line in bash in a Linux container over your files: /workspace (where it starts), read-only /peers, and /contexts, which is read-only unless you are told that you may change it now. Links there are not kept. Processes in the background are ended with the call. What you change elsewhere (/tmp, packages) is not kept for sure: it may be there at your next call, or not.";

export const SANDBOX_LIMITS: SandboxLimits = { files: 10_000, fileBytes: 8 * 1024 * 1024 };

export type SandboxRunnerOptions = {
  limits?: SandboxLimits;
  /**
   * Parent of `/workspace`, `/peers`, `/contexts` and `/attempts` in the container; default "", its
   * root.
   */
  root?: string;
  /** Whether commands may access more than their files; default false. */
  actsOutside?: boolean;
};

/** `underWay` resolves with the last running command; `null` if none is running. */
export type SandboxRunner = CommandRunner & { underWay(): Promise<void> | null };

/** Extra time for the container beyond a command's own timeout, before the call counts as lost. */
const GRACE_MS = 10_000;

/**
 * Runs commands in a container, for operators who bind one. A sandbox belongs to one agent: its
 * commands run one after the other, each over the files of its own call. Commands can access
 * everything that the container can: the operator must restrict that. After an abort, no further
 * operation is sent to the container.
 */
export function sandboxRunner(
  sandbox: SandboxClient,
  options: SandboxRunnerOptions = {},
): SandboxRunner {
  const { root = "", limits = SANDBOX_LIMITS, actsOutside = false } = options;
  let last: Promise<void> = Promise.resolve();
  let begun = 0;
  return {
    description: DESCRIPTION,
    underWay: () => (begun > 0 ? last : null),
    run(request) {
      const own = untilAborted(sandbox, request.signal);
      begun += 1;
      const there = last.then(() => run(own, new SandboxFiles(own, root, limits), request));
      const settled = () => {
        begun -= 1;
      };
      last = there.then(settled, settled); // also if the caller no longer waits
      return outcomeOrAbort(there, request.signal, actsOutside);
    },
  };
}

/** Results of running operations are ignored after an abort; new ones are not started. */
function untilAborted(sandbox: SandboxClient, signal: AbortSignal): RunningSandbox {
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
 * After an abort, the command in the container ends by its own timeout. A container failure is not
 * a fault of the service: the call fails, and its changes are dropped.
 */
async function outcomeOrAbort(
  there: Promise<CommandOutcome>,
  signal: AbortSignal,
  actsOutside: boolean,
): Promise<CommandOutcome> {
  try {
    return await abortable(there, signal);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof FileError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    const left = actsOutside
      ? "None of its files were kept; what the command did elsewhere, nobody knows. Look there before you try again."
      : "Nothing was kept; try again.";
    throw new FileError(
      "sandbox_unavailable",
      `The container did not do its part (${reason}). ${left}`,
    );
  }
}

async function run(
  sandbox: RunningSandbox,
  inSandbox: SandboxFiles,
  request: CommandRequest,
): Promise<CommandOutcome> {
  const { files, command, directory, timeoutMs, signal } = request;
  signal.throwIfAborted();
  await inSandbox.copyIn(files);
  const script = inSandbox.root + SCRIPT;
  await sandbox.writeFile(script, command);
  // The command is passed in a file, so that it needs no quoting. The file is removed before the
  // command starts.
  const inner = `cd ${quoted(inSandbox.root + directory)} && exec bash -c "$(cat ${quoted(script)}; rm -f ${quoted(script)})"`;
  const timedOut = `timed out ${crypto.randomUUID()}`;
  const line = withinTime(inner, { seconds: timeoutMs / 1000, mark: inSandbox.mark, timedOut });
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

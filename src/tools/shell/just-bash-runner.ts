import type { Bash } from "just-bash/browser";
import { PATTERN_WORK, WorkBudget } from "../../patterns";
import type { CommandOutcome, CommandRequest, CommandRunner } from "./command-runner";
import { type CommandFilter, guardedCommands, parserOf } from "./command-filter";
import { lackingCommands, SHELL_DESCRIPTION } from "./lacking-commands";
import { boundedDiff, boundedInputs } from "./bounded-commands";
import { EXECUTION_LIMITS, SHELL_LIMITS, type ShellLimits } from "./shell-limits";
import { openedAside } from "./redirections";
import { shellHost, ShellWork } from "./shell-host";
import { ShellFileError, ShellFileSystem } from "./shell-file-system";
import { StepMeter } from "./step-meter";

const WATCH_MS = 200;

/**
 * Runs commands in a bash written in TypeScript, in this process, over an agent's files. It runs
 * only its built-in commands and has no network. Large, so it is loaded on the first command.
 */
export function justBashRunner(
  now: () => number,
  { limits = SHELL_LIMITS, filter = null }: JustBashOptions = {},
): CommandRunner {
  const description = `${SHELL_DESCRIPTION}${filter?.description ?? ""}`;
  return {
    description,
    staysInside: true,
    run: (request) => run(request, now, { limits, filter }),
  };
}

/** `filter` restricts commands; `null` allows all. */
type JustBashOptions = { limits?: ShellLimits; filter?: CommandFilter | null };

async function run(
  request: CommandRequest,
  now: () => number,
  options: Required<JustBashOptions>,
): Promise<CommandOutcome> {
  const { limits, filter } = options;
  request.signal.throwIfAborted();
  const shell = await import("just-bash/browser");
  const { Bash, InMemoryFs, defineCommand } = shell;
  shell.provideHost(shellHost);
  const own = [
    ...lackingCommands(defineCommand),
    boundedDiff(defineCommand),
    ...boundedInputs(defineCommand),
  ];
  const names = shell.getCommandNames();
  await filter?.check(request.command, { parse: parserOf(shell), checkedAgain: new Set(names) });
  const timeoutMs = Math.min(request.timeoutMs, limits.timeoutMs);
  const meter = new StepMeter({ ...limits, timeoutMs }, now);
  // Some commands swallow a pattern's error, so it stops the whole script.
  const budget = new WorkBudget(PATTERN_WORK, (error) => meter.stop(error.message));
  const work = new ShellWork(budget, now);
  const scratch = new InMemoryFs({}, { maxTotalBytes: limits.scratchBytes });
  scratch.mkdirSync("/tmp", { recursive: true });
  scratch.mkdirSync("/dev", { recursive: true });
  const fs = new ShellFileSystem({ files: request.files, scratch, meter, work }, now());
  const bash = new Bash({
    fs,
    cwd: request.directory,
    env: { HOME: "/workspace", TMPDIR: "/tmp", LANG: "C.UTF-8" },
    customCommands: filter ? guardedCommands(filter, { define: defineCommand, own, names }) : own,
    // It would patch globals of the isolate, which other sessions share.
    defenseInDepth: false,
    executionLimitProfile: "hardened",
    executionLimits: { ...EXECUTION_LIMITS, maxExecutionTimeMs: timeoutMs + limits.waitMs },
    coverage: meter,
  });
  bash.registerTransformPlugin(openedAside);
  const signal = AbortSignal.any([request.signal, meter.signal]);
  // A sleeping script takes no steps, so a timer checks the clock.
  const watch = setInterval(() => meter.checkTime(), WATCH_MS);
  const { stdout, stderr, exitCode } = await work
    .run(() => executed(bash, request.command, signal))
    .finally(() => clearInterval(watch));
  request.signal.throwIfAborted();
  const stopped = meter.stopped ?? stoppedByShell(stderr, exitCode, timeoutMs);
  return { stdout, stderr: readable(stderr, fs.refusals), exitCode, stopped };
}

/**
 * If `exec`, `eval` or a script file redirects to a read-only path, the shell throws and its output
 * is lost.
 */
async function executed(
  bash: Bash,
  command: string,
  signal: AbortSignal,
): Promise<Pick<CommandOutcome, "stdout" | "stderr" | "exitCode">> {
  try {
    return await bash.exec(command, { signal, rawScript: true });
  } catch (error) {
    if (signal.aborted) return { stdout: "", stderr: "", exitCode: 124 };
    if (!(error instanceof ShellFileError)) throw error;
    return {
      stdout: "",
      stderr: `bash: ${error.message}. The script ended there, without its output.\n`,
      exitCode: 1,
    };
  }
}

/**
 * The shell's own limits end a command with 126 and its deadline with 124, with a message in the
 * last line. There is no other sign, so a script that prints the same message counts as stopped.
 */
function stoppedByShell(stderr: string, exitCode: number, timeoutMs: number): string | null {
  const last = stderr.trimEnd().split("\n").at(-1) ?? "";
  if (exitCode === 124 && DEADLINE.test(last)) return `it took longer than ${timeoutMs / 1000} s`;
  return exitCode === 126 && LIMIT.test(last) ? withoutAdvice(last) : null;
}
const DEADLINE = /^bash: .*execution deadline(?: \(\d+ms\))?$/;
/** The command, the limit and its value. */
const LIMIT = /^[\w.-]+: (?=.*\(>?\d).*(?:exceeded|too many)/;

/**
 * Removes advice about settings that the model cannot change, and adds refusals of files in full.
 */
function readable(stderr: string, refusals: readonly string[]): string {
  const notes = [...new Set(refusals)].slice(0, 10).map((refusal) => `[${refusal}]\n`);
  return withoutAdvice(stderr) + notes.join("");
}

const withoutAdvice = (text: string): string =>
  text.replaceAll(/, increase executionLimits\.\w+/g, "");

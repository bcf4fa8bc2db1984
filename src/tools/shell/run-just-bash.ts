import * as shell from "just-bash/browser";
import { PATTERN_WORK, WorkBudget } from "../../patterns";
import type { CommandOutcome, CommandRequest } from "./command-runner";
import { type CommandFilter, guardedCommands, parserOf } from "./command-filter";
import { lackingCommands } from "./lacking-commands";
import { boundedDiff, boundedInputs } from "./bounded-commands";
import { EXECUTION_LIMITS, type ShellLimits } from "./shell-limits";
import { safeRedirections } from "./redirections";
import { shellHost, ShellWork } from "./shell-host";
import { ShellFileError, ShellFileSystem } from "./shell-file-system";
import { StepMeter } from "./step-meter";

const TIME_CHECK_MS = 200;

/** `filter` restricts commands; `null` allows all commands. */
export type JustBashOptions = { limits: ShellLimits; filter: CommandFilter | null };

/** Runs one command line. See `justBashRunner`. */
export async function runJustBash(
  request: CommandRequest,
  now: () => number,
  { limits, filter }: JustBashOptions,
): Promise<CommandOutcome> {
  const { Bash, InMemoryFs, defineCommand } = shell;
  shell.provideHost(shellHost);
  const customCommands = [
    ...lackingCommands(defineCommand),
    boundedDiff(defineCommand),
    ...boundedInputs(defineCommand),
  ];
  const names = shell.getCommandNames();
  await filter?.check(request.command, {
    parse: parserOf(shell),
    checkedAtRunTime: new Set(names),
  });
  const timeoutMs = Math.min(request.timeoutMs, limits.timeoutMs);
  const meter = new StepMeter({ ...limits, timeoutMs }, now);
  // Some commands ignore the error of a pattern, so the error stops the whole script.
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
    customCommands: filter
      ? guardedCommands(filter, { define: defineCommand, customCommands, names })
      : customCommands,
    // With this option, the shell would change globals of the isolate, which other sessions use
    // too.
    defenseInDepth: false,
    executionLimitProfile: "hardened",
    executionLimits: { ...EXECUTION_LIMITS, maxExecutionTimeMs: timeoutMs + limits.waitMs },
    coverage: meter,
  });
  bash.registerTransformPlugin(safeRedirections);
  const signal = AbortSignal.any([request.signal, meter.signal]);
  // A script that sleeps makes no steps, so a timer checks the clock too.
  const timeChecks = setInterval(() => meter.checkTime(), TIME_CHECK_MS);
  const { stdout, stderr, exitCode } = await work
    .run(() => execute(bash, request.command, signal))
    .finally(() => clearInterval(timeChecks));
  request.signal.throwIfAborted();
  const stopped = meter.stopped ?? stoppedByShell(stderr, exitCode, timeoutMs);
  return { stdout, stderr: readableStderr(stderr, fs.refusals), exitCode, stopped };
}

/**
 * Runs a command line. If `exec`, `eval` or a script file redirects to a read-only path, the shell
 * throws. Then the output of the script is lost, and the result says so.
 */
async function execute(
  bash: shell.Bash,
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
 * Why the shell stopped the script; `null` if it did not. The shell exits with 126 at one of its
 * limits, and with 124 at its deadline. The last line is then a message. There is no other sign, so
 * a script that prints such a message with such a code also counts as stopped.
 */
function stoppedByShell(stderr: string, exitCode: number, timeoutMs: number): string | null {
  const lastLine = stderr.trimEnd().split("\n").at(-1) ?? "";
  if (exitCode === 124 && DEADLINE_MESSAGE.test(lastLine))
    return `it took longer than ${timeoutMs / 1000} s`;
  return exitCode === 126 && LIMIT_MESSAGE.test(lastLine) ? withoutAdvice(lastLine) : null;
}
const DEADLINE_MESSAGE = /^bash: .*execution deadline(?: \(\d+ms\))?$/;
/** The message names the command, the limit, and the value of the limit. */
const LIMIT_MESSAGE = /^[\w.-]+: (?=.*\(>?\d).*(?:exceeded|too many)/;

/**
 * The text of stderr for the model. Advice about settings that the model cannot change is removed,
 * and the full refusals of files are added.
 */
function readableStderr(stderr: string, refusals: readonly string[]): string {
  const notes = [...new Set(refusals)].slice(0, 10).map((refusal) => `[${refusal}]\n`);
  return withoutAdvice(stderr) + notes.join("");
}

const withoutAdvice = (text: string): string =>
  text.replaceAll(/, increase executionLimits\.\w+/g, "");

import type { Bash } from "just-bash/browser";
import { PATTERN_WORK, WorkBudget } from "../../patterns";
import type { CommandOutcome, CommandRequest, CommandRunner } from "./command-runner";
import { type CommandFilter, guardedCommands, parserOf } from "./command-filter";
import { lackingCommands, SHELL_DESCRIPTION } from "./lacking-commands";
import { boundedDiff, boundedInputs } from "./bounded-commands";
import { EXECUTION_LIMITS, SHELL_LIMITS, type ShellLimits } from "./limits";
import { openedAside } from "./redirections";
import { shellHost, ShellWork } from "./shell-host";
import { ShellFileError, ShellFileSystem } from "./shell-file-system";
import { StepMeter } from "./step-meter";

const WATCH_MS = 200;

/**
 * Commands in a bash that is written in TypeScript and runs here, over an agent's files. Nothing runs that this bash does not bring,
 * and nothing reaches the network. Loaded when the first command is run, since it is large.
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

/** `filter`: which commands may run; null: all. */
export type JustBashOptions = { limits?: ShellLimits; filter?: CommandFilter | null };

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
  // Some commands swallow what a pattern throws, so it stops the whole script.
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
    // It patches globals of the whole isolate, which other sessions share.
    defenseInDepth: false,
    executionLimitProfile: "hardened",
    executionLimits: { ...EXECUTION_LIMITS, maxExecutionTimeMs: timeoutMs + limits.waitMs },
    coverage: meter,
  });
  bash.registerTransformPlugin(openedAside);
  const signal = AbortSignal.any([request.signal, meter.signal]);
  // What sleeps takes no steps: somebody else has to look at the clock.
  const watch = setInterval(() => meter.checkTime(), WATCH_MS);
  const { stdout, stderr, exitCode } = await work
    .run(() => executed(bash, request.command, signal))
    .finally(() => clearInterval(watch));
  request.signal.throwIfAborted();
  const stopped = meter.stopped ?? stoppedByShell(stderr, exitCode, timeoutMs);
  return { stdout, stderr: readable(stderr, fs.refusals), exitCode, stopped };
}

/** What `exec`, `eval` or a script's file redirects to what may not be written ends it all: the shell throws, and what was put out is lost. */
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
 * The shell's own limits end a command with 126, its deadline with 124; either as the last it says, in words of its own. The shell tells it in
 * no other way, so a script that repeats the whole of them counts as stopped.
 */
function stoppedByShell(stderr: string, exitCode: number, timeoutMs: number): string | null {
  const last = stderr.trimEnd().split("\n").at(-1) ?? "";
  if (exitCode === 124 && DEADLINE.test(last)) return `it took longer than ${timeoutMs / 1000} s`;
  return exitCode === 126 && LIMIT.test(last) ? withoutAdvice(last) : null;
}
const DEADLINE = /^bash: .*execution deadline(?: \(\d+ms\))?$/;
/** Who met it, which, and how much it allows. */
const LIMIT = /^[\w.-]+: (?=.*\(>?\d).*(?:exceeded|too many)/;

/** Advice about settings that the model cannot change is left out; what files refused is said in full. */
function readable(stderr: string, refusals: readonly string[]): string {
  const notes = [...new Set(refusals)].slice(0, 10).map((refusal) => `[${refusal}]\n`);
  return withoutAdvice(stderr) + notes.join("");
}

const withoutAdvice = (text: string): string =>
  text.replaceAll(/, increase executionLimits\.\w+/g, "");

import { spawn } from "node:child_process";
import path from "node:path";

/**
 * How scripts call wrangler: they use the installed version and this Node, and wrangler prints no
 * banner and sends no other requests.
 */
const BIN = path.resolve("node_modules/wrangler/bin/wrangler.js");
const QUIET_VARIABLES = {
  WRANGLER_SEND_METRICS: "false",
  CLOUDFLARE_CF_FETCH_ENABLED: "false",
  WRANGLER_HIDE_BANNER: "true",
};

/** Runs wrangler on this terminal and forwards termination signals. Returns its exit code. */
export function wrangler(args: string[]): Promise<number> {
  const child = spawn(process.execPath, [BIN, ...args], {
    stdio: "inherit",
    env: { ...QUIET_VARIABLES, ...process.env },
  });
  // Ctrl+C reaches the child directly; this process must only wait until the child has cleaned up.
  const doNothing = () => undefined;
  const terminate = () => child.kill("SIGTERM");
  process.on("SIGINT", doNothing).on("SIGTERM", terminate).on("SIGHUP", terminate);
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => {
      process.off("SIGINT", doNothing).off("SIGTERM", terminate).off("SIGHUP", terminate);
      resolve(code ?? (signal === "SIGINT" ? 130 : 143));
    });
  });
}

/**
 * Runs wrangler and returns its output without printing it. Throws an error with the output if
 * wrangler fails. `variables` override the environment.
 */
export async function wranglerQuietly(
  args: string[],
  variables: Readonly<Record<string, string>> = {},
): Promise<string> {
  const { code, stdout, stderr } = await runCaptured(args, variables);
  if (code !== 0)
    throw new Error(`wrangler ${args.join(" ")} ended with status ${code}:\n${stdout}${stderr}`);
  return stdout + stderr;
}

/**
 * Runs wrangler and returns its stdout, for programs. If wrangler fails, throws its messages
 * without the arguments, which may be secret.
 */
export async function wranglerOutput(args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runCaptured(args);
  if (code !== 0) throw new Error(`wrangler ended with status ${code}:\n${stdout}${stderr}`);
  return stdout;
}

/**
 * Runs wrangler and returns its exit code and output, also after a failure. `input` is its stdin.
 */
export async function wranglerReply(
  args: readonly string[],
  { input = "", variables = {} }: ReplyOptions = {},
): Promise<{ code: number; stdout: string; stderr: string }> {
  const { code, stdout, stderr } = await runCaptured(args, variables, input);
  return { code, stdout, stderr };
}

type ReplyOptions = { input?: string; variables?: Readonly<Record<string, string>> };

async function runCaptured(
  args: readonly string[],
  variables: Readonly<Record<string, string>> = {},
  input = "",
): Promise<{ code: number; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, [BIN, ...args], {
    stdio: ["pipe", "pipe", "pipe"],
    env: { ...QUIET_VARIABLES, ...process.env, ...variables },
  });
  // A command that reads no input may close it first.
  child.stdin.on("error", () => undefined).end(input);
  const [stdout, stderr]: [Buffer[], Buffer[]] = [[], []];
  child.stdout.on("data", (chunk: Buffer) => stdout.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => stderr.push(chunk));
  const code = await new Promise<number>((resolve, reject) =>
    child.on("error", reject).on("close", (code) => resolve(code ?? 1)),
  );
  return {
    code,
    stdout: Buffer.concat(stdout).toString(),
    stderr: Buffer.concat(stderr).toString(),
  };
}

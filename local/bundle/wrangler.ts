import { spawn } from "node:child_process";
import path from "node:path";

/** How every script calls wrangler: the pinned one, on this very Node, quiet and without asking the network for anything. */
const BIN = path.resolve("node_modules/wrangler/bin/wrangler.js");
const QUIET = {
  WRANGLER_SEND_METRICS: "false",
  CLOUDFLARE_CF_FETCH_ENABLED: "false",
  WRANGLER_HIDE_BANNER: "true",
};

/** Runs wrangler on this terminal until it ends, passing on what would end us. Returns its exit code. */
export function wrangler(args: string[]): Promise<number> {
  const child = spawn(process.execPath, [BIN, ...args], {
    stdio: "inherit",
    env: { ...QUIET, ...process.env },
  });
  // A terminal's Ctrl+C reaches the child by itself; here it must only not end us before the child has tidied up.
  const ignore = () => undefined;
  const terminate = () => child.kill("SIGTERM");
  process.on("SIGINT", ignore).on("SIGTERM", terminate).on("SIGHUP", terminate);
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => {
      process.off("SIGINT", ignore).off("SIGTERM", terminate).off("SIGHUP", terminate);
      resolve(code ?? (signal === "SIGINT" ? 130 : 143));
    });
  });
}

/** Runs wrangler out of sight; what it printed is shown only if it fails, inside the error. `variables` win over the environment. */
export async function wranglerQuietly(
  args: string[],
  variables: Readonly<Record<string, string>> = {},
): Promise<string> {
  const { code, printed, complaints } = await printedBy(args, variables);
  if (code !== 0)
    throw new Error(
      `wrangler ${args.join(" ")} ended with status ${code}:\n${printed}${complaints}`,
    );
  return printed + complaints;
}

/** What wrangler prints for programs. Throws what it says if it fails, without what it was asked. */
export async function wranglerOutput(args: string[]): Promise<string> {
  const { code, printed, complaints } = await printedBy(args);
  if (code !== 0) throw new Error(`wrangler ended with status ${code}:\n${printed}${complaints}`);
  return printed;
}

async function printedBy(
  args: string[],
  variables: Readonly<Record<string, string>> = {},
): Promise<{ code: number; printed: string; complaints: string }> {
  const child = spawn(process.execPath, [BIN, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...QUIET, ...process.env, ...variables },
  });
  const [printed, complaints]: [Buffer[], Buffer[]] = [[], []];
  child.stdout.on("data", (chunk: Buffer) => printed.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => complaints.push(chunk));
  const code = await new Promise<number>((resolve, reject) =>
    child.on("error", reject).on("close", (code) => resolve(code ?? 1)),
  );
  return {
    code,
    printed: Buffer.concat(printed).toString(),
    complaints: Buffer.concat(complaints).toString(),
  };
}

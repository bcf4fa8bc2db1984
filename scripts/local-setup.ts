import { createHash } from "node:crypto";
import { constants, copyFile, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { wranglerQuietly } from "./wrangler";

const NEEDED_NODE = 24;
/** Lies beside the local database, so that deleting `.wrangler` undoes both together. */
const MARK = ".wrangler/state/massgen-edge-migrations";

/** Why this Node cannot run the service; null if it can. */
export function nodeProblem(version: string, platform: string): string | null {
  if (Number.parseInt(version, 10) >= NEEDED_NODE) return null;
  const brought = "Install the dependencies with `npm ci` (optional ones included) and start everything through `npm run`.";
  const install = `Install Node ${NEEDED_NODE} or newer: https://nodejs.org`;
  return `Node ${NEEDED_NODE} or newer is needed; this is ${version}. ${platform === "linux" ? `It comes with the packages. ${brought}` : install}`;
}

/** Checks Node, makes `.dev.vars`, brings the local database up to date. Idempotent, and quick when there is nothing to do. */
export async function ensureSetup(say: (line: string) => void): Promise<void> {
  const problem = nodeProblem(process.versions.node, process.platform);
  if (problem) throw new Error(problem);
  if (await copiedDevVars()) say("Made .dev.vars from .dev.vars.example: provider keys for local development go there.");
  if (await migrated()) say("Brought the local database up to date.");
}

async function copiedDevVars(): Promise<boolean> {
  return copyFile(".dev.vars.example", ".dev.vars", constants.COPYFILE_EXCL).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === "EEXIST") return false;
      throw error;
    },
  );
}

async function migrated(): Promise<boolean> {
  const wanted = await migrationsHash();
  if ((await readFile(MARK, "utf8").catch(() => "")) === wanted) return false;
  await wranglerQuietly(["d1", "migrations", "apply", "DB", "--local"]);
  await mkdir(".wrangler/state", { recursive: true });
  await writeFile(MARK, wanted);
  return true;
}

async function migrationsHash(): Promise<string> {
  const hash = createHash("sha256");
  for (const name of (await readdir("migrations")).sort()) hash.update(name).update(await readFile(`migrations/${name}`));
  return hash.digest("hex");
}

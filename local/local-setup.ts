import { createHash } from "node:crypto";
import {
  appendFile,
  constants,
  copyFile,
  mkdir,
  readdir,
  readFile,
  writeFile,
} from "node:fs/promises";
import path from "node:path";
import { missingSealingKeys } from "./sealing-keys";
import { DEFAULT_STATE } from "./start-arguments";
import { wranglerQuietly } from "./bundle/wrangler";

/** Stored beside the local database, so that deleting the folder removes both. */
const MARK = "massgen-edge-migrations";

type SetupOptions = {
  /** The folder of local storage. */
  persistTo?: string;
  /** Whether to use `.dev.vars`; if not, it is not created. */
  withDevVars?: boolean;
};

/**
 * Creates `.dev.vars` with new sealing keys and migrates the local database. Idempotent and quick.
 */
export async function ensureSetup(
  say: (line: string) => void,
  { persistTo = DEFAULT_STATE, withDevVars = true }: SetupOptions = {},
): Promise<void> {
  if (withDevVars) {
    if (await copiedDevVars())
      say(
        "Created .dev.vars from .dev.vars.example. Add provider keys for local development to it.",
      );
    if (await addedSealingKeys())
      say("Added SEALING_KEYS to .dev.vars: they encrypt API keys in configs.");
  }
  if (await migrated(persistTo)) say("Migrated the local database.");
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

async function addedSealingKeys(): Promise<boolean> {
  const missing = missingSealingKeys(await readFile(".dev.vars", "utf8"));
  if (missing !== null) await appendFile(".dev.vars", missing);
  return missing !== null;
}

async function migrated(persistTo: string): Promise<boolean> {
  const mark = path.join(persistTo, MARK);
  const wanted = await migrationsHash();
  if ((await readFile(mark, "utf8").catch(() => "")) === wanted) return false;
  await wranglerQuietly(["d1", "migrations", "apply", "DB", "--local", "--persist-to", persistTo]);
  await mkdir(persistTo, { recursive: true });
  await writeFile(mark, wanted);
  return true;
}

async function migrationsHash(): Promise<string> {
  const hash = createHash("sha256");
  for (const name of (await readdir("migrations")).sort())
    hash.update(name).update(await readFile(`migrations/${name}`));
  return hash.digest("hex");
}

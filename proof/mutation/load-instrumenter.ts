import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

const FOLDER = path.resolve("proof/mutation");
const ENTRY = path.join(FOLDER, "node_modules/@stryker-mutator/instrumenter/dist/src/index.js");

/**
 * Loads Stryker's instrumenter. It is not a package of the repository, because only this campaign
 * needs it. The first call installs it from `proof/mutation/package-lock.json`, from npm's cache if
 * possible.
 */
export async function loadInstrumenter(): Promise<typeof import("@stryker-mutator/instrumenter")> {
  if (!existsSync(ENTRY)) {
    execFileSync("npm", ["ci", "--prefer-offline", "--no-progress"], {
      cwd: FOLDER,
      stdio: ["ignore", "ignore", "inherit"],
      shell: process.platform === "win32",
    });
  }
  return import(pathToFileURL(ENTRY).href);
}

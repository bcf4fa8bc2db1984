import { appendFile, mkdir, readFile, rename, writeFile } from "node:fs/promises";
import path from "node:path";
import * as z from "zod";
import type { Commit } from "./commit";
import type { Size } from "./counts";

/**
 * The result of a finished campaign. `counts`: its counts in words. `seconds`: its wall time. `at`:
 * the ISO time at which it ended.
 */
const CampaignResultSchema = z.object({
  campaign: z.string(),
  counts: z.string(),
  passed: z.number(),
  failed: z.number(),
  seconds: z.number(),
  at: z.string(),
});
export type CampaignResult = z.infer<typeof CampaignResultSchema>;

/** The results that earlier runs on the same commit stored; empty if there is no such file. */
export async function readResults(file: string): Promise<CampaignResult[]> {
  const text = await readFile(file, "utf8").catch(() => null);
  return text === null ? [] : z.array(CampaignResultSchema).parse(JSON.parse(text));
}

/** Replaces the file in one step, so that an interruption never leaves half a file. */
export async function writeResults(
  file: string,
  finished: readonly CampaignResult[],
): Promise<void> {
  await writeFile(`${file}.new`, JSON.stringify(finished, null, 2));
  await rename(`${file}.new`, file);
}

const HEAD = `# Runs of the campaigns

\`npm run proof -- --size nightly|release\` appends a line for each campaign that has ended. Counts are in \`proof/counts.ts\`.

| Time (UTC) | Size | Commit | Campaign | Counts | Passed | Failed | Seconds |
|---|---|---|---|---|--:|--:|--:|
`;

/** Appends a line to `docs/proof/runs.md`. */
export async function appendResult(
  result: CampaignResult,
  size: Size,
  commit: Commit,
  folder = "docs/proof",
): Promise<void> {
  const file = path.join(folder, "runs.md");
  await mkdir(folder, { recursive: true });
  await writeFile(file, HEAD, { flag: "wx" }).catch(ignoreExisting);
  const { at, campaign, counts, passed, failed, seconds } = result;
  const cells = [
    at.slice(0, 16).replace("T", " "),
    size,
    commit.words,
    campaign,
    counts,
    passed,
    failed,
    seconds,
  ];
  await appendFile(file, `| ${cells.join(" | ")} |\n`);
}

function ignoreExisting(error: unknown): void {
  if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
}

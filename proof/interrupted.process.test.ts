import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { expect, it, vi } from "vitest";

/** Time limit for the start of a campaign, which takes seconds on a busy machine. */
const STARTED_WITHIN_MS = 60_000;

/** Ids of running processes whose command line contains `text`. Linux only. */
const processesWith = (text: string): string[] =>
  readdirSync("/proc").filter((id) => {
    if (!/^\d+$/.test(id) || id === String(process.pid)) return false;
    try {
      return readFileSync(`/proc/${id}/cmdline`, "utf8").includes(text);
    } catch {
      return false; // The process has ended meanwhile.
    }
  });

it.skipIf(process.platform !== "linux").each([
  { signal: "SIGTERM", code: 143 },
  { signal: "SIGINT", code: 130 },
] as const)(
  "$signal ends the running campaign, starts no other and records no result",
  async ({ signal, code }) => {
    const proof = spawn(
      process.execPath,
      ["scripts/run.mjs", "proof/main.ts", "--size", "change", "--only", "timing", "--fresh"],
      { stdio: ["ignore", "pipe", "inherit"] },
    );
    let printed = "";
    proof.stdout.setEncoding("utf8").on("data", (text: string) => {
      printed += text;
    });
    const ended = once(proof, "exit");
    await vi.waitFor(() => expect(printed).toContain("RUN"), STARTED_WITHIN_MS);
    proof.kill(signal);
    expect(await ended).toEqual([code, null]);
    expect(printed.match(/RUN/g)).toHaveLength(1);
    expect(printed).not.toMatch(/^[✓✗] timing/m);
    expect(processesWith("timing/guessing.proof.test.ts")).toEqual([]);
  },
);

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { RUN } from "../../src/api/sessions/examples";
import { blocksOf, DOCUMENTS } from "./documents";

/** Pages whose blocks a reader runs one after another in one shell. */
const PAGES = DOCUMENTS.filter(
  ({ file, text }) =>
    /^(README\.md|client\/|docs\/(start\.md|guides\/))/.test(file) &&
    blocksOf(text, "sh").length > 0,
);

/**
 * Shell functions that replace commands which need a network or a service. They do nothing, except
 * that `curl` prints a response of the service, and its arguments to file descriptor 3. Standard
 * error is a file, because `tee /dev/stderr` cannot open the socket that Node passes.
 */
const STUBS = `
exec 3>calls 2>errors
npm() { :; }
npx() { :; }
git() { :; }
massgen-edge() { :; }
curl() { echo "$*" >&3; printf '%s' "$RESPONSE"; }
`;

/**
 * Runs all shell blocks in order and returns the calls of `curl`. Throws if a command fails or a
 * variable is not set.
 */
function runBlocks(text: string): string[] {
  const folder = mkdtempSync(path.join(tmpdir(), "blocks-"));
  try {
    const script = ["set -euo pipefail", STUBS, ...blocksOf(text, "sh")].join("\n");
    execFileSync("bash", ["-c", script], {
      cwd: folder,
      env: { PATH: process.env["PATH"], RESPONSE: JSON.stringify(RUN) },
      stdio: "ignore",
    });
    return readFileSync(path.join(folder, "calls"), "utf8").split("\n").filter(Boolean);
  } catch (error) {
    throw new Error(readFileSync(path.join(folder, "errors"), "utf8"), { cause: error });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe("the shell blocks of a page", () => {
  it("are on most guides", () => {
    expect(PAGES.length).toBeGreaterThan(10);
  });

  it.each(PAGES)("run one after another without an error: $file", ({ text }) => {
    expect(() => runBlocks(text)).not.toThrow();
  });

  it.each(["README.md", "docs/guides/conversations.md"])(
    "request the session that the first call started: %s",
    (file) => {
      const [start = "", ...calls] = runBlocks(readFileSync(file, "utf8"));
      expect(start).toContain("/api/runs");
      expect(calls.length).toBeGreaterThan(1);
      for (const call of calls) expect(call).toContain(`/api/sessions/${RUN.session_id}`);
    },
  );

  it("fail if a variable is not set", () => {
    expect(() => runBlocks("```sh\ncurl http://x/$NEVER_SET\n```\n")).toThrow(/NEVER_SET: unbound/);
  });
});

import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { justBashRunner, runCommandTool } from "../../../src/tools/shell";
import { sortedInSteps } from "../../../src/tools/shell/bounded-commands";
import { silenceDuring } from "../../patterns/silence";
import { agentFiles, runTool } from "../files/agent-tree";

const tool = runCommandTool(justBashRunner(Date.now));
/** CPU time without a pause, in ms. Each of these commands took 0.3 to 2.4 s for the same input. */
const MOST_SILENT_MS = 250;
const MIB = 1024 * 1024;

/** Unordered lines of a log, up to this number of bytes. */
function logOf(bytes: number): string {
  const line = (nth: number): string =>
    `${(nth * 7_919) % 1_000_003} alpha beta,${nth % 97} gamma end\n`;
  let text = "";
  for (let nth = 0; text.length + line(nth).length <= bytes; nth++) text += line(nth);
  return text;
}

const large = logOf(7.5 * MIB);
const half = logOf(2 * MIB);

async function ran(command: string, workspace: Record<string, string>) {
  const files = await agentFiles({ workspace });
  return silenceDuring(async () => runTool(tool, { command }, files));
}

describe("a command over megabytes (H5)", () => {
  it.each([
    "sort -n f | head -1",
    "uniq f | head -1",
    "rev f | tail -1 | wc -l",
    "wc -w f",
    "cut -d' ' -f1 f | wc -l",
  ])("processes 2 MiB and yields the thread: %s", async (command) => {
    const { result, cpuMs } = await ran(command, { f: half });
    expect(result.text).not.toContain("too much at once");
    expect(cpuMs).toBeLessThan(MOST_SILENT_MS);
  });

  it.each([
    "expand",
    "fold",
    "gzip",
    "unexpand",
    "jq .",
    "rev",
    "sort",
    "uniq",
    "comm /dev/null",
    "nl",
    "od",
    "paste",
    "tac",
  ])("is refused by name if it could not pause: %s", async (command) => {
    const { result, cpuMs } = await ran(`${command} f; ${command} < f > /dev/null`, { f: large });
    const [name] = command.split(" ");
    expect(result.text).toMatch(
      new RegExp(`^${name}: [\\d.]+ MiB are too much at once; ${name} takes [\\d.]+ MiB here`, "m"),
    );
    expect(cpuMs).toBeLessThan(MOST_SILENT_MS);
  });

  it.each([
    "wc f",
    "head -n 1 f",
    "tail -n 1 f",
    "head -c 9 < f",
    "cat f",
    "tr a b < f",
    "diff f g",
    "diff f f",
    "grep alpha f",
    "while read x; do break; done < f",
    "md5sum f",
    "md5sum < f",
    "md5sum -c list",
    "md5sum -c lacking",
    "sha1sum < f",
    "sha256sum < f",
    "sha256sum -c list",
    "split -b 1M - p < f",
    "column -t f",
    "join f g",
    "strings f",
    "base64 f",
    "awk '{print $1}' f",
    "cut -d' ' -f1 f",
  ])("yields the thread, whether it succeeds or not: %s", async (command) => {
    const list = `${"0".repeat(32)}  f\n`.repeat(3);
    const lacking = `${"0".repeat(32)}  lacking/x\n`.repeat(100_000);
    const { cpuMs } = await ran(command, { f: large, g: "\n".repeat(7 * MIB), list, lacking });
    expect(cpuMs).toBeLessThan(MOST_SILENT_MS);
  });

  it("computes checksums of its input", async () => {
    const { result } = await ran(
      "printf abc | md5sum; printf abc | sha1sum; md5sum f; md5sum < f",
      { f: large },
    );
    const md5 = createHash("md5").update(large).digest("hex");
    const said = [
      "900150983cd24fb0d6963f7d28e17f72  -",
      "a9993e364706816aba3e25717850c26c9cd0d89d  -",
      `${md5}  f`,
      `${md5}  -`,
    ];
    expect(result.text).toBe(said.join("\n"));
  });

  it("counts the files of directories that a command walks", async () => {
    const { result, cpuMs } = await ran("echo '{}' | jq -c . && gzip -r d", {
      "d/a": half,
      "d/e/b": half,
    });
    expect(result.text).toMatch(/^\{\}$/m);
    expect(result.text).toMatch(/gzip: 4 MiB are too much at once/);
    expect(cpuMs).toBeLessThan(MOST_SILENT_MS);
  });

  it("accepts the parts that its error recommends", async () => {
    const { result } = await ran(
      "split -b 1M f p; for p in p*; do fold -w 20 $p > o || exit 1; done; echo done",
      { f: half },
    );
    expect(result.text).toBe("done");
  });
});

describe("lines sorted in steps", () => {
  it.each([0, 1, 63, 64, 65, 128, 1_000, 4_097])(
    "are in order, equal lines in their original order: %i",
    async (count) => {
      const lines = Array.from({ length: count }, (_, nth) => `${(nth * 7_919) % 101} ${nth}`);
      const byKey = (a: string, b: string) => Number.parseInt(a, 10) - Number.parseInt(b, 10);
      let looks = 0;
      const sorted = await sortedInSteps(lines, byKey, () => {
        looks++;
        return undefined;
      });
      expect(sorted).toEqual([...lines].sort(byKey));
      expect(looks).toBeGreaterThanOrEqual(count / 64);
    },
  );
});

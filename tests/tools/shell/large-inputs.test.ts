import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { justBashRunner, runCommandTool } from "../../../src/tools/shell";
import { sortedInSteps } from "../../../src/tools/shell/bounded-commands";
import { silenceDuring } from "../../patterns/silence";
import { agentFiles, runTool } from "../files/agent-tree";

const tool = runCommandTool(justBashRunner(Date.now));
/** Maximum CPU time without a pause, in ms. Without limits, these commands take 0.3 to 2.4 s. */
const MAX_SILENT_MS = 250;
const MIB = 1024 * 1024;

/** A log with unsorted lines, of at most this number of bytes. */
function logOf(bytes: number): string {
  const line = (number: number): string =>
    `${(number * 7_919) % 1_000_003} alpha beta,${number % 97} gamma end\n`;
  let text = "";
  for (let number = 0; text.length + line(number).length <= bytes; number++) text += line(number);
  return text;
}

const LARGE_LOG = logOf(7.5 * MIB);
const SMALLER_LOG = logOf(2 * MIB);

async function runMeasured(command: string, workspace: Record<string, string>) {
  const files = await agentFiles({ workspace });
  return silenceDuring(async () => runTool(tool, { command }, files));
}

describe("a command with an input of megabytes (H5)", () => {
  it.each([
    "sort -n f | head -1",
    "uniq f | head -1",
    "rev f | tail -1 | wc -l",
    "wc -w f",
    "cut -d' ' -f1 f | wc -l",
  ])("processes 2 MiB and pauses: %s", async (command) => {
    const { result, cpuMs } = await runMeasured(command, { f: SMALLER_LOG });
    expect(result.text).not.toContain("too much at once");
    expect(cpuMs).toBeLessThan(MAX_SILENT_MS);
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
  ])("is refused with its name if it cannot pause: %s", async (command) => {
    const { result, cpuMs } = await runMeasured(`${command} f; ${command} < f > /dev/null`, {
      f: LARGE_LOG,
    });
    const [name] = command.split(" ");
    expect(result.text).toMatch(
      new RegExp(`^${name}: [\\d.]+ MiB are too much at once; ${name} takes [\\d.]+ MiB here`, "m"),
    );
    expect(cpuMs).toBeLessThan(MAX_SILENT_MS);
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
  ])("pauses, also if it fails: %s", async (command) => {
    const list = `${"0".repeat(32)}  f\n`.repeat(3);
    const lacking = `${"0".repeat(32)}  lacking/x\n`.repeat(100_000);
    const { cpuMs } = await runMeasured(command, {
      f: LARGE_LOG,
      g: "\n".repeat(7 * MIB),
      list,
      lacking,
    });
    expect(cpuMs).toBeLessThan(MAX_SILENT_MS);
  });

  it("computes correct checksums", async () => {
    const { result } = await runMeasured(
      "printf abc | md5sum; printf abc | sha1sum; md5sum f; md5sum < f",
      { f: LARGE_LOG },
    );
    const md5 = createHash("md5").update(LARGE_LOG).digest("hex");
    const expectedLines = [
      "900150983cd24fb0d6963f7d28e17f72  -",
      "a9993e364706816aba3e25717850c26c9cd0d89d  -",
      `${md5}  f`,
      `${md5}  -`,
    ];
    expect(result.text).toBe(expectedLines.join("\n"));
  });

  it("is refused if the files in a directory are too large together", async () => {
    const { result, cpuMs } = await runMeasured("echo '{}' | jq -c . && gzip -r d", {
      "d/a": SMALLER_LOG,
      "d/e/b": SMALLER_LOG,
    });
    expect(result.text).toMatch(/^\{\}$/m);
    expect(result.text).toMatch(/gzip: 4 MiB are too much at once/);
    expect(cpuMs).toBeLessThan(MAX_SILENT_MS);
  });

  it("processes the parts that its error recommends", async () => {
    const { result } = await runMeasured(
      "split -b 1M f p; for p in p*; do fold -w 20 $p > o || exit 1; done; echo done",
      { f: SMALLER_LOG },
    );
    expect(result.text).toBe("done");
  });
});

describe("sortedInSteps", () => {
  it.each([0, 1, 63, 64, 65, 128, 1_000, 4_097])(
    "sorts lines and does not change the order of equal lines: %i lines",
    async (count) => {
      const lines = Array.from(
        { length: count },
        (_, number) => `${(number * 7_919) % 101} ${number}`,
      );
      const byKey = (a: string, b: string) => Number.parseInt(a, 10) - Number.parseInt(b, 10);
      let pauseChecks = 0;
      const sorted = await sortedInSteps(lines, byKey, () => {
        pauseChecks++;
        return undefined;
      });
      expect(sorted).toEqual([...lines].sort(byKey));
      expect(pauseChecks).toBeGreaterThanOrEqual(count / 64);
    },
  );
});

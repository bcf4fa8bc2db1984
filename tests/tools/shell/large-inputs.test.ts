import { describe, expect, it } from "vitest";
import { justBashRunner, runCommandTool } from "../../../src/tools/shell";
import { sortedInSteps } from "../../../src/tools/shell/sorted-in-steps";
import { silenceDuring } from "../../patterns/silence";
import { agentFiles, runTool } from "../files/agent-tree";

const tool = runCommandTool(justBashRunner(Date.now));
/** CPU time without a pause, in ms. Each of these commands took 0.3 to 2.4 s for the same input. */
const MOST_SILENT_MS = 250;
const MIB = 1024 * 1024;

/** Lines of a log in no order, as many as fit into so many bytes. */
function logOf(bytes: number): string {
  const line = (nth: number): string => `${(nth * 7_919) % 1_000_003} alpha beta,${nth % 97} gamma end\n`;
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
  it.each(["sort -n f | head -1", "uniq f | head -1", "rev f | tail -1 | wc -l", "wc -w f", "cut -d' ' -f1 f | wc -l"])(
    "takes 2 MiB and gives the thread back: %s",
    async (command) => {
      const { result, cpuMs } = await ran(command, { f: half });
      expect(result.text).not.toContain("too much at once");
      expect(cpuMs).toBeLessThan(MOST_SILENT_MS);
    },
  );

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
    "md5sum",
    "nl",
    "od",
    "paste",
    "tac",
  ])("is refused by name where it could not pause: %s", async (command) => {
    const { result, cpuMs } = await ran(`${command} f; ${command} < f > /dev/null`, { f: large });
    const [name] = command.split(" ");
    expect(result.text).toMatch(new RegExp(`^${name}: [\\d.]+ MiB are too much at once; ${name} takes [\\d.]+ MiB here`, "m"));
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
  ])("gives the thread back, whatever it comes to: %s", async (command) => {
    const { cpuMs } = await ran(command, { f: large, g: "\n".repeat(7 * MIB) });
    expect(cpuMs).toBeLessThan(MOST_SILENT_MS);
  });

  it("takes the parts that it advises to make", async () => {
    const { result } = await ran("split -b 1M f p; for p in p*; do fold -w 20 $p > o || exit 1; done; echo done", { f: half });
    expect(result.text).toBe("done");
  });
});

describe("lines sorted in steps", () => {
  it.each([0, 1, 63, 64, 65, 128, 1_000, 4_097])("are in order, equal ones as they were: %i", async (count) => {
    const lines = Array.from({ length: count }, (_, nth) => `${(nth * 7_919) % 101} ${nth}`);
    const byKey = (a: string, b: string) => Number.parseInt(a, 10) - Number.parseInt(b, 10);
    let looks = 0;
    const sorted = await sortedInSteps(lines, byKey, () => {
      looks++;
      return undefined;
    });
    expect(sorted).toEqual([...lines].sort(byKey));
    expect(looks).toBeGreaterThanOrEqual(count / 64);
  });
});

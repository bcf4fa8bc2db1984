import { toPointer } from "../config/problems";
import type { Grade } from "./schema";

/**
 * Whether the JSON of the answer equals the value expected, whatever the order of keys. The JSON of an answer is all of it, or
 * else its last fenced block that is JSON; blocks inside of other blocks are not looked into. Where JSON names a key twice, the
 * last one counts, as everywhere in JavaScript.
 */
export function gradeJson(answer: string, expected: unknown): Grade {
  const found = [answer, ...fencedBlocks(answer).reverse()]
    .map(parse)
    .find((parsed) => parsed !== null);
  if (!found)
    return { pass: false, detail: "has no JSON, neither as all of it nor in a fenced block" };
  const place = firstDifference(found.value, expected, "");
  return place === null
    ? { pass: true, detail: "is the JSON" }
    : { pass: false, detail: `its JSON differs at ${place || "its root"}` };
}

function parse(text: string): { value: unknown } | null {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return null;
  }
}

/** Contents of the fenced blocks of a Markdown text, the outermost ones. One left open goes on to the end. */
export function fencedBlocks(text: string): string[] {
  const blocks: string[][] = [];
  let fence: string | null = null;
  for (const line of text.split(/\r?\n/)) {
    const marks = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (fence === null) {
      if (marks === undefined) continue;
      fence = marks;
      blocks.push([]);
    } else if (marks?.startsWith(fence) && line.trim() === marks) {
      fence = null;
    } else {
      blocks.at(-1)?.push(line);
    }
  }
  return blocks.map((lines) => lines.join("\n"));
}

/** JSON pointer of the first place where two values differ; null where they are equal. Goes no deeper than `expected` does. */
function firstDifference(found: unknown, expected: unknown, at: string): string | null {
  if (!isContainer(found) || !isContainer(expected)) return found === expected ? null : at;
  if (Array.isArray(found) !== Array.isArray(expected)) return at;
  const [inFound, inExpected] = [membersOf(found), membersOf(expected)];
  for (const key of new Set([...inExpected.keys(), ...inFound.keys()])) {
    const place = `${at}${toPointer([key])}`;
    if (!inFound.has(key) || !inExpected.has(key)) return place;
    const inside = firstDifference(inFound.get(key), inExpected.get(key), place);
    if (inside !== null) return inside;
  }
  return null;
}

const isContainer = (value: unknown): value is object =>
  typeof value === "object" && value !== null;

const membersOf = (container: object): Map<string, unknown> => new Map(Object.entries(container));

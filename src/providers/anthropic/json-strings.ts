/**
 * Extracts the string values of a JSON object while it is still streamed: the input of a hosted
 * tool without names and punctuation. Each value starts on a new line.
 */

type JsonStrings = {
  /** Adds the next piece of JSON; returns the text it contributes. */
  push(piece: string): string;
};

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", b: "\b", f: "\f" };

/** With `continues`, the first value starts on a new line too. */
export function createJsonStrings(continues = false): JsonStrings {
  /** One entry per open object (true: a name follows) or list (always false). */
  const names: boolean[] = [];
  const objects: boolean[] = [];
  let inText = false;
  let wanted = false;
  let pending: string | null = null;
  let found = continues;

  const outside = (char: string): string => {
    if (char === "{" || char === "[") {
      objects.push(char === "{");
      names.push(char === "{");
    } else if (char === "}" || char === "]") {
      objects.pop();
      names.pop();
    } else if (char === ":" || char === ",") {
      names[names.length - 1] = char === "," && objects.at(-1) === true;
    } else if (char === '"') {
      inText = true;
      wanted = names.at(-1) !== true;
      const first = !found;
      found ||= wanted;
      return wanted && !first ? "\n" : "";
    }
    return "";
  };
  const inside = (char: string): string => {
    if (pending !== null) {
      pending += char;
      if (pending.startsWith("u") && pending.length < 5) return "";
      const text = pending.startsWith("u")
        ? unicode(pending.slice(1))
        : (ESCAPES[pending] ?? pending);
      pending = null;
      return wanted ? text : "";
    }
    if (char === "\\") pending = "";
    else if (char === '"') inText = false;
    else return wanted ? char : "";
    return "";
  };

  return {
    push(piece) {
      const added: string[] = [];
      for (const char of piece) added.push(inText ? inside(char) : outside(char));
      return added.join("");
    },
  };
}

const unicode = (hex: string): string =>
  /^[0-9a-f]{4}$/i.test(hex) ? String.fromCharCode(Number.parseInt(hex, 16)) : "";

/** All string values of a JSON value, formatted as by `createJsonStrings`. */
export const jsonStrings = (value: unknown): string =>
  createJsonStrings().push(JSON.stringify(value) ?? "");

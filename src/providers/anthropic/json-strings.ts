/**
 * Reads the text values of a JSON object while it is still being written: what a hosted tool is asked, without the names and
 * marks around it. Each value begins on a line of its own.
 */

type JsonStrings = {
  /** Takes the next piece of the JSON text; gives the text that it adds. */
  push(piece: string): string;
};

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", b: "\b", f: "\f" };

/** With `continues`, the first value begins on a new line too. */
export function createJsonStrings(continues = false): JsonStrings {
  /** One entry for each open object (true: a name comes next) and list (false, for ever). */
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

/** All text values of a JSON value, as `createJsonStrings` gives them. */
export const jsonStrings = (value: unknown): string =>
  createJsonStrings().push(JSON.stringify(value) ?? "");

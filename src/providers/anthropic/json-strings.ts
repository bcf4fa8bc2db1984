import { readString, UNICODE_ESCAPE_CHARS } from "../json-string";

/**
 * Extracts the string values of a JSON object while it is still streamed: the input of a hosted
 * tool without names and punctuation. Each value starts on a new line.
 */

type JsonStrings = {
  /** Adds the next piece of JSON; returns the text it contributes. */
  push(piece: string): string;
};

/** With `continues`, the first value starts on a new line too. */
export function createJsonStrings(continues = false): JsonStrings {
  /** One entry per open object (true: a name follows) or list (always false). */
  const names: boolean[] = [];
  const objects: boolean[] = [];
  let inText = false;
  let wanted = false;
  /** An escape that the last piece has cut. */
  let cut = "";
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
  /** Reads the open string from an offset; returns the offset after the part that was read. */
  const inside = (text: string, from: number, added: string[]): number => {
    const part = readString(text, from);
    if (wanted) added.push(part.text);
    switch (part.stop) {
      case "quote":
        inText = false;
        return part.end;
      case "cut":
        cut = text.slice(part.end);
        return text.length;
      case "invalid":
        return part.end + UNICODE_ESCAPE_CHARS;
    }
  };

  return {
    push(piece) {
      const text = cut + piece;
      cut = "";
      const added: string[] = [];
      for (let at = 0; at < text.length; ) {
        if (inText) at = inside(text, at, added);
        else added.push(outside(text[at++] ?? ""));
      }
      return added.join("");
    },
  };
}

/** All string values of a JSON value, formatted as by `createJsonStrings`. */
export const jsonStrings = (value: unknown): string =>
  createJsonStrings().push(JSON.stringify(value) ?? "");

import { readString, UNICODE_ESCAPE_CHARS } from "../json-string";

/**
 * Extracts the string values of a JSON object while the object is still being streamed. So the
 * input of a hosted tool is shown without property names and punctuation. Each value starts on a
 * new line.
 */

type JsonStrings = {
  /** Adds the next piece of JSON; returns the text of string values in it. */
  push(piece: string): string;
};

/** With `followsText`, earlier text was shown, so the first value starts on a new line too. */
export function createJsonStrings(followsText = false): JsonStrings {
  /** One entry per open object or list: whether the next string is a property name. */
  const expectsName: boolean[] = [];
  /** One entry per open object or list: whether it is an object. */
  const isObject: boolean[] = [];
  let isInString = false;
  let isValue = false;
  /** The beginning of an escape sequence that the last piece ended inside of. */
  let partialEscape = "";
  let hasValue = followsText;

  const readOutside = (char: string): string => {
    if (char === "{" || char === "[") {
      isObject.push(char === "{");
      expectsName.push(char === "{");
    } else if (char === "}" || char === "]") {
      isObject.pop();
      expectsName.pop();
    } else if (char === ":" || char === ",") {
      expectsName[expectsName.length - 1] = char === "," && isObject.at(-1) === true;
    } else if (char === '"') {
      isInString = true;
      isValue = expectsName.at(-1) !== true;
      const isFirst = !hasValue;
      hasValue ||= isValue;
      return isValue && !isFirst ? "\n" : "";
    }
    return "";
  };
  /** Reads the open string from an offset; returns the offset after the part that was read. */
  const readInside = (text: string, from: number, added: string[]): number => {
    const part = readString(text, from);
    if (isValue) added.push(part.text);
    switch (part.stop) {
      case "quote":
        isInString = false;
        return part.end;
      case "cut":
        partialEscape = text.slice(part.end);
        return text.length;
      case "invalid":
        return part.end + UNICODE_ESCAPE_CHARS;
    }
  };

  return {
    push(piece) {
      const text = partialEscape + piece;
      partialEscape = "";
      const added: string[] = [];
      for (let offset = 0; offset < text.length; ) {
        if (isInString) offset = readInside(text, offset, added);
        else added.push(readOutside(text[offset++] ?? ""));
      }
      return added.join("");
    },
  };
}

/** All string values of a JSON value, formatted as by `createJsonStrings`. */
export const jsonStrings = (value: unknown): string =>
  createJsonStrings().push(JSON.stringify(value) ?? "");

import { ALL_PARAMS, FORMAT_NAMES, FORMAT_PARAMS } from "../../../src/providers/format-params";
import {
  type FormatParams,
  NO_EQUIVALENT,
  type ParamKind,
} from "../../../src/providers/param-types";
import { code, codes, grouped, table } from "../markdown";

const FORMATS = ["openai-chat", "openai-responses", "anthropic", "gemini"] as const;
const FORMAT_HEADERS = FORMATS.map((format) => FORMAT_NAMES[format].replace(/^the /, ""));

/** The table of all parameters of configs, with their form or replacement in each wire format. */
export function paramsTable(): string {
  const rows = [...ALL_PARAMS]
    .sort()
    .map((name) => [code(name), ...FORMATS.map((format) => cellText(name, FORMAT_PARAMS[format]))]);
  return table(["Parameter", ...FORMAT_HEADERS], rows);
}

function cellText(name: string, { kinds, outputCaps, foreign }: FormatParams): string {
  const kind = Object.hasOwn(kinds, name) ? kinds[name] : undefined;
  if (kind) return kindText(kind);
  if (outputCaps.includes(name)) return "cap on output tokens";
  const advice = Object.hasOwn(foreign, name) ? foreign[name] : undefined;
  return advice === undefined || advice === NO_EQUIVALENT ? "" : advice;
}

function kindText(kind: ParamKind): string {
  switch (kind.type) {
    case "number":
      return `${kind.min} to ${kind.max}`;
    case "integer":
      return Number.isSafeInteger(kind.max + 1)
        ? `whole, ${grouped(kind.min)} to ${grouped(kind.max)}`
        : "whole number";
    case "words":
      return codes(kind.words);
    case "flag":
      return "`true`, `false`";
    case "list_or_mapping":
      return "list or mapping";
    case "texts":
      return "list of texts";
    case "text":
    case "list":
    case "mapping":
      return kind.type;
  }
}

/** The table of request fields that `extra_body` must not contain. */
export function reservedTable(): string {
  const rows = FORMATS.map((format, index) => {
    const { reserved, outputCaps } = FORMAT_PARAMS[format];
    return [FORMAT_HEADERS[index] ?? format, codes([...new Set([...reserved, ...outputCaps])])];
  });
  return table(["Format", "`extra_body` must not contain"], rows);
}

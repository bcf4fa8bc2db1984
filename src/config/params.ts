import type { FormatParams, ParamKind } from "../providers/param-types";
import {
  flag,
  integer,
  type Kind,
  list,
  listOrMapping,
  mapping,
  number,
  oneOf,
  read,
  type Section,
  text,
  texts,
  toPlain,
} from "./fields";
import { MAX_NAME_CHARS } from "./config-limits";
import { refuseStrayKeys } from "./stray-keys";

/** Reads the parameters of a backend section. Its wire format defines their names and types. */

/** The parameters of a format, and its name for users. */
type ParamsFormat = { params: FormatParams; name: string };

/** Keys that no config may set, in any format. */
const FORBIDDEN_KEYS = ["__proto__", "constructor", "prototype"];

/** Converts the type of a parameter to a type of config values. */
export function toKind(kind: ParamKind): Kind<unknown> {
  switch (kind.type) {
    case "number":
      return number(kind.min, kind.max);
    case "integer":
      return integer(kind.min, kind.max);
    case "words":
      return oneOf(kind.words);
    case "flag":
      return flag;
    case "text":
      return text(MAX_NAME_CHARS);
    case "list":
      return list;
    case "texts":
      return texts;
    case "mapping":
      return mapping;
    case "list_or_mapping":
      return listOrMapping;
  }
}

/**
 * Reads the parameters of a backend section. Refuses parameters of other formats and names the
 * equivalent parameter. `allKeys`: the parameters of all formats.
 */
export function readParams(
  backend: Section,
  format: ParamsFormat,
  allKeys: readonly string[],
): Record<string, unknown> {
  refuseForeign(backend, format, allKeys);
  const entries: [string, unknown][] = [];
  for (const [key, kind] of Object.entries(format.params.kinds)) {
    const value = read(backend, key, toKind(kind), null);
    if (value !== null) entries.push([key, toPlain(value)]);
  }
  const extra = readExtraBody(backend, format.params);
  if (extra) entries.push(["extra_body", extra]);
  return Object.fromEntries(entries);
}

/** Refuses parameters that only other formats have. The provider would refuse them anyway. */
function refuseForeign(
  { path, values, findings }: Section,
  { params, name }: ParamsFormat,
  allKeys: readonly string[],
): void {
  for (const key of allKeys) {
    if (!values.has(key) || Object.hasOwn(params.kinds, key) || params.outputCaps.includes(key))
      continue;
    const advice = Object.hasOwn(params.foreign, key) ? params.foreign[key] : undefined;
    const instead = advice
      ? `: ${advice}`
      : ". Write other parameters of the provider under `extra_body`";
    const detail = `\`${key}\` is not supported by ${name}${instead}.`;
    findings.error("unknown_key", [...path, key], detail, "key");
  }
}

/**
 * Reads `extra_body`. Refuses fields that the service sets itself. Compares names without case,
 * because some servers ignore case in field names.
 */
function readExtraBody(backend: Section, { reserved, outputCaps }: FormatParams): unknown {
  const extra = read(backend, "extra_body", mapping, null);
  const reservedNames = new Set(
    [...reserved, ...outputCaps, ...FORBIDDEN_KEYS].map((name) => name.toLowerCase()),
  );
  for (const key of extra?.keys() ?? []) {
    if (!reservedNames.has(String(key).toLowerCase())) continue;
    const detail = `The service sets \`${String(key)}\` itself: remove it from \`extra_body\`.`;
    backend.findings.error(
      "not_allowed",
      [...backend.path, "extra_body", String(key)],
      detail,
      "key",
    );
  }
  refuseStrayKeys(backend.findings, [...backend.path, "extra_body"], extra);
  return extra && toPlain(extra);
}

/** Refuses combinations of parameters, or parameters that the model does not support. */
export function checkParams(
  backend: Section,
  { params: { check } }: ParamsFormat,
  { params, model }: ModelParams,
): void {
  for (const { key, detail } of check?.(params, model) ?? []) {
    backend.findings.error(
      "not_allowed",
      [...backend.path, key],
      `${key}: ${detail.replace(/\.$/, "")}.`,
      "key",
    );
  }
}

type ModelParams = { params: Readonly<Record<string, unknown>>; model: string };

/** The config's cap on output tokens per call; `null` if there is none. */
export function readOutputCap(
  backend: Section,
  { params: { outputCaps } }: ParamsFormat,
): number | null {
  const caps = outputCaps
    .map((key) => read(backend, key, integer(1, 10_000_000), null))
    .filter((cap) => cap !== null);
  return caps.length === 0 ? null : Math.min(...caps);
}

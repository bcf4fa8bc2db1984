import type { z } from "zod";
import { toPlain } from "../config/fields";
import { nearest } from "../config/nearest";
import { inReportForm, type ConfigProblem, Findings, type Path } from "../config/problems";
import { readSource } from "../config/source";
import { byteLength } from "../coordination";
import { cronProblem } from "./cron";
import { MAX_SUITE_BYTES } from "./suite-limits";
import { SUITE_KEYS, type Suite, SuiteSchema } from "./schema";

type SuiteResult = { ok: true; suite: Suite } | { ok: false; errors: ConfigProblem[] };

/**
 * Parses a suite from YAML. Pure. Never throws for invalid input; returns all problems with line
 * and column. Does not check whether the suite's team can run, because that depends on the
 * operator's keys (see `planRun`).
 */
export function parseSuite(yaml: string): SuiteResult {
  const source = readSource(yaml);
  if (!source.ok) return { ok: false, errors: inReportForm(source.errors) };
  const findings = new Findings(source.locate);
  const parsed = SuiteSchema.safeParse(toPlain(source.root), { reportInput: true });
  if (parsed.success) checkWhole(parsed.data, findings);
  else for (const issue of parsed.error.issues) report(issue, findings);
  if (!parsed.success || findings.errors.length > 0)
    return { ok: false, errors: inReportForm(findings.errors) };
  return { ok: true, suite: parsed.data };
}

/** Makes the checks that concern several fields or the whole suite. */
function checkWhole(suite: Suite, findings: Findings): void {
  const problem = suite.cron === undefined ? null : cronProblem(suite.cron);
  if (problem) findings.error("out_of_range", ["cron"], `\`cron\` ${problem}.`);
  const seenIds = new Set<string>();
  for (const [nth, { id }] of suite.cases.entries()) {
    if (seenIds.has(id))
      findings.error(
        "duplicate",
        ["cases", nth, "id"],
        `Another case already has the id \`${id}\`.`,
      );
    seenIds.add(id);
  }
  const size = byteLength(JSON.stringify(suite));
  if (size <= MAX_SUITE_BYTES) return;
  findings.error(
    "too_large",
    [],
    `The suite has ${size} bytes with expanded aliases; the limit is ${MAX_SUITE_BYTES}.`,
  );
}

function report(issue: z.core.$ZodIssue, findings: Findings): void {
  const path: Path = issue.path.filter((key) => typeof key !== "symbol");
  if (issue.code === "unrecognized_keys") {
    for (const key of issue.keys)
      findings.error("unknown_key", [...path, key], unknownKey(key), "key");
    return;
  }
  const name = path.at(-1);
  if (name === undefined) {
    findings.error(
      "wrong_type",
      path,
      "A suite must be a mapping with name, description, team, budget, cases and so on.",
    );
  } else if (issue.input === undefined && issue.code === "invalid_type") {
    findings.error("missing", path, `${name} is missing.`);
  } else if (name === "type") {
    findings.error(
      "not_served",
      path,
      "type must be exact, contains, number or json. Patterns (regex) are not supported.",
    );
  } else {
    const code =
      issue.code === "invalid_type" || issue.code === "invalid_union"
        ? "wrong_type"
        : "out_of_range";
    findings.error(code, path, `${name}: ${issue.message}.`);
  }
}

function unknownKey(key: string): string {
  const suggestion = nearest(key.slice(0, 60), SUITE_KEYS);
  return `Unknown key \`${key.slice(0, 60)}\`.${suggestion && suggestion !== key ? ` Did you mean \`${suggestion}\`?` : ""}`;
}

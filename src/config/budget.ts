import type { Budget } from "../protocol/team";
import { checkKeys } from "./check-keys";
import { asSection, integer, number, read } from "./fields";
import type { KeyRules } from "./known-keys";
import { MAX_BUDGET_TOKENS, MAX_BUDGET_USD } from "./limits";
import { type ConfigProblem, Findings } from "./problems";
import { readSource } from "./source";

const KEYS: KeyRules = { served: ["max_cost_usd", "max_tokens"], ignored: {}, later: {} };

export type BudgetResult = { ok: true; budget: Budget } | { ok: false; errors: ConfigProblem[] };

/** What a turn may spend, from a request's `budget`. Absent is no limit; 0 means that no paid call is made. */
export function parseBudget(value: unknown): BudgetResult {
  const source = typeof value === "string" ? { ok: true as const, root: value } : readSource(value);
  if (!source.ok) return { ok: false, errors: source.errors };
  const findings = new Findings(() => null);
  const section = asSection(source.root, ["budget"], findings);
  if (!section) return { ok: false, errors: findings.errors };
  checkKeys(section, KEYS);
  const cost = read(section, "max_cost_usd", number(0, MAX_BUDGET_USD), null);
  const tokens = read(section, "max_tokens", integer(0, MAX_BUDGET_TOKENS), null);
  if (findings.errors.length > 0) return { ok: false, errors: findings.errors };
  return { ok: true, budget: { ...(cost !== null && { max_cost_usd: cost }), ...(tokens !== null && { max_tokens: tokens }) } };
}

import type { Allowance } from "./budgets";

/** Files that may exceed a limit, each with its reason. */
export const ALLOWANCES: Allowance[] = [];

import type { Allowance } from "./budgets";

/** Files that may exceed a stop, each with its reason. Data may be long; flow may not. */
export const ALLOWANCES: Allowance[] = [];

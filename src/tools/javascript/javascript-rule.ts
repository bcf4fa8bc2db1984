import type { ToolRule } from "../../protocol/team";

/**
 * Code reaches nothing outside its worker, so planning mode lets it run. But code that ended the whole process would end it again, so
 * what a restart cut off is not repeated: the model is told that nobody knows what became of it.
 */
export const RUN_JAVASCRIPT_RULE: ToolRule = {
  name: "run_javascript",
  acts_outside: false,
  idempotent: false,
};

/** Rules stay what they were when the session began, whatever the operator switches on or off later. */
export const hasJavascript = (rules: readonly ToolRule[]): boolean =>
  rules.some(({ name }) => name === RUN_JAVASCRIPT_RULE.name);

import type { ToolRule } from "../../protocol/team";

/**
 * The rule of `run_javascript`. Code cannot reach anything outside its worker, so planning mode
 * allows this tool. But code that crashed the process would crash it again. So a call that a
 * restart interrupted is not repeated, and the model gets an unknown outcome.
 */
export const RUN_JAVASCRIPT_RULE: ToolRule = {
  name: "run_javascript",
  acts_outside: false,
  idempotent: false,
};

/**
 * Whether a session has `run_javascript`. The rules of a session do not change, even if the
 * operator changes the setting later.
 */
export const hasJavascript = (rules: readonly ToolRule[]): boolean =>
  rules.some(({ name }) => name === RUN_JAVASCRIPT_RULE.name);

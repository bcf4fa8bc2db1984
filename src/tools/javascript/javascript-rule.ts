import type { ToolRule } from "../../protocol/team";

/**
 * Code cannot reach anything outside its worker, so planning mode allows it. But code that crashed
 * the process would crash it again, so a call that a restart interrupted is not repeated: the model
 * gets an unknown outcome.
 */
export const RUN_JAVASCRIPT_RULE: ToolRule = {
  name: "run_javascript",
  acts_outside: false,
  idempotent: false,
};

/** Rules are fixed when the session starts, even if the operator changes the setting later. */
export const hasJavascript = (rules: readonly ToolRule[]): boolean =>
  rules.some(({ name }) => name === RUN_JAVASCRIPT_RULE.name);

import { LIMITS } from "../coordination";
import type { Reply } from "../coordination";
import { isJsonObject } from "../providers/json";
import type { ReplyItem } from "../providers/provider";
import { objectFields, ownField, textFields } from "./call-arguments";

/**
 * Reads the verdict of a judgement call, and the personas of a persona call. The result is `null`
 * if the reply contains no valid one.
 */

export type ToolCall = Extract<ReplyItem, { type: "tool_call" }>;

/**
 * Feedback and personas become part of every agent's prompt, so long texts are cut. The limits are
 * in UTF-16 units.
 */
const MAX_FEEDBACK_CHARS = 8 * 1024;
const MAX_PERSONA_CHARS = 4 * 1024;

/** The last valid verdict of a reply. */
export function verdictOf(calls: readonly ToolCall[]): Reply["verdict"] {
  for (const call of calls.toReversed()) {
    if (call.name === "submit" && isConfirmed(call)) return { restart: false };
    if (call.name !== "restart_orchestration") continue;
    const checked = textFields(call.arguments, ["reason", "instructions"]);
    if (!checked.ok || checked.value.reason.trim() === "") continue;
    const { reason, instructions } = checked.value;
    return {
      restart: true,
      reason: cutText(reason, MAX_FEEDBACK_CHARS),
      instructions: cutText(instructions, MAX_FEEDBACK_CHARS),
    };
  }
  return null;
}

function isConfirmed({ arguments: raw }: ToolCall): boolean {
  const fields = objectFields(raw);
  return fields.ok && ownField(fields.value, "confirmed") === true;
}

/** Personas by the alias that the model wrote. The coordination rules ignore unknown aliases. */
export function personasOf(calls: readonly ToolCall[]): Reply["personas"] {
  const call = calls.findLast(({ name }) => name === "assign_personas");
  const fields = call ? objectFields(call.arguments) : null;
  const list = fields?.ok ? ownField(fields.value, "personas") : null;
  if (!Array.isArray(list)) return null;
  const personas = list.slice(0, LIMITS.agents).flatMap(personaOf);
  return personas.length === 0 ? null : Object.fromEntries(personas);
}

function personaOf(entry: unknown): [string, string][] {
  if (!isJsonObject(entry)) return [];
  const alias = ownField(entry, "agent_id");
  const persona = ownField(entry, "persona");
  return typeof alias === "string" && typeof persona === "string"
    ? [[alias.trim(), cutText(persona, MAX_PERSONA_CHARS)]]
    : [];
}

/** Cuts without splitting a surrogate pair. */
const cutText = (text: string, maxChars: number): string =>
  (text.length <= maxChars ? text : `${text.slice(0, maxChars - 1)}…`).toWellFormed();

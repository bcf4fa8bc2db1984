import { LabelSchema } from "../protocol/api/ids";

/**
 * References to points of a session: `parent`, `turn_2`, `turn_2/agent1.1`,
 * `turn_2/attempt_1/agent1.1`.
 */
export type Reference = { kind: "parent" } | PointReference;

/**
 * A turn as it ended (`label` is `null`), or an answer or final text of it. `attempt`: `null` for
 * the latest attempt that has the label.
 */
export type PointReference = {
  kind: "point";
  turn: number;
  attempt: number | null;
  label: string | null;
};

/** The four forms, for messages. */
export const REFERENCE_FORMS =
  "`parent`, `turn_2`, `turn_2/agent1.1` or `turn_2/attempt_1/agent1.1`";

const POINT = /^turn_([1-9]\d{0,8})(?:\/(?:attempt_([1-9]\d{0,3})\/)?([^/]+))?$/;

/** Parses a reference; `null` if it has none of the four forms. */
export function parseReference(text: string): Reference | null {
  if (text === "parent") return { kind: "parent" };
  const [, turn, attempt, label] = POINT.exec(text) ?? [];
  if (turn === undefined) return null;
  if (label !== undefined && !LabelSchema.safeParse(label).success) return null;
  return {
    kind: "point",
    turn: Number(turn),
    attempt: attempt === undefined ? null : Number(attempt),
    label: label ?? null,
  };
}

/** The text of a reference to a point. */
export function formatReference({ turn, attempt, label }: Omit<PointReference, "kind">): string {
  if (label === null) return `turn_${turn}`;
  return `turn_${turn}/${attempt === null ? "" : `attempt_${attempt}/`}${label}`;
}
